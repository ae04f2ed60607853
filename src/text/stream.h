/* Bytes of tokens in, text that may be shown out: whole characters, no part of a stop string, each byte once.
 * The states and promises are those of qn_stream in quern.h; this one takes bytes and knows no vocabulary. */
#ifndef QN_TEXT_STREAM_H
#define QN_TEXT_STREAM_H

#include "base/buf.h"

#define QN_STREAM_MAX_STOPS 64
#define QN_STREAM_MAX_STOP_BYTES 4096 /* bounds what may be held back */

typedef struct qn_text_stream qn_text_stream;

qn_status qn_text_stream_open(const qn_str *stops, size_t n_stops, qn_budget *b, qn_text_stream **out, qn_error *err);
void qn_text_stream_close(qn_text_stream *st);
/* Appends to out what may be shown now. Invalid bytes become U+FFFD (one for each maximal broken part). When several
 * stops end at the same byte or overlap, the one that begins first wins. After *stopped nothing more comes out. */
qn_status qn_text_stream_push(qn_text_stream *st, const char *bytes, size_t n, qn_buf *out, bool *stopped);
qn_status qn_text_stream_finish(qn_text_stream *st, qn_buf *out);

#endif
