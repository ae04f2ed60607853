/* Our Unicode tables against utf8proc, over every code point that both have assigned.
 * SPDX-License-Identifier: MIT */
#include "test.h"

#ifdef QN_HAVE_UTF8PROC
#include <utf8proc.h>

#include "base/random.h"
#include "base/unicode_case.h"

static bool is_shared(uint32_t cp)
{
    return qn_unicode_category(cp) != QN_CATEGORY_CN && utf8proc_category((utf8proc_int32_t)cp) != UTF8PROC_CATEGORY_CN;
}

/* Characters that become one: utf8proc knows no others. */
static void simple_case(void **state)
{
    (void)state;
    static const struct {
        unsigned (*ours)(uint32_t cp, uint32_t out[QN_UNICODE_MAX_CASE]);
        utf8proc_int32_t (*theirs)(utf8proc_int32_t cp);
    } maps[] = {{qn_unicode_lower, utf8proc_tolower},
                {qn_unicode_upper, utf8proc_toupper},
                {qn_unicode_title, utf8proc_totitle}};
    unsigned n_compared = 0;
    for (uint32_t cp = 0; cp < QN_UNICODE_END; cp++) {
        for (size_t i = 0; i < 3 && is_shared(cp); i++) {
            uint32_t out[QN_UNICODE_MAX_CASE];
            if (maps[i].ours(cp, out) == 1 && (int64_t)out[0] != maps[i].theirs((utf8proc_int32_t)cp)) {
                print_message("U+%04X map %zu: U+%04X, expected U+%04X\n", cp, i, out[0],
                              maps[i].theirs((utf8proc_int32_t)cp));
                fail();
            }
            n_compared++;
        }
    }
    assert_true(n_compared > 3 * 280000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(simple_case)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else
static void no_utf8proc(void **state)
{
    (void)state;
    QN_TEST_SKIP("utf8proc is not installed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_utf8proc)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
