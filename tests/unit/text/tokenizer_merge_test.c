/* Merging against plain search, over vocabularies whose merges come in any order and cut through characters: what is
 * done at once, in windows and out of the cache must not be seen in the ids.
 * SPDX-License-Identifier: MIT */
#include "test.h"

#include "base/random.h"
#include "small_vocab.h"
#include "text/tokenizer_int.h"

#include <pthread.h>

#define MAX_TEXT 2400
#define N_MERGES 60
#define MAX_PART 80 /* bytes of a spelling */
#define NOTHING (-1)

/* Characters that share bytes with others at both ends; those of the first row are letters and make one word. */
static const char *const letters[] = {"a", "b", "\u00E9", "\u00E8", "\u0429", "\u4E2D", "\u4E2E", "\u4EAD", "\u8B2D"};
static const char *const others[] = {" ", "\U0001F642", "\U0001F643", "\xE4", "\xB8", "!", "\n", "1"};
#define N_LETTERS (sizeof(letters) / sizeof(letters[0]))
#define N_OTHERS (sizeof(others) / sizeof(others[0]))

/* A vocabulary, and for each two of its tokens what they become and when. */
typedef struct judged {
    small_vocab v;
    char texts[N_MERGES][MAX_PART], lines[N_MERGES][2 * MAX_PART];
    int32_t into[SMALL_VOCAB_CAP][SMALL_VOCAB_CAP];
    float priority[SMALL_VOCAB_CAP][SMALL_VOCAB_CAP];
    uint8_t *bytes;
    qn_gguf *g;
    qn_tokenizer *t;
} judged;

static void open_judged(judged *j)
{
    size_t n;
    j->bytes = qn_small_write(&j->v, &n);
    assert_int_equal(qn_gguf_open_memory(j->bytes, n, NULL, &j->g, NULL), QN_OK);
    assert_int_equal(qn_tokenizer_open(j->g, NULL, &j->t, NULL), QN_OK);
}

static void close_judged(judged *j)
{
    qn_tokenizer_close(j->t);
    qn_gguf_close(j->g);
    qn_free(j->bytes);
}

static int32_t token_of(const small_vocab *v, const char *text)
{
    for (uint32_t i = 0; i < v->n; i++) {
        if (v->kinds[i] == QN_TOKEN_NORMAL && qn_str_is(v->tokens[i], text)) {
            return (int32_t)i;
        }
    }
    return NOTHING;
}

static void forget_pairs(judged *j)
{
    for (size_t i = 0; i < SMALL_VOCAB_CAP; i++) {
        for (size_t k = 0; k < SMALL_VOCAB_CAP; k++) {
            j->into[i][k] = NOTHING;
        }
    }
}

/* Merges ids until nothing is left to merge; how many remain. */
static size_t merge_plainly(const judged *j, int32_t *ids, size_t n)
{
    for (;;) {
        size_t best = n;
        for (size_t i = 0; i + 1 < n; i++) {
            if (j->into[ids[i]][ids[i + 1]] != NOTHING &&
                (best == n || j->priority[ids[i]][ids[i + 1]] < j->priority[ids[best]][ids[best + 1]])) {
                best = i;
            }
        }
        if (best == n) {
            return n;
        }
        ids[best] = j->into[ids[best]][ids[best + 1]];
        memmove(ids + best + 1, ids + best + 2, (n - best - 2) * sizeof(*ids));
        n--;
    }
}

static size_t random_text(qn_random *r, char *text, size_t max, bool one_word)
{
    size_t n = 0;
    for (uint64_t left = 1 + qn_random_below(r, max / 4); left > 0; left--) {
        bool letter = one_word || qn_random_below(r, 8) > 0;
        const char *c = letter ? letters[qn_random_below(r, N_LETTERS)] : others[qn_random_below(r, N_OTHERS)];
        memcpy(text + n, c, strlen(c));
        n += strlen(c);
    }
    return n;
}

/* ---- byte-level BPE ---- */

/* The id of a random token of j that the text has before `at` (ends) or from there on; NOTHING: none was found. */
static int32_t token_at(const judged *j, qn_random *r, const char *text, size_t n, size_t at, bool ends)
{
    int32_t found = NOTHING;
    size_t start = at, n_seen = 0;
    for (size_t len = 1; len <= 12 && (ends ? len <= at : at + len <= n); len++) {
        char spelled[64] = "";
        start = ends ? at - len : at;
        for (size_t i = start; i < start + len; i++) {
            strcat(spelled, j->v.text[(uint8_t)text[i]]);
        }
        int32_t id = token_of(&j->v, spelled);
        if (id != NOTHING && qn_random_below(r, ++n_seen) == 0) {
            found = id;
        }
    }
    return found;
}

/* Merges of what stands beside each other in random texts, in an order of their own or in any. */
static void make_bpe(judged *j, qn_random *r)
{
    char text[MAX_TEXT];
    qn_small_bpe(&j->v);
    j->v.n = 2 + 256;
    j->v.n_merges = 0;
    forget_pairs(j);
    while (j->v.n_merges < N_MERGES) {
        size_t n = random_text(r, text, 64, false), at = 1 + qn_random_below(r, n);
        int32_t left = token_at(j, r, text, n, at, true), right = token_at(j, r, text, n, at, false);
        if (left == NOTHING || right == NOTHING || j->into[left][right] != NOTHING ||
            j->v.tokens[left].len + j->v.tokens[right].len >= 24) {
            continue;
        }
        char *joined = j->texts[j->v.n_merges], *line = j->lines[j->v.n_merges];
        snprintf(joined, MAX_PART, "%.*s%.*s", QN_STR_ARG(j->v.tokens[left]), QN_STR_ARG(j->v.tokens[right]));
        snprintf(line, 2 * MAX_PART, "%.*s %.*s", QN_STR_ARG(j->v.tokens[left]), QN_STR_ARG(j->v.tokens[right]));
        j->into[left][right] = token_of(&j->v, joined);
        if (j->into[left][right] == NOTHING) {
            j->into[left][right] = qn_small_add(&j->v, joined, QN_TOKEN_NORMAL, 0);
        }
        j->priority[left][right] = (float)j->v.n_merges;
        j->v.merges[j->v.n_merges++] = qn_str_of(line);
    }
}

/* Puts the merges into another order. */
static void shuffle(judged *j, qn_random *r)
{
    float place[N_MERGES];
    for (uint32_t i = 0; i < j->v.n_merges; i++) {
        place[i] = (float)i;
    }
    for (uint32_t i = j->v.n_merges; i-- > 1;) {
        uint64_t k = qn_random_below(r, i + 1);
        float swap = place[i];
        place[i] = place[k];
        place[k] = swap;
    }
    qn_str merges[N_MERGES];
    memcpy(merges, j->v.merges, sizeof(merges));
    for (uint32_t i = 0; i < j->v.n_merges; i++) {
        j->v.merges[(size_t)place[i]] = merges[i];
    }
    for (size_t i = 0; i < SMALL_VOCAB_CAP; i++) {
        for (size_t k = 0; k < SMALL_VOCAB_CAP; k++) {
            j->priority[i][k] = j->into[i][k] == NOTHING ? 0 : place[(size_t)j->priority[i][k]];
        }
    }
}

typedef struct expected {
    const judged *j;
    int32_t ids[MAX_TEXT];
    size_t n;
} expected;

static qn_status merge_word_plainly(void *ctx, const char *word, size_t n)
{
    expected *e = ctx;
    for (size_t i = 0; i < n; i++) {
        e->ids[e->n + i] = 2 + (uint8_t)word[i];
    }
    e->n += merge_plainly(e->j, e->ids + e->n, n);
    return QN_OK;
}

static void assert_agrees(const judged *j, const qn_pre *pre, const char *text, size_t n)
{
    static expected e;
    static int32_t ids[MAX_TEXT + 16];
    size_t n_ids;
    e.j = j;
    e.n = 0;
    assert_int_equal(qn_pre_split(pre, text, n, merge_word_plainly, &e), QN_OK);
    for (int again = 0; again < 2; again++) { /* the second time out of the cache */
        assert_int_equal(qn_tokenizer_encode(j->t, text, n, 0, ids, MAX_TEXT + 16, &n_ids, NULL), QN_OK);
        assert_int_equal(n_ids, e.n);
        assert_memory_equal(ids, e.ids, n_ids * sizeof(*ids));
    }
}

static void bpe_agrees(void **state)
{
    (void)state;
    judged *j = malloc(sizeof(*j));
    assert_non_null(j);
    qn_random r;
    qn_random_seed(&r, 5);
    qn_pre *pre;
    static char text[MAX_TEXT];
    assert_int_equal(qn_pre_open(QN_STR("gpt-2"), NULL, &pre, NULL), QN_OK);
    for (int round = 0; round < 60; round++) {
        make_bpe(j, &r);
        if (round % 3 > 0) {
            shuffle(j, &r);
        }
        open_judged(j);
        for (int i = 0; i < 60; i++) {
            size_t n = random_text(&r, text, i % 10 == 9 ? MAX_TEXT : 120, i % 2 == 1);
            assert_agrees(j, pre, text, n);
        }
        close_judged(j);
    }
    qn_pre_close(pre);
    free(j);
}

/* Tokens of up to 64 letters: windows that hold too few of them are too small. */
static void windows_grow_with_the_tokens(void **state)
{
    (void)state;
    judged *j = malloc(sizeof(*j));
    assert_non_null(j);
    qn_pre *pre;
    static char text[MAX_TEXT];
    qn_random r;
    qn_random_seed(&r, 6);
    assert_int_equal(qn_pre_open(QN_STR("gpt-2"), NULL, &pre, NULL), QN_OK);
    qn_small_bpe(&j->v);
    j->v.n = 2 + 256;
    j->v.n_merges = 0;
    forget_pairs(j);
    int32_t last = 2 + 'a';
    for (size_t len = 1; len < 64; len *= 2) {
        char *joined = j->texts[j->v.n_merges], *line = j->lines[j->v.n_merges];
        memset(joined, 'a', 2 * len);
        joined[2 * len] = '\0';
        memset(line, 'a', 2 * len + 1);
        line[len] = ' ';
        line[2 * len + 1] = '\0';
        j->into[last][last] = qn_small_add(&j->v, joined, QN_TOKEN_NORMAL, 0);
        j->priority[last][last] = (float)j->v.n_merges;
        last = j->into[last][last];
        j->v.merges[j->v.n_merges++] = qn_str_of(line);
    }
    open_judged(j);
    for (int round = 0; round < 60; round++) {
        size_t n = 1 + qn_random_below(&r, MAX_TEXT - 1);
        for (size_t i = 0; i < n; i++) {
            text[i] = round % 2 == 0 && qn_random_below(&r, 200) == 0 ? 'b' : 'a';
        }
        assert_agrees(j, pre, text, n);
    }
    close_judged(j);
    qn_pre_close(pre);
    free(j);
}

/* ---- SentencePiece ---- */

static void no_prefix(qn_gguf_writer *w, void *ctx)
{
    (void)ctx;
    qn_gguf_set_bool(w, "tokenizer.ggml.add_space_prefix", false);
}

/* Pieces of two to five characters with few different scores, so that the place decides often. */
static void make_spm(judged *j, qn_random *r)
{
    qn_small_spm(&j->v);
    j->v.edit = no_prefix;
    j->v.n = 3 + 256;
    qn_small_add(&j->v, "\u2581", QN_TOKEN_NORMAL, -50);
    for (size_t i = 0; i < N_LETTERS; i++) {
        qn_small_add(&j->v, letters[i], QN_TOKEN_NORMAL, -50);
    }
    for (size_t i = 0; i < N_MERGES; i++) {
        j->texts[i][0] = '\0';
        for (uint64_t n = 2 + qn_random_below(r, 4); n > 0; n--) {
            uint64_t c = qn_random_below(r, N_LETTERS + 1);
            strcat(j->texts[i], c == N_LETTERS ? "\u2581" : letters[c]);
        }
        if (token_of(&j->v, j->texts[i]) == NOTHING) {
            qn_small_add(&j->v, j->texts[i], QN_TOKEN_NORMAL, -(float)qn_random_below(r, 12));
        }
    }
    forget_pairs(j);
    for (uint32_t i = 3 + 256; i < j->v.n; i++) {
        for (uint32_t k = 3 + 256; k < j->v.n; k++) {
            char joined[2 * MAX_PART];
            snprintf(joined, sizeof(joined), "%.*s%.*s", QN_STR_ARG(j->v.tokens[i]), QN_STR_ARG(j->v.tokens[k]));
            int32_t id = token_of(&j->v, joined);
            j->into[i][k] = id;
            j->priority[i][k] = id == NOTHING ? 0 : -j->v.scores[id];
        }
    }
}

static void spm_agrees(void **state)
{
    (void)state;
    judged *j = malloc(sizeof(*j));
    assert_non_null(j);
    qn_random r;
    qn_random_seed(&r, 7);
    static char text[MAX_TEXT];
    static int32_t expected_ids[MAX_TEXT], ids[MAX_TEXT + 16];
    for (int round = 0; round < 60; round++) {
        make_spm(j, &r);
        open_judged(j);
        for (int i = 0; i < 60; i++) {
            size_t n = 0, n_parts = 0, n_ids;
            for (uint64_t left = 1 + qn_random_below(&r, i % 10 == 9 ? MAX_TEXT / 4 : 40); left > 0; left--) {
                uint64_t c = qn_random_below(&r, N_LETTERS + 1);
                const char *s = c == N_LETTERS ? " " : letters[c];
                memcpy(text + n, s, strlen(s));
                n += strlen(s);
                expected_ids[n_parts++] = token_of(&j->v, c == N_LETTERS ? "\u2581" : s);
            }
            n_parts = merge_plainly(j, expected_ids, n_parts);
            for (int again = 0; again < 2; again++) {
                assert_int_equal(qn_tokenizer_encode(j->t, text, n, 0, ids, MAX_TEXT + 16, &n_ids, NULL), QN_OK);
                assert_int_equal(n_ids, n_parts);
                assert_memory_equal(ids, expected_ids, n_ids * sizeof(*ids));
            }
        }
        close_judged(j);
    }
    free(j);
}

/* ---- the cache, shared ---- */

typedef struct reader {
    const judged *j;
    const char *text;
    size_t n, n_expected;
    const int32_t *expected;
    bool same;
} reader;

static void *read_again_and_again(void *arg)
{
    reader *r = arg;
    static _Thread_local int32_t ids[MAX_TEXT + 16];
    size_t n_ids;
    r->same = true;
    for (int i = 0; i < 300; i++) {
        r->same &= qn_tokenizer_encode(r->j->t, r->text, r->n, 0, ids, MAX_TEXT + 16, &n_ids, NULL) == QN_OK &&
                   n_ids == r->n_expected && memcmp(ids, r->expected, n_ids * sizeof(*ids)) == 0;
    }
    return NULL;
}

/* Many more words than the cache of a small vocabulary has room for, from several threads. */
static void threads_share_the_cache(void **state)
{
    (void)state;
    judged *j = malloc(sizeof(*j));
    assert_non_null(j);
    qn_random random;
    qn_random_seed(&random, 8);
    static char text[MAX_TEXT];
    static int32_t ids[MAX_TEXT + 16];
    make_bpe(j, &random);
    open_judged(j);
    size_t n = random_text(&random, text, MAX_TEXT, false), n_ids;
    assert_int_equal(qn_tokenizer_encode(j->t, text, n, 0, ids, MAX_TEXT + 16, &n_ids, NULL), QN_OK);
    reader readers[3];
    pthread_t threads[3];
    for (size_t i = 0; i < 3; i++) {
        readers[i] = (reader){j, text, n, n_ids, ids, false};
        assert_int_equal(pthread_create(&threads[i], NULL, read_again_and_again, &readers[i]), 0);
    }
    for (size_t i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
        assert_true(readers[i].same);
    }
    close_judged(j);
    free(j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bpe_agrees),
        cmocka_unit_test(windows_grow_with_the_tokens),
        cmocka_unit_test(spm_agrees),
        cmocka_unit_test(threads_share_the_cache),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
