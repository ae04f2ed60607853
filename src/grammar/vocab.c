/* Opens a vocabulary for grammars: the bytes of its tokens, sorted, as a tree and slices.
 * SPDX-License-Identifier: MIT */
#include "grammar/vocab_int.h"

#include "base/checked.h"

#include <stdatomic.h>
#include <stdlib.h>

#define OWNER "grammar"
#define MAX_TEXT (1u << 28) /* of all tokens; offsets have 32 bits */

static atomic_uint_fast64_t last_serial;

typedef struct sort_item {
    uint64_t lead; /* the first bytes, the first one highest */
    const char *bytes;
    uint32_t len;
    int32_t id;
} sort_item;

static uint64_t lead_of(const char *bytes, uint32_t n)
{
    uint64_t lead = 0;
    for (uint32_t i = 0; i < 8; i++) {
        lead = lead << 8 | (i < n ? (unsigned char)bytes[i] : 0u);
    }
    return lead;
}

static int by_bytes(const void *x, const void *y)
{
    const sort_item *a = x, *b = y;
    if (a->lead != b->lead) {
        return a->lead < b->lead ? -1 : 1;
    }
    uint32_t n = a->len < b->len ? a->len : b->len;
    int order = memcmp(a->bytes, b->bytes, n);
    order = order != 0 ? order : a->len < b->len ? -1 : a->len > b->len;
    return order != 0 ? order : a->id < b->id ? -1 : 1;
}

/* What ordinary text may be made of: no control tokens. */
static bool is_text(const qn_grammar_vocab *v, int32_t id)
{
    qn_token_kind kind = qn_tokenizer_kind(v->tokenizer, id);
    return (kind == QN_TOKEN_NORMAL || kind == QN_TOKEN_USER || kind == QN_TOKEN_BYTE) &&
           !qn_tokenizer_is_end(v->tokenizer, id);
}

static qn_status read_tokens(qn_grammar_vocab *v, qn_error *err)
{
    qn_buf all;
    qn_buf_init(&all, v->budget, OWNER, MAX_TEXT);
    qn_status status = QN_OK;
    for (uint32_t i = 0; i < v->n_vocab && status == QN_OK; i++) {
        v->first[i] = (uint32_t)all.len;
        if (qn_tokenizer_is_end(v->tokenizer, (int32_t)i)) {
            v->n_ends++;
        }
        if (is_text(v, (int32_t)i)) {
            status = qn_tokenizer_decode_token(v->tokenizer, (int32_t)i, 0, false, &all, err);
        }
        if (all.len - v->first[i] > QN_TRIE_MAX_LEN) {
            all.len = v->first[i];
        }
    }
    v->first[v->n_vocab] = (uint32_t)all.len;
    if (status != QN_OK) {
        qn_buf_free(&all);
        return status;
    }
    v->text = all.data;
    return QN_OK;
}

static uint32_t fill_items(const qn_grammar_vocab *v, sort_item *items)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < v->n_vocab; i++) {
        qn_str s = qn_vocab_bytes(v, (int32_t)i);
        if (s.len != 0) {
            items[n++] = (sort_item){lead_of(s.data, (uint32_t)s.len), s.data, (uint32_t)s.len, (int32_t)i};
        }
    }
    return n;
}

static qn_status sort_tokens(qn_grammar_vocab *v, int32_t *sorted, uint32_t *n_sorted)
{
    sort_item *items = qn_zalloc_array(v->budget, OWNER, v->n_vocab + 1, sizeof(*items));
    if (items == NULL) {
        return qn_alloc_failure(v->budget, (uint64_t)v->n_vocab * sizeof(*items));
    }
    uint32_t n = fill_items(v, items);
    qsort(items, n, sizeof(*items), by_bytes);
    for (uint32_t i = 0; i < n; i++) {
        sorted[i] = items[i].id;
        v->max_len = items[i].len > v->max_len ? items[i].len : v->max_len;
    }
    qn_free(items);
    *n_sorted = n;
    return QN_OK;
}

static qn_status build(qn_grammar_vocab *v, qn_error *err)
{
    v->first = qn_zalloc_array(v->budget, OWNER, (size_t)v->n_vocab + 1, sizeof(*v->first));
    int32_t *sorted = qn_zalloc_array(v->budget, OWNER, (size_t)v->n_vocab + 1, sizeof(*sorted));
    qn_status status = QN_OK;
    uint32_t n = 0;
    if (v->first == NULL || sorted == NULL) {
        status = qn_alloc_failure(v->budget, (uint64_t)v->n_vocab * sizeof(*sorted));
    }
    status = status != QN_OK ? status : read_tokens(v, err);
    status = status != QN_OK ? status : sort_tokens(v, sorted, &n);
    status = status != QN_OK ? status : qn_trie_build(v, sorted, n, &v->all);
    status = status != QN_OK ? status : qn_slices_build(v, sorted, n);
    qn_free(sorted);
    QN_TRY(status);
    v->ends = qn_zalloc_array(v->budget, OWNER, (size_t)v->n_ends + 1, sizeof(*v->ends));
    if (v->ends == NULL) {
        return qn_alloc_failure(v->budget, ((uint64_t)v->n_ends + 1) * sizeof(*v->ends));
    }
    v->n_ends = 0;
    for (uint32_t i = 0; i < v->n_vocab; i++) {
        if (qn_tokenizer_is_end(v->tokenizer, (int32_t)i)) {
            v->ends[v->n_ends++] = (int32_t)i;
        }
    }
    return QN_OK;
}

qn_status qn_grammar_vocab_open(const qn_tokenizer *t, qn_budget *b, qn_grammar_vocab **out, qn_error *err)
{
    *out = NULL;
    qn_grammar_vocab *v = qn_zalloc(b, OWNER, sizeof(*v));
    qn_status status = v == NULL ? qn_alloc_failure(b, sizeof(*v)) : QN_OK;
    if (v != NULL) {
        v->tokenizer = t;
        v->budget = b;
        v->serial = atomic_fetch_add(&last_serial, 1) + 1;
        v->n_vocab = qn_tokenizer_n_vocab(t);
        v->n_words = (v->n_vocab + 63) / 64;
        status = build(v, err);
    }
    if (status != QN_OK) {
        qn_grammar_vocab_close(v);
        return qn_fail(err, status, "preparing the vocabulary for grammars: %s", qn_status_text(status));
    }
    *out = v;
    return QN_OK;
}

void qn_grammar_vocab_close(qn_grammar_vocab *v)
{
    if (v == NULL) {
        return;
    }
    qn_slices_close(v);
    qn_trie_close(&v->all);
    qn_free(v->text);
    qn_free(v->first);
    qn_free(v->ends);
    qn_free(v);
}
