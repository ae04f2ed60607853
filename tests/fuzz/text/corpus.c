/* Writes the seeds of this layer's fuzzers into a folder: small vocabularies, a few texts, templates,
 * conversations.
 * SPDX-License-Identifier: MIT */
#include "../../unit/text/small_charsmap.h"
#include "../../unit/text/small_vocab.h"
#include "jinja_seeds.h"

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

static void write_vocab(const char *folder, const char *name, const small_vocab *v)
{
    size_t n;
    uint8_t *bytes = qn_small_write(v, &n);
    write_seed(folder, name, bytes, n);
    qn_free(bytes);
}

static void map_keys(qn_gguf_writer *w, void *ctx)
{
    const small_charsmap *map = ctx;
    qn_gguf_set_bool(w, "tokenizer.ggml.remove_extra_whitespaces", true);
    qn_gguf_set_bool(w, "tokenizer.ggml.add_space_prefix", true);
    qn_gguf_set_array(w, "tokenizer.ggml.precompiled_charsmap", QN_GGUF_U8, map->bytes, map->n);
}

static void write_vocabs(const char *folder)
{
    static const small_rule rules[] = {{"\t", " "}, {"e\u0301", "\u00E9"}, {"h", "hello"}};
    static small_charsmap map;
    static small_vocab v;
    qn_small_bpe(&v);
    write_vocab(folder, "bpe", &v);
    qn_small_spm(&v);
    write_vocab(folder, "spm", &v);
    qn_small_wpm(&v);
    write_vocab(folder, "wpm", &v);
    qn_small_unigram(&v, false);
    qn_small_charsmap(&map, rules, sizeof(rules) / sizeof(rules[0]));
    v.edit = map_keys;
    v.ctx = &map;
    write_vocab(folder, "unigram", &v);
    qn_small_rwkv(&v);
    write_vocab(folder, "rwkv", &v);
    qn_small_plamo(&v);
    write_vocab(folder, "plamo", &v);
}

int main(int argc, char **argv)
{
    /* The first byte chooses the vocabulary. */
    static const char *const texts[] = {"\x01hello <tool> <|end|> aaaa  bc's 12345",
                                        "\x03 e\u0301 \uD558\u11AB a\u0323\u0307 <|end|>\u0338",
                                        "\x04 a<s>b</s> hello\xE2\x96\x81",
                                        "\x05Hello, caf\u00E9 [MASK] \u4E2D\u6587\u0301",
                                        "\x06 hello abc\u6587 <tool> x",
                                        "\x07 ABBC\t\x01 e\u0301  <tool> </s>",
                                        "\x08hello w\r\n\u00E9it's",
                                        "\x09\uFEFF abc hello\u00E9 \u4E2D"};
    static const char *const talks[] = {
        "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"},{\"role\":\"assistant\",\"content\":null,\"tool_calls\":"
        "[{\"id\":\"1\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"x\\\": [1.50]}\"}}]}],\"tools\":[]}",
        "{\"messages\":[{\"tool_calls\":[{\"name\":\"f\",\"arguments\":{\"b\":\"\"}},{\"arguments\":\" \"}]}],\"x\":-0e1}"};
    if (argc != 2) {
        fprintf(stderr, "usage: text_corpus FOLDER\n");
        return 2;
    }
    write_vocabs(argv[1]);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        char name[16];
        snprintf(name, sizeof(name), "text-%zu", i);
        write_seed(argv[1], name, texts[i], strlen(texts[i]));
    }
    for (size_t i = 0; i < sizeof(talks) / sizeof(talks[0]); i++) {
        char name[16];
        snprintf(name, sizeof(name), "talk-%zu", i);
        write_seed(argv[1], name, talks[i], strlen(talks[i]));
    }
    for (size_t i = 0; i < sizeof(qn_jinja_seeds) / sizeof(qn_jinja_seeds[0]); i++) {
        char name[16];
        snprintf(name, sizeof(name), "jinja-%zu", i);
        write_seed(argv[1], name, qn_jinja_seeds[i], strlen(qn_jinja_seeds[i]));
    }
    return 0;
}
