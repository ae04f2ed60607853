/* Normalization of a text: what is in the form already is found by one table look-up a character and copied; the
 * stretches between are taken to code points, each up to the next character that nothing before it can touch.
 * SPDX-License-Identifier: MIT */
#include "base/unicode_norm.h"

#include "base/unicode_norm_int.h"

/* A character with one of these flags is not known to be in the form. */
static uint32_t doubts_of(qn_norm form)
{
    switch (form) {
    case QN_NORM_NFC:
        return QN_NORM_NOT_NFC | QN_NORM_MAYBE;
    case QN_NORM_NFD:
        return QN_NORM_NOT_NFD;
    case QN_NORM_NFKC:
        return QN_NORM_NOT_NFKC | QN_NORM_MAYBE;
    default:
        return QN_NORM_NOT_NFKD;
    }
}

uint8_t qn_unicode_combining_class(uint32_t cp)
{
    return (uint8_t)qn_norm_word(cp);
}

/* Length of the ASCII text at s, seen by eights. */
static size_t ascii_prefix(const char *s, size_t n)
{
    size_t at = 0;
    for (uint64_t eight; at + sizeof(eight) <= n; at += sizeof(eight)) {
        memcpy(&eight, s + at, sizeof(eight));
        if ((eight & 0x8080808080808080u) != 0) {
            break;
        }
    }
    while (at < n && (uint8_t)s[at] < 0x80) {
        at++;
    }
    return at;
}

/* Length of the text at s that is of U+4000 to U+9FFF, nearly all Chinese: these are in every form. */
static size_t ideograph_prefix(const char *s, size_t n)
{
    const uint8_t *u = (const uint8_t *)s;
    size_t at = 0;
    while (n - at >= 3 && u[at] >= 0xE4 && u[at] <= 0xE9 && (u[at + 1] & 0xC0) == 0x80 && (u[at + 2] & 0xC0) == 0x80) {
        at += 3;
    }
    return at;
}

/* As qn_norm_prefix(). */
static size_t prefix(uint32_t doubts, const char *s, size_t n)
{
    size_t at = 0, safe = 0; /* safe: the last place where the text can be cut so far */
    uint32_t before = 0;     /* the class of the last character */
    while (at < n) {
        if ((uint8_t)s[at] < 0x80) {
            at += ascii_prefix(s + at, n - at);
            safe = at - 1; /* the last of them may still take a mark */
            before = 0;
            continue;
        }
        uint32_t cp;
        size_t len = ideograph_prefix(s + at, n - at);
        if (len > 0) {
            at += len;
            safe = at - 3;
            before = 0;
            continue;
        }
        len = qn_unicode_decode(s + at, n - at, &cp);
        if (cp == UINT32_MAX) {
            at += len;
            safe = at;
            before = 0;
            continue;
        }
        uint32_t word = qn_norm_word(cp), order = word & 0xFF;
        if ((word & doubts) != 0 || (order != 0 && order < before)) {
            return safe;
        }
        if (order == 0) {
            safe = at;
        }
        before = order;
        at += len;
    }
    return n;
}

size_t qn_norm_prefix(qn_norm form, const char *s, size_t n)
{
    return prefix(doubts_of(form), s, n);
}

static void put(uint32_t cp, qn_buf *out)
{
    char s[4];
    qn_buf_add(out, s, qn_utf8_put(cp, s));
}

/* Normalises the stretch at s and sets *len to its length: up to an invalid byte or to the second character at which
 * the text can be cut. */
static qn_status add_stretch(qn_norm form, const char *s, size_t n, qn_norm_run *run, size_t *len, qn_buf *out)
{
    uint32_t doubts = doubts_of(form);
    size_t at = 0;
    run->n = 0;
    while (at < n) {
        uint32_t cp;
        size_t n_char = qn_unicode_decode(s + at, n - at, &cp);
        if (cp == UINT32_MAX || (at > 0 && (qn_norm_word(cp) & (doubts | 0xFF)) == 0)) {
            break;
        }
        QN_TRY(qn_norm_decompose(run, cp, form == QN_NORM_NFKC || form == QN_NORM_NFKD));
        at += n_char;
    }
    *len = at;
    QN_TRY(qn_norm_reorder(run));
    if (form == QN_NORM_NFC || form == QN_NORM_NFKC) {
        qn_norm_compose(run);
    }
    for (size_t i = 0; i < run->n; i++) {
        put(run->items[i] & QN_NORM_CODE_POINT, out);
    }
    return out->status;
}

qn_status qn_norm_add(qn_norm form, const char *s, size_t n, qn_buf *out)
{
    uint32_t doubts = doubts_of(form);
    qn_norm_run run = {.budget = out->budget};
    qn_status status = QN_OK;
    for (size_t at = 0; at < n && status == QN_OK;) {
        size_t len = prefix(doubts, s + at, n - at);
        qn_buf_add(out, s + at, len);
        at += len;
        status = out->status;
        if (at < n && status == QN_OK) {
            status = add_stretch(form, s + at, n - at, &run, &len, out);
            at += len;
        }
    }
    qn_free(run.items);
    return status;
}
