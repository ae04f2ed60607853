/* Errors, timings and memory, as the verbs print them. SPDX-License-Identifier: MIT */
#include "cli/report.h"

#include "base/utf8_scan.h"
#include "cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int qn_report_failure(const char *verb, const qn_error *err)
{
    fflush(stdout);
    fprintf(stderr, "quern%s%s: %s\n", verb != NULL ? " " : "", verb != NULL ? verb : "", err->what);
    return QN_EXIT_FAILED;
}

int qn_report_usage(const char *verb, const qn_error *err)
{
    qn_report_failure(verb, err);
    fprintf(stderr, "See: quern help%s%s\n", verb != NULL ? " " : "", verb != NULL ? verb : "");
    return QN_EXIT_USAGE;
}

bool qn_report_flush(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) {
        return true;
    }
    static bool said;
    if (errno != EPIPE && !said) {
        fprintf(stderr, "quern: cannot write to standard output: %s\n", strerror(errno));
    }
    said = true;
    return false;
}

bool qn_report_json(const qn_buf *json)
{
    if (json->status != QN_OK) {
        fprintf(stderr, "quern: the output does not fit into memory\n");
        return false;
    }
    fwrite(json->data, 1, json->len, stdout);
    putchar('\n');
    return qn_report_flush();
}

const char *qn_report_bytes(uint64_t n_bytes, char text[QN_REPORT_BYTES_TEXT])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double v = (double)n_bytes;
    size_t i = 0;
    for (; v >= 1024 && i < 6; i++) {
        v /= 1024;
    }
    snprintf(text, QN_REPORT_BYTES_TEXT, i == 0 ? "%.0f %s" : "%.1f %s", v, units[i]);
    return text;
}

/* Length of the character at s[0, n), 0 when it is none or one that steers a terminal: C0, DEL, C1. */
static size_t printable_length(const char *s, size_t n)
{
    const unsigned char *u = (const unsigned char *)s;
    size_t length = qn_utf8_scan(s, n);
    bool control = u[0] < 0x20 || u[0] == 0x7F || (length == 2 && u[0] == 0xC2 && u[1] < 0xA0);
    return control ? 0 : length;
}

void qn_report_escaped(FILE *f, qn_str s, size_t max_bytes)
{
    for (size_t at = 0; at < s.len;) {
        const char *c = s.data + at;
        size_t length = printable_length(c, s.len - at);
        if (at + (length > 0 ? length : 1) > max_bytes) {
            fputs("...", f);
            return;
        }
        at += length > 0 ? length : 1;
        if (*c == '\\') {
            fputs("\\\\", f);
        } else if (length > 0) {
            fwrite(c, 1, length, f);
        } else if (*c == '\n' || *c == '\t' || *c == '\r') {
            fprintf(f, "\\%c", *c == '\n' ? 'n' : *c == '\t' ? 't' : 'r');
        } else {
            fprintf(f, "\\x%02x", (unsigned char)*c);
        }
    }
}

uint64_t qn_report_peak_memory(void)
{
    FILE *f = fopen("/proc/self/status", "r");
    if (f == NULL) {
        return 0;
    }
    char line[256];
    unsigned long long kib = 0;
    while (fgets(line, sizeof(line), f) != NULL && sscanf(line, "VmHWM: %llu kB", &kib) != 1) {
    }
    fclose(f);
    return kib * 1024;
}

double qn_rate(uint64_t n, uint64_t ns)
{
    return ns == 0 ? 0 : (double)n * 1e9 / (double)ns;
}

static double ms(uint64_t ns)
{
    return (double)ns / 1e6;
}

void qn_timings_print(const qn_timings *t)
{
    char peak[QN_REPORT_BYTES_TEXT];
    fprintf(stderr, "load         %10.1f ms\n", ms(t->load_ns));
    fprintf(stderr, "prefill      %10.1f ms  %6llu tokens  %10.2f tok/s\n", ms(t->prefill_ns),
            (unsigned long long)t->n_prefill, qn_rate(t->n_prefill, t->prefill_ns));
    if (t->first_token_ns != 0) {
        fprintf(stderr, "first token  %10.1f ms\n", ms(t->first_token_ns));
    }
    fprintf(stderr, "decode       %10.1f ms  %6llu tokens  %10.2f tok/s\n", ms(t->decode_ns),
            (unsigned long long)t->n_decode, qn_rate(t->n_decode, t->decode_ns));
    if (t->n_jumped != 0) {
        fprintf(stderr, "jumped                      %6llu tokens, which the format gave\n",
                (unsigned long long)t->n_jumped);
    }
    fprintf(stderr, "peak memory  %13s\n", qn_report_bytes(qn_report_peak_memory(), peak));
}

void qn_timings_json(const qn_timings *t, qn_json_writer *w)
{
    qn_json_begin_object(w);
    qn_json_key(w, "load_ms");
    qn_json_f64(w, ms(t->load_ns));
    qn_json_key(w, "prefill_ms");
    qn_json_f64(w, ms(t->prefill_ns));
    qn_json_key(w, "prefill_tokens");
    qn_json_u64(w, t->n_prefill);
    qn_json_key(w, "prefill_tokens_per_second");
    qn_json_f64(w, qn_rate(t->n_prefill, t->prefill_ns));
    qn_json_key(w, "first_token_ms");
    if (t->first_token_ns != 0) {
        qn_json_f64(w, ms(t->first_token_ns));
    } else {
        qn_json_null(w);
    }
    qn_json_key(w, "decode_ms");
    qn_json_f64(w, ms(t->decode_ns));
    qn_json_key(w, "decode_tokens");
    qn_json_u64(w, t->n_decode);
    qn_json_key(w, "decode_tokens_per_second");
    qn_json_f64(w, qn_rate(t->n_decode, t->decode_ns));
    qn_json_key(w, "jumped_tokens");
    qn_json_u64(w, t->n_jumped);
    qn_json_key(w, "peak_memory_bytes");
    qn_json_u64(w, qn_report_peak_memory());
    qn_json_end_object(w);
}
