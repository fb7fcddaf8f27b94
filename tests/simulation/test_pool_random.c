/* SPDX-License-Identifier: MIT */
/*
 * The pool's core under random traffic, against a naive recount that keeps everything and searches
 * from end to end. A seed decides on the world (connections, strategy, policy, bounds), then on
 * every step.
 *
 *   WEIR_SEEDS=N   how many seeds (1,000)         WEIR_SEED=S   only this one
 *
 * A seed that breaks an invariant is printed with the message; WEIR_SEED replays it.
 *
 * Invariants, checked at every step:
 *   - no lease is granted while in flight >= the cap of that instant
 *   - with tracking on, nothing is leased or sent on a connection before expiry + buffer of its
 * last throttle, nor on one that is set aside
 *   - every ticket is served, refused or cancelled exactly once; leases go out in the order of the
 * tickets
 *   - nobody is refused for time who has not waited for it
 *   - the statistics equal the recount
 * And after the faults have stopped, everybody is served.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/rig.h"
#include "support/suite.h"

#define CONNECTIONS_MAX 6
#define LEASES_MAX      400
#define TICKETS_MAX     64
#define STEPS           400

struct known_lease {
    struct weir_lease lease;
    bool sent;
};

struct known_ticket {
    uint64_t ticket;
    int64_t since_us;
};

struct recount {
    uint32_t in_flight[CONNECTIONS_MAX];
    int64_t expiry_us[CONNECTIONS_MAX]; /* of the longest block */
    bool set_aside[CONNECTIONS_MAX];
    uint64_t throttles_of[CONNECTIONS_MAX];
    struct known_lease leases[LEASES_MAX];
    uint32_t lease_count;
    struct known_ticket tickets[TICKETS_MAX]; /* waiting, oldest first */
    uint32_t ticket_count;
    uint64_t throttles;
    uint64_t served;
};

static struct rig rig;
static struct recount known;
static struct weir_rng rng;
static uint64_t seed;

/* ck_assert() writes to a pipe each time it passes; with millions of checks that is most of the
 * run. */
#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            ck_abort_msg("WEIR_SEED=%lu: " #condition, (unsigned long)seed);                       \
    } while (0)

static uint32_t pick(uint32_t below)
{
    return (uint32_t)weir_rng_below(&rng, below);
}

/* --- the world -------------------------------------------------------------------------------- */

static void make_world(void)
{
    static const char *const policies[] = { "Aimd", "Aimd", "Dop", "Fixed" };
    static const char *const strategies[] = { "ThrottleAware", "ThrottleAware", "RoundRobin",
                                              "LeastConnections" };
    weir_rng_init(&rng, seed, 7);
    memset(&known, 0, sizeof(known));
    rig_init(&rig, 1 + pick(CONNECTIONS_MAX));
    rig.options.adaptive_rate.policy = policies[pick(4)];
    rig.options.adaptive_rate.fixed_parallelism = 1 + (int)pick(8);
    rig.options.pool.selection_strategy = strategies[pick(4)];
    rig.options.pool.max_pool_size = pick(3) ? 0 : 1 + (int)pick(20);
    rig.options.pool.acquire_timeout_us = SECONDS(1 + pick(300));
    rig.options.pool.max_retry_after_tolerance_us = pick(4) ? -1 : SECONDS(pick(60));
    rig.options.bulk.max_parallel_batches = pick(3) ? 0 : 1 + (int)pick(20);
    rig.options.resilience.enable_throttle_tracking = pick(5) != 0;
    rig.options.resilience.circuit_breaker.failures = 1 + (int)pick(10);
    rig_start_with(&rig, seed);
    for (uint32_t i = 0; i < CONNECTIONS_MAX; i++)
        known.expiry_us[i] = WEIR_NEVER;
}

static bool tracking(void)
{
    return rig.options.resilience.enable_throttle_tracking;
}

/* --- checks ----------------------------------------------------------------------------------- */

static void check_may_be_used(uint32_t connection)
{
    MUST(!known.set_aside[connection]);
    int64_t buffer = rig.options.resilience.retry_after_buffer_us;
    if (tracking() && known.expiry_us[connection] != WEIR_NEVER)
        MUST(rig.now_us >= known.expiry_us[connection] + buffer);
}

static void check_lease(const struct weir_lease *lease)
{
    MUST(known.in_flight[lease->connection] <
         weir_core_cap(&rig.core, lease->connection, rig.now_us));
    check_may_be_used(lease->connection);
    for (uint32_t i = 0; i < known.lease_count; i++)
        MUST(known.leases[i].lease.serial != lease->serial);
    uint32_t total = (uint32_t)known.lease_count;
    if (rig.options.pool.max_pool_size)
        MUST(total < (uint32_t)rig.options.pool.max_pool_size);
    if (rig.options.bulk.max_parallel_batches)
        MUST(total < (uint32_t)rig.options.bulk.max_parallel_batches);
}

static void check_statistics(void)
{
    struct weir_pool_stats stats = rig_stats(&rig);
    uint32_t throttled = 0;
    uint32_t aside = 0;
    for (uint32_t i = 0; i < rig.core.count; i++) {
        throttled += known.expiry_us[i] > rig.now_us;
        aside += known.set_aside[i];
        MUST(rig.core.connections[i].in_flight == known.in_flight[i]);
        MUST(rig_rate(&rig, i).total_throttle_events == known.throttles_of[i]);
    }
    MUST(stats.total_connections == rig.core.count);
    MUST(stats.throttled_connections == throttled);
    MUST(stats.set_aside_connections == aside);
    MUST(stats.total_throttle_events == known.throttles);
    MUST(stats.active_leases == known.lease_count);
    MUST(stats.waiters == known.ticket_count);
    MUST(stats.requests_served == known.served);
}

/* --- steps ------------------------------------------------------------------------------------ */

static void lend(const struct weir_lease *lease)
{
    check_lease(lease);
    MUST(known.lease_count < LEASES_MAX);
    known.leases[known.lease_count++] = (struct known_lease){ .lease = *lease };
    known.in_flight[lease->connection]++;
}

static void forget_ticket(uint32_t at)
{
    memmove(&known.tickets[at], &known.tickets[at + 1],
            (--known.ticket_count - at) * sizeof(known.tickets[0]));
}

static void end_ticket(const struct weir_grant *grant)
{
    uint32_t at = 0;
    while (at < known.ticket_count && known.tickets[at].ticket != grant->ticket)
        at++;
    MUST(at < known.ticket_count); /* known, and not ended before */
    if (grant->status == WEIR_E_POOL_EXHAUSTED)
        MUST(rig.now_us - known.tickets[at].since_us >= rig.options.pool.acquire_timeout_us);
    else
        MUST(at == 0); /* in order */
    if (grant->status == WEIR_E_SERVICE_PROTECTION)
        MUST(rig.options.pool.max_retry_after_tolerance_us >= 0);
    forget_ticket(at);
    if (grant->status == WEIR_OK)
        lend(&grant->lease);
}

static int64_t turn(void)
{
    for (;;) {
        struct weir_grant grant;
        uint32_t count;
        int64_t next = weir_core_turn(&rig.core, rig.now_us, &grant, 1, &count);
        if (!count) {
            MUST(next > rig.now_us);
            return next;
        }
        end_ticket(&grant);
    }
}

static void ask(void)
{
    if (known.ticket_count == TICKETS_MAX)
        return;
    struct weir_grant grant;
    weir_core_ask(&rig.core, NULL, rig.now_us, &grant);
    if (grant.status == WEIR_OK) {
        MUST(known.ticket_count == 0); /* nobody is overtaken */
        lend(&grant.lease);
    } else if (grant.status == WEIR_E_WOULD_WAIT) {
        known.tickets[known.ticket_count++] = (struct known_ticket){ grant.ticket, rig.now_us };
    }
}

static void forget_lease(uint32_t at)
{
    known.in_flight[known.leases[at].lease.connection]--;
    known.leases[at] = known.leases[--known.lease_count];
}

static void begin(void)
{
    if (!known.lease_count)
        return;
    uint32_t at = pick(known.lease_count);
    struct known_lease *it = &known.leases[at];
    if (it->sent)
        return;
    if (weir_core_begin(&rig.core, &it->lease, rig.now_us) == WEIR_OK) {
        check_may_be_used(it->lease.connection);
        it->sent = true;
    } else {
        forget_lease(at);
    }
}

static struct weir_answer random_answer(void)
{
    struct weir_answer answer;
    switch (pick(10)) {
    case 0:
    case 1:
        answer = answer_throttle(SECONDS(1 + pick(120)));
        break;
    case 2:
        answer = answer_of_class(WEIR_CLASS_TRANSIENT);
        if (pick(3) == 0)
            answer.verdict.retry_after_us = SECONDS(1 + pick(30));
        break;
    case 3:
        answer = answer_of_class((enum weir_class)(WEIR_CLASS_RACE + pick(7)));
        break;
    default:
        answer = answer_ok(SECONDS(0.1) + (int64_t)pick(20000000));
        break;
    }
    if (pick(10) == 0)
        answer.budget.dop_hint = 1 + (int)pick(60);
    return answer;
}

static void settle(uint32_t at, struct weir_answer answer)
{
    struct weir_lease lease = known.leases[at].lease;
    enum weir_class class_ = answer.verdict.class_;
    MUST(weir_core_settle(&rig.core, &lease, &answer, rig.now_us) == WEIR_OK);
    forget_lease(at);
    if (class_ != WEIR_CLASS_UNSENT)
        known.served++;
    if (class_ == WEIR_CLASS_THROTTLE) {
        known.throttles++;
        known.throttles_of[lease.connection]++;
    }
    bool blocks = class_ == WEIR_CLASS_THROTTLE ||
                  (class_ == WEIR_CLASS_TRANSIENT && answer.verdict.retry_after_us > 0);
    int64_t expiry = rig.now_us + answer.verdict.retry_after_us;
    if (blocks && expiry > known.expiry_us[lease.connection])
        known.expiry_us[lease.connection] = expiry;
}

static void change_connection(void)
{
    uint32_t connection = pick(rig.core.count);
    switch (pick(5)) {
    case 0:
        weir_core_hint(&rig.core, connection, 1 + (int)pick(60), rig.now_us);
        break;
    case 1:
        weir_core_set_aside(&rig.core, connection, rig.now_us);
        known.set_aside[connection] = true;
        break;
    case 2:
        weir_core_restore(&rig.core, connection, rig.now_us);
        known.set_aside[connection] = false;
        break;
    case 3:
        weir_core_clear_throttle(&rig.core, connection, rig.now_us);
        known.expiry_us[connection] = WEIR_NEVER;
        break;
    default:
        weir_core_reset(&rig.core, connection, rig.now_us);
        break;
    }
}

static void cancel(void)
{
    if (!known.ticket_count)
        return;
    uint32_t at = pick(known.ticket_count);
    MUST(weir_core_cancel(&rig.core, known.tickets[at].ticket, rig.now_us));
    MUST(!weir_core_cancel(&rig.core, known.tickets[at].ticket, rig.now_us));
    forget_ticket(at);
}

static void step(void)
{
    switch (pick(16)) {
    case 0:
        change_connection();
        break;
    case 1:
        cancel();
        break;
    case 2:
        rig.now_us += SECONDS(pick(90));
        break;
    case 3:
    case 4:
    case 5:
    case 6:
    case 7:
        ask();
        break;
    case 8:
    case 9:
        begin();
        break;
    default:
        rig.now_us += (int64_t)pick(2000000);
        if (known.lease_count)
            settle(pick(known.lease_count), random_answer());
        break;
    }
    turn();
    check_statistics();
}

/* Only successes from now on: whoever waits is served, and nothing is left behind. */
static void heal(void)
{
    for (uint32_t i = 0; i < rig.core.count; i++) {
        weir_core_restore(&rig.core, i, rig.now_us);
        known.set_aside[i] = false;
    }
    int64_t begun_us = rig.now_us;
    int64_t next = turn();
    while (known.ticket_count || known.lease_count) {
        if (known.lease_count) {
            rig.now_us += MS(200);
            settle(0, answer_ok(MS(200)));
        } else {
            MUST(next != WEIR_FOREVER);
            rig.now_us = next;
        }
        next = turn();
        check_statistics();
        MUST(rig.now_us < begun_us + WEIR_US_PER_HOUR);
    }
}

START_TEST(no_invariant_breaks_for_any_seed)
{
    const char *only = getenv("WEIR_SEED");
    const char *count = getenv("WEIR_SEEDS");
    uint64_t first = only ? strtoull(only, NULL, 10) : 1;
    uint64_t last = only ? first : count ? strtoull(count, NULL, 10) : 1000;
    for (seed = first; seed <= last; seed++) {
        make_world();
        for (int i = 0; i < STEPS; i++)
            step();
        heal();
        rig_release(&rig);
    }
}
END_TEST

/* Everything that a caller can see of a run, hashed. */
static uint64_t fingerprint(void)
{
    uint64_t hash = 0;
    make_world();
    for (int i = 0; i < STEPS; i++) {
        step();
        for (uint32_t n = 0; n < known.lease_count; n++)
            hash = hash * 31 + known.leases[n].lease.serial * 7 + known.leases[n].lease.connection;
        hash = hash * 31 + (uint64_t)rig.now_us + known.ticket_count;
    }
    rig_release(&rig);
    return hash;
}

START_TEST(a_seed_replays_to_the_byte)
{
    for (seed = 1; seed <= 20; seed++) {
        uint64_t once = fingerprint();
        uint64_t again = fingerprint();
        ck_assert_uint_eq(once, again);
    }
}
END_TEST

int main(void)
{
    struct suite s = suite_new("pool_random");
    suite_add(&s, no_invariant_breaks_for_any_seed);
    suite_add(&s, a_seed_replays_to_the_byte);
    return suite_run(&s);
}
