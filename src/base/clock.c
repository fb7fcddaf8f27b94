/* SPDX-License-Identifier: MIT */
/* The only file that reads a clock; see clock.h. */
#include "base/clock.h"

#include <time.h>

#include "weir/stats.h"

static int64_t read_us(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * WEIR_US_PER_S + now.tv_nsec / 1000;
}

int64_t weir_clock_now_us(void)
{
    return read_us(CLOCK_BOOTTIME);
}

int64_t weir_clock_wall_us(void)
{
    return read_us(CLOCK_REALTIME);
}

int64_t weir_wall_offset_us(void)
{
    return weir_clock_wall_us() - weir_clock_now_us();
}
