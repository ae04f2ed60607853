/* The search for forms with a minimum.
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "quant/fit.h"

#define N_LOW 3    /* first guesses for the lower end of the range: from its place to one level inside */
#define N_HIGH 7   /* for the upper end: from one level outside to one inside */
#define N_LLOYD 6  /* least squares and rounding in turn, at most */
#define N_ROUNDS 4 /* whole scales and halves in turn, at most */

/* What a sub-block wants: x = scale * level - min. */
typedef struct wish {
    float scale, min;
    float mean_level; /* moves the best minimum when the scale is not to be had */
} wish;

/* The minimum may be negative when it is not made of a whole number and a half. */
static bool min_is_signed(const qn_fit_form *form) { return form->min_max == 1; }

/* Rounds with (inverse, min), then finds the pair that suits those levels best. What it saves of the sum of squares. */
static float try_pair(const qn_fit_form *form, const float *x, const float *w, float inverse, float min, wish *out)
{
    float lw[QN_FIT_LANES] = {0}, lx[QN_FIT_LANES] = {0}, ll[QN_FIT_LANES] = {0}, lll[QN_FIT_LANES] = {0};
    float lxl[QN_FIT_LANES] = {0};
    float top = (float)form->level_max;
    for (int i = 0; i < form->sub_len; i += QN_FIT_LANES) {
        for (int k = 0; k < QN_FIT_LANES; k++) {
            float level = qn_fit_round((x[i + k] + min) * inverse, 0.0f, top);
            float wl = w[i + k] * level;
            lw[k] += w[i + k];
            lx[k] += w[i + k] * x[i + k];
            ll[k] += wl;
            lll[k] += wl * level;
            lxl[k] += wl * x[i + k];
        }
    }
    float sw = qn_fit_sum(lw), sx = qn_fit_sum(lx), sl = qn_fit_sum(ll), sll = qn_fit_sum(lll), sxl = qn_fit_sum(lxl);
    float det = sw * sll - sl * sl;
    float scale = 0.0f, best_min = sw > 0.0f ? -sx / sw : 0.0f;
    if (det > 1e-6f * sw * sll) {
        scale = (sw * sxl - sx * sl) / det;
        best_min = (sl * sxl - sll * sx) / det;
    }
    if (best_min < 0.0f && !min_is_signed(form)) {
        best_min = 0.0f;
        scale = sll > 0.0f && sxl > 0.0f ? sxl / sll : 0.0f;
    }
    out->scale = scale;
    out->min = best_min;
    out->mean_level = sw > 0.0f ? sl / sw : 0.0f;
    return 2.0f * (scale * sxl - best_min * sx) -
           (scale * scale * sll - 2.0f * scale * best_min * sl + best_min * best_min * sw);
}

static wish fit_pair(const qn_fit_form *form, const float *x, const float *w)
{
    float low, high;
    qn_min_max(x, (size_t)form->sub_len, &low, &high);
    if (low > 0.0f && !min_is_signed(form)) {
        low = 0.0f;
    }
    float level = (high - low) / (float)form->level_max;
    wish best = {0.0f, -low, 0.0f};
    if (!(level > 1e-30f)) {
        return best;
    }
    float most = -INFINITY;
    for (int a = 0; a < N_LOW; a++) {
        for (int b = 0; b < N_HIGH; b++) {
            float from = low + level * (float)a / (N_LOW - 1);
            float to = high - level * (2.0f * (float)b / (N_HIGH - 1) - 1.0f);
            wish one;
            if (!(to > from)) {
                continue;
            }
            float saved = try_pair(form, x, w, (float)form->level_max / (to - from), -from, &one);
            if (saved > most) {
                most = saved;
                best = one;
            }
        }
    }
    for (int k = 0; k < N_LLOYD; k++) {
        wish one;
        float saved = try_pair(form, x, w, qn_fit_inverse(best.scale), best.min, &one);
        if (!(saved > most)) {
            break;
        }
        most = saved;
        best = one;
    }
    return best;
}

static float error_of(const qn_fit_form *form, const float *x, const float *w, float scale, float min)
{
    float inverse = qn_fit_inverse(scale);
    float lanes[QN_FIT_LANES] = {0};
    float top = (float)form->level_max;
    for (int i = 0; i < form->sub_len; i += QN_FIT_LANES) {
        for (int k = 0; k < QN_FIT_LANES; k++) {
            float level = qn_fit_round((x[i + k] + min) * inverse, 0.0f, top);
            float e = x[i + k] + min - scale * level;
            lanes[k] += w[i + k] * e * e;
        }
    }
    return qn_fit_sum(lanes);
}

static inline int clamp(float t, int min, int max) { return (int)qn_fit_round(t, (float)min, (float)max); }

/* The whole scale and minimum near the wish with the least error, which is returned. */
static float fit_whole(const qn_fit_form *form, const float *x, const float *w, const wish *want, float d, float dmin,
                       int8_t *scale_out, int8_t *min_out)
{
    float least = INFINITY;
    float inverse_min = qn_fit_inverse(dmin);
    int scale_centre = clamp(want->scale * qn_fit_inverse(d), form->scale_min, form->scale_max);
    int scale_first = scale_centre > form->scale_min ? scale_centre - 1 : scale_centre;
    int scale_last = scale_centre < form->scale_max ? scale_centre + 1 : scale_centre;
    for (int scale = scale_first; scale <= scale_last; scale++) {
        float min_wish = want->min + (d * (float)scale - want->scale) * want->mean_level;
        int min_least = min_is_signed(form) ? 1 : 0;
        int centre = clamp(min_wish * inverse_min, min_least, form->min_max);
        int first = centre > min_least ? centre - 1 : centre;
        int last = centre < form->min_max ? centre + 1 : centre;
        for (int min = first; min <= last; min++) {
            float error = error_of(form, x, w, d * (float)scale, dmin * (float)min);
            if (error < least) {
                least = error;
                *scale_out = (int8_t)scale;
                *min_out = (int8_t)min;
            }
        }
    }
    return least;
}

/* The halves that least squares gives for the whole numbers of *r and the levels that go with them. */
static void fit_halves(const qn_fit *f, const qn_fit_form *form, const qn_fit_result *r, float *d, float *dmin)
{
    float aa = 0.0f, ab = 0.0f, bb = 0.0f, xa = 0.0f, xb = 0.0f;
    for (int s = 0; s < form->n_sub; s++) {
        float inverse = qn_fit_inverse(*d * (float)r->scale[s]);
        float b = (float)r->min[s];
        float min = *dmin * b;
        for (int i = s * form->sub_len; i < (s + 1) * form->sub_len; i++) {
            float a = (float)r->scale[s] * qn_fit_round((f->x[i] + min) * inverse, 0.0f, (float)form->level_max);
            aa += f->w[i] * a * a;
            ab += f->w[i] * a * b;
            bb += f->w[i] * b * b;
            xa += f->w[i] * a * f->x[i];
            xb += f->w[i] * b * f->x[i];
        }
    }
    float det = aa * bb - ab * ab;
    float new_d = *d, new_dmin = *dmin;
    if (det > 1e-6f * aa * bb) {
        new_d = (xa * bb - xb * ab) / det;
        new_dmin = (xa * ab - xb * aa) / det;
    } else if (aa > 0.0f && bb == 0.0f) {
        new_d = xa / aa;
    }
    if (new_d > 0.0f && (new_dmin >= 0.0f || min_is_signed(form))) {
        *d = new_d;
        *dmin = new_dmin;
    }
}

static void write_levels(const qn_fit *f, const qn_fit_form *form, float d, float dmin, qn_fit_result *r)
{
    for (int s = 0; s < form->n_sub; s++) {
        float inverse = qn_fit_inverse(d * (float)r->scale[s]);
        float min = dmin * (float)r->min[s];
        for (int i = s * form->sub_len; i < (s + 1) * form->sub_len; i++) {
            r->q[i] = (int8_t)qn_fit_round((f->x[i] + min) * inverse, 0.0f, (float)form->level_max);
        }
    }
}

/* Takes turns from first halves; replaces *out when the error falls below *least. */
static void descend(const qn_fit *f, const qn_fit_form *form, const wish *wishes, float d, float dmin, float *least,
                    qn_fit_result *out)
{
    float before = INFINITY;
    for (int round = 0; round < N_ROUNDS; round++) {
        qn_fit_result r = {0};
        float total = 0.0f;
        r.d = qn_fit_half(f, d, &d);
        r.dmin = qn_fit_half(f, dmin, &dmin);
        for (int s = 0; s < form->n_sub; s++) {
            int at = s * form->sub_len;
            total += fit_whole(form, f->x + at, f->w + at, &wishes[s], d, dmin, &r.scale[s], &r.min[s]);
        }
        if (total < *least) {
            *least = total;
            write_levels(f, form, d, dmin, &r);
            *out = r;
        }
        if (!(total < before)) {
            break;
        }
        before = total;
        fit_halves(f, form, &r, &d, &dmin);
    }
}

void qn_fit_affine(const qn_fit *f, const qn_fit_form *form, qn_fit_result *out)
{
    wish wishes[QN_FIT_MAX_SUB];
    float scale = 0.0f, min = 0.0f;
    for (int s = 0; s < form->n_sub; s++) {
        wishes[s] = fit_pair(form, f->x + s * form->sub_len, f->w + s * form->sub_len);
        scale = wishes[s].scale > scale ? wishes[s].scale : scale;
        min = fabsf(wishes[s].min) > fabsf(min) ? wishes[s].min : min;
    }
    static const float starts[][2] = {{1.0f, 1.0f}, {0.95f, 1.0f}, {1.0f, 0.95f}, {1.05f, 1.05f}};
    float d = scale / (float)form->scale_max;
    float dmin = min / (float)form->min_max;
    float least = INFINITY;
    int n_starts = form->scale_max == 1 ? 1 : (int)(sizeof starts / sizeof starts[0]);
    for (int k = 0; k < n_starts; k++) {
        descend(f, form, wishes, d * starts[k][0], dmin * starts[k][1], &least, out);
    }
}
