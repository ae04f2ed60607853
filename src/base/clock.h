/* Time. Monotonic, from an arbitrary start; nanoseconds.
 * SPDX-License-Identifier: MIT */
#ifndef QN_BASE_CLOCK_H
#define QN_BASE_CLOCK_H

#include <stdint.h>

uint64_t qn_clock_ns(void);

#endif
