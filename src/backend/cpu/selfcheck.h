/* Proof at model load that this machine computes what the reference computes. SPDX-License-Identifier: MIT */
#ifndef QN_BACKEND_CPU_SELFCHECK_H
#define QN_BACKEND_CPU_SELFCHECK_H

#include "backend/cpu/kernels.h"

/* Compares each kernel of k with ref on one small seeded block: the row functions, attention, and the products and
 * decoders of the types that used_types names (those without kernels are left out). Takes a few milliseconds.
 * QN_EINTERNAL: a kernel is wrong; err names kernel, type, instruction set and both values. QN_ENOMEM. */
qn_status qn_kernels_self_check(const qn_kernels *k, const bool used_types[QN_TYPE_COUNT], qn_error *err);

#endif
