/* The inside of the tokenizers. What they share is in this header; one file holds one job:
 *
 *     tokenizer.c            the public calls: opening, special tokens in a text, decoding
 *     tokenizer_vocab.c      tokenizer.ggml.*: pieces, kinds, special ids, the end-of-generation set
 *     tokenizer_normalize.c  small letters, accents and NFC, before anything else is done to plain text
 *     tokenizer_pieces.c     from a piece's spelling to its id
 *     tokenizer_special.c    special tokens spelled in a text
 *     tokenizer_merge.h      merging neighbours by priority, the loop that both kinds of BPE share
 *     tokenizer_merge.c      words that are too long for it
 *     tokenizer_chars.c      a number for each character
 *     tokenizer_cache.c      the words met last, with their ids
 *     tokenizer_bpe.c        model "gpt2": byte-level BPE with a list of merges
 *     tokenizer_bpe_load.c   opening it
 *     tokenizer_bpe_chars.c  characters that need not be merged from their bytes
 *     tokenizer_pre.c        its pre-tokenizers: cutting by patterns
 *     tokenizer_pre_kinds.c  the table of patterns, by kind
 *     tokenizer_spm*.c       model "llama": SentencePiece BPE by scores, and opening it
 *     tokenizer_gemma.c      model "gemma4": BPE over characters with a list of merges
 *     tokenizer_trie.c       a tree of bytes, for the algorithms that look for the pieces at a place of a text
 *     tokenizer_wpm*.c       model "bert": WordPiece, and the words of a text
 *     tokenizer_unigram*.c   model "t5": SentencePiece's unigram model, and the form that a text is brought into
 *     tokenizer_charsmap.c   the map of characters that goes with it
 *     tokenizer_rwkv.c       model "rwkv": the longest token at each place
 *     tokenizer_plamo.c      model "plamo2": the best way through the pieces, from the end
 *
 * A further algorithm is one more file with a qn_tokenizer_ops, named in the list in tokenizer.c.
 *
 * SPDX-License-Identifier: MIT */
#ifndef QN_TEXT_TOKENIZER_INT_H
#define QN_TEXT_TOKENIZER_INT_H

#include "base/regex.h"
#include "text/tokenizer.h"
#include "text/tokenizer_trie.h"

#include <stdatomic.h>

#define QN_TOKENIZER_OWNER "tokenizer"
#define QN_MAX_PIECE UINT16_MAX     /* bytes of a spelling; real ones stay under 2048 */
/* Bytes of a spelling that is looked for at every place of a text: of special tokens, and of all tokens where the
 * algorithm walks a tree of them. This is what one place may cost, whatever the vocabulary. Real ones have up to 128. */
#define QN_MAX_SOUGHT_PIECE 256
#define QN_MAX_TEXT (UINT32_C(1) << 30) /* bytes of one text; offsets are 32 bits */
#define QN_NO_ID (-1)
#define QN_SPACE "\xE2\x96\x81" /* U+2581, which spells a space in some vocabularies */
#define QN_SPACE_LEN 3

enum { /* flags of a token */
    QN_TOKEN_END = 1, /* ends generation */
};

typedef struct qn_token { /* 8 bytes, so that a look-up touches one cache line */
    uint32_t offset; /* of the spelling, from qn_tokenizer.strings */
    uint16_t len;    /* bytes; 0: the token has no spelling and is never found */
    uint8_t kind;    /* qn_token_kind */
    uint8_t flags;
} qn_token;

/* Spelling -> id, open addressing. Lengths are ours; the bytes stay in the file, where a change of the file under
 * the map can make a look-up miss but not go astray. */
typedef struct qn_piece_slot {
    uint32_t tag; /* high half of the hash */
    int32_t id;   /* QN_NO_ID: free */
} qn_piece_slot;

/* Which hashes are in a table: most of what is looked up is not in it, and this is small enough for a fast cache. Two
 * bits for each hash in one word; one hash in 15 or fewer passes by chance. */
typedef struct qn_filter {
    uint64_t *words;
    uint32_t mask; /* words - 1 */
} qn_filter;

typedef struct qn_pieces {
    qn_piece_slot *slots;
    qn_filter filter;
    uint32_t mask; /* slots - 1 */
    uint32_t longest;
    uint64_t seed; /* differs from run to run, so that a file cannot choose its collisions */
} qn_pieces;

typedef struct qn_specials {
    qn_trie pieces;
    uint8_t starts[256]; /* QN_SPECIAL_* of the tokens that begin with a byte */
    int16_t only[4];     /* per set of QN_SPECIAL_*: the byte that all these begin with; QN_START_* */
} qn_specials;

enum {
    QN_SPECIAL_USER = 1,  /* user-defined tokens: found in every text */
    QN_SPECIAL_OTHER = 2, /* control and unknown: only with QN_TEXT_PARSE_SPECIAL */
};

enum { QN_START_NONE = -1, QN_START_SEVERAL = -2 };

typedef struct qn_tokenizer_ops qn_tokenizer_ops;

struct qn_tokenizer {
    const qn_tokenizer_ops *ops;
    void *state; /* of the algorithm */
    qn_budget *budget;
    const char *strings;
    qn_token *tokens;
    uint32_t n_vocab;
    qn_pieces pieces; /* of normal and unused tokens: what text may turn into without being special */
    qn_specials specials;
    int32_t bos, eos, unknown;
    bool adds_bos, adds_eos;
    /* What plain text is made before it is encoded. */
    bool is_nfc, is_lowercase, is_unaccented;
    int32_t byte_ids[256]; /* the token of a single byte, or QN_NO_ID */
    /* Per token: what merging its own spelling gives, found out when it is first met: a word that is a token needs
     * no merging then. Threads may both find out; they find the same (QN_WHOLE_*). */
    atomic_uchar *whole;
};

enum { QN_WHOLE_UNKNOWN, QN_WHOLE_YES, QN_WHOLE_NO };

/* One symbol in the course of merging: a part of the piece, linked to its neighbours. */
typedef struct qn_symbol {
    int32_t id;     /* QN_NO_ID: no token yet */
    uint32_t start; /* byte offset in the piece; it ends where the next one starts */
    uint32_t prev, next;
} qn_symbol;

#define QN_NO_SYMBOL UINT32_MAX

typedef struct qn_merge_entry {
    uint64_t key;     /* priority << 32 | index of the left symbol: least first */
    uint32_t end;     /* where the right symbol ended when this was noted; if it has grown, the entry is void */
    int32_t id;       /* what the two become */
} qn_merge_entry;

/* One call of qn_tokenizer_encode(): where ids go, and memory that pieces use one after another. */
typedef struct qn_encode_run {
    const qn_tokenizer *t;
    int32_t *ids;
    size_t cap, n; /* n counts on when cap is reached */
    const char *plain, *plain_end; /* what is encoded now, for the algorithms that look around a word */
    qn_symbol *symbols; /* of a long word, and their heap */
    size_t cap_symbols;
    qn_merge_entry *heap;
    size_t n_heap, cap_heap;
    qn_buf text; /* a piece as the vocabulary would spell it */
    qn_buf normal; /* plain text in the form that the vocabulary wants, when it is not in it */
    bool closes; /* nothing, or a control token, is behind the plain text that is encoded now */
} qn_encode_run;

struct qn_tokenizer_ops {
    const char *model; /* tokenizer.ggml.model */
    const char *bos_key, *eos_key; /* of tokens that stand in for BOS and EOS before the usual keys count; or NULL */
    int32_t bos, eos, unknown; /* when the file is silent, and has such an id; QN_NO_ID: none */
    bool adds_bos, adds_eos; /* when the file is silent; the pre-tokenizer's table may say otherwise of BOS */
    bool normalizes;         /* letters and accents are the algorithm's own affair */
    /* NULL, or changes the kinds of tokens before anything else reads them. */
    void (*settle)(qn_tokenizer *t);
    /* Reads what the algorithm needs beyond the vocabulary into t->state and t->byte_ids. */
    qn_status (*load)(qn_tokenizer *t, const qn_gguf *g, qn_error *err);
    void (*unload)(qn_tokenizer *t);
    /* Appends the ids of plain text, n >= 1. opens: nothing is before it, or a control token is. */
    qn_status (*encode)(qn_encode_run *run, const char *text, size_t n, bool opens);
    /* Appends the bytes of a normal or unused token. opens as above. */
    void (*decode)(const qn_tokenizer *t, qn_str piece, bool opens, qn_buf *out);
};

extern const qn_tokenizer_ops qn_tokenizer_bpe, qn_tokenizer_spm, qn_tokenizer_wpm, qn_tokenizer_unigram,
    qn_tokenizer_rwkv, qn_tokenizer_gemma, qn_tokenizer_plamo;

static inline void qn_emit(qn_encode_run *run, int32_t id)
{
    if (run->n < run->cap) {
        run->ids[run->n] = id;
    }
    run->n++;
}

static inline qn_str qn_piece(const qn_tokenizer *t, int32_t id)
{
    return (qn_str){t->strings + t->tokens[id].offset, t->tokens[id].len};
}

/* May come out of ordinary text. */
static inline bool qn_is_plain(qn_token token)
{
    return token.kind == QN_TOKEN_NORMAL || token.kind == QN_TOKEN_UNUSED;
}

/* Stands for no text. */
static inline bool qn_is_hidden(uint8_t kind) { return kind == QN_TOKEN_CONTROL || kind == QN_TOKEN_UNKNOWN; }

/* tokenizer_vocab.c */
qn_status qn_vocab_load(qn_tokenizer *t, const qn_gguf *g, qn_error *err);
/* Special ids, add_bos, add_eos and the end-of-generation set; after ops->load(). */
qn_status qn_vocab_load_special(qn_tokenizer *t, const qn_gguf *g, qn_error *err);
/* A boolean key; *flag stays when the file has none. */
qn_status qn_vocab_load_flag(const qn_gguf *g, const char *key, bool *flag, qn_error *err);
/* An array key: NULL when the file has none, else one item for each token. */
qn_status qn_vocab_load_array(const qn_tokenizer *t, const qn_gguf *g, const char *key, const qn_gguf_kv **array,
                              qn_error *err);
/* The scores, one for each token; a file that has none is refused. */
qn_status qn_vocab_load_scores(const qn_tokenizer *t, const qn_gguf *g, const qn_gguf_kv **scores, qn_error *err);
/* Fails for a token whose spelling, of len bytes, is too long to be looked for everywhere: QN_MAX_SOUGHT_PIECE. */
qn_status qn_vocab_check_sought(uint32_t id, size_t len, qn_error *err);
/* The byte that "<0xXX>" stands for, or -1. */
int qn_vocab_byte(qn_str piece);

/* tokenizer_normalize.c: what the file says of letters and accents; the kind has said what it wants by then. */
qn_status qn_normal_load(qn_tokenizer *t, const qn_gguf *g, qn_error *err);
/* Plain text [*text, *text + *n) becomes what is to be encoded: the same or, in run->normal, another, perhaps empty. */
qn_status qn_normal_text(qn_encode_run *run, const char **text, size_t *n);

/* tokenizer_pieces.c */
qn_status qn_pieces_load(qn_tokenizer *t, qn_error *err);
int32_t qn_pieces_find(const qn_tokenizer *t, const char *s, size_t n);
/* The same in two steps; between them many look-ups may be prefetched together: step 0, then 1, then 2 for each. */
static inline uint64_t qn_pieces_hash(const qn_tokenizer *t, const char *s, size_t n);
void qn_pieces_prefetch(const qn_tokenizer *t, uint64_t h, unsigned step);
int32_t qn_pieces_find_hashed(const qn_tokenizer *t, const char *s, size_t n, uint64_t h);
/* A well-mixed product, for the hash tables here. */
static inline uint64_t qn_mix(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t qn_load64(const char *s)
{
    uint64_t v;
    memcpy(&v, s, sizeof(v));
    return v;
}

/* The lengths that the next one leaves out. */
uint64_t qn_pieces_hash_odd(const qn_tokenizer *t, const char *s, size_t n);
static inline uint64_t qn_pieces_hash(const qn_tokenizer *t, const char *s, size_t n)
{
    uint64_t seed = t->pieces.seed, first, last; /* two words that may overlap, and so hold every byte */
    if (n < 4 || n > 16) {
        return qn_pieces_hash_odd(t, s, n);
    }
    if (n >= 8) {
        first = qn_load64(s);
        last = qn_load64(s + n - 8);
    } else {
        uint32_t low, high;
        memcpy(&low, s, 4);
        memcpy(&high, s + n - 4, 4);
        first = low;
        last = high;
    }
    return qn_mix(first ^ seed ^ n, last ^ (seed << 32 | seed >> 32));
}

/* Room for n hashes, all of whose bits are as good as random. */
qn_status qn_filter_open(qn_filter *f, size_t n, qn_budget *b);
void qn_filter_close(qn_filter *f);

static inline uint64_t qn_filter_bits(uint64_t h) { return UINT64_C(1) << (h >> 58) | UINT64_C(1) << (h >> 52 & 63); }
static inline void qn_filter_add(qn_filter *f, uint64_t h) { f->words[(h >> 26) & f->mask] |= qn_filter_bits(h); }
static inline bool qn_filter_has(const qn_filter *f, uint64_t h)
{
    return (qn_filter_bits(h) & ~f->words[(h >> 26) & f->mask]) == 0;
}

/* tokenizer_special.c */
qn_status qn_specials_load(qn_tokenizer *t, qn_error *err);
/* The first place from text[at] on where a special token of these sorts may begin; n: none. */
size_t qn_specials_next(const qn_tokenizer *t, const char *text, size_t at, size_t n, unsigned sorts);
/* The longest special token of these sorts (QN_SPECIAL_*) at text[0, n), or QN_NO_ID; *len is set with it. */
int32_t qn_specials_match(const qn_tokenizer *t, const char *text, size_t n, unsigned sorts, size_t *len);

/* tokenizer_pre.c */
typedef struct qn_pre qn_pre;
/* The compiled pre-tokenizer of a kind, or of no kind (a missing key: an empty string). QN_EUNSUPPORTED names it. */
qn_status qn_pre_open(qn_str kind, qn_budget *b, qn_pre **out, qn_error *err);
void qn_pre_close(qn_pre *p);
bool qn_pre_ignores_merges(const qn_pre *p); /* a word that is a token is that token, merges or not */
bool qn_pre_adds_bos(const qn_pre *p);
/* Calls word() for each word of text, in order; stops at the first failure. */
typedef qn_status qn_pre_word(void *ctx, const char *word, size_t n);
qn_status qn_pre_split(const qn_pre *p, const char *text, size_t n, qn_pre_word *word, void *ctx);

/* tokenizer_pre_kinds.c */
#define QN_PRE_PATTERNS 6
typedef struct qn_pre_kind {
    const char *names; /* values of tokenizer.ggml.pre, a space around each */
    const char *patterns[QN_PRE_PATTERNS];
    bool ignores_merges; /* a word that is a token is that token */
    bool adds_bos;       /* when tokenizer.ggml.add_bos_token is missing */
} qn_pre_kind;
/* The kind of a name, of "default" for an empty one. NULL: no such kind. */
const qn_pre_kind *qn_pre_kind_find(qn_str name);
/* The vocabulary spells characters and not bytes: it is tokenizer_gemma.c's, whatever its model is called. */
bool qn_pre_kind_is_spelled(qn_str name);
/* Texts are brought into NFC first. */
bool qn_pre_kind_is_nfc(qn_str name);
/* The i-th kind of the table and its patterns, for tests: the names and up to QN_PRE_PATTERNS patterns. */
bool qn_pre_kind_at(size_t i, const char **names, const char *const **patterns);

#endif
