/* Tests of kv/kv.h: by hand, and random calls against a model that remembers what every page must still hold.
 * SPDX-License-Identifier: MIT */
#include "test.h"

#include "base/random.h"
#include "kv/kv.h"

enum { MAX_LAYERS = 3 };

typedef struct fixture {
    qn_kv_layer layers[MAX_LAYERS];
    qn_kv_layout layout;
    qn_kv *kv;
    uint32_t bits, n_plain, n_recent; /* for open_kv() */
} fixture;

/* Layers with the given windows; pages of page_tokens tokens; room for max_bytes. */
static void open_kv(fixture *f, uint32_t n_layers, const uint32_t *windows, uint32_t page_tokens, uint64_t max_bytes)
{
    for (uint32_t i = 0; i < n_layers; i++) {
        f->layers[i] = (qn_kv_layer){.window = windows[i], .n_heads = 1 + i, .head_dim = 4, .v_dim = 4};
    }
    f->layout = (qn_kv_layout){.type = QN_TYPE_F32, .page_tokens = page_tokens, .n_layers = n_layers, .layers = f->layers};
    f->layout.bits = f->bits;
    f->layout.n_plain = f->n_plain;
    f->layout.n_recent = f->n_recent;
    assert_int_equal(qn_kv_layout_plan(&f->layout, NULL), QN_OK);
    assert_int_equal(qn_kv_open(&f->layout, max_bytes, NULL, &f->kv, NULL), QN_OK);
}

static void append(fixture *f, qn_kv_seq *s, uint32_t n)
{
    assert_int_equal(qn_kv_seq_reserve(f->kv, s, n, NULL), QN_OK);
    qn_kv_seq_commit(f->kv, s, n);
}

/* The first position that a row at position pos sees. */
static uint32_t first_seen(uint32_t window, uint32_t pos)
{
    return window != 0 && pos + 1 > window ? pos + 1 - window : 0;
}

static void check_invariants(const fixture *f, const qn_kv_seq *s)
{
    uint32_t pt = f->layout.page_tokens;
    for (uint32_t g = 0; g < f->layout.n_groups; g++) {
        uint32_t window = f->layout.groups[g].window;
        uint32_t seen = first_seen(window, s->length);
        assert_true(s->first[g] <= s->end[g] && s->end[g] <= s->max_pages);
        assert_true((uint64_t)s->end[g] * pt >= s->length);
        assert_true(s->first[g] * pt <= seen || s->first[g] == s->end[g]);
        for (uint32_t i = 0; i < s->max_pages; i++) {
            assert_int_equal(s->pages[g][i] != NULL, s->first[g] <= i && i < s->end[g]);
        }
    }
}

static void test_pages_come_and_go(void **state)
{
    (void)state;
    fixture f = {0};
    qn_kv_seq s;
    const uint32_t windows[] = {0};
    open_kv(&f, 1, windows, 8, 1 << 20);
    assert_int_equal(qn_kv_seq_init(f.kv, &s, 100, NULL), QN_OK);
    assert_int_equal(s.max_pages, 13);
    assert_int_equal(qn_kv_pages_in_use(f.kv), 0);
    append(&f, &s, 1);
    assert_int_equal(qn_kv_pages_in_use(f.kv), 1);
    append(&f, &s, 7);
    assert_int_equal(qn_kv_pages_in_use(f.kv), 1);
    append(&f, &s, 17);
    assert_int_equal(qn_kv_pages_in_use(f.kv), 4);
    assert_int_equal(s.length, 25);
    check_invariants(&f, &s);

    /* what was reserved and not written goes back */
    assert_int_equal(qn_kv_seq_reserve(f.kv, &s, 40, NULL), QN_OK);
    assert_int_equal(qn_kv_pages_in_use(f.kv), 9);
    qn_kv_seq_cancel(f.kv, &s);
    assert_int_equal(qn_kv_pages_in_use(f.kv), 4);
    assert_int_equal(s.length, 25);
    check_invariants(&f, &s);

    qn_error err = {0};
    assert_int_equal(qn_kv_seq_reserve(f.kv, &s, 80, &err), QN_ERANGE);
    assert_non_null(strstr(err.what, "80"));
    assert_int_equal(qn_kv_seq_reserve(f.kv, &s, UINT32_MAX, NULL), QN_ERANGE);
    assert_int_equal(qn_kv_pages_in_use(f.kv), 4);

    assert_int_equal(qn_kv_seq_truncate(f.kv, &s, 26, &err), QN_ERANGE);
    assert_int_equal(qn_kv_seq_truncate(f.kv, &s, 25, NULL), QN_OK);
    assert_int_equal(qn_kv_seq_truncate(f.kv, &s, 16, NULL), QN_OK);
    assert_int_equal(qn_kv_pages_in_use(f.kv), 2);
    assert_int_equal(qn_kv_seq_truncate(f.kv, &s, 0, NULL), QN_OK);
    assert_int_equal(qn_kv_pages_in_use(f.kv), 0);
    append(&f, &s, 100);
    assert_int_equal(qn_kv_pages_in_use(f.kv), 13);
    qn_kv_seq_free(f.kv, &s);
    assert_int_equal(qn_kv_pages_in_use(f.kv), 0);
    qn_kv_close(f.kv);
    qn_kv_close(NULL);
}

static void test_a_window_gives_pages_back(void **state)
{
    (void)state;
    fixture f = {0};
    qn_kv_seq s;
    qn_error err = {0};
    const uint32_t windows[] = {16, 0};
    open_kv(&f, 2, windows, 8, 1 << 20);
    assert_int_equal(qn_kv_seq_init(f.kv, &s, 200, NULL), QN_OK);
    append(&f, &s, 16);
    assert_int_equal(s.first[0], 0); /* the row at 16 sees 1 to 16 */
    append(&f, &s, 7);
    assert_int_equal(s.first[0], 1); /* the row at 23 sees 8 to 23 */
    append(&f, &s, 100);
    assert_int_equal(s.length, 123);
    assert_int_equal(s.first[0], 13); /* the row at 123 sees 108 to 123 */
    assert_int_equal(s.end[0], 16);
    assert_int_equal(s.first[1], 0);
    check_invariants(&f, &s);

    assert_int_equal(qn_kv_seq_truncate(f.kv, &s, 119, NULL), QN_OK); /* the row there sees 104: page 13 */
    assert_int_equal(s.length, 119);
    assert_int_equal(qn_kv_seq_truncate(f.kv, &s, 118, &err), QN_ERANGE);
    assert_non_null(strstr(err.what, "window of 16"));
    assert_int_equal(s.length, 119);
    check_invariants(&f, &s);
    append(&f, &s, 1);
    check_invariants(&f, &s);
    assert_int_equal(qn_kv_seq_truncate(f.kv, &s, 0, NULL), QN_OK);
    assert_int_equal(s.first[0], 0);
    assert_int_equal(qn_kv_pages_in_use(f.kv), 0);
    append(&f, &s, 3);
    check_invariants(&f, &s);
    qn_kv_seq_free(f.kv, &s);
    qn_kv_close(f.kv);
}

static void test_no_page_left(void **state)
{
    (void)state;
    fixture f = {0};
    qn_kv_seq a, b;
    qn_error err = {0};
    const uint32_t windows[] = {0, 24};
    open_kv(&f, 2, windows, 8, 0);
    uint64_t full = f.layout.groups[0].page_bytes, windowed = f.layout.groups[1].page_bytes;
    qn_kv_close(f.kv);
    open_kv(&f, 2, windows, 8, 4 * (full + windowed) + full / 2);
    assert_int_equal(qn_kv_seq_init(f.kv, &a, 100, NULL), QN_OK);
    assert_int_equal(qn_kv_seq_init(f.kv, &b, 100, NULL), QN_OK);
    append(&f, &a, 17);
    append(&f, &b, 1);
    assert_int_equal(qn_kv_pages_in_use(f.kv), 8);
    assert_int_equal(qn_kv_seq_reserve(f.kv, &b, 8, &err), QN_EFULL);
    assert_non_null(strstr(err.what, "8 more tokens"));
    assert_int_equal(qn_kv_pages_in_use(f.kv), 8);
    assert_int_equal(b.length, 1);
    check_invariants(&f, &b);
    append(&f, &b, 7); /* its page has room */
    append(&f, &a, 7);
    assert_int_equal(qn_kv_seq_reserve(f.kv, &a, 1, NULL), QN_EFULL);
    /* one gives up some, the other goes on */
    assert_int_equal(qn_kv_seq_truncate(f.kv, &a, 16, NULL), QN_OK);
    append(&f, &b, 8);
    assert_int_equal(qn_kv_seq_reserve(f.kv, &a, 1, NULL), QN_EFULL);
    qn_kv_seq_free(f.kv, &b);
    append(&f, &a, 16);
    check_invariants(&f, &a);
    qn_kv_seq_free(f.kv, &a);
    qn_kv_close(f.kv);
}

/* Memory that pages of one group had serves the other group, once nothing is in use. */
static void test_memory_is_cut_anew(void **state)
{
    (void)state;
    fixture f = {0};
    qn_kv_seq s[4];
    const uint32_t windows[] = {0, 8};
    open_kv(&f, 2, windows, 8, 0);
    uint64_t full = f.layout.groups[0].page_bytes, windowed = f.layout.groups[1].page_bytes;
    qn_kv_close(f.kv);
    open_kv(&f, 2, windows, 8, 4 * (full + windowed));
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 4; i++) {
            assert_int_equal(qn_kv_seq_init(f.kv, &s[i], 80, NULL), QN_OK);
            append(&f, &s[i], 8);
        }
        assert_int_equal(qn_kv_seq_reserve(f.kv, &s[0], 1, NULL), QN_EFULL);
        for (int i = 3; i >= 0; i--) {
            qn_kv_seq_free(f.kv, &s[i]);
        }
        /* one long sequence: many pages of one group, two of the other */
        assert_int_equal(qn_kv_seq_init(f.kv, &s[0], 80, NULL), QN_OK);
        uint32_t most = (uint32_t)((4 * (full + windowed) - 2 * windowed) / full);
        assert_true(most > 4);
        for (uint32_t i = 0; i < 8 * most; i++) {
            append(&f, &s[0], 1);
            check_invariants(&f, &s[0]);
        }
        qn_kv_seq_free(f.kv, &s[0]);
    }
    qn_kv_close(f.kv);
}

/* What the types save, a block being one head of one token of at least 64 numbers, and a text of 8192 tokens. */
static void test_bytes_of_the_types(void **state)
{
    (void)state;
    static const uint32_t dims[] = {64, 80, 96, 128, 256};
    for (size_t i = 0; i < sizeof(dims) / sizeof(dims[0]); i++) {
        qn_kv_layer layer = {.n_heads = 3, .head_dim = dims[i], .v_dim = dims[i]};
        qn_kv_layout kv = {.type = QN_TYPE_F16, .page_tokens = 32, .n_layers = 1, .layers = &layer};
        assert_int_equal(qn_kv_layout_plan(&kv, NULL), QN_OK);
        double f16 = (double)qn_kv_worst_bytes(&kv, 8192, 512, 2);
        kv.bits = 8;
        assert_int_equal(qn_kv_layout_plan(&kv, NULL), QN_OK);
        assert_true((double)qn_kv_worst_bytes(&kv, 8192, 512, 2) <= 0.55 * f16);
        kv.n_plain = 512 / 32;
        assert_true((double)qn_kv_worst_bytes(&kv, 8192, 512, 2) <= 0.57 * f16);
        kv.bits = 4;
        kv.n_plain = 1;
        assert_int_equal(qn_kv_layout_plan(&kv, NULL), QN_OK);
        assert_true((double)qn_kv_worst_bytes(&kv, 8192, 512, 2) <= 0.30 * f16);
    }
}

/* ---- random calls against a model ----------------------------------------------------------------- */

enum { N_SEQS = 5, MAX_CTX = 150 };

/* What the model knows of a sequence: its tags, one a token, written into every page by whoever appends. */
typedef struct model_seq {
    uint32_t length, highest; /* highest: length since the sequence was last empty */
    uint32_t tag[MAX_CTX];
} model_seq;

/* Where the tag of a position stands: in the first bytes of its page, one for each token. */
static uint32_t *tag_at(const fixture *f, const qn_kv_seq *s, uint32_t g, uint32_t pos)
{
    uint32_t pt = f->layout.page_tokens;
    assert_non_null(s->pages[g][pos / pt]);
    return (uint32_t *)(void *)s->pages[g][pos / pt] + pos % pt;
}

static void write_tags(const fixture *f, const qn_kv_seq *s, model_seq *m, uint32_t n, uint32_t *next_tag)
{
    for (uint32_t i = 0; i < n; i++) {
        m->tag[m->length] = (*next_tag)++;
        for (uint32_t g = 0; g < f->layout.n_groups; g++) {
            *tag_at(f, s, g, m->length) = m->tag[m->length];
        }
        m->length++;
    }
    m->highest = m->length > m->highest ? m->length : m->highest;
}

/* Whether all that a row at position keep sees is in pages that were never behind a window. */
static bool may_truncate(const fixture *f, const model_seq *m, uint32_t keep)
{
    bool may = keep <= m->length;
    for (uint32_t g = 0; g < f->layout.n_groups && keep != 0; g++) {
        uint32_t window = f->layout.groups[g].window, pt = f->layout.page_tokens;
        may = may && first_seen(window, keep) / pt >= first_seen(window, m->highest) / pt;
    }
    return may;
}

static void check_tags(const fixture *f, const qn_kv_seq *s, const model_seq *m)
{
    assert_int_equal(s->length, m->length);
    check_invariants(f, s);
    for (uint32_t g = 0; g < f->layout.n_groups; g++) {
        uint32_t window = f->layout.groups[g].window;
        for (uint32_t pos = 0; pos < m->length; pos++) {
            if (window == 0 || pos + window > m->length) {
                assert_int_equal(*tag_at(f, s, g, pos), m->tag[pos]);
            }
        }
    }
}

static uint64_t page_bytes(const fixture *f, uint32_t g, uint32_t i_page)
{
    const qn_kv_group *group = &f->layout.groups[g];
    return i_page < qn_kv_plain_pages(&f->layout, group->window) ? group->page_bytes : group->code_bytes;
}

/* No two pages share a byte, whatever groups they belong to, and all are counted. */
static void check_pages(const fixture *f, const qn_kv_seq *seqs)
{
    struct {
        uintptr_t from, to;
    } page[1024];
    size_t n = 0;
    for (uint32_t i = 0; i < N_SEQS; i++) {
        for (uint32_t g = 0; g < f->layout.n_groups; g++) {
            for (uint32_t k = seqs[i].first[g]; k < seqs[i].end[g]; k++) {
                uintptr_t from = (uintptr_t)seqs[i].pages[g][k], to = from + page_bytes(f, g, k);
                assert_int_equal(from % 64, 0);
                for (size_t other = 0; other < n; other++) {
                    assert_true(to <= page[other].from || page[other].to <= from);
                }
                assert_true(n < 1024);
                page[n].from = from;
                page[n++].to = to;
            }
        }
    }
    assert_int_equal(qn_kv_pages_in_use(f->kv), n);
}

static void play(const uint32_t *windows, uint32_t n_layers, uint32_t page_tokens, uint32_t bits, uint32_t n_plain,
                 uint64_t seed)
{
    fixture f = {.bits = bits, .n_plain = n_plain};
    qn_kv_seq seqs[N_SEQS];
    model_seq model[N_SEQS] = {0};
    qn_random rnd;
    uint32_t next_tag = 1, n_full = 0, n_behind = 0;
    qn_random_seed(&rnd, seed);
    open_kv(&f, n_layers, windows, page_tokens, 0);
    /* less than what all sequences could ask for together */
    uint64_t bytes = qn_kv_worst_bytes(&f.layout, MAX_CTX, 40, N_SEQS) / 3;
    qn_kv_close(f.kv);
    open_kv(&f, n_layers, windows, page_tokens, bytes);
    for (uint32_t i = 0; i < N_SEQS; i++) {
        assert_int_equal(qn_kv_seq_init(f.kv, &seqs[i], MAX_CTX, NULL), QN_OK);
    }
    for (int turn = 0; turn < 3000; turn++) {
        uint32_t i = (uint32_t)qn_random_below(&rnd, N_SEQS), what = (uint32_t)qn_random_below(&rnd, 30);
        qn_kv_seq *s = &seqs[i];
        model_seq *m = &model[i];
        if (what < 20) {
            uint32_t n = 1 + (uint32_t)qn_random_below(&rnd, what < 10 ? 2 : 40);
            qn_status status = qn_kv_seq_reserve(f.kv, s, n, NULL);
            if (m->length + n > s->max_pages * page_tokens) {
                assert_int_equal(status, QN_ERANGE);
            } else if (status == QN_OK && m->length + n <= MAX_CTX && what != 0) {
                write_tags(&f, s, m, n, &next_tag);
                qn_kv_seq_commit(f.kv, s, n);
            } else if (status == QN_OK) {
                qn_kv_seq_cancel(f.kv, s);
            } else {
                assert_int_equal(status, QN_EFULL);
                n_full++;
            }
        } else if (what < 29) {
            uint32_t cut = (uint32_t)qn_random_below(&rnd, 12);
            uint32_t keep = cut < m->length ? m->length - cut : 0;
            keep = what == 28 ? (uint32_t)qn_random_below(&rnd, m->length + 2) : keep;
            qn_status status = may_truncate(&f, m, keep) ? QN_OK : QN_ERANGE;
            assert_int_equal(qn_kv_seq_truncate(f.kv, s, keep, NULL), status);
            n_behind += status != QN_OK && keep < m->length;
            m->length = status == QN_OK ? keep : m->length;
            m->highest = m->length == 0 ? 0 : m->highest;
        } else {
            qn_kv_seq_free(f.kv, s);
            assert_int_equal(qn_kv_seq_init(f.kv, s, MAX_CTX, NULL), QN_OK);
            m->length = m->highest = 0;
        }
        check_pages(&f, seqs);
        for (uint32_t k = 0; k < N_SEQS; k++) {
            check_tags(&f, &seqs[k], &model[k]);
        }
    }
    assert_true(n_full > 10);
    assert_true(n_behind > 10 || n_layers == 1);
    for (uint32_t i = 0; i < N_SEQS; i++) {
        qn_kv_seq_free(f.kv, &seqs[i]);
    }
    assert_int_equal(qn_kv_pages_in_use(f.kv), 0);
    qn_kv_close(f.kv);
}

static void test_random_calls(void **state)
{
    (void)state;
    const uint32_t full[] = {0}, mixed[] = {0, 20}, three[] = {0, 1, 33};
    play(full, 1, 8, 0, 0, 1);
    play(mixed, 2, 8, 0, 0, 2);
    play(mixed, 2, 32, 0, 0, 3);
    play(three, 3, 16, 0, 0, 4);
    /* codes behind some plain pages, which are larger */
    play(full, 1, 8, 8, 3, 5);
    play(mixed, 2, 16, 8, 2, 6);
    play(three, 3, 8, 4, 1, 7);
}

/* With the bytes that qn_kv_worst_bytes() states no reservation fails, whatever the steps. */
static void test_the_worst_case_is_enough(void **state)
{
    (void)state;
    qn_random rnd;
    qn_random_seed(&rnd, 11);
    for (int round = 0; round < 300; round++) {
        fixture f = {0};
        qn_kv_seq s[2];
        uint32_t windows[] = {0, 1 + (uint32_t)qn_random_below(&rnd, 70)};
        uint32_t page_tokens = 8 * (1 + (uint32_t)qn_random_below(&rnd, 4)), n_ctx = 1 + (uint32_t)qn_random_below(&rnd, 200);
        uint32_t n_batch = 1 + (uint32_t)qn_random_below(&rnd, 60);
        open_kv(&f, 2, windows, page_tokens, 0);
        uint64_t bytes = qn_kv_worst_bytes(&f.layout, n_ctx, n_batch, 2);
        qn_kv_close(f.kv);
        open_kv(&f, 2, windows, page_tokens, bytes);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(qn_kv_seq_init(f.kv, &s[i], n_ctx, NULL), QN_OK);
        }
        for (bool more = true; more;) {
            more = false;
            uint32_t n[2];
            for (int i = 0; i < 2; i++) { /* both in one step, that is, reserved together */
                uint32_t left = n_ctx - s[i].length;
                n[i] = round % 2 == 0 ? n_batch : 1 + (uint32_t)qn_random_below(&rnd, n_batch);
                n[i] = n[i] < left ? n[i] : left;
                assert_int_equal(qn_kv_seq_reserve(f.kv, &s[i], n[i], NULL), QN_OK);
                more = more || n[i] < left;
            }
            for (int i = 0; i < 2; i++) {
                qn_kv_seq_commit(f.kv, &s[i], n[i]);
                check_invariants(&f, &s[i]);
            }
        }
        qn_kv_seq_free(f.kv, &s[0]);
        qn_kv_seq_free(f.kv, &s[1]);
        qn_kv_close(f.kv);
    }
    qn_kv_layer layer = {.n_heads = 2048, .head_dim = 16, .v_dim = 16};
    qn_kv_layout big = {.type = QN_TYPE_F32, .page_tokens = 256, .n_layers = 1, .layers = &layer};
    assert_int_equal(qn_kv_layout_plan(&big, NULL), QN_OK);
    assert_int_equal(qn_kv_worst_bytes(&big, UINT32_MAX, 1, UINT32_MAX), UINT64_MAX);
}

static void test_no_memory(void **state)
{
    (void)state;
    uint64_t live = qn_alloc_live();
    const uint32_t windows[] = {0, 8};
    fixture f = {0};
    open_kv(&f, 2, windows, 8, 1 << 16);
    uint64_t opened = qn_alloc_live();
    qn_kv_seq s;
    for (uint64_t n = 1; n <= 2; n++) {
        qn_error err = {0};
        qn_alloc_fail_at(n);
        assert_int_equal(qn_kv_seq_init(f.kv, &s, 64, &err), QN_ENOMEM);
        qn_alloc_fail_at(0);
        assert_int_equal(err.code, QN_ENOMEM);
        assert_int_equal(qn_alloc_live(), opened);
    }
    qn_kv_close(f.kv);
    for (uint64_t n = 1; n <= 2; n++) {
        qn_alloc_fail_at(n);
        assert_int_equal(qn_kv_open(&f.layout, 1 << 16, NULL, &f.kv, NULL), QN_ENOMEM);
        qn_alloc_fail_at(0);
        assert_int_equal(qn_alloc_live(), live);
    }
    qn_budget *b;
    assert_int_equal(qn_budget_open(1 << 16, &b), QN_OK);
    assert_true(qn_kv_open(&f.layout, 1 << 17, b, &f.kv, NULL) != QN_OK);
    assert_int_equal(qn_budget_used(b), 0);
    qn_budget_close(b);
}

/* How many of the last tokens are kept: not more than there are, none that a failed step may have written over, and
 * after a truncation those that are still at the end. */
static void test_recent_tokens(void **state)
{
    (void)state;
    fixture f = {.bits = 4, .n_plain = 1, .n_recent = 3};
    qn_kv_seq s;
    const uint32_t windows[] = {0, 16};
    open_kv(&f, 2, windows, 8, 1 << 20);
    assert_int_equal(qn_kv_seq_init(f.kv, &s, 100, NULL), QN_OK);
    assert_non_null(s.recent);
    memset(s.recent, 1, f.layout.recent_bytes);
    assert_int_equal(s.n_recent, 0);
    append(&f, &s, 2);
    assert_int_equal(s.n_recent, 2);
    append(&f, &s, 20);
    assert_int_equal(s.n_recent, 3);
    assert_int_equal(qn_kv_seq_truncate(f.kv, &s, 21, NULL), QN_OK);
    assert_int_equal(s.n_recent, 2);
    assert_int_equal(qn_kv_seq_truncate(f.kv, &s, 16, NULL), QN_OK);
    assert_int_equal(s.n_recent, 0);
    append(&f, &s, 1);
    assert_int_equal(s.n_recent, 1);
    assert_int_equal(qn_kv_seq_reserve(f.kv, &s, 100, NULL), QN_ERANGE);
    assert_int_equal(s.n_recent, 1);
    assert_int_equal(qn_kv_seq_reserve(f.kv, &s, 2, NULL), QN_OK);
    qn_kv_seq_cancel(f.kv, &s);
    assert_int_equal(s.n_recent, 0);
    qn_kv_seq_free(f.kv, &s);
    qn_kv_close(f.kv);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pages_come_and_go),
        cmocka_unit_test(test_a_window_gives_pages_back),
        cmocka_unit_test(test_no_page_left),
        cmocka_unit_test(test_memory_is_cut_anew),
        cmocka_unit_test(test_bytes_of_the_types),
        cmocka_unit_test(test_random_calls),
        cmocka_unit_test(test_the_worst_case_is_enough),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_recent_tokens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
