/* Sampling options, checked and turned into a sampler. SPDX-License-Identifier: MIT */
#include "cli/sampling.h"

#include "base/clock.h"
#include "cli/input.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

/* What the library takes (quern.h, qn_stream_open); checked here so that the error names the flag. */
#define QN_SAMPLING_MAX_STOPS 64
#define QN_SAMPLING_MAX_STOP_BYTES 4096

static qn_status read_stops(qn_sampling *s, qn_error *err)
{
    s->stops = qn_options_texts(s->options, QN_OPTION_ID_STOP, &s->n_stops);
    if (s->n_stops > QN_SAMPLING_MAX_STOPS) {
        return qn_fail(err, QN_EINVAL, "--stop: given %zu times, at most %d are possible", s->n_stops,
                       QN_SAMPLING_MAX_STOPS);
    }
    for (size_t i = 0; i < s->n_stops; i++) {
        size_t n = strlen(s->stops[i]);
        if (n == 0) {
            return qn_fail(err, QN_EINVAL, "--stop: an empty text");
        }
        if (n > QN_SAMPLING_MAX_STOP_BYTES) {
            return qn_fail(err, QN_EINVAL, "--stop: a text of %zu bytes, at most %d are possible", n,
                           QN_SAMPLING_MAX_STOP_BYTES);
        }
    }
    return QN_OK;
}

static qn_status parse_bias(const char *text, qn_logit_bias *out, qn_error *err)
{
    char id[32];
    size_t n_id = strcspn(text, "=");
    int64_t id_value;
    double bias;
    snprintf(id, sizeof(id), "%.*s", n_id < sizeof(id) ? (int)n_id : 0, text);
    if (text[n_id] == '=' && qn_parse_int(id, 0, INT32_MAX, &id_value)) {
        if (strcmp(text + n_id + 1, "-inf") == 0) {
            *out = (qn_logit_bias){(int32_t)id_value, -INFINITY};
            return QN_OK;
        }
        if (qn_parse_real(text + n_id + 1, -1e9, 1e9, &bias)) {
            *out = (qn_logit_bias){(int32_t)id_value, (float)bias};
            return QN_OK;
        }
    }
    return qn_fail(err, QN_EINVAL, "--logit-bias: '%s' is not ID=B with a token id and a number", text);
}

static qn_status read_biases(qn_sampling *s, qn_error *err)
{
    size_t n;
    const char *const *texts = qn_options_texts(s->options, QN_OPTION_ID_LOGIT_BIAS, &n);
    s->bias = qn_zalloc_array(NULL, QN_INPUT_OWNER, n, sizeof(*s->bias));
    if (s->bias == NULL) {
        return qn_fail(err, QN_ENOMEM, "no memory for %zu logit biases", n);
    }
    for (; s->n_bias < n; s->n_bias++) {
        QN_TRY(parse_bias(texts[s->n_bias], &s->bias[s->n_bias], err));
    }
    return QN_OK;
}

qn_status qn_sampling_read(qn_sampling *s, const qn_options *o, qn_error *err)
{
    *s = (qn_sampling){.options = o};
    int64_t seed = qn_options_int(o, QN_OPTION_ID_SEED);
    /* Within what JSON readers hold exactly, so that the seed reported can be used again. */
    s->seed = seed >= 0 ? (uint64_t)seed : (qn_clock_ns() ^ (uint64_t)getpid() << 32) & ((1ull << 53) - 1);
    QN_TRY(read_stops(s, err));
    return read_biases(s, err);
}

qn_status qn_sampling_check(const qn_sampling *s, uint32_t n_vocab, qn_error *err)
{
    for (size_t i = 0; i < s->n_bias; i++) {
        if ((uint32_t)s->bias[i].id >= n_vocab) {
            return qn_fail(err, QN_EINVAL, "--logit-bias: there is no token %ld; ids of this model are 0 to %lu",
                           (long)s->bias[i].id, (unsigned long)n_vocab - 1);
        }
    }
    return QN_OK;
}

/* --ignore-eos: a ban on every token that ends a text. */
static qn_status ban_ends(qn_sampling *s, const qn_model *m, qn_error *err)
{
    qn_model_info info;
    qn_model_get_info(m, &info);
    for (int32_t id = 0; id < (int32_t)info.n_vocab; id++) {
        if (!qn_token_is_end(m, id)) {
            continue;
        }
        qn_logit_bias *bias = qn_realloc(NULL, QN_INPUT_OWNER, s->bias, (s->n_bias + 1) * sizeof(*bias));
        if (bias == NULL) {
            return qn_fail(err, QN_ENOMEM, "no memory for %zu logit biases", s->n_bias + 1);
        }
        s->bias = bias;
        s->bias[s->n_bias++] = (qn_logit_bias){id, -INFINITY};
    }
    return QN_OK;
}

qn_status qn_sampling_open(qn_sampling *s, const qn_model *m, qn_sampler **out, qn_error *err)
{
    const qn_options *o = s->options;
    if (qn_options_flag(o, QN_OPTION_ID_IGNORE_EOS)) {
        QN_TRY(ban_ends(s, m, err));
    }
    qn_sampler_options so;
    qn_sampler_options_init(&so);
    so.temperature = (float)qn_options_real(o, QN_OPTION_ID_TEMP);
    so.top_k = (uint32_t)qn_options_int(o, QN_OPTION_ID_TOP_K);
    so.top_p = (float)qn_options_real(o, QN_OPTION_ID_TOP_P);
    so.min_p = (float)qn_options_real(o, QN_OPTION_ID_MIN_P);
    so.typical_p = (float)qn_options_real(o, QN_OPTION_ID_TYPICAL);
    so.repeat_penalty = (float)qn_options_real(o, QN_OPTION_ID_REPEAT_PENALTY);
    so.frequency_penalty = (float)qn_options_real(o, QN_OPTION_ID_FREQUENCY_PENALTY);
    so.presence_penalty = (float)qn_options_real(o, QN_OPTION_ID_PRESENCE_PENALTY);
    so.penalty_last_n = (uint32_t)qn_options_int(o, QN_OPTION_ID_REPEAT_LAST_N);
    so.seed = s->seed;
    so.bias = s->bias;
    so.n_bias = s->n_bias;
    return qn_sampler_open(m, &so, out, err);
}

void qn_sampling_free(qn_sampling *s)
{
    qn_free(s->bias);
    s->bias = NULL;
}
