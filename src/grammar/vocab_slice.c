/* Slices: tokens of some kinds of characters only, with the trees of what is outside of them.
 * SPDX-License-Identifier: MIT */
#include "grammar/vocab_int.h"

#include "base/checked.h"

#include <stdlib.h>

#define OWNER "grammar"
#define ALNUM (QN_CHAR_LOWER | QN_CHAR_UPPER | QN_CHAR_DIGIT)
#define SEEN (ALNUM | QN_CHAR_BLANK | QN_CHAR_UNDERSCORE | QN_CHAR_DASH | QN_CHAR_DOT | QN_CHAR_SLASH | QN_CHAR_SIGN)

#define PLAIN (ALNUM | QN_CHAR_WIDE | QN_CHAR_BLANK | QN_CHAR_UNDERSCORE | QN_CHAR_DASH | QN_CHAR_DOT)

/* What strings in JSON, free text, lines, names and words are made of; what is left of text where some sign, a slash, a
 * blank or a digit has a meaning. */
static const uint16_t slice_kinds[] = {
    SEEN | QN_CHAR_WIDE,
    SEEN | QN_CHAR_WIDE | QN_CHAR_QUOTE | QN_CHAR_BACKSLASH | QN_CHAR_NEWLINE | QN_CHAR_TAB | QN_CHAR_CONTROL,
    SEEN | QN_CHAR_WIDE | QN_CHAR_QUOTE | QN_CHAR_BACKSLASH | QN_CHAR_TAB,
    (SEEN | QN_CHAR_WIDE) & ~QN_CHAR_BLANK,
    (SEEN | QN_CHAR_WIDE) & ~QN_CHAR_DIGIT,
    PLAIN,
    PLAIN | QN_CHAR_QUOTE | QN_CHAR_BACKSLASH | QN_CHAR_NEWLINE | QN_CHAR_TAB,
    SEEN,
    ALNUM | QN_CHAR_UNDERSCORE | QN_CHAR_DASH | QN_CHAR_DOT,
    ALNUM | QN_CHAR_BLANK,
    ALNUM | QN_CHAR_UNDERSCORE,
    ALNUM,
    QN_CHAR_LOWER | QN_CHAR_DIGIT | QN_CHAR_DASH,
    QN_CHAR_LOWER | QN_CHAR_BLANK,
    QN_CHAR_LOWER | QN_CHAR_UPPER,
    QN_CHAR_LOWER,
};
_Static_assert(sizeof(slice_kinds) / sizeof(slice_kinds[0]) <= QN_MAX_SLICES, "room for all slices");

uint16_t qn_kind_of_ascii(unsigned char c)
{
    if (c < 0x20 || c == 0x7f) {
        return c == '\n' || c == '\r' ? QN_CHAR_NEWLINE : c == '\t' ? QN_CHAR_TAB : QN_CHAR_CONTROL;
    }
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
        return c >= 'a' ? QN_CHAR_LOWER : QN_CHAR_UPPER;
    }
    if (c >= '0' && c <= '9') {
        return QN_CHAR_DIGIT;
    }
    switch (c) {
    case ' ':
        return QN_CHAR_BLANK;
    case '_':
        return QN_CHAR_UNDERSCORE;
    case '-':
        return QN_CHAR_DASH;
    case '.':
        return QN_CHAR_DOT;
    case '/':
        return QN_CHAR_SLASH;
    case '"':
        return QN_CHAR_QUOTE;
    case '\\':
        return QN_CHAR_BACKSLASH;
    default:
        return QN_CHAR_SIGN;
    }
}

/* Bytes of the whole character at s[0, n), beyond ASCII; 0: there is none. */
static uint32_t wide_char(const unsigned char *s, size_t n)
{
    uint32_t len = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc2 || s[0] > 0xf4 || n < len) {
        return 0;
    }
    for (uint32_t i = 1; i < len; i++) {
        if ((s[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    bool is_bad = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
                  (s[0] == 0xf4 && s[1] > 0x8f);
    return is_bad ? 0 : len;
}

uint16_t qn_kinds_of(qn_str text, uint32_t *n_chars)
{
    const unsigned char *s = (const unsigned char *)text.data;
    uint16_t kinds = 0;
    *n_chars = 0;
    for (size_t i = 0; i < text.len; ++*n_chars) {
        uint32_t len = s[i] < 0x80 ? 1 : wide_char(s + i, text.len - i);
        kinds |= len == 0 ? QN_CHAR_PART : len == 1 ? qn_kind_of_ascii(s[i]) : QN_CHAR_WIDE;
        i += len == 0 ? 1 : len;
    }
    return kinds;
}

typedef struct token_facts {
    uint16_t kinds, n_chars;
} token_facts;

typedef struct long_token {
    uint32_t n_chars, id;
} long_token;

static int by_chars(const void *x, const void *y)
{
    const long_token *a = x, *b = y;
    return a->n_chars != b->n_chars ? (a->n_chars < b->n_chars ? -1 : 1) : a->id < b->id ? -1 : a->id > b->id;
}

static void mark_bytes(qn_slice *s)
{
    for (unsigned c = 0; c < 256; c++) {
        s->has_byte[c] = (s->kinds & (c < 0x80 ? qn_kind_of_ascii((unsigned char)c) : QN_CHAR_WIDE)) != 0;
    }
}

/* The masks of a slice, one for each number of characters; those of fewer characters are in those of more. */
static void fill_masks(const qn_grammar_vocab *v, const int32_t *sorted, uint32_t n, const token_facts *facts, qn_slice *s,
                       long_token *longs)
{
    for (uint32_t i = 0; i < n; i++) {
        token_facts f = facts[i];
        if ((f.kinds & ~s->kinds) != 0) {
            continue;
        }
        uint32_t id = (uint32_t)sorted[i];
        uint64_t bit = (uint64_t)1 << (id % 64);
        s->n_tokens++;
        s->masks[0][id / 64] |= bit;
        if (f.n_chars <= QN_SLICE_LEVELS) {
            s->n_up_to[f.n_chars]++;
            s->masks[f.n_chars][id / 64] |= bit;
        } else {
            longs[s->n_long++] = (long_token){f.n_chars, id};
        }
    }
    for (uint32_t k = 2; k <= QN_SLICE_LEVELS; k++) {
        s->n_up_to[k] += s->n_up_to[k - 1];
        for (uint32_t w = 0; w < v->n_words; w++) {
            s->masks[k][w] |= s->masks[k - 1][w];
        }
    }
    qsort(longs, s->n_long, sizeof(*longs), by_chars);
}

static qn_status keep_longs(qn_grammar_vocab *v, qn_slice *s, const long_token *longs)
{
    s->long_ids = qn_zalloc_array(v->budget, OWNER, (size_t)s->n_long + 1, sizeof(*s->long_ids));
    s->long_chars = qn_zalloc_array(v->budget, OWNER, (size_t)s->n_long + 1, sizeof(*s->long_chars));
    if (s->long_ids == NULL || s->long_chars == NULL) {
        return qn_alloc_failure(v->budget, ((uint64_t)s->n_long + 1) * sizeof(*s->long_ids));
    }
    for (uint32_t i = 0; i < s->n_long; i++) {
        s->long_ids[i] = longs[i].id;
        s->long_chars[i] = (uint16_t)longs[i].n_chars;
    }
    return QN_OK;
}

static qn_status build_slice(qn_grammar_vocab *v, const int32_t *sorted, uint32_t n, const token_facts *facts,
                             int32_t *outside, long_token *longs, qn_slice *s)
{
    mark_bytes(s);
    for (uint32_t k = 0; k <= QN_SLICE_LEVELS; k++) {
        s->masks[k] = qn_zalloc_array(v->budget, OWNER, (size_t)v->n_words + 1, sizeof(uint64_t));
        if (s->masks[k] == NULL) {
            return qn_alloc_failure(v->budget, ((uint64_t)v->n_words + 1) * sizeof(uint64_t));
        }
    }
    fill_masks(v, sorted, n, facts, s, longs);
    QN_TRY(keep_longs(v, s, longs));
    uint32_t n_outside = 0;
    for (uint32_t i = 0; i < n; i++) {
        if ((facts[i].kinds & ~s->kinds) != 0) {
            outside[n_outside++] = sorted[i];
        }
    }
    QN_TRY(qn_trie_build(v, outside, n_outside, &s->rest));
    return qn_slice_find_borders(v, s);
}

qn_status qn_slices_build(qn_grammar_vocab *v, const int32_t *sorted, uint32_t n)
{
    token_facts *facts = qn_zalloc_array(v->budget, OWNER, (size_t)n + 1, sizeof(*facts));
    int32_t *outside = qn_zalloc_array(v->budget, OWNER, (size_t)n + 1, sizeof(*outside));
    long_token *longs = qn_zalloc_array(v->budget, OWNER, (size_t)n + 1, sizeof(*longs));
    qn_status status = QN_OK;
    if (facts == NULL || outside == NULL || longs == NULL) {
        status = qn_alloc_failure(v->budget, ((uint64_t)n + 1) * sizeof(*longs));
    } else {
        for (uint32_t i = 0; i < n; i++) {
            uint32_t n_chars;
            facts[i].kinds = qn_kinds_of(qn_vocab_bytes(v, sorted[i]), &n_chars);
            facts[i].n_chars = (uint16_t)n_chars;
        }
        for (size_t i = 0; i < sizeof(slice_kinds) / sizeof(slice_kinds[0]) && status == QN_OK; i++) {
            qn_slice *s = &v->slices[v->n_slices++];
            s->kinds = slice_kinds[i];
            status = build_slice(v, sorted, n, facts, outside, longs, s);
        }
    }
    qn_free(facts);
    qn_free(outside);
    qn_free(longs);
    return status;
}

void qn_slices_close(qn_grammar_vocab *v)
{
    for (uint32_t i = 0; i < v->n_slices; i++) {
        qn_slice *s = &v->slices[i];
        for (uint32_t k = 0; k <= QN_SLICE_LEVELS; k++) {
            qn_free(s->masks[k]);
        }
        qn_free(s->long_ids);
        qn_free(s->long_chars);
        qn_trie_close(&s->rest);
        qn_free(s->borders);
        qn_free(s->parts);
    }
}
