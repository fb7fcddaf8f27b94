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
 * Invariants, checked at every step against a recount of its own:
 *   - no lease is granted while in flight >= the cap of that instant: the least of the policy's
 * level, the ramp after a throttle, and one while the breaker is half open
 *   - with tracking on, nothing is leased or sent before expiry + buffer of the last throttle, nor
 * on a connection that is set aside or tripped; a lease is stale exactly if one of these happened
 * since
 *   - every ticket is served, refused or cancelled exactly once, with a reason that holds; leases
 * go out in the order of the tickets
 *   - nobody waits while an open connection has room, and the next turn is never later than the
 * first moment at which something opens
 *   - AcquireTimeout runs exactly while somebody waits for a slot
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
    uint64_t generation;
    int64_t sent_us;
    bool sent;
};

struct known_ticket {
    uint64_t ticket;
    int64_t slot_wait_us; /* how long it has waited for a slot, not for a throttle */
    int64_t timeout_us;
};

struct recount {
    uint32_t in_flight[CONNECTIONS_MAX];
    int64_t expiry_us[CONNECTIONS_MAX]; /* of the longest block */
    bool set_aside[CONNECTIONS_MAX];
    uint32_t ramp[CONNECTIONS_MAX];       /* 0: none */
    uint64_t generation[CONNECTIONS_MAX]; /* closed, tripped or set aside so often */
    struct weir_breaker breaker[CONNECTIONS_MAX];
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
    static const char *const policies[] = { "Budget", "Aimd", "Aimd", "Dop", "Fixed" };
    static const char *const strategies[] = { "Headroom", "ThrottleAware", "ThrottleAware",
                                              "RoundRobin", "LeastConnections" };
    weir_rng_init(&rng, seed, 7);
    memset(&known, 0, sizeof(known));
    rig_init(&rig, 1 + pick(CONNECTIONS_MAX));
    rig.options.adaptive_rate.policy = policies[pick(5)];
    rig.options.adaptive_rate.fixed_parallelism = 1 + (int)pick(8);
    rig.options.pool.selection_strategy = strategies[pick(5)];
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

static bool blind(void)
{
    return !rig.core.strategy->routes_around_throttles;
}

/* It makes people wait beside empty slots, for time to pass. */
static bool paces(void)
{
    return rig.core.policy == &weir_policy_budget;
}

static uint32_t total_max(void)
{
    uint32_t pool = (uint32_t)rig.options.pool.max_pool_size;
    uint32_t batches = (uint32_t)rig.options.bulk.max_parallel_batches;
    if (!pool || (batches && batches < pool))
        pool = batches;
    return pool ? pool : UINT32_MAX;
}

/* --- the recount ------------------------------------------------------------------------------ */

static bool is_closed(uint32_t connection)
{
    return tracking() && rig.now_us < weir_core_reopening_us(&rig.core, connection);
}

static bool is_tripped(uint32_t connection)
{
    return weir_breaker_state(&known.breaker[connection], rig.now_us) == WEIR_BREAKER_OPEN;
}

static uint32_t known_cap(uint32_t connection)
{
    uint32_t cap = (uint32_t)rig_rate(&rig, connection).current_parallelism;
    if (known.ramp[connection] && known.ramp[connection] < cap)
        cap = known.ramp[connection];
    bool half_open =
        weir_breaker_state(&known.breaker[connection], rig.now_us) != WEIR_BREAKER_CLOSED;
    return half_open && cap > 1 ? 1 : cap;
}

/* Every connection in use is closed: nobody waits for a slot. */
static bool waits_for_throttle(void)
{
    for (uint32_t i = 0; i < rig.core.count; i++) {
        if (!known.set_aside[i] && !is_closed(i))
            return false;
    }
    return known.lease_count < total_max();
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
    MUST(known.in_flight[lease->connection] < known_cap(lease->connection));
    MUST(!is_tripped(lease->connection));
    check_may_be_used(lease->connection);
    for (uint32_t i = 0; i < known.lease_count; i++)
        MUST(known.leases[i].lease.serial != lease->serial);
    MUST(known.lease_count < total_max());
}

/* After a turn: whoever waits has to, and will be looked at again in time. */
static void check_waiting(int64_t next)
{
    MUST(next > rig.now_us && next == weir_core_next_us(&rig.core));
    if (!known.ticket_count)
        return;
    bool throttle_wait = waits_for_throttle();
    for (uint32_t i = 0; i < rig.core.count; i++) {
        if (known.set_aside[i])
            continue;
        if (is_closed(i))
            MUST(next <= weir_core_reopening_us(&rig.core, i));
        else if (is_tripped(i))
            MUST(next <= known.breaker[i].until_us);
        else if (!blind() && !paces() && known.lease_count < total_max())
            MUST(known.in_flight[i] >= known_cap(i)); /* nobody waits beside an empty slot */
    }
    if (!blind() && !paces())
        MUST(rig.core.slot_clock_runs == !throttle_wait);
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
    known.leases[known.lease_count++] = (struct known_lease){
        .lease = *lease,
        .generation = known.generation[lease->connection],
        .sent_us = rig.now_us,
    };
    known.in_flight[lease->connection]++;
}

static void forget_ticket(uint32_t at)
{
    memmove(&known.tickets[at], &known.tickets[at + 1],
            (--known.ticket_count - at) * sizeof(known.tickets[0]));
}

static void check_refusal(const struct weir_grant *grant)
{
    int64_t tolerance = rig.options.pool.max_retry_after_tolerance_us;
    bool all_aside = true;
    for (uint32_t i = 0; i < rig.core.count; i++)
        all_aside &= known.set_aside[i];
    MUST((grant->status == WEIR_E_NO_CONNECTION) == all_aside);
    if (grant->status == WEIR_E_SERVICE_PROTECTION) {
        MUST(tolerance >= 0 && grant->refusal.retry_after_us > tolerance);
        MUST(blind() || paces() || waits_for_throttle());
    }
}

static void end_ticket(const struct weir_grant *grant)
{
    uint32_t at = 0;
    while (at < known.ticket_count && known.tickets[at].ticket != grant->ticket)
        at++;
    MUST(at < known.ticket_count); /* known, and not ended before */
    const struct known_ticket *ticket = &known.tickets[at];
    if (grant->status == WEIR_E_POOL_EXHAUSTED) {
        MUST(ticket->timeout_us >= 0);
        if (!blind())
            MUST(ticket->slot_wait_us >= ticket->timeout_us);
    } else {
        MUST(at == 0); /* in order */
        check_refusal(grant);
    }
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
            check_waiting(next);
            return next;
        }
        end_ticket(&grant);
    }
}

static void ask(void)
{
    if (known.ticket_count == TICKETS_MAX)
        return;
    struct weir_ask wish = { 0 };
    int64_t timeout_us = rig.options.pool.acquire_timeout_us;
    if (pick(4) == 0) {
        wish.acquire_timeout_us = pick(2) ? -1 : SECONDS(1 + pick(100));
        timeout_us = wish.acquire_timeout_us;
    }
    bool waits = pick(5) != 0;
    struct weir_grant grant;
    if (waits)
        weir_core_ask(&rig.core, &wish, rig.now_us, &grant);
    else
        weir_core_try(&rig.core, &wish, rig.now_us, &grant);
    if (grant.status == WEIR_OK) {
        MUST(known.ticket_count == 0); /* nobody is overtaken */
        lend(&grant.lease);
    } else if (grant.status == WEIR_E_WOULD_WAIT) {
        MUST((grant.ticket != 0) == waits);
        if (waits)
            known.tickets[known.ticket_count++] =
                (struct known_ticket){ grant.ticket, 0, timeout_us };
    } else {
        check_refusal(&grant);
    }
}

/* Time passes; whoever waits for a slot gets older. */
static void pass(int64_t span_us)
{
    bool runs = rig.core.slot_clock_runs;
    for (uint32_t i = 0; runs && i < known.ticket_count; i++)
        known.tickets[i].slot_wait_us += span_us;
    rig.now_us += span_us;
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
    bool stale = it->generation != known.generation[it->lease.connection];
    enum weir_status status = weir_core_begin(&rig.core, &it->lease, rig.now_us);
    MUST(status == (stale ? WEIR_E_STALE_LEASE : WEIR_OK));
    if (stale) {
        forget_lease(at);
        return;
    }
    check_may_be_used(it->lease.connection);
    it->sent = true;
    it->sent_us = rig.now_us;
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
        answer.verdict.http_status = pick(2) ? 503 : 500;
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

static void recount_breaker(const struct known_lease *it, enum weir_class class_)
{
    uint32_t connection = it->lease.connection;
    if (class_ == WEIR_CLASS_THROTTLE || class_ == WEIR_CLASS_UNSENT)
        return;
    if (class_ != WEIR_CLASS_TRANSIENT)
        weir_breaker_succeeded(&known.breaker[connection]);
    else if (weir_breaker_failed(&known.breaker[connection],
                                 &rig.options.resilience.circuit_breaker, it->sent_us, rig.now_us))
        known.generation[connection]++;
}

/* The answer counts as the pool should have counted it; the level has moved already. */
static void recount(const struct known_lease *it, const struct weir_verdict *verdict)
{
    uint32_t connection = it->lease.connection;
    enum weir_class class_ = verdict->class_;
    known.served += class_ != WEIR_CLASS_UNSENT;
    known.throttles += class_ == WEIR_CLASS_THROTTLE;
    known.throttles_of[connection] += class_ == WEIR_CLASS_THROTTLE;
    bool current = it->generation == known.generation[connection];
    bool blocks = class_ == WEIR_CLASS_THROTTLE ||
                  (class_ == WEIR_CLASS_TRANSIENT && verdict->http_status == 503 &&
                   verdict->retry_after_us > 0);
    if (blocks && rig.now_us + verdict->retry_after_us > known.expiry_us[connection])
        known.expiry_us[connection] = rig.now_us + verdict->retry_after_us;
    if (blocks && tracking()) {
        known.ramp[connection] = 1;
        known.generation[connection]++;
    }
    recount_breaker(it, class_);
    bool opens = class_ == WEIR_CLASS_OK || class_ == WEIR_CLASS_RACE ||
                 class_ == WEIR_CLASS_TOO_BIG || class_ == WEIR_CLASS_BAD_ROWS ||
                 class_ == WEIR_CLASS_PRIVILEGE;
    if (opens && current && known.ramp[connection]) {
        known.ramp[connection] *= 2;
        if (known.ramp[connection] >= (uint32_t)rig_rate(&rig, connection).current_parallelism)
            known.ramp[connection] = 0;
    }
}

static void settle(uint32_t at, struct weir_answer answer)
{
    struct known_lease it = known.leases[at];
    MUST(weir_core_settle(&rig.core, &it.lease, &answer, rig.now_us) == WEIR_OK);
    MUST(weir_core_settle(&rig.core, &it.lease, &answer, rig.now_us) == WEIR_E_STALE_LEASE);
    forget_lease(at);
    recount(&it, &answer.verdict);
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
        known.generation[connection] += !known.set_aside[connection];
        known.set_aside[connection] = true;
        break;
    case 2:
        weir_core_restore(&rig.core, connection, rig.now_us);
        known.set_aside[connection] = false;
        known.breaker[connection] = (struct weir_breaker){ 0 };
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
        pass(SECONDS(pick(90)));
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
        pass((int64_t)pick(2000000));
        if (known.lease_count)
            settle(pick(known.lease_count), random_answer());
        break;
    }
    int64_t next = turn();
    if (next != WEIR_FOREVER && pick(6) == 0) { /* to the very moment */
        pass(next - rig.now_us);
        turn();
    }
    check_statistics();
}

/* Only successes from now on: whoever waits is served, and nothing is left behind. */
static void heal(void)
{
    for (uint32_t i = 0; i < rig.core.count; i++) {
        weir_core_restore(&rig.core, i, rig.now_us);
        known.set_aside[i] = false;
        known.breaker[i] = (struct weir_breaker){ 0 };
    }
    int64_t begun_us = rig.now_us;
    int64_t next = turn();
    while (known.ticket_count || known.lease_count) {
        if (known.lease_count) {
            pass(MS(200));
            settle(0, answer_ok(MS(200)));
        } else {
            MUST(next != WEIR_FOREVER);
            pass(next - rig.now_us);
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
