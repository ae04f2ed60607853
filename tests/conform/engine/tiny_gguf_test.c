/* Logits of whole models: shared random checkpoints against what PyTorch computes for them, a trained one against its
 * known text, and tiny models with each kernel set against the reference set. The prompt comes whole and in chunks.
 * SPDX-License-Identifier: MIT */
#include "test.h"

#include "npz.h"
#include "quern/quern.h"
#include "tiny_model.h"

#include <dirent.h>
#include <math.h>
#include <unistd.h>

#define MAX_FILES 64 /* several times what the shared data holds */
#define MAX_TOKENS 256

static const char *const isas[] = {"ref", "avx2", NULL}; /* NULL: the best that this processor has */
static const qn_kv_type kv_types[] = {QN_KV_F32, QN_KV_F16};
static const uint32_t chunks[] = {1, 7, MAX_TOKENS};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* The largest difference, in standard deviations of all logits: rounding of float32, or of the KV's halves. */
static double limit_of(qn_kv_type type) { return type == QN_KV_F32 ? 1e-4 : 5e-3; }

static const char *isa_name(const char *isa) { return isa != NULL ? isa : "best"; }

/* NULL when this processor cannot run the set. */
static qn_runtime *open_runtime(const char *isa)
{
    qn_runtime_options o;
    qn_runtime *rt = NULL;
    qn_error err = {0};
    qn_runtime_options_init(&o);
    o.n_threads = 2;
    o.isa = isa;
    qn_status status = qn_runtime_open(&o, &rt, &err);
    if (status != QN_OK && !(isa != NULL && status == QN_EUNSUPPORTED)) {
        fail_msg("kernels %s: %s", isa_name(isa), err.what);
    }
    return rt;
}

static qn_model *open_model(qn_runtime *rt, const char *path)
{
    qn_model *m = NULL;
    qn_error err = {0};
    if (qn_model_open(rt, path, NULL, &m, &err) != QN_OK) {
        fail_msg("%s: %s", path, err.what);
    }
    return m;
}

/* Where the next row of logits goes. */
typedef struct rows {
    float *next;
    size_t n_vocab;
} rows;

static int take_row(void *ctx, uint32_t i_row, const float *logits)
{
    rows *r = ctx;
    (void)i_row;
    memcpy(r->next, logits, r->n_vocab * sizeof(*logits));
    r->next += r->n_vocab;
    return 0;
}

/* The logits of every position, chunk by chunk with the KV of the chunks before; for free(). */
static float *eval(qn_model *m, qn_kv_type kv_type, const int32_t *ids, uint32_t n, uint32_t chunk)
{
    qn_session_options o;
    qn_session *s = NULL;
    qn_seq *q = NULL;
    qn_error err = {0};
    qn_model_info info;
    qn_model_get_info(m, &info);
    qn_session_options_init(&o);
    o.kv_type = kv_type;
    o.n_ctx = n;
    o.n_batch = chunk < n ? chunk : n;
    qn_status status = qn_session_open(m, &o, &s, &err);
    status = status == QN_OK ? qn_seq_open(s, &q, &err) : status;
    float *out = calloc((size_t)n * info.n_vocab, sizeof(*out));
    assert_non_null(out);
    rows r = {.next = out, .n_vocab = info.n_vocab};
    for (uint32_t at = 0; status == QN_OK && at < n; at += o.n_batch) {
        uint32_t now = n - at < o.n_batch ? n - at : o.n_batch;
        status = qn_seq_eval_each(q, ids + at, now, take_row, &r, &err);
    }
    if (status != QN_OK) {
        fail_msg("%s in chunks of %u: %s", info.name, chunk, err.what);
    }
    assert_int_equal(qn_seq_length(q), n);
    assert_ptr_equal(r.next, out + (size_t)n * info.n_vocab);
    qn_session_close(s);
    return out;
}

/* The largest |a - b| over the standard deviation of b. */
static double ratio(const float *a, const float *b, size_t n)
{
    double sum = 0.0, squares = 0.0, most = 0.0;
    for (size_t i = 0; i < n; i++) {
        double d = fabs((double)a[i] - b[i]);
        most = d > most || isnan(d) ? d : most;
        sum += b[i];
        squares += (double)b[i] * b[i];
    }
    double mean = sum / (double)n;
    return most / sqrt(squares / (double)n - mean * mean);
}

/* Evaluates ids with each KV type and chunk size and compares with what is expected of that type. */
static void expect_logits(qn_model *m, const char *what, const int32_t *ids, uint32_t n,
                          float *const expected[COUNT(kv_types)])
{
    qn_model_info info;
    qn_model_get_info(m, &info);
    for (size_t k = 0; k < COUNT(kv_types); k++) {
        for (size_t c = 0; c < COUNT(chunks); c++) {
            float *out = eval(m, kv_types[k], ids, n, chunks[c]);
            double off = ratio(out, expected[k], (size_t)n * info.n_vocab);
            free(out);
            if (!(off <= limit_of(kv_types[k]))) {
                fail_msg("%s, KV %s, chunks of %u: %.2e of a standard deviation, at most %.0e", what,
                         kv_types[k] == QN_KV_F32 ? "f32" : "f16", chunks[c], off, limit_of(kv_types[k]));
            }
        }
    }
}

/* ---- shared checkpoints ----------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b) { return strcmp(a, b); }

/* The names of the folder's .gguf files, sorted, without the ending. */
static size_t list_files(const char *folder, char names[MAX_FILES][64])
{
    size_t n = 0;
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (const struct dirent *e; (e = readdir(d)) != NULL;) {
        size_t len = strlen(e->d_name);
        if (len > 5 && strcmp(e->d_name + len - 5, ".gguf") == 0) {
            assert_true(n < MAX_FILES && len - 5 < sizeof(names[0]));
            memcpy(names[n], e->d_name, len - 5);
            names[n++][len - 5] = '\0';
        }
    }
    closedir(d);
    qsort(names, n, sizeof(names[0]), by_name);
    return n;
}

/* ids and logits from `path`, copied to where they are aligned; *expected for free(). */
static uint32_t read_expected(const char *path, int32_t ids[MAX_TOKENS], float **expected, size_t *n_vocab)
{
    size_t ids_shape[2], out_shape[2];
    qn_npz z = qn_npz_open(path);
    const char *raw = qn_npz_array(&z, "ids", "<i8", ids_shape);
    size_t n = ids_shape[0] * ids_shape[1];
    assert_true(n != 0 && n <= MAX_TOKENS);
    for (size_t i = 0; i < n; i++) {
        int64_t id;
        memcpy(&id, raw + sizeof(id) * i, sizeof(id));
        ids[i] = (int32_t)id;
    }
    const void *out = qn_npz_array(&z, "out", "<f4", out_shape);
    assert_int_equal(out_shape[0], n);
    *n_vocab = out_shape[1];
    size_t n_bytes = out_shape[0] * out_shape[1] * sizeof(float);
    *expected = malloc(n_bytes);
    assert_non_null(*expected);
    memcpy(*expected, out, n_bytes);
    qn_npz_close(&z);
    return (uint32_t)n;
}

static void expect_file(const char *folder, const char *name)
{
    char path[4096];
    int32_t ids[MAX_TOKENS];
    float *expected;
    size_t n_vocab;
    snprintf(path, sizeof(path), "%s/%s.npz", folder, name);
    uint32_t n = read_expected(path, ids, &expected, &n_vocab);
    snprintf(path, sizeof(path), "%s/%s.gguf", folder, name);
    for (size_t i = 0; i < COUNT(isas); i++) {
        qn_runtime *rt = open_runtime(isas[i]);
        if (rt == NULL) {
            continue;
        }
        char what[128];
        qn_model_info info;
        qn_model *m = open_model(rt, path);
        qn_model_get_info(m, &info);
        assert_int_equal(info.n_vocab, n_vocab);
        snprintf(what, sizeof(what), "%s, kernels %s", name, isa_name(isas[i]));
        expect_logits(m, what, ids, n, (float *const[]){expected, expected});
        qn_model_close(m);
        qn_runtime_close(rt);
    }
    free(expected);
}

static void test_checkpoints_agree_with_pytorch(void **state)
{
    (void)state;
    QN_TEST_NEED(found, "tiny-gguf");
    char folder[3072], names[MAX_FILES][64];
    snprintf(folder, sizeof(folder), "%s", found);
    size_t n = list_files(folder, names);
    assert_true(n != 0);
    for (size_t i = 0; i < n; i++) {
        expect_file(folder, names[i]);
    }
}

/* ---- a trained model -------------------------------------------------------------------------------- */

/* The most probable continuation of BOS alone begins with `text`. */
static void expect_greedy_text(qn_model *m, const char *text)
{
    enum { N_TOKENS = 100 };
    qn_session *s = NULL;
    qn_seq *q = NULL;
    qn_model_info info;
    int32_t ids[N_TOKENS];
    char got[16 * N_TOKENS];
    size_t n_bytes;
    qn_model_get_info(m, &info);
    ids[0] = info.bos;
    assert_int_equal(qn_session_open(m, NULL, &s, NULL), QN_OK);
    assert_int_equal(qn_seq_open(s, &q, NULL), QN_OK);
    for (size_t i = 0; i + 1 < N_TOKENS; i++) {
        const float *logits;
        float logprob;
        assert_int_equal(qn_seq_eval(q, &ids[i], 1, &logits, NULL), QN_OK);
        qn_logprobs_top(m, logits, 1, &ids[i + 1], &logprob);
    }
    assert_int_equal(qn_detokenize(m, ids, N_TOKENS, 0, got, sizeof(got) - 1, &n_bytes, NULL), QN_OK);
    got[n_bytes] = '\0';
    if (strncmp(got, text, strlen(text)) != 0) {
        fail_msg("\"%s\"", got);
    }
    qn_session_close(s);
}

static void test_trained_model_tells_its_story(void **state)
{
    (void)state;
    QN_TEST_NEED(path, "models/stories260K.gguf");
    for (size_t i = 0; i < COUNT(isas); i++) {
        qn_runtime *rt = open_runtime(isas[i]);
        if (rt == NULL) {
            continue;
        }
        qn_model *m = open_model(rt, path);
        expect_greedy_text(m, "Once upon a time, there was a little girl named Lily. She loved to play outside in "
                              "the park. One day, she saw a big, red ball. She wanted to play with it, but it was too "
                              "high.");
        qn_model_close(m);
        qn_runtime_close(rt);
    }
}

/* ---- without shared data ---------------------------------------------------------------------------- */

/* The reference kernels and the prompt whole give what all others must give with the same type of KV. */
static void expect_kind(const char *kind)
{
    enum { N_TOKENS = 75 }; /* two whole KV pages and a part; far beyond every window */
    char path[4096];
    int32_t ids[N_TOKENS];
    qn_tiny_spec spec = qn_tiny_spec_of(kind);
    qn_tiny_file(&spec, path);
    for (int32_t i = 0; i < N_TOKENS; i++) {
        ids[i] = 3 + i * 53 % 283;
    }
    float *expected[COUNT(kv_types)] = {NULL, NULL};
    for (size_t i = 0; i < COUNT(isas); i++) {
        qn_runtime *rt = open_runtime(isas[i]);
        if (rt == NULL) {
            continue;
        }
        char what[128];
        qn_model *m = open_model(rt, path);
        for (size_t k = 0; k < COUNT(kv_types) && i == 0; k++) {
            expected[k] = eval(m, kv_types[k], ids, N_TOKENS, MAX_TOKENS);
        }
        snprintf(what, sizeof(what), "%s, kernels %s", kind, isa_name(isas[i]));
        expect_logits(m, what, ids, N_TOKENS, expected);
        qn_model_close(m);
        qn_runtime_close(rt);
    }
    free(expected[0]);
    free(expected[1]);
    unlink(path);
}

static void test_tiny_models_agree_with_the_reference(void **state)
{
    (void)state;
    for (size_t i = 0; i < QN_TINY_N_KINDS; i++) {
        expect_kind(qn_tiny_kinds[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_checkpoints_agree_with_pytorch),
        cmocka_unit_test(test_trained_model_tells_its_story),
        cmocka_unit_test(test_tiny_models_agree_with_the_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
