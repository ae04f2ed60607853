/* A growing byte buffer with a ceiling.
 * SPDX-License-Identifier: MIT */
#include "base/buf.h"

#include "base/checked.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define FIRST_CAP 64 /* bytes of the first block: a short string and its NUL */

void qn_buf_init(qn_buf *b, qn_budget *budget, const char *owner, size_t max_bytes)
{
    *b = (qn_buf){.max = max_bytes, .budget = budget, .owner = owner, .status = QN_OK};
}

void qn_buf_free(qn_buf *b)
{
    qn_free(b->data);
    qn_buf_init(b, b->budget, b->owner, b->max);
}

void qn_buf_clear(qn_buf *b)
{
    b->len = 0;
    b->status = QN_OK;
    if (b->data != NULL) {
        b->data[0] = '\0';
    }
}

/* Room for n more bytes and the NUL. False: status is set. */
static bool reserve(qn_buf *b, size_t n)
{
    if (b->status != QN_OK) {
        return false;
    }
    if (n > b->max - b->len) {
        b->status = QN_EFULL;
        return false;
    }
    size_t need;
    if (!qn_add_size(b->len + n, 1, &need)) {
        b->status = QN_ENOMEM;
        return false;
    }
    if (need <= b->cap) {
        return true;
    }
    /* Doubling, but no further than the ceiling and its NUL. */
    size_t cap = b->cap < FIRST_CAP / 2 ? FIRST_CAP : b->cap > SIZE_MAX / 2 ? SIZE_MAX : b->cap * 2;
    if (cap < need) {
        cap = need;
    }
    if (cap - 1 > b->max) {
        cap = b->max + 1;
    }
    char *data = qn_realloc(b->budget, b->owner, b->data, cap);
    if (data == NULL) {
        b->status = QN_ENOMEM;
        return false;
    }
    b->data = data;
    b->cap = cap;
    return true;
}

void qn_buf_add(qn_buf *b, const void *bytes, size_t n)
{
    if (n == 0 || !reserve(b, n)) {
        return;
    }
    memcpy(b->data + b->len, bytes, n);
    b->len += n;
    b->data[b->len] = '\0';
}

void qn_buf_add_str(qn_buf *b, const char *s)
{
    qn_buf_add(b, s, strlen(s));
}

void qn_buf_add_char(qn_buf *b, char c)
{
    qn_buf_add(b, &c, 1);
}

void qn_buf_printf(qn_buf *b, const char *fmt, ...)
{
    if (b->status != QN_OK) {
        return;
    }
    char small[256];
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int n = vsnprintf(small, sizeof(small), fmt, args);
    if (n < 0) {
        b->status = QN_ENOMEM;
    } else if ((size_t)n < sizeof(small)) {
        qn_buf_add(b, small, (size_t)n);
    } else if (reserve(b, (size_t)n)) {
        vsnprintf(b->data + b->len, (size_t)n + 1, fmt, again);
        b->len += (size_t)n;
    }
    va_end(again);
    va_end(args);
}

qn_str qn_buf_view(const qn_buf *b)
{
    return b->data != NULL ? (qn_str){b->data, b->len} : (qn_str){"", 0};
}
