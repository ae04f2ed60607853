/* What the answers of a conversation must look like: --grammar and its like, or --tools and --tool-choice.
 * SPDX-License-Identifier: MIT */
#ifndef QN_CLI_TALK_FORMAT_H
#define QN_CLI_TALK_FORMAT_H

#include "cli/talk.h"

/* Reads --tool-choice, once the format and the tools are known. QN_EINVAL: wrong usage. */
qn_status qn_talk_format_check(qn_talk *t, qn_error *err);

/* Looks at the template's marks, for a format. QN_EINVAL: its answers cannot have one. */
qn_status qn_talk_format_marks(qn_talk *t, qn_error *err);

/* Sets the format of the answer to what was rendered. Says once on standard error when calls of tools cannot be held to
 * what the tools allow; QN_EUNSUPPORTED: they were demanded. */
qn_status qn_talk_format_choose(qn_talk *t, qn_error *err);

#endif
