/* SPDX-License-Identifier: MIT */
/*
 * A pool whose connections are unlike: each user has a service of his own, with other limits,
 * batches, other clients, or a window that is used already. Budget keeps the books of each by
 * itself, so in another order each must get what he got before; and one who does nothing must not
 * cost the others anything.
 *
 *     pool ─▶ lease on connection n ─▶ the law of whoever is at place n ─▶ answer ─▶ pool
 */
#include <stdio.h>

#include "base/clock.h"
#include "pool/core.h"
#include "simulation/lab_worlds.h"
#include "support/lab_rig.h"
#include "support/suite.h"

#define USERS       4
#define FLIGHTS_MAX 512
#define ENDLESS     UINT64_MAX
#define JOB         1200
#define SEEDS       3

struct user {
    struct sim_law law;
    uint64_t number; /* of his next request */
    uint64_t items;
    uint64_t throttles;
};

struct flight {
    bool out;
    bool at_client; /* its next event is the answer */
    int64_t at_us;  /* of its next event */
    struct weir_lease lease;
    struct sim_decision decision;
};

/* Place n of the pool is that of user order[n]. */
static struct world {
    struct weir_core core;
    uint32_t count;
    uint32_t order[USERS + 1];
    struct user users[USERS + 1];
    struct flight flights[FLIGHTS_MAX];
    uint64_t queued;
    uint64_t done;
    uint64_t ticket; /* of the ask that is out; 0: none */
    int64_t now_us;
} world;

/* --- users ------------------------------------------------------------------------------------ */

/* Nobody is like another: longer batches, half the limits, a used window, another client. */
static struct sim_scenario service_of(uint32_t user)
{
    struct sim_scenario scenario;
    sim_scenario_init(&scenario);
    scenario.connections = 1;
    scenario.limits.window_us = seconds(6);
    scenario.limits.requests = 120;
    scenario.limits.execution_us = seconds(24);
    scenario.services[0].median_s = user == 0 ? 0.3 : 0.15;
    scenario.services[0].overhead_us = seconds(0.002);
    if (user == 1) {
        scenario.limits.requests /= 2;
        scenario.limits.execution_us /= 2;
    }
    if (user == 2)
        scenario.prefill = 0.8;
    if (user == 3)
        scenario.foreign.share = 0.2;
    return scenario;
}

static struct user *at_place(uint32_t connection)
{
    return &world.users[world.order[connection]];
}

static void begin(uint32_t count, const uint32_t *order, uint64_t items, uint64_t seed)
{
    struct weir_connection_options connections[USERS + 1] = { 0 };
    struct weir_options options;
    char names[USERS + 1][16];
    weir_options_defaults(&options);
    options.connections = connections;
    options.connection_count = count;
    options.adaptive_rate.policy = "Budget";
    options.adaptive_rate.budget.window_us = seconds(6);
    options.pool.selection_strategy = "Headroom";
    world = (struct world){ .count = count, .queued = items };
    for (uint32_t i = 0; i < count; i++) {
        snprintf(names[i], sizeof(names[i]), "app%u", order[i]);
        connections[i].name = names[i];
        world.order[i] = order[i];
        struct sim_scenario scenario = service_of(order[i]);
        sim_law_init(&at_place(i)->law, &scenario, seed + order[i]);
    }
    ck_assert_int_eq(weir_core_init(&world.core, &options, NULL, seed, false, NULL), WEIR_OK);
}

static void end(void)
{
    weir_core_release(&world.core);
    for (uint32_t i = 0; i < world.count; i++)
        sim_law_release(&at_place(i)->law);
}

/* --- requests --------------------------------------------------------------------------------- */

static struct flight *free_flight(void)
{
    for (uint32_t i = 0; i < FLIGHTS_MAX; i++) {
        if (!world.flights[i].out)
            return &world.flights[i];
    }
    ck_abort_msg("more than %d in flight", FLIGHTS_MAX);
}

static void depart(struct weir_lease lease)
{
    struct user *user = at_place(lease.connection);
    struct sim_request request = { .service = SIM_ANY_SERVICE, .number = user->number };
    if (weir_core_begin(&world.core, &lease, world.now_us) != WEIR_OK)
        return;
    struct flight *flight = free_flight();
    *flight = (struct flight){ .out = true, .lease = lease };
    flight->decision = sim_law_arrive(&user->law, 0, SIM_ANY_SERVER, &request, world.now_us);
    user->number += flight->decision.accepted;
    user->throttles += !flight->decision.accepted;
    flight->at_client = !flight->decision.accepted;
    flight->at_us = flight->decision.accepted ? flight->decision.ends_us : world.now_us;
    if (world.queued != ENDLESS)
        world.queued--;
}

static struct weir_answer answer_of(const struct flight *flight)
{
    const struct sim_decision *decision = &flight->decision;
    struct user *user = at_place(flight->lease.connection);
    struct sim_headers headers = sim_law_headers(&user->law, 0, 0, world.now_us);
    bool ok = decision->accepted;
    return (struct weir_answer){
        .verdict = { .class_ = ok ? WEIR_CLASS_OK : WEIR_CLASS_THROTTLE,
                     .outcome = ok ? WEIR_OUTCOME_EXECUTED : WEIR_OUTCOME_NOT_EXECUTED,
                     .http_status = ok ? 204 : 429,
                     .throttle = WEIR_THROTTLE_EXECUTION_TIME,
                     .retry_after_us = ok ? -1 : decision->retry_after_us },
        .duration_us = decision->service_us + decision->overhead_us,
        .budget = { .requests_known = true,
                    .execution_known = true,
                    .requests_remaining = headers.requests_remaining,
                    .execution_remaining_us = headers.execution_remaining_us,
                    .server_id = 1 },
    };
}

/* The end at the server, whose headers are of that moment, or the answer. */
static void next_event(struct flight *flight)
{
    static struct weir_answer answers[FLIGHTS_MAX];
    struct weir_answer *answer = &answers[flight - world.flights];
    struct user *user = at_place(flight->lease.connection);
    if (flight->decision.accepted && !flight->at_client) {
        sim_law_finish(&user->law, flight->decision.ticket, world.now_us);
        *answer = answer_of(flight);
        flight->at_client = true;
        flight->at_us += flight->decision.overhead_us;
        return;
    }
    if (!flight->decision.accepted)
        *answer = answer_of(flight);
    flight->out = false;
    weir_core_settle(&world.core, &flight->lease, answer, world.now_us);
    user->items += flight->decision.accepted;
    world.done += flight->decision.accepted;
    if (!flight->decision.accepted && world.queued != ENDLESS)
        world.queued++;
}

static struct flight *earliest(void)
{
    struct flight *first = NULL;
    for (uint32_t i = 0; i < FLIGHTS_MAX; i++) {
        struct flight *it = &world.flights[i];
        if (it->out && (!first || it->at_us < first->at_us))
            first = it;
    }
    return first;
}

/* All that may go now. Returns when to look again. */
static int64_t send(void)
{
    static const struct weir_ask wish = { .acquire_timeout_us = -1 };
    for (;;) {
        struct weir_grant grant;
        uint32_t count;
        int64_t next = weir_core_turn(&world.core, world.now_us, &grant, 1, &count);
        if (count) {
            world.ticket = 0;
        } else {
            if (world.ticket || !world.queued)
                return next;
            weir_core_set_left(&world.core, world.queued == ENDLESS ? 0 : world.queued);
            weir_core_ask(&world.core, &wish, world.now_us, &grant);
            if (grant.status == WEIR_E_WOULD_WAIT) {
                world.ticket = grant.ticket;
                continue;
            }
        }
        if (grant.status == WEIR_OK)
            depart(grant.lease);
    }
}

/* Until so many are done, or until a moment. */
static void run_until(uint64_t items, int64_t until_us)
{
    while (world.now_us < until_us && world.done < items) {
        int64_t next = send();
        struct flight *first = earliest();
        if (first && first->at_us < next)
            next = first->at_us;
        if (next > until_us)
            next = until_us;
        if (next > world.now_us)
            world.now_us = next;
        while ((first = earliest()) && first->at_us <= world.now_us)
            next_event(first);
    }
}

/* --- in another order ------------------------------------------------------------------------- */

static const uint32_t orders[][USERS] = { { 0, 1, 2, 3 }, { 3, 2, 1, 0 }, { 1, 2, 3, 0 },
                                          { 2, 3, 0, 1 }, { 1, 0, 3, 2 }, { 0, 2, 1, 3 } };
#define ORDERS (sizeof(orders) / sizeof(orders[0]))

START_TEST(in_another_order_each_gets_what_he_got)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        uint64_t items[USERS];
        uint64_t throttles[USERS];
        for (size_t i = 0; i < ORDERS; i++) {
            begin(USERS, orders[i], ENDLESS, seed);
            run_until(ENDLESS, seconds(36));
            for (uint32_t user = 0; user < USERS; user++) {
                const struct user *it = &world.users[user];
                if (i == 0) {
                    items[user] = it->items;
                    throttles[user] = it->throttles;
                }
                ck_assert_uint_gt(it->items, 0);
                ck_assert_uint_eq(it->items, items[user]);
                ck_assert_uint_eq(it->throttles, throttles[user]);
            }
            end();
        }
        ck_assert_uint_ne(items[0], items[1]); /* they are unlike */
        ck_assert_uint_ne(items[1], items[2]);
        ck_assert_uint_ne(items[2], items[3]);
    }
}
END_TEST

/* Who gets the last ones may depend on who is asked first; when they are done must not. */
START_TEST(in_another_order_a_job_takes_as_long)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        double first_s = 0;
        for (size_t i = 0; i < ORDERS; i++) {
            begin(USERS, orders[i], JOB, seed);
            run_until(JOB, seconds(360));
            ck_assert_uint_eq(world.done, JOB);
            double took_s = (double)world.now_us / 1e6;
            if (i == 0)
                first_s = took_s;
            ck_assert_msg(fabs(took_s - first_s) < 0.01 * first_s, "seed %d: %g s and %g s",
                          (int)seed, first_s, took_s);
            end();
        }
    }
}
END_TEST

/* --- one who does nothing --------------------------------------------------------------------- */

enum idle {
    NOBODY,
    SET_ASIDE,   /* by his user, or for bad credentials */
    PASSED_OVER, /* whoever asks cannot use him */
    THROTTLED,   /* for longer than the run */
};

static void make_idle(uint32_t connection, enum idle how)
{
    if (how == SET_ASIDE)
        weir_core_set_aside(&world.core, connection, 0);
    if (how == PASSED_OVER)
        weir_core_pass_over(&world.core, connection, 0);
    if (how != THROTTLED)
        return;
    for (uint32_t i = 0; i < world.count; i++) { /* all but him, so that he is asked */
        if (i != connection)
            weir_core_pass_over(&world.core, i, 0);
    }
    struct weir_answer refused = {
        .verdict = { .class_ = WEIR_CLASS_THROTTLE,
                     .outcome = WEIR_OUTCOME_NOT_EXECUTED,
                     .http_status = 429,
                     .throttle = WEIR_THROTTLE_REQUESTS,
                     .retry_after_us = seconds(3600) },
    };
    struct weir_grant grant;
    weir_core_try(&world.core, NULL, 0, &grant);
    ck_assert_int_eq(grant.status, WEIR_OK);
    ck_assert_int_eq(weir_core_begin(&world.core, &grant.lease, 0), WEIR_OK);
    weir_core_settle(&world.core, &grant.lease, &refused, 0);
    weir_core_consider_all(&world.core, 0);
}

/* The four, and a fifth who does nothing, before them or after them. */
static void run_beside(enum idle how, bool before, uint64_t items, uint64_t seed)
{
    uint32_t order[USERS + 1];
    uint32_t count = USERS + (how != NOBODY);
    uint32_t place = before ? 0 : USERS;
    for (uint32_t i = 0; i < count; i++)
        order[i] = how == NOBODY ? i : i == place ? USERS : i - (before && i > place);
    begin(count, order, items, seed);
    if (how != NOBODY)
        make_idle(place, how);
    run_until(items, items == ENDLESS ? seconds(36) : seconds(360));
    ck_assert_uint_eq(world.users[USERS].items, 0);
}

/* By how much a throttled connection reopens later is drawn for all of them in turn. */
static void expect_as_many(const struct user *user, uint64_t items)
{
    if (user->throttles)
        ck_assert_uint_ge(20 * user->items, 19 * items);
    else
        ck_assert_uint_eq(user->items, items);
}

START_TEST(one_who_is_idle_costs_nobody_anything)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        uint64_t items[USERS];
        run_beside(NOBODY, false, ENDLESS, seed);
        for (uint32_t user = 0; user < USERS; user++)
            items[user] = world.users[user].items;
        end();
        for (int how = SET_ASIDE; how <= THROTTLED; how++) {
            for (int before = 0; before < 2; before++) {
                run_beside((enum idle)how, before, ENDLESS, seed);
                for (uint32_t user = 0; user < USERS; user++)
                    expect_as_many(&world.users[user], items[user]);
                end();
            }
        }
    }
}
END_TEST

START_TEST(one_who_is_idle_makes_no_job_longer)
{
    static const uint64_t jobs[] = { 40, 200, 1200 };
    for (size_t i = 0; i < 3 * SEEDS; i++) {
        uint64_t seed = i / 3 + 1;
        uint64_t items = jobs[i % 3];
        run_beside(NOBODY, false, items, seed);
        double alone_s = (double)world.now_us / 1e6;
        end();
        for (int how = SET_ASIDE; how <= THROTTLED; how++) {
            run_beside((enum idle)how, how % 2, items, seed);
            ck_assert_uint_eq(world.done, items);
            double took_s = (double)world.now_us / 1e6;
            ck_assert_msg(took_s < 1.01 * alone_s, "%d items, seed %d: %g s, without him %g s",
                          (int)items, (int)seed, took_s, alone_s);
            end();
        }
    }
}
END_TEST

int main(void)
{
    struct suite s = suite_new("lab_unlike");
    suite_add(&s, in_another_order_each_gets_what_he_got);
    suite_add(&s, in_another_order_a_job_takes_as_long);
    suite_add(&s, one_who_is_idle_costs_nobody_anything);
    suite_add(&s, one_who_is_idle_makes_no_job_longer);
    return suite_run(&s);
}
