/* Pages: carving, free lists, and the lists of each sequence. SPDX-License-Identifier: MIT */
#include "kv/kv.h"

#include "base/checked.h"

#include <assert.h>
#include <string.h>

/* A free page holds the link to the next one. */
typedef struct free_page {
    struct free_page *next;
} free_page;

struct qn_kv {
    const qn_kv_layout *layout;
    qn_budget *budget;
    uint8_t *memory;
    uint64_t bytes, carved; /* memory[carved, bytes) was never handed out */
    free_page *free[QN_KV_MAX_GROUPS][2]; /* plain pages, pages of codes */
    uint64_t n_in_use;
};

qn_status qn_kv_open(const qn_kv_layout *layout, uint64_t max_bytes, qn_budget *b, qn_kv **out, qn_error *err)
{
    qn_kv *kv = qn_zalloc(b, "kv", sizeof(*kv));
    if (kv == NULL) {
        return qn_fail(err, QN_ENOMEM, "no memory for the KV cache");
    }
    *kv = (qn_kv){.layout = layout, .budget = b, .bytes = max_bytes};
    kv->memory = max_bytes > SIZE_MAX ? NULL : qn_zalloc(b, "kv", (size_t)max_bytes);
    if (kv->memory == NULL) {
        qn_free(kv);
        return qn_fail(err, qn_alloc_failure(b, max_bytes), "no memory for %llu bytes of KV cache",
                       (unsigned long long)max_bytes);
    }
    *out = kv;
    return QN_OK;
}

void qn_kv_close(qn_kv *kv)
{
    if (kv == NULL) {
        return;
    }
    assert(kv->n_in_use == 0);
    qn_free(kv->memory);
    qn_free(kv);
}

uint64_t qn_kv_pages_in_use(const qn_kv *kv)
{
    return kv->n_in_use;
}

static uint64_t pages_for(const qn_kv_layout *layout, uint64_t n_tokens)
{
    return (n_tokens + layout->page_tokens - 1) / layout->page_tokens;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Bytes of the pages that one sequence holds of a group at most: n_live at a time, of n_all from its first token to its
 * last. A plain page's memory does not become that of codes while others are in use, so each kind counts with its own
 * peak. */
static bool group_bytes(const qn_kv_layout *layout, uint32_t g, uint64_t n_all, uint64_t n_live, uint64_t *bytes)
{
    const qn_kv_group *group = &layout->groups[g];
    uint64_t n_plain = least(n_all, qn_kv_plain_pages(layout, group->window));
    uint64_t plain, codes;
    return qn_mul_u64(least(n_live, n_plain), group->page_bytes, &plain) &&
           qn_mul_u64(least(n_live, n_all - n_plain), group->code_bytes, &codes) && qn_add_u64(plain, codes, bytes);
}

uint64_t qn_kv_worst_bytes(const qn_kv_layout *layout, uint32_t n_ctx, uint32_t n_batch, uint32_t n_seqs)
{
    uint64_t sum = 0;
    for (uint32_t g = 0; g < layout->n_groups; g++) {
        uint64_t n_all = pages_for(layout, n_ctx), n_live = n_all, bytes;
        if (layout->groups[g].window != 0) {
            /* the window behind the first row of a step, the step itself, and a part of a page at either end */
            n_live = least(n_all, pages_for(layout, (uint64_t)layout->groups[g].window + n_batch) + 1);
        }
        if (!group_bytes(layout, g, n_all, n_live, &bytes) || !qn_mul_u64(bytes, n_seqs, &bytes) ||
            !qn_add_u64(sum, bytes, &sum)) {
            return UINT64_MAX;
        }
    }
    return sum;
}

static bool is_code_page(const qn_kv *kv, uint32_t g, uint32_t i_page)
{
    return i_page >= qn_kv_plain_pages(kv->layout, kv->layout->groups[g].window);
}

static uint8_t *take_page(qn_kv *kv, uint32_t g, uint32_t i_page)
{
    uint8_t *page = NULL;
    bool is_code = is_code_page(kv, g, i_page);
    uint64_t bytes = is_code ? kv->layout->groups[g].code_bytes : kv->layout->groups[g].page_bytes;
    free_page **list = &kv->free[g][is_code];
    if (*list != NULL) {
        page = (uint8_t *)*list;
        *list = (*list)->next;
    } else if (kv->bytes - kv->carved >= bytes) {
        page = kv->memory + kv->carved;
        kv->carved += bytes;
    }
    kv->n_in_use += page != NULL;
    return page;
}

static void give_page(qn_kv *kv, uint32_t g, uint32_t i_page, uint8_t *page)
{
    free_page *f = (free_page *)(void *)page;
    free_page **list = &kv->free[g][is_code_page(kv, g, i_page)];
    f->next = *list;
    *list = f;
    kv->n_in_use--;
    if (kv->n_in_use == 0) { /* all is free: the memory may be cut anew, into other groups' pages */
        memset(kv->free, 0, sizeof(kv->free));
        kv->carved = 0;
    }
}

qn_status qn_kv_seq_fit(qn_kv *kv, qn_kv_seq *s, qn_error *err)
{
    const qn_kv_layout *l = kv->layout;
    if (l->n_means != 0 && s->means == NULL) {
        s->means = qn_zalloc_array(kv->budget, "kv", l->n_means, sizeof(float));
    }
    if (l->recent_bytes != 0 && s->recent == NULL) {
        s->recent = l->recent_bytes > SIZE_MAX ? NULL : qn_zalloc(kv->budget, "kv", (size_t)l->recent_bytes);
    }
    return (l->n_means == 0 || s->means != NULL) && (l->recent_bytes == 0 || s->recent != NULL)
               ? QN_OK
               : qn_fail(err, QN_ENOMEM, "no memory for the means and the last tokens of a sequence");
}

qn_status qn_kv_seq_init(qn_kv *kv, qn_kv_seq *s, uint32_t n_ctx, qn_error *err)
{
    *s = (qn_kv_seq){.max_pages = (uint32_t)pages_for(kv->layout, n_ctx)};
    for (uint32_t g = 0; g < kv->layout->n_groups; g++) {
        s->pages[g] = qn_zalloc_array(kv->budget, "kv", s->max_pages, sizeof(uint8_t *));
        if (s->pages[g] == NULL) {
            qn_kv_seq_free(kv, s);
            return qn_fail(err, QN_ENOMEM, "no memory for the page table of %u tokens", n_ctx);
        }
    }
    qn_status status = qn_kv_seq_fit(kv, s, err);
    if (status != QN_OK) {
        qn_kv_seq_free(kv, s);
    }
    return status;
}

/* Frees pages from page `end` on. */
static void drop_tail(qn_kv *kv, qn_kv_seq *s, uint32_t g, uint32_t end)
{
    while (s->end[g] > end && s->end[g] > s->first[g]) {
        uint8_t **p = &s->pages[g][--s->end[g]];
        give_page(kv, g, s->end[g], *p);
        *p = NULL;
    }
}

void qn_kv_seq_free(qn_kv *kv, qn_kv_seq *s)
{
    for (uint32_t g = 0; g < kv->layout->n_groups; g++) {
        drop_tail(kv, s, g, 0);
        qn_free(s->pages[g]);
        s->pages[g] = NULL;
    }
    qn_free(s->means);
    qn_free(s->recent);
    *s = (qn_kv_seq){0};
}

/* Frees the pages that no token stands in. */
static void drop_reserved(qn_kv *kv, qn_kv_seq *s)
{
    for (uint32_t g = 0; g < kv->layout->n_groups; g++) {
        drop_tail(kv, s, g, (uint32_t)pages_for(kv->layout, s->length));
    }
}

void qn_kv_seq_cancel(qn_kv *kv, qn_kv_seq *s)
{
    drop_reserved(kv, s);
    s->n_recent = 0;
}

qn_status qn_kv_seq_reserve(qn_kv *kv, qn_kv_seq *s, uint32_t n_tokens, qn_error *err)
{
    uint64_t end = pages_for(kv->layout, (uint64_t)s->length + n_tokens);
    if (end > s->max_pages) {
        return qn_fail(err, QN_ERANGE, "%u tokens after %u do not fit in the context", n_tokens, s->length);
    }
    for (uint32_t g = 0; g < kv->layout->n_groups; g++) {
        while (s->end[g] < end) {
            uint8_t *page = take_page(kv, g, s->end[g]);
            if (page == NULL) {
                drop_reserved(kv, s);
                return qn_fail(err, QN_EFULL, "no KV page left for %u more tokens", n_tokens);
            }
            s->pages[g][s->end[g]++] = page;
        }
    }
    return QN_OK;
}

/* The first position that a row at position pos sees. */
static uint32_t first_visible(uint32_t window, uint32_t pos)
{
    return window != 0 && pos + 1 > window ? pos + 1 - window : 0;
}

void qn_kv_seq_commit(qn_kv *kv, qn_kv_seq *s, uint32_t n_tokens)
{
    s->length += n_tokens;
    s->n_recent = (uint32_t)least((uint64_t)s->n_recent + n_tokens, kv->layout->n_recent);
    for (uint32_t g = 0; g < kv->layout->n_groups; g++) {
        uint32_t keep = first_visible(kv->layout->groups[g].window, s->length) / kv->layout->page_tokens;
        for (; s->first[g] < keep && s->first[g] < s->end[g]; s->first[g]++) {
            give_page(kv, g, s->first[g], s->pages[g][s->first[g]]);
            s->pages[g][s->first[g]] = NULL;
        }
    }
}

qn_status qn_kv_seq_truncate(qn_kv *kv, qn_kv_seq *s, uint32_t n_keep, qn_error *err)
{
    if (n_keep > s->length) {
        return qn_fail(err, QN_ERANGE, "cannot keep %u tokens of %u", n_keep, s->length);
    }
    for (uint32_t g = 0; g < kv->layout->n_groups && n_keep != 0; g++) {
        uint32_t needed = first_visible(kv->layout->groups[g].window, n_keep) / kv->layout->page_tokens;
        if (needed < s->first[g]) {
            return qn_fail(err, QN_ERANGE, "cannot go back to token %u: the window of %u tokens has moved on", n_keep,
                           kv->layout->groups[g].window);
        }
    }
    for (uint32_t g = 0; g < kv->layout->n_groups; g++) {
        drop_tail(kv, s, g, (uint32_t)pages_for(kv->layout, n_keep));
        if (n_keep == 0) {
            s->first[g] = s->end[g] = 0;
        }
    }
    s->n_recent -= (uint32_t)least(s->n_recent, s->length - n_keep);
    s->length = n_keep;
    return QN_OK;
}
