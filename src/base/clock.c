/* Time.
 * SPDX-License-Identifier: MIT */
#include "base/clock.h"

#include "base/os.h"

uint64_t qn_clock_ns(void)
{
    return qn_os_clock_ns();
}
