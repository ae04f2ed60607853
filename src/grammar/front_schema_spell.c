/* How values are spelled: JSON, or as calls of tools have them where that is not JSON.
 * SPDX-License-Identifier: MIT */
#include "grammar/front_schema_int.h"

#define MAX_BARE_NAME 64

static bool is_bare(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.' || c == '$';
}

void qn_sx_respell(qn_sx *s, const qn_sx_spelling *spelling, qn_gx quote)
{
    qn_gx_builder *b = s->b;
    s->spelling = *spelling;
    s->quote = quote;
    s->any_char = qn_front_any(b, !spelling->is_raw);
    s->json_char = spelling->is_raw ? s->any_char : qn_front_json_char(b);
    qn_gx inside = qn_gx_repeat(b, s->json_char, 0, QN_GX_NO_MAX);
    if (spelling->shut.len != 0) {
        inside = qn_gx_and(b, inside, qn_gx_not(b, spelling->shut_text));
    }
    uint32_t rule = qn_gx_rule_new(b, QN_STR("any string"));
    qn_gx_rule_define(b, rule, qn_gx_cat(b, (qn_gx[]){quote, inside, quote}, 3));
    s->any_text = qn_gx_rule_ref(b, rule);
}

static qn_status fail_text(qn_sx *s, qn_str text)
{
    return qn_fail(s->err, QN_EUNSUPPORTED, "schema: \"%.*s\" cannot be told from the marks around it",
                   (int)(text.len < 80 ? text.len : 80), text.data);
}

/* As JSON, with those escapes alone that must be. */
static qn_gx plain_text(qn_sx *s, qn_str text)
{
    qn_buf json;
    qn_json_writer w;
    qn_buf_init(&json, s->b->budget, "grammar", SIZE_MAX);
    qn_json_writer_init(&w, &json);
    qn_json_string(&w, text);
    qn_gx out = 0;
    if (json.status == QN_OK) {
        out = qn_gx_bytes(s->b, (qn_str){json.data + 1, json.len - 2});
    } else if (s->b->status == QN_OK) {
        s->b->status = json.status;
    }
    qn_buf_free(&json);
    return out;
}

qn_status qn_sx_text(qn_sx *s, qn_str text, qn_gx *out)
{
    if (s->spelling.shut.len != 0) {
        bool holds;
        QN_TRY(qn_front_match(s->b, s->spelling.shut_text, text, &holds));
        if (holds) {
            return fail_text(s, text);
        }
    }
    *out = s->o->plain && !s->spelling.is_raw ? plain_text(s, text)
                                              : qn_front_literal(s->b, text, !s->spelling.is_raw);
    return QN_OK;
}

qn_status qn_sx_key(qn_sx *s, qn_str name, qn_gx *out)
{
    qn_gx text;
    bool is_good = !s->spelling.has_bare_keys || (name.len > 0 && name.len <= MAX_BARE_NAME);
    for (size_t i = 0; i < name.len && s->spelling.has_bare_keys; i++) {
        is_good = is_good && is_bare(name.data[i]);
    }
    if (!is_good) {
        return fail_text(s, name);
    }
    QN_TRY(qn_sx_text(s, name, &text));
    *out = qn_sx_key_of(s, text);
    return QN_OK;
}

qn_gx qn_sx_key_of(qn_sx *s, qn_gx name)
{
    return s->spelling.has_bare_keys ? name : qn_gx_cat(s->b, (qn_gx[]){s->quote, name, s->quote}, 3);
}

qn_gx qn_sx_names(qn_sx *s, bool is_plain)
{
    static const qn_gx_range bare[] = {{'a', 'z'}, {'A', 'Z'}, {'0', '9'}, {'_', '_'}, {'-', '-'}};
    qn_gx_builder *b = s->b;
    if (s->spelling.has_bare_keys) {
        return qn_gx_repeat(b, qn_gx_class(b, bare, 5), 1, MAX_BARE_NAME);
    }
    qn_gx all = qn_gx_repeat(b, is_plain ? s->json_char : s->any_char, 0, QN_GX_NO_MAX);
    return s->spelling.shut.len == 0 ? all : qn_gx_and(b, all, qn_gx_not(b, s->spelling.shut_text));
}

qn_gx qn_sx_word(qn_sx *s, const char *word)
{
    qn_gx_builder *b = s->b;
    qn_gx json = qn_gx_bytes(b, qn_str_of(word));
    if (!s->spelling.is_loose) {
        return json;
    }
    const char *python = word[0] == 'n' ? "None" : word[0] == 't' ? "True" : "False";
    return qn_gx_alt(b, (qn_gx[]){json, qn_gx_bytes(b, qn_str_of(python))}, 2);
}
