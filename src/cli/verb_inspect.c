/* quern inspect: what a GGUF file holds, of whatever architecture and types the reader accepts, and whether the engine
 * would run it. SPDX-License-Identifier: MIT */
#include "cli/cli.h"
#include "cli/gguf_memory.h"
#include "cli/input.h"
#include "cli/inspect_check.h"
#include "cli/inspect_memory.h"
#include "cli/inspect_plan.h"
#include "cli/report.h"

#include "gguf/gguf.h"

#include <inttypes.h>
#include <stdlib.h>

#define QN_INSPECT_OWNER "inspect"
#define QN_INSPECT_SHORT_TEXT 72              /* bytes of a text in the table */
#define QN_INSPECT_SHORT_ARRAY 8              /* items of an array in the table */
#define QN_INSPECT_JSON_ARRAY 64              /* longer arrays are only described in JSON, unless --full */
#define QN_INSPECT_MAX_JSON ((size_t)4 << 30) /* a file's metadata, escaped, with room to spare */

typedef struct inspect {
    const qn_gguf *g;
    bool full;
    uint32_t n_ctx;
    qn_memory_need need;
    qn_kv_type kv_type;
    qn_memory_plan memory;
    qn_verdict verdict;
    qn_error why; /* unless the verdict is good */
} inspect;

static const char *const type_names[] = {"u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
                                         "bool", "string", "array", "u64", "i64", "f64"};

/* A numeric array of one item made from a scalar, so that both are read by the same calls. */
static qn_gguf_kv as_array(const qn_gguf_kv *kv)
{
    qn_gguf_kv array = *kv;
    array.type = QN_GGUF_ARRAY;
    array.item_type = kv->type;
    array.n_items = 1;
    return array;
}

/* The shortest decimal that reads back as the same float. */
static double widen(float v)
{
    char text[32];
    for (int digits = 6; digits <= 9; digits++) {
        snprintf(text, sizeof(text), "%.*g", digits, (double)v);
        if (strtof(text, NULL) == v) {
            break;
        }
    }
    return strtod(text, NULL);
}

static bool is_real(qn_gguf_type type)
{
    return type == QN_GGUF_F32 || type == QN_GGUF_F64;
}

/* Item i of a numeric array as double. */
static double real_item(const qn_gguf_kv *array, uint64_t i)
{
    if (array->item_type == QN_GGUF_F64) {
        double v;
        memcpy(&v, array->raw + i * sizeof(v), sizeof(v));
        return v;
    }
    float v = 0;
    qn_gguf_item_f32(array, i, &v);
    return widen(v);
}

/* ---- the table ---------------------------------------------------------------------------------- */

static void print_item(const qn_gguf_kv *array, uint64_t i)
{
    uint64_t u;
    int64_t s;
    if (is_real(array->item_type)) {
        printf("%.9g", real_item(array, i));
    } else if (array->item_type == QN_GGUF_BOOL && qn_gguf_item_u64(array, i, &u)) {
        fputs(u != 0 ? "true" : "false", stdout);
    } else if (qn_gguf_item_u64(array, i, &u)) {
        printf("%" PRIu64, u);
    } else if (qn_gguf_item_i64(array, i, &s)) {
        printf("%" PRId64, s);
    }
}

static void print_array(const inspect *in, const qn_gguf_kv *kv)
{
    uint64_t n_shown = in->full || kv->n_items <= QN_INSPECT_SHORT_ARRAY ? kv->n_items : QN_INSPECT_SHORT_ARRAY;
    qn_gguf_iter it = {0};
    qn_str s;
    putchar('[');
    if (kv->item_type == QN_GGUF_ARRAY) {
        n_shown = 0;
    }
    for (uint64_t i = 0; i < n_shown; i++) {
        fputs(i > 0 ? ", " : "", stdout);
        if (kv->item_type != QN_GGUF_STRING) {
            print_item(kv, i);
        } else if (qn_gguf_next_str(kv, &it, &s)) {
            putchar('"');
            qn_report_escaped(stdout, s, in->full ? SIZE_MAX : QN_INSPECT_SHORT_TEXT / 4);
            putchar('"');
        }
    }
    if (n_shown < kv->n_items) {
        printf("%s... %" PRIu64 " items", n_shown > 0 ? ", " : "", kv->n_items);
    }
    putchar(']');
}

static void print_metadata(const inspect *in)
{
    for (size_t i = 0; i < qn_gguf_n_kv(in->g); i++) {
        const qn_gguf_kv *kv = qn_gguf_kv_at(in->g, i);
        char type[24];
        snprintf(type, sizeof(type), "%s%s%s", type_names[kv->type], kv->type == QN_GGUF_ARRAY ? " of " : "",
                 kv->type == QN_GGUF_ARRAY ? type_names[kv->item_type] : "");
        qn_report_escaped(stdout, kv->key, QN_GGUF_MAX_KEY);
        printf("%*s  %-15s ", kv->key.len < 44 ? (int)(44 - kv->key.len) : 0, "", type);
        if (kv->type == QN_GGUF_ARRAY) {
            print_array(in, kv);
        } else if (kv->type == QN_GGUF_STRING) {
            qn_str s = {NULL, 0};
            qn_gguf_iter it = {0};
            qn_gguf_kv array = as_array(kv);
            qn_gguf_next_str(&array, &it, &s);
            putchar('"');
            qn_report_escaped(stdout, s, in->full ? SIZE_MAX : QN_INSPECT_SHORT_TEXT);
            putchar('"');
        } else {
            qn_gguf_kv array = as_array(kv);
            print_item(&array, 0);
        }
        putchar('\n');
    }
}

static void print_tensors(const inspect *in)
{
    for (size_t i = 0; i < qn_gguf_n_tensors(in->g); i++) {
        const qn_gguf_tensor *t = qn_gguf_tensor_at(in->g, i);
        char shape[96], bytes[QN_REPORT_BYTES_TEXT];
        int n = 0;
        for (uint32_t d = 0; d < t->n_dims; d++) {
            n += snprintf(shape + n, sizeof(shape) - (size_t)n, "%s%" PRIu64, d > 0 ? " x " : "", t->ne[d]);
        }
        qn_report_escaped(stdout, t->name, QN_GGUF_MAX_NAME);
        printf("%*s  %-8s %12s  %s\n", t->name.len < 44 ? (int)(44 - t->name.len) : 0, "", qn_type_name(t->type),
               qn_report_bytes(t->bytes, bytes), shape);
    }
}

static void print_memory(const inspect *in)
{
    static const char *const kv_names[] = {
        [QN_KV_F16] = "f16", [QN_KV_F32] = "f32", [QN_KV_BF16] = "bf16",
        [QN_KV_Q8] = "q8",   [QN_KV_Q4] = "q4",   [QN_KV_MIXED] = "mixed",
    };
    char text[QN_REPORT_BYTES_TEXT];
    if (in->memory.known) {
        qn_inspect_memory_print(&in->memory);
        return;
    }
    printf("%-12s %s\n", "weights", qn_report_bytes(in->need.weight_bytes, text));
    if (in->need.kv_known) {
        printf("%-12s %s for %u tokens in %s (estimate)\n", "kv", qn_report_bytes(in->need.kv_bytes, text),
               (unsigned)in->n_ctx, kv_names[in->kv_type]);
        printf("%-12s %s\n", "together", qn_report_bytes(in->need.weight_bytes + in->need.kv_bytes, text));
    } else {
        printf("%-12s unknown: the metadata does not say\n", "kv");
    }
}

static void print_tables(const inspect *in)
{
    char text[QN_REPORT_BYTES_TEXT];
    printf("GGUF version %u, %s in %u file%s, alignment %u\n\nMETADATA (%zu)\n", (unsigned)qn_gguf_version(in->g),
           qn_report_bytes(qn_gguf_file_bytes(in->g), text), (unsigned)qn_gguf_n_shards(in->g),
           qn_gguf_n_shards(in->g) == 1 ? "" : "s", (unsigned)qn_gguf_alignment(in->g), qn_gguf_n_kv(in->g));
    print_metadata(in);
    printf("\nTENSORS (%zu, %" PRIu64 " parameters)\n", qn_gguf_n_tensors(in->g), in->need.n_params);
    print_tensors(in);
    printf("\nTYPES\n");
    for (uint32_t t = 0; t < QN_TYPE_COUNT; t++) {
        if (in->need.n_tensors_of[t] > 0) {
            printf("%-8s %6" PRIu64 " tensors %12s\n", qn_type_name(t), in->need.n_tensors_of[t],
                   qn_report_bytes(in->need.bytes_of[t], text));
        }
    }
    printf("\nMEMORY\n");
    print_memory(in);
    printf("\nCHECK\n");
    qn_verdict_print(in->verdict, &in->why);
}

/* ---- JSON --------------------------------------------------------------------------------------- */

static void json_item(qn_json_writer *w, const qn_gguf_kv *array, uint64_t i)
{
    uint64_t u;
    int64_t s;
    if (is_real(array->item_type)) {
        qn_json_f64(w, real_item(array, i));
    } else if (array->item_type == QN_GGUF_BOOL && qn_gguf_item_u64(array, i, &u)) {
        qn_json_bool(w, u != 0);
    } else if (qn_gguf_item_u64(array, i, &u)) {
        qn_json_u64(w, u);
    } else if (qn_gguf_item_i64(array, i, &s)) {
        qn_json_i64(w, s);
    } else {
        qn_json_null(w);
    }
}

static void json_value(const inspect *in, qn_json_writer *w, const qn_gguf_kv *kv)
{
    qn_gguf_iter it = {0};
    qn_str s = {NULL, 0};
    if (kv->type == QN_GGUF_STRING) {
        qn_gguf_kv array = as_array(kv);
        qn_gguf_next_str(&array, &it, &s);
        qn_json_string(w, s);
    } else if (kv->type != QN_GGUF_ARRAY) {
        qn_gguf_kv array = as_array(kv);
        json_item(w, &array, 0);
    } else if (kv->item_type == QN_GGUF_ARRAY || (!in->full && kv->n_items > QN_INSPECT_JSON_ARRAY)) {
        qn_json_begin_object(w);
        qn_json_key(w, "type");
        qn_json_cstring(w, "array");
        qn_json_key(w, "item");
        qn_json_cstring(w, type_names[kv->item_type]);
        qn_json_key(w, "count");
        qn_json_u64(w, kv->n_items);
        qn_json_end_object(w);
    } else {
        qn_json_begin_array(w);
        for (uint64_t i = 0; i < kv->n_items; i++) {
            if (kv->item_type != QN_GGUF_STRING) {
                json_item(w, kv, i);
            } else if (qn_gguf_next_str(kv, &it, &s)) {
                qn_json_string(w, s);
            }
        }
        qn_json_end_array(w);
    }
}

static void json_tensors(const inspect *in, qn_json_writer *w)
{
    qn_json_begin_array(w);
    for (size_t i = 0; i < qn_gguf_n_tensors(in->g); i++) {
        const qn_gguf_tensor *t = qn_gguf_tensor_at(in->g, i);
        qn_json_begin_object(w);
        qn_json_key(w, "name");
        qn_json_string(w, t->name);
        qn_json_key(w, "type");
        qn_json_cstring(w, qn_type_name(t->type));
        qn_json_key(w, "shape");
        qn_json_begin_array(w);
        for (uint32_t d = 0; d < t->n_dims; d++) {
            qn_json_u64(w, t->ne[d]);
        }
        qn_json_end_array(w);
        qn_json_key(w, "bytes");
        qn_json_u64(w, t->bytes);
        qn_json_end_object(w);
    }
    qn_json_end_array(w);
}

static void json_memory(const inspect *in, qn_json_writer *w)
{
    qn_json_begin_object(w);
    qn_json_key(w, "weight_bytes");
    qn_json_u64(w, in->need.weight_bytes);
    qn_json_key(w, "context");
    qn_json_u64(w, in->n_ctx);
    qn_json_key(w, "kv_bytes");
    if (in->need.kv_known) {
        qn_json_u64(w, in->need.kv_bytes);
    } else {
        qn_json_null(w);
    }
    qn_json_key(w, "peak");
    qn_inspect_memory_json(&in->memory, w);
    qn_json_end_object(w);
}

static void json_types(const inspect *in, qn_json_writer *w)
{
    qn_json_begin_object(w);
    for (uint32_t t = 0; t < QN_TYPE_COUNT; t++) {
        if (in->need.n_tensors_of[t] > 0) {
            qn_json_key(w, qn_type_name(t));
            qn_json_begin_object(w);
            qn_json_key(w, "tensors");
            qn_json_u64(w, in->need.n_tensors_of[t]);
            qn_json_key(w, "bytes");
            qn_json_u64(w, in->need.bytes_of[t]);
            qn_json_end_object(w);
        }
    }
    qn_json_end_object(w);
}

static bool print_json(const inspect *in)
{
    qn_buf out;
    qn_json_writer w;
    qn_buf_init(&out, NULL, QN_INSPECT_OWNER, QN_INSPECT_MAX_JSON);
    qn_json_writer_init(&w, &out);
    qn_json_begin_object(&w);
    qn_json_key(&w, "version");
    qn_json_u64(&w, qn_gguf_version(in->g));
    qn_json_key(&w, "alignment");
    qn_json_u64(&w, qn_gguf_alignment(in->g));
    qn_json_key(&w, "files");
    qn_json_u64(&w, qn_gguf_n_shards(in->g));
    qn_json_key(&w, "file_bytes");
    qn_json_u64(&w, qn_gguf_file_bytes(in->g));
    qn_json_key(&w, "metadata");
    qn_json_begin_object(&w);
    for (size_t i = 0; i < qn_gguf_n_kv(in->g); i++) {
        const qn_gguf_kv *kv = qn_gguf_kv_at(in->g, i);
        qn_json_key_str(&w, kv->key);
        json_value(in, &w, kv);
    }
    qn_json_end_object(&w);
    qn_json_key(&w, "tensors");
    json_tensors(in, &w);
    qn_json_key(&w, "parameters");
    qn_json_u64(&w, in->need.n_params);
    qn_json_key(&w, "types");
    json_types(in, &w);
    qn_json_key(&w, "memory");
    json_memory(in, &w);
    qn_json_key(&w, "check");
    qn_verdict_json(in->verdict, &in->why, &w);
    qn_json_end_object(&w);
    bool ok = qn_report_json(&out);
    qn_buf_free(&out);
    return ok;
}

/* ---- the verb ----------------------------------------------------------------------------------- */

static int inspect_file(const qn_options *o, const char *path)
{
    qn_error err;
    qn_gguf *g;
    if (qn_gguf_open(path, NULL, &g, &err) != QN_OK) {
        return qn_report_failure("inspect", &err);
    }
    inspect in = {.g = g, .full = qn_options_flag(o, QN_OPTION_ID_FULL)};
    in.n_ctx = (uint32_t)qn_options_int(o, QN_OPTION_ID_CTX_SIZE);
    if (in.n_ctx == 0) {
        in.n_ctx = qn_memory_trained_context(g);
    }
    qn_session_options kv;
    qn_session_options_init(&kv);
    qn_input_kv_options(o, &kv);
    in.kv_type = kv.kv_type;
    qn_memory_estimate(g, in.n_ctx, &kv, &in.need);
    in.verdict = qn_inspect_check(path, g, o, in.n_ctx, &in.memory, &in.why);
    bool ok = true;
    if (qn_options_flag(o, QN_OPTION_ID_JSON)) {
        ok = print_json(&in);
    } else {
        print_tables(&in);
    }
    if (qn_gguf_damaged(g)) {
        qn_fail(&err, QN_EDAMAGED, "%s: the file was cut short while it was read", path);
        qn_report_failure("inspect", &err);
        ok = false;
    } else if (in.verdict == QN_VERDICT_BROKEN) {
        qn_report_failure("inspect", &in.why);
        ok = false;
    }
    qn_gguf_close(g);
    return ok ? QN_EXIT_DONE : QN_EXIT_FAILED;
}

int qn_verb_inspect(const qn_options *o)
{
    size_t n_rest;
    const char *const *rest = qn_options_rest(o, &n_rest);
    const char *model = qn_options_text(o, QN_OPTION_ID_MODEL);
    if (n_rest == 0 && model == NULL) {
        qn_error err;
        qn_fail(&err, QN_EINVAL, "name the file");
        return qn_report_usage("inspect", &err);
    }
    const char *path = n_rest > 0 ? rest[0] : model;
    return qn_options_flag(o, QN_OPTION_ID_PLAN) ? qn_inspect_plan(o, path) : inspect_file(o, path);
}
