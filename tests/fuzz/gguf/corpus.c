/* Writes the seeds of reader_fuzz into a folder: gguf_corpus FOLDER. Small valid files that between them have every
 * type of metadata, every type of tensor, nested arrays, a large alignment and version 2.
 * SPDX-License-Identifier: MIT */
#include "gguf/gguf.h"

#include <stdio.h>
#include <stdlib.h>

static const uint8_t filler[4096] = {1, 0, 1, 1, 0x80, 0x3f, 1, 1};

static void check(qn_status status, const qn_error *err)
{
    if (status != QN_OK) {
        fprintf(stderr, "%s: %s\n", qn_status_name(status), err->what);
        exit(1);
    }
}

static qn_gguf_writer *open_writer(uint32_t alignment)
{
    qn_gguf_writer *w;
    qn_error err;
    check(qn_gguf_writer_open(NULL, alignment, &w, &err), &err);
    return w;
}

/* Writes and closes w. version 2 differs from 3 in its number alone. */
static void save(qn_gguf_writer *w, const char *folder, const char *name, uint8_t version)
{
    char path[4096];
    uint8_t *data;
    size_t n_bytes;
    qn_error err;
    check(qn_gguf_write_memory(w, &data, &n_bytes, &err), &err);
    qn_gguf_writer_close(w);
    data[4] = version;
    snprintf(path, sizeof(path), "%s/%s.gguf", folder, name);
    FILE *f = fopen(path, "wb");
    if (f == NULL || fwrite(data, 1, n_bytes, f) != n_bytes || fclose(f) != 0) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    qn_free(data);
}

static void set_every_type(qn_gguf_writer *w)
{
    static const uint8_t sizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    char key[32];
    for (unsigned t = 0; t < sizeof(sizes); t++) {
        if (sizes[t] == 0) {
            continue;
        }
        snprintf(key, sizeof(key), "one.%u", t);
        qn_gguf_set_kv(w, &(qn_gguf_kv){qn_str_of(key), (qn_gguf_type)t, .raw = filler, .raw_bytes = sizes[t]});
        snprintf(key, sizeof(key), "many.%u", t);
        qn_gguf_set_array(w, key, (qn_gguf_type)t, filler, t == QN_GGUF_BOOL ? 4 : 3);
    }
    qn_gguf_set_str(w, "text", QN_STR("caf\xc3\xa9\xff"));
    qn_gguf_set_strs(w, "texts", (qn_str[]){QN_STR("a"), QN_STR(""), QN_STR("bc")}, 3);
    qn_gguf_set_strs(w, "empty", NULL, 0);
}

/* An array of n_deep arrays, one inside the other, around one u8. */
static void set_nested(qn_gguf_writer *w, const char *key, int n_deep)
{
    uint8_t raw[12 * QN_GGUF_MAX_DEPTH + 1];
    size_t n = 0;
    uint64_t one = 1;
    for (int i = 1; i <= n_deep; i++) {
        uint32_t item = i < n_deep ? QN_GGUF_ARRAY : QN_GGUF_U8;
        memcpy(raw + n, &item, sizeof(item));
        memcpy(raw + n + sizeof(item), &one, sizeof(one));
        n += sizeof(item) + sizeof(one);
    }
    raw[n++] = 7;
    qn_gguf_set_kv(w, &(qn_gguf_kv){qn_str_of(key), QN_GGUF_ARRAY, QN_GGUF_ARRAY, 1, raw, n});
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
        return 2;
    }
    const char *folder = argv[1];
    static const uint64_t ne[4] = {256, 2, 1, 1};

    save(open_writer(32), folder, "empty", 3);

    qn_gguf_writer *w = open_writer(32);
    set_every_type(w);
    save(w, folder, "types-v3", 3);
    w = open_writer(32);
    set_every_type(w);
    qn_gguf_add_tensor(w, "weight", QN_TYPE_F32, 2, (uint64_t[]){2, 2}, filler);
    save(w, folder, "types-v2", 2);

    w = open_writer(32);
    set_nested(w, "two", 1);
    set_nested(w, "deepest", QN_GGUF_MAX_DEPTH - 1);
    save(w, folder, "nested", 3);

    w = open_writer(512);
    qn_gguf_add_tensor(w, "a", QN_TYPE_F16, 1, ne, filler);
    qn_gguf_add_tensor(w, "b", QN_TYPE_Q8_0, 4, ne, filler);
    save(w, folder, "alignment", 3);

    for (uint32_t type = 0; type < QN_TYPE_COUNT; type++) {
        if (qn_type_find(type) != NULL) {
            char name[32];
            w = open_writer(32);
            qn_gguf_set_str(w, "general.architecture", QN_STR("llama"));
            qn_gguf_add_tensor(w, "token_embd.weight", (qn_type)type, 1 + type % 4, ne, filler);
            qn_gguf_add_tensor(w, "output_norm.weight", QN_TYPE_F32, 1, (uint64_t[]){4}, filler);
            snprintf(name, sizeof(name), "tensor-%s", qn_type_name(type));
            save(w, folder, name, 3);
        }
    }
    return 0;
}
