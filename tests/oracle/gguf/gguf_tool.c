/* Lets a script reach the reader and the writer.
 *
 *   gguf_tool dump FILE       one line an entry: kv KEY TYPE ITEM-TYPE N HEX, tensor NAME TYPE OFFSET NE... HEX
 *   gguf_tool copy FILE NEW   reads the one, writes the other with the same alignment
 *
 * Keys and names are taken to have no spaces.
 * SPDX-License-Identifier: MIT */
#include "gguf/gguf.h"

#include <inttypes.h>
#include <stdio.h>

static int complain(const qn_error *err)
{
    fprintf(stderr, "gguf_tool: %s\n", err->what);
    return 1;
}

static void print_hex(const uint8_t *p, uint64_t n_bytes)
{
    for (uint64_t i = 0; i < n_bytes; i++) {
        printf("%02x", p[i]);
    }
    printf("\n");
}

static int dump(const qn_gguf *g)
{
    printf("file %" PRIu32 " %" PRIu32 "\n", qn_gguf_version(g), qn_gguf_alignment(g));
    for (size_t i = 0; i < qn_gguf_n_kv(g); i++) {
        const qn_gguf_kv *kv = qn_gguf_kv_at(g, i);
        printf("kv %.*s %d %d %" PRIu64 " ", (int)kv->key.len, kv->key.data, (int)kv->type, (int)kv->item_type,
               kv->n_items);
        print_hex(kv->raw, kv->raw_bytes);
    }
    for (size_t i = 0; i < qn_gguf_n_tensors(g); i++) {
        const qn_gguf_tensor *t = qn_gguf_tensor_at(g, i);
        printf("tensor %.*s %d %" PRIu64 " ", (int)t->name.len, t->name.data, (int)t->type, t->offset);
        for (uint32_t k = 0; k < t->n_dims; k++) {
            printf("%" PRIu64 " ", t->ne[k]);
        }
        print_hex(t->data, t->bytes);
    }
    return 0;
}

static int copy(const qn_gguf *g, const char *path)
{
    qn_gguf_writer *w;
    qn_error err;
    if (qn_gguf_writer_open(NULL, qn_gguf_alignment(g), &w, &err) != QN_OK) {
        return complain(&err);
    }
    for (size_t i = 0; i < qn_gguf_n_kv(g); i++) {
        qn_gguf_set_kv(w, qn_gguf_kv_at(g, i));
    }
    for (size_t i = 0; i < qn_gguf_n_tensors(g); i++) {
        const qn_gguf_tensor *t = qn_gguf_tensor_at(g, i);
        char name[QN_GGUF_MAX_NAME + 1];
        snprintf(name, sizeof(name), "%.*s", (int)t->name.len, t->name.data);
        qn_gguf_add_tensor(w, name, t->type, t->n_dims, t->ne, t->data);
    }
    qn_status status = qn_gguf_write(w, path, &err);
    qn_gguf_writer_close(w);
    return status == QN_OK ? 0 : complain(&err);
}

int main(int argc, char **argv)
{
    bool dumps = argc == 3 && strcmp(argv[1], "dump") == 0;
    bool copies = argc == 4 && strcmp(argv[1], "copy") == 0;
    if (!dumps && !copies) {
        fprintf(stderr, "usage: %s dump FILE | copy FILE NEW\n", argv[0]);
        return 2;
    }
    qn_gguf *g;
    qn_error err;
    if (qn_gguf_open(argv[2], NULL, &g, &err) != QN_OK) {
        return complain(&err);
    }
    int code = dumps ? dump(g) : copy(g, argv[3]);
    qn_gguf_close(g);
    return code;
}
