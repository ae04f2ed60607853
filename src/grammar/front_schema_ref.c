/* References: which document a schema belongs to ($id), its anchors, and JSON pointers.
 * SPDX-License-Identifier: MIT */
#include "grammar/front_schema_int.h"

#define MAX_URI 4096

static qn_str join_text(qn_sx *s, qn_str a, qn_str b)
{
    char *p = qn_sx_alloc(s, a.len + b.len + 1);
    if (p == NULL) {
        return (qn_str){NULL, 0};
    }
    if (a.len != 0) {
        memcpy(p, a.data, a.len);
    }
    if (b.len != 0) {
        memcpy(p + a.len, b.data, b.len);
    }
    return (qn_str){p, a.len + b.len};
}

/* Where a URI's fragment begins; its length when there is none. */
static size_t fragment_at(qn_str uri)
{
    const char *hash = uri.len == 0 ? NULL : memchr(uri.data, '#', uri.len);
    return hash == NULL ? uri.len : (size_t)(hash - uri.data);
}

/* Length of "scheme:", 0: none. */
static size_t scheme_of(qn_str uri)
{
    for (size_t i = 0; i < uri.len; i++) {
        char c = uri.data[i];
        if (c == ':') {
            return i == 0 ? 0 : i + 1;
        }
        if (c == '/' || c == '?' || c == '#') {
            return 0;
        }
    }
    return 0;
}

/* One step back for each "..", over the path that begins at `root`. */
static void remove_dots(char *p, size_t root, size_t *len)
{
    size_t out = root, i = root;
    while (i < *len) {
        size_t end = i + 1; /* of this segment, its '/' first */
        while (end < *len && p[end] != '/') {
            end++;
        }
        bool is_last = end == *len;
        if (end - i == 2 && p[i + 1] == '.') {
            if (is_last) {
                p[out++] = '/';
            }
        } else if (end - i == 3 && p[i + 1] == '.' && p[i + 2] == '.') {
            while (out > root && p[--out] != '/') {
            }
            if (is_last) {
                p[out++] = '/';
            }
        } else {
            memmove(p + out, p + i, end - i);
            out += end - i;
        }
        i = end;
    }
    *len = out;
}

/* ref (without a fragment) as seen from base. NULL data: no memory. */
static qn_str resolve_uri(qn_sx *s, qn_str base, qn_str ref)
{
    if (ref.len == 0) {
        return base;
    }
    size_t scheme = scheme_of(base);
    if (scheme_of(ref) != 0) {
        return ref;
    }
    size_t root = scheme; /* where the path begins */
    if (base.len >= scheme + 2 && memcmp(base.data + scheme, "//", 2) == 0) {
        root += 2;
        while (root < base.len && base.data[root] != '/') {
            root++;
        }
    }
    if (ref.len >= 2 && memcmp(ref.data, "//", 2) == 0) {
        return join_text(s, (qn_str){base.data, scheme}, ref);
    }
    size_t keep = root;
    if (ref.data[0] != '/') {
        keep = base.len;
        while (keep > root && base.data[keep - 1] != '/') {
            keep--;
        }
    }
    qn_str joined = join_text(s, (qn_str){base.data, keep}, ref);
    if (joined.data != NULL && root < joined.len && joined.data[root] == '/') {
        remove_dots((char *)joined.data, root, &joined.len);
    }
    return joined;
}

/* ---- the index ---- */

static qn_status add_place(qn_sx *s, qn_schema_place **places, uint32_t *n, uint32_t *cap, const qn_json *schema,
                           qn_str name, uint32_t i_resource)
{
    QN_TRY(qn_sx_grow(s, (void **)places, *n, cap, sizeof(**places)));
    (*places)[(*n)++] = (qn_schema_place){schema, name, i_resource};
    return QN_OK;
}

static qn_status open_resource(qn_sx *s, const qn_json *schema, qn_str id, uint32_t *i_resource)
{
    qn_str base = s->resources[*i_resource].uri;
    if (id.len > MAX_URI) {
        return qn_sx_fail(s, QN_EFULL, schema, "$id", "longer than 4096 bytes");
    }
    qn_str uri = resolve_uri(s, base, (qn_str){id.data, fragment_at(id)});
    if (uri.data == NULL && uri.len == 0 && id.len != 0 && fragment_at(id) != 0) {
        return qn_sx_no_memory(s);
    }
    QN_TRY(qn_sx_grow(s, (void **)&s->resources, s->n_resources, &s->cap_resources, sizeof(*s->resources)));
    *i_resource = s->n_resources;
    s->resources[s->n_resources++] = (qn_schema_resource){schema, uri};
    return QN_OK;
}

static bool is_string(const qn_json *v)
{
    return v != NULL && qn_json_kind_of(v) == QN_JSON_STRING;
}

static uint64_t hash_of(qn_str text)
{
    uint64_t h = 1469598103934665603ull;
    for (size_t i = 0; i < text.len; i++) {
        h = (h ^ (uint8_t)text.data[i]) * 1099511628211ull;
    }
    return h ^ h >> 29;
}

/* Of two members with one name readers differ in which they take, so neither can be enforced. */
static qn_status check_unique(qn_sx *s, const qn_json *v)
{
    size_t n = qn_json_count(v), size = 4;
    while (size < 2 * n) {
        size *= 2;
    }
    if (n < 2) {
        return QN_OK;
    }
    QN_TRY(qn_sx_step(s, n / 4));
    uint32_t *table = qn_alloc(s->b->budget, "grammar", size * sizeof(*table));
    if (table == NULL) {
        return qn_sx_no_memory(s);
    }
    memset(table, 0, size * sizeof(*table));
    size_t i_twice = n;
    for (size_t i = 0; i < n && i_twice == n; i++) {
        qn_str key = qn_json_key_at(v, i);
        size_t at = hash_of(key) & (size - 1);
        while (table[at] != 0 && i_twice == n) {
            i_twice = qn_str_eq(qn_json_key_at(v, table[at] - 1), key) ? i : n;
            at = (at + 1) & (size - 1);
        }
        table[at] = (uint32_t)i + 1;
    }
    qn_free(table);
    if (i_twice == n) {
        return QN_OK;
    }
    char name[64] = "";
    qn_str key = qn_json_key_at(v, i_twice);
    memcpy(name, key.data, key.len < sizeof(name) ? key.len : 0);
    return qn_sx_fail(s, QN_EFORMAT, v, name, "malformed: this name comes twice");
}

static qn_status index_schema(qn_sx *s, const qn_json *v, uint32_t i_resource);

/* The members of v are schemas under names. */
static qn_status index_map(qn_sx *s, const qn_json *v, uint32_t i_resource)
{
    if (qn_json_kind_of(v) == QN_JSON_OBJECT) {
        QN_TRY(check_unique(s, v));
    }
    for (size_t i = 0; i < qn_json_count(v); i++) {
        QN_TRY(index_schema(s, qn_json_at(v, i), i_resource));
    }
    return QN_OK;
}

/* Recursion is as deep as the document, which the reader bounds. */
static qn_status index_schema(qn_sx *s, const qn_json *v, uint32_t i_resource)
{
    QN_TRY(qn_sx_step(s, 1));
    if (qn_json_kind_of(v) == QN_JSON_ARRAY) {
        return index_map(s, v, i_resource);
    }
    if (qn_json_kind_of(v) != QN_JSON_OBJECT) {
        return QN_OK;
    }
    QN_TRY(check_unique(s, v));
    const qn_json *id = qn_json_find(v, "$id"), *ref = qn_json_find(v, "$ref"), *anchor = qn_json_find(v, "$anchor");
    bool is_only_ref = s->is_draft7 && is_string(ref);
    if (is_string(id) && !is_only_ref) {
        qn_str name = qn_json_as_str(id);
        size_t hash = fragment_at(name);
        bool is_draft7 = s->is_draft7;
        QN_TRY(qn_sx_dialect(s, v, &is_draft7));
        if (is_draft7 != s->is_draft7) {
            return qn_sx_fail(s, QN_EUNSUPPORTED, v, "$schema", "another dialect than the whole document's");
        }
        if (hash != 0) {
            QN_TRY(open_resource(s, v, name, &i_resource));
        }
        if (hash + 1 < name.len) { /* draft 7 names anchors this way */
            QN_TRY(add_place(s, &s->anchors, &s->n_anchors, &s->cap_anchors, v,
                             (qn_str){name.data + hash + 1, name.len - hash - 1}, i_resource));
        }
    }
    const qn_json *names[] = {anchor, qn_json_find(v, "$dynamicAnchor")};
    for (size_t i = 0; i < 2; i++) {
        if (is_string(names[i])) {
            QN_TRY(add_place(s, &s->anchors, &s->n_anchors, &s->cap_anchors, v, qn_json_as_str(names[i]), i_resource));
        }
    }
    if (is_string(ref)) {
        QN_TRY(add_place(s, &s->refs, &s->n_refs, &s->cap_refs, v, qn_json_as_str(ref), i_resource));
    }
    for (size_t i = 0; i < qn_json_count(v); i++) {
        qn_str key = qn_json_key_at(v, i);
        const qn_json *child = qn_json_at(v, i);
        qn_schema_keyword k = qn_sx_keyword(key);
        bool is_map = k == QN_SK_PROPERTIES || k == QN_SK_PATTERN_PROPERTIES || k == QN_SK_DEPENDENT_SCHEMAS ||
                      k == QN_SK_DEPENDENCIES || qn_str_is(key, "$defs") || qn_str_is(key, "definitions");
        if (is_map && qn_json_kind_of(child) == QN_JSON_OBJECT) {
            QN_TRY(index_map(s, child, i_resource));
        } else if (k != QN_SK_ENUM && k != QN_SK_CONST && k != QN_SK_UNKNOWN &&
                   (k != QN_SK_ANNOTATION || qn_str_is(key, "contentSchema"))) {
            QN_TRY(index_schema(s, child, i_resource));
        }
    }
    return QN_OK;
}

/* By address, so that a reference is found by halving. */
static void sort_refs(qn_sx *s)
{
    for (uint32_t gap = s->n_refs / 2; gap > 0; gap /= 2) {
        for (uint32_t i = gap; i < s->n_refs; i++) {
            qn_schema_place x = s->refs[i];
            uint32_t k = i;
            for (; k >= gap && (uintptr_t)s->refs[k - gap].schema > (uintptr_t)x.schema; k -= gap) {
                s->refs[k] = s->refs[k - gap];
            }
            s->refs[k] = x;
        }
    }
}

qn_status qn_sx_index(qn_sx *s)
{
    QN_TRY(qn_sx_grow(s, (void **)&s->resources, 0, &s->cap_resources, sizeof(*s->resources)));
    s->resources[s->n_resources++] = (qn_schema_resource){s->root, QN_STR("")};
    QN_TRY(index_schema(s, s->root, 0));
    sort_refs(s);
    return QN_OK;
}

/* ---- pointers ---- */

static int hex_value(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* %XX taken out. NULL data: no memory. */
static qn_str unescape_uri(qn_sx *s, qn_str x)
{
    char *p = qn_sx_alloc(s, x.len + 1);
    size_t n = 0;
    for (size_t i = 0; p != NULL && i < x.len; i++) {
        bool is_hex =
            x.data[i] == '%' && i + 2 < x.len && hex_value(x.data[i + 1]) >= 0 && hex_value(x.data[i + 2]) >= 0;
        p[n++] = is_hex ? (char)(hex_value(x.data[i + 1]) << 4 | hex_value(x.data[i + 2])) : x.data[i];
        i += is_hex ? 2 : 0;
    }
    return (qn_str){p, n};
}

/* Whether a step of a pointer, from its '/' on, names that key. */
static bool names_key(qn_str step, qn_str key)
{
    size_t k = 0;
    for (size_t i = 0; i < step.len; i++, k++) {
        char c = step.data[i];
        if (c == '~' && i + 1 < step.len && (step.data[i + 1] == '0' || step.data[i + 1] == '1')) {
            c = step.data[++i] == '0' ? '~' : '/';
        }
        if (k >= key.len || key.data[k] != c) {
            return false;
        }
    }
    return k == key.len;
}

static const qn_json *follow(const qn_json *v, qn_str pointer)
{
    size_t i = 0;
    while (v != NULL && i < pointer.len) {
        size_t end = i + 1;
        while (end < pointer.len && pointer.data[end] != '/') {
            end++;
        }
        qn_str step = {pointer.data + i + 1, end - i - 1};
        const qn_json *next = NULL;
        if (qn_json_kind_of(v) == QN_JSON_ARRAY) {
            size_t index = 0;
            bool is_index = step.len != 0 && step.len < 10 && (step.len == 1 || step.data[0] != '0');
            for (size_t k = 0; k < step.len; k++) {
                is_index = is_index && step.data[k] >= '0' && step.data[k] <= '9';
                index = index * 10 + (size_t)(step.data[k] - '0');
            }
            next = is_index ? qn_json_at(v, index) : NULL;
        } else {
            for (size_t k = qn_json_count(v); k > 0 && next == NULL; k--) {
                next = names_key(step, qn_json_key_at(v, k - 1)) ? qn_json_at(v, k - 1) : NULL;
            }
        }
        v = next;
        i = end;
    }
    return v;
}

qn_status qn_sx_resolve(qn_sx *s, const qn_json *schema, const qn_json **target)
{
    uint32_t low = 0, high = s->n_refs;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if ((uintptr_t)s->refs[middle].schema < (uintptr_t)schema) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    qn_schema_place place = {schema, qn_json_as_str(qn_json_find(schema, "$ref")), 0};
    if (low < s->n_refs && s->refs[low].schema == schema) {
        place = s->refs[low]; /* else: in what no keyword leads to, reached by a pointer; the root's base serves */
    }
    qn_str ref = place.name;
    size_t hash = fragment_at(ref);
    if (ref.len > MAX_URI) {
        return qn_sx_fail(s, QN_EFULL, schema, "$ref", "longer than 4096 bytes");
    }
    qn_str uri = resolve_uri(s, s->resources[place.i_resource].uri, (qn_str){ref.data, hash});
    qn_str fragment = unescape_uri(s, hash < ref.len ? (qn_str){ref.data + hash + 1, ref.len - hash - 1} : QN_STR(""));
    if (fragment.data == NULL) {
        return qn_sx_no_memory(s);
    }
    uint32_t i_resource = hash == 0 ? place.i_resource : s->n_resources;
    for (uint32_t i = 0; i < s->n_resources && i_resource == s->n_resources; i++) {
        i_resource = qn_str_eq(s->resources[i].uri, uri) ? i : i_resource;
    }
    if (i_resource == s->n_resources) {
        return qn_sx_fail(s, QN_EUNSUPPORTED, schema, "$ref",
                          "leads out of the document; what it means must be in $defs");
    }
    const qn_json *v = NULL;
    if (fragment.len == 0 || fragment.data[0] == '/') {
        v = follow(s->resources[i_resource].schema, fragment);
    } else {
        for (uint32_t i = 0; i < s->n_anchors && v == NULL; i++) {
            bool is_it = s->anchors[i].i_resource == i_resource && qn_str_eq(s->anchors[i].name, fragment);
            v = is_it ? s->anchors[i].schema : NULL;
        }
    }
    if (v == NULL) {
        return qn_sx_fail(s, QN_EFORMAT, schema, "$ref", "leads to nothing: there is no such place in the document");
    }
    *target = v;
    return QN_OK;
}
