/* The panel kernels by smmla; private to backend/cpu/neon_i8mm. SPDX-License-Identifier: MIT */
#ifndef QN_BACKEND_CPU_NEON_I8MM_MM_I8MM_INT_H
#define QN_BACKEND_CPU_NEON_I8MM_MM_I8MM_INT_H

#include "backend/cpu/neon/mm_neon_int.h"

/* qn_mm.panel for each kind of tile, in which eight neighbouring k of a row stay together. */
qn_panel_fn qn_panel_scaled_i8mm, qn_panel_shifted_i8mm, qn_panel_halves_i8mm;

/* As qn_kernels.peak. */
uint64_t qn_peak_i8_neon_i8mm(void);

#endif
