/* Lets a script reach the reference codecs.
 *
 *   quant_tool list                         one line a type: id name elements bytes decodes encodes
 *   quant_tool decode TYPE                  blocks on stdin, floats on stdout
 *   quant_tool encode TYPE                  floats on stdin, blocks on stdout
 *   quant_tool encode-weighted TYPE         floats, then as many importances, on stdin
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "quant/quant.h"

static int complain(const char *what)
{
    fprintf(stderr, "quant_tool: %s\n", what);
    return 1;
}

static int list(void)
{
    for (uint32_t id = 0; id < QN_TYPE_COUNT; id++) {
        const qn_type_info *t = qn_type_find(id);
        if (t != NULL) {
            printf("%u %s %u %u %d %d\n", id, t->name, t->block_len, t->block_bytes, t->decode != NULL,
                   t->encode != NULL);
        }
    }
    return 0;
}

/* All of stdin; for free(). NULL: no memory. */
static char *read_all(size_t *n_bytes)
{
    size_t room = 1 << 20, used = 0;
    char *data = malloc(room);
    while (data != NULL) {
        used += fread(data + used, 1, room - used, stdin);
        if (used < room) {
            break;
        }
        room *= 2;
        char *more = realloc(data, room);
        if (more == NULL) {
            free(data);
        }
        data = more;
    }
    *n_bytes = used;
    return data;
}

static int decode(qn_type id, const qn_type_info *t, const char *in, size_t in_bytes)
{
    size_t n = in_bytes / t->block_bytes * t->block_len;
    float *out = malloc(n * sizeof *out + 1);
    qn_error err;
    int rc = 0;
    if (out == NULL) {
        rc = complain("no memory");
    } else if (qn_decode_row(id, in, out, n, &err) != QN_OK) {
        rc = complain(err.what);
    } else {
        fwrite(out, sizeof *out, n, stdout);
    }
    free(out);
    return rc;
}

static int encode(qn_type id, const char *in, size_t in_bytes, bool weighted)
{
    size_t n = in_bytes / sizeof(float) / (weighted ? 2 : 1);
    uint64_t out_bytes;
    if (!qn_type_row_bytes((uint32_t)id, n, &out_bytes)) {
        return complain("no whole number of blocks");
    }
    char *out = malloc(out_bytes + 1);
    qn_error err;
    int rc = 0;
    const float *x = (const float *)(const void *)in;
    if (out == NULL) {
        rc = complain("no memory");
    } else if (qn_encode_row(id, x, out, n, weighted ? x + n : NULL, &err) != QN_OK) {
        rc = complain(err.what);
    } else {
        fwrite(out, 1, out_bytes, stdout);
    }
    free(out);
    return rc;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "list") == 0) {
        return list();
    }
    qn_type id;
    const qn_type_info *t = argc == 3 ? qn_type_find_name(argv[2], &id) : NULL;
    if (t == NULL) {
        return complain("usage: quant_tool list | decode TYPE | encode TYPE | encode-weighted TYPE");
    }
    size_t n_bytes;
    char *in = read_all(&n_bytes);
    if (in == NULL) {
        return complain("no memory");
    }
    int rc;
    if (strcmp(argv[1], "decode") == 0) {
        rc = decode(id, t, in, n_bytes);
    } else if (strcmp(argv[1], "encode") == 0 || strcmp(argv[1], "encode-weighted") == 0) {
        rc = encode(id, in, n_bytes, argv[1][6] != '\0');
    } else {
        rc = complain("no such mode");
    }
    free(in);
    return rc;
}
