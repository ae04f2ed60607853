/* Looking at a JSON tree.
 * SPDX-License-Identifier: MIT */
#include "base/json.h"

#include "base/checked.h"
#include "base/json_int.h"
#include "base/os.h"

static bool is_container(const qn_json *v)
{
    return v->kind == QN_JSON_ARRAY || v->kind == QN_JSON_OBJECT;
}

const qn_json *qn_json_root(const qn_json_doc *d)
{
    return &d->root;
}

qn_json_kind qn_json_kind_of(const qn_json *v)
{
    return v->kind;
}

bool qn_json_as_bool(const qn_json *v)
{
    return v->kind == QN_JSON_BOOL && v->truth;
}

double qn_json_as_f64(const qn_json *v)
{
    /* In the document's text a number is followed by something that ends it, a NUL at the latest. */
    return v->kind == QN_JSON_NUMBER ? qn_os_parse_f64(v->as.text) : 0;
}

/* The exponent after the 'e' at s[0, len), kept within +-10^9: beyond that only zero is an integer anyway. */
static int64_t read_exponent(const char *s, size_t len)
{
    size_t i = 1 + (s[1] == '+' || s[1] == '-');
    int64_t v = 0;
    for (; i < len; i++) {
        v = v < 100000000 ? v * 10 + (s[i] - '0') : 1000000000;
    }
    return s[1] == '-' ? -v : v;
}

bool qn_json_as_i64(const qn_json *v, int64_t *out)
{
    if (v->kind != QN_JSON_NUMBER) {
        return false;
    }
    const char *s = v->as.text;
    bool negative = s[0] == '-';
    size_t end = negative; /* of the digits and the point */
    while (end < v->n && s[end] != 'e' && s[end] != 'E') {
        end++;
    }
    int64_t exponent = end < v->n ? read_exponent(s + end, v->n - end) : 0;

    /* Zeros are held back until another digit follows: those at the end only count as an exponent. A digit that was
     * taken in is followed by `n_zeros` zeros and stands `exponent` places above the unit. */
    uint64_t sum = 0, n_zeros = 0;
    bool fraction = false;
    for (size_t i = negative; i < end; i++) {
        if (s[i] == '.') {
            fraction = true;
            continue;
        }
        exponent -= fraction;
        if (s[i] == '0') {
            n_zeros += sum != 0;
            continue;
        }
        for (n_zeros++; n_zeros > 0; n_zeros--) {
            if (!qn_mul_u64(sum, 10, &sum)) {
                return false;
            }
        }
        if (!qn_add_u64(sum, (uint64_t)(s[i] - '0'), &sum)) {
            return false;
        }
    }
    if (sum == 0) {
        *out = 0;
        return true;
    }
    exponent += (int64_t)n_zeros;
    if (exponent < 0) {
        return false;
    }
    for (; exponent > 0; exponent--) {
        if (!qn_mul_u64(sum, 10, &sum)) {
            return false;
        }
    }
    uint64_t most = (uint64_t)INT64_MAX + negative;
    if (sum > most) {
        return false;
    }
    *out = negative ? (int64_t)(0 - sum) : (int64_t)sum;
    return true;
}

qn_str qn_json_as_str(const qn_json *v)
{
    return v->kind == QN_JSON_STRING || v->kind == QN_JSON_NUMBER ? (qn_str){v->as.text, v->n} : QN_STR("");
}

size_t qn_json_count(const qn_json *v)
{
    return is_container(v) ? v->n : 0;
}

const qn_json *qn_json_at(const qn_json *v, size_t i)
{
    return i < qn_json_count(v) ? &v->as.first[i] : NULL;
}

qn_str qn_json_key_at(const qn_json *v, size_t i)
{
    return i < qn_json_count(v) ? v->as.first[i].key : QN_STR("");
}

const qn_json *qn_json_find(const qn_json *v, const char *key)
{
    if (v->kind != QN_JSON_OBJECT) {
        return NULL;
    }
    for (size_t i = v->n; i > 0; i--) {
        if (qn_str_is(v->as.first[i - 1].key, key)) {
            return &v->as.first[i - 1];
        }
    }
    return NULL;
}
