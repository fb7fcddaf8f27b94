/* SPDX-License-Identifier: MIT */
/*
 * The only file that reads a clock. Everything inside weir takes `int64_t now_us`, microseconds of
 * CLOCK_BOOTTIME: it never jumps with the wall clock and goes on while the machine is suspended.
 */
#ifndef WEIR_BASE_CLOCK_H
#define WEIR_BASE_CLOCK_H

#include <stdint.h>

#define WEIR_US_PER_MS     INT64_C(1000)
#define WEIR_US_PER_S      INT64_C(1000000)
#define WEIR_US_PER_MINUTE (60 * WEIR_US_PER_S)
#define WEIR_US_PER_HOUR   (60 * WEIR_US_PER_MINUTE)
#define WEIR_US_PER_DAY    (24 * WEIR_US_PER_HOUR)

/* A moment that never comes. */
#define WEIR_FOREVER INT64_MAX

/* Microseconds of CLOCK_BOOTTIME. Any thread. */
int64_t weir_clock_now_us(void);

/* Microseconds since 1970 by the wall clock; for people and logs only. Any thread. */
int64_t weir_clock_wall_us(void);

/*
 * The moment `delay_us` from now on CLOCK_MONOTONIC, for condition variables, which do not know
 * CLOCK_BOOTTIME. Delays are cut to WEIR_TIMER_MAX_US, so that a suspended machine is noticed: read
 * the clock again and wait again. Any thread.
 */
struct timespec;
void weir_clock_deadline(int64_t delay_us, struct timespec *ret);

/* now + span, staying at WEIR_FOREVER. */
static inline int64_t weir_time_add(int64_t now_us, int64_t span_us)
{
    int64_t sum;
    return __builtin_add_overflow(now_us, span_us, &sum) ? WEIR_FOREVER : sum;
}

#endif
