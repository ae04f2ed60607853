/* A text as the words of BERT: control characters left out, accents taken off and letters made small where the model
 * wants that, cut at blanks, each mark of punctuation and each Chinese character a word of its own.
 *
 * Bytes that are no UTF-8 count as U+FFFD and so are left out.
 *
 * SPDX-License-Identifier: MIT */
#include "base/unicode_case.h"
#include "base/unicode_norm.h"
#include "text/tokenizer_wpm.h"
#include "text/utf8.h"

#define WORD_BYTES 512 /* more than a word may have that is looked up at all */

typedef struct word {
    char s[WORD_BYTES];
    size_t n, n_chars; /* n stays when there is no more room; n_chars tells then that the word is over-long */
} word;

typedef enum sort { IN_WORD, BLANK, ALONE, DROPPED } sort;

static sort sort_of_ascii(uint8_t c)
{
    if (c <= ' ') {
        return c == ' ' || c == '\t' || c == '\n' || c == '\r' ? BLANK : DROPPED;
    }
    bool alphanumeric = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    return alphanumeric ? IN_WORD : c == 0x7F ? DROPPED : ALONE;
}

/* The ranges that the models' own tokenizers have, the gap before U+2B920 with them. */
static bool is_chinese(uint32_t cp)
{
    static const uint32_t ranges[][2] = {{0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xF900, 0xFAFF},  {0x20000, 0x2A6DF},
                                         {0x2A700, 0x2B81F}, {0x2B920, 0x2CEAF}, {0x2F800, 0x2FA1F}};
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]) && cp >= ranges[i][0]; i++) {
        if (cp <= ranges[i][1]) {
            return true;
        }
    }
    return false;
}

static sort sort_of(const qn_wpm *m, uint32_t cp)
{
    if (cp < 0x80) {
        return sort_of_ascii((uint8_t)cp);
    }
    if (cp == UINT32_MAX || cp == 0xFFFD) {
        return DROPPED;
    }
    if (is_chinese(cp)) {
        return ALONE;
    }
    switch (qn_unicode_category(cp)) {
    case QN_CATEGORY_ZS:
    case QN_CATEGORY_ZL:
    case QN_CATEGORY_ZP:
        return BLANK;
    case QN_CATEGORY_CC:
    case QN_CATEGORY_CF:
    case QN_CATEGORY_CO:
    case QN_CATEGORY_CS:
        return DROPPED;
    case QN_CATEGORY_PC:
    case QN_CATEGORY_PD:
    case QN_CATEGORY_PS:
    case QN_CATEGORY_PE:
    case QN_CATEGORY_PI:
    case QN_CATEGORY_PF:
    case QN_CATEGORY_PO:
        return ALONE;
    case QN_CATEGORY_MN:
        return m->strips_accents ? DROPPED : IN_WORD;
    default:
        return IN_WORD;
    }
}

static void add_char(word *w, uint32_t cp)
{
    if (WORD_BYTES - w->n >= 4) {
        w->n += qn_utf8_put(cp, w->s + w->n);
    }
    w->n_chars++;
}

static void add_lower(word *w, uint32_t cp)
{
    uint32_t lower[QN_UNICODE_MAX_CASE];
    unsigned n = qn_unicode_lower(cp, lower);
    for (unsigned i = 0; i < n; i++) {
        add_char(w, lower[i]);
    }
}

static void flush(qn_encode_run *run, word *w)
{
    if (w->n_chars > 0) {
        qn_wpm_encode_word(run, w->s, w->n, w->n_chars);
        w->n = w->n_chars = 0;
    }
}

qn_status qn_wpm_words(qn_encode_run *run, const char *text, size_t n)
{
    const qn_wpm *m = run->t->state;
    if (m->strips_accents && qn_norm_prefix(QN_NORM_NFD, text, n) < n) {
        qn_buf_clear(&run->text);
        QN_TRY(qn_norm_add(QN_NORM_NFD, text, n, &run->text));
        text = run->text.data;
        n = run->text.len;
    }
    word w = {.n = 0};
    for (size_t at = 0; at < n;) {
        uint32_t cp;
        at += qn_utf8_next(text + at, n - at, &cp);
        sort s = sort_of(m, cp);
        if (s == BLANK || s == ALONE) {
            flush(run, &w);
        }
        if (s == IN_WORD && m->lowercase) {
            add_lower(&w, cp);
        } else if (s == IN_WORD || s == ALONE) { /* no mark and no Chinese character has a small form */
            add_char(&w, cp);
        }
        if (s == ALONE) {
            flush(run, &w);
        }
    }
    flush(run, &w);
    return QN_OK;
}
