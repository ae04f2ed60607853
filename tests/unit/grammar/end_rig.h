/* What tests of the way to an end share: a search of all texts, and what must hold of the way from any place.
 * SPDX-License-Identifier: MIT */
#ifndef QN_TESTS_GRAMMAR_END_RIG_H
#define QN_TESTS_GRAMMAR_END_RIG_H

#include "grammar_rig.h"

#define qn_trie grammar_trie /* the tokenizer, which the rig knows from inside, has types of these names */
#define qn_trie_node grammar_trie_node
#include "grammar/matcher_int.h"

#define END_MAX_SEARCHED 20000 /* configurations; a search that needs more says nothing */

typedef struct end_step {
    uint32_t config, symbol, before, n; /* before: number of the step; n: bytes so far */
} end_step;

typedef struct end_found {
    bool is_known;
    uint64_t n;
    char text[JUDGE_MAX_TEXT * 64];
} end_found;

static inline bool end_is_new(bool **seen, uint32_t *n_seen, uint32_t config)
{
    if (config >= *n_seen) {
        uint32_t n = config * 2 + 64;
        *seen = realloc(*seen, n);
        assert_non_null(*seen);
        memset(*seen + *n_seen, 0, n - *n_seen);
        *n_seen = n;
    }
    bool was = (*seen)[config];
    (*seen)[config] = true;
    return !was;
}

static inline void end_spell(const end_step *steps, uint32_t i, end_found *f)
{
    f->n = steps[i].n;
    f->is_known = f->n < sizeof(f->text);
    for (uint64_t k = f->n; k-- > 0 && f->is_known; i = steps[i].before) {
        f->text[k] = (char)(steps[i].symbol < 256 ? steps[i].symbol : '\0');
    }
}

/* All texts from here, in the order of their length and then of their symbols, until one may end. From any place there is
 * an end. */
static inline void end_search(qn_matcher *m, end_found *f)
{
    qn_matcher_begin(m);
    qn_engine *e = m->engine;
    end_step *steps = malloc((END_MAX_SEARCHED + 512) * sizeof(*steps));
    bool *seen = NULL;
    uint32_t n = 1, n_seen = 0;
    assert_non_null(steps);
    steps[0] = (end_step){qn_matcher_now(m), 0, 0, 0};
    end_is_new(&seen, &n_seen, steps[0].config);
    f->is_known = false;
    bool has_end = false;
    for (uint32_t i = 0; i < n && n < END_MAX_SEARCHED; i++) {
        if (qn_config_at(e, steps[i].config)->may_end) {
            end_spell(steps, i, f);
            has_end = true;
            break;
        }
        uint64_t first[4];
        qn_config_first(e, steps[i].config, first);
        for (uint32_t s = 0; s < 256 + e->rx.n_specials; s++) {
            if (s < 256 && (first[s / 64] >> (s % 64) & 1) == 0) {
                continue;
            }
            e->work = e->rx.work = 0;
            uint32_t to = qn_config_step(e, steps[i].config, s);
            if (e->status != QN_OK) {
                n = END_MAX_SEARCHED;
                break;
            }
            if (to != QN_DEAD && end_is_new(&seen, &n_seen, to)) {
                steps[n++] = (end_step){to, s, i, steps[i].n + 1};
            }
        }
    }
    assert_true(has_end || n >= END_MAX_SEARCHED);
    free(steps);
    free(seen);
}

/* Takes the way to the end, and comes back. */
static inline void end_follow(qn_matcher *m, const qn_buf *way)
{
    uint64_t left = qn_matcher_shortest_end(m);
    qn_matcher *copy;
    qn_error err = {0};
    size_t n_taken;
    assert_int_equal(way->len, left);
    assert_int_equal(qn_matcher_copy(m, &copy, &err), QN_OK);
    for (size_t i = 0; i < way->len; i++) {
        assert_false(qn_matcher_may_end(copy));
        assert_int_equal(qn_matcher_accept_bytes(copy, way->data + i, 1, &n_taken), QN_OK);
        assert_int_equal(qn_matcher_shortest_end(copy), left - i - 1);
    }
    assert_true(qn_matcher_may_end(copy));
    qn_matcher_close(copy);
}

/* 1: the search had the same; 0: it came to no end. */
static inline int end_check(qn_matcher *m)
{
    static end_found f;
    qn_buf way;
    qn_buf_init(&way, NULL, "test", 1u << 20);
    qn_buf_add_char(&way, '>');
    qn_status s = qn_matcher_shortest_text(m, &way);
    assert_true(s == QN_OK || s == QN_EUNSUPPORTED || s == QN_EFULL || s == QN_ERANGE);
    assert_true((s == QN_OK || s == QN_EUNSUPPORTED) || way.len == 1);
    assert_int_equal(way.data[0], '>');
    memmove(way.data, way.data + 1, way.len--);
    if (s == QN_OK) {
        end_follow(m, &way);
    }
    end_search(m, &f);
    if (f.is_known) {
        assert_int_equal(qn_matcher_shortest_end(m), f.n);
        assert_true(way.len <= f.n && (s != QN_OK || way.len == f.n));
        if (way.len != 0) {
            assert_memory_equal(way.data, f.text, way.len);
        }
    }
    qn_buf_free(&way);
    return f.is_known;
}

#endif
