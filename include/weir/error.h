/* SPDX-License-Identifier: MIT */
/*
 * What went wrong, by value.
 *
 * A function that can fail returns an enum weir_status, 0 being success, and takes an optional
 * last parameter `struct weir_error *err` for the detail (NULL: not wanted). Outputs are set only
 * on success, unless a function says otherwise. There is no global last error and no text to free:
 * a struct weir_error owns nothing.
 */
#ifndef WEIR_ERROR_H
#define WEIR_ERROR_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__GNUC__)
#define WEIR_API                 __attribute__((visibility("default")))
#define WEIR_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define WEIR_API
#define WEIR_PRINTF(text, first)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Longest connection name in bytes, without its terminator. */
#define WEIR_CONNECTION_NAME_MAX 128

/* Longest error text in bytes, terminator included; a longer one is cut. */
#define WEIR_MESSAGE_MAX 1000

enum weir_status {
    WEIR_OK = 0,
    WEIR_E_INVALID,            /* an argument, a value or a file that is not as it must be */
    WEIR_E_NOT_FOUND,          /* no connection, key or file of that name */
    WEIR_E_TOO_BIG,            /* larger than its bound */
    WEIR_E_DAMAGED,            /* a compressed file that is cut or broken: it stays so */
    WEIR_E_IO,                 /* a file could not be read or written */
    WEIR_E_POOL_EXHAUSTED,     /* no slot came free within AcquireTimeout */
    WEIR_E_SERVICE_PROTECTION, /* throttled: retries used up, or the wait exceeds the tolerance */
    WEIR_E_NO_CONNECTION,      /* every connection has been set aside */
    WEIR_E_CANCELLED,          /* the caller took the request back */
    WEIR_E_SHUTDOWN,           /* the pool is shutting down */
    WEIR_E_STALE_LEASE,        /* given back already, or its connection was throttled meanwhile */
    WEIR_E_WOULD_WAIT,         /* nothing is free now and the caller did not want to wait */
    WEIR_E_UNAVAILABLE,        /* failed other than by throttles until the retries were used up */
    WEIR_E_REFUSED,            /* the service's answer is no, and would be again */
    WEIR_E_CREDENTIALS,        /* login service or service do not accept who we are */
    WEIR_STATUS_COUNT
};

struct weir_error {
    enum weir_status status;
    int http_status;        /* 0: there was no answer */
    uint32_t service_code;  /* Dataverse's code, for example 0x80072322; 0: none */
    int64_t retry_after_us; /* -1: not known */
    bool retryable;         /* the same call may succeed later */
    bool outcome_known;     /* false: the service may have executed the request */
    char connection[WEIR_CONNECTION_NAME_MAX + 1]; /* empty: no connection was involved */
    char message[WEIR_MESSAGE_MAX];                /* one sentence, lower case, no full stop */
};

/* The status as one lower-case phrase, such as "pool exhausted". Any thread. */
WEIR_API const char *weir_status_name(enum weir_status status);

#ifdef __cplusplus
}
#endif

#endif
