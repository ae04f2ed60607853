/* JSON schema to expressions: the memory of one translation, the rules that are still to be built, and the types of
 * values that each rule allows.
 *
 * What is ignored, as the standard has it: keywords that nobody knows, annotations (title, default, contentEncoding and
 * their like), and keywords of a type that a value does not have. What is known and not enforced is refused, a format
 * of another name too.
 *
 * Rules are built one after the other from a queue, never inside each other, so that the depth of a schema costs no
 * stack and a schema that refers to itself ends.
 * SPDX-License-Identifier: MIT */
#include "grammar/front_schema_int.h"

#include <stdio.h>

#define MAX_RULES 20000u   /* conjunctions; a schema of a thousand fields has some thousands */
#define MAX_STEPS 1000000u /* about a quarter of a second */
#define MAX_BLANKS 64u
#define BLOCK_BYTES 65536u
#define MAX_PATH 120 /* bytes of a path in an error, which has 255 */
#define MAX_ARENA (256u << 20)

struct qn_schema_arena {
    qn_schema_arena *next;
    size_t used, cap;
    char bytes[];
};

void *qn_sx_alloc(qn_sx *s, size_t bytes)
{
    bytes = (bytes + 15) & ~(size_t)15;
    if (bytes > MAX_ARENA) {
        return NULL;
    }
    if (s->arena == NULL || bytes > s->arena->cap - s->arena->used) {
        size_t cap = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
        qn_schema_arena *block = qn_alloc(s->b->budget, "grammar", sizeof(*block) + cap);
        if (block == NULL) {
            return NULL;
        }
        *block = (qn_schema_arena){.next = s->arena, .cap = cap};
        s->arena = block;
    }
    void *p = s->arena->bytes + s->arena->used;
    s->arena->used += bytes;
    return p;
}

qn_status qn_sx_no_memory(qn_sx *s)
{
    return qn_fail(s->err, QN_ENOMEM, "schema: no memory");
}

qn_status qn_sx_grow(qn_sx *s, void **items, uint32_t n, uint32_t *cap, size_t size)
{
    if (n < *cap) {
        return QN_OK;
    }
    uint32_t wanted = *cap == 0 ? 16 : *cap * 2;
    void *moved = qn_sx_alloc(s, wanted * size);
    if (moved == NULL) {
        return qn_sx_no_memory(s);
    }
    if (n != 0) {
        memcpy(moved, *items, n * size);
    }
    *items = moved;
    *cap = wanted;
    return QN_OK;
}

qn_status qn_sx_step(qn_sx *s, uint64_t n)
{
    s->n_steps += n;
    return s->n_steps <= MAX_STEPS
               ? QN_OK
               : qn_sx_fail(s, QN_EFULL, s->at, "", "too many combinations of the parts of the schema");
}

/* ---- errors ---- */

/* Writes the path from v to the node that is looked for, as a JSON pointer. */
static bool find_path(const qn_json *v, const qn_json *wanted, qn_buf *path)
{
    if (v == wanted) {
        return true;
    }
    size_t len = path->len;
    for (size_t i = 0; i < qn_json_count(v); i++) {
        if (qn_json_kind_of(v) == QN_JSON_ARRAY) {
            qn_buf_printf(path, "/%zu", i);
        } else {
            qn_str key = qn_json_key_at(v, i);
            qn_buf_add_char(path, '/');
            for (size_t k = 0; k < key.len; k++) {
                if (key.data[k] == '~' || key.data[k] == '/') {
                    qn_buf_add_str(path, key.data[k] == '~' ? "~0" : "~1");
                } else {
                    qn_buf_add_char(path, key.data[k]);
                }
            }
        }
        if (find_path(qn_json_at(v, i), wanted, path)) {
            return true;
        }
        path->len = len;
    }
    return false;
}

qn_status qn_sx_fail(qn_sx *s, qn_status code, const qn_json *schema, const char *keyword, const char *what)
{
    qn_buf path;
    qn_buf_init(&path, s->b->budget, "grammar", 4096);
    find_path(s->root, schema, &path);
    size_t cut = path.len > MAX_PATH ? path.len - MAX_PATH : 0; /* the end of a path says more than its beginning */
    qn_status status = qn_fail(s->err, code, "schema, at #%s%.*s%s%s: %s", cut != 0 ? ".." : "", (int)(path.len - cut),
                               path.len != 0 ? path.data + cut : "", keyword[0] != '\0' ? "/" : "", keyword, what);
    qn_buf_free(&path);
    return status;
}

/* ---- rules ---- */

static uint64_t hash_items(const qn_schema_item *items, size_t n)
{
    uint64_t h = 1469598103934665603ull;
    for (size_t i = 0; i < n; i++) {
        h = (h ^ (uint64_t)(uintptr_t)items[i].schema ^ items[i].is_negated) * 0x9E3779B97F4A7C15ull;
        h ^= h >> 29;
    }
    return h;
}

static bool same_items(const qn_schema_rule *r, const qn_schema_item *items, size_t n)
{
    for (size_t i = 0; i < n && r->n_items == n; i++) {
        if (r->items[i].schema != items[i].schema || r->items[i].is_negated != items[i].is_negated) {
            return false;
        }
    }
    return r->n_items == n;
}

static qn_status grow_table(qn_sx *s)
{
    uint32_t size = s->table_size == 0 ? 256 : s->table_size * 2;
    uint32_t *table = qn_sx_alloc(s, size * sizeof(*table));
    if (table == NULL) {
        return qn_sx_no_memory(s);
    }
    memset(table, 0, size * sizeof(*table));
    for (uint32_t i = 0; i < s->n_rules; i++) {
        uint32_t at = (uint32_t)s->rules[i].hash & (size - 1);
        while (table[at] != 0) {
            at = (at + 1) & (size - 1);
        }
        table[at] = i + 1;
    }
    s->table = table;
    s->table_size = size;
    return QN_OK;
}

qn_status qn_sx_value(qn_sx *s, const qn_schema_item *items, size_t n, qn_gx *out)
{
    if (s->n_rules * 2 >= s->table_size) {
        QN_TRY(grow_table(s));
    }
    QN_TRY(qn_sx_step(s, 1 + n));
    uint64_t hash = hash_items(items, n);
    uint32_t at = (uint32_t)hash & (s->table_size - 1);
    for (; s->table[at] != 0; at = (at + 1) & (s->table_size - 1)) {
        const qn_schema_rule *r = &s->rules[s->table[at] - 1];
        if (r->hash == hash && same_items(r, items, n)) {
            *out = qn_gx_rule_ref(s->b, r->rule);
            return QN_OK;
        }
    }
    if (s->n_rules >= MAX_RULES) {
        return qn_sx_fail(s, QN_EFULL, s->at, "", "more than 20000 different values in the whole schema");
    }
    qn_schema_item *kept = qn_sx_alloc(s, (n + 1) * sizeof(*kept));
    if (kept == NULL) {
        return qn_sx_no_memory(s);
    }
    if (n != 0) {
        memcpy(kept, items, n * sizeof(*items));
    }
    QN_TRY(qn_sx_grow(s, (void **)&s->rules, s->n_rules, &s->cap_rules, sizeof(*s->rules)));
    char name[32];
    snprintf(name, sizeof(name), "value %u", s->n_rules);
    if (s->n_rules == 0) {
        snprintf(name, sizeof(name), "the whole schema");
    }
    s->rules[s->n_rules] =
        (qn_schema_rule){kept, n, hash, qn_gx_rule_new(s->b, qn_str_of(n == 0 ? "any value" : name))};
    s->table[at] = s->n_rules + 1;
    *out = qn_gx_rule_ref(s->b, s->rules[s->n_rules].rule);
    s->n_rules++;
    return qn_front_status(s->b, s->err);
}

/* Values that the schema lists, one by one; each is let through when all constraints hold of it. */
static qn_status listed_values(qn_sx *s, const qn_schema_clause *c, const qn_json *list, bool is_const, qn_gx *out)
{
    size_t n = is_const ? 1 : qn_json_count(list);
    qn_gx *ways = qn_sx_alloc(s, (n + 1) * sizeof(*ways));
    if (ways == NULL) {
        return qn_sx_no_memory(s);
    }
    uint32_t n_ways = 0;
    for (size_t i = 0; i < n; i++) {
        const qn_json *value = is_const ? list : qn_json_at(list, i);
        bool holds = (c->types & qn_sx_type_of(value)) != 0;
        if (holds) {
            QN_TRY(qn_sx_clause_holds(s, c, value, &holds));
        }
        if (holds) {
            QN_TRY(qn_sx_literal(s, value, &ways[n_ways++]));
        }
    }
    *out = qn_gx_alt(s->b, ways, n_ways);
    return QN_OK;
}

/* null and the booleans are few enough to be forbidden one by one by a negated enum. */
static qn_status words(qn_sx *s, const qn_schema_clause *c, qn_gx *ways, uint32_t *n_ways)
{
    static const char text[] = "[null,true,false]";
    static const unsigned types[] = {QN_ST_NULL, QN_ST_BOOL, QN_ST_BOOL};
    if ((c->types & (QN_ST_NULL | QN_ST_BOOL)) == 0) {
        return QN_OK;
    }
    qn_json_doc *doc;
    QN_TRY(qn_json_parse(s->b->budget, text, sizeof(text) - 1, 8, &doc, s->err));
    qn_status status = QN_OK;
    for (size_t i = 0; i < 3 && status == QN_OK; i++) {
        bool holds = false;
        const qn_json *value = qn_json_at(qn_json_root(doc), i);
        if ((c->types & types[i]) != 0) {
            status = qn_sx_clause_holds(s, c, value, &holds);
        }
        if (status == QN_OK && holds) {
            ways[(*n_ways)++] = qn_sx_word(s, i == 0 ? "null" : i == 1 ? "true" : "false");
        }
    }
    qn_json_free(doc);
    return status;
}

static qn_status clause_body(qn_sx *s, const qn_schema_clause *c, qn_gx *out)
{
    const qn_json *list;
    size_t n_values;
    bool is_const;
    if (qn_sx_listed(s, c, &list, &n_values, &is_const)) {
        return listed_values(s, c, list, is_const, out);
    }
    qn_gx ways[8];
    uint32_t n_ways = 0;
    QN_TRY(words(s, c, ways, &n_ways));
    if ((c->types & QN_ST_OBJECT) != 0) {
        QN_TRY(qn_sx_object(s, c, &ways[n_ways++]));
    }
    if ((c->types & QN_ST_ARRAY) != 0) {
        QN_TRY(qn_sx_array(s, c, &ways[n_ways++]));
    }
    if ((c->types & QN_ST_STRING) != 0) {
        QN_TRY(qn_sx_string(s, c, &ways[n_ways++]));
    }
    if ((c->types & QN_ST_NUMBER) != 0) {
        QN_TRY(qn_sx_number(s, c, &ways[n_ways++]));
    }
    *out = qn_gx_alt(s->b, ways, n_ways);
    return QN_OK;
}

qn_status qn_sx_typed(qn_sx *s, const qn_schema_item *items, size_t n_items, unsigned types, qn_gx *out)
{
    qn_schema_clause *c;
    QN_TRY(qn_sx_clauses(s, items, n_items, types, &c));
    uint32_t n = 0, n_ways = 0;
    for (const qn_schema_clause *x = c; x != NULL; x = x->next) {
        n++;
    }
    qn_gx *ways = qn_sx_alloc(s, (n + 1) * sizeof(*ways));
    if (ways == NULL) {
        return qn_sx_no_memory(s);
    }
    for (; c != NULL; c = c->next) {
        QN_TRY(clause_body(s, c, &ways[n_ways++]));
    }
    *out = qn_gx_alt(s->b, ways, n_ways);
    return qn_front_status(s->b, s->err);
}

/* ---- the whole ---- */

static void make_shared(qn_sx *s)
{
    static const qn_gx_range blanks[] = {{' ', ' '}, {'\n', '\n'}, {'\r', '\r'}, {'\t', '\t'}};
    qn_gx_builder *b = s->b;
    uint32_t most = s->o->max_whitespace < MAX_BLANKS ? s->o->max_whitespace : MAX_BLANKS;
    s->blank = most == 0 ? qn_gx_bytes(b, QN_STR("")) : qn_gx_repeat(b, qn_gx_class(b, blanks, 4), 0, most);
    s->comma = qn_gx_bytes(b, QN_STR(","));
    s->colon = qn_gx_bytes(b, QN_STR(":"));
    if (most != 0) {
        s->comma = qn_gx_cat(b, (qn_gx[]){s->blank, s->comma, s->blank}, 3);
        s->colon = qn_gx_cat(b, (qn_gx[]){s->blank, s->colon, s->blank}, 3);
    }
    qn_sx_respell(s, &(qn_sx_spelling){.is_raw = false}, qn_gx_bytes(b, QN_STR("\"")));
}

qn_status qn_sx_open(qn_sx *s, qn_gx_builder *b, const qn_json *root, const qn_schema_options *o, qn_error *err)
{
    *s = (qn_sx){.b = b, .root = root, .at = root, .o = o, .err = err};
    make_shared(s);
    QN_TRY(qn_front_status(s->b, s->err));
    QN_TRY(qn_sx_dialect(s, root, &s->is_draft7));
    return qn_sx_index(s);
}

qn_status qn_sx_finish(qn_sx *s)
{
    while (s->n_built < s->n_rules) {
        qn_schema_rule r = s->rules[s->n_built++];
        s->at = r.n_items != 0 ? r.items[0].schema : s->at;
        qn_gx body = 0;
        QN_TRY(qn_sx_typed(s, r.items, r.n_items, QN_ST_ALL, &body));
        qn_gx_rule_define(s->b, r.rule, body);
    }
    return qn_front_status(s->b, s->err);
}

void qn_sx_close(qn_sx *s)
{
    while (s->arena != NULL) {
        qn_schema_arena *next = s->arena->next;
        qn_free(s->arena);
        s->arena = next;
    }
}

static qn_status build(qn_sx *s)
{
    qn_gx root;
    QN_TRY(qn_sx_value(s, &(qn_schema_item){s->root, false}, 1, &root));
    s->b->root = s->rules[0].rule;
    QN_TRY(qn_sx_finish(s));
    return qn_sx_check_empty(s);
}

qn_status qn_front_schema(qn_gx_builder *b, const qn_json *schema, const qn_schema_options *o, qn_error *err)
{
    qn_sx s;
    qn_status status = qn_sx_open(&s, b, schema, o, err);
    status = status == QN_OK ? build(&s) : status;
    qn_sx_close(&s);
    return status;
}
