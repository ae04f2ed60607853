/* What this processor and its operating system can do.
 * SPDX-License-Identifier: MIT */
#include "base/cpu.h"

#include "base/os.h"

#include <string.h>

#if defined(__x86_64__)

#include <cpuid.h>

/* Which register files the system saves when it switches threads. */
static uint64_t saved_state(void)
{
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

static bool bit(uint32_t word, unsigned i)
{
    return (word >> i & 1) != 0;
}

/* The brand string, without the spaces that pad it. */
static void read_name(char name[64])
{
    uint32_t r[12];
    if ((uint32_t)__get_cpuid_max(0x80000000, NULL) < 0x80000004) {
        return;
    }
    for (uint32_t i = 0; i < 3; i++) {
        __cpuid(0x80000002 + i, r[4 * i], r[4 * i + 1], r[4 * i + 2], r[4 * i + 3]);
    }
    char raw[sizeof(r) + 1] = {0};
    memcpy(raw, r, sizeof(r));
    const char *from = raw + strspn(raw, " ");
    size_t len = strlen(from);
    while (len > 0 && from[len - 1] == ' ') {
        len--;
    }
    memcpy(name, from, len);
}

static void detect(qn_cpu *out)
{
    enum { YMM = 0x6, ZMM = 0xE6, TILE = 0x60000 };
    uint32_t a, b, c, d;
    read_name(out->name);
    if (!__get_cpuid(1, &a, &b, &c, &d) || !bit(c, 27)) {
        return; /* no OSXSAVE: xgetbv may not be used, and no wide register is saved */
    }
    bool fma = bit(c, 12), f16c = bit(c, 29), avx = bit(c, 28);
    uint64_t saved = saved_state();
    uint32_t b7, c7, d7, a71 = 0;
    if (!__get_cpuid_count(7, 0, &a, &b7, &c7, &d7)) {
        return;
    }
    if (a >= 1) {
        __get_cpuid_count(7, 1, &a71, &b, &c, &d);
    }
    out->avx2 = avx && fma && f16c && bit(b7, 5) && (saved & YMM) == YMM;
    out->avx_vnni = out->avx2 && bit(a71, 4);
    out->avx512 = out->avx2 && (saved & ZMM) == ZMM && bit(b7, 16) && bit(b7, 30) && bit(b7, 17) && bit(b7, 31);
    out->avx512_vnni = out->avx512 && bit(c7, 11);
    out->avx512_bf16 = out->avx512 && bit(a71, 5);
    out->amx = out->avx512_bf16 && bit(d7, 22) && bit(d7, 24) && bit(d7, 25) && (saved & TILE) == TILE &&
               qn_os_grant_amx();
}

#elif defined(__aarch64__)

static void detect(qn_cpu *out)
{
    out->neon = true;                               /* part of the architecture */
    out->dotprod = (qn_os_hwcap(0) >> 20 & 1) != 0; /* HWCAP_ASIMDDP */
    out->i8mm = (qn_os_hwcap(1) >> 13 & 1) != 0;    /* HWCAP2_I8MM */
}

#else

static void detect(qn_cpu *out)
{
    (void)out;
}

#endif

void qn_cpu_detect(qn_cpu *out)
{
    memset(out, 0, sizeof(*out));
    detect(out);
}
