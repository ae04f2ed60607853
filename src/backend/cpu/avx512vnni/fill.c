/* The table's row of the AVX-512 VNNI kernels: what is not named here stays as AVX2 has it.
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/mm_int.h"

void qn_kernels_fill_avx512vnni(qn_kernels *k)
{
    k->isa = "avx512vnni";
    qn_fill_mm_avx512vnni(k);
}
