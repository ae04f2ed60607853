/* The AMX kernels by name; private to backend/cpu/amx. SPDX-License-Identifier: MIT */
#ifndef QN_BACKEND_CPU_AMX_AMX_INT_H
#define QN_BACKEND_CPU_AMX_AMX_INT_H

#include "backend/cpu/avx512vnni/mm_int512.h"

typedef struct qn_tile_config { /* as the processor reads it */
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t n_rows[16];
} qn_tile_config;

/* In asm because gcc 12's intrinsic declares only a part of the structure as read. */
static inline void qn_tile_configure(const qn_tile_config *c)
{
    __asm__ volatile("ldtilecfg %0" : : "m"(*c));
}

qn_panel512_fn qn_panel_u8_amx, qn_panel_s8_amx, qn_panel_h8_amx;
qn_several512_fn qn_several_u8_amx, qn_several_s8_amx, qn_several_h8_amx;

/* Makes of h8 tiles what the kernels above call h8. */
void qn_make_panel_signed(void *panel, size_t n_k, int offset);

#endif
