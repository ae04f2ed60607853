/* Any bytes as a conversation: it is read or refused; what is read reads back as the same, in each of its forms, and a
 * template can show it. SPDX-License-Identifier: MIT */
#include "text/chat/conversation.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static const char source[] =
    "{% for m in messages %}{{ m.role }}{{ m.content }}{% for c in m.tool_calls or [] %}{{ c.function.name }}"
    "{{ c.function.arguments | tojson }}{% endfor %}{% endfor %}{{ tools | tojson if tools }}{{ bos_token }}";

static void must(bool good)
{
    if (!good) {
        abort();
    }
}

static void write(const qn_conversation *c, qn_buf *out)
{
    qn_json_writer w;
    qn_buf_init(out, NULL, "fuzz", SIZE_MAX / 2);
    qn_json_writer_init(&w, out);
    qn_json_copy(&w, qn_conversation_vars(c));
    must(out->status == QN_OK);
}

static void check(qn_str json, const qn_conversation_options *o, const qn_jinja *j)
{
    qn_conversation *c, *again;
    qn_error err;
    err.what[0] = '\0';
    if (qn_conversation_open(json, o, NULL, &c, &err) != QN_OK) {
        must(err.what[0] != '\0');
        return;
    }
    qn_buf text, text_again;
    qn_conversation_options same = *o;
    same.arguments = QN_ARGUMENTS_GIVEN;
    write(c, &text);
    must(qn_conversation_open(qn_buf_view(&text), &same, NULL, &again, &err) == QN_OK);
    write(again, &text_again);
    must(qn_str_eq(qn_buf_view(&text), qn_buf_view(&text_again)));
    must(!o->filled_contents || !qn_conversation_has_gaps(again));
    qn_jinja_text shown;
    if (qn_jinja_render(j, qn_conversation_vars(c), NULL, NULL, &shown, &err) == QN_OK) {
        qn_jinja_text_free(&shown);
    }
    qn_buf_free(&text);
    qn_buf_free(&text_again);
    qn_conversation_close(again);
    qn_conversation_close(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    static qn_jinja *j;
    if (j == NULL) {
        must(qn_jinja_open(QN_STR(source), NULL, &j, NULL) == QN_OK);
    }
    for (unsigned i = 0; i < 6; i++) {
        qn_conversation_options o = {.bos = QN_STR("<s>"), .eos = QN_STR(""), .filled_contents = i % 2 == 1};
        o.arguments = (qn_arguments)(i / 2);
        check((qn_str){(const char *)data, n_bytes}, &o, j);
    }
    return 0;
}
