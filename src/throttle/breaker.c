/* SPDX-License-Identifier: MIT */
/*
 * A circuit breaker; see breaker.h.
 *
 * Open and half open differ only by the time: `until_us` is the moment from which one request may
 * go. A failure of a request that left earlier is therefore no failed probe, and it is ignored.
 */
#include "throttle/breaker.h"

#include <limits.h>

#include "base/clock.h"

enum weir_breaker_state weir_breaker_state(const struct weir_breaker *breaker, int64_t now_us)
{
    if (breaker->open_for_us == 0)
        return WEIR_BREAKER_CLOSED;
    return now_us < breaker->until_us ? WEIR_BREAKER_OPEN : WEIR_BREAKER_HALF_OPEN;
}

void weir_breaker_succeeded(struct weir_breaker *breaker)
{
    *breaker = (struct weir_breaker){ 0 };
}

/* At least a microsecond: a span of 0 would mean closed. */
static void open_for(struct weir_breaker *breaker,
                     const struct weir_circuit_breaker_options *options, int64_t span_us,
                     int64_t now_us)
{
    if (span_us > options->open_max_us)
        span_us = options->open_max_us;
    breaker->open_for_us = span_us > 0 ? span_us : 1;
    breaker->until_us = weir_time_add(now_us, breaker->open_for_us);
}

bool weir_breaker_failed(struct weir_breaker *breaker,
                         const struct weir_circuit_breaker_options *options, int64_t sent_us,
                         int64_t now_us)
{
    if (!options->enabled)
        return false;
    enum weir_breaker_state state = weir_breaker_state(breaker, now_us);
    if (state == WEIR_BREAKER_OPEN ||
        (state == WEIR_BREAKER_HALF_OPEN && sent_us < breaker->until_us))
        return false;

    if (breaker->failures < INT_MAX)
        breaker->failures++;
    if (state == WEIR_BREAKER_CLOSED && breaker->failures < options->failures)
        return false;
    int64_t span_us = state == WEIR_BREAKER_CLOSED
                          ? options->open_for_us
                          : weir_time_add(breaker->open_for_us, breaker->open_for_us);
    open_for(breaker, options, span_us, now_us);
    return true;
}

bool weir_breaker_hasten(struct weir_breaker *breaker, int64_t span_us, int64_t now_us)
{
    int64_t until_us = weir_time_add(now_us, span_us);
    if (breaker->open_for_us == 0 || breaker->until_us <= until_us)
        return false;
    breaker->until_us = until_us;
    if (breaker->open_for_us > span_us) /* it doubles from there */
        breaker->open_for_us = span_us > 0 ? span_us : 1;
    return true;
}
