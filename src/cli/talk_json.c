/* The last answer of a conversation as JSON. SPDX-License-Identifier: MIT */
#include "cli/talk.h"

static void json_text(qn_json_writer *w, const char *key, const qn_buf *text)
{
    qn_json_key(w, key);
    if (text->len > 0) {
        qn_json_string(w, qn_buf_view(text));
    } else {
        qn_json_null(w);
    }
}

bool qn_talk_print_json(const qn_talk *t)
{
    const qn_generation *g = &t->generation;
    qn_buf out;
    qn_json_writer w;
    qn_buf_init(&out, NULL, QN_INPUT_OWNER, QN_INPUT_MAX_BYTES);
    qn_json_writer_init(&w, &out);
    qn_json_begin_object(&w);
    qn_json_key(&w, "text");
    qn_json_string(&w, qn_buf_view(&t->view.content));
    json_text(&w, "reasoning", &t->view.reasoning);
    qn_json_key(&w, "tool_calls");
    qn_json_begin_array(&w);
    if (t->view.n_calls > 0) {
        qn_json_raw(&w, qn_buf_view(&t->view.calls));
    }
    qn_json_end_array(&w);
    qn_json_key(&w, "cut"); /* inside reasoning or a call */
    qn_json_bool(&w, t->view.is_cut);
    qn_json_key(&w, "tokens");
    qn_json_begin_array(&w);
    for (size_t i = 0; i < g->made.n; i++) {
        qn_json_i64(&w, g->made.ids[i]);
    }
    qn_json_end_array(&w);
    qn_json_key(&w, "finish_reason");
    qn_json_cstring(&w, qn_ending_name(g->ending));
    qn_generation_json_whole(g, &w);
    qn_json_key(&w, "prompt_tokens");
    qn_json_u64(&w, t->prompt.n);
    qn_json_key(&w, "seed");
    qn_json_u64(&w, t->sampling.seed);
    qn_json_key(&w, "timings");
    qn_timings_json(&g->timings, &w);
    qn_json_end_object(&w);
    bool ok = qn_report_json(&out);
    qn_buf_free(&out);
    return ok;
}
