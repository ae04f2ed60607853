/* Any bytes are read as an answer in one of the dialects of small templates: the parts come in order, cuts do not
 * matter, and nothing is left behind.
 *
 * The input: a byte that chooses the dialect and the options, one that chooses where to cut, then the answer.
 * SPDX-License-Identifier: MIT */
#include "text/chat/answer.h"

#include "base/json_stream.h"
#include "text/chat/dialect_int.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

#define MARK(text)                          \
    {                                       \
        .core = {(text), sizeof(text) - 1 } \
    }
#define KEYS .name_key = {"name", 4}, .arguments_key = {"arguments", 9}, .id_key = {"id", 2}
#define SPACED(a, text, b)                                \
    {                                                     \
        {(a), sizeof(a) - 1}, {(text), sizeof(text) - 1}, \
        {                                                 \
            (b), sizeof(b) - 1                            \
        }                                                 \
    }

/* The marks are short, so that the fuzzer finds them. */
static const qn_syntax syntaxes[] = {
    {.shape = QN_SHAPE_OBJECT, KEYS, .call_open = SPACED("\n", "<c>", "\n"), .call_close = SPACED("\n", "</c>", "\n")},
    {.shape = QN_SHAPE_OBJECT, KEYS, .list = true, .section_open = MARK("[C]"), .section_close = MARK("[/C]")},
    {.shape = QN_SHAPE_KEYED, .list = true, .section_open = MARK("<c>"), .section_close = MARK("</c>")},
    {.shape = QN_SHAPE_OBJECT, KEYS, .bare = true},
    {.shape = QN_SHAPE_OBJECT, KEYS, .bare = true, .whole = true},
    {.shape = QN_SHAPE_NAMED,
     .section_open = MARK("<s>"),
     .section_close = MARK("</s>"),
     .call_open = MARK("<c>f."),
     .name_end = MARK(":\1<a>"),
     .call_close = MARK("</c>"),
     .id_place = QN_ID_AROUND_NAME,
     .id_prefix = {"f.", 2},
     .id_suffix = 2},
    {.shape = QN_SHAPE_NAMED,
     .call_open = MARK("<c>"),
     .id_place = QN_ID_AFTER_NAME,
     .id_end = MARK("<i>"),
     .name_end = MARK("<a>")},
    {.shape = QN_SHAPE_NAMED,
     .call_open = MARK("<c>"),
     .id_place = QN_ID_BEFORE_NAME,
     .id_end = MARK("<i>"),
     .call_close = MARK("</c>")},
    {.shape = QN_SHAPE_TAGGED,
     .call_open = SPACED("\n\n", "<c>\n<f=", ""),
     .name_end = MARK(">"),
     .key_open = SPACED("\n", "<p=", ""),
     .key_end = SPACED("", ">", "\n"),
     .value_end = SPACED("\n", "</p>", ""),
     .guard_open = MARK("[["),
     .guard_close = MARK("]]"),
     .call_close = SPACED("\n", "</f>\n</c>", "\n")},
    {.shape = QN_SHAPE_TAGGED,
     .section_open = MARK("<s>"),
     .section_close = MARK("</s>"),
     .call_open = MARK("<c>"),
     .key_open = MARK("<k>"),
     .key_end = MARK("</k><v>"),
     .key_end_json = MARK("</k><j>"),
     .value_end = MARK("</v>"),
     .call_close = MARK("</c>")},
    {.shape = QN_SHAPE_NESTED,
     .call_open = MARK("~<c "),
     .name_end = MARK(">"),
     .key_open = MARK("~<"),
     .key_end = MARK(">"),
     .value_end = MARK("~</"),
     .call_close = MARK("~</c>")},
    {.shape = QN_SHAPE_BRACES, .call_open = MARK("<c>"), .call_close = MARK("</c>"), .quote = {"<q>", 3}},
    {.shape = QN_SHAPE_PYTHON, .list = true, .section_open = MARK("<c>"), .section_close = MARK("</c>")},
    {.shape = QN_SHAPE_NAMED,
     .section_open = MARK("<|s|>"),
     .section_close = MARK("<|/s|>"),
     .call_open = MARK("<|c|>"),
     .name_end = MARK("<|a|>"),
     .call_close = MARK("<|/c|>")},
};
#define N_SYNTAXES (sizeof(syntaxes) / sizeof(syntaxes[0]))

static const char tools[] =
    "[{\"name\":\"f\",\"parameters\":{\"properties\":{\"s\":{\"type\":\"string\"},\"i\":{\"type\":"
    "\"integer\"},\"o\":{\"type\":\"object\",\"properties\":{\"item\":{\"type\":\"array\"}}}}}}]";

typedef struct heard {
    qn_buf parts[5];
    bool open;
    uint32_t n_calls, n_ends;
    size_t arguments_at; /* of the last call, in its part */
} heard;

static void must(bool good)
{
    if (!good) {
        abort();
    }
}

/* The arguments of a whole call are one JSON object. */
static void check_arguments(qn_str text)
{
    qn_json_stream stream;
    qn_json_stream_init(&stream);
    for (size_t i = 0; i < text.len; i++) {
        qn_json_event event = qn_json_stream_push(&stream, text.data[i]);
        must(event != QN_JSON_BAD && (i > 0 || event == QN_JSON_OPEN_OBJECT || event == QN_JSON_SPACE));
    }
    must(qn_json_stream_whole(&stream));
}

static qn_status hear(void *ctx, qn_part part, uint32_t i_call, qn_str text)
{
    heard *h = ctx;
    switch (part) {
    case QN_PART_CALL:
        must(text.len > 0 && i_call >= h->n_calls);
        h->n_calls = i_call + 1;
        h->open = true;
        h->arguments_at = h->parts[QN_PART_ARGUMENTS].len;
        break;
    case QN_PART_CALL_END:
        must(h->open && i_call + 1 == h->n_calls && text.len == 0);
        h->open = false;
        h->n_ends++;
        check_arguments(qn_cut_from(qn_buf_view(&h->parts[QN_PART_ARGUMENTS]), h->arguments_at));
        return QN_OK;
    case QN_PART_CALL_ID:
    case QN_PART_ARGUMENTS:
        must(h->open && i_call + 1 == h->n_calls);
        break;
    default:
        break;
    }
    qn_buf_add(&h->parts[part], text.data, text.len);
    return QN_OK;
}

static void read_answer(const qn_dialect *d, const qn_answer_options *o, const char *text, size_t n, size_t cut,
                        heard *h)
{
    qn_answer *a = NULL;
    qn_error err = {0};
    bool was_cut;
    *h = (heard){.open = false};
    for (size_t i = 0; i < 5; i++) {
        qn_buf_init(&h->parts[i], NULL, "fuzz", 1u << 26);
    }
    must(qn_answer_open(d, o, NULL, &a, &err) == QN_OK);
    for (size_t at = 0; at < n; at += cut) {
        must(qn_answer_push(a, text + at, n - at < cut ? n - at : cut, hear, h, &err) == QN_OK);
    }
    must(qn_answer_finish(a, hear, h, &was_cut, &err) == QN_OK);
    qn_answer_close(a);
}

/* Marks are ASCII: what is not has to come out, each byte once. Only \u in a name or an id makes more of it. */
static size_t count_others(qn_str s)
{
    size_t n_others = 0;
    for (size_t i = 0; i < s.len; i++) {
        n_others += (unsigned char)s.data[i] >= 0x80;
    }
    return n_others;
}

static void check_nothing_lost(const heard *h, qn_str text, bool id_repeats_name)
{
    size_t n = 0;
    for (size_t i = 0; i < 5; i++) {
        n += i == QN_PART_CALL_ID && id_repeats_name ? 0 : count_others(qn_buf_view(&h->parts[i]));
    }
    size_t n_given = count_others(text);
    must(n == n_given || (n > n_given && memmem(text.data, text.len, "\\u", 2) != NULL));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    if (n_bytes < 2 || n_bytes > 4096) {
        return 0;
    }
    uint64_t live = qn_alloc_live();
    unsigned choice = data[0];
    qn_dialect d = {.turn_start = {"<bot>", 5},
                    .has_reasoning = true,
                    .think_open = SPACED("", "<t>", "\n"),
                    .think_close = SPACED("\n", "</t>", "\n\n"),
                    .ends = {MARK("<e>"), MARK("<n>")},
                    .n_ends = 2,
                    .syntaxes = {syntaxes[choice % N_SYNTAXES]},
                    .n_syntaxes = 1,
                    .n_own = 1};
    if (choice / N_SYNTAXES % 4 == 1) {
        d.has_header = true;
        d.ends_go_on = 2;
        d.header = (qn_header){.open = MARK("<g>"),
                               .end = MARK("<m>"),
                               .content = {"c", 1},
                               .reasoning = {"r", 1},
                               .recipient = {"to=", 3},
                               .json_body = choice / N_SYNTAXES / 4 % 2 == 0};
        d.n_syntaxes = d.n_own = d.header.json_body ? 0 : 1;
    }
    qn_add_common_syntaxes(&d);
    qn_json_doc *doc = NULL;
    qn_error err = {0};
    must(qn_json_parse(NULL, tools, sizeof(tools) - 1, 100, &doc, &err) == QN_OK);
    static const char *const prompts[] = {"<bot>", "<bot><t>\n", "<bot><t></t>", "<g>"};
    qn_answer_options o = {
        .prompt = qn_str_of(prompts[data[1] & 3]), .tools = qn_json_root(doc), .keep_reasoning = (data[1] & 4) != 0};
    const char *text = (const char *)data + 2;
    size_t n = n_bytes - 2, cut = (size_t)(data[1] >> 3) + 1;
    heard whole, parts;
    read_answer(&d, &o, text, n, n + 1, &whole);
    read_answer(&d, &o, text, n, cut, &parts);
    check_nothing_lost(&whole, (qn_str){text, n}, d.syntaxes[0].id_place == QN_ID_AROUND_NAME);
    for (size_t i = 0; i < 5; i++) {
        must(qn_str_eq(qn_buf_view(&whole.parts[i]), qn_buf_view(&parts.parts[i])));
        qn_buf_free(&whole.parts[i]);
        qn_buf_free(&parts.parts[i]);
    }
    must(whole.n_calls == parts.n_calls && whole.n_ends == parts.n_ends);
    qn_json_free(doc);
    must(qn_alloc_live() == live);
    return 0;
}
