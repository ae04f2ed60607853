/* What the files of tool calls share.
 *
 *     front_calls.c        the whole answer: reasoning, content, calls
 *     front_calls_tool.c   the list of tools, and what each takes
 *     front_calls_mark.c   marks, and text in which none stands
 *     front_calls_shape.c  one call in each shape, and several of them
 *     front_calls_tags.c   arguments that are not JSON as a whole
 *     front_calls_nested.c tags in tags
 *
 * Private to src/grammar/front_calls*.c.
 * SPDX-License-Identifier: MIT */
#ifndef QN_GRAMMAR_FRONT_CALLS_INT_H
#define QN_GRAMMAR_FRONT_CALLS_INT_H

#include "grammar/front_calls.h"
#include "grammar/front_schema_int.h"

typedef struct qn_call_tool {
    qn_str name;
    const qn_json *parameters; /* NULL: none */
    bool is_strict;
    qn_gx arguments; /* in the form that the dialect's calls have them: a reference to `rule` */
    uint32_t rule;
} qn_call_tool;

typedef struct qn_calls {
    qn_gx_builder *b;
    const qn_front_calls_options *o;
    const qn_dialect_view *d;
    const qn_syntax *syntax; /* of the calls that are made; NULL: the header says it all */
    bool is_guessed;         /* the template does not show it */
    qn_error *err;
    qn_call_tool *tools; /* those that may be called */
    uint32_t n_tools, n_listed;
    const qn_str *names;     /* of all that are listed: the reader knows them */
    bool is_lined;           /* the template writes the JSON of calls in lines */
    qn_gx none, blanks, any; /* the empty text; blanks of any number; any characters */
    qn_gx blank, edge, line; /* behind a comma or colon of JSON; elsewhere in it; around the calls of a list */
} qn_calls;

/* ---- front_calls_tool.c ---- */

qn_status qn_calls_read_tools(qn_calls *c);
void qn_calls_free_tools(qn_calls *c);
/* Which blanks JSON has in calls: one space at most behind a comma or a colon, as most templates write it, or lines
 * with an indent where this template writes these. A model that may write more of them may not stop. */
void qn_calls_find_blanks(qn_calls *c);
/* JSON's blanks in s are those that calls have. */
void qn_calls_set_blanks(qn_calls *c, qn_sx *s);
/* Sets the arguments of all tools. */
qn_status qn_calls_arguments(qn_calls *c);

/* ---- front_calls_mark.c ---- */

qn_gx qn_calls_text(qn_calls *c, qn_str text);      /* as it is, with special tokens */
qn_gx qn_calls_spelled(qn_calls *c, qn_str core);   /* all texts that the reader takes for the mark */
qn_gx qn_calls_mark(qn_calls *c, const qn_mark *m); /* without whitespace at its edges; empty for no mark */
qn_gx qn_calls_maybe(qn_calls *c, qn_str text);     /* this text or none */
/* Whether it begins with a special token. */
bool qn_calls_is_special(const qn_calls *c, qn_str text);
/* Whether a token in it ends a generation. */
bool qn_calls_is_end(const qn_calls *c, qn_str text);
static inline qn_gx qn_calls_cat(qn_calls *c, const qn_gx *parts, uint32_t n)
{
    return qn_gx_cat(c->b, parts, n);
}

/* Free text: content in which no mark stands that the reader takes for something else; reasoning, up to the mark that
 * closes it. next: a mark that follows, or NULL; a text that would end as that mark begins, so that the reader would
 * find it too early, is left out. */
qn_gx qn_calls_content(qn_calls *c, const qn_mark *next);
qn_gx qn_calls_reasoning(qn_calls *c, const qn_mark *next);
/* A mark that ends with what it begins with is found earlier than it was written, behind certain texts. */
bool qn_calls_overlaps(qn_str core);

/* ---- front_calls_tags.c: what nested tags need too ---- */

/* One tool's arguments while they are put together. */
typedef struct qn_call_tags {
    qn_calls *c;
    const qn_call_tool *tool;
    qn_sx json, raw; /* values as JSON, and strings as they are */
    qn_schema_options o;
    qn_error *err;
} qn_call_tags;

/* Values of a parameter as text between marks: strings as they are, unless a reader that knows these types (QN_READ_*)
 * would take them for something else; JSON of these types (QN_ST_*). */
qn_status qn_tags_string(qn_call_tags *t, unsigned reader, const qn_schema_item *items, size_t n, qn_gx *out);
qn_status qn_tags_json(qn_call_tags *t, unsigned types, const qn_schema_item *items, size_t n, qn_gx *out);
/* QN_ST_* for QN_READ_*. */
unsigned qn_tags_types(unsigned reader);
/* QN_EUNSUPPORTED: a parameter's name that cannot stand between marks. */
qn_status qn_tags_check_key(qn_call_tags *t, qn_str name);

/* ---- front_calls_nested.c ---- */

/* The parameters of a call whose values have tags inside of them. */
qn_status qn_tags_nested(qn_call_tags *t, qn_gx *out);

/* ---- front_calls_tags.c ---- */

/* The arguments of a tool that has parameters, in calls that are TAGGED, NESTED, BRACES or PYTHON. */
qn_status qn_calls_marked(qn_calls *c, const qn_call_tool *tool, qn_gx *out, qn_error *err);

/* ---- front_calls_shape.c ---- */

/* QN_EUNSUPPORTED: calls of this shape are not enforced. */
qn_status qn_calls_check_shape(qn_calls *c);
/* One call, of any tool, without sections; of tool i alone. */
qn_gx qn_calls_of(qn_calls *c, uint32_t i);
/* One call or several, with all that stands around them. at_start: nothing stands before, so whitespace may. */
qn_gx qn_calls_all(qn_calls *c, bool at_start);

#endif
