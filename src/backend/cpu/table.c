/* The list of kernel sets: ref first, each later one overrides what it is better at. A new instruction set is one line.
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/table.h"

#include <stdio.h>
#include <string.h>

#include "base/cpu.h"

typedef struct kernel_set {
    const char *isa;
    bool (*usable)(const qn_cpu *cpu);
    void (*fill)(qn_kernels *k);
} kernel_set;

static bool always(const qn_cpu *cpu)
{
    (void)cpu;
    return true;
}

#if defined(__x86_64__) || defined(__i386__)
static bool has_avx2(const qn_cpu *cpu)
{
    return cpu->avx2;
}

static bool has_avx512vnni(const qn_cpu *cpu)
{
    return cpu->avx2 && cpu->avx512 && cpu->avx512_vnni;
}

static bool has_amx(const qn_cpu *cpu)
{
    return has_avx512vnni(cpu) && cpu->amx;
}
#endif

#if defined(__aarch64__)
static bool has_neon(const qn_cpu *cpu)
{
    return cpu->neon && cpu->dotprod;
}

static bool has_neon_i8mm(const qn_cpu *cpu)
{
    return has_neon(cpu) && cpu->i8mm;
}
#endif

static const kernel_set sets[] = {
    {"ref", always, qn_kernels_fill_ref},
#if defined(__x86_64__) || defined(__i386__)
    {"avx2", has_avx2, qn_kernels_fill_avx2},
    {"avx512vnni", has_avx512vnni, qn_kernels_fill_avx512vnni},
    {"amx", has_amx, qn_kernels_fill_amx},
#elif defined(__aarch64__)
    {"neon", has_neon, qn_kernels_fill_neon},
    {"neon_i8mm", has_neon_i8mm, qn_kernels_fill_neon_i8mm},
#endif
};

#define N_SETS (sizeof(sets) / sizeof(sets[0]))

bool qn_kernels_known(size_t i, const char **isa, bool *usable)
{
    if (i >= N_SETS) {
        return false;
    }
    qn_cpu cpu;
    qn_cpu_detect(&cpu);
    *isa = sets[i].isa;
    *usable = sets[i].usable(&cpu);
    return true;
}

/* "ref, avx2 (not on this processor)" */
static void list_sets(const qn_cpu *cpu, char *text, size_t text_bytes)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < N_SETS && used < text_bytes; i++) {
        int n = snprintf(text + used, text_bytes - used, "%s%s%s", i > 0 ? ", " : "", sets[i].isa,
                         sets[i].usable(cpu) ? "" : " (not on this processor)");
        used += n > 0 ? (size_t)n : text_bytes;
    }
}

qn_status qn_kernels_select(const char *isa, qn_kernels *out, qn_error *err)
{
    qn_cpu cpu;
    qn_cpu_detect(&cpu);
    size_t last = N_SETS - 1;
    if (isa != NULL && isa[0] != '\0') {
        for (last = 0; last < N_SETS && strcmp(sets[last].isa, isa) != 0; last++) {
        }
        if (last == N_SETS || !sets[last].usable(&cpu)) {
            char known[160];
            list_sets(&cpu, known, sizeof(known));
            return qn_fail(err, QN_EUNSUPPORTED, "instruction set '%.32s' is %s; known: %s", isa,
                           last == N_SETS ? "unknown" : "not supported by this processor", known);
        }
    }
    memset(out, 0, sizeof(*out));
    for (size_t i = 0; i <= last; i++) {
        if (sets[i].usable(&cpu)) {
            sets[i].fill(out);
        }
    }
    return QN_OK;
}
