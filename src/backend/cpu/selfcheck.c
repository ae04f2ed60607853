/* The self-check of the row kernels, and its entry. SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "backend/cpu/selfcheck_int.h"

enum { N = 83 }; /* whole vectors of any width up to 16, and a tail */

void qn_self_check_fill(qn_self_check *c, float *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        x[i] = qn_random_normal(&c->random);
    }
}

qn_status qn_self_check_value(qn_self_check *c, const char *kernel, const char *suffix, size_t i, double got,
                              double want, double tolerance)
{
    if (fabs(got - want) <= tolerance) {
        return QN_OK;
    }
    return qn_fail(c->err, QN_EINTERNAL,
                   "kernel %s%s%s of %s computes wrong: element %zu is %.9g, the reference gives %.9g", kernel,
                   suffix[0] != '\0' ? " " : "", suffix, c->k->isa, i, got, want);
}

qn_status qn_self_check_compare(qn_self_check *c, const char *kernel, const char *suffix, const float *got,
                                const float *want, size_t n, double relative, double absolute)
{
    for (size_t i = 0; i < n; i++) {
        QN_TRY(qn_self_check_value(c, kernel, suffix, i, got[i], want[i], relative * fabs(want[i]) + absolute));
    }
    return QN_OK;
}

qn_status qn_self_check_bytes(qn_self_check *c, const char *kernel, const char *suffix, const void *got,
                              const void *want, size_t n)
{
    const uint8_t *g = got;
    const uint8_t *w = want;
    for (size_t i = 0; i < n; i++) {
        QN_TRY(qn_self_check_value(c, kernel, suffix, i, g[i], w[i], 0.0));
    }
    return QN_OK;
}

/* Row functions: the same arguments to both, then a comparison. got and want start alike, for those that add. */
static qn_status check_rows(qn_self_check *c)
{
    float a[N];
    float b[N];
    float got[N];
    float want[N];
    qn_self_check_fill(c, a, N);
    qn_self_check_fill(c, b, N);
    qn_self_check_fill(c, got, N);
    memcpy(want, got, sizeof(want));
    a[3] = -40.0F;
    a[N - 1] = 40.0F;

#define CHECK(kernel, ...)                                                       \
    do {                                                                         \
        c->k->kernel(__VA_ARGS__, got);                                          \
        c->ref->kernel(__VA_ARGS__, want);                                       \
        QN_TRY(qn_self_check_compare(c, #kernel, "", got, want, N, 1e-5, 1e-6)); \
    } while (0)

    CHECK(add_scaled, a, 0.75F, N);
    CHECK(rms_norm, a, b, N, 1e-6F);
    CHECK(rms_norm, a, NULL, N, 1e-6F);
    CHECK(add, a, b, N);
    CHECK(mul, a, b, N);
    CHECK(scale, a, -1.5F, N);
    CHECK(softcap, a, 3.0F, N);
    CHECK(silu_mul, a, b, N);
    CHECK(gelu_mul, a, b, N);
    CHECK(softmax, a, N);
    CHECK(softmax, b, N);
#undef CHECK
    return QN_OK;
}

static qn_status check_rope(qn_self_check *c)
{
    enum { N_PAIRS = N / 2 };
    float cosv[N_PAIRS];
    float sinv[N_PAIRS];
    for (size_t i = 0; i < N_PAIRS; i++) {
        double angle = 0.4 * (double)i;
        cosv[i] = (float)cos(angle);
        sinv[i] = (float)sin(angle);
    }
    static const char *const names[] = {[QN_ROPE_NORMAL] = "NORMAL", [QN_ROPE_NEOX] = "NEOX"};
    for (int kind = QN_ROPE_NORMAL; kind <= QN_ROPE_NEOX; kind++) {
        float got[N];
        float want[N];
        qn_self_check_fill(c, got, N);
        memcpy(want, got, sizeof(want));
        c->k->rope(got, N_PAIRS, cosv, sinv, (qn_rope_kind)kind);
        c->ref->rope(want, N_PAIRS, cosv, sinv, (qn_rope_kind)kind);
        QN_TRY(qn_self_check_compare(c, "rope", names[kind], got, want, N, 1e-5, 1e-6));
    }
    return QN_OK;
}

static qn_status check_kv_store(qn_self_check *c, qn_type type)
{
    enum { STRIDE = 3 };
    float x[N];
    float got[N * STRIDE];
    float want[N * STRIDE];
    qn_self_check_fill(c, x, N);
    for (size_t stride = 1; stride <= STRIDE; stride += STRIDE - 1) {
        memset(got, 0, sizeof(got));
        memset(want, 0, sizeof(want));
        c->k->kv_store(x, N, type, got, stride);
        c->ref->kv_store(x, N, type, want, stride);
        QN_TRY(qn_self_check_bytes(c, "kv_store", qn_type_name(type), got, want, sizeof(got)));
    }
    return QN_OK;
}

/* What goes before codes: both are exact to the bit. */
static qn_status check_kv_codes(qn_self_check *c)
{
    enum { N_TURNED = 96 };
    float got[N_TURNED];
    float want[N_TURNED];
    qn_self_check_fill(c, got, N_TURNED);
    memcpy(want, got, sizeof(want));
    c->k->rotate(got, N_TURNED);
    c->ref->rotate(want, N_TURNED);
    QN_TRY(qn_self_check_bytes(c, "rotate", "", got, want, sizeof(got)));
    static const uint32_t bits[] = {4, 5, 8};
    for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
        uint8_t got_codes[N];
        uint8_t want_codes[N];
        qn_kv_scale s = c->k->kv_encode(want, N, bits[i], got_codes);
        qn_kv_scale w = c->ref->kv_encode(want, N, bits[i], want_codes);
        QN_TRY(qn_self_check_value(c, "kv_encode", "scale", 0, s.scale, w.scale, 0.0));
        QN_TRY(qn_self_check_value(c, "kv_encode", "min", 0, s.min, w.min, 0.0));
        QN_TRY(qn_self_check_bytes(c, "kv_encode", "", got_codes, want_codes, N));
    }
    return QN_OK;
}

/* A8 is exact arithmetic but for roundings that the format prescribes: every byte is determined. */
static qn_status check_quantize(qn_self_check *c)
{
    enum { N_QUANT = 300, ROW_BYTES = 2 * 384 };
    float x[N_QUANT];
    _Alignas(64) uint8_t got[ROW_BYTES];
    _Alignas(64) uint8_t want[ROW_BYTES];
    _Static_assert(ROW_BYTES >= 512 / 32 * 44, "room for a padded row");
    qn_self_check_fill(c, x, N_QUANT);
    c->k->quantize_a8(x, N_QUANT, got);
    c->ref->quantize_a8(x, N_QUANT, want);
    return qn_self_check_bytes(c, "quantize_a8", "", got, want, qn_a8_bytes(N_QUANT));
}

qn_status qn_kernels_self_check(const qn_kernels *k, const bool used_types[QN_TYPE_COUNT], qn_error *err)
{
    qn_kernels ref = {0};
    qn_kernels_fill_ref(&ref);
    qn_self_check c = {.k = k, .ref = &ref, .err = err};
    qn_random_seed(&c.random, 1);
    QN_TRY(check_rows(&c));
    QN_TRY(check_rope(&c));
    QN_TRY(check_quantize(&c));
    QN_TRY(check_kv_store(&c, QN_TYPE_F16));
    QN_TRY(check_kv_store(&c, QN_TYPE_F32));
    QN_TRY(check_kv_store(&c, QN_TYPE_BF16));
    QN_TRY(check_kv_codes(&c));
    QN_TRY(qn_self_check_attention(&c, QN_TYPE_F16, 0));
    QN_TRY(qn_self_check_attention(&c, QN_TYPE_F32, 0));
    QN_TRY(qn_self_check_attention(&c, QN_TYPE_BF16, 0));
    QN_TRY(qn_self_check_attention(&c, QN_TYPE_F16, 8));
    QN_TRY(qn_self_check_attention(&c, QN_TYPE_F16, 4));
    for (uint32_t t = 0; t < QN_TYPE_COUNT; t++) {
        if (used_types[t] && k->mm[t].one != NULL) {
            QN_TRY(qn_self_check_products(&c, (qn_type)t));
        }
    }
    return QN_OK;
}
