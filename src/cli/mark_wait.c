/* Finding a mark wherever the borders of tokens lie. SPDX-License-Identifier: MIT */
#include "cli/mark_wait.h"

#include "cli/input.h"

#define QN_MARK_TOKEN_BYTES 4096 /* of one token; the longest of real vocabularies are runs of some hundred blanks */

void qn_mark_wait_begin(qn_mark_wait *w, const char *mark)
{
    w->mark = mark != NULL && mark[0] != '\0' ? mark : NULL;
    qn_buf_init(&w->tail, NULL, QN_INPUT_OWNER, QN_INPUT_MAX_BYTES);
}

void qn_mark_wait_end(qn_mark_wait *w)
{
    w->mark = NULL;
    qn_buf_free(&w->tail);
}

static bool is_blank(const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (memchr(" \t\r\n", bytes[i], 4) == NULL) {
            return false;
        }
    }
    return true;
}

qn_status qn_mark_wait_add(qn_mark_wait *w, const qn_model *m, int32_t id, qn_error *err)
{
    char bytes[QN_MARK_TOKEN_BYTES];
    size_t n;
    QN_TRY(qn_detokenize(m, &id, 1, QN_TEXT_PARSE_SPECIAL, bytes, sizeof(bytes), &n, err));
    qn_buf_add(&w->tail, bytes, n);
    if (w->tail.status != QN_OK) {
        return qn_fail(err, w->tail.status, "no memory for the end of the text");
    }
    size_t n_mark = strlen(w->mark);
    for (size_t i = 0; i + n_mark <= w->tail.len; i++) {
        if (memcmp(w->tail.data + i, w->mark, n_mark) == 0) {
            size_t after = i + n_mark;
            if (!is_blank(w->tail.data + after, w->tail.len - after)) {
                return qn_fail(err, QN_EUNSUPPORTED,
                               "the mark '%s' came in the middle of a token: no format can begin behind it", w->mark);
            }
            w->mark = NULL;
            return QN_OK;
        }
    }
    size_t n_kept = w->tail.len < n_mark ? w->tail.len : n_mark - 1;
    if (n_kept > 0) {
        memmove(w->tail.data, w->tail.data + w->tail.len - n_kept, n_kept);
    }
    w->tail.len = n_kept;
    return QN_OK;
}
