/* Help, written from the verb table and the option table. SPDX-License-Identifier: MIT */
#include "cli/cli.h"
#include "cli/report.h"

#include <stdio.h>
#include <string.h>

#define QN_HELP_COLUMN 30
#define QN_HELP_WIDTH 100

/* Continues at `column`; later lines begin at QN_HELP_COLUMN. */
static void print_wrapped(const char *text, size_t column)
{
    for (bool is_first = true; *text != '\0'; is_first = false) {
        size_t n_word = strcspn(text, " ");
        if (column + 1 + n_word > QN_HELP_WIDTH) {
            printf("\n%*s", QN_HELP_COLUMN, "");
            column = QN_HELP_COLUMN;
        } else if (!is_first) {
            putchar(' ');
            column++;
        }
        printf("%.*s", (int)n_word, text);
        column += n_word;
        text += n_word + (text[n_word] == ' ');
    }
    putchar('\n');
}

static void print_option(const qn_option *option)
{
    char head[80], text[512];
    char short_name[] = {'-', option->short_name, ',', ' ', '\0'};
    int n_head =
        snprintf(head, sizeof(head), "  %s--%s%s%s", option->short_name != 0 ? short_name : "    ", option->name,
                 option->metavar != NULL ? " " : "", option->metavar != NULL ? option->metavar : "");
    int n_text = snprintf(text, sizeof(text), "%s", option->help);
    if (option->fallback != NULL) {
        n_text += snprintf(text + n_text, sizeof(text) - (size_t)n_text, " [%s]", option->fallback);
    }
    if (option->environment != NULL) {
        snprintf(text + n_text, sizeof(text) - (size_t)n_text, " (%s)", option->environment);
    }
    fputs(head, stdout);
    if (n_head + 2 > QN_HELP_COLUMN) {
        printf("\n%*s", QN_HELP_COLUMN, "");
    } else {
        printf("%*s", QN_HELP_COLUMN - n_head, "");
    }
    print_wrapped(text, QN_HELP_COLUMN);
}

static void help_program(void)
{
    printf("quern %d.%d.%d grinds weights into tokens: it runs language models from GGUF files.\n\n"
           "usage: quern VERB [options]\n\n",
           QN_VERSION_MAJOR, QN_VERSION_MINOR, QN_VERSION_PATCH);
    for (size_t i = 0; i < qn_n_verbs; i++) {
        printf("  %-10s %s\n", qn_verb_table[i].name, qn_verb_table[i].summary);
    }
    printf("  %-10s %s\n", "version", "Prints the version.");
    printf("  %-10s %s\n\n", "help", "Prints this, or with a verb, what that verb takes.");
    for (size_t i = 0; i < qn_n_verbs; i++) {
        printf("%.*s\n", (int)strcspn(qn_verb_table[i].examples, "\n"), qn_verb_table[i].examples);
    }
    printf("\nExit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted.\n");
}

static void help_verb(const qn_verb *verb)
{
    printf("usage: quern %s [options]%s%s\n\n%s\n\noptions (in brackets the default, in parentheses the environment "
           "variable that may set it):\n",
           verb->name, verb->arguments[0] != '\0' ? " " : "", verb->arguments, verb->summary);
    for (int id = 0; id < QN_OPTION_COUNT; id++) {
        if (qn_option_table[id].verbs & verb->bit) {
            print_option(&qn_option_table[id]);
        }
    }
    printf("\nexamples:\n%s", verb->examples);
}

/* ---- JSON --------------------------------------------------------------------------------------- */

static void json_text(qn_json_writer *w, const char *key, const char *text)
{
    qn_json_key(w, key);
    if (text != NULL) {
        qn_json_cstring(w, text);
    } else {
        qn_json_null(w);
    }
}

static void json_limit(qn_json_writer *w, const char *key, const qn_option *option, double limit)
{
    qn_json_key(w, key);
    if (option->kind == QN_OPTION_REAL) {
        qn_json_f64(w, limit);
    } else {
        qn_json_i64(w, limit >= 0x1p63 ? INT64_MAX : (int64_t)limit);
    }
}

static void json_option(qn_json_writer *w, const qn_option *option)
{
    static const char *const kinds[] = {"flag", "text", "texts", "int", "ints", "real", "choice"};
    char short_name[] = {option->short_name, '\0'};
    qn_json_begin_object(w);
    json_text(w, "name", option->name);
    json_text(w, "short", option->short_name != 0 ? short_name : NULL);
    json_text(w, "kind", kinds[option->kind]);
    json_text(w, "value", option->metavar);
    json_text(w, "default", option->fallback);
    if (option->kind == QN_OPTION_INT || option->kind == QN_OPTION_INTS || option->kind == QN_OPTION_REAL) {
        json_limit(w, "min", option, option->min);
        json_limit(w, "max", option, option->max);
    }
    json_text(w, "environment", option->environment);
    json_text(w, "help", option->help);
    qn_json_end_object(w);
}

static void json_verb(qn_json_writer *w, const qn_verb *verb)
{
    qn_json_begin_object(w);
    json_text(w, "verb", verb->name);
    json_text(w, "arguments", verb->arguments);
    json_text(w, "summary", verb->summary);
    qn_json_key(w, "options");
    qn_json_begin_array(w);
    for (int id = 0; id < QN_OPTION_COUNT; id++) {
        if (qn_option_table[id].verbs & verb->bit) {
            json_option(w, &qn_option_table[id]);
        }
    }
    qn_json_end_array(w);
    json_text(w, "examples", verb->examples);
    qn_json_end_object(w);
}

static void json_program(qn_json_writer *w)
{
    char version[24];
    snprintf(version, sizeof(version), "%d.%d.%d", QN_VERSION_MAJOR, QN_VERSION_MINOR, QN_VERSION_PATCH);
    qn_json_begin_object(w);
    json_text(w, "version", version);
    qn_json_key(w, "verbs");
    qn_json_begin_array(w);
    for (size_t i = 0; i < qn_n_verbs; i++) {
        json_verb(w, &qn_verb_table[i]);
    }
    qn_json_end_array(w);
    qn_json_end_object(w);
}

bool qn_help(const qn_verb *verb, bool json)
{
    if (!json) {
        if (verb != NULL) {
            help_verb(verb);
        } else {
            help_program();
        }
        return qn_report_flush();
    }
    qn_buf out;
    qn_json_writer w;
    qn_buf_init(&out, NULL, "help", 1 << 20);
    qn_json_writer_init(&w, &out);
    if (verb != NULL) {
        json_verb(&w, verb);
    } else {
        json_program(&w);
    }
    bool ok = qn_report_json(&out);
    qn_buf_free(&out);
    return ok;
}
