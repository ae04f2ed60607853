/* The pool: items that only grow in number, and copies of it.
 * SPDX-License-Identifier: MIT */
#include "grammar/regular_int.h"

bool qn_vec_room(qn_budget *b, qn_status *status, qn_rx_vec *v, uint32_t n, uint32_t limit, size_t item_bytes)
{
    if (*status != QN_OK) {
        return false;
    }
    if (n > limit - v->n) {
        *status = QN_EFULL;
        return false;
    }
    if (v->n + n <= v->cap) {
        return true;
    }
    uint32_t wanted = v->cap < 16 ? 16 : v->cap > limit / 2 ? limit : v->cap * 2;
    wanted = wanted < v->n + n ? v->n + n : wanted;
    void *moved = qn_realloc(b, QN_RX_OWNER, v->items, (size_t)wanted * item_bytes);
    if (moved == NULL) {
        *status = qn_alloc_failure(b, (uint64_t)wanted * item_bytes);
        return false;
    }
    v->items = moved;
    v->cap = wanted;
    return true;
}

qn_status qn_rx_open(qn_rx_pool *p, qn_budget *b)
{
    *p = (qn_rx_pool){.budget = b};
    qn_rx_node never = {.kind = QN_RX_K_NEVER, .min_len = UINT32_MAX};
    if (qn_vec_add(b, &p->status, &p->nodes, &never, QN_RX_MAX_NODES, sizeof(never))) {
        bool is_new;
        qn_rx_intern(p, &(qn_rx_node){.kind = QN_RX_K_EPS, .is_null = true}, &is_new);
    }
    return p->status;
}

static bool copy_vec(qn_rx_pool *to, qn_rx_vec *v, const qn_rx_vec *from, size_t item_bytes)
{
    if (from->n != 0) {
        if (!qn_rx_room(to, v, from->n, item_bytes)) {
            return false;
        }
        memcpy(v->items, from->items, (size_t)from->n * item_bytes);
        v->n = from->n;
    }
    return true;
}

qn_status qn_rx_copy(const qn_rx_pool *from, qn_budget *b, qn_rx_pool *to)
{
    *to = (qn_rx_pool){.budget = b, .n_states = from->n_states, .n_specials = from->n_specials};
    bool good = copy_vec(to, &to->nodes, &from->nodes, sizeof(qn_rx_node)) &&
                copy_vec(to, &to->runs, &from->runs, sizeof(qn_rx_run)) &&
                copy_vec(to, &to->kids, &from->kids, sizeof(qn_rx)) &&
                copy_vec(to, &to->heads, &from->heads, sizeof(qn_rx_head)) &&
                copy_vec(to, &to->calls, &from->calls, sizeof(qn_rx_call)) &&
                copy_vec(to, &to->text, &from->text, 1) &&
                copy_vec(to, &to->rules, &from->rules, sizeof(qn_rx_rule)) &&
                copy_vec(to, &to->loops, &from->loops, sizeof(qn_rx_loop)) &&
                copy_vec(to, &to->lengths, &from->lengths, sizeof(uint16_t));
    if (good) {
        to->slots = qn_alloc(b, QN_RX_OWNER, from->n_slots * sizeof(*to->slots));
        if (to->slots != NULL) {
            memcpy(to->slots, from->slots, from->n_slots * sizeof(*to->slots));
            to->n_slots = from->n_slots;
            return QN_OK;
        }
        to->status = qn_alloc_failure(b, from->n_slots * sizeof(*to->slots));
    }
    qn_status status = to->status;
    qn_rx_close(to);
    return status;
}

void qn_rx_close(qn_rx_pool *p)
{
    qn_rx_vec *all[] = {&p->nodes, &p->runs, &p->kids, &p->heads, &p->calls, &p->text, &p->rules, &p->loops,
                        &p->lengths, &p->loop_bytes, &p->scratch_runs, &p->scratch_calls, &p->scratch_kids, &p->scratch_spine};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        qn_free(all[i]->items);
        *all[i] = (qn_rx_vec){0};
    }
    qn_free(p->slots);
    p->slots = NULL;
    p->n_slots = 0;
}

uint64_t qn_rx_bytes(const qn_rx_pool *p)
{
    return (uint64_t)p->nodes.cap * sizeof(qn_rx_node) + (uint64_t)p->runs.cap * sizeof(qn_rx_run) +
           (uint64_t)p->kids.cap * sizeof(qn_rx) + (uint64_t)p->heads.cap * sizeof(qn_rx_head) +
           (uint64_t)p->calls.cap * sizeof(qn_rx_call) + p->text.cap + (uint64_t)p->n_slots * sizeof(*p->slots) +
           (uint64_t)p->lengths.cap * sizeof(uint16_t) + (uint64_t)p->loop_bytes.cap * sizeof(uint32_t);
}
