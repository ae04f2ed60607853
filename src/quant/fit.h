/* Private to quant: the search for scales that the encoders of the scaled formats share.
 *
 * A block is a number of sub-blocks. Each has a whole scale (and, in affine forms, a whole minimum) that multiplies a
 * half of the block, and each element is the nearest of a few levels:
 *
 *   symmetric  x = d * scale * level
 *   affine     x = d * scale * level - dmin * min
 *
 * The search lowers the sum of weight * error^2. It takes turns: given the halves, the best whole scales and levels;
 * given those, the best halves by least squares; from several starts, and the best that was seen is the answer.
 * SPDX-License-Identifier: MIT */
#ifndef QN_QUANT_FIT_H
#define QN_QUANT_FIT_H

#include "quant/quant_int.h"

#define QN_FIT_MAX_SUB 16

/* A block made ready: elements and weights times powers of two that bring the largest of each into [1, 2), so that no
 * square runs out of float. NaN counts as 0, an infinity as the largest float; a weight far below the largest is
 * raised to a floor, one that is not positive too; when none is positive all count the same. */
typedef struct qn_fit {
    float x[QN_QK_K];
    float w[QN_QK_K];
    int exponent; /* source = x * 2^exponent */
} qn_fit;

void qn_fit_open(qn_fit *f, const float *src, const float *weights, size_t n);

/* The half nearest to d (in units of x; one that is too large becomes the largest) and, again in units of x, what it
 * stands for. */
uint16_t qn_fit_half(const qn_fit *f, float d, float *value);

typedef struct qn_fit_form {
    int n_sub, sub_len;
    int level_min, level_max;  /* levels are all whole numbers between, or indices into table */
    const int8_t *table;       /* NULL, or 16 rising levels */
    int scale_min, scale_max;  /* range of the whole scales; 1 to 1: the block has none */
    int min_max;               /* affine: minima are 0 to min_max; if 1, always 1, and dmin may have either sign */
} qn_fit_form;

typedef struct qn_fit_result {
    uint16_t d, dmin; /* halves */
    int8_t scale[QN_FIT_MAX_SUB];
    int8_t min[QN_FIT_MAX_SUB];
    int8_t q[QN_QK_K]; /* levels, or indices into table */
} qn_fit_result;

void qn_fit_symmetric(const qn_fit *f, const qn_fit_form *form, qn_fit_result *out);
void qn_fit_affine(const qn_fit *f, const qn_fit_form *form, qn_fit_result *out);

/* Sums run in this many lanes, so that compilers use vectors for them; sub-blocks are whole multiples. */
#define QN_FIT_LANES 8

static inline float qn_fit_sum(const float lanes[QN_FIT_LANES])
{
    return ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) + ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]));
}

/* Nearest whole number of t held to [min, max]; the bounds are small whole numbers. */
static inline float qn_fit_round(float t, float min, float max)
{
    t = t > min ? t : min;
    t = t < max ? t : max;
    return (t + 0x1.8p23f) - 0x1.8p23f; /* pushes the fraction out of the mantissa */
}

/* 1 / scale, or 0 for a scale too small to divide by. */
static inline float qn_fit_inverse(float scale)
{
    return scale > 1e-37f || scale < -1e-37f ? 1.0f / scale : 0.0f;
}

#endif
