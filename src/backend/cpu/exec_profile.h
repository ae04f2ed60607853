/* What each kind of op cost, when a session asks for it. Private to backend/cpu. SPDX-License-Identifier: MIT */
#ifndef QN_BACKEND_CPU_EXEC_PROFILE_H
#define QN_BACKEND_CPU_EXEC_PROFILE_H

#include "backend/cpu/exec_int.h"

/* Gives ops their slots: one for each kind and, of products, type of the first weight. NULL: no memory. */
qn_cpu_profile *qn_cpu_profile_new(const qn_exec *ex);

/* On any thread, after its part of a pass of op i_op that began at begin_ns; what it touches outlives late threads. */
void qn_cpu_profile_add(qn_cpu_profile *p, uint32_t i_op, uint32_t i_thread, uint64_t begin_ns);

/* On the caller's thread, after a job that began at begin_ns. */
void qn_cpu_profile_job(qn_cpu_profile *p, const qn_job *job, uint64_t begin_ns);

/* As qn_backend_ops.profile and profile_reset say. */
bool qn_cpu_profile_get(const qn_exec *ex, uint32_t i, qn_profile_entry *out);
void qn_cpu_profile_reset(qn_exec *ex);

#endif
