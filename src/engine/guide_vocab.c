/* A model's vocabulary as guides need it: prepared once, by the first guide.
 * SPDX-License-Identifier: MIT */
#include "engine/guide_int.h"

qn_status qn_guide_vocab_open(qn_budget *b, qn_guide_vocab **out, qn_error *err)
{
    qn_guide_vocab *v = qn_zalloc(b, QN_GUIDE_OWNER, sizeof(*v));
    if (v == NULL) {
        return qn_fail(err, qn_alloc_failure(b, sizeof(*v)), "no memory for the model");
    }
    qn_os_mutex_init(&v->lock);
    *out = v;
    return QN_OK;
}

void qn_guide_vocab_close(qn_guide_vocab *v)
{
    if (v != NULL) {
        qn_grammar_vocab_close(v->grammar);
        qn_os_mutex_destroy(&v->lock);
        qn_free(v);
    }
}

/* Bytes that stand in no UTF-8 need no token. */
static qn_status has_bytes(const qn_grammar_vocab *v, bool *has)
{
    *has = true;
    for (unsigned byte = 0; byte < 0xf5 && *has; byte++) {
        int32_t id;
        uint32_t n;
        char c = (char)byte;
        bool is_used = byte != 0xc0 && byte != 0xc1;
        qn_status status = is_used ? qn_grammar_vocab_cut(v, (qn_str){&c, 1}, &id, &n) : QN_OK;
        if (status != QN_OK && status != QN_ENOTFOUND) {
            return status;
        }
        *has = status == QN_OK;
    }
    return QN_OK;
}

static qn_status prepare(const qn_model *m, qn_guide_vocab *v, qn_error *err)
{
    qn_grammar_vocab *made;
    QN_TRY(qn_grammar_vocab_open(m->tokenizer, m->rt->budget, &made, err));
    qn_status status = has_bytes(made, &v->has_bytes);
    if (status != QN_OK) {
        qn_grammar_vocab_close(made);
        return qn_fail(err, status, "no memory to prepare the vocabulary");
    }
    v->grammar = made;
    return QN_OK;
}

qn_status qn_guide_vocab_need(const qn_model *m, qn_error *err)
{
    qn_guide_vocab *v = m->guide_vocab;
    qn_os_mutex_lock(&v->lock);
    qn_status status = v->grammar != NULL ? QN_OK : prepare(m, v, err);
    qn_os_mutex_unlock(&v->lock);
    return status;
}
