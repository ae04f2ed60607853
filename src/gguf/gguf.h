/* GGUF files, versions 2 and 3. The reader trusts nothing: a file that it accepts is safe for everything after it;
 * one that it refuses costs little time and memory, and the error names the field.
 * SPDX-License-Identifier: MIT */
#ifndef QN_GGUF_GGUF_H
#define QN_GGUF_GGUF_H

#include "base/alloc.h"
#include "base/str.h"
#include "quant/quant.h"

/* Limits, each with its reason. */
#define QN_GGUF_MAX_KV 65536             /* real files have under 100 */
#define QN_GGUF_MAX_TENSORS 131072       /* the largest known have about 3000; split ones add up */
#define QN_GGUF_MAX_NAME 256             /* tensor names; real ones stay under 64 */
#define QN_GGUF_MAX_KEY 1024             /* metadata keys; the specification says 65535, real ones stay under 80 */
#define QN_GGUF_MAX_ARRAY (16u << 20)    /* elements of an array; the largest vocabularies have 262144 */
#define QN_GGUF_MAX_STRINGS (4u << 20)   /* of all arrays, inner arrays too: walked one by one; real: under a million */
#define QN_GGUF_MAX_DEPTH 4              /* arrays of arrays */
#define QN_GGUF_MAX_SHARDS 1024          /* parts of a split file */
#define QN_GGUF_MAX_ALIGNMENT (1u << 16) /* power of two; 32 is usual */
#define QN_GGUF_MIN_ALIGNMENT 8          /* so that every element type of a tensor lies aligned */
#define QN_GGUF_MAX_META (64u << 20)     /* bytes of metadata, all of which are walked; real files have under 32 MiB */

/* clang-format off */
typedef enum qn_gguf_type {
    QN_GGUF_U8, QN_GGUF_I8, QN_GGUF_U16, QN_GGUF_I16, QN_GGUF_U32, QN_GGUF_I32, QN_GGUF_F32,
    QN_GGUF_BOOL, QN_GGUF_STRING, QN_GGUF_ARRAY, QN_GGUF_U64, QN_GGUF_I64, QN_GGUF_F64
} qn_gguf_type;
/* clang-format on */

typedef struct qn_gguf_kv {
    qn_str key;
    qn_gguf_type type;
    qn_gguf_type item_type; /* of an array */
    uint64_t n_items;       /* of an array */
    const uint8_t *raw;     /* value (or first item) as it lies in the file, unaligned */
    uint64_t raw_bytes;
} qn_gguf_kv;

typedef struct qn_gguf_tensor {
    qn_str name;
    qn_type type;
    uint32_t n_dims;    /* 1..4 */
    uint64_t ne[4];     /* elements per dimension, fastest first; 1 beyond n_dims; none is 0 */
    uint64_t row_bytes; /* of ne[0] elements */
    uint64_t bytes;     /* the whole tensor */
    uint64_t offset;    /* from the start of its file */
    uint32_t i_shard;
    const uint8_t *data; /* into the map, aligned as the file says */
} qn_gguf_tensor;

typedef struct qn_gguf qn_gguf;

/* Opens the file and, when it is the first part of a split one, the other parts beside it. */
qn_status qn_gguf_open(const char *path, qn_budget *b, qn_gguf **out, qn_error *err);

/* Told now and then how much of one of the files has been read; other than 0: stop. */
typedef int qn_gguf_progress_fn(void *ctx, uint64_t n_done, uint64_t n_bytes);

/* What is done with each file after a look at its header. */
typedef struct qn_gguf_loading {
    bool read;  /* it is read into memory (owner "model file") in place of being mapped; tensors are then aligned to 64
                 * bytes at most */
    bool fetch; /* unless it is read: the system begins to read it, as qn_fetch_start() does */
    qn_gguf_progress_fn *progress; /* of reading; may be NULL */
    void *ctx;
} qn_gguf_loading;

/* qn_gguf_open() in such a way. QN_EABORTED: progress said so. */
qn_status qn_gguf_load(const char *path, const qn_gguf_loading *how, qn_budget *b, qn_gguf **out, qn_error *err);
/* The same for bytes in memory, which must outlive it; a split file is QN_EUNSUPPORTED. Tensor data is then aligned
 * only as far as `data` is. */
qn_status qn_gguf_open_memory(const void *data, size_t n_bytes, qn_budget *b, qn_gguf **out, qn_error *err);
void qn_gguf_close(qn_gguf *g);

/* Puts the file's name, without its folder, before the text of *err (if not NULL), as qn_gguf_open() does with its own
 * failures. Returns status, so that a failure can be passed on with it. */
qn_status qn_gguf_name_file(const char *path, qn_status status, qn_error *err);

uint32_t qn_gguf_version(const qn_gguf *g);
uint32_t qn_gguf_alignment(const qn_gguf *g); /* of the first part */
uint32_t qn_gguf_n_shards(const qn_gguf *g);
uint64_t qn_gguf_file_bytes(const qn_gguf *g); /* all parts */
bool qn_gguf_damaged(const qn_gguf *g);        /* a mapped part was cut short while open */

/* Keeps all parts in memory; waits until all is read. QN_EFULL: not allowed; err names the limit. */
qn_status qn_gguf_lock(const qn_gguf *g, qn_error *err);

/* Metadata of the first part. */
size_t qn_gguf_n_kv(const qn_gguf *g);
const qn_gguf_kv *qn_gguf_kv_at(const qn_gguf *g, size_t i);       /* NULL: there is no such i */
const qn_gguf_kv *qn_gguf_find(const qn_gguf *g, const char *key); /* NULL: none */

/* Typed reading. QN_ENOTFOUND: no such key (err names it); QN_EFORMAT: another type, or the value does not fit
 * (any integer type serves for u32, i32 and u64; f32 and f64 for f32). */
qn_status qn_gguf_get_u32(const qn_gguf *g, const char *key, uint32_t *out, qn_error *err);
qn_status qn_gguf_get_i32(const qn_gguf *g, const char *key, int32_t *out, qn_error *err);
qn_status qn_gguf_get_u64(const qn_gguf *g, const char *key, uint64_t *out, qn_error *err);
qn_status qn_gguf_get_f32(const qn_gguf *g, const char *key, float *out, qn_error *err);
qn_status qn_gguf_get_bool(const qn_gguf *g, const char *key, bool *out, qn_error *err);
qn_status qn_gguf_get_str(const qn_gguf *g, const char *key, qn_str *out, qn_error *err);

/* Array items by index, for arrays of numbers; false: kv is no such array, or i is out of range, or no fit. */
bool qn_gguf_item_u64(const qn_gguf_kv *kv, uint64_t i, uint64_t *out); /* non-negative integers and bools */
bool qn_gguf_item_i64(const qn_gguf_kv *kv, uint64_t i, int64_t *out);
bool qn_gguf_item_f32(const qn_gguf_kv *kv, uint64_t i, float *out);

/* Array of strings, in order: it = {0}; while (qn_gguf_next_str(kv, &it, &s)). The strings stay in the map. */
typedef struct qn_gguf_iter {
    uint64_t i, offset;
} qn_gguf_iter;
bool qn_gguf_next_str(const qn_gguf_kv *kv, qn_gguf_iter *it, qn_str *out);

size_t qn_gguf_n_tensors(const qn_gguf *g);                                    /* of all parts */
const qn_gguf_tensor *qn_gguf_tensor_at(const qn_gguf *g, size_t i);           /* NULL: there is no such i */
const qn_gguf_tensor *qn_gguf_find_tensor(const qn_gguf *g, const char *name); /* NULL: none; O(1) */

/* ---- writer (version 3) ------------------------------------------------------------------------- */

typedef struct qn_gguf_writer qn_gguf_writer;

/* Collect metadata and tensor descriptions, then write: header first, tensor data after it in the order of
 * qn_gguf_add_tensor(). Errors stick and come back from qn_gguf_write(). What the reader would refuse is QN_EINVAL,
 * with the reader's text. A writer may write more than once. alignment 0: 32. The key general.alignment is added when
 * it is needed and nobody set it; a value other than `alignment` is an error. */
qn_status qn_gguf_writer_open(qn_budget *b, uint32_t alignment, qn_gguf_writer **out, qn_error *err);
void qn_gguf_writer_close(qn_gguf_writer *w);
void qn_gguf_set_u32(qn_gguf_writer *w, const char *key, uint32_t v);
void qn_gguf_set_i32(qn_gguf_writer *w, const char *key, int32_t v);
void qn_gguf_set_u64(qn_gguf_writer *w, const char *key, uint64_t v);
void qn_gguf_set_f32(qn_gguf_writer *w, const char *key, float v);
void qn_gguf_set_bool(qn_gguf_writer *w, const char *key, bool v);
void qn_gguf_set_str(qn_gguf_writer *w, const char *key, qn_str v);
/* Numbers or bools (one byte each, 0 or 1). */
void qn_gguf_set_array(qn_gguf_writer *w, const char *key, qn_gguf_type item, const void *items, uint64_t n);
void qn_gguf_set_strs(qn_gguf_writer *w, const char *key, const qn_str *items, uint64_t n);
void qn_gguf_set_kv(qn_gguf_writer *w, const qn_gguf_kv *kv); /* a copy of what a reader gave */
/* data is read when writing and must live until then. */
void qn_gguf_add_tensor(qn_gguf_writer *w, const char *name, qn_type type, uint32_t n_dims, const uint64_t *ne,
                        const void *data);
/* Writes to path by way of a temporary file beside it, flushed to the disk and renamed at the end: path holds either
 * what it held or the whole new file. QN_EIO: err has the path and the reason. */
qn_status qn_gguf_write(qn_gguf_writer *w, const char *path, qn_error *err);
/* The same into memory: *out is for qn_free(). */
qn_status qn_gguf_write_memory(qn_gguf_writer *w, uint8_t **out, size_t *n_bytes, qn_error *err);

#endif
