/* The objects behind the chat calls of quern.h. Private to engine. SPDX-License-Identifier: MIT */
#ifndef QN_ENGINE_CHAT_INT_H
#define QN_ENGINE_CHAT_INT_H

#include "engine/engine_int.h"
#include "text/chat/answer.h"
#include "text/chat/conversation.h"

#define QN_CHAT_OWNER "chat"
#define QN_CHAT_MAX_DESCRIPTION ((size_t)1 << 20) /* bytes; it quotes marks, which are pieces of the template */

/* A special token of the model that stands in a mark of the template. */
typedef struct qn_chat_special {
    qn_span text; /* in specials */
    bool ends;    /* it ends a generation */
} qn_chat_special;

struct qn_chat {
    qn_runtime *rt;
    qn_budget *budget;
    uint64_t serial; /* no two chats of a process have the same */
    qn_jinja *jinja;
    qn_dialect *dialect;
    qn_str bos, eos;     /* how those tokens are spelled; copies, in tokens */
    bool text_arguments; /* the template wants arguments of calls as text */
    qn_buf tokens, description;
    qn_buf specials;
    qn_chat_special *special;
    size_t n_specials;
};

/* call_format.c: finds c's specials. m may be NULL: there are none. */
qn_status qn_chat_find_specials(qn_chat *c, const qn_model *m, qn_error *err);

struct qn_prompt {
    qn_jinja_text rendered;
};

#endif
