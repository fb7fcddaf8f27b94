/* SPDX-License-Identifier: MIT */
/*
 * The token of one connection and when to fetch the next: pure, a function of state, event and
 * time.
 *
 *     fetched         refresh             stale          expires
 *        ├───────────────┼───────────────────┼───────────────┤
 *        │      HAVE     │  HAVE_AND_FETCH   │  FETCH / WAIT │
 *        │               │  once, then HAVE  │               │
 *
 *     refresh   80 % of its life, or what the login service asked for if that is sooner than stale
 *     stale     60 s before the end, but no more than 10 % of its life: a request that is sent now
 *               must not arrive with an expired token
 *
 * After a failed fetch nobody fetches before `not_before`; whoever wants a token meanwhile and
 * there is none that is good is told the same error at once.
 *     passing   1, 2, 4 … 30 s after the first, second, third … failure in a row, a quarter of it
 *               by chance; or what the answer's Retry-After said, an hour at most
 *     for good  a minute: secrets are renewed and applications are allowed while a job waits, so
 *               for whoever puts such a connection back a plain no is asked again, but seldom
 * A token that is still good is handed out all the same, whatever became of its renewal.
 *
 * Invariants: at most one fetch at a time (`fetching`); serial numbers grow and are never used
 * twice.
 */
#ifndef WEIR_AUTH_TOKEN_CACHE_H
#define WEIR_AUTH_TOKEN_CACHE_H

#include "auth/token_answer.h"

struct weir_token_cache {
    struct weir_secret text; /* of the last one fetched */
    bool good;               /* false: there is none, or the service has spurned it */
    uint64_t serial;
    int64_t refresh_us;
    int64_t stale_us;
    int64_t expires_us;
    bool fetching;
    int failures;          /* in a row */
    int64_t not_before_us; /* of the next fetch */
    struct weir_error error;
};

enum weir_token_decision {
    WEIR_TOKEN_HAVE,           /* the token of the cache is good */
    WEIR_TOKEN_HAVE_AND_FETCH, /* so it is, and the caller begins a fetch */
    WEIR_TOKEN_FETCH,          /* the caller begins a fetch; the asker waits for it */
    WEIR_TOKEN_WAIT,           /* a fetch is under way */
    WEIR_TOKEN_REFUSED,        /* the error of the cache */
};

/* Zeroed is a good beginning. */
void weir_token_cache_release(struct weir_token_cache *cache);

/* Somebody wants a token. */
enum weir_token_decision weir_token_cache_want(struct weir_token_cache *cache, int64_t now_us);

/*
 * The fetch that began at `begun_us` brought this; the text is taken from `grant`. Its life is
 * counted from the beginning, because the service counted it from some moment after that.
 */
void weir_token_cache_fetched(struct weir_token_cache *cache, struct weir_token_grant *grant,
                              int64_t begun_us);

/*
 * The fetch failed. `error` with `retryable`: it will pass, and `retry_after_us` >= 0 says when.
 * `chance` is uniform in [0, 1).
 */
void weir_token_cache_failed(struct weir_token_cache *cache, const struct weir_error *error,
                             double chance, int64_t now_us);

/*
 * The service did not accept the token of that serial number: it is handed out no more, if it still
 * was. Its text stays until the next one replaces it, because whoever says so may be reading it.
 */
void weir_token_cache_spurned(struct weir_token_cache *cache, uint64_t serial);

#endif
