/* Text to token ids and back, as the vocabulary in a GGUF file says. Immutable after load: any thread may use it.
 * SPDX-License-Identifier: MIT */
#ifndef QN_TEXT_TOKENIZER_H
#define QN_TEXT_TOKENIZER_H

#include "base/buf.h"
#include "gguf/gguf.h"

typedef struct qn_tokenizer qn_tokenizer;

typedef enum qn_token_kind { /* values of tokenizer.ggml.token_type */
    QN_TOKEN_NORMAL = 1, QN_TOKEN_UNKNOWN = 2, QN_TOKEN_CONTROL = 3, QN_TOKEN_USER = 4, QN_TOKEN_UNUSED = 5,
    QN_TOKEN_BYTE = 6
} qn_token_kind;

/* Reads tokenizer.ggml.*; strings stay in the file, which must outlive the tokenizer.
 * QN_EUNSUPPORTED: a tokenizer model or pre-tokenizer kind that is not known (err names it);
 * QN_EFORMAT: err names the key; QN_ENOTFOUND: the file has no vocabulary. */
qn_status qn_tokenizer_open(const qn_gguf *g, qn_budget *b, qn_tokenizer **out, qn_error *err);
void qn_tokenizer_close(qn_tokenizer *t);

uint32_t qn_tokenizer_n_vocab(const qn_tokenizer *t);
int32_t qn_tokenizer_bos(const qn_tokenizer *t); /* -1: none */
int32_t qn_tokenizer_eos(const qn_tokenizer *t);
bool qn_tokenizer_adds_bos(const qn_tokenizer *t);
bool qn_tokenizer_adds_eos(const qn_tokenizer *t);
bool qn_tokenizer_is_end(const qn_tokenizer *t, int32_t id); /* EOS, EOT, EOM and their like */
qn_token_kind qn_tokenizer_kind(const qn_tokenizer *t, int32_t id); /* UNUSED for a bad id */
qn_str qn_tokenizer_piece(const qn_tokenizer *t, int32_t id); /* as the file spells it */

/* flags as in quern.h (QN_TEXT_*). text may hold any bytes, NUL and invalid UTF-8 included. Time is linear in
 * n_bytes up to a logarithm. Working memory comes from the budget and is given back. Contract of ids, cap
 * and *n_ids as for qn_tokenize(). */
qn_status qn_tokenizer_encode(const qn_tokenizer *t, const char *text, size_t n_bytes, unsigned flags, int32_t *ids,
                              size_t cap, size_t *n_ids, qn_error *err);

/* The same, but in text's parts spans[0, n_spans) (sorted, disjoint, within text) no control token is looked for: one
 * must lie wholly outside them. User-defined tokens are found everywhere, as in every text. */
qn_status qn_tokenizer_encode_spans(const qn_tokenizer *t, const char *text, size_t n_bytes, const qn_span *spans,
                                    size_t n_spans, unsigned flags, int32_t *ids, size_t cap, size_t *n_ids,
                                    qn_error *err);

/* Appends the bytes of one token to out. Control tokens give nothing unless QN_TEXT_PARSE_SPECIAL is set.
 * at_start: the token is the first of a text (SentencePiece drops the space that it put before it). QN_ERANGE. */
qn_status qn_tokenizer_decode_token(const qn_tokenizer *t, int32_t id, unsigned flags, bool at_start, qn_buf *out,
                                    qn_error *err);

/* All of ids. Without QN_TEXT_ADD_SPECIAL, decode(encode(b)) == b for any bytes, but for what a vocabulary cannot
 * say (docs/tokenizers.md): texts come back in NFC where the model wants them so; single bytes that have no token are
 * left out; WordPiece and unigram vocabularies keep words, not the text. */
qn_status qn_tokenizer_decode(const qn_tokenizer *t, const int32_t *ids, size_t n_ids, unsigned flags, qn_buf *out,
                              qn_error *err);

#endif
