/* Reading the command line and the environment by the option table. SPDX-License-Identifier: MIT */
#include "cli/options.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QN_OPTIONS_OWNER "options"

const qn_option qn_option_table[QN_OPTION_COUNT] = {
#define QN_OPTION_ROW(id, name, short_name, kind, metavar, fallback, min, max, verbs, key, environment, help)    \
    [QN_OPTION_ID_##id] = {name,  short_name, QN_OPTION_##kind, metavar, fallback, (double)(min), (double)(max), \
                           verbs, key,        environment,      help},
    QN_OPTION_TABLE(QN_OPTION_ROW)
#undef QN_OPTION_ROW
};

typedef struct value {
    bool flag, given; /* given: on the command line */
    const char *text;
    int64_t number;
    double real;
    int64_t *numbers;
    const char **texts;
    size_t n;
} value;

struct qn_options {
    unsigned verb;
    int argc; /* no list of texts is longer */
    value values[QN_OPTION_COUNT];
    const char **rest;
    size_t n_rest;
};

/* ---- values ------------------------------------------------------------------------------------- */

bool qn_parse_int(const char *text, int64_t min, int64_t max, int64_t *out)
{
    const char *digits = text + (text[0] == '-' || text[0] == '+');
    if (digits[0] == '\0' || digits[strspn(digits, "0123456789")] != '\0') {
        return false;
    }
    errno = 0;
    long long v = strtoll(text, NULL, 10);
    if (errno != 0 || v < min || v > max) {
        return false;
    }
    *out = v;
    return true;
}

bool qn_parse_real(const char *text, double min, double max, double *out)
{
    if (text[0] == '\0' || text[strspn(text, "0123456789+-.eE")] != '\0') {
        return false;
    }
    char *end;
    double v = strtod(text, &end);
    if (*end != '\0' || end == text || !isfinite(v) || v < min || v > max) {
        return false;
    }
    *out = v;
    return true;
}

/* "-1" for whole numbers, "0.001" for the others. */
static const char *limit_text(const qn_option *option, double limit, char *text, size_t n_bytes)
{
    if (option->kind == QN_OPTION_REAL) {
        snprintf(text, n_bytes, "%g", limit);
    } else {
        /* The one limit that double cannot hold is INT64_MAX, which rounds up to 2^63. */
        snprintf(text, n_bytes, "%" PRId64, limit >= 0x1p63 ? INT64_MAX : (int64_t)limit);
    }
    return text;
}

static int64_t int_limit(double limit)
{
    return limit >= 0x1p63 ? INT64_MAX : (int64_t)limit;
}

static qn_status refuse(const qn_option *option, const char *source, const char *text, qn_error *err)
{
    char min[32], max[32];
    switch (option->kind) {
    case QN_OPTION_FLAG:
        return qn_fail(err, QN_EINVAL, "%s: '%s' is none of 0, 1, false, true", source, text);
    case QN_OPTION_CHOICE:
        return qn_fail(err, QN_EINVAL, "%s: '%s' is none of %s", source, text, option->metavar);
    default:
        return qn_fail(err, QN_EINVAL, "%s: '%s' is no %s in [%s, %s]", source, text,
                       option->kind == QN_OPTION_REAL ? "number" : "whole number",
                       limit_text(option, option->min, min, sizeof(min)),
                       limit_text(option, option->max, max, sizeof(max)));
    }
}

static bool parse_flag(const char *text, bool *out)
{
    *out = strcmp(text, "1") == 0 || strcmp(text, "true") == 0;
    return *out || strcmp(text, "0") == 0 || strcmp(text, "false") == 0;
}

static bool parse_choice(const char *words, const char *text, int64_t *out)
{
    size_t n_bytes = strlen(text);
    for (int64_t i = 0;; i++) {
        size_t n_word = strcspn(words, "|");
        if (n_word == n_bytes && memcmp(words, text, n_word) == 0) {
            *out = i;
            return true;
        }
        if (words[n_word] == '\0') {
            return false;
        }
        words += n_word + 1;
    }
}

static qn_status parse_ints(const qn_option *option, const char *source, const char *text, value *v, qn_error *err)
{
    if (v->numbers == NULL) {
        v->numbers = qn_zalloc_array(NULL, QN_OPTIONS_OWNER, QN_OPTION_MAX_INTS, sizeof(*v->numbers));
        if (v->numbers == NULL) {
            return qn_fail(err, QN_ENOMEM, "no memory for options");
        }
    }
    v->n = 0;
    for (const char *at = text;;) {
        char word[32];
        size_t n_word = strcspn(at, ",");
        snprintf(word, sizeof(word), "%.*s", n_word < sizeof(word) ? (int)n_word : (int)sizeof(word), at);
        if (v->n == QN_OPTION_MAX_INTS) {
            return qn_fail(err, QN_EINVAL, "%s: more than %d numbers", source, QN_OPTION_MAX_INTS);
        }
        if (n_word >= sizeof(word) ||
            !qn_parse_int(word, int_limit(option->min), int_limit(option->max), &v->numbers[v->n])) {
            return refuse(option, source, word, err);
        }
        v->n++;
        if (at[n_word] == '\0') {
            return QN_OK;
        }
        at += n_word + 1;
    }
}

/* source names where the text came from, as the user would write it. */
static qn_status set_value(qn_options *o, qn_option_id id, const char *source, const char *text, qn_error *err)
{
    const qn_option *option = &qn_option_table[id];
    value *v = &o->values[id];
    bool fits = true;
    switch (option->kind) {
    case QN_OPTION_FLAG:
        fits = parse_flag(text, &v->flag);
        break;
    case QN_OPTION_TEXT:
        v->text = text;
        break;
    case QN_OPTION_TEXTS:
        if (v->texts == NULL) {
            v->texts = qn_zalloc_array(NULL, QN_OPTIONS_OWNER, (size_t)o->argc, sizeof(*v->texts));
            if (v->texts == NULL) {
                return qn_fail(err, QN_ENOMEM, "no memory for options");
            }
        }
        v->texts[v->n++] = text;
        break;
    case QN_OPTION_INT:
        fits = qn_parse_int(text, int_limit(option->min), int_limit(option->max), &v->number);
        break;
    case QN_OPTION_INTS:
        return parse_ints(option, source, text, v, err);
    case QN_OPTION_REAL:
        fits = qn_parse_real(text, option->min, option->max, &v->real);
        break;
    case QN_OPTION_CHOICE:
        fits = parse_choice(option->metavar, text, &v->number);
        break;
    }
    return fits ? QN_OK : refuse(option, source, text, err);
}

/* ---- names -------------------------------------------------------------------------------------- */

static qn_status unknown_option(unsigned verb, const char *arg, qn_error *err)
{
    const char *words[QN_OPTION_COUNT];
    size_t n = 0;
    for (int id = 0; id < QN_OPTION_COUNT; id++) {
        if (qn_option_table[id].verbs & verb) {
            words[n++] = qn_option_table[id].name;
        }
    }
    char name[64];
    const char *begin = arg + strspn(arg, "-");
    snprintf(name, sizeof(name), "%.*s", (int)strcspn(begin, "="), begin);
    const char *nearest = qn_nearest_word(name, words, n);
    if (nearest == NULL) {
        return qn_fail(err, QN_EINVAL, "unknown option %s", arg);
    }
    return qn_fail(err, QN_EINVAL, "unknown option %s; did you mean --%s?", arg, nearest);
}

/* QN_OPTION_COUNT: none. *attached: the value that is written in the same argument, or NULL. */
static qn_option_id find_option(unsigned verb, const char *arg, const char **attached)
{
    *attached = NULL;
    for (int id = 0; id < QN_OPTION_COUNT; id++) {
        const qn_option *option = &qn_option_table[id];
        if (!(option->verbs & verb)) {
            continue;
        }
        if (arg[1] == '-') {
            size_t n_name = strlen(option->name);
            if (strncmp(arg + 2, option->name, n_name) == 0 && (arg[2 + n_name] == '\0' || arg[2 + n_name] == '=')) {
                *attached = arg[2 + n_name] == '=' ? arg + 2 + n_name + 1 : NULL;
                return (qn_option_id)id;
            }
        } else if (option->short_name != 0 && arg[1] == option->short_name &&
                   (arg[2] == '\0' || option->kind != QN_OPTION_FLAG)) {
            *attached = arg[2] != '\0' ? arg + 2 : NULL;
            return (qn_option_id)id;
        }
    }
    return QN_OPTION_COUNT;
}

/* ---- the command line --------------------------------------------------------------------------- */

static qn_status read_argument(qn_options *o, int argc, char **argv, int *i, qn_error *err)
{
    const char *arg = argv[*i], *text;
    qn_option_id id = find_option(o->verb, arg, &text);
    if (id == QN_OPTION_COUNT) {
        return unknown_option(o->verb, arg, err);
    }
    const qn_option *option = &qn_option_table[id];
    char source[64];
    snprintf(source, sizeof(source), "--%s", option->name);
    if (option->kind == QN_OPTION_FLAG) {
        text = text == NULL ? "1" : text;
    } else if (text == NULL) {
        if (*i + 1 == argc) {
            return qn_fail(err, QN_EINVAL, "%s needs a value: %s", source, option->metavar);
        }
        text = argv[++*i];
    }
    if (option->kind != QN_OPTION_TEXTS && o->values[id].given) {
        return qn_fail(err, QN_EINVAL, "%s is given twice", source);
    }
    o->values[id].given = true;
    return set_value(o, id, source, text, err);
}

static qn_status read_arguments(qn_options *o, int argc, char **argv, qn_error *err)
{
    bool only_rest = false;
    for (int i = 0; i < argc; i++) {
        if (!only_rest && strcmp(argv[i], "--") == 0) {
            only_rest = true;
        } else if (only_rest || argv[i][0] != '-' || argv[i][1] == '\0') {
            o->rest[o->n_rest++] = argv[i];
        } else {
            QN_TRY(read_argument(o, argc, argv, &i, err));
        }
    }
    return QN_OK;
}

/* Defaults, and the environment over them. */
static qn_status read_environment(qn_options *o, qn_error *err)
{
    for (int id = 0; id < QN_OPTION_COUNT; id++) {
        const qn_option *option = &qn_option_table[id];
        if (!(option->verbs & o->verb) || o->values[id].given) {
            continue;
        }
        if (option->fallback != NULL) {
            QN_TRY(set_value(o, (qn_option_id)id, option->name, option->fallback, err));
        }
        const char *text = option->environment != NULL ? getenv(option->environment) : NULL;
        if (text != NULL && text[0] != '\0') {
            QN_TRY(set_value(o, (qn_option_id)id, option->environment, text, err));
        }
    }
    return QN_OK;
}

qn_status qn_options_open(unsigned verb, int argc, char **argv, qn_options **out, qn_error *err)
{
    qn_options *o = qn_zalloc(NULL, QN_OPTIONS_OWNER, sizeof(*o));
    const char **rest = qn_zalloc_array(NULL, QN_OPTIONS_OWNER, (size_t)argc, sizeof(*rest));
    if (o == NULL || rest == NULL) {
        qn_free(o);
        qn_free(rest);
        return qn_fail(err, QN_ENOMEM, "no memory for options");
    }
    o->verb = verb;
    o->argc = argc;
    o->rest = rest;
    qn_status status = read_arguments(o, argc, argv, err);
    if (status == QN_OK && !o->values[QN_OPTION_ID_HELP].flag) {
        status = read_environment(o, err);
    }
    if (status != QN_OK) {
        qn_options_close(o);
        return status;
    }
    *out = o;
    return QN_OK;
}

void qn_options_close(qn_options *o)
{
    if (o == NULL) {
        return;
    }
    for (int id = 0; id < QN_OPTION_COUNT; id++) {
        qn_free(o->values[id].numbers);
        qn_free(o->values[id].texts);
    }
    qn_free(o->rest);
    qn_free(o);
}

/* ---- getters ------------------------------------------------------------------------------------ */

static const value *get(const qn_options *o, qn_option_id id, qn_option_kind kind)
{
    assert(qn_option_table[id].verbs & o->verb);
    assert(qn_option_table[id].kind == kind);
    (void)kind;
    return &o->values[id];
}

bool qn_options_flag(const qn_options *o, qn_option_id id)
{
    return get(o, id, QN_OPTION_FLAG)->flag;
}

const char *qn_options_text(const qn_options *o, qn_option_id id)
{
    return get(o, id, QN_OPTION_TEXT)->text;
}

int64_t qn_options_int(const qn_options *o, qn_option_id id)
{
    return get(o, id, qn_option_table[id].kind == QN_OPTION_CHOICE ? QN_OPTION_CHOICE : QN_OPTION_INT)->number;
}

double qn_options_real(const qn_options *o, qn_option_id id)
{
    return get(o, id, QN_OPTION_REAL)->real;
}

const int64_t *qn_options_ints(const qn_options *o, qn_option_id id, size_t *n)
{
    const value *v = get(o, id, QN_OPTION_INTS);
    *n = v->n;
    return v->numbers;
}

const char *const *qn_options_texts(const qn_options *o, qn_option_id id, size_t *n)
{
    const value *v = get(o, id, QN_OPTION_TEXTS);
    *n = v->n;
    return v->texts;
}

unsigned qn_options_verb(const qn_options *o)
{
    return o->verb;
}

const char *const *qn_options_rest(const qn_options *o, size_t *n)
{
    *n = o->n_rest;
    return o->rest;
}
