/* The ragged step: sequences of different lengths, prefill and decode in the same steps, pages handed out shuffled, give
 * what each gives alone; and the number of threads changes nothing. SPDX-License-Identifier: MIT */
#include "support.h"

enum { N_SEQS = 5, N_TURNS = 12, MAX_TOKENS = 70, N_BATCH = 64, N_CTX = 96 };

/* How many tokens of each sequence a step takes. */
typedef struct script {
    uint32_t n[N_TURNS][N_SEQS];
    uint32_t length[N_SEQS];
} script;

static void make_script(script *sc, qn_random *rnd, uint32_t least)
{
    memset(sc, 0, sizeof(*sc));
    for (uint32_t t = 0; t < N_TURNS; t++) {
        uint32_t left = N_BATCH;
        for (uint32_t i = 0; i < N_SEQS; i++) {
            bool decode = least == 1 && (t % 3 == 0 || qn_random_below(rnd, 2) == 0);
            uint32_t n = decode ? 1 : least + (uint32_t)qn_random_below(rnd, 20);
            bool rests = qn_random_below(rnd, 4) == 0 || sc->length[i] + n > MAX_TOKENS || n > left;
            n = rests ? 0 : n;
            sc->n[t][i] = n;
            sc->length[i] += n;
            left -= n;
        }
    }
}

typedef float logits_of_all[N_SEQS][MAX_TOKENS][QN_TINY_MIN_VOCAB];

/* Runs the script for the sequences of `mask`; logits of every position. */
static void run_script(qn_session *s, const script *sc, uint32_t mask, logits_of_all out)
{
    qn_seq *q[N_SEQS] = {0};
    uint32_t done[N_SEQS] = {0};
    for (uint32_t i = 0; i < N_SEQS; i++) {
        q[i] = mask >> i & 1 ? open_seq(s) : NULL;
    }
    for (uint32_t t = 0; t < N_TURNS; t++) {
        static int32_t tokens[N_SEQS][MAX_TOKENS];
        qn_step_item items[N_SEQS];
        uint32_t who[N_SEQS], n_items = 0;
        qn_error err = {0};
        for (uint32_t i = 0; i < N_SEQS; i++) {
            for (uint32_t k = 0; k < sc->n[t][i]; k++) {
                tokens[i][k] = token_at(i, done[i] + k);
            }
            if (q[i] != NULL && sc->n[t][i] != 0) {
                who[n_items] = i;
                items[n_items++] = (qn_step_item){.seq = q[i], .tokens = tokens[i], .n_tokens = sc->n[t][i],
                                                  .want = QN_WANT_ALL};
            }
        }
        expect_ok(qn_step(s, items, n_items, &err), &err);
        for (uint32_t i = 0; i < n_items; i++) {
            assert_int_equal(items[i].status, QN_OK);
            for (uint32_t k = 0; k < items[i].n_tokens; k++) {
                const float *l = qn_session_logits(s, items[i].i_logits + k);
                assert_non_null(l);
                memcpy(out[who[i]][done[who[i]]++], l, sizeof(float) * QN_TINY_MIN_VOCAB);
            }
        }
    }
    for (uint32_t i = 0; i < N_SEQS; i++) {
        qn_seq_close(q[i]);
    }
}

static qn_session_options options(uint32_t page_tokens, qn_kv_type kv_type)
{
    return (qn_session_options){.n_ctx = N_CTX, .n_batch = N_BATCH, .n_seqs = N_SEQS + 1, .n_logits = N_BATCH,
                                .page_tokens = page_tokens, .kv_type = kv_type};
}

/* Largest difference as a part of the logits' deviation. */
static double difference(const script *sc, logits_of_all a, logits_of_all b)
{
    double worst = 0.0, sum = 0.0, n = 0.0;
    for (uint32_t i = 0; i < N_SEQS; i++) {
        for (uint32_t k = 0; k < sc->length[i]; k++) {
            for (uint32_t v = 0; v < QN_TINY_MIN_VOCAB; v++) {
                double d = fabs((double)a[i][k][v] - (double)b[i][k][v]);
                assert_true(isfinite(a[i][k][v]) && isfinite(b[i][k][v]));
                worst = d > worst ? d : worst;
                sum += (double)b[i][k][v] * (double)b[i][k][v];
                n += 1.0;
            }
        }
    }
    return worst / sqrt(sum / n);
}

/* Together against alone. tolerance 0: to the bit. */
static void check_kind(qn_runtime *rt, const qn_tiny_spec *spec, const script *sc, const qn_session_options *o,
                       double tolerance)
{
    logits_of_all *together = calloc(1, sizeof(*together)), *alone = calloc(1, sizeof(*alone));
    qn_random rnd;
    qn_random_seed(&rnd, 5);
    qn_model *m = open_tiny(rt, spec);
    qn_session *s = open_session(m, o);
    spoil_pages(s, &rnd);
    run_script(s, sc, (1u << N_SEQS) - 1, *together);
    qn_session_close(s);
    for (uint32_t i = 0; i < N_SEQS; i++) {
        s = open_session(m, o);
        run_script(s, sc, 1u << i, *alone);
        qn_session_close(s);
    }
    double d = difference(sc, *together, *alone);
    if (d > tolerance) {
        fail_msg("%s, %s weights, %s, pages of %u: off by %g of the deviation", spec->arch, qn_type_name(spec->type),
                 qn_runtime_isa(rt), o->page_tokens, d);
    }
    qn_model_close(m);
    free(together);
    free(alone);
}

static qn_tiny_spec spec_with(const char *kind, qn_type type)
{
    qn_tiny_spec spec = qn_tiny_spec_of(kind);
    spec.type = type;
    return spec;
}

/* ref has one way to multiply, so what runs beside a sequence changes no bit. */
static void test_ref_to_the_bit(void **state)
{
    (void)state;
    static const uint32_t pages[] = {8, 32, 24};
    qn_runtime *rt = open_runtime("ref", 2);
    qn_random rnd;
    qn_random_seed(&rnd, 1);
    for (size_t kind = 0; kind < QN_TINY_N_KINDS; kind++) {
        script sc;
        make_script(&sc, &rnd, 1);
        qn_tiny_spec spec = spec_with(qn_tiny_kinds[kind], kind % 2 == 0 ? QN_TYPE_F32 : QN_TYPE_Q8_0);
        for (size_t p = 0; p < 2; p++) {
            qn_session_options o = options(pages[(kind + p) % 3], p == 0 ? QN_KV_F32 : QN_KV_F16);
            check_kind(rt, &spec, &sc, &o, 0.0);
        }
    }
    qn_runtime_close(rt);
}

/* Steps in which every product has many columns (24: the most that any set counts as few) take the same kernels, together
 * and alone. */
static void test_same_kernels_to_the_bit(void **state)
{
    (void)state;
    const char *isa;
    for (size_t i = 0; next_isa(&i, &isa);) {
        qn_runtime *rt = open_runtime(isa, 2);
        qn_random rnd;
        script sc;
        qn_random_seed(&rnd, 2);
        make_script(&sc, &rnd, 24);
        static const qn_type types[] = {QN_TYPE_F32, QN_TYPE_F16, QN_TYPE_Q8_0, QN_TYPE_Q4_0, QN_TYPE_Q5_1};
        for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++) {
            qn_tiny_spec spec = spec_with(qn_tiny_kinds[t == 0 ? 0 : 3 + t], types[t]);
            qn_session_options o = options(32, QN_KV_F32);
            check_kind(rt, &spec, &sc, &o, 0.0);
        }
        qn_runtime_close(rt);
    }
}

static void test_every_kind_near(void **state)
{
    (void)state;
    const char *isa;
    for (size_t i = 0; next_isa(&i, &isa);) {
        if (strcmp(isa, "ref") == 0) {
            continue;
        }
        qn_runtime *rt = open_runtime(isa, 2);
        qn_random rnd;
        qn_random_seed(&rnd, 3);
        for (size_t kind = 0; kind < QN_TINY_N_KINDS; kind++) {
            script sc;
            make_script(&sc, &rnd, 1);
            qn_tiny_spec spec = spec_with(qn_tiny_kinds[kind], QN_TYPE_F32);
            qn_session_options o = options(kind % 2 == 0 ? 8 : 32, QN_KV_F32);
            check_kind(rt, &spec, &sc, &o, 1e-4);
        }
        qn_runtime_close(rt);
    }
}

static void test_threads_change_nothing(void **state)
{
    (void)state;
    static const struct {
        size_t kind;
        qn_type type;
    } cases[] = {{1, QN_TYPE_F32}, {3, QN_TYPE_Q8_0}, {4, QN_TYPE_Q4_K}, {7, QN_TYPE_F16}, {6, QN_TYPE_Q4_0}};
    const char *isa;
    logits_of_all *one = calloc(1, sizeof(*one)), *many = calloc(1, sizeof(*many));
    for (size_t i = 0; next_isa(&i, &isa);) {
        for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
            qn_random rnd;
            script sc;
            qn_random_seed(&rnd, 4);
            make_script(&sc, &rnd, 1);
            qn_tiny_spec spec = spec_with(qn_tiny_kinds[cases[c].kind], cases[c].type);
            if (qn_type_find(spec.type)->block_len == 256) {
                spec.n_embd = spec.n_ff = 256;
                spec.n_heads = 8;
                spec.head_dim = spec.v_dim = spec.n_rot = 32;
                spec.n_layers = 1;
            }
            for (uint32_t n_threads = 1; n_threads <= 3; n_threads++) {
                qn_runtime *rt = open_runtime(isa, n_threads);
                qn_model *m = open_tiny(rt, &spec);
                qn_session_options o = options(8, QN_KV_F16);
                qn_session *s = open_session(m, &o);
                run_script(s, &sc, (1u << N_SEQS) - 1, n_threads == 1 ? *one : *many);
                if (n_threads > 1) {
                    assert_memory_equal(one, many, sizeof(*one));
                }
                qn_session_close(s);
                qn_model_close(m);
                qn_runtime_close(rt);
            }
        }
    }
    free(one);
    free(many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ref_to_the_bit),
        cmocka_unit_test(test_same_kernels_to_the_bit),
        cmocka_unit_test(test_every_kind_near),
        cmocka_unit_test(test_threads_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
