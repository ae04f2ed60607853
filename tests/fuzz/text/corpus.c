/* Writes the seeds of this layer's fuzzers into a folder: small vocabularies and a few texts.
 * SPDX-License-Identifier: MIT */
#include "../../unit/text/small_vocab.h"

static void write_seed(const char *folder, const char *name, const void *bytes, size_t n)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    if (f == NULL || fwrite(bytes, 1, n, f) != n || fclose(f) != 0) {
        perror(path);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    static const char *const texts[] = {"\x01hello <tool> <|end|> aaaa  bc's 12345",
                                        "\x07 a<s>b</s> hello\xE2\x96\x81"};
    if (argc != 2) {
        fprintf(stderr, "usage: text_corpus FOLDER\n");
        return 2;
    }
    for (size_t i = 0; i < 2; i++) {
        static small_vocab v;
        size_t n;
        i == 0 ? qn_small_bpe(&v) : qn_small_spm(&v);
        uint8_t *bytes = qn_small_write(&v, &n);
        write_seed(argv[1], v.model, bytes, n);
        write_seed(argv[1], i == 0 ? "text-0" : "text-1", texts[i], strlen(texts[i]));
        qn_free(bytes);
    }
    return 0;
}
