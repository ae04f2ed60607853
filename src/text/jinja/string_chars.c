/* Classes of characters as Python's str has them.
 * SPDX-License-Identifier: MIT */
#include "base/unicode_case.h"
#include "text/jinja/value_int.h"

typedef struct range {
    uint32_t first, last;
} range;

/* Numeric_Type=Digit: what isdigit() takes beyond decimal digits (superscripts, digits in circles ...). */
static const range digits[] = {
    {0xB2, 0xB3},     {0xB9, 0xB9},       {0x1369, 0x1371},   {0x19DA, 0x19DA},   {0x2070, 0x2070},
    {0x2074, 0x2079}, {0x2080, 0x2089},   {0x2460, 0x2468},   {0x2474, 0x247C},   {0x2488, 0x2490},
    {0x24EA, 0x24EA}, {0x24F5, 0x24FD},   {0x24FF, 0x24FF},   {0x2776, 0x277E},   {0x2780, 0x2788},
    {0x278A, 0x2792}, {0x10A40, 0x10A43}, {0x10E60, 0x10E68}, {0x11052, 0x1105A}, {0x1F100, 0x1F10A},
};

/* Letters that stand for numbers: isnumeric() takes them. */
static const range ideographs[] = {
    {0x3405, 0x3405},   {0x3483, 0x3483},   {0x382A, 0x382A},   {0x3B4D, 0x3B4D},   {0x4E00, 0x4E00},
    {0x4E03, 0x4E03},   {0x4E07, 0x4E07},   {0x4E09, 0x4E09},   {0x4E5D, 0x4E5D},   {0x4E8C, 0x4E8C},
    {0x4E94, 0x4E94},   {0x4E96, 0x4E96},   {0x4EBF, 0x4EC0},   {0x4EDF, 0x4EDF},   {0x4EE8, 0x4EE8},
    {0x4F0D, 0x4F0D},   {0x4F70, 0x4F70},   {0x5104, 0x5104},   {0x5146, 0x5146},   {0x5169, 0x5169},
    {0x516B, 0x516B},   {0x516D, 0x516D},   {0x5341, 0x5341},   {0x5343, 0x5345},   {0x534C, 0x534C},
    {0x53C1, 0x53C4},   {0x56DB, 0x56DB},   {0x58F1, 0x58F1},   {0x58F9, 0x58F9},   {0x5E7A, 0x5E7A},
    {0x5EFE, 0x5EFF},   {0x5F0C, 0x5F0E},   {0x5F10, 0x5F10},   {0x62FE, 0x62FE},   {0x634C, 0x634C},
    {0x67D2, 0x67D2},   {0x6F06, 0x6F06},   {0x7396, 0x7396},   {0x767E, 0x767E},   {0x8086, 0x8086},
    {0x842C, 0x842C},   {0x8CAE, 0x8CAE},   {0x8CB3, 0x8CB3},   {0x8D30, 0x8D30},   {0x9621, 0x9621},
    {0x9646, 0x9646},   {0x964C, 0x964C},   {0x9678, 0x9678},   {0x96F6, 0x96F6},   {0xF96B, 0xF96B},
    {0xF973, 0xF973},   {0xF978, 0xF978},   {0xF9B2, 0xF9B2},   {0xF9D1, 0xF9D1},   {0xF9D3, 0xF9D3},
    {0xF9FD, 0xF9FD},   {0x20001, 0x20001}, {0x20064, 0x20064}, {0x200E2, 0x200E2}, {0x20121, 0x20121},
    {0x2092A, 0x2092A}, {0x20983, 0x20983}, {0x2098C, 0x2098C}, {0x2099C, 0x2099C}, {0x20AEA, 0x20AEA},
    {0x20AFD, 0x20AFD}, {0x20B19, 0x20B19}, {0x22390, 0x22390}, {0x22998, 0x22998}, {0x23B1B, 0x23B1B},
    {0x2626D, 0x2626D}, {0x2F890, 0x2F890},
};

static bool in_ranges(const range *r, size_t n, uint32_t cp)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (r[mid].last < cp) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low < n && r[low].first <= cp;
}

#define IN_RANGES(table, cp) in_ranges(table, sizeof(table) / sizeof(*(table)), cp)

static bool in_categories(uint32_t cp, uint32_t mask)
{
    return (mask >> qn_unicode_category(cp) & 1) != 0;
}

#define BIT(category) (1u << QN_CATEGORY_##category)
#define LETTERS (BIT(LU) | BIT(LL) | BIT(LT) | BIT(LM) | BIT(LO))

bool qn_char_is_space(uint32_t cp)
{
    if (cp < 0x80) {
        return cp == ' ' || (cp >= 9 && cp <= 13) || (cp >= 28 && cp <= 31);
    }
    return qn_unicode_is_space(cp);
}

bool qn_char_is_line_end(uint32_t cp)
{
    return (cp >= 10 && cp <= 13) || (cp >= 0x1C && cp <= 0x1E) || cp == 0x85 || cp == 0x2028 || cp == 0x2029;
}

bool qn_char_is_alpha(uint32_t cp)
{
    return in_categories(cp, LETTERS);
}

bool qn_char_is_decimal(uint32_t cp)
{
    return cp < 0x80 ? cp >= '0' && cp <= '9' : qn_unicode_category(cp) == QN_CATEGORY_ND;
}

int qn_char_decimal(uint32_t cp)
{
    if (cp < 0x80) {
        return cp >= '0' && cp <= '9' ? (int)(cp - '0') : -1;
    }
    if (!qn_char_is_decimal(cp)) {
        return -1;
    }
    uint32_t first = cp; /* they stand in tens, side by side */
    while (qn_char_is_decimal(first - 1)) {
        first--;
    }
    return (int)((cp - first) % 10);
}

bool qn_char_is_digit(uint32_t cp)
{
    return qn_char_is_decimal(cp) || IN_RANGES(digits, cp);
}

bool qn_char_is_numeric(uint32_t cp)
{
    return in_categories(cp, BIT(ND) | BIT(NL) | BIT(NO)) || IN_RANGES(ideographs, cp);
}

bool qn_char_is_word(uint32_t cp)
{
    return cp == '_' || qn_char_is_alpha(cp) || qn_char_is_numeric(cp);
}

bool qn_char_is_title(uint32_t cp)
{
    return qn_unicode_category(cp) == QN_CATEGORY_LT;
}

/* What has case without being a letter: upper case is what has a lower one, and the letters in boxes. */
static bool other_is_upper(uint32_t cp)
{
    uint32_t to[QN_UNICODE_MAX_CASE];
    return (cp >= 0x1F130 && cp <= 0x1F189) || qn_unicode_lower(cp, to) != 1 || to[0] != cp;
}

bool qn_char_is_upper(uint32_t cp)
{
    qn_category c = qn_unicode_category(cp);
    return c == QN_CATEGORY_LU ||
           (c != QN_CATEGORY_LL && c != QN_CATEGORY_LT && qn_unicode_is_cased(cp) && other_is_upper(cp));
}

bool qn_char_is_lower(uint32_t cp)
{
    qn_category c = qn_unicode_category(cp);
    return c == QN_CATEGORY_LL ||
           (c != QN_CATEGORY_LU && c != QN_CATEGORY_LT && qn_unicode_is_cased(cp) && !other_is_upper(cp));
}

bool qn_char_is_printable(uint32_t cp)
{
    if (cp < 0x80) {
        return cp >= 0x20 && cp < 0x7F;
    }
    return !in_categories(cp, BIT(CC) | BIT(CF) | BIT(CS) | BIT(CO) | BIT(CN) | BIT(ZL) | BIT(ZP) | BIT(ZS));
}
