/* The JSON reader and writer against another implementation (jansson, taken at run time when it is installed): random
 * documents, whole and with random faults, must be accepted or refused alike and mean the same.
 * SPDX-License-Identifier: MIT */
#include "test.h"

#include "base/json.h"
#include "base/random.h"

#include <dlfcn.h>
#include <math.h>

/* ---- the judge, as its manual describes it ---- */

typedef struct json_t {
    int type; /* OBJECT, ARRAY, STRING, INTEGER, REAL, TRUE, FALSE, NULL: 0 to 7 */
    volatile size_t refcount;
} json_t;

typedef struct json_error_t {
    int line, column, position;
    char source[80], text[160];
} json_error_t;

enum { DECODE_ANY = 4, DECODE_INT_AS_REAL = 8, ALLOW_NUL = 16 };

static json_t *(*judge_load)(const char *text, size_t n, size_t flags, json_error_t *err);
static void (*judge_delete)(json_t *v);
static size_t (*judge_array_size)(const json_t *v);
static json_t *(*judge_array_get)(const json_t *v, size_t i);
static size_t (*judge_object_size)(const json_t *v);
static json_t *(*judge_object_get)(const json_t *v, const char *key);
static const char *(*judge_string)(const json_t *v);
static size_t (*judge_string_bytes)(const json_t *v);
static double (*judge_real)(const json_t *v);

static bool load_judge(void)
{
    void *lib = dlopen("libjansson.so.4", RTLD_NOW);
    if (lib == NULL) {
        return false;
    }
    struct {
        void *to;
        const char *name;
    } names[] = {
        {&judge_load, "json_loadb"},
        {&judge_delete, "json_delete"},
        {&judge_array_size, "json_array_size"},
        {&judge_array_get, "json_array_get"},
        {&judge_object_size, "json_object_size"},
        {&judge_object_get, "json_object_get"},
        {&judge_string, "json_string_value"},
        {&judge_string_bytes, "json_string_length"},
        {&judge_real, "json_real_value"},
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        void *f = dlsym(lib, names[i].name);
        if (f == NULL) {
            return false;
        }
        memcpy(names[i].to, &f, sizeof(f));
    }
    return true;
}

/* ---- random documents ---- */

static void random_string(qn_random *r, char *out, size_t *len, bool is_key)
{
    static const char *const parts[] = {
        "a", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\"", "\\", "/", "\n", "\t", "\x01", "\x7F", " ", "{",
        "]", ","};
    *len = 0;
    size_t n = qn_random_below(r, 6);
    for (size_t i = 0; i < n; i++) {
        const char *part = parts[qn_random_below(r, sizeof(parts) / sizeof(parts[0]))];
        memcpy(out + *len, part, strlen(part));
        *len += strlen(part);
    }
    if (!is_key && qn_random_below(r, 10) == 0) {
        out[(*len)++] = '\0'; /* the judge takes none in keys */
    }
}

static void random_value(qn_random *r, qn_json_writer *w, int depth)
{
    char text[64];
    size_t len;
    uint64_t kind = qn_random_below(r, depth < 4 ? 8 : 6);
    uint64_t n = qn_random_below(r, 5);
    switch (kind) {
    case 0:
        qn_json_null(w);
        break;
    case 1:
        qn_json_bool(w, qn_random_below(r, 2) != 0);
        break;
    case 2:
        qn_json_i64(w, (int64_t)qn_random_u64(r) >> qn_random_below(r, 64));
        break;
    case 3:
        qn_json_f64(w, qn_random_normal(r) * pow(10, (double)qn_random_below(r, 40) - 20));
        break;
    case 4:
    case 5:
        random_string(r, text, &len, false);
        qn_json_string(w, (qn_str){text, len});
        break;
    case 6:
        qn_json_begin_array(w);
        for (uint64_t i = 0; i < n; i++) {
            random_value(r, w, depth + 1);
        }
        qn_json_end_array(w);
        break;
    default:
        qn_json_begin_object(w);
        for (uint64_t i = 0; i < n; i++) {
            random_string(r, text, &len, true);
            qn_json_key_str(w, (qn_str){text, len});
            random_value(r, w, depth + 1);
        }
        qn_json_end_object(w);
        break;
    }
}

/* One to three bytes changed, taken out or put in, mostly to such as mean something in JSON. */
static void damage(qn_random *r, char *text, size_t *len)
{
    static const char bytes[] = "{}[]\",:\\/u0159.eE+-tfn \n\tdD8cC\x80\xC3\xED\xF0\xFF\x01";
    for (uint64_t n = 1 + qn_random_below(r, 3); n > 0 && *len > 0; n--) {
        size_t at = qn_random_below(r, *len);
        char c = bytes[qn_random_below(r, sizeof(bytes) - 1)]; /* no NUL: the judge takes it as the end */
        switch (qn_random_below(r, 3)) {
        case 0:
            text[at] = c;
            break;
        case 1:
            memmove(text + at, text + at + 1, *len - at - 1);
            (*len)--;
            break;
        default:
            memmove(text + at + 1, text + at, *len - at);
            text[at] = c;
            (*len)++;
            break;
        }
    }
}

/* ---- comparing ---- */

static bool same(const qn_json *v, const json_t *j)
{
    static const qn_json_kind kinds[] = {QN_JSON_OBJECT, QN_JSON_ARRAY, QN_JSON_STRING, QN_JSON_NUMBER,
                                         QN_JSON_NUMBER, QN_JSON_BOOL,  QN_JSON_BOOL,   QN_JSON_NULL};
    if (j == NULL || qn_json_kind_of(v) != kinds[j->type]) {
        return false;
    }
    size_t n = qn_json_count(v);
    switch (qn_json_kind_of(v)) {
    case QN_JSON_NULL:
        return true;
    case QN_JSON_BOOL:
        return qn_json_as_bool(v) == (j->type == 5);
    case QN_JSON_NUMBER:
        return qn_json_as_f64(v) == judge_real(j);
    case QN_JSON_STRING:
        return qn_str_eq(qn_json_as_str(v), (qn_str){judge_string(j), judge_string_bytes(j)});
    case QN_JSON_ARRAY:
        for (size_t i = 0; i < n; i++) {
            if (!same(qn_json_at(v, i), judge_array_get(j, i))) {
                return false;
            }
        }
        return n == judge_array_size(j);
    case QN_JSON_OBJECT:
        break;
    }
    /* Of a key that stands twice both keep the last value. */
    size_t n_distinct = 0;
    for (size_t i = 0; i < n; i++) {
        char key[512];
        qn_str k = qn_json_key_at(v, i);
        if (k.len >= sizeof(key)) {
            return false;
        }
        memcpy(key, k.data, k.len);
        key[k.len] = '\0';
        const qn_json *last = qn_json_find(v, key);
        n_distinct += last == qn_json_at(v, i);
        if (!same(last, judge_object_get(j, key))) {
            return false;
        }
    }
    return n_distinct == judge_object_size(j);
}

/* True: the judge has a limit here that JSON has not. */
static bool judge_is_stricter(const json_error_t *err)
{
    return strstr(err->text, "overflow") != NULL || strstr(err->text, "too big") != NULL ||
           strstr(err->text, "NUL byte in object key") != NULL;
}

static void check(const char *text, size_t len, size_t *n_accepted, size_t *n_refused)
{
    qn_json_doc *d = NULL;
    qn_error ours = {0};
    json_error_t theirs = {0};
    qn_status status = qn_json_parse(NULL, text, len, SIZE_MAX, &d, &ours);
    json_t *j = judge_load(text, len, DECODE_ANY | DECODE_INT_AS_REAL | ALLOW_NUL, &theirs);
    bool agree = status == QN_OK ? j != NULL && same(qn_json_root(d), j) : j == NULL;
    if (!agree && !(status == QN_OK && j == NULL && judge_is_stricter(&theirs))) {
        fail_msg("%.*s\nours: %s\ntheirs: %s", (int)len, text, status == QN_OK ? "accepted" : ours.what,
                 j != NULL ? "accepted" : theirs.text);
    }
    *n_accepted += status == QN_OK;
    *n_refused += status != QN_OK;
    if (j != NULL && --j->refcount == 0) {
        judge_delete(j);
    }
    if (status == QN_OK) {
        qn_json_free(d);
    }
}

static void test_agrees_with_the_judge(void **state)
{
    (void)state;
    if (!load_judge()) {
        QN_TEST_SKIP("libjansson.so.4 is not installed");
    }
    qn_random r;
    qn_random_seed(&r, 20);
    size_t n_whole = 0, n_accepted = 0, n_refused = 0;
    for (int i = 0; i < 4000; i++) {
        qn_buf b;
        qn_buf_init(&b, NULL, "test", SIZE_MAX);
        qn_json_writer w;
        qn_json_writer_init(&w, &b);
        random_value(&r, &w, 0);
        assert_int_equal(b.status, QN_OK);
        size_t none = 0;
        check(b.data, b.len, &n_whole, &none);
        assert_int_equal(none, 0);
        for (int k = 0; k < 10; k++) {
            size_t len = b.len;
            char *text = malloc(len + 8);
            assert_non_null(text);
            memcpy(text, b.data, len);
            damage(&r, text, &len);
            check(text, len, &n_accepted, &n_refused);
            free(text);
        }
        qn_buf_free(&b);
    }
    assert_int_equal(n_whole, 4000);
    assert_true(n_accepted > 2000 && n_refused > 2000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agrees_with_the_judge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
