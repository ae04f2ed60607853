/* tokenizer.ggml.precompiled_charsmap. The bytes are: the size of the double array in bytes (32 bits, little-endian),
 * the double array, then the replacements, each ended by a NUL.
 *
 * A unit of the double array is 32 bits: label in bits 0-7, bit 8 when a value is below the node, bit 9 when the offset
 * is in units of 256, offset in bits 10-30; a value has bit 31 set. The child of a node by a byte is at (index of the
 * node ^ its offset ^ byte) and has that byte for its label; the value is where byte 0 would lead.
 *
 * A file may hold any units: every index is checked, and the steps of one look-up are limited, so that a tree that
 * leads back into itself costs no more than a deep one.
 *
 * SPDX-License-Identifier: MIT */
#include "text/tokenizer_charsmap.h"

#define OWNER "tokenizer"
#define MAX_MAP_BYTES (1u << 24) /* the largest known map has 300,000 */
#define MAX_KEY 128              /* bytes of a sequence that is looked up; in known maps they have up to 12 */
#define MAX_REPLACEMENT 1024     /* bytes; in known maps up to 33. Bounds how much longer a text may become */

static uint32_t load_u32(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static qn_status check_strings(const qn_charsmap *m, const char *key, qn_error *err)
{
    uint32_t run = 0;
    for (uint32_t i = 0; i < m->n_strings; i++) {
        run = m->strings[i] == '\0' ? 0 : run + 1;
        if (run > MAX_REPLACEMENT) {
            return qn_fail(err, QN_EFORMAT, "%s: a replacement of more than %d bytes", key, MAX_REPLACEMENT);
        }
    }
    return run == 0 ? QN_OK : qn_fail(err, QN_EFORMAT, "%s: the last replacement has no end", key);
}

qn_status qn_charsmap_open(const qn_gguf *g, const char *key, qn_budget *b, qn_charsmap *m, qn_error *err)
{
    *m = (qn_charsmap){0};
    const qn_gguf_kv *kv = qn_gguf_find(g, key);
    if (kv == NULL) {
        return QN_OK;
    }
    if (kv->type != QN_GGUF_ARRAY || (kv->item_type != QN_GGUF_U8 && kv->item_type != QN_GGUF_I8) ||
        kv->n_items > MAX_MAP_BYTES || kv->raw_bytes != kv->n_items) {
        return qn_fail(err, QN_EFORMAT, "%s: not an array of up to %u bytes", key, MAX_MAP_BYTES);
    }
    uint32_t n = (uint32_t)kv->n_items;
    if (n == 0) {
        return QN_OK;
    }
    uint32_t n_array = n < 4 ? UINT32_MAX : load_u32(kv->raw);
    if (n_array > n - 4 || n_array % 4 != 0 || n_array == 0) {
        return qn_fail(err, QN_EFORMAT, "%s: the array in it does not fit into %u bytes", key, n);
    }
    m->n_units = n_array / 4;
    m->n_strings = n - 4 - n_array;
    m->units = qn_alloc(b, OWNER, n_array);
    m->strings = qn_alloc(b, OWNER, m->n_strings);
    if (m->units == NULL || m->strings == NULL) {
        qn_charsmap_free(m);
        return qn_fail(err, QN_ENOMEM, "no memory for %s", key);
    }
    for (uint32_t i = 0; i < m->n_units; i++) {
        m->units[i] = load_u32(kv->raw + 4 + 4 * (size_t)i);
    }
    memcpy(m->strings, kv->raw + 4 + n_array, m->n_strings);
    qn_status s = check_strings(m, key, err);
    if (s != QN_OK) {
        qn_charsmap_free(m);
    }
    return s;
}

void qn_charsmap_free(qn_charsmap *m)
{
    qn_free(m->units);
    qn_free(m->strings);
    *m = (qn_charsmap){0};
}

/* Where the children of the node at `index` lie, by XOR with a byte. */
static uint32_t below(uint32_t index, uint32_t unit)
{
    return index ^ (unit >> 10) << ((unit & 1u << 9) >> 6);
}

/* A label without the bit that tells a value from a node: for a value this is no byte. */
static uint32_t label(uint32_t unit)
{
    return unit & (1u << 31 | 0xFF);
}

size_t qn_charsmap_match(const qn_charsmap *m, const char *s, size_t n, qn_str *to)
{
    size_t found = 0;
    if (m->n_units == 0) {
        return 0;
    }
    n = n < MAX_KEY ? n : MAX_KEY;
    uint32_t place = below(0, m->units[0]);
    for (size_t i = 0; i < n; i++) {
        uint32_t byte = (uint8_t)s[i], index = place ^ byte;
        if (byte == 0 || index >= m->n_units || label(m->units[index]) != byte) {
            break;
        }
        uint32_t unit = m->units[index];
        place = below(index, unit);
        if ((unit & 1u << 8) == 0 || place >= m->n_units) {
            continue;
        }
        uint32_t value = m->units[place] & ~(1u << 31);
        if (value < m->n_strings) {
            *to = qn_str_of(m->strings + value); /* the last string has an end, so each has */
            found = i + 1;
        }
    }
    return found;
}
