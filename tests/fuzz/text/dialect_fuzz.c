/* Any text is taken for a chat template: whatever it renders, a dialect is found or not, and an answer can be read.
 * SPDX-License-Identifier: MIT */
#include "text/chat/answer.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static void must(bool good)
{
    if (!good) {
        abort();
    }
}

static qn_status hear(void *ctx, qn_part part, uint32_t i_call, qn_str text)
{
    (void)i_call;
    must(part == QN_PART_CALL_END || text.len > 0);
    *(size_t *)ctx += text.len;
    return QN_OK;
}

static void read_answer(const qn_dialect *d)
{
    static const char text[] = "<think>\na\n</think>\n\nb<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call>"
                               "<call>f<k>a</k><v>1</v></call>[f(a=1)]";
    qn_answer_options o = {.prompt = QN_STR("<user>a<eot><bot>")};
    qn_answer *a = NULL;
    qn_error err = {0};
    size_t n_said = 0;
    bool cut;
    must(qn_answer_open(d, &o, NULL, &a, &err) == QN_OK);
    must(qn_answer_push(a, text, sizeof(text) - 1, hear, &n_said, &err) == QN_OK);
    must(qn_answer_finish(a, hear, &n_said, &cut, &err) == QN_OK);
    qn_answer_close(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    uint64_t live = qn_alloc_live();
    qn_jinja *j = NULL;
    qn_dialect *d = NULL;
    qn_error err = {0};
    if (n_bytes > 1u << 16 || qn_jinja_open((qn_str){(const char *)data, n_bytes}, NULL, &j, &err) != QN_OK) {
        return 0;
    }
    must(qn_dialect_open(j, QN_STR("<s>"), QN_STR("<eot>"), NULL, &d, &err) == QN_OK);
    qn_buf about;
    qn_buf_init(&about, NULL, "fuzz", 1u << 20);
    must(qn_dialect_describe(d, &about) == QN_OK);
    qn_json_doc *doc = NULL;
    must(qn_json_parse(NULL, about.data, about.len, 10000, &doc, &err) == QN_OK);
    qn_json_free(doc);
    qn_buf_free(&about);
    read_answer(d);
    qn_dialect_close(d);
    qn_jinja_close(j);
    must(qn_alloc_live() == live);
    return 0;
}
