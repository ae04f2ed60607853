/* Look-ups in the generated Unicode tables: all of them are sorted and searched by halving.
 * SPDX-License-Identifier: MIT */
#include "base/unicode.h"

#include "base/unicode_tables.h"

#define CATEGORY_BITS 5 /* of an entry of qn_unicode_runs */
#define CATEGORY_MASK ((1u << CATEGORY_BITS) - 1)

static const char category_names[][3] = {"Cn", "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd",
                                         "Nl", "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Sm",
                                         "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co"};
#define N_CATEGORIES (sizeof(category_names) / sizeof(category_names[0]))

qn_category qn_unicode_category(uint32_t cp)
{
    if (cp >= QN_UNICODE_END) {
        return QN_CATEGORY_CN;
    }
    size_t low = 0, high = qn_unicode_n_runs; /* the run sought is in [low, high) */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (qn_unicode_runs[middle] >> CATEGORY_BITS <= cp) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return (qn_category)(qn_unicode_runs[low] & CATEGORY_MASK);
}

uint32_t qn_unicode_category_mask(qn_str name)
{
    if (qn_str_is(name, "Any")) {
        return UINT32_MAX;
    }
    if (qn_str_is(name, "LC") || qn_str_is(name, "L&")) { /* cased letters */
        return 1u << QN_CATEGORY_LU | 1u << QN_CATEGORY_LL | 1u << QN_CATEGORY_LT;
    }
    uint32_t mask = 0;
    for (size_t i = 0; i < N_CATEGORIES; i++) {
        if ((name.len == 1 || name.len == 2) && memcmp(name.data, category_names[i], name.len) == 0) {
            mask |= 1u << i;
        }
    }
    return mask;
}

bool qn_unicode_run(size_t i, uint32_t *first, uint32_t *last, qn_category *category)
{
    if (i >= qn_unicode_n_runs) {
        return false;
    }
    *first = qn_unicode_runs[i] >> CATEGORY_BITS;
    *last = i + 1 < qn_unicode_n_runs ? (qn_unicode_runs[i + 1] >> CATEGORY_BITS) - 1 : QN_UNICODE_END - 1;
    *category = (qn_category)(qn_unicode_runs[i] & CATEGORY_MASK);
    return true;
}

bool qn_unicode_space_run(size_t i, uint32_t *first, uint32_t *last)
{
    if (i >= qn_unicode_n_spaces) {
        return false;
    }
    *first = qn_unicode_spaces[i][0];
    *last = qn_unicode_spaces[i][1];
    return true;
}

bool qn_unicode_is_space(uint32_t cp)
{
    for (size_t i = 0; i < qn_unicode_n_spaces && qn_unicode_spaces[i][0] <= cp; i++) {
        if (cp <= qn_unicode_spaces[i][1]) {
            return true;
        }
    }
    return false;
}

bool qn_unicode_case_entry(size_t i, uint32_t *cp, uint32_t *next)
{
    if (i >= qn_unicode_n_case_rings) {
        return false;
    }
    *cp = qn_unicode_case_rings[i][0];
    *next = qn_unicode_case_rings[i][1];
    return true;
}

uint32_t qn_unicode_next_case(uint32_t cp)
{
    size_t low = 0, high = qn_unicode_n_case_rings;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (qn_unicode_case_rings[middle][0] < cp) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < qn_unicode_n_case_rings && qn_unicode_case_rings[low][0] == cp ? qn_unicode_case_rings[low][1] : cp;
}
