/* The objects behind the chat calls of quern.h. Private to engine. SPDX-License-Identifier: MIT */
#ifndef QN_ENGINE_CHAT_INT_H
#define QN_ENGINE_CHAT_INT_H

#include "engine/engine_int.h"
#include "text/chat/answer.h"
#include "text/chat/conversation.h"

#define QN_CHAT_OWNER "chat"
#define QN_CHAT_MAX_DESCRIPTION ((size_t)1 << 20) /* bytes; it quotes marks, which are pieces of the template */

struct qn_chat {
    qn_budget *budget;
    qn_jinja *jinja;
    qn_dialect *dialect;
    qn_str bos, eos;     /* how those tokens are spelled; copies, in tokens */
    bool text_arguments; /* the template wants arguments of calls as text */
    qn_buf tokens, description;
};

struct qn_prompt {
    qn_jinja_text rendered;
};

#endif
