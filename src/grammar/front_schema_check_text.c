/* Whether a known string satisfies a keyword: lengths, patterns, formats.
 * SPDX-License-Identifier: MIT */
#include "base/unicode.h"
#include "grammar/front_schema_int.h"

static qn_status text_holds(qn_sx *s, const qn_json *schema, const char *keyword, qn_str source, bool is_format,
                            qn_str text, bool *holds)
{
    qn_gx_builder b;
    qn_gx_init(&b, s->b->budget);
    qn_gx x;
    qn_error err;
    qn_status status =
        is_format ? qn_front_format(&b, source, false, &x, &err) : qn_front_pattern(&b, source, true, false, &x, &err);
    if (status == QN_OK) {
        status = qn_front_match(&b, x, text, holds);
        if (status != QN_OK) {
            status = qn_sx_fail(s, status, schema, keyword, "a text is too long to be matched");
        }
    } else if (status == QN_ENOTFOUND) {
        status = qn_sx_fail(s, QN_EUNSUPPORTED, schema, keyword, QN_SX_NO_FORMAT);
    } else {
        status = qn_sx_fail(s, status, schema, keyword, err.what);
    }
    qn_gx_free(&b);
    return status;
}

qn_status qn_sx_pattern_holds(qn_sx *s, const qn_json *schema, const char *keyword, qn_str pattern, qn_str text,
                              bool *holds)
{
    QN_TRY(qn_sx_step(s, 20 + pattern.len / 4 + text.len / 4));
    return text_holds(s, schema, keyword, pattern, false, text, holds);
}

static qn_status format_holds(qn_sx *s, const qn_json *schema, qn_str format, qn_str text, bool *holds)
{
    bool is_near = false;
    const char *other = qn_sx_other_format(format), *low, *high;
    if (other != NULL) {
        return text_holds(s, schema, "format", qn_str_of(other), false, text, holds);
    }
    if (qn_sx_number_format(format, &low, &high)) {
        return QN_OK;
    }
    QN_TRY(qn_sx_step(s, 200));
    QN_TRY(text_holds(s, schema, "format", format, true, text, holds));
    const char *loose = *holds ? NULL : qn_sx_loose_format(format);
    if (loose != NULL) {
        QN_TRY(text_holds(s, schema, "format", qn_str_of(loose), false, text, &is_near));
    }
    return !is_near ? QN_OK
                    : qn_sx_fail(s, QN_EUNSUPPORTED, schema, "format",
                                 "it cannot be told whether a value that is listed (enum, const) is of this format");
}

static uint32_t length_of(qn_str text)
{
    uint32_t n = 0, cp;
    for (size_t i = 0; i < text.len; n++) {
        i += qn_unicode_decode(text.data + i, text.len - i, &cp);
    }
    return n;
}

bool qn_sx_count_holds(const qn_json *limit, bool is_max, size_t n)
{
    int64_t most;
    return !qn_json_as_i64(limit, &most) || (is_max ? (int64_t)n <= most : (int64_t)n >= most);
}

qn_status qn_sx_string_holds(qn_sx *s, const qn_json *schema, qn_schema_keyword k, const qn_json *v, qn_str text,
                             bool *holds)
{
    switch (k) {
    case QN_SK_MIN_LENGTH:
        *holds = qn_sx_count_holds(v, false, length_of(text));
        return QN_OK;
    case QN_SK_MAX_LENGTH:
        *holds = qn_sx_count_holds(v, true, length_of(text));
        return QN_OK;
    case QN_SK_PATTERN:
        return qn_sx_pattern_holds(s, schema, "pattern", qn_json_as_str(v), text, holds);
    case QN_SK_FORMAT:
        return format_holds(s, schema, qn_json_as_str(v), text, holds);
    default:
        return QN_OK;
    }
}
