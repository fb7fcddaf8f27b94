/* SPDX-License-Identifier: MIT */
/* The only file that reads a clock; see clock.h. */
#include "base/clock.h"

#include <time.h>

#include "base/limits.h"
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

void weir_clock_deadline(int64_t delay_us, struct timespec *ret)
{
    if (delay_us > WEIR_TIMER_MAX_US)
        delay_us = WEIR_TIMER_MAX_US;
    int64_t at = read_us(CLOCK_MONOTONIC) + (delay_us > 0 ? delay_us : 0);
    ret->tv_sec = (time_t)(at / WEIR_US_PER_S);
    ret->tv_nsec = (long)(at % WEIR_US_PER_S) * 1000;
}

int64_t weir_wall_offset_us(void)
{
    return weir_clock_wall_us() - weir_clock_now_us();
}
