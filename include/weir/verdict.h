/* SPDX-License-Identifier: MIT */
/*
 * What one answer of the service meant.
 *
 * A verdict has two axes. The *class* says what kind of answer it was: policies and trackers look
 * at it. The *outcome* says whether the service executed the request: the bookkeeping looks at it,
 * because a request that may have been executed must not be repeated carelessly.
 *
 * A program that sends requests of its own fills a struct weir_http_answer and lets
 * weir_answer_read() do the recognising.
 */
#ifndef WEIR_VERDICT_H
#define WEIR_VERDICT_H

#include <stddef.h>
#include <stdint.h>

#include "weir/error.h"

#ifdef __cplusplus
extern "C" {
#endif

enum weir_class {
    WEIR_CLASS_OK = 0,
    WEIR_CLASS_THROTTLE,        /* a service protection limit, or a bare 429 */
    WEIR_CLASS_TRANSIENT,       /* 5xx, network, a busy database: worth another try */
    WEIR_CLASS_RACE,            /* deadlock or first-use race: worth a short wait */
    WEIR_CLASS_TOO_BIG,         /* split it */
    WEIR_CLASS_BAD_ROWS,        /* this content will never be accepted */
    WEIR_CLASS_BAD_CREDENTIALS, /* 401: one refresh, then the connection is set aside */
    WEIR_CLASS_PRIVILEGE,       /* 403 */
    WEIR_CLASS_OTHER,           /* anything else that a retry will not mend */
    WEIR_CLASS_UNSENT,          /* the lease came back without a request */
    WEIR_CLASS_COUNT
};

enum weir_outcome {
    WEIR_OUTCOME_NOT_EXECUTED = 0,
    WEIR_OUTCOME_EXECUTED,
    WEIR_OUTCOME_UNKNOWN,
};

enum weir_throttle_kind {
    WEIR_THROTTLE_NONE = 0,
    WEIR_THROTTLE_REQUESTS,       /* 0x80072322: requests in the window */
    WEIR_THROTTLE_EXECUTION_TIME, /* 0x80072321: combined execution time in the window */
    WEIR_THROTTLE_CONCURRENCY,    /* 0x80072326: requests at the same time */
    WEIR_THROTTLE_OTHER,          /* 429 without one of the three codes */
};

/* The limit that a throttle message names. */
struct weir_named_limit {
    int64_t value;     /* requests, milliseconds or concurrent requests, by kind; 0: none named */
    int64_t window_us; /* 0: none named */
};

struct weir_verdict {
    enum weir_class class_;
    enum weir_outcome outcome;
    enum weir_throttle_kind throttle;
    int http_status;           /* 0: there was no answer */
    uint32_t code;             /* the service's code; 0: none */
    int64_t retry_after_us;    /* -1: none asked for; always >= 1 s when the class is throttle */
    bool retry_after_fallback; /* Retry-After was missing or unusable: the fallback stands in */
    bool retry_after_clamped;  /* Retry-After was longer than an hour: an hour stands in */
    struct weir_named_limit limit;
};

/* What the response headers say of the budgets, on successes too. Zeroed: nothing was said. */
struct weir_budget_headers {
    bool requests_known;
    bool execution_known;
    int64_t requests_remaining;
    int64_t execution_remaining_us;
    int dop_hint;       /* 0: not said */
    uint64_t server_id; /* which web server answered, hashed; 0: not said */
};

/* One answer as the pool learns it. Zeroed: a success of no duration that said nothing. */
struct weir_answer {
    struct weir_verdict verdict;
    struct weir_budget_headers budget;
    int64_t duration_us; /* from the first byte sent to the last byte received */
    int64_t ttfb_us;     /* from the last byte sent to the first received; 0: not measured */
};

struct weir_http_header {
    const char *name; /* any case */
    const char *value;
};

/* An HTTP answer, or the lack of one, as a program saw it. Nothing is kept after the call. */
struct weir_http_answer {
    int status;   /* 0: no complete answer arrived */
    bool sent;    /* a byte of the request body may have reached the service */
    bool partial; /* an error, but the body tells of rows or parts one by one, some of which may
                     have been executed */
    const struct weir_http_header *headers;
    size_t header_count;
    const char *error_code;    /* `error.code` of the body: hex or decimal; NULL: none */
    const char *error_message; /* `error.message` of the body; NULL: none. A refusal (4xx) without
                                  code and message is taken for a gateway's: it blames no row */
    int64_t duration_us;
    int64_t ttfb_us;
};

/*
 * Recognise an answer: all three service protection codes in every form, the limit named in the
 * message, Retry-After in every form, the budget headers and the dop hint. `fallback_us` stands in
 * for a Retry-After that is missing or unusable; 0: retry_after_us stays -1, and the pool that gets
 * the answer puts its own FallbackRetryAfter there. Any thread.
 */
WEIR_API void weir_answer_read(const struct weir_http_answer *http, int64_t fallback_us,
                               struct weir_answer *ret);

/* True for exactly the three service protection codes. Any thread. */
WEIR_API bool weir_is_service_protection(uint32_t code);

/* Names for people and logs. Any thread. */
WEIR_API const char *weir_class_name(enum weir_class class_);
WEIR_API const char *weir_outcome_name(enum weir_outcome outcome);
WEIR_API const char *weir_throttle_kind_name(enum weir_throttle_kind kind);

#ifdef __cplusplus
}
#endif

#endif
