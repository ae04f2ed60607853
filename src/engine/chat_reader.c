/* Reading answers: quern.h's calls over text/chat/answer.h. SPDX-License-Identifier: MIT */
#include "engine/chat_int.h"

_Static_assert((int)QN_ANSWER_CONTENT == (int)QN_PART_CONTENT && (int)QN_ANSWER_REASONING == (int)QN_PART_REASONING &&
                   (int)QN_ANSWER_CALL == (int)QN_PART_CALL && (int)QN_ANSWER_CALL_ID == (int)QN_PART_CALL_ID &&
                   (int)QN_ANSWER_ARGUMENTS == (int)QN_PART_ARGUMENTS &&
                   (int)QN_ANSWER_CALL_END == (int)QN_PART_CALL_END,
               "the parts of an answer have one number inside and outside");

struct qn_answer_reader {
    qn_answer *answer;
    qn_budget *budget;
};

/* The caller's function, for one call. */
typedef struct receiver {
    qn_answer_fn *fn;
    void *ctx;
} receiver;

static qn_status hand_on(void *ctx, qn_part part, uint32_t i_call, qn_str text)
{
    const receiver *r = ctx;
    return r->fn(r->ctx, (qn_answer_part)part, i_call, text.data, text.len) == 0 ? QN_OK : QN_EABORTED;
}

void qn_answer_reader_options_init(qn_answer_reader_options *o)
{
    *o = (qn_answer_reader_options){0};
}

static qn_status open_answer(const qn_chat *c, const qn_prompt *p, const qn_answer_reader_options *o, qn_answer **out,
                             qn_error *err)
{
    qn_answer_options ao = {.no_calls = o->no_calls, .keep_reasoning = o->keep_reasoning};
    qn_conversation *tools = NULL;
    ao.prompt.data = qn_prompt_text(p, &ao.prompt.len);
    if (o->tools != NULL) {
        qn_error why;
        qn_status status = qn_conversation_open_value((qn_str){o->tools, o->tools_bytes}, c->budget, &tools, &why);
        if (status != QN_OK) {
            return qn_fail(err, status, "tools: %s", why.what);
        }
        ao.tools = qn_conversation_vars(tools);
    }
    qn_status status = qn_answer_open(c->dialect, &ao, c->budget, out, err);
    qn_conversation_close(tools);
    return status;
}

qn_status qn_answer_reader_open(const qn_chat *c, const qn_prompt *p, const qn_answer_reader_options *o,
                                qn_answer_reader **out, qn_error *err)
{
    const qn_answer_reader_options none = {0};
    QN_NEED(c, err);
    QN_NEED(p, err);
    QN_NEED(out, err);
    qn_answer_reader *a = qn_zalloc(c->budget, QN_CHAT_OWNER, sizeof(*a));
    if (a == NULL) {
        return qn_blame_ceiling(c->budget, qn_fail(err, QN_ENOMEM, "no memory for a reader of answers"), err);
    }
    a->budget = c->budget;
    qn_status status = open_answer(c, p, o != NULL ? o : &none, &a->answer, err);
    if (status != QN_OK) {
        qn_free(a);
        return qn_blame_ceiling(c->budget, status, err);
    }
    *out = a;
    return QN_OK;
}

void qn_answer_reader_close(qn_answer_reader *a)
{
    if (a != NULL) {
        qn_answer_close(a->answer);
        qn_free(a);
    }
}

static qn_status told(const qn_answer_reader *a, qn_status status, qn_error *err)
{
    if (status == QN_EABORTED) {
        return qn_fail(err, status, "the reading of the answer was stopped");
    }
    return qn_blame_ceiling(a->budget, status, err);
}

qn_status qn_answer_reader_push(qn_answer_reader *a, const char *text, size_t n_bytes, qn_answer_fn *fn, void *ctx,
                                qn_error *err)
{
    QN_NEED(a, err);
    QN_NEED_IF(n_bytes != 0, text, err);
    QN_NEED(fn, err);
    receiver r = {fn, ctx};
    return told(a, qn_answer_push(a->answer, text, n_bytes, hand_on, &r, err), err);
}

bool qn_answer_reader_is_over(const qn_answer_reader *a) { return a != NULL && qn_answer_is_over(a->answer); }

qn_status qn_answer_reader_finish(qn_answer_reader *a, qn_answer_fn *fn, void *ctx, bool *cut, qn_error *err)
{
    QN_NEED(a, err);
    QN_NEED(fn, err);
    QN_NEED(cut, err);
    receiver r = {fn, ctx};
    return told(a, qn_answer_finish(a->answer, hand_on, &r, cut, err), err);
}
