/* Maps of characters as SentencePiece compiles them, made of a few rules, for tests and fuzzers.
 * SPDX-License-Identifier: MIT */
#ifndef QN_TESTS_SMALL_CHARSMAP_H
#define QN_TESTS_SMALL_CHARSMAP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SMALL_CHARSMAP_UNITS 1024
#define SMALL_CHARSMAP_CAP (8 * SMALL_CHARSMAP_UNITS)

typedef struct small_charsmap {
    uint32_t units[SMALL_CHARSMAP_UNITS];
    bool used[SMALL_CHARSMAP_UNITS], is_base[SMALL_CHARSMAP_UNITS]; /* no two nodes have their children by one base */
    char strings[4096];
    uint32_t n_strings;
    uint8_t bytes[SMALL_CHARSMAP_CAP]; /* the compiled map */
    size_t n;
} small_charsmap;

typedef struct small_rule {
    const char *from, *to;
} small_rule;

/* Places the children of the node at `index`, which `depth` bytes of the rules in [first, last) lead to; these are
 * sorted by their bytes. */
static inline void qn_small_place(small_charsmap *m, uint32_t index, const small_rule *rules, size_t first, size_t last,
                                  size_t depth)
{
    uint32_t base = 1;
    bool fits = false;
    while (!fits) {
        fits = !m->is_base[base];
        for (size_t i = first; i < last; i++) {
            uint32_t child = base ^ (uint8_t)rules[i].from[depth];
            fits &= child != 0 && child < SMALL_CHARSMAP_UNITS && !m->used[child];
        }
        base += !fits;
        if (base == SMALL_CHARSMAP_UNITS) {
            abort();
        }
    }
    m->is_base[base] = true;
    m->units[index] |= (index ^ base) << 10;
    for (size_t i = first, next; i < last; i = next) {
        uint8_t byte = (uint8_t)rules[i].from[depth];
        for (next = i; next < last && (uint8_t)rules[next].from[depth] == byte; next++) {
        }
        m->used[base ^ byte] = true;
        m->units[base ^ byte] = byte;
    }
    for (size_t i = first, next; i < last; i = next) {
        uint8_t byte = (uint8_t)rules[i].from[depth];
        for (next = i; next < last && (uint8_t)rules[next].from[depth] == byte; next++) {
        }
        if (byte != 0) {
            qn_small_place(m, base ^ byte, rules, i, next, depth + 1);
            continue;
        }
        m->units[index] |= 1u << 8; /* a value is below */
        m->units[base] = 1u << 31 | m->n_strings;
        memcpy(m->strings + m->n_strings, rules[i].to, strlen(rules[i].to) + 1);
        m->n_strings += (uint32_t)strlen(rules[i].to) + 1;
    }
}

/* The rules are sorted by `from`. */
static inline void qn_small_charsmap(small_charsmap *m, const small_rule *rules, size_t n)
{
    memset(m, 0, sizeof(*m));
    m->used[0] = true;
    qn_small_place(m, 0, rules, 0, n, 0);
    uint32_t n_array = sizeof(m->units);
    memcpy(m->bytes, &n_array, 4);
    memcpy(m->bytes + 4, m->units, n_array);
    memcpy(m->bytes + 4 + n_array, m->strings, m->n_strings);
    m->n = 4 + n_array + m->n_strings;
}

#endif
