/* The CPU kernel table: one row of function pointers that ref fills first and better instruction sets override.
 * Every kernel is a pure function of its arguments: plain pointers, no allocation, no threads, no globals. ref is
 * complete and is the judge. Nothing here may depend on how many threads run.
 *
 * Activation formats
 *   QN_ACT_F32  n floats.
 *   QN_ACT_A8   n (padded to QN_A8_PAD with zeros) elements quantised in blocks of 32, in four arrays one after the
 *               other, so that kernels may load scales of neighbouring blocks together:
 *                 int8_t  q[np]          round to nearest even of x * (127 / max|x|) in the block, in [-127, 127]
 *                 float   d[np / 32]     max|x| / 127 (0 for a block of zeros)
 *                 float   s[np / 32]     d * (sum of the block's q)
 *                 int16_t h[np / 16]     sum of q over each half block
 *               np = n rounded up to QN_A8_PAD. A row starts on a 64-byte boundary; qn_a8_bytes(n) is a multiple of 64.
 *   wide        bf16 in the order of a matrix unit's tiles, what `wide` reads in place of A8: rows in groups of 16, and
 *               in a group [n / 32][row of the group][32]. n is a multiple of 32.
 */
#ifndef QN_BACKEND_CPU_KERNELS_H
#define QN_BACKEND_CPU_KERNELS_H

#include "quant/kv_code.h"

typedef enum qn_act { QN_ACT_F32, QN_ACT_A8 } qn_act;

#define QN_A8_PAD 256

static inline size_t qn_a8_padded(size_t n)
{
    return (n + QN_A8_PAD - 1) / QN_A8_PAD * QN_A8_PAD;
}
/* 44 bytes for 32 elements: 352 for 256, rounded up to a multiple of 64. */
static inline size_t qn_a8_bytes(size_t n)
{
    return (qn_a8_padded(n) / 32 * 44 + 63) / 64 * 64;
}
/* Of each row in wide order; a block has whole groups of QN_WIDE_GROUP rows. */
#define QN_WIDE_GROUP 16
static inline size_t qn_wide_bytes(size_t n)
{
    return (n + 31) / 32 * 64;
}
static inline const int8_t *qn_a8_q(const void *row)
{
    return (const int8_t *)row;
}
static inline const float *qn_a8_d(const void *row, size_t n)
{
    return (const float *)((const char *)row + qn_a8_padded(n));
}
static inline const float *qn_a8_s(const void *row, size_t n)
{
    return qn_a8_d(row, n) + qn_a8_padded(n) / 32;
}
static inline const int16_t *qn_a8_h(const void *row, size_t n)
{
    return (const int16_t *)(const void *)(qn_a8_s(row, n) + qn_a8_padded(n) / 32);
}

/* Products of a weight matrix (rows of n_k elements of one type, row_bytes apart) with activations in `act`.
 * y[c * ldy + r] = sum over k of w[r][k] * x[c][k]. */
typedef struct qn_mm {
    qn_act act;           /* format of x that the functions below read */
    uint32_t few_max;     /* columns that `few` takes at most; >= 1 */
    uint32_t panel_rows;  /* weight rows of a panel, a multiple of 8; 0: no panel kernels, use few */
    uint32_t several_max; /* columns that `several` takes at most; 0: none, use panels beyond few_max */

    /* One column: the decode path; walks the rows in place. */
    void (*one)(const uint8_t *w, size_t row_bytes, size_t n_rows, size_t n_k, const void *x, float *y);
    /* 1..few_max columns, x_bytes apart. Each weight block is read once. */
    void (*few)(const uint8_t *w, size_t row_bytes, size_t n_rows, size_t n_k, const void *x, size_t x_bytes,
                size_t n_cols, float *y, size_t ldy);
    /* 1..several_max columns, meant for more than few_max: the bits of pack and panel, but rows are unpacked a slice at
     * a time, which all columns use at once, so that memory streams all the while. */
    void (*several)(const uint8_t *w, size_t row_bytes, size_t n_rows, size_t n_k, const void *x, size_t x_bytes,
                    size_t n_cols, float *y, size_t ldy);
    /* Bytes of a packed panel of panel_rows rows of n_k elements; a multiple of 64. */
    size_t (*panel_bytes)(size_t n_k);
    /* Unpacks rows [0, n_rows), n_rows <= panel_rows, into panel (64-byte aligned); missing rows are zeros. */
    void (*pack)(const uint8_t *w, size_t row_bytes, size_t n_rows, size_t n_k, void *panel);
    /* All columns against one panel; writes n_rows values of each column. */
    void (*panel)(const void *panel, size_t n_rows, size_t n_k, const void *x, size_t x_bytes, size_t n_cols, float *y,
                  size_t ldy);
    /* Any number of columns in wide order and at most wide_rows rows, weights being rounded to bf16 too; products are
     * exact, sums are floats. scratch: wide_scratch bytes on a 64-byte boundary. May be NULL. */
    void (*wide)(const uint8_t *w, size_t row_bytes, size_t n_rows, size_t n_k, const void *x, size_t n_cols, float *y,
                 size_t ldy, void *scratch);
} qn_mm;

/* One KV page folded into the running softmax of n_q query rows that share a KV head.
 * K lies as [head_dim][page_tokens], V as [page_tokens][v_dim], both of type `type` (F32, F16 or BF16), or, with bits 8
 * or 4, both as quant/kv_code.h says. For those q was prepared too: fast kernels take q and the weights of a page's
 * tokens as integers of 15 bits beside each row's largest.
 * For query i only tokens lo[i] <= t < hi[i] of the page count (lo == hi: none, the state stays).
 * score = q . k (q is already scaled) + offset[i]; with softcap c > 0: c * tanh(score / c).
 * State, updated in place: m[i] running maximum (starts at -INFINITY), l[i] running sum (0), acc[i] running weighted
 * sum of v (zeros), i-th row at acc + i * v_dim. */
typedef struct qn_attn_page {
    const float *q; /* n_q rows, q_stride floats apart */
    size_t q_stride;
    const void *k, *v;
    qn_type type;
    uint32_t bits;                              /* 0: plain; 8, 4: codes */
    const void *q_codes;                        /* with bits: n_q rows as attn_prepare left them */
    const float *offset;                        /* with bits: NULL: 0 */
    uint32_t n_q, head_dim, v_dim, page_tokens; /* page_tokens: multiple of 8, <= 256 */
    const uint32_t *lo, *hi;
    float softcap; /* 0: none */
    float *m, *l, *acc;
    float *scratch; /* qn_attn_scratch_floats() floats, 64-byte aligned */
} qn_attn_page;

/* Bytes of a query row prepared for pages of codes; a multiple of 64. */
static inline size_t qn_attn_q_bytes(size_t head_dim)
{
    return 2 * ((head_dim + 63) / 64 * 64) + 64;
}

/* Room for the page as floats and for the scores of n_q rows. */
static inline size_t qn_attn_scratch_floats(size_t n_q, size_t head_dim, size_t v_dim, size_t page_tokens)
{
    return page_tokens * (head_dim + v_dim) + n_q * page_tokens + 64;
}

typedef enum qn_rope_kind { QN_ROPE_NORMAL, QN_ROPE_NEOX } qn_rope_kind;

/* What a multiply-add works on; products of A8 are QN_PEAK_I8, of wide order QN_PEAK_BF16. */
typedef enum qn_peak_kind { QN_PEAK_I8, QN_PEAK_BF16, QN_PEAK_F32, QN_PEAK_KINDS } qn_peak_kind;

typedef struct qn_kernels {
    const char *isa;         /* "ref", "avx2" */
    qn_mm mm[QN_TYPE_COUNT]; /* one: NULL for types that cannot be decoded */
    /* Sets with a matrix unit for bf16: from wide_min columns on, types whose act is A8 are multiplied by `wide`, if all
     * of a model's have it. Rounding to bf16 loses less than blocks of 8 bits do. 0: the set has no such unit. */
    uint32_t wide_min, wide_rows;
    size_t wide_scratch;
    /* Row i_row of a block in wide order at out; rounds to nearest even. */
    void (*wide_store)(const float *x, size_t n, void *out, size_t i_row);

    /* Row functions: n elements; in and out may be the same array, else must not overlap. */
    void (*quantize_a8)(const float *x, size_t n, void *out); /* out: qn_a8_bytes(n), pads included */
    /* y = x / sqrt(mean(x^2) + eps) * w; w NULL: 1. */
    void (*rms_norm)(const float *x, const float *w, size_t n, float eps, float *y);
    void (*add)(const float *a, const float *b, size_t n, float *y);
    void (*mul)(const float *a, const float *b, size_t n, float *y);
    void (*scale)(const float *x, float f, size_t n, float *y);
    void (*add_scaled)(const float *x, float f, size_t n, float *y);          /* y += f * x */
    void (*softcap)(const float *x, float cap, size_t n, float *y);           /* cap * tanh(x / cap) */
    void (*silu_mul)(const float *gate, const float *up, size_t n, float *y); /* gate / (1 + exp(-gate)) * up */
    /* gelu, tanh form: 0.5 g (1 + tanh(sqrt(2/pi) (g + 0.044715 g^3))) * up */
    void (*gelu_mul)(const float *gate, const float *up, size_t n, float *y);
    void (*softmax)(const float *x, size_t n, float *y); /* of the whole row, max subtracted */
    /* Rotates the first 2 * n_pairs elements of one head. NORMAL: pairs (2i, 2i+1); NEOX: (i, i + n_pairs). */
    void (*rope)(float *x, size_t n_pairs, const float *cosv, const float *sinv, qn_rope_kind kind);
    /* To and from KV storage (F16, BF16: round to nearest even; F32: a copy). dst_stride counts elements. */
    void (*kv_store)(const float *x, size_t n, qn_type type, void *dst, size_t dst_stride);
    void (*decode_row[QN_TYPE_COUNT])(const void *src, float *dst, size_t n); /* embedding rows; NULL: none */
    void (*attn_page)(const qn_attn_page *a);

    /* For pages of codes. Turns x by a fixed orthogonal matrix, its own inverse, that spreads single large numbers over
     * all: x / sqrt(b), then sums and differences of Walsh and Hadamard over each b elements, b the largest power of
     * two that divides n; every instruction set gives the same bits. */
    void (*rotate)(float *x, size_t n);
    /* qn_kv_encode(), to the bit. */
    qn_kv_scale (*kv_encode)(const float *x, size_t n, uint32_t code_bits, uint8_t *codes);
    /* Prepares a query row: out has qn_attn_q_bytes() on a 64-byte boundary, for this table's attn_page alone. */
    void (*attn_prepare)(const float *q, size_t head_dim, void *out);

    /* Does nothing but multiply and add in registers, for some ten microseconds; returns how often. NULL: unknown. */
    uint64_t (*peak[QN_PEAK_KINDS])(void);
} qn_kernels;

/* Each instruction set's filler overrides what it is better at; ref sets every pointer. */
void qn_kernels_fill_ref(qn_kernels *k);
void qn_kernels_fill_avx2(qn_kernels *k);
void qn_kernels_fill_avx512vnni(qn_kernels *k); /* over avx2 */
void qn_kernels_fill_amx(qn_kernels *k);        /* over avx512vnni */
void qn_kernels_fill_neon(qn_kernels *k);
void qn_kernels_fill_neon_i8mm(qn_kernels *k); /* over neon */

#endif
