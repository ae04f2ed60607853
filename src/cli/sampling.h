/* From the sampling options to a sampler: shared by the verbs that make text. SPDX-License-Identifier: MIT */
#ifndef QN_CLI_SAMPLING_H
#define QN_CLI_SAMPLING_H

#include "cli/options.h"

typedef struct qn_sampling {
    const qn_options *options;
    const char *const *stops;
    size_t n_stops;
    qn_logit_bias *bias;
    size_t n_bias;
    uint64_t seed; /* the one in use, also when none was asked for */
} qn_sampling;

/* Reads --stop, --logit-bias and --seed. QN_EINVAL names the flag: wrong usage. */
qn_status qn_sampling_read(qn_sampling *s, const qn_options *o, qn_error *err);

/* Token ids of --logit-bias, which only a vocabulary can refuse. QN_EINVAL as above. */
qn_status qn_sampling_check(const qn_sampling *s, uint32_t n_vocab, qn_error *err);

qn_status qn_sampling_open(qn_sampling *s, const qn_model *m, qn_sampler **out, qn_error *err);
void qn_sampling_free(qn_sampling *s);

#endif
