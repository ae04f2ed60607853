/* Changing case, character by character: the full mappings, with the final sigma where a word ends.
 * SPDX-License-Identifier: MIT */
#include "base/unicode_case.h"
#include "text/jinja/value_int.h"

/* Whether the sigma at s[at] ends a word: a cased character before it and none after, whatever may be ignored. */
static bool sigma_is_final(qn_vbuild *v, const qn_vstr *s, size_t at)
{
    size_t i = at, steps = 0;
    bool before = false, after = false;
    while (i > 0) {
        uint32_t cp = qn_vchar_before(s, &i);
        steps++;
        if (!qn_unicode_is_case_ignorable(cp)) {
            before = qn_unicode_is_cased(cp);
            break;
        }
    }
    i = at + 2;
    while (before && i < s->n_bytes) {
        uint32_t cp = qn_vchar_next(s, &i);
        steps++;
        if (!qn_unicode_is_case_ignorable(cp)) {
            after = qn_unicode_is_cased(cp);
            break;
        }
    }
    if (v->status == QN_OK) {
        v->status = qn_run_steps(v->run, steps);
    }
    return before && !after;
}

#define SIGMA 0x3A3u
#define SIGMA_FINAL 0x3C2u

static unsigned lower(qn_vbuild *v, const qn_vstr *s, size_t at, uint32_t cp, uint32_t *to)
{
    if (cp == SIGMA && sigma_is_final(v, s, at)) {
        to[0] = SIGMA_FINAL;
        return 1;
    }
    return qn_unicode_lower(cp, to);
}

/* Folding is lower case of upper case of lower case, but for two alphabets' letters. */
static unsigned fold(uint32_t cp, uint32_t *to)
{
    if (cp == 0x131 || (cp >= 0x13A0 && cp <= 0x13F5)) { /* dotless i; Cherokee folds to its upper case */
        to[0] = cp;
        return 1;
    }
    if ((cp >= 0xAB70 && cp <= 0xABBF) || (cp >= 0x13F8 && cp <= 0x13FD)) {
        return qn_unicode_upper(cp, to);
    }
    uint32_t first[QN_UNICODE_MAX_CASE], second[QN_UNICODE_MAX_CASE];
    unsigned n_first = qn_unicode_lower(cp, first), n = 0;
    if (n_first > 1) { /* only the dotted capital I: i and a dot, which stay */
        memcpy(to, first, n_first * sizeof(*to));
        return n_first;
    }
    unsigned n_second = qn_unicode_upper(first[0], second);
    for (unsigned i = 0; i < n_second && n < QN_UNICODE_MAX_CASE; i++) {
        qn_unicode_lower(second[i], to + n); /* one for each here */
        n++;
    }
    return n;
}

/* One character, to be in the place of s[at]. */
static unsigned change(qn_vbuild *v, const qn_vstr *s, size_t at, uint32_t cp, qn_vcase to_case, bool *in_word,
                       uint32_t *to)
{
    bool first = !*in_word;
    switch (to_case) {
    case QN_CASE_UPPER:
        return qn_unicode_upper(cp, to);
    case QN_CASE_FOLD:
        return fold(cp, to);
    case QN_CASE_CAPITAL:
        *in_word = true;
        return first ? qn_unicode_title(cp, to) : lower(v, s, at, cp, to);
    case QN_CASE_TITLE:
        *in_word = qn_unicode_is_cased(cp);
        return first ? qn_unicode_title(cp, to) : lower(v, s, at, cp, to);
    case QN_CASE_SWAP:
        if (qn_char_is_upper(cp)) {
            return lower(v, s, at, cp, to);
        }
        if (qn_char_is_lower(cp)) {
            return qn_unicode_upper(cp, to);
        }
        to[0] = cp;
        return 1;
    case QN_CASE_LOWER:
        break;
    }
    return lower(v, s, at, cp, to);
}

void qn_vbuild_add_case(qn_vbuild *v, const qn_vstr *s, size_t from, size_t n, qn_vcase to_case)
{
    bool in_word = false;
    if (v->status == QN_OK) {
        v->status = qn_run_steps(v->run, n / 4);
    }
    for (size_t i = from; i < from + n && v->status == QN_OK;) {
        size_t at = i;
        uint32_t to[QN_UNICODE_MAX_CASE], cp = qn_vchar_next(s, &i);
        unsigned n_to = change(v, s, at, cp, to_case, &in_word, to);
        if (n_to == 1 && to[0] == cp) {
            qn_vbuild_add_slice(v, s, at, i - at);
            continue;
        }
        for (unsigned j = 0; j < n_to; j++) {
            qn_vbuild_add_char_like(v, s, at, to[j]);
        }
    }
}

qn_status qn_vchange_case(qn_run *run, qn_value s, qn_vcase to, qn_value *out)
{
    qn_vbuild v;
    qn_vbuild_init(&v, run);
    qn_vbuild_add_case(&v, s.u.s, 0, s.u.s->n_bytes, to);
    QN_TRY(qn_vbuild_finish(&v, out));
    *out = qn_vsafe(*out, qn_vis_safe(s));
    return QN_OK;
}
