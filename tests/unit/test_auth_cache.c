/* SPDX-License-Identifier: MIT */
/* When a token is handed out and when one is fetched: in virtual time, against a naive model. */
#include <stdio.h>

#include "auth/token_cache.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/rng.h"
#include "support/suite.h"

#define S    WEIR_US_PER_S
#define HOUR WEIR_US_PER_HOUR

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void give(struct weir_token_cache *cache, int64_t life_us, int64_t refresh_us,
                 int64_t now_us)
{
    struct weir_token_grant grant = { .life_us = life_us, .refresh_us = refresh_us };
    weir_secret_set(&grant.text, weir_str_from("token"));
    weir_token_cache_fetched(cache, &grant, now_us);
    must(!grant.text.text);
}

static struct weir_error passing(int64_t retry_after_us)
{
    return (struct weir_error){ .status = WEIR_E_UNAVAILABLE,
                                .retryable = true,
                                .retry_after_us = retry_after_us,
                                .message = "busy" };
}

static struct weir_error for_good(void)
{
    return (
        struct weir_error){ .status = WEIR_E_CREDENTIALS, .retry_after_us = -1, .message = "no" };
}

START_TEST(one_fetch_for_all_who_come_while_there_is_none)
{
    struct weir_token_cache cache = { 0 };
    ck_assert_int_eq(weir_token_cache_want(&cache, 0), WEIR_TOKEN_FETCH);
    for (int i = 0; i < 500; i++)
        must(weir_token_cache_want(&cache, i) == WEIR_TOKEN_WAIT);
    give(&cache, HOUR, -1, 0);
    for (int64_t now = 0; now < HOUR / 5 * 4; now += S)
        must(weir_token_cache_want(&cache, now) == WEIR_TOKEN_HAVE);
    weir_token_cache_release(&cache);
}
END_TEST

START_TEST(renewal_in_the_background_begins_once_at_four_fifths)
{
    struct weir_token_cache cache = { 0 };
    weir_token_cache_want(&cache, 0);
    give(&cache, HOUR, -1, 0);
    int64_t refresh = HOUR / 5 * 4;
    ck_assert_int_eq(weir_token_cache_want(&cache, refresh - 1), WEIR_TOKEN_HAVE);
    ck_assert_int_eq(weir_token_cache_want(&cache, refresh), WEIR_TOKEN_HAVE_AND_FETCH);
    ck_assert_int_eq(weir_token_cache_want(&cache, refresh), WEIR_TOKEN_HAVE);
    ck_assert_int_eq(weir_token_cache_want(&cache, HOUR - 60 * S - 1), WEIR_TOKEN_HAVE);
    ck_assert_int_eq(weir_token_cache_want(&cache, HOUR - 60 * S), WEIR_TOKEN_WAIT);
    ck_assert_uint_eq(cache.serial, 1);
    give(&cache, HOUR, -1, HOUR - 60 * S);
    ck_assert_uint_eq(cache.serial, 2);
    ck_assert_int_eq(weir_token_cache_want(&cache, HOUR), WEIR_TOKEN_HAVE);
    ck_assert_int_eq(cache.expires_us, 2 * HOUR - 60 * S);
    weir_token_cache_release(&cache);
}
END_TEST

START_TEST(the_last_minute_or_tenth_of_a_life_is_not_used)
{
    static const struct {
        int64_t life;
        int64_t refresh; /* as asked for */
        int64_t refreshed;
        int64_t stale;
    } rows[] = {
        { HOUR, -1, 2880 * S, 3540 * S },
        { 100 * S, -1, 80 * S, 90 * S },
        { 600 * S, -1, 480 * S, 540 * S },
        { 10 * S, -1, 8 * S, 9 * S },
        { 24 * HOUR, 12 * HOUR, 12 * HOUR, 24 * HOUR - 60 * S },
        { HOUR, 3539 * S, 3539 * S, 3540 * S },
        { HOUR, 3540 * S, 2880 * S, 3540 * S }, /* too late to be of use */
        { HOUR, 2 * HOUR, 2880 * S, 3540 * S },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct weir_token_cache cache = { 0 };
        weir_token_cache_want(&cache, 7 * S);
        give(&cache, rows[i].life, rows[i].refresh, 7 * S);
        ck_assert_msg(cache.refresh_us == 7 * S + rows[i].refreshed, "row %zu", i);
        ck_assert_msg(cache.stale_us == 7 * S + rows[i].stale, "row %zu", i);
        ck_assert_int_eq(cache.expires_us, 7 * S + rows[i].life);
        ck_assert_int_eq(weir_token_cache_want(&cache, cache.stale_us), WEIR_TOKEN_FETCH);
        weir_token_cache_release(&cache);
    }
}
END_TEST

START_TEST(a_failed_renewal_does_not_take_the_token_away)
{
    struct weir_token_cache cache = { 0 };
    struct weir_error no = for_good();
    weir_token_cache_want(&cache, 0);
    give(&cache, HOUR, -1, 0);
    int64_t now = HOUR / 5 * 4;
    ck_assert_int_eq(weir_token_cache_want(&cache, now), WEIR_TOKEN_HAVE_AND_FETCH);
    weir_token_cache_failed(&cache, &no, 0, now);
    ck_assert_int_eq(weir_token_cache_want(&cache, now + 60 * S - 1), WEIR_TOKEN_HAVE);
    ck_assert_int_eq(weir_token_cache_want(&cache, now + 60 * S), WEIR_TOKEN_HAVE_AND_FETCH);
    weir_token_cache_failed(&cache, &no, 0, HOUR - 70 * S);
    ck_assert_int_eq(weir_token_cache_want(&cache, HOUR - 60 * S), WEIR_TOKEN_REFUSED);
    ck_assert_str_eq(cache.error.message, "no");
    weir_token_cache_release(&cache);
}
END_TEST

START_TEST(failures_that_pass_are_waited_out_longer_and_longer)
{
    static const int64_t whole[] = { 1, 2, 4, 8, 16, 30, 30, 30 };
    for (int corner = 0; corner < 2; corner++) {
        struct weir_token_cache cache = { 0 };
        double chance = corner ? 0.999999 : 0;
        int64_t now = 0;
        for (size_t i = 0; i < COUNT(whole); i++) {
            struct weir_error busy = passing(-1);
            int64_t wait = whole[i] * S - (int64_t)((double)(whole[i] * S) / 4 * chance);
            must(weir_token_cache_want(&cache, now) == WEIR_TOKEN_FETCH);
            weir_token_cache_failed(&cache, &busy, chance, now);
            must(weir_token_cache_want(&cache, now) == WEIR_TOKEN_REFUSED);
            must(cache.error.retry_after_us == wait);
            must(weir_token_cache_want(&cache, now + wait - 1) == WEIR_TOKEN_REFUSED);
            must(cache.error.retry_after_us == 1);
            now += wait;
        }
        must(weir_token_cache_want(&cache, now) == WEIR_TOKEN_FETCH);
        give(&cache, 10 * S, -1, now);
        must(cache.failures == 0);
        weir_token_cache_release(&cache);
    }
}
END_TEST

START_TEST(retry_after_is_obeyed_up_to_an_hour)
{
    static const int64_t rows[][2] = { { 7 * S, 7 * S }, { HOUR, HOUR }, { 5 * HOUR, HOUR } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct weir_token_cache cache = { 0 };
        struct weir_error busy = passing(rows[i][0]);
        weir_token_cache_want(&cache, 0);
        weir_token_cache_failed(&cache, &busy, 0.5, 0);
        ck_assert_int_eq(weir_token_cache_want(&cache, rows[i][1] - 1), WEIR_TOKEN_REFUSED);
        ck_assert_int_eq(weir_token_cache_want(&cache, rows[i][1]), WEIR_TOKEN_FETCH);
    }
}
END_TEST

START_TEST(a_plain_no_is_asked_again_after_a_minute)
{
    struct weir_token_cache cache = { 0 };
    struct weir_error no = for_good();
    weir_token_cache_want(&cache, 0);
    weir_token_cache_failed(&cache, &no, 0.9, 0);
    ck_assert_int_eq(weir_token_cache_want(&cache, 60 * S - 1), WEIR_TOKEN_REFUSED);
    ck_assert_int_eq(cache.error.status, WEIR_E_CREDENTIALS);
    ck_assert_int_eq(cache.error.retry_after_us, -1);
    ck_assert_int_eq(weir_token_cache_want(&cache, 60 * S), WEIR_TOKEN_FETCH);
}
END_TEST

START_TEST(spurned_by_many_is_fetched_once)
{
    struct weir_token_cache cache = { 0 };
    weir_token_cache_want(&cache, 0);
    give(&cache, HOUR, -1, 0);
    for (int i = 0; i < 500; i++)
        weir_token_cache_spurned(&cache, 1);
    ck_assert_int_eq(weir_token_cache_want(&cache, S), WEIR_TOKEN_FETCH);
    ck_assert_int_eq(weir_token_cache_want(&cache, S), WEIR_TOKEN_WAIT);
    weir_token_cache_spurned(&cache, 1); /* a late one, while it is being fetched */
    give(&cache, HOUR, -1, S);
    weir_token_cache_spurned(&cache, 1); /* and one that comes when there is a newer */
    ck_assert_int_eq(weir_token_cache_want(&cache, 2 * S), WEIR_TOKEN_HAVE);
    weir_token_cache_spurned(&cache, 0);
    weir_token_cache_spurned(&cache, 3);
    ck_assert_int_eq(weir_token_cache_want(&cache, 2 * S), WEIR_TOKEN_HAVE);
    weir_token_cache_release(&cache);
}
END_TEST

/* --- a campaign ------------------------------------------------------------------------------- */

struct model {
    struct weir_token_cache cache;
    struct weir_rng rng;
    int64_t now;
    bool fetching;
    uint64_t serial; /* of the token in use; 0: none */
    uint64_t last_serial;
    int64_t expires;
    int64_t life;
    int64_t not_before;
};

static void check_want(struct model *m)
{
    bool good = m->serial && m->now < m->expires - (m->life / 10 < 60 * S ? m->life / 10 : 60 * S);
    enum weir_token_decision decision = weir_token_cache_want(&m->cache, m->now);
    bool have = decision == WEIR_TOKEN_HAVE || decision == WEIR_TOKEN_HAVE_AND_FETCH;
    bool fetches = decision == WEIR_TOKEN_FETCH || decision == WEIR_TOKEN_HAVE_AND_FETCH;
    must(have == good);
    must(!have || (m->cache.serial == m->serial && m->cache.expires_us > m->now));
    must(!fetches || (!m->fetching && m->now >= m->not_before));
    must((decision == WEIR_TOKEN_WAIT) == (!good && m->fetching));
    must((decision == WEIR_TOKEN_REFUSED) == (!good && !m->fetching && m->now < m->not_before));
    must(decision != WEIR_TOKEN_HAVE_AND_FETCH || m->now >= m->expires - m->life + m->life / 5 * 4);
    m->fetching |= fetches;
    must(m->cache.fetching == m->fetching);
}

static void end_fetch(struct model *m)
{
    if (!m->fetching)
        return;
    m->fetching = false;
    if (weir_rng_below(&m->rng, 3)) {
        m->life = 1 + (int64_t)weir_rng_below(&m->rng, 2 * HOUR);
        give(&m->cache, m->life, -1, m->now);
        m->serial = ++m->last_serial;
        m->expires = m->now + m->life;
        m->not_before = 0;
        must(m->cache.serial == m->serial);
        return;
    }
    bool passes = weir_rng_below(&m->rng, 2);
    struct weir_error err = passes ? passing(-1) : for_good();
    weir_token_cache_failed(&m->cache, &err, weir_rng_unit(&m->rng), m->now);
    int64_t wait = m->cache.not_before_us - m->now;
    must(passes ? wait > S * 3 / 4 - 1 && wait <= 30 * S : wait == 60 * S);
    m->not_before = m->cache.not_before_us;
}

static void step(struct model *m)
{
    switch (weir_rng_below(&m->rng, 6)) {
    case 0:
        end_fetch(m);
        return;
    case 1:
        m->now += (int64_t)weir_rng_below(&m->rng, 20 * 60 * S);
        return;
    case 2: {
        uint64_t serial = weir_rng_below(&m->rng, m->last_serial + 2);
        weir_token_cache_spurned(&m->cache, serial);
        if (serial == m->serial)
            m->serial = 0;
        return;
    }
    case 3:
        m->now += (int64_t)weir_rng_below(&m->rng, S);
        return;
    default:
        check_want(m);
        return;
    }
}

START_TEST(whatever_happens_in_whatever_order)
{
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct model m = { .now = (int64_t)seed };
        weir_rng_init(&m.rng, seed, 0);
        for (int i = 0; i < 2000; i++)
            step(&m);
        weir_token_cache_release(&m.cache);
    }
}
END_TEST

int main(void)
{
    struct suite s = suite_new("auth_cache");
    suite_add(&s, one_fetch_for_all_who_come_while_there_is_none);
    suite_add(&s, renewal_in_the_background_begins_once_at_four_fifths);
    suite_add(&s, the_last_minute_or_tenth_of_a_life_is_not_used);
    suite_add(&s, a_failed_renewal_does_not_take_the_token_away);
    suite_add(&s, failures_that_pass_are_waited_out_longer_and_longer);
    suite_add(&s, retry_after_is_obeyed_up_to_an_hour);
    suite_add(&s, a_plain_no_is_asked_again_after_a_minute);
    suite_add(&s, spurned_by_many_is_fetched_once);
    suite_add(&s, whatever_happens_in_whatever_order);
    return suite_run(&s);
}
