/* SPDX-License-Identifier: MIT */
/*
 * One request to Dataverse, through the pool.
 *
 *     struct weir_client *client;
 *     if (weir_client_new(options, NULL, &client, &err) != WEIR_OK)
 *         ...
 *     struct weir_request request = { .method = "GET", .path = "WhoAmI" };
 *     struct weir_response response;
 *     if (weir_execute(client, &request, &response, &err) == WEIR_OK)
 *         ... response.status, response.body ...
 *     weir_response_release(&response);
 *     weir_client_free(client);
 *
 * A *client* is a pool together with what its connections need to speak: a thread that owns the
 * sockets, the access tokens, the TLS sessions. weir_execute() takes a lease, sends the request
 * once with the token of the leased connection, gives the lease back with the answer, and repeats
 * that as far as the answer allows: a throttled request goes to another connection at once, or
 * waits, holding no slot, until one reopens. Nothing below it retries: what it counts is what was
 * sent.
 *
 * Every function here may be called from any thread.
 */
#ifndef WEIR_EXECUTE_H
#define WEIR_EXECUTE_H

#include "weir/pool.h"

#ifdef __cplusplus
extern "C" {
#endif

struct weir_client;

/*
 * `options` is borrowed and must outlive the client (a finished struct weir_config keeps them).
 * `sink` is copied, may be NULL, and is called from several threads; its ctx must outlive the
 * client. Nothing is
 * sent yet, but credentials that cannot be right are refused here (WEIR_E_INVALID,
 * WEIR_E_CREDENTIALS).
 */
WEIR_API enum weir_status weir_client_new(const struct weir_options *options,
                                          const struct weir_log_sink *sink,
                                          struct weir_client **ret, struct weir_error *err);

/*
 * Everybody inside weir_execute() returns with WEIR_E_SHUTDOWN, requests in flight are broken off,
 * tokens are wiped. (What libcurl frees is wiped too, unless the program has set libcurl up
 * before.) Nobody may call anything on the client once this has begun. NULL is fine.
 */
WEIR_API void weir_client_free(struct weir_client *client);

/* Its pool, for statistics, hints and requests of one's own. Lives as long as the client. */
WEIR_API struct weir_pool *weir_client_pool(struct weir_client *client);

/* Borrowed until weir_execute() returns. Zero what is not needed. */
struct weir_request {
    const char *method; /* GET, POST, PATCH, PUT or DELETE */
    const char *path;   /* below the Web API ("accounts?$top=1"), or a path from "/" on */
    const struct weir_http_header
        *headers; /* besides the usual ones; the same name replaces those */
    size_t header_count;
    const void *body; /* NULL: none */
    size_t body_bytes;
    bool repeatable; /* sending it twice does no harm, so it may be sent again though the outcome of
                        an attempt is unknown. A GET always is */
    uint32_t kind;   /* as in struct weir_ask */
    uint32_t rows;
    uint64_t cancel_tag; /* for weir_client_cancel(); 0: cannot be cancelled */
};

/* What came back. Owned by the caller; weir_response_release() frees it. */
struct weir_response {
    int status;                             /* 200 … 299 */
    const struct weir_http_header *headers; /* in the order in which they came */
    size_t header_count;
    const char *body; /* terminated by a 0 that does not count; never NULL */
    size_t body_bytes;
    char connection[WEIR_CONNECTION_NAME_MAX + 1]; /* that executed it */
    int requests;                                  /* that were sent, this one included */
    struct weir_answer answer;                     /* verdict, budgets, times */
    void *memory;                                  /* the library's */
};

/*
 * Send a request, once or as often as MaxThrottleRetries and the answers allow.
 *   WEIR_E_SERVICE_PROTECTION  throttled until the retries were used up, or for longer than
 *                              MaxRetryAfterTolerance
 *   WEIR_E_UNAVAILABLE         no complete answer, or failures of the service, until the retries
 *                              were used up; or once, if the outcome is unknown and the request not
 *                              repeatable: err->outcome_known tells
 *   WEIR_E_REFUSED             the service's answer is no, or a redirect, or 304; err has HTTP
 *                              status, code and its words
 *   WEIR_E_CREDENTIALS         no connection is left whose token is accepted
 *   WEIR_E_INVALID             a method, path or header that cannot be sent
 *   WEIR_E_TOO_BIG             likewise, for its size; or too many wait already
 *   WEIR_E_POOL_EXHAUSTED, WEIR_E_NO_CONNECTION, WEIR_E_CANCELLED, WEIR_E_SHUTDOWN
 * *ret is set on success; it may be released in any case.
 */
WEIR_API enum weir_status weir_execute(struct weir_client *client,
                                       const struct weir_request *request,
                                       struct weir_response *ret, struct weir_error *err);

/* A zeroed response is fine. */
WEIR_API void weir_response_release(struct weir_response *response);

/* The value of a header by name, any case; NULL: not there. Lives as long as the response. */
WEIR_API const char *weir_response_header(const struct weir_response *response, const char *name);

/*
 * Make every weir_execute() with this tag return WEIR_E_CANCELLED, wherever it stands. One whose
 * request is in flight breaks it off: err->outcome_known is false then.
 */
WEIR_API void weir_client_cancel(struct weir_client *client, uint64_t cancel_tag);

#ifdef __cplusplus
}
#endif

#endif
