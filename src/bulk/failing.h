/* SPDX-License-Identifier: MIT */
/*
 * For how long nothing but failures has come. A throttle is neither a failure nor the end of them,
 * for the service does nothing then. What is waited for it is no time of failing: of the time
 * between two failures with a throttle in between counts a tenth of the limit at most. Pure.
 *
 *     limit 600 s:  fails ── 3 s ── fails ── 1 s ── throttled ── 299 s ── fails        63 s
 */
#ifndef WEIR_BULK_FAILING_H
#define WEIR_BULK_FAILING_H

#include "base/clock.h"

struct weir_failing {
    int64_t since_us; /* the first failure, and later by what does not count; WEIR_FOREVER: none */
    int64_t last_us;  /* the last failure */
    bool throttled;   /* since then */
};

static inline struct weir_failing weir_failing_none(void)
{
    return (struct weir_failing){ .since_us = WEIR_FOREVER };
}

static inline struct weir_failing weir_failing_since(int64_t since_us)
{
    return (struct weir_failing){ .since_us = since_us, .last_us = since_us };
}

static inline bool weir_failing_is(const struct weir_failing *failing)
{
    return failing->since_us != WEIR_FOREVER;
}

static inline int64_t weir_failing_for_us(const struct weir_failing *failing, int64_t limit_us,
                                          int64_t now_us)
{
    int64_t counts_us = failing->last_us + limit_us / 10;
    int64_t until_us = failing->throttled && counts_us < now_us ? counts_us : now_us;
    return weir_failing_is(failing) ? until_us - failing->since_us : 0;
}

/* One more; if it is the first, the time runs from `from_us`. */
static inline void weir_failing_add(struct weir_failing *failing, int64_t from_us, int64_t limit_us,
                                    int64_t now_us)
{
    failing->since_us = weir_failing_is(failing)
                            ? now_us - weir_failing_for_us(failing, limit_us, now_us)
                            : from_us;
    failing->last_us = now_us;
    failing->throttled = false;
}

static inline void weir_failing_throttle(struct weir_failing *failing)
{
    failing->throttled = weir_failing_is(failing);
}

#endif
