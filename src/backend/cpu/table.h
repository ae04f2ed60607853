/* Which kernel sets exist, and which of them this processor can run. SPDX-License-Identifier: MIT */
#ifndef QN_BACKEND_CPU_TABLE_H
#define QN_BACKEND_CPU_TABLE_H

#include "backend/cpu/kernels.h"

/* Set i of those this program knows, plainest first. False: no such i. */
bool qn_kernels_known(size_t i, const char **isa, bool *usable);

/* Fills the table with ref and over it every usable set up to `isa`; NULL or "": up to the best one.
 * QN_EUNSUPPORTED: nobody knows that name, or the processor lacks it; err names it and lists what there is, and *out is
 * as before. */
qn_status qn_kernels_select(const char *isa, qn_kernels *out, qn_error *err);

#endif
