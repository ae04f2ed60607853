/* The memory that running a model takes, part by part. SPDX-License-Identifier: MIT */
#include "cli/inspect_memory.h"

#include "cli/input.h"

#include "cli/report.h"

#include <string.h>

/* What the process holds beside the library's blocks, as measured: the pages of the program and of the C library that
 * are used, the stack of each thread, and what the allocator keeps back. */
#define PROGRAM_BYTES ((uint64_t)3 << 20)
#define THREAD_BYTES ((uint64_t)96 << 10)

#define SMALL_BYTES ((uint64_t)64 << 10) /* parts that the table does not name */

void qn_inspect_session_options(const qn_options *o, uint32_t n_ctx, qn_session_options *out)
{
    qn_session_options_init(out);
    out->n_ctx = n_ctx;
    out->n_batch = (uint32_t)qn_options_int(o, QN_OPTION_ID_BATCH_SIZE);
    out->n_seqs = (uint32_t)qn_options_int(o, QN_OPTION_ID_N_SEQS);
    qn_input_kv_options(o, out);
}

static void add_part(void *ctx, const char *name, uint64_t bytes)
{
    qn_memory_plan *p = ctx;
    if (p->n_parts < QN_INSPECT_MAX_PARTS) {
        snprintf(p->parts[p->n_parts].name, sizeof(p->parts[0].name), "%s", name);
        p->parts[p->n_parts++].bytes = bytes;
    }
    p->peak_bytes += bytes;
}

void qn_inspect_memory(qn_runtime *rt, qn_model *m, const qn_options *o, const qn_session_options *s,
                       qn_memory_plan *out)
{
    uint64_t library;
    *out = (qn_memory_plan){.options = *s, .n_threads = qn_runtime_threads(rt)};
    out->is_mapped = !qn_options_flag(o, QN_OPTION_ID_NO_MMAP);
    out->known = qn_session_memory_need(m, s, add_part, out, &library, &out->why) == QN_OK;
    if (out->known) {
        add_part(out, "program", PROGRAM_BYTES + out->n_threads * THREAD_BYTES);
    }
}

static void print_part(const qn_memory_plan *p, const char *name, uint64_t bytes)
{
    static const char *const kv_names[] = {
        [QN_KV_F16] = "f16", [QN_KV_F32] = "f32", [QN_KV_BF16] = "bf16",
        [QN_KV_Q8] = "q8",   [QN_KV_Q4] = "q4",   [QN_KV_MIXED] = "mixed",
    };
    char text[QN_REPORT_BYTES_TEXT];
    printf("%-16s %12s", name, qn_report_bytes(bytes, text));
    if (strcmp(name, "model file") == 0) {
        fputs(p->is_mapped ? "  mapped" : "  read into memory", stdout);
    } else if (strcmp(name, "kv") == 0) {
        printf("  %u sequence%s of %u tokens in %s", (unsigned)p->options.n_seqs, p->options.n_seqs == 1 ? "" : "s",
               (unsigned)p->options.n_ctx, kv_names[p->options.kv_type]);
    } else if (strcmp(name, "arena") == 0) {
        printf("  steps of %u tokens", (unsigned)p->options.n_batch);
    } else if (strcmp(name, "thread scratch") == 0) {
        printf("  %u thread%s", (unsigned)p->n_threads, p->n_threads == 1 ? "" : "s");
    }
    putchar('\n');
}

void qn_inspect_memory_print(const qn_memory_plan *p)
{
    uint64_t others = 0;
    for (size_t i = 0; i < p->n_parts; i++) {
        if (p->parts[i].bytes < SMALL_BYTES && strcmp(p->parts[i].name, "kv") != 0) {
            others += p->parts[i].bytes;
        } else {
            print_part(p, p->parts[i].name, p->parts[i].bytes);
        }
    }
    print_part(p, "others", others);
    print_part(p, "together", p->peak_bytes);
}

void qn_inspect_memory_json(const qn_memory_plan *p, qn_json_writer *w)
{
    if (!p->known) {
        qn_json_null(w);
        return;
    }
    qn_json_begin_object(w);
    qn_json_key(w, "bytes");
    qn_json_u64(w, p->peak_bytes);
    qn_json_key(w, "sequences");
    qn_json_u64(w, p->options.n_seqs);
    qn_json_key(w, "batch");
    qn_json_u64(w, p->options.n_batch);
    qn_json_key(w, "threads");
    qn_json_u64(w, p->n_threads);
    qn_json_key(w, "mapped");
    qn_json_bool(w, p->is_mapped);
    qn_json_key(w, "parts");
    qn_json_begin_object(w);
    for (size_t i = 0; i < p->n_parts; i++) {
        qn_json_key(w, p->parts[i].name);
        qn_json_u64(w, p->parts[i].bytes);
    }
    qn_json_end_object(w);
    qn_json_end_object(w);
}
