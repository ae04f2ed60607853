/* What the files of src/gguf share: the cursor, the parts of an open file, the hashed names.
 * SPDX-License-Identifier: MIT */
#ifndef QN_GGUF_GGUF_INT_H
#define QN_GGUF_GGUF_INT_H

#include "base/map.h"
#include "gguf/gguf.h"

#include <inttypes.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "tensors are used in place, so the machine must be little-endian as the files are"
#endif

#define QN_GGUF_OWNER "gguf"
#define QN_GGUF_FILE_OWNER "model file"
#define QN_GGUF_DEFAULT_ALIGNMENT 32u
#define QN_GGUF_HEADER_BYTES 24u
/* The least that one entry can take in a file, however malformed: a count of them is held against the bytes left before
 * memory is asked for. Key, type, value of one byte; name, n_dims, type, offset. */
#define QN_GGUF_MIN_KV_BYTES (8u + 4 + 1)
#define QN_GGUF_MIN_TENSOR_BYTES (8u + 4 + 4 + 8)

/* ---- cursor.c: reading fields in order, never past the end ------------------------------------------ */

typedef struct qn_gguf_cursor {
    const uint8_t *data;
    uint64_t at;
    uint64_t end;        /* reading stops here: the file's end, or less where the metadata budget ends */
    uint64_t file_bytes; /* for the text of an error */
    uint64_t n_walked;   /* strings and inner arrays so far */
} qn_gguf_cursor;

static inline uint64_t qn_gguf_left(const qn_gguf_cursor *c)
{
    return c->end - c->at;
}

/* False: fewer bytes are left; the cursor stays. Inline, as a vocabulary has half a million strings. */
static inline bool qn_gguf_take(qn_gguf_cursor *c, uint64_t n, const uint8_t **out)
{
    if (n > qn_gguf_left(c)) {
        return false;
    }
    *out = c->data + c->at;
    c->at += n;
    return true;
}

static inline bool qn_gguf_take_u32(qn_gguf_cursor *c, uint32_t *out)
{
    const uint8_t *p;
    if (!qn_gguf_take(c, sizeof(*out), &p)) {
        return false;
    }
    memcpy(out, p, sizeof(*out));
    return true;
}

static inline bool qn_gguf_take_u64(qn_gguf_cursor *c, uint64_t *out)
{
    const uint8_t *p;
    if (!qn_gguf_take(c, sizeof(*out), &p)) {
        return false;
    }
    memcpy(out, p, sizeof(*out));
    return true;
}

/* QN_EFORMAT for a field that needs `need` bytes more than there are. */
qn_status qn_gguf_fail_cut(const qn_gguf_cursor *c, uint64_t need, qn_error *err, const char *field, ...)
    QN_PRINTF(4, 5);

/* Reads a key or a tensor's name: 1..max bytes of UTF-8 without control characters. what and i name it in errors. */
qn_status qn_gguf_take_name(qn_gguf_cursor *c, uint64_t max, const char *what, uint64_t i, qn_str *out, qn_error *err);

/* ---- index.c: O(1) search by name ------------------------------------------------------------------- */

/* Over an array of structs whose first member is a qn_str. The hash is keyed per open file, so that a file cannot be
 * made whose names all collide. */
typedef struct qn_gguf_index {
    const char *items;
    size_t stride;
    uint32_t *slots; /* item + 1; 0: free */
    uint64_t mask;   /* slots - 1; at most half of them are used */
    uint64_t key[2];
} qn_gguf_index;

#define QN_GGUF_NONE SIZE_MAX

/* Room for n items, none added yet. False: no memory. */
bool qn_gguf_index_init(qn_gguf_index *x, qn_budget *b, const void *items, size_t stride, size_t n);
void qn_gguf_index_free(qn_gguf_index *x);
bool qn_gguf_index_add(qn_gguf_index *x, size_t i); /* false: its name is there already */
size_t qn_gguf_index_find(const qn_gguf_index *x, qn_str name);

/* ---- metadata.c ------------------------------------------------------------------------------------- */

typedef struct qn_gguf_meta {
    qn_gguf_kv *kvs;
    size_t n;
    qn_gguf_index index;
} qn_gguf_meta;

/* Reads n entries at the cursor. On failure m still needs qn_gguf_meta_free(). */
qn_status qn_gguf_meta_read(qn_gguf_meta *m, qn_budget *b, qn_gguf_cursor *c, uint64_t n, qn_error *err);
void qn_gguf_meta_free(qn_gguf_meta *m);
const qn_gguf_kv *qn_gguf_meta_find(const qn_gguf_meta *m, qn_str key);
/* general.alignment, or 32. */
qn_status qn_gguf_meta_alignment(const qn_gguf_meta *m, uint32_t *out, qn_error *err);
/* Checks a value of the given kind at the cursor and passes over it; kv->key is set and names it in errors. */
qn_status qn_gguf_take_value(qn_gguf_cursor *c, qn_gguf_kv *kv, uint32_t type, qn_error *err);

/* Bytes of a value of that type; 0 for strings and arrays. */
uint64_t qn_gguf_type_bytes(qn_gguf_type t);
const char *qn_gguf_type_label(qn_gguf_type t); /* "a u32", for errors */

/* ---- lookup.c --------------------------------------------------------------------------------------- */

/* Reading one entry, for the getters and for the keys that the reader itself needs. */
qn_status qn_gguf_kv_u64(const qn_gguf_kv *kv, uint64_t max, uint64_t *out, qn_error *err);

/* ---- parts ------------------------------------------------------------------------------------------ */

typedef struct qn_gguf_part {
    qn_map *map;    /* or the file's bytes in memory; NULL: the caller's memory */
    uint64_t fetch; /* ticket of qn_fetch_start() */
    const uint8_t *data;
    uint64_t bytes;
    uint32_t version;
    uint32_t alignment;
    uint64_t n_kv;
    uint64_t n_tensors;
    qn_gguf_cursor cursor; /* where the next section of the file begins */
} qn_gguf_part;

struct qn_gguf {
    qn_budget *budget;
    qn_gguf_loading how;
    qn_gguf_part *parts;
    uint32_t n_parts;
    uint64_t meta_left; /* of QN_GGUF_MAX_META */
    uint64_t kv_left;   /* of QN_GGUF_MAX_KV */
    qn_gguf_meta meta;  /* of the first part */
    qn_gguf_tensor *tensors;
    size_t n_tensors;
    qn_gguf_index index; /* of tensors */
};

/* reader.c, in this order for each part: its map, what g->how wants beside or in place of that, its header, its
 * metadata. */
qn_status qn_gguf_part_map(qn_gguf_part *p, const char *path, qn_error *err);
qn_status qn_gguf_part_load(const qn_gguf *g, qn_gguf_part *p, const char *path, qn_error *err);
qn_status qn_gguf_part_header(const qn_gguf *g, qn_gguf_part *p, qn_error *err);
qn_status qn_gguf_part_meta(qn_gguf *g, qn_gguf_part *p, qn_gguf_meta *m, qn_error *err);
/* Holds head[0, head_bytes), the bytes before the data of a file of file_bytes, against all that the reader asks. */
qn_status qn_gguf_check_head(qn_budget *b, const void *head, size_t head_bytes, uint64_t file_bytes, qn_error *err);

/* shards.c: opens the parts that follow the first, reads their headers and metadata and checks that they belong
 * together. For a file that is not split it does nothing. path NULL: split files are refused. */
qn_status qn_gguf_open_shards(qn_gguf *g, const char *path, qn_error *err);

/* tensors.c: the descriptions of all parts, checked for everything but their data pointers. */
qn_status qn_gguf_read_tensors(qn_gguf *g, qn_error *err);

#endif
