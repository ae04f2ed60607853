/* Special tokens in a stream: silent, or spelled out but for those that end a text. SPDX-License-Identifier: MIT */
#include "support.h"

static void assert_streams(const qn_model *m, unsigned flags, const int32_t *ids, size_t n, const char *expected)
{
    static const char *const stops[] = {"<s><s>"};
    qn_stream *st;
    qn_error err = {0};
    char got[256] = "";
    expect_ok(qn_stream_open(m, stops, 1, flags, &st, &err), &err);
    for (size_t i = 0; i <= n; i++) {
        const char *text;
        size_t n_bytes;
        bool stopped = false;
        qn_status status = i < n ? qn_stream_push(st, ids[i], &text, &n_bytes, &stopped, &err)
                                 : qn_stream_finish(st, &text, &n_bytes, &err);
        expect_ok(status, &err);
        strncat(got, n_bytes > 0 ? text : "", n_bytes);
        strcat(got, stopped ? "!" : "");
    }
    qn_stream_close(st);
    assert_string_equal(got, expected);
}

static void special_tokens(void **state)
{
    (void)state;
    qn_tiny_spec spec = qn_tiny_spec_of("llama");
    qn_runtime *rt = open_runtime("ref", 1);
    qn_model *m = open_tiny(rt, &spec);
    qn_model_info info;
    qn_model_get_info(m, &info);
    int32_t bos = info.bos, eos = info.eos, a[8];
    size_t n;
    assert_int_equal(qn_tokenize(m, "a", 1, 0, a, 8, &n, NULL), QN_OK);
    assert_true(bos >= 0 && qn_token_is_end(m, eos) && n >= 1);
    const int32_t ids[] = {bos, a[n - 1], eos, 0, a[n - 1], bos};
    assert_streams(m, 0, ids, 6, "aa");
    assert_streams(m, QN_TEXT_PARSE_SPECIAL, ids, 6, "<s>a<unk>a<s>");
    assert_streams(m, QN_TEXT_ADD_SPECIAL, ids, 6, "aa"); /* no flag of a stream */
    const int32_t twice[] = {a[n - 1], bos, eos, bos, a[n - 1]};
    assert_streams(m, QN_TEXT_PARSE_SPECIAL, twice, 4, "a!"); /* what is spelled out can be a stop too */
    assert_streams(m, 0, twice, 5, "aa");
    qn_model_close(m);
    qn_runtime_close(rt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(special_tokens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
