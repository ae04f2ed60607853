/* The self-check of attention: two pages, the second partly seen, rows of different reach.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "backend/cpu/selfcheck_int.h"

enum { N_Q = 7, HEAD_DIM = 40, V_DIM = 24, TOKENS = 24, N_PAGES = 2, Q_BYTES = 2 * 64 + 64 };

#define PAGE_FLOATS (TOKENS * (HEAD_DIM > V_DIM ? HEAD_DIM : V_DIM))

typedef struct attn_state {
    float m[N_Q], l[N_Q], acc[N_Q * V_DIM];
} attn_state;

/* The values of a page in storage, through ref: kv_store has been checked. */
static void random_page(qn_self_check *c, qn_type type, size_t n, float *page)
{
    float x[PAGE_FLOATS];
    qn_self_check_fill(c, x, n);
    c->ref->kv_store(x, n, type, page, 1);
}

/* The same as codes, through ref: kv_encode and rotate have been checked. */
static void random_codes(qn_self_check *c, uint32_t bits, void *keys, void *values)
{
    float x[HEAD_DIM + V_DIM];
    uint8_t codes[HEAD_DIM];
    for (uint32_t t = 0; t < TOKENS; t++) {
        qn_self_check_fill(c, x, HEAD_DIM + V_DIM);
        qn_kv_scale s = c->ref->kv_encode(x, HEAD_DIM, qn_kv_k_bits(bits), codes);
        qn_kv_put_k(codes, s, bits, HEAD_DIM, TOKENS, t, keys);
        s = c->ref->kv_encode(x + HEAD_DIM, V_DIM, bits, codes);
        qn_kv_put_v(codes, s, bits, V_DIM, TOKENS, t, values);
    }
}

static void run(const qn_kernels *k, qn_attn_page a, attn_state *s)
{
    _Alignas(64) uint8_t q_codes[N_Q * Q_BYTES];
    for (uint32_t i = 0; i < N_Q && a.bits != 0; i++) {
        k->attn_prepare(a.q + i * a.q_stride, a.head_dim, q_codes + i * Q_BYTES);
    }
    a.q_codes = q_codes;
    a.m = s->m;
    a.l = s->l;
    a.acc = s->acc;
    k->attn_page(&a);
}

qn_status qn_self_check_attention(qn_self_check *c, qn_type type, uint32_t bits)
{
    const char *name = bits == 8 ? "8 bits" : bits == 4 ? "4 bits" : qn_type_name(type);
    /* Scores near 20 from queries and weights of 15 bits are off by some 1e-3, and so are weights. */
    const double tolerance = bits != 0 ? 1e-2 : 1e-4;
    _Alignas(64) float scratch[TOKENS * (HEAD_DIM + V_DIM) + N_Q * TOKENS + 64];
    float q[N_Q * HEAD_DIM];
    float keys[PAGE_FLOATS];
    float values[PAGE_FLOATS];
    attn_state got;
    attn_state want;
    memset(&got, 0, sizeof(got));
    for (size_t i = 0; i < N_Q; i++) {
        got.m[i] = -INFINITY;
    }
    want = got;
    qn_self_check_fill(c, q, (size_t)N_Q * HEAD_DIM);
    for (uint32_t p = 0; p < N_PAGES; p++) {
        uint32_t lo[N_Q];
        uint32_t hi[N_Q];
        for (uint32_t i = 0; i < N_Q; i++) {
            lo[i] = p == 0 ? i : 0;
            hi[i] = p == 0 ? TOKENS : 2 * i;
        }
        if (bits != 0) {
            random_codes(c, bits, keys, values);
        } else {
            random_page(c, type, (size_t)TOKENS * HEAD_DIM, keys);
            random_page(c, type, (size_t)TOKENS * V_DIM, values);
        }
        qn_attn_page a = {
            .q = q,
            .q_stride = HEAD_DIM,
            .k = keys,
            .v = values,
            .type = type,
            .bits = bits,
            .n_q = N_Q,
            .head_dim = HEAD_DIM,
            .v_dim = V_DIM,
            .page_tokens = TOKENS,
            .lo = lo,
            .hi = hi,
            .softcap = p == 0 ? 0.0F : 20.0F,
            .scratch = scratch,
        };
        run(c->k, a, &got);
        run(c->ref, a, &want);
    }
    /* Weights are relative to the maximum, so a rounding of scores near 20 moves them by some 1e-5. */
    QN_TRY(qn_self_check_compare(c, "attn_page", name, got.m, want.m, N_Q, 0.1 * tolerance, 0.1 * tolerance));
    QN_TRY(qn_self_check_compare(c, "attn_page", name, got.l, want.l, N_Q, tolerance, tolerance));
    return qn_self_check_compare(c, "attn_page", name, got.acc, want.acc, (size_t)N_Q * V_DIM, tolerance, tolerance);
}
