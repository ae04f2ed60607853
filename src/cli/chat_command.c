/* The commands of `quern chat`. SPDX-License-Identifier: MIT */
#include "cli/chat_command.h"

#include <ctype.h>

typedef struct command {
    const char *name, *argument, *help; /* argument: NULL: it takes none */
    bool needs_argument;
    qn_command (*run)(qn_talk *t, const qn_chat_stats *stats, const char *argument);
} command;

static qn_command help(qn_talk *t, const qn_chat_stats *stats, const char *argument);

static qn_command fail(const qn_error *err)
{
    qn_report_failure("chat", err);
    return QN_COMMAND_FAILED;
}

static const char *messages(const qn_talk *t)
{
    return t->transcript.n == 1 ? "message" : "messages";
}

static qn_command reset(qn_talk *t, const qn_chat_stats *stats, const char *argument)
{
    (void)stats, (void)argument;
    qn_transcript_reset(&t->transcript);
    fprintf(stderr, "The conversation begins anew%s.\n", t->transcript.has_system ? "; the system message stays" : "");
    return QN_COMMAND_DONE;
}

static qn_command save(qn_talk *t, const qn_chat_stats *stats, const char *path)
{
    (void)stats;
    qn_error err;
    if (qn_transcript_save(&t->transcript, path, &err) != QN_OK) {
        return fail(&err);
    }
    fprintf(stderr, "%zu %s saved.\n", t->transcript.n, messages(t));
    return QN_COMMAND_DONE;
}

static qn_command load(qn_talk *t, const qn_chat_stats *stats, const char *path)
{
    (void)stats;
    qn_error err;
    if (qn_transcript_load(&t->transcript, path, &err) != QN_OK) {
        return fail(&err);
    }
    fprintf(stderr, "%zu %s loaded; the conversation goes on from there.\n", t->transcript.n, messages(t));
    return QN_COMMAND_DONE;
}

static qn_command set_system(qn_talk *t, const qn_chat_stats *stats, const char *text)
{
    (void)stats;
    qn_error err;
    if (qn_transcript_set_system(&t->transcript, qn_str_of(text), &err) != QN_OK) {
        return fail(&err);
    }
    fputs(text[0] != '\0' ? "The system message is set.\n" : "There is no system message now.\n", stderr);
    return QN_COMMAND_DONE;
}

static qn_command show_stats(qn_talk *t, const qn_chat_stats *stats, const char *argument)
{
    (void)argument;
    char memory[QN_REPORT_BYTES_TEXT];
    fprintf(stderr, "context      %u of %u tokens, %zu %s\n", (unsigned)qn_seq_length(t->generation.seq),
            (unsigned)t->generation.n_ctx, t->transcript.n, messages(t));
    fprintf(stderr, "answers      %zu, %llu tokens made, %llu read, %llu found in the context\n", stats->n_answers,
            (unsigned long long)stats->n_made, (unsigned long long)stats->n_prefill,
            (unsigned long long)stats->n_reused);
    fprintf(stderr, "library      %s\n", qn_report_bytes(qn_runtime_memory_used(t->opened.runtime), memory));
    if (stats->n_answers > 0) {
        fputs("the last answer:\n", stderr);
        qn_timings_print(&t->generation.timings);
    }
    return QN_COMMAND_DONE;
}

static qn_command quit(qn_talk *t, const qn_chat_stats *stats, const char *argument)
{
    (void)t, (void)stats, (void)argument;
    return QN_COMMAND_QUIT;
}

static const command commands[] = {
    {"help", NULL, "this list", false, help},
    {"reset", NULL, "forget all messages but the system message", false, reset},
    {"save", "FILE", "write the messages to FILE, as JSON", true, save},
    {"load", "FILE", "go on from the messages in FILE", true, load},
    {"system", "[TEXT]", "set the system message; without TEXT, take it away", false, set_system},
    {"stats", NULL, "how full the context is, and how fast it goes", false, show_stats},
    {"quit", NULL, "end; so does Ctrl-D", false, quit},
};

#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static qn_command help(qn_talk *t, const qn_chat_stats *stats, const char *argument)
{
    (void)t, (void)stats, (void)argument;
    for (size_t i = 0; i < N_COMMANDS; i++) {
        const command *c = &commands[i];
        int n = fprintf(stderr, "/%s %s", c->name, c->argument != NULL ? c->argument : "");
        fprintf(stderr, "%*s%s\n", n < 16 ? 16 - n : 1, "", c->help);
    }
    fputs("A line that ends in \\ goes on in the next one; \"\"\" begins and ends a text of many lines.\n"
          "A message that begins with a slash is written with two. Ctrl-C stops an answer.\n",
          stderr);
    return QN_COMMAND_DONE;
}

static qn_command refuse(const char *name, size_t n)
{
    const char *words[N_COMMANDS];
    char word[32];
    qn_error err;
    for (size_t i = 0; i < N_COMMANDS; i++) {
        words[i] = commands[i].name;
    }
    snprintf(word, sizeof(word), "%.*s", n < sizeof(word) ? (int)n : (int)sizeof(word) - 1, name);
    const char *nearest = qn_nearest_word(word, words, N_COMMANDS);
    if (nearest != NULL) {
        qn_fail(&err, QN_EINVAL, "there is no /%s; did you mean /%s?", word, nearest);
    } else {
        qn_fail(&err, QN_EINVAL, "there is no /%s; /help lists what there is", word);
    }
    return fail(&err);
}

qn_command qn_chat_command(qn_talk *t, const qn_chat_stats *stats, const char *line)
{
    const char *name = line + 1;
    size_t n = 0;
    while (isalnum((unsigned char)name[n])) {
        n++;
    }
    bool is_word = name[n] == '\0' || isspace((unsigned char)name[n]);
    const char *argument = name + n;
    while (isspace((unsigned char)*argument)) {
        argument++;
    }
    for (size_t i = 0; i < N_COMMANDS; i++) {
        const command *c = &commands[i];
        if (!is_word || strlen(c->name) != n || memcmp(c->name, name, n) != 0) {
            continue;
        }
        qn_error err;
        if (c->needs_argument && argument[0] == '\0') {
            qn_fail(&err, QN_EINVAL, "/%s needs a %s", c->name, c->argument);
            return fail(&err);
        }
        if (c->argument == NULL && argument[0] != '\0') {
            qn_fail(&err, QN_EINVAL, "/%s takes nothing behind it", c->name);
            return fail(&err);
        }
        return c->run(t, stats, argument);
    }
    return refuse(name, is_word ? n : strcspn(name, " \t\n"));
}
