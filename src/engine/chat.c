/* Chat templates: finding one in the file, and conversations to prompts. SPDX-License-Identifier: MIT */
#include "engine/chat_int.h"

#include <stdatomic.h>
#include <stdio.h>

#define TEMPLATE_KEY "tokenizer.chat_template"

static atomic_uint_least64_t last_serial;

void qn_chat_options_init(qn_chat_options *o)
{
    *o = (qn_chat_options){0};
}

/* ---- the template's source --------------------------------------------------------------------------- */

/* The file's named templates: "tool_use, rag". */
static void list_names(const qn_gguf *g, char *text, size_t text_bytes)
{
    static const char prefix[] = TEMPLATE_KEY ".";
    size_t n_prefix = sizeof(prefix) - 1, used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < qn_gguf_n_kv(g) && used < text_bytes; i++) {
        qn_str key = qn_gguf_kv_at(g, i)->key;
        if (key.len > n_prefix && memcmp(key.data, prefix, n_prefix) == 0) {
            qn_str name = {key.data + n_prefix, key.len - n_prefix};
            int n = snprintf(text + used, text_bytes - used, "%s%.*s", used > 0 ? ", " : "", QN_STR_ARG(name));
            used += n > 0 ? (size_t)n : text_bytes;
        }
    }
}

static qn_status find_source(const qn_model *m, const char *name, qn_str *out, qn_error *err)
{
    char key[QN_GGUF_MAX_KEY + 1], names[128];
    int n = snprintf(key, sizeof(key), name != NULL ? "%s.%s" : "%s", TEMPLATE_KEY, name);
    if (n < 0 || (size_t)n >= sizeof(key) || qn_gguf_find(m->gguf, key) == NULL) {
        list_names(m->gguf, names, sizeof(names));
        return name == NULL ? qn_fail(err, QN_ENOTFOUND, "the model has no chat template (%s)%s%s", TEMPLATE_KEY,
                                      names[0] != '\0' ? "; it has named ones: " : "", names)
                            : qn_fail(err, QN_ENOTFOUND, "the model has no chat template named '%.48s'; named are: %s",
                                      name, names[0] != '\0' ? names : "none");
    }
    return qn_gguf_get_str(m->gguf, key, out, err);
}

/* ---- opening ------------------------------------------------------------------------------------------ */

/* Copies the spelling of a token, which is in the file and may go away before the chat does. */
static qn_status spell(qn_chat *c, const qn_model *m, int32_t id, qn_span *out)
{
    out->start = c->tokens.len;
    if (m != NULL && id >= 0) {
        qn_str piece = qn_tokenizer_piece(m->tokenizer, id);
        qn_buf_add(&c->tokens, piece.data, piece.len);
    }
    out->end = c->tokens.len;
    return c->tokens.status;
}

static qn_str view(const qn_chat *c, qn_span s)
{
    return s.end > s.start ? (qn_str){c->tokens.data + s.start, s.end - s.start} : (qn_str){"", 0};
}

static qn_status spell_tokens(qn_chat *c, const qn_model *m, qn_error *err)
{
    qn_span bos, eos;
    if (spell(c, m, m != NULL ? qn_tokenizer_bos(m->tokenizer) : -1, &bos) != QN_OK ||
        spell(c, m, m != NULL ? qn_tokenizer_eos(m->tokenizer) : -1, &eos) != QN_OK) {
        return qn_fail(err, c->tokens.status, "no memory for the chat");
    }
    c->bos = view(c, bos);
    c->eos = view(c, eos);
    return QN_OK;
}

static qn_status load(qn_chat *c, const qn_model *m, const qn_chat_options *o, qn_error *err)
{
    qn_str source = {o->source, o->source_bytes};
    if (o->source == NULL) {
        QN_TRY(find_source(m, o->name, &source, err));
    }
    QN_TRY(spell_tokens(c, m, err));
    qn_error why;
    qn_status status = qn_jinja_open(source, c->budget, &c->jinja, &why);
    if (status != QN_OK) {
        return qn_fail(err, status, "chat template: %s", why.what);
    }
    const qn_conversation_options co = {.bos = c->bos, .eos = c->eos};
    QN_TRY(qn_conversation_probe(c->jinja, &co, c->budget, &c->text_arguments, err));
    QN_TRY(qn_dialect_open(c->jinja, c->bos, c->eos, c->budget, &c->dialect, err));
    QN_TRY(qn_chat_find_specials(c, m, err));
    QN_TRY(qn_dialect_describe(c->dialect, &c->description));
    return c->description.status == QN_OK ? QN_OK
                                          : qn_fail(err, c->description.status, "no memory for the chat's description");
}

qn_status qn_chat_open(qn_runtime *rt, const qn_model *m, const qn_chat_options *o, qn_chat **out, qn_error *err)
{
    const qn_chat_options none = {0};
    o = o == NULL ? &none : o;
    QN_NEED(rt, err);
    QN_NEED(out, err);
    QN_NEED_IF(o->source == NULL, m, err);
    qn_chat *c = qn_zalloc(rt->budget, QN_CHAT_OWNER, sizeof(*c));
    if (c == NULL) {
        return qn_blame_ceiling(rt->budget, qn_fail(err, QN_ENOMEM, "no memory for the chat"), err);
    }
    c->rt = rt;
    c->budget = rt->budget;
    c->serial = atomic_fetch_add(&last_serial, 1) + 1;
    qn_buf_init(&c->specials, c->budget, QN_CHAT_OWNER, 1 << 20);
    qn_buf_init(&c->tokens, c->budget, QN_CHAT_OWNER, 1 << 16);
    qn_buf_init(&c->description, c->budget, QN_CHAT_OWNER, QN_CHAT_MAX_DESCRIPTION);
    qn_status status = load(c, m, o, err);
    if (status != QN_OK) {
        qn_chat_close(c);
        return qn_blame_ceiling(rt->budget, status, err);
    }
    *out = c;
    return QN_OK;
}

void qn_chat_close(qn_chat *c)
{
    if (c == NULL) {
        return;
    }
    qn_dialect_close(c->dialect);
    qn_jinja_close(c->jinja);
    qn_buf_free(&c->tokens);
    qn_buf_free(&c->description);
    qn_buf_free(&c->specials);
    qn_free(c->special);
    qn_free(c);
}

const char *qn_chat_describe(const qn_chat *c)
{
    return c->description.data;
}

/* ---- rendering ---------------------------------------------------------------------------------------- */

/* Names that transformers gives the special tokens. What they hold is the model's, not the conversation's. */
static const char *const token_names[] = {"bos_token", "eos_token",  "unk_token", "pad_token",
                                          "sep_token", "mask_token", "cls_token", NULL};

static qn_status render_once(const qn_chat *c, qn_str json, qn_arguments arguments, bool fill, bool *has_gaps,
                             qn_jinja_text *out, qn_error *err)
{
    const qn_conversation_options co = {.bos = c->bos, .eos = c->eos, .arguments = arguments, .filled_contents = fill};
    const qn_jinja_options jo = {.now = INT64_MIN, .own = token_names};
    qn_conversation *conversation;
    QN_TRY(qn_conversation_open(json, &co, c->budget, &conversation, err));
    *has_gaps = qn_conversation_has_gaps(conversation);
    qn_error why;
    qn_status status = qn_jinja_render(c->jinja, qn_conversation_vars(conversation), &jo, c->budget, out, &why);
    qn_conversation_close(conversation);
    return status == QN_OK ? QN_OK : qn_fail(err, status, "chat template: %s", why.what);
}

/* What a template cannot show as it was given is tried in the forms that it may have been written for: arguments as
 * text, where it wants them so, and an empty text for a message without content (a tool call often has none). */
static qn_status render(const qn_chat *c, qn_str json, qn_jinja_text *out, qn_error *err)
{
    bool has_gaps = false;
    qn_error first;
    qn_arguments arguments = c->text_arguments ? QN_ARGUMENTS_GIVEN : QN_ARGUMENTS_PARSED;
    qn_status status = render_once(c, json, arguments, false, &has_gaps, out, &first);
    if (status == QN_EFORMAT && c->text_arguments) {
        arguments = QN_ARGUMENTS_SPELLED;
        if (render_once(c, json, arguments, false, &has_gaps, out, NULL) == QN_OK) {
            return QN_OK;
        }
    }
    if (status == QN_EFORMAT && has_gaps && render_once(c, json, arguments, true, &has_gaps, out, NULL) == QN_OK) {
        return QN_OK;
    }
    if (status != QN_OK && err != NULL) {
        *err = first;
    }
    return status;
}

qn_status qn_chat_render(const qn_chat *c, const char *json, size_t n_bytes, qn_prompt **out, qn_error *err)
{
    QN_NEED(c, err);
    QN_NEED_IF(n_bytes != 0, json, err);
    QN_NEED(out, err);
    qn_prompt *p = qn_zalloc(c->budget, QN_CHAT_OWNER, sizeof(*p));
    if (p == NULL) {
        return qn_blame_ceiling(c->budget, qn_fail(err, QN_ENOMEM, "no memory for the prompt"), err);
    }
    qn_status status = render(c, (qn_str){json, n_bytes}, &p->rendered, err);
    if (status != QN_OK) {
        qn_free(p);
        return qn_blame_ceiling(c->budget, status, err);
    }
    *out = p;
    return QN_OK;
}

void qn_prompt_close(qn_prompt *p)
{
    if (p != NULL) {
        qn_jinja_text_free(&p->rendered);
        qn_free(p);
    }
}

const char *qn_prompt_text(const qn_prompt *p, size_t *n_bytes)
{
    if (n_bytes != NULL) {
        *n_bytes = p->rendered.text.len;
    }
    return p->rendered.text.data != NULL ? p->rendered.text.data : "";
}
