/* The search for forms without a minimum.
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "quant/fit.h"

#define N_TRIES 6  /* first guesses on each side of the one that just covers the largest element */
#define N_LLOYD 4  /* least squares and rounding in turn, at most */
#define N_ROUNDS 4 /* whole scales and half in turn, at most */

/* The levels in the shape that the loops below want: whole numbers in a range, or stairs. */
typedef struct ladder {
    float low, high;
    int n_steps;              /* 0: all whole numbers from low to high */
    float mid[15], rise[15];  /* where the stairs go up, and by how much */
} ladder;

static ladder ladder_of(const qn_fit_form *form)
{
    ladder l = {.low = (float)form->level_min, .high = (float)form->level_max};
    if (form->table != NULL) {
        l.low = (float)form->table[0];
        l.high = (float)form->table[15];
        l.n_steps = 15;
        for (int i = 0; i < 15; i++) {
            l.mid[i] = 0.5f * (float)(form->table[i] + form->table[i + 1]);
            l.rise[i] = (float)(form->table[i + 1] - form->table[i]);
        }
    }
    return l;
}

/* The levels nearest to x * inverse. */
static inline void levels_near(const ladder *l, const float *x, float inverse, float level[QN_FIT_LANES])
{
    if (l->n_steps == 0) {
        float low = l->low, high = l->high;
        for (int k = 0; k < QN_FIT_LANES; k++) {
            level[k] = qn_fit_round(x[k] * inverse, low, high);
        }
        return;
    }
    for (int k = 0; k < QN_FIT_LANES; k++) {
        level[k] = l->low;
    }
    for (int i = 0; i < l->n_steps; i++) {
        float mid = l->mid[i], rise = l->rise[i];
        for (int k = 0; k < QN_FIT_LANES; k++) {
            level[k] += x[k] * inverse > mid ? rise : 0.0f;
        }
    }
}

/* Rounds with `inverse`, then finds the scale that suits those levels best. What it saves of the sum of squares. */
static float try_inverse(const ladder *l, int n, const float *x, const float *w, float inverse, float *scale)
{
    float lxl[QN_FIT_LANES] = {0}, lll[QN_FIT_LANES] = {0};
    for (int i = 0; i < n; i += QN_FIT_LANES) {
        float level[QN_FIT_LANES];
        levels_near(l, x + i, inverse, level);
        for (int k = 0; k < QN_FIT_LANES; k++) {
            float wl = w[i + k] * level[k];
            lxl[k] += wl * x[i + k];
            lll[k] += wl * level[k];
        }
    }
    float xl = qn_fit_sum(lxl), ll = qn_fit_sum(lll);
    *scale = ll > 0.0f ? xl / ll : 0.0f;
    return *scale * xl;
}

/* The best scale with the sign under which the largest element meets the level `end`. */
static float fit_scale(const ladder *l, int n, const float *x, const float *w, float largest, float end)
{
    float best = 0.0f, most = 0.0f;
    float reach = l->n_steps > 0 ? 0.15f : 1.0f / fabsf(end);
    for (int k = -N_TRIES; k <= N_TRIES; k++) {
        float scale;
        float saved = try_inverse(l, n, x, w, end * (1.0f + reach * (float)k / N_TRIES) / largest, &scale);
        if (saved > most) {
            most = saved;
            best = scale;
        }
    }
    for (int k = 0; k < N_LLOYD; k++) {
        float scale;
        float saved = try_inverse(l, n, x, w, qn_fit_inverse(best), &scale);
        if (!(saved > most)) {
            break;
        }
        most = saved;
        best = scale;
    }
    return best;
}

static float error_of(const ladder *l, int n, const float *x, const float *w, float scale)
{
    float inverse = qn_fit_inverse(scale);
    float lanes[QN_FIT_LANES] = {0};
    for (int i = 0; i < n; i += QN_FIT_LANES) {
        float level[QN_FIT_LANES];
        levels_near(l, x + i, inverse, level);
        for (int k = 0; k < QN_FIT_LANES; k++) {
            float e = x[i + k] - scale * level[k];
            lanes[k] += w[i + k] * e * e;
        }
    }
    return qn_fit_sum(lanes);
}

/* The whole scale near `wish` / d with the least error; `least` and `best` are kept when they are better. */
static void try_scales(const ladder *l, const qn_fit_form *form, const float *x, const float *w, float d, float wish,
                       float *least, int *best)
{
    int centre = (int)qn_fit_round(wish * qn_fit_inverse(d), (float)form->scale_min, (float)form->scale_max);
    for (int scale = centre - 1; scale <= centre + 1; scale++) {
        if (scale < form->scale_min || scale > form->scale_max) {
            continue;
        }
        float error = error_of(l, form->sub_len, x, w, d * (float)scale);
        if (error < *least) {
            *least = error;
            *best = scale;
        }
    }
}

/* Best whole scales for d, their error, and the d that least squares gives for the resulting levels. */
static float fit_scales(const qn_fit *f, const ladder *l, const qn_fit_form *form, float d, float wishes[][2],
                        int8_t *scales, float *next_d)
{
    float total = 0.0f, xa = 0.0f, aa = 0.0f;
    for (int s = 0; s < form->n_sub; s++) {
        const float *x = f->x + s * form->sub_len;
        const float *w = f->w + s * form->sub_len;
        float least = INFINITY;
        int best = form->scale_max;
        try_scales(l, form, x, w, d, wishes[s][0], &least, &best);
        if (form->scale_min < 0) {
            try_scales(l, form, x, w, d, wishes[s][1], &least, &best);
        }
        scales[s] = (int8_t)best;
        total += least;
        float inverse = qn_fit_inverse(d * (float)best);
        for (int i = 0; i < form->sub_len; i += QN_FIT_LANES) {
            float level[QN_FIT_LANES];
            levels_near(l, x + i, inverse, level);
            for (int k = 0; k < QN_FIT_LANES; k++) {
                float a = (float)best * level[k];
                xa += w[i + k] * a * x[i + k];
                aa += w[i + k] * a * a;
            }
        }
    }
    *next_d = aa > 0.0f ? xa / aa : d;
    return total;
}

static void write_levels(const qn_fit *f, const ladder *l, const qn_fit_form *form, float d, qn_fit_result *out)
{
    for (int s = 0; s < form->n_sub; s++) {
        float inverse = qn_fit_inverse(d * (float)out->scale[s]);
        for (int i = s * form->sub_len; i < (s + 1) * form->sub_len; i++) {
            float t = f->x[i] * inverse;
            if (l->n_steps == 0) {
                out->q[i] = (int8_t)qn_fit_round(t, l->low, l->high);
                continue;
            }
            out->q[i] = 0;
            for (int k = 0; k < l->n_steps; k++) {
                out->q[i] = (int8_t)(out->q[i] + (t > l->mid[k]));
            }
        }
    }
}

/* Takes turns from a first d; replaces *out when the error falls below *least. */
static void descend(const qn_fit *f, const ladder *l, const qn_fit_form *form, float first_d, float wishes[][2],
                    float *least, qn_fit_result *out)
{
    float before = INFINITY;
    float next_d = first_d;
    for (int round = 0; round < N_ROUNDS; round++) {
        float d;
        int8_t scales[QN_FIT_MAX_SUB];
        uint16_t half = qn_fit_half(f, next_d, &d);
        float total = fit_scales(f, l, form, d, wishes, scales, &next_d);
        if (total < *least) {
            *least = total;
            out->d = half;
            memcpy(out->scale, scales, sizeof scales);
            write_levels(f, l, form, d, out);
        }
        if (!(total < before)) {
            break;
        }
        before = total;
    }
}

void qn_fit_symmetric(const qn_fit *f, const qn_fit_form *form, qn_fit_result *out)
{
    ladder l = ladder_of(form);
    float wishes[QN_FIT_MAX_SUB][2];
    float widest = 0.0f;
    for (int s = 0; s < form->n_sub; s++) {
        const float *x = f->x + s * form->sub_len;
        const float *w = f->w + s * form->sub_len;
        float largest = qn_max_signed(x, (size_t)form->sub_len);
        wishes[s][0] = wishes[s][1] = 0.0f;
        if (fabsf(largest) > 1e-30f) {
            wishes[s][0] = fit_scale(&l, form->sub_len, x, w, largest, l.low);
            wishes[s][1] = fit_scale(&l, form->sub_len, x, w, largest, l.high);
        }
        widest = fabsf(wishes[s][0]) > fabsf(widest) ? wishes[s][0] : widest;
    }
    float least = INFINITY;
    if (form->scale_max == 1) {
        descend(f, &l, form, wishes[0][0], wishes, &least, out);
        descend(f, &l, form, wishes[0][1], wishes, &least, out);
        return;
    }
    static const float starts[] = {1.0f, 0.95f, 1.06f};
    for (size_t k = 0; k < sizeof starts / sizeof starts[0]; k++) {
        descend(f, &l, form, widest / (float)form->scale_min * starts[k], wishes, &least, out);
    }
}
