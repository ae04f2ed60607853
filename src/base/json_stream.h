/* JSON that comes in pieces: a scanner that is given one byte at a time, says what the byte is, and needs no memory. It
 * is as strict as the reader about everything but UTF-8 inside strings, which it lets pass.
 * SPDX-License-Identifier: MIT */
#ifndef QN_BASE_JSON_STREAM_H
#define QN_BASE_JSON_STREAM_H

#include "base/json.h"

typedef enum qn_json_event {
    QN_JSON_BAD,   /* the byte cannot stand here; the scanner is as it was before it */
    QN_JSON_SPACE, /* between tokens */
    QN_JSON_OPEN_OBJECT,
    QN_JSON_CLOSE_OBJECT,
    QN_JSON_OPEN_ARRAY,
    QN_JSON_CLOSE_ARRAY,
    QN_JSON_COMMA,
    QN_JSON_COLON,
    QN_JSON_OPEN_KEY,
    QN_JSON_OPEN_STRING,
    QN_JSON_IN_STRING, /* a byte between the quotes of a key or a string, as it is written */
    QN_JSON_CLOSE_KEY,
    QN_JSON_CLOSE_STRING,
    QN_JSON_OPEN_SCALAR, /* the first byte of a number, true, false or null; it ends where another token begins */
    QN_JSON_IN_SCALAR,
} qn_json_event;

typedef struct qn_json_stream {
    uint8_t state;  /* private */
    uint8_t escape; /* in a string: bytes of an escape still to come */
    uint8_t i_word; /* in true, false, null: letters so far */
    bool in_d;      /* the escape begins with \ud */
    bool half;      /* ... and is the first half of a surrogate pair */
    bool high;      /* the first half has come, and the second must */
    const char *word;
    uint32_t depth;                           /* containers that are open */
    uint64_t objects[QN_JSON_MAX_DEPTH / 64]; /* a bit for each: it is an object */
} qn_json_stream;

void qn_json_stream_init(qn_json_stream *s); /* before a value */
qn_json_event qn_json_stream_push(qn_json_stream *s, char byte);
/* The value is whole when the text ends here. A number may still go on; anything else may not. */
bool qn_json_stream_whole(const qn_json_stream *s);
/* Inside the quotes of a key or a string. */
bool qn_json_stream_in_string(const qn_json_stream *s);

/* The meaning of a string's bytes, one at a time. */
typedef struct qn_json_unescape {
    uint8_t state; /* private */
    uint16_t unit, high;
} qn_json_unescape;

/* Takes a byte that the scanner called QN_JSON_IN_STRING; returns how many bytes of UTF-8 it completes, into out: 0 to
 * 6 (half a surrogate pair that stands alone becomes U+FFFD). */
size_t qn_json_unescape_push(qn_json_unescape *u, char byte, char out[6]);

#endif
