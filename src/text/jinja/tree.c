/* Memory of a template's tree, its interned names, its errors.
 * SPDX-License-Identifier: MIT */
#include "base/checked.h"
#include "text/jinja/node.h"

#include <stdarg.h>
#include <stdio.h>

#define BLOCK_BYTES (16u << 10) /* of the first block; the next ones are as large as all before them, up to a limit */
#define MAX_BLOCK_BYTES (1u << 20)

typedef struct block {
    struct block *next;
    size_t bytes;
} block;

void *qn_tree_alloc(qn_tree *t, size_t bytes)
{
    size_t need;
    if (!qn_add_size(bytes, 15, &need)) {
        qn_fail(t->err, QN_ENOMEM, "a template: out of memory");
        return NULL;
    }
    need &= ~(size_t)15;
    if (need > t->room || t->blocks == NULL) {
        block *first = t->blocks;
        size_t size = first == NULL                        ? BLOCK_BYTES
                      : first->bytes < MAX_BLOCK_BYTES / 2 ? first->bytes * 2
                                                           : MAX_BLOCK_BYTES;
        size_t total;
        size = size < need ? need : size;
        block *b = qn_add_size(size, sizeof(block), &total) ? qn_zalloc(t->budget, "jinja", total) : NULL;
        if (b == NULL) {
            qn_fail(t->err, qn_alloc_failure(t->budget, size), "a template: no memory for %zu bytes", size);
            return NULL;
        }
        b->next = first;
        b->bytes = size;
        t->blocks = b;
        t->free = (char *)(b + 1);
        t->room = size;
    }
    void *p = t->free;
    t->free += need;
    t->room -= need;
    return p;
}

void qn_tree_free(qn_tree *t)
{
    for (block *b = t->blocks; b != NULL;) {
        block *next = b->next;
        qn_free(b);
        b = next;
    }
    t->blocks = NULL;
    t->room = 0;
}

qn_status qn_tree_fail(qn_tree *t, uint32_t line, const char *fmt, ...)
{
    char text[QN_ERROR_TEXT];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    return qn_fail(t->err, QN_EFORMAT, "line %u: %s", line, text);
}

/* Starts from the tree's address, so that a template cannot be made of names that share a slot. */
static uint64_t hash(const qn_tree *t, qn_str s)
{
    uint64_t h = (uint64_t)(uintptr_t)t * 0x9E3779B97F4A7C15u;
    for (size_t i = 0; i < s.len; i++) {
        h = (h ^ (uint8_t)s.data[i]) * 0xFF51AFD7ED558CCDu;
        h ^= h >> 29;
    }
    return h;
}

static bool grow_names(qn_tree *t)
{
    uint32_t n_slots = t->n_name_slots == 0 ? 64 : t->n_name_slots * 2;
    qn_node **slots = qn_tree_alloc(t, n_slots * sizeof(*slots));
    if (slots == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < t->n_name_slots; i++) {
        if (t->names[i] != NULL) {
            uint32_t at = (uint32_t)hash(t, t->names[i]->u.text) & (n_slots - 1);
            while (slots[at] != NULL) {
                at = (at + 1) & (n_slots - 1);
            }
            slots[at] = t->names[i];
        }
    }
    t->names = slots;
    t->n_name_slots = n_slots;
    return true;
}

const qn_node *qn_tree_name(qn_tree *t, qn_str text)
{
    if (t->n_names * 2 >= t->n_name_slots && !grow_names(t)) {
        return NULL;
    }
    uint32_t at = (uint32_t)hash(t, text) & (t->n_name_slots - 1);
    for (; t->names[at] != NULL; at = (at + 1) & (t->n_name_slots - 1)) {
        if (qn_str_eq(t->names[at]->u.text, text)) {
            return t->names[at];
        }
    }
    qn_node *word = qn_tree_node(t, QN_N_WORD, 0, 0);
    char *bytes = qn_tree_alloc(t, text.len + 1);
    if (word == NULL || bytes == NULL) {
        return NULL;
    }
    memcpy(bytes, text.data, text.len);
    word->u.text = (qn_str){bytes, text.len};
    word->cell = t->n_names++; /* a number for hashing */
    t->names[at] = word;
    return word;
}

qn_node *qn_tree_node(qn_tree *t, qn_node_kind kind, uint32_t line, uint32_t n_kids)
{
    qn_node *n = qn_tree_alloc(t, sizeof(*n));
    if (n == NULL) {
        return NULL;
    }
    n->kind = (uint8_t)kind;
    n->line = line;
    n->n_kids = n_kids;
    if (n_kids > 0) {
        n->kids = qn_tree_alloc(t, (size_t)n_kids * sizeof(*n->kids));
        if (n->kids == NULL) {
            return NULL;
        }
    }
    return n;
}

qn_status qn_tree_string(qn_tree *t, qn_str text, qn_value *out)
{
    qn_vstr *s = qn_tree_alloc(t, sizeof(*s));
    char *bytes = qn_tree_alloc(t, text.len + 1);
    if (s == NULL || bytes == NULL) {
        return t->err->code;
    }
    memcpy(bytes, text.data, text.len);
    s->bytes = bytes;
    s->n_bytes = (uint32_t)text.len;
    for (size_t i = 0; i < text.len; i++) {
        s->n_chars += ((uint8_t)bytes[i] & 0xC0) != 0x80;
    }
    *out = (qn_value){.kind = QN_V_STRING, .u.s = s};
    return QN_OK;
}
