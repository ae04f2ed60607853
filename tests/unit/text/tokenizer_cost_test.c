/* Vocabularies made to make a tokenizer walk far at every place of a text: what is too long to be looked for everywhere
 * is refused, and with the longest that there may be a long text is done at once; a hang is a failure by timeout.
 * SPDX-License-Identifier: MIT */
#include "small_open.h"

#define LONGEST QN_MAX_SOUGHT_PIECE
#define TEXT_BYTES 100000

typedef struct model {
    const char *name;
    void (*make)(small_vocab *v);
} model;

static void make_unigram(small_vocab *v) { qn_small_unigram(v, false); }

static const model sought[] = { /* all their tokens are looked for everywhere */
    {"t5", make_unigram}, {"plamo2", qn_small_plamo}, {"rwkv", qn_small_rwkv}};
static const model all[] = {{"t5", make_unigram},       {"plamo2", qn_small_plamo}, {"rwkv", qn_small_rwkv},
                            {"gpt2", qn_small_bpe},     {"llama", qn_small_spm},    {"bert", qn_small_wpm}};

static char letters[TEXT_BYTES];
static int32_t ids[TEXT_BYTES + 16];

/* n_a letters a, then b unless it is 0. */
static qn_str run(char *room, size_t n_a, char b)
{
    memset(room, 'a', n_a);
    room[n_a] = b;
    return (qn_str){room, n_a + (b != '\0')};
}

static void add(small_vocab *v, qn_str piece, int32_t kind)
{
    v->tokens[v->n] = piece;
    v->kinds[v->n] = kind;
    v->scores[v->n++] = -1.0f;
}

/* Encodes a long run of the letter a. Returns the number of ids. */
static size_t encode_run(const small_vocab *v, size_t n)
{
    size_t n_ids = 0;
    small_opened o = qn_small_open(v);
    memset(letters, 'a', n);
    assert_int_equal(qn_tokenizer_encode(o.t, letters, n, 0, ids, TEXT_BYTES + 16, &n_ids, NULL), QN_OK);
    qn_small_close(o);
    return n_ids;
}

static void long_pieces_are_refused(void **state)
{
    (void)state;
    static small_vocab v;
    static char room[60002];
    static const size_t lengths[] = {LONGEST + 1, 60001};
    for (size_t m = 0; m < sizeof(sought) / sizeof(sought[0]); m++) {
        for (size_t i = 0; i < 2; i++) {
            char expected[80];
            sought[m].make(&v);
            snprintf(expected, sizeof(expected), "tokenizer.ggml.tokens: token %u has %zu bytes", v.n, lengths[i]);
            add(&v, run(room, lengths[i] - 1, 'b'), QN_TOKEN_NORMAL);
            qn_small_refuse(&v, QN_EFORMAT, expected);
        }
    }
    for (size_t m = 0; m < sizeof(all) / sizeof(all[0]); m++) {
        all[m].make(&v);
        add(&v, run(room, LONGEST, 'b'), QN_TOKEN_USER);
        qn_small_refuse(&v, QN_EFORMAT, "257 bytes");
    }
}

/* In RWKV's spelling a byte takes up to four; what counts is what it stands for. */
static void bytes_count_and_not_escapes(void **state)
{
    (void)state;
    static small_vocab v;
    static char spelled[4 * (LONGEST + 1) + 1];
    for (size_t i = 0; i <= LONGEST; i++) {
        memcpy(spelled + 4 * i, "\\x61", 4);
    }
    qn_small_rwkv(&v);
    add(&v, (qn_str){spelled, 4 * LONGEST}, QN_TOKEN_NORMAL);
    assert_int_equal(encode_run(&v, 3 * LONGEST), 3);
    v.tokens[v.n - 1].len += 4;
    qn_small_refuse(&v, QN_EFORMAT, "257 bytes");
}

/* One token that the text follows to its last byte, at every place. */
static void deep_walks_that_find_nothing(void **state)
{
    (void)state;
    static small_vocab v;
    static char room[LONGEST + 1];
    for (size_t m = 0; m < sizeof(sought) / sizeof(sought[0]); m++) {
        sought[m].make(&v);
        add(&v, run(room, LONGEST - 1, 'b'), QN_TOKEN_NORMAL);
        assert_in_range(encode_run(&v, TEXT_BYTES), TEXT_BYTES, TEXT_BYTES + 2); /* a prefix and </s> may be there */
    }
}

/* Tokens of every length: each place has as many ways on as there can be. */
static void pieces_of_every_length(void **state)
{
    (void)state;
    static small_vocab v;
    static char rooms[LONGEST][LONGEST + 1];
    for (size_t m = 0; m < sizeof(sought) / sizeof(sought[0]); m++) {
        sought[m].make(&v);
        for (size_t len = 2; len <= LONGEST && v.n < SMALL_VOCAB_CAP; len++) {
            add(&v, run(rooms[len - 1], len, '\0'), QN_TOKEN_NORMAL);
            v.scores[v.n - 1] = -1.0f; /* the fewer, the better */
        }
        size_t longest = v.tokens[v.n - 1].len, least = (TEXT_BYTES + longest - 1) / longest;
        assert_in_range(encode_run(&v, TEXT_BYTES), least, least + 2);
    }
}

/* User-defined tokens of every length that end in what the text does not have. */
static void special_tokens_of_every_length(void **state)
{
    (void)state;
    static small_vocab v;
    static char rooms[LONGEST][LONGEST + 1];
    for (size_t m = 0; m < sizeof(all) / sizeof(all[0]); m++) {
        all[m].make(&v);
        for (size_t len = LONGEST; len >= 2 && v.n < SMALL_VOCAB_CAP; len--) {
            add(&v, run(rooms[len - 1], len - 1, 'b'), QN_TOKEN_USER);
        }
        size_t n_ids = encode_run(&v, TEXT_BYTES);
        assert_in_range(n_ids, 1, TEXT_BYTES + 2);
        letters[TEXT_BYTES - 1] = 'b'; /* the longest that ends there is found */
        small_opened o = qn_small_open(&v);
        assert_int_equal(qn_tokenizer_encode(o.t, letters, TEXT_BYTES, 0, ids, TEXT_BYTES + 16, &n_ids, NULL), QN_OK);
        int32_t last = ids[n_ids - 1];
        assert_int_equal(qn_tokenizer_kind(o.t, last), QN_TOKEN_USER);
        assert_int_equal(qn_tokenizer_piece(o.t, last).len, LONGEST);
        qn_small_close(o);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_pieces_are_refused),      cmocka_unit_test(bytes_count_and_not_escapes),
        cmocka_unit_test(deep_walks_that_find_nothing), cmocka_unit_test(pieces_of_every_length),
        cmocka_unit_test(special_tokens_of_every_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
