/* Sources that are JSON text: schemas, and lists of choices.
 * SPDX-License-Identifier: MIT */
#include "grammar/front_int.h"

#include <stdint.h>

/* Values in a source: one of a megabyte with nothing but small numbers has fewer. Bounds the tree's memory. */
#define MAX_VALUES ((size_t)1 << 19)

static qn_status parse(qn_gx_builder *b, const char *what, qn_str source, qn_json_doc **out, qn_error *err)
{
    qn_error why;
    qn_status status = qn_json_parse(b->budget, source.data, source.len, MAX_VALUES, out, &why);
    return status == QN_OK ? QN_OK : qn_fail(err, status, "%s: %s", what, why.what);
}

qn_status qn_front_schema_text(qn_gx_builder *b, qn_str source, const qn_schema_options *o, qn_error *err)
{
    qn_json_doc *doc;
    QN_TRY(parse(b, "schema", source, &doc, err));
    qn_status status = qn_front_schema(b, qn_json_root(doc), o, err);
    qn_json_free(doc);
    return status;
}

static qn_status read_choices(qn_gx_builder *b, const qn_json *list, qn_error *err)
{
    size_t n = qn_json_count(list);
    qn_str *choices = qn_zalloc_array(b->budget, "grammar", n, sizeof(*choices));
    if (choices == NULL) {
        qn_status status = qn_alloc_failure(b->budget, (uint64_t)n * sizeof(*choices));
        return qn_fail(err, status, "no memory for %zu choices", n);
    }
    qn_status status = QN_OK;
    for (size_t i = 0; i < n && status == QN_OK; i++) {
        const qn_json *choice = qn_json_at(list, i);
        if (qn_json_kind_of(choice) != QN_JSON_STRING) {
            status = qn_fail(err, QN_EFORMAT, "choices: item %zu is not a string", i);
        } else {
            choices[i] = qn_json_as_str(choice);
        }
    }
    status = status == QN_OK ? qn_front_choice(b, choices, n, err) : status;
    qn_free(choices);
    return status;
}

qn_status qn_front_choice_text(qn_gx_builder *b, qn_str source, qn_error *err)
{
    qn_json_doc *doc;
    QN_TRY(parse(b, "choices", source, &doc, err));
    const qn_json *list = qn_json_root(doc);
    qn_status status = qn_json_kind_of(list) == QN_JSON_ARRAY ? read_choices(b, list, err)
                                                             : qn_fail(err, QN_EFORMAT, "choices: not a list of strings");
    qn_json_free(doc);
    return status;
}
