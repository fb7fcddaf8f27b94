/* SPDX-License-Identifier: MIT */
/* What happened in the pool; see event.h. */
#include "pool/event.h"

#include "base/log.h"
#include "base/mem.h"

void weir_pool_events_init(struct weir_pool_events *events, bool wanted)
{
    *events = (struct weir_pool_events){ 0 };
    if (wanted)
        events->ring = weir_calloc(WEIR_EVENTS_MAX, sizeof(*events->ring));
}

void weir_pool_events_release(struct weir_pool_events *events)
{
    free(events->ring);
    *events = (struct weir_pool_events){ 0 };
}

void weir_pool_events_add(struct weir_pool_events *events, const struct weir_pool_event *event)
{
    if (!events->ring)
        return;
    if (events->count == WEIR_EVENTS_MAX) {
        events->first = (events->first + 1) % WEIR_EVENTS_MAX;
        events->count--;
        events->lost++;
    }
    events->ring[(events->first + events->count++) % WEIR_EVENTS_MAX] = *event;
}

bool weir_pool_events_take(struct weir_pool_events *events, struct weir_pool_event *ret)
{
    if (!events->count)
        return false;
    *ret = events->ring[events->first];
    events->first = (events->first + 1) % WEIR_EVENTS_MAX;
    events->count--;
    return true;
}

#define TEXT(field_name, value)                                                                    \
    {                                                                                              \
        .name = (field_name), .type = WEIR_LOG_TEXT, .text = (value)                               \
    }
#define INTEGER(field_name, value)                                                                 \
    {                                                                                              \
        .name = (field_name), .type = WEIR_LOG_INTEGER, .integer = (value)                         \
    }
#define CODE(field_name, value)                                                                    \
    {                                                                                              \
        .name = (field_name), .type = WEIR_LOG_CODE, .integer = (value)                            \
    }
#define DURATION(field_name, value)                                                                \
    {                                                                                              \
        .name = (field_name), .type = WEIR_LOG_DURATION_US, .integer = (value)                     \
    }

#define LOG(level, event_name, message, fields)                                                    \
    weir_log(sink, (level), (event_name), (message), (fields), sizeof(fields) / sizeof((fields)[0]))

static void log_throttle(const struct weir_pool_event *event, const struct weir_log_sink *sink)
{
    const struct weir_verdict *verdict = &event->verdict;
    const struct weir_log_field some = INTEGER("MaxRetries", event->attempt_max);
    const struct weir_log_field any = TEXT("MaxRetries", "unlimited");
    const struct weir_log_field fields[] = {
        TEXT("Connection", event->connection_name),
        CODE("ErrorCode", verdict->code),
        DURATION("RetryAfter", verdict->retry_after_us),
        INTEGER("Attempt", event->attempt),
        event->attempt_max > 0 ? some : any, /* a job tries until it is done */
        TEXT("Kind", weir_throttle_kind_name(verdict->throttle)),
        INTEGER("Limit", verdict->limit.value),
    };
    LOG(WEIR_LOG_WARNING, "throttle", "service protection limit hit", fields);
}

static void log_level(const struct weir_pool_event *event, const struct weir_log_sink *sink)
{
    const struct weir_log_field fields[] = {
        TEXT("Connection", event->connection_name),
        INTEGER("Current", event->current),
        INTEGER("Max", event->max),
        INTEGER("SuccessesSinceThrottle", event->successes),
        INTEGER("TotalThrottleEvents", (int64_t)event->throttle_events),
        TEXT("BoundBy", weir_bound_name(event->bound_by)),
    };
    LOG(WEIR_LOG_DEBUG, "level", "adaptive rate changed", fields);
}

/* The events whose record is the connection and, some of them, a duration. */
static const struct {
    enum weir_log_level level;
    const char *event;
    const char *message;
    const char *duration; /* name of the field; NULL: none */
} plain[] = {
    [WEIR_EVENT_BLOCKED] = { WEIR_LOG_WARNING, "blocked", "not available for a while",
                             "RetryAfter" },
    [WEIR_EVENT_FALLBACK] = { WEIR_LOG_WARNING, "fallback",
                              "throttled without a usable Retry-After, using the fallback",
                              "Fallback" },
    [WEIR_EVENT_CLAMPED] = { WEIR_LOG_WARNING, "clamped",
                             "Retry-After is longer than an hour, using an hour", "RetryAfter" },
    [WEIR_EVENT_ELSEWHERE] = { WEIR_LOG_DEBUG, "elsewhere",
                               "other connections are available, retrying at once on another one",
                               NULL },
    [WEIR_EVENT_ALL_THROTTLED] = { WEIR_LOG_INFO, "all_throttled",
                                   "all connections are throttled, waiting", "WaitTime" },
    [WEIR_EVENT_REOPENED] = { WEIR_LOG_DEBUG, "reopened",
                              "trying a connection again after a throttle", NULL },
    [WEIR_EVENT_SET_ASIDE] = { WEIR_LOG_WARNING, "set_aside", "connection set aside", NULL },
    [WEIR_EVENT_RESTORED] = { WEIR_LOG_INFO, "restored", "connection back in use", NULL },
    [WEIR_EVENT_BREAKER_OPEN] = { WEIR_LOG_WARNING, "breaker_open",
                                  "too many failures in a row, leaving the connection alone",
                                  "OpenFor" },
    [WEIR_EVENT_BREAKER_CLOSED] = { WEIR_LOG_INFO, "breaker_closed", "connection works again",
                                    NULL },
};

void weir_pool_event_log(const struct weir_pool_event *event, const struct weir_log_sink *sink)
{
    if (event->type == WEIR_EVENT_THROTTLE) {
        log_throttle(event, sink);
    } else if (event->type == WEIR_EVENT_LEVEL) {
        log_level(event, sink);
    } else {
        const struct weir_log_field fields[] = {
            TEXT("Connection", event->connection_name),
            DURATION(plain[event->type].duration, event->wait_us),
        };
        weir_log(sink, plain[event->type].level, plain[event->type].event,
                 plain[event->type].message, fields, plain[event->type].duration ? 2 : 1);
    }
}
