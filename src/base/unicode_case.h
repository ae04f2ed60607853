/* Case as Python's str has it: full mappings (one character may become three) of the Unicode Character Database.
 * SPDX-License-Identifier: MIT */
#ifndef QN_BASE_UNICODE_CASE_H
#define QN_BASE_UNICODE_CASE_H

#include "base/unicode.h"

#define QN_UNICODE_MAX_CASE 3

/* What cp becomes; returns the number of code points written to out, 1 to 3. Conditions that depend on language are
 * left out; the final sigma is the caller's (U+03A3 after a letter and before none becomes U+03C2). */
unsigned qn_unicode_lower(uint32_t cp, uint32_t out[QN_UNICODE_MAX_CASE]);
unsigned qn_unicode_upper(uint32_t cp, uint32_t out[QN_UNICODE_MAX_CASE]);
unsigned qn_unicode_title(uint32_t cp, uint32_t out[QN_UNICODE_MAX_CASE]);

/* The properties Cased and Case_Ignorable, which say where a word begins and where a final sigma stands. */
bool qn_unicode_is_cased(uint32_t cp);
bool qn_unicode_is_case_ignorable(uint32_t cp);

#endif
