/* SPDX-License-Identifier: MIT */
/* When to fetch a token; see token_cache.h. */
#include "auth/token_cache.h"

#include <assert.h>

#include "base/clock.h"
#include "base/limits.h"

#define STALE_MAX_US    (60 * WEIR_US_PER_S)
#define BACK_OFF_MIN_US (1 * WEIR_US_PER_S)
#define BACK_OFF_MAX_US (30 * WEIR_US_PER_S)
#define FOR_GOOD_US     (60 * WEIR_US_PER_S)

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

void weir_token_cache_release(struct weir_token_cache *cache)
{
    weir_secret_release(&cache->text);
}

/* A fetch may begin: there is none, and the last one did not fail a moment ago. */
static bool may_fetch(const struct weir_token_cache *cache, int64_t now_us)
{
    return !cache->fetching && now_us >= cache->not_before_us;
}

static enum weir_token_decision want_good(struct weir_token_cache *cache, int64_t now_us)
{
    if (now_us < cache->refresh_us || !may_fetch(cache, now_us))
        return WEIR_TOKEN_HAVE;
    cache->fetching = true;
    return WEIR_TOKEN_HAVE_AND_FETCH;
}

enum weir_token_decision weir_token_cache_want(struct weir_token_cache *cache, int64_t now_us)
{
    if (cache->good && now_us < cache->stale_us)
        return want_good(cache, now_us);
    if (cache->fetching)
        return WEIR_TOKEN_WAIT;
    if (!may_fetch(cache, now_us)) {
        if (cache->error.retryable)
            cache->error.retry_after_us = cache->not_before_us - now_us;
        return WEIR_TOKEN_REFUSED;
    }
    cache->fetching = true;
    return WEIR_TOKEN_FETCH;
}

void weir_token_cache_fetched(struct weir_token_cache *cache, struct weir_token_grant *grant,
                              int64_t begun_us)
{
    assert(cache->fetching);
    int64_t stale_us = grant->life_us - least(grant->life_us / 10, STALE_MAX_US);
    int64_t refresh_us = grant->life_us / 5 * 4;
    if (grant->refresh_us >= 0 && grant->refresh_us < stale_us)
        refresh_us = grant->refresh_us;
    weir_secret_release(&cache->text);
    cache->text = weir_secret_take(&grant->text);
    cache->good = true;
    cache->serial++;
    cache->refresh_us = weir_time_add(begun_us, refresh_us);
    cache->stale_us = weir_time_add(begun_us, stale_us);
    cache->expires_us = weir_time_add(begun_us, grant->life_us);
    cache->fetching = false;
    cache->failures = 0;
    cache->not_before_us = 0;
}

static int64_t back_off_us(const struct weir_token_cache *cache, const struct weir_error *error,
                           double chance)
{
    if (!error->retryable)
        return FOR_GOOD_US;
    if (error->retry_after_us >= 0)
        return least(error->retry_after_us, WEIR_RETRY_AFTER_MAX_US);
    int doublings = cache->failures < 5 ? cache->failures : 5;
    int64_t whole_us = least(BACK_OFF_MIN_US << doublings, BACK_OFF_MAX_US);
    return whole_us - (int64_t)((double)whole_us / 4 * chance);
}

void weir_token_cache_failed(struct weir_token_cache *cache, const struct weir_error *error,
                             double chance, int64_t now_us)
{
    assert(cache->fetching);
    int64_t wait_us = back_off_us(cache, error, chance);
    cache->fetching = false;
    cache->failures++;
    cache->not_before_us = weir_time_add(now_us, wait_us);
    cache->error = *error;
    if (error->retryable)
        cache->error.retry_after_us = wait_us;
}

void weir_token_cache_spurned(struct weir_token_cache *cache, uint64_t serial)
{
    if (serial == cache->serial)
        cache->good = false;
}
