/* Any bytes as a chat template: it compiles or is refused, and what compiles renders within its limits, twice the same.
 * SPDX-License-Identifier: MIT */
#include "base/utf8_scan.h"
#include "text/jinja/jinja.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

/* What a server passes, and the names that the seeds use. */
static const char variables[] =
    "{\"messages\":[{\"role\":\"system\",\"content\":\"Be brief.\"},{\"role\":\"user\",\"content\":\" H\xC3\xA9llo \\n{{x}}\"},"
    "{\"role\":\"assistant\",\"content\":null,\"reasoning_content\":\"hm\",\"tool_calls\":[{\"id\":\"c1\",\"type\":\"function\","
    "\"function\":{\"name\":\"f\",\"arguments\":{\"a\":[1,2.5,null],\"b\":\"x\"}}}]},{\"role\":\"tool\",\"content\":\"{}\"},"
    "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"t\"},{\"type\":\"image\"}]}],\"tools\":[{\"type\":\"function\","
    "\"function\":{\"name\":\"f\",\"parameters\":{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"array\"}}}}}],"
    "\"add_generation_prompt\":true,\"bos_token\":\"<s>\",\"n\":3,\"x\":1.5,\"big\":123456789012345678901234567890,"
    "\"l\":[3,1,2],\"d\":{\"k\":\"v\",\"1\":1}}";

static qn_json_doc *doc; /* read once, freed at the end */

static void free_doc(void)
{
    qn_json_free(doc);
}

static void must(bool good)
{
    if (!good) {
        abort();
    }
}

static void check_text(const qn_jinja_text *t)
{
    qn_str s = qn_buf_view(&t->text);
    for (size_t i = 0; i < s.len;) {
        size_t len = qn_utf8_scan(s.data + i, s.len - i);
        must(len > 0);
        i += len;
    }
    for (size_t i = 0; i < t->n_spans; i++) {
        must(t->spans[i].start < t->spans[i].end && t->spans[i].end <= s.len);
        must(i == 0 || t->spans[i - 1].end < t->spans[i].start);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    static const qn_jinja_options small = {
        .max_steps = 100000, .max_memory = 16u << 20, .max_output = 1u << 20, .now = 1700000000};
    if (doc == NULL) {
        must(qn_json_parse(NULL, variables, sizeof(variables) - 1, 10000, &doc, NULL) == QN_OK && atexit(free_doc) == 0);
    }
    uint64_t live = qn_alloc_live();
    qn_error err;
    qn_jinja *j;
    qn_status status = qn_jinja_open((qn_str){(const char *)data, n_bytes}, NULL, &j, &err);
    if (status == QN_OK) {
        qn_jinja_text first, second;
        status = qn_jinja_render(j, qn_json_root(doc), &small, NULL, &first, &err);
        if (status == QN_OK) {
            check_text(&first);
            must(qn_jinja_render(j, qn_json_root(doc), &small, NULL, &second, &err) == QN_OK);
            qn_str a = qn_buf_view(&first.text), b = qn_buf_view(&second.text);
            must(qn_str_eq(a, b) && first.n_spans == second.n_spans);
            qn_jinja_text_free(&first);
            qn_jinja_text_free(&second);
        }
        qn_jinja_close(j);
    }
    must(status == QN_OK || status == QN_EFORMAT || status == QN_EFULL);
    must(qn_alloc_live() == live);
    return 0;
}
