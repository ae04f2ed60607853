/* Case mappings: runs of code points that move by the same amount, and a few that become several.
 * SPDX-License-Identifier: MIT */
#include "base/unicode_case.h"

#include "base/unicode_tables.h"

/* True, and *to set, when a run holds cp. */
static bool find_run(const int32_t (*runs)[4], uint32_t n, uint32_t cp, uint32_t *to)
{
    uint32_t low = 0, high = n; /* the first run that ends at cp or after it is in [low, high] */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if ((uint32_t)runs[middle][1] < cp) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == n || cp < (uint32_t)runs[low][0] || (cp - (uint32_t)runs[low][0]) % (uint32_t)runs[low][2] != 0) {
        return false;
    }
    *to = cp + (uint32_t)runs[low][3];
    return true;
}

/* The number of code points that cp becomes, or 0: it is not in the list. */
static unsigned find_long(const uint32_t (*longs)[4], uint32_t n, uint32_t cp, uint32_t out[QN_UNICODE_MAX_CASE])
{
    uint32_t low = 0, high = n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (longs[middle][0] < cp) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == n || longs[low][0] != cp) {
        return 0;
    }
    memcpy(out, longs[low] + 1, QN_UNICODE_MAX_CASE * sizeof(*out));
    return out[2] == 0 ? 2 : 3;
}

unsigned qn_unicode_lower(uint32_t cp, uint32_t out[QN_UNICODE_MAX_CASE])
{
    if (cp < 0x80) { /* most text */
        out[0] = cp >= 'A' && cp <= 'Z' ? cp - 'A' + 'a' : cp;
        return 1;
    }
    unsigned n = find_long(qn_unicode_lower_longs, qn_unicode_n_lower_longs, cp, out);
    if (n == 0) {
        n = 1;
        if (!find_run(qn_unicode_lower_runs, qn_unicode_n_lower_runs, cp, out)) {
            out[0] = cp;
        }
    }
    return n;
}

unsigned qn_unicode_upper(uint32_t cp, uint32_t out[QN_UNICODE_MAX_CASE])
{
    if (find_run(qn_unicode_upper_runs, qn_unicode_n_upper_runs, cp, out)) {
        return 1;
    }
    unsigned n = find_long(qn_unicode_upper_longs, qn_unicode_n_upper_longs, cp, out);
    if (n == 0) {
        n = 1;
        out[0] = cp;
    }
    return n;
}

unsigned qn_unicode_title(uint32_t cp, uint32_t out[QN_UNICODE_MAX_CASE])
{
    if (find_run(qn_unicode_title_runs, qn_unicode_n_title_runs, cp, out)) {
        return 1;
    }
    unsigned n = find_long(qn_unicode_title_longs, qn_unicode_n_title_longs, cp, out);
    return n > 0 ? n : qn_unicode_upper(cp, out);
}

static bool is_in(const uint32_t (*ranges)[2], uint32_t n, uint32_t cp)
{
    uint32_t low = 0, high = n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (ranges[middle][1] < cp) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < n && ranges[low][0] <= cp;
}

bool qn_unicode_is_cased(uint32_t cp)
{
    return is_in(qn_unicode_cased, qn_unicode_n_cased, cp);
}

bool qn_unicode_is_case_ignorable(uint32_t cp)
{
    return is_in(qn_unicode_case_ignorable, qn_unicode_n_case_ignorable, cp);
}
