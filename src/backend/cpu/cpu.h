/* The CPU as a backend. SPDX-License-Identifier: MIT */
#ifndef QN_BACKEND_CPU_CPU_H
#define QN_BACKEND_CPU_CPU_H

#include "backend/backend.h"
#include "backend/cpu/kernels.h"

/* kernels and pool are borrowed and must outlive the backend. */
qn_status qn_cpu_open(const qn_kernels *kernels, qn_pool *pool, qn_budget *b, qn_backend **out, qn_error *err);

#endif
