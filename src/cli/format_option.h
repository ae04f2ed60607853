/* What a text must look like, as --grammar, --json-schema, --regex or --choice says it. SPDX-License-Identifier: MIT */
#ifndef QN_CLI_FORMAT_OPTION_H
#define QN_CLI_FORMAT_OPTION_H

#include "cli/generation.h"

typedef struct qn_format_source {
    qn_format_kind kind;
    const char *flag; /* "json-schema", or NULL: none was given */
    const char *path; /* of the file that it was read from, or NULL */
    qn_buf text;
} qn_format_source;

/* Reads what the options give, perhaps from a file; at most one of them may be given. On failure, too,
 * qn_format_source_free() is due. QN_EINVAL: wrong usage; QN_EIO: a file that cannot be read. */
qn_status qn_format_source_read(qn_format_source *s, const qn_options *o, qn_error *err);
/* The same from a file whose ending tells what it holds: .json a schema, .gbnf a grammar. */
qn_status qn_format_source_file(qn_format_source *s, const char *path, qn_error *err);
void qn_format_source_free(qn_format_source *s);

/* Compiles it. The error begins with the flag and the file. QN_EINVAL: what was written is at fault. */
qn_status qn_format_source_compile(const qn_format_source *s, const qn_options *o, qn_runtime *rt, qn_format **out,
                                   qn_error *err);

/* Reads and compiles in one; *out stays as it is when nothing is asked for. */
qn_status qn_format_option_open(const qn_options *o, qn_runtime *rt, qn_format **out, qn_error *err);

/* Makes it the format of g's texts; NULL: any text will do. QN_EINVAL: it names a token that the model lacks. */
qn_status qn_format_option_set(qn_generation *g, qn_format *f, qn_error *err);

#endif
