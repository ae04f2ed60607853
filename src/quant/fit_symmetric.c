/* The search for forms without a minimum.
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "quant/fit.h"

#define N_TRIES 6  /* first guesses on each side of the one that just covers the largest element */
#define N_LLOYD 4  /* least squares and rounding in turn, at most */
#define N_ROUNDS 4 /* whole scales and half in turn, at most */

/* Index of the table's level nearest to t. */
static inline int nearest_in(const int8_t *table, float t)
{
    int i = 0;
    for (int step = 8; step > 0; step /= 2) {
        int next = i + step;
        i = 2.0f * t > (float)(table[next - 1] + table[next]) ? next : i;
    }
    return i;
}

static inline float level_near(const qn_fit_form *form, float t)
{
    if (form->table != NULL) {
        return (float)form->table[nearest_in(form->table, t)];
    }
    return qn_fit_round(t, (float)form->level_min, (float)form->level_max);
}

/* Rounds with `inverse`, then finds the scale that suits those levels best. What it saves of the sum of squares. */
static float try_inverse(const qn_fit_form *form, const float *x, const float *w, float inverse, float *scale)
{
    float xl = 0.0f, ll = 0.0f;
    for (int i = 0; i < form->sub_len; i++) {
        float level = level_near(form, x[i] * inverse);
        float wl = w[i] * level;
        xl += wl * x[i];
        ll += wl * level;
    }
    *scale = ll > 0.0f ? xl / ll : 0.0f;
    return *scale * xl;
}

/* The best scale with the sign under which the largest element meets the level `end`. */
static float fit_scale(const qn_fit_form *form, const float *x, const float *w, float largest, float end)
{
    float best = 0.0f, most = 0.0f;
    float reach = form->table != NULL ? 0.15f : 1.0f / fabsf(end);
    for (int k = -N_TRIES; k <= N_TRIES; k++) {
        float scale;
        float saved = try_inverse(form, x, w, end * (1.0f + reach * (float)k / N_TRIES) / largest, &scale);
        if (saved > most) {
            most = saved;
            best = scale;
        }
    }
    for (int k = 0; k < N_LLOYD; k++) {
        float scale;
        float saved = try_inverse(form, x, w, qn_fit_inverse(best), &scale);
        if (!(saved > most)) {
            break;
        }
        most = saved;
        best = scale;
    }
    return best;
}

static float error_of(const qn_fit_form *form, const float *x, const float *w, float scale)
{
    float inverse = qn_fit_inverse(scale);
    float sum = 0.0f;
    for (int i = 0; i < form->sub_len; i++) {
        float e = x[i] - scale * level_near(form, x[i] * inverse);
        sum += w[i] * e * e;
    }
    return sum;
}

/* The whole scale near `wish` / d with the least error; `least` and `best` are kept when they are better. */
static void try_scales(const qn_fit_form *form, const float *x, const float *w, float d, float wish, float *least,
                       int *best)
{
    int centre = (int)qn_fit_round(wish * qn_fit_inverse(d), (float)form->scale_min, (float)form->scale_max);
    for (int scale = centre - 1; scale <= centre + 1; scale++) {
        if (scale < form->scale_min || scale > form->scale_max) {
            continue;
        }
        float error = error_of(form, x, w, d * (float)scale);
        if (error < *least) {
            *least = error;
            *best = scale;
        }
    }
}

/* Best whole scales for d, their error, and the d that least squares gives for the resulting levels. */
static float fit_scales(const qn_fit *f, const qn_fit_form *form, float d, float wishes[][2], int8_t *scales,
                        float *next_d)
{
    float total = 0.0f, xa = 0.0f, aa = 0.0f;
    for (int s = 0; s < form->n_sub; s++) {
        const float *x = f->x + s * form->sub_len;
        const float *w = f->w + s * form->sub_len;
        float least = INFINITY;
        int best = form->scale_max;
        try_scales(form, x, w, d, wishes[s][0], &least, &best);
        if (form->scale_min < 0) {
            try_scales(form, x, w, d, wishes[s][1], &least, &best);
        }
        scales[s] = (int8_t)best;
        total += least;
        float inverse = qn_fit_inverse(d * (float)best);
        for (int i = 0; i < form->sub_len; i++) {
            float a = (float)best * level_near(form, x[i] * inverse);
            xa += w[i] * a * x[i];
            aa += w[i] * a * a;
        }
    }
    *next_d = aa > 0.0f ? xa / aa : d;
    return total;
}

static void write_levels(const qn_fit *f, const qn_fit_form *form, float d, qn_fit_result *out)
{
    for (int s = 0; s < form->n_sub; s++) {
        float inverse = qn_fit_inverse(d * (float)out->scale[s]);
        for (int i = s * form->sub_len; i < (s + 1) * form->sub_len; i++) {
            float t = f->x[i] * inverse;
            out->q[i] = (int8_t)(form->table != NULL ? nearest_in(form->table, t) : (int)level_near(form, t));
        }
    }
}

/* Takes turns from a first d; replaces *out when the error falls below *least. */
static void descend(const qn_fit *f, const qn_fit_form *form, float first_d, float wishes[][2], float *least,
                    qn_fit_result *out)
{
    float before = INFINITY;
    float next_d = first_d;
    for (int round = 0; round < N_ROUNDS; round++) {
        float d;
        int8_t scales[QN_FIT_MAX_SUB];
        uint16_t half = qn_fit_half(f, next_d, &d);
        float total = fit_scales(f, form, d, wishes, scales, &next_d);
        if (total < *least) {
            *least = total;
            out->d = half;
            memcpy(out->scale, scales, sizeof scales);
            write_levels(f, form, d, out);
        }
        if (!(total < before)) {
            break;
        }
        before = total;
    }
}

void qn_fit_symmetric(const qn_fit *f, const qn_fit_form *form, qn_fit_result *out)
{
    float low = (float)(form->table != NULL ? form->table[0] : form->level_min);
    float high = (float)(form->table != NULL ? form->table[15] : form->level_max);
    float wishes[QN_FIT_MAX_SUB][2];
    float widest = 0.0f;
    for (int s = 0; s < form->n_sub; s++) {
        const float *x = f->x + s * form->sub_len;
        const float *w = f->w + s * form->sub_len;
        float largest = qn_max_signed(x, (size_t)form->sub_len);
        wishes[s][0] = wishes[s][1] = 0.0f;
        if (fabsf(largest) > 1e-30f) {
            wishes[s][0] = fit_scale(form, x, w, largest, low);
            wishes[s][1] = fit_scale(form, x, w, largest, high);
        }
        widest = fabsf(wishes[s][0]) > fabsf(widest) ? wishes[s][0] : widest;
    }
    float least = INFINITY;
    if (form->scale_max == 1) {
        descend(f, form, wishes[0][0], wishes, &least, out);
        descend(f, form, wishes[0][1], wishes, &least, out);
        return;
    }
    static const float starts[] = {1.0f, 0.95f, 1.06f};
    for (size_t k = 0; k < sizeof starts / sizeof starts[0]; k++) {
        descend(f, form, widest / (float)form->scale_min * starts[k], wishes, &least, out);
    }
}
