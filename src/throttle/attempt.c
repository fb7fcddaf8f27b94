/* SPDX-License-Identifier: MIT */
/* What to do after one answer; see attempt.h. */
#include "throttle/attempt.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/error.h"

/* Waits that double from the first to the longest. */
struct back_off {
    int64_t first_us;
    int64_t longest_us;
    const char *verb; /* what happened, for the message */
};

static const struct back_off transient = { WEIR_US_PER_S, 30 * WEIR_US_PER_S, "failed" };
static const struct back_off race = { WEIR_US_PER_S / 2, 2 * WEIR_US_PER_S, "lost a race" };

static struct weir_attempt_decision act(enum weir_attempt_action action)
{
    return (struct weir_attempt_decision){ .action = action };
}

static struct weir_attempt_decision wait_until(int64_t until_us)
{
    return (struct weir_attempt_decision){ .action = WEIR_ATTEMPT_WAIT, .until_us = until_us };
}

/* What the caller of a request that is given up learns beside the message. */
static void fill_error(struct weir_error *err, const struct weir_attempt *attempt,
                       const struct weir_verdict *verdict, const struct weir_attempt_scene *scene)
{
    if (!err)
        return;
    weir_error_set_connection(err, scene->connection_name);
    err->http_status = verdict->http_status;
    err->service_code = verdict->code;
    err->retry_after_us = verdict->retry_after_us;
    err->retryable = true;
    err->outcome_known = !attempt->unknown;
}

struct weir_cause weir_verdict_cause(const struct weir_verdict *verdict)
{
    struct weir_cause cause;
    if (verdict->code)
        snprintf(cause.text, sizeof(cause.text), "0x%08" PRIx32, verdict->code);
    else if (verdict->http_status)
        snprintf(cause.text, sizeof(cause.text), "HTTP %d", verdict->http_status);
    else
        snprintf(cause.text, sizeof(cause.text), "no answer");
    return cause;
}

static const char *plural(int count)
{
    return count == 1 ? "" : "s";
}

static struct weir_attempt_decision give_up_throttled(const struct weir_attempt *attempt,
                                                      const struct weir_verdict *verdict,
                                                      const struct weir_attempt_scene *scene,
                                                      const char *reason, struct weir_error *err)
{
    int64_t tenths = verdict->retry_after_us / (WEIR_US_PER_S / 10);
    weir_fail(err, WEIR_E_SERVICE_PROTECTION,
              "throttled %d time%s, last by \"%s\": %s limit (%s), retry after %" PRId64 ".%" PRId64
              " s%s",
              attempt->throttles, plural(attempt->throttles), scene->connection_name,
              weir_throttle_kind_name(verdict->throttle), weir_verdict_cause(verdict).text,
              tenths / 10, tenths % 10, reason);
    fill_error(err, attempt, verdict, scene);
    return act(WEIR_ATTEMPT_GIVE_UP);
}

static struct weir_attempt_decision decide_throttle(struct weir_attempt *attempt,
                                                    const struct weir_verdict *heard,
                                                    const struct weir_attempt_scene *scene,
                                                    int64_t now_us, struct weir_error *err)
{
    const struct weir_resilience_options *options = attempt->options;
    struct weir_verdict throttle = *heard;
    const struct weir_verdict *verdict = &throttle;
    if (throttle.retry_after_us < 0)
        throttle.retry_after_us = options->fallback_retry_after_us;
    attempt->throttles++;
    if (attempt->throttles >= options->max_throttle_retries)
        return give_up_throttled(attempt, verdict, scene, "", err);
    if (!options->enable_throttle_tracking) {
        int64_t expiry_us = weir_time_add(now_us, verdict->retry_after_us);
        return wait_until(weir_time_add(expiry_us, options->retry_after_buffer_us));
    }
    if (scene->others_open)
        return act(WEIR_ATTEMPT_RETRY_NOW);
    if (scene->shortest_reopening_us == WEIR_FOREVER)
        return give_up_throttled(attempt, verdict, scene, ", no connection is left", err);
    if (scene->shortest_reopening_us <= now_us)
        return act(WEIR_ATTEMPT_RETRY_NOW);
    return wait_until(scene->shortest_reopening_us);
}

/* The wait after the `count`-th failure, from half of it to the whole by chance. */
static int64_t back_off_us(const struct back_off *back_off, int count, double chance)
{
    int64_t span_us = back_off->first_us;
    for (int i = 1; i < count && span_us < back_off->longest_us; i++)
        span_us *= 2;
    if (span_us > back_off->longest_us)
        span_us = back_off->longest_us;
    return (int64_t)((double)span_us * (0.5 + 0.5 * chance));
}

static struct weir_attempt_decision give_up_failed(const struct weir_attempt *attempt,
                                                   const struct back_off *back_off, int count,
                                                   const struct weir_verdict *verdict,
                                                   const struct weir_attempt_scene *scene,
                                                   struct weir_error *err)
{
    weir_fail(err, WEIR_E_UNAVAILABLE, "%s %d time%s, last on \"%s\": %s", back_off->verb, count,
              plural(count), scene->connection_name, weir_verdict_cause(verdict).text);
    fill_error(err, attempt, verdict, scene);
    return act(WEIR_ATTEMPT_GIVE_UP);
}

/* `count` is how often the class has come up, this time included. */
static struct weir_attempt_decision decide_failure(const struct weir_attempt *attempt,
                                                   const struct back_off *back_off, int count,
                                                   const struct weir_verdict *verdict,
                                                   const struct weir_attempt_scene *scene,
                                                   int64_t now_us, struct weir_error *err)
{
    if (count >= attempt->options->max_throttle_retries)
        return give_up_failed(attempt, back_off, count, verdict, scene, err);
    int64_t span_us = back_off_us(back_off, count, scene->chance);
    if (!scene->others_open && span_us < verdict->retry_after_us)
        span_us = verdict->retry_after_us; /* it is of one connection: another need not wait */
    return wait_until(weir_time_add(now_us, span_us));
}

struct weir_attempt_decision weir_attempt_decide(struct weir_attempt *attempt,
                                                 const struct weir_verdict *verdict,
                                                 const struct weir_attempt_scene *scene,
                                                 int64_t now_us, struct weir_error *err)
{
    attempt->unknown |= verdict->outcome == WEIR_OUTCOME_UNKNOWN;
    if (!attempt->repeatable && verdict->outcome != WEIR_OUTCOME_NOT_EXECUTED)
        return act(WEIR_ATTEMPT_RETURN);

    int count;
    switch (verdict->class_) {
    case WEIR_CLASS_THROTTLE:
        return decide_throttle(attempt, verdict, scene, now_us, err);
    case WEIR_CLASS_TRANSIENT:
        count = ++attempt->transients;
        return decide_failure(attempt, &transient, count, verdict, scene, now_us, err);
    case WEIR_CLASS_RACE:
        count = ++attempt->races;
        return decide_failure(attempt, &race, count, verdict, scene, now_us, err);
    default:
        return act(WEIR_ATTEMPT_RETURN);
    }
}
