/* Which known word was perhaps meant. SPDX-License-Identifier: MIT */
#include "cli/options.h"

#include <string.h>

/* Insertions, deletions and changes that turn a into b; words longer than the row count as far apart. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t row[33];
    size_t n_a = strlen(a), n_b = strlen(b);
    if (n_a > 32 || n_b > 32) {
        return SIZE_MAX;
    }
    for (size_t j = 0; j <= n_b; j++) {
        row[j] = j;
    }
    for (size_t i = 1; i <= n_a; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n_b; j++) {
            size_t changed = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            size_t shifted = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            row[j] = changed < shifted ? changed : shifted;
        }
    }
    return row[n_b];
}

const char *qn_nearest_word(const char *word, const char *const *words, size_t n)
{
    const char *nearest = NULL;
    size_t least = strlen(word) / 3 + 2; /* about every third letter may be wrong */
    for (size_t i = 0; i < n; i++) {
        size_t distance = edit_distance(word, words[i]);
        if (distance < least) {
            least = distance;
            nearest = words[i];
        }
    }
    for (size_t i = 0; nearest == NULL && i < n; i++) {
        if (strlen(word) >= 3 && strncmp(word, words[i], strlen(word)) == 0) {
            nearest = words[i];
        }
    }
    return nearest;
}
