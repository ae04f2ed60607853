/* The text stream against a one-shot version that sees the whole text. SPDX-License-Identifier: MIT */
#include "text/stream.h"
#include "text/utf8.h"

#include "base/random.h"
#include "test.h"

typedef struct result {
    char text[4096];
    size_t n;
    bool stopped;
} result;

/* Whether text[0, n) is valid UTF-8, by the table of the Unicode standard (3-7). */
static size_t char_length(const unsigned char *s, size_t n)
{
    static const struct {
        unsigned char first_low, first_high, second_low, second_high;
        size_t length;
    } rows[] = {
        {0x00, 0x7F, 0, 0, 1},       {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
        {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3},
        {0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (s[0] < rows[i].first_low || s[0] > rows[i].first_high) {
            continue;
        }
        if (rows[i].length == 1) {
            return 1;
        }
        if (n < 2 || s[1] < rows[i].second_low || s[1] > rows[i].second_high) {
            return 0;
        }
        for (size_t k = 2; k < rows[i].length; k++) {
            if (k >= n || s[k] < 0x80 || s[k] > 0xBF) {
                return 0;
            }
        }
        return rows[i].length;
    }
    return 0;
}

/* The longest beginning of some character at s[0, n), when no whole one is there; at least 1. */
static size_t broken_length(const unsigned char *s, size_t n)
{
    static const unsigned char fill[] = {0x80, 0x90, 0xA0, 0xBF};
    for (size_t length = n < 3 ? n : 3; length > 1; length--) {
        for (size_t total = length + 1; total <= 4; total++) {
            unsigned char whole[4];
            memcpy(whole, s, length);
            for (size_t i = 0; i < sizeof(fill); i++) {
                memset(whole + length, fill[i], total - length);
                if (char_length(whole, total) == total) {
                    return length;
                }
            }
        }
    }
    return 1;
}

static void one_shot(const char *bytes, size_t n, const qn_str *stops, size_t n_stops, result *out)
{
    size_t end = n;
    for (size_t i = 0; i < n_stops; i++) {
        for (size_t at = 0; at + stops[i].len <= n; at++) {
            if (memcmp(bytes + at, stops[i].data, stops[i].len) == 0) {
                end = at < end ? at : end;
                break;
            }
        }
    }
    out->stopped = end < n;
    out->n = 0;
    for (size_t at = 0; at < end;) {
        const unsigned char *s = (const unsigned char *)bytes + at;
        size_t length = char_length(s, end - at);
        if (length > 0) {
            memcpy(out->text + out->n, s, length);
            out->n += length;
            at += length;
        } else {
            memcpy(out->text + out->n, "\xEF\xBF\xBD", 3);
            out->n += 3;
            at += broken_length(s, end - at);
        }
    }
}

static void assert_valid_utf8(const char *s, size_t n)
{
    for (size_t at = 0; at < n;) {
        size_t length = char_length((const unsigned char *)s + at, n - at);
        assert_true(length > 0);
        at += length;
    }
}

/* Pushes the bytes in pieces of random length, at most max_piece. */
static void streamed(const char *bytes, size_t n, const qn_str *stops, size_t n_stops, qn_random *r, size_t max_piece,
                     result *out)
{
    qn_text_stream *st = NULL;
    assert_int_equal(qn_text_stream_open(stops, n_stops, NULL, &st, NULL), QN_OK);
    qn_buf buf;
    qn_buf_init(&buf, NULL, "test", 1 << 20);
    out->n = 0;
    out->stopped = false;
    for (size_t at = 0; at <= n;) {
        bool stopped = false;
        size_t piece = at < n ? qn_random_below(r, max_piece + 1) : 0;
        piece = piece > n - at ? n - at : piece;
        qn_buf_clear(&buf);
        if (at < n) {
            assert_int_equal(qn_text_stream_push(st, bytes + at, piece, &buf, &stopped), QN_OK);
        } else {
            assert_int_equal(qn_text_stream_finish(st, &buf), QN_OK);
        }
        if (out->stopped) { /* nothing comes out any more */
            assert_int_equal(buf.len, 0);
            assert_true(stopped || at == n);
        }
        out->stopped |= stopped;
        assert_valid_utf8(buf.data, buf.len);
        memcpy(out->text + out->n, buf.len > 0 ? buf.data : "", buf.len);
        out->n += buf.len;
        at += at < n ? piece : 1;
    }
    qn_buf_free(&buf);
    qn_text_stream_close(st);
}

static void assert_same_text(const result *got, const result *want)
{
    assert_int_equal(got->n, want->n);
    assert_memory_equal(got->text, want->text, want->n);
    assert_true(want->stopped || !got->stopped); /* a stop that ends the text may be seen by finish only */
}

static void check(const char *bytes, size_t n, const qn_str *stops, size_t n_stops, qn_random *r)
{
    static result want, got;
    one_shot(bytes, n, stops, n_stops, &want);
    for (size_t max_piece = 1; max_piece <= 9; max_piece += 4) {
        streamed(bytes, n, stops, n_stops, r, max_piece, &got);
        assert_same_text(&got, &want);
    }
}

static void random_texts_and_stops(void **state)
{
    (void)state;
    qn_random r;
    qn_random_seed(&r, 10);
    /* Small alphabets make stops that overlap, nest and nearly match. */
    static const char *const alphabets[] = {"ab", "abc\n", "\xF0\x9F\x90\x9D\xE9z", "a\xC3\xA9\xE2\x82\xAC\x80\xFF"};
    for (int round = 0; round < 20000; round++) {
        const char *alphabet = alphabets[round % 4];
        size_t n_letters = strlen(alphabet);
        char text[64], stop_bytes[4][8];
        qn_str stops[4];
        size_t n = qn_random_below(&r, sizeof(text) + 1), n_stops = qn_random_below(&r, 5);
        for (size_t i = 0; i < n; i++) {
            text[i] = alphabet[qn_random_below(&r, n_letters)];
        }
        for (size_t i = 0; i < n_stops; i++) {
            stops[i] = (qn_str){stop_bytes[i], 1 + qn_random_below(&r, 8)};
            for (size_t k = 0; k < stops[i].len; k++) {
                stop_bytes[i][k] = alphabet[qn_random_below(&r, n_letters)];
            }
        }
        check(text, n, stops, n_stops, &r);
    }
}

static void random_bytes(void **state)
{
    (void)state;
    qn_random r;
    qn_random_seed(&r, 11);
    for (int round = 0; round < 20000; round++) {
        char text[48];
        size_t n = qn_random_below(&r, sizeof(text) + 1);
        for (size_t i = 0; i < n; i++) {
            text[i] = (char)(qn_random_below(&r, 3) == 0 ? qn_random_below(&r, 256) : 0x80 + qn_random_below(&r, 128));
        }
        check(text, n, NULL, 0, &r);
    }
}

static void push_str(qn_text_stream *st, const char *s, const char *want, bool want_stopped)
{
    qn_buf out;
    qn_buf_init(&out, NULL, "test", 4096);
    bool stopped = !want_stopped;
    assert_int_equal(qn_text_stream_push(st, s, strlen(s), &out, &stopped), QN_OK);
    assert_string_equal(out.len > 0 ? out.data : "", want);
    assert_int_equal(stopped, want_stopped);
    qn_buf_free(&out);
}

static void finish_str(qn_text_stream *st, const char *want)
{
    qn_buf out;
    qn_buf_init(&out, NULL, "test", 4096);
    assert_int_equal(qn_text_stream_finish(st, &out), QN_OK);
    assert_string_equal(out.len > 0 ? out.data : "", want);
    qn_buf_free(&out);
}

static qn_text_stream *open_stops(const char *a, const char *b)
{
    qn_str stops[] = {qn_str_of(a), b != NULL ? qn_str_of(b) : QN_STR("")};
    qn_text_stream *st = NULL;
    assert_int_equal(qn_text_stream_open(stops, b != NULL ? 2 : 1, NULL, &st, NULL), QN_OK);
    return st;
}

static void held_text_comes_once(void **state)
{
    (void)state;
    qn_text_stream *st = open_stops("\n", "Bob says:");
    push_str(st, "Hi ", "Hi ", false);
    push_str(st, "Bo", "", false);
    push_str(st, "b s", "", false);
    push_str(st, "miled", "Bob smiled", false);
    push_str(st, " Bob say", " ", false);
    push_str(st, "s: no", "", true);
    push_str(st, "more", "", true);
    finish_str(st, "");
    qn_text_stream_close(st);
}

static void the_earlier_beginning_wins(void **state)
{
    (void)state;
    qn_text_stream *st = open_stops("bc", "abcd");
    push_str(st, "xabc", "x", false); /* "bc" is complete, but "abcd" begins before it */
    push_str(st, "d", "", true);
    qn_text_stream_close(st);

    st = open_stops("bc", "abcd");
    push_str(st, "xabc", "x", false);
    push_str(st, "e", "a", true);
    qn_text_stream_close(st);

    st = open_stops("bc", "abcd");
    push_str(st, "xabc", "x", false);
    finish_str(st, "a");
    push_str(st, "more", "", false);
    qn_text_stream_close(st);

    st = open_stops("ab", "abc");
    push_str(st, "xab", "x", true); /* both begin at the same place: no need to wait */
    qn_text_stream_close(st);
}

static void a_stop_may_begin_inside_held_text(void **state)
{
    (void)state;
    qn_text_stream *st = open_stops("aab", NULL);
    push_str(st, "a", "", false);
    push_str(st, "a", "", false);
    push_str(st, "a", "a", false);
    push_str(st, "b", "", true);
    qn_text_stream_close(st);
}

static void characters_stay_whole(void **state)
{
    (void)state;
    qn_text_stream *st = NULL;
    assert_int_equal(qn_text_stream_open(NULL, 0, NULL, &st, NULL), QN_OK);
    push_str(st, "\xF0", "", false);
    push_str(st, "\x9F\x90", "", false);
    push_str(st, "\x9D!", "\xF0\x9F\x90\x9D!", false);
    push_str(st, "e\xCC", "e", false); /* decomposed accent */
    push_str(st, "\x81", "\xCC\x81", false);
    push_str(st, "\xE9\xBE", "", false);
    finish_str(st, "\xEF\xBF\xBD"); /* one mark for the cut character */
    finish_str(st, "");
    qn_text_stream_close(st);
}

static void a_stop_cuts_a_character_short(void **state)
{
    (void)state;
    qn_text_stream *st = open_stops("END", NULL);
    push_str(st, "a\xE9\xBE", "a", false);
    push_str(st, "END", "\xEF\xBF\xBD", true);
    qn_text_stream_close(st);
}

static void long_hold_backs_take_linear_time(void **state)
{
    (void)state;
    /* The worst for a rescanning stream: every byte nearly completes a stop of the longest kind. A quadratic one would
     * compare 2^20 times 4096 bytes here and run into the time limit of the suite. */
    static char stop[QN_STREAM_MAX_STOP_BYTES], text[1 << 20];
    memset(stop, 'a', sizeof(stop));
    stop[sizeof(stop) - 1] = 'b';
    memset(text, 'a', sizeof(text));
    qn_str stops[QN_STREAM_MAX_STOPS];
    for (size_t i = 0; i < QN_STREAM_MAX_STOPS; i++) {
        stops[i] = (qn_str){stop + i, sizeof(stop) - i};
    }
    qn_text_stream *st = NULL;
    assert_int_equal(qn_text_stream_open(stops, QN_STREAM_MAX_STOPS, NULL, &st, NULL), QN_OK);
    qn_buf out;
    qn_buf_init(&out, NULL, "test", 2 << 20);
    bool stopped = true;
    assert_int_equal(qn_text_stream_push(st, text, sizeof(text), &out, &stopped), QN_OK);
    assert_false(stopped);
    assert_int_equal(out.len, sizeof(text) - (sizeof(stop) - 1));
    assert_int_equal(qn_text_stream_push(st, "b", 1, &out, &stopped), QN_OK);
    assert_true(stopped);
    assert_int_equal(out.len, sizeof(text) - (sizeof(stop) - 1));
    qn_buf_free(&out);
    qn_text_stream_close(st);
}

static void refuses_bad_stops(void **state)
{
    (void)state;
    static char long_stop[QN_STREAM_MAX_STOP_BYTES + 1];
    qn_str stops[QN_STREAM_MAX_STOPS + 1];
    for (size_t i = 0; i <= QN_STREAM_MAX_STOPS; i++) {
        stops[i] = QN_STR("x");
    }
    qn_text_stream *st = NULL;
    qn_error err;
    assert_int_equal(qn_text_stream_open(stops, QN_STREAM_MAX_STOPS + 1, NULL, &st, &err), QN_EINVAL);
    stops[3] = QN_STR("");
    assert_int_equal(qn_text_stream_open(stops, 5, NULL, &st, &err), QN_EINVAL);
    assert_non_null(strstr(err.what, "3"));
    stops[3] = (qn_str){long_stop, sizeof(long_stop)};
    assert_int_equal(qn_text_stream_open(stops, 5, NULL, &st, &err), QN_EINVAL);
    assert_null(st);
    qn_text_stream_close(NULL);
}

static void every_failed_allocation_is_clean(void **state)
{
    (void)state;
    qn_str stops[] = {QN_STR("one"), QN_STR("two")};
    uint64_t n_live = qn_alloc_live();
    for (uint64_t n = 1;; n++) {
        qn_text_stream *st = NULL;
        qn_alloc_fail_at(n);
        qn_status status = qn_text_stream_open(stops, 2, NULL, &st, NULL);
        qn_alloc_fail_at(0);
        if (status == QN_OK) {
            assert_true(n > 6);
            qn_text_stream_close(st);
            break;
        }
        assert_int_equal(status, QN_ENOMEM);
        assert_null(st);
        assert_int_equal(qn_alloc_live(), n_live);
    }
    assert_int_equal(qn_alloc_live(), n_live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_texts_and_stops),
        cmocka_unit_test(random_bytes),
        cmocka_unit_test(held_text_comes_once),
        cmocka_unit_test(the_earlier_beginning_wins),
        cmocka_unit_test(a_stop_may_begin_inside_held_text),
        cmocka_unit_test(characters_stay_whole),
        cmocka_unit_test(a_stop_cuts_a_character_short),
        cmocka_unit_test(long_hold_backs_take_linear_time),
        cmocka_unit_test(refuses_bad_stops),
        cmocka_unit_test(every_failed_allocation_is_clean),
    };
    return cmocka_run_group_tests_name("stream", tests, NULL, NULL);
}
