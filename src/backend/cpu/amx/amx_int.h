/* The AMX kernels by name; private to backend/cpu/amx. SPDX-License-Identifier: MIT */
#ifndef QN_BACKEND_CPU_AMX_AMX_INT_H
#define QN_BACKEND_CPU_AMX_AMX_INT_H

#include "backend/cpu/avx512vnni/mm_int512.h"

qn_panel512_fn qn_panel_u8_amx, qn_panel_s8_amx;

/* Over h8 tiles whose quants qn_make_panel_signed() has centred: q - offset as signed bytes. */
qn_panel512_fn qn_panel_h8_amx;
void qn_make_panel_signed(void *panel, size_t n_k, int offset);

#endif
