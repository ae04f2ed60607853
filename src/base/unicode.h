/* What Unicode says of a code point: general category, white space, simple case folding. Tables are generated
 * (scripts/gen-unicode-tables) from the Unicode Character Database.
 * SPDX-License-Identifier: MIT */
#ifndef QN_BASE_UNICODE_H
#define QN_BASE_UNICODE_H

#include "base/str.h"
#include "base/utf8_scan.h"

#define QN_UNICODE_END 0x110000u /* one past the last code point */

typedef enum qn_category { /* in the order of the generated table */
    QN_CATEGORY_CN, QN_CATEGORY_LU, QN_CATEGORY_LL, QN_CATEGORY_LT, QN_CATEGORY_LM, QN_CATEGORY_LO, QN_CATEGORY_MN,
    QN_CATEGORY_MC, QN_CATEGORY_ME, QN_CATEGORY_ND, QN_CATEGORY_NL, QN_CATEGORY_NO, QN_CATEGORY_PC, QN_CATEGORY_PD,
    QN_CATEGORY_PS, QN_CATEGORY_PE, QN_CATEGORY_PI, QN_CATEGORY_PF, QN_CATEGORY_PO, QN_CATEGORY_SM, QN_CATEGORY_SC,
    QN_CATEGORY_SK, QN_CATEGORY_SO, QN_CATEGORY_ZS, QN_CATEGORY_ZL, QN_CATEGORY_ZP, QN_CATEGORY_CC, QN_CATEGORY_CF,
    QN_CATEGORY_CS, QN_CATEGORY_CO
} qn_category;

/* CN for unassigned and for anything from QN_UNICODE_END on. */
qn_category qn_unicode_category(uint32_t cp);

/* Bit 1 << category for each category that a property name stands for: "Lu" one, "L" five, "Any" all.
 * 0: not the name of a category or of a group of them. */
uint32_t qn_unicode_category_mask(qn_str name);

/* The i-th maximal run [first, last] of code points of one category; the runs cover everything below
 * QN_UNICODE_END in order. False: no such i. */
bool qn_unicode_run(size_t i, uint32_t *first, uint32_t *last, qn_category *category);

/* The property White_Space. */
bool qn_unicode_is_space(uint32_t cp);
/* The i-th maximal range of it. False: no such i. */
bool qn_unicode_space_run(size_t i, uint32_t *first, uint32_t *last);

/* Code points that differ only in case (one simple folding) form a ring: the i-th entry of the list of all such code
 * points, sorted, with the one after it in its ring. False: no such i. */
bool qn_unicode_case_entry(size_t i, uint32_t *cp, uint32_t *next);
/* The next of cp's ring; cp when it is alone. */
uint32_t qn_unicode_next_case(uint32_t cp);

/* Length of the character at s[0, n), n >= 1, and its code point. Invalid bytes: 1 and UINT32_MAX. */
static inline size_t qn_unicode_decode(const char *s, size_t n, uint32_t *cp)
{
    const uint8_t *u = (const uint8_t *)s;
    size_t len = qn_utf8_scan(s, n);
    switch (len) {
    case 1:
        *cp = u[0];
        return 1;
    case 2:
        *cp = (uint32_t)(u[0] & 0x1F) << 6 | (u[1] & 0x3F);
        return 2;
    case 3:
        *cp = (uint32_t)(u[0] & 0x0F) << 12 | (uint32_t)(u[1] & 0x3F) << 6 | (u[2] & 0x3F);
        return 3;
    case 4:
        *cp = (uint32_t)(u[0] & 0x07) << 18 | (uint32_t)(u[1] & 0x3F) << 12 | (uint32_t)(u[2] & 0x3F) << 6 |
              (u[3] & 0x3F);
        return 4;
    default:
        *cp = UINT32_MAX;
        return 1;
    }
}

#endif
