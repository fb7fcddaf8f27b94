/* SPDX-License-Identifier: MIT */
/*
 * A pool core in virtual time, with connections AppUser1, AppUser2 …, and the answers that tests
 * give it. The clock is `now_us`, and the test moves it.
 *
 *     struct rig rig;
 *     rig_init(&rig, 3);            // defaults, but Aimd and ThrottleAware: a level that follows
 *                                   // from the hint; change rig.options before …
 *     rig_start(&rig);              // … the core is made
 *     struct weir_lease lease = rig_lease(&rig);
 *     rig_settle(&rig, lease, answer_throttle(SECONDS(30)));
 *     rig_release(&rig);
 */
#ifndef WEIR_TESTS_RIG_H
#define WEIR_TESTS_RIG_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "pool/core.h"
#include "throttle/signal.h"

#define MS(n)      ((int64_t)(n)*WEIR_US_PER_MS)
#define SECONDS(n) ((int64_t)((n)*1e6))
#define MINUTES(n) ((int64_t)(n)*WEIR_US_PER_MINUTE)

struct rig {
    struct weir_options options;
    struct weir_connection_options *connections;
    char (*names)[32];
    struct weir_core core;
    int64_t now_us;
};

static inline struct weir_answer answer_ok(int64_t duration_us)
{
    return (struct weir_answer){
        .verdict = { .class_ = WEIR_CLASS_OK,
                     .outcome = WEIR_OUTCOME_EXECUTED,
                     .http_status = 204,
                     .retry_after_us = -1 },
        .duration_us = duration_us,
    };
}

static inline struct weir_answer answer_throttle(int64_t retry_after_us)
{
    return (struct weir_answer){
        .verdict = { .class_ = WEIR_CLASS_THROTTLE,
                     .outcome = WEIR_OUTCOME_NOT_EXECUTED,
                     .throttle = WEIR_THROTTLE_REQUESTS,
                     .http_status = 429,
                     .code = WEIR_CODE_REQUESTS,
                     .retry_after_us = retry_after_us },
    };
}

static inline struct weir_answer answer_of_class(enum weir_class class_)
{
    return (struct weir_answer){
        .verdict = { .class_ = class_, .outcome = WEIR_OUTCOME_UNKNOWN, .retry_after_us = -1 },
    };
}

static inline void rig_init(struct rig *rig, uint32_t connections)
{
    *rig = (struct rig){ .now_us = SECONDS(1000) };
    weir_options_defaults(&rig->options);
    rig->options.adaptive_rate.policy = "Aimd";
    rig->options.pool.selection_strategy = "ThrottleAware";
    rig->connections = weir_calloc(connections, sizeof(*rig->connections));
    rig->names = weir_calloc(connections, sizeof(*rig->names));
    for (uint32_t i = 0; i < connections; i++) {
        snprintf(rig->names[i], sizeof(rig->names[i]), "AppUser%u", i + 1);
        rig->connections[i].name = rig->names[i];
    }
    rig->options.connections = rig->connections;
    rig->options.connection_count = connections;
}

static inline void rig_start_with(struct rig *rig, uint64_t seed)
{
    struct weir_error err;
    enum weir_status status = weir_core_init(&rig->core, &rig->options, NULL, seed, true, &err);
    ck_assert_msg(status == WEIR_OK, "%s", status ? err.message : "");
}

static inline void rig_start(struct rig *rig)
{
    rig_start_with(rig, 1);
}

/* All connections have been told how many the server recommends. */
static inline void rig_hint_all(struct rig *rig, int dop_hint)
{
    for (uint32_t i = 0; i < rig->core.count; i++)
        weir_core_hint(&rig->core, i, dop_hint, rig->now_us);
}

static inline void rig_release(struct rig *rig)
{
    weir_core_release(&rig->core);
    free(rig->connections);
    free(rig->names);
}

static inline struct weir_grant rig_try(struct rig *rig)
{
    struct weir_grant grant;
    weir_core_try(&rig->core, NULL, rig->now_us, &grant);
    return grant;
}

/* A lease that must be there now. */
static inline struct weir_lease rig_lease(struct rig *rig)
{
    struct weir_grant grant = rig_try(rig);
    ck_assert_msg(grant.status == WEIR_OK, "%s", weir_status_name(grant.status));
    return grant.lease;
}

/* Queue up; must not be served at once. */
static inline uint64_t rig_wait(struct rig *rig)
{
    struct weir_grant grant;
    weir_core_ask(&rig->core, NULL, rig->now_us, &grant);
    ck_assert_int_eq(grant.status, WEIR_E_WOULD_WAIT);
    ck_assert(grant.ticket != 0);
    return grant.ticket;
}

static inline void rig_settle(struct rig *rig, struct weir_lease lease, struct weir_answer answer)
{
    ck_assert_int_eq(weir_core_settle(&rig->core, &lease, &answer, rig->now_us), WEIR_OK);
}

static inline struct weir_adaptive_rate_stats rig_rate(struct rig *rig, uint32_t connection)
{
    struct weir_adaptive_rate_stats stats;
    weir_core_rate_stats(&rig->core, connection, rig->now_us, &stats);
    return stats;
}

static inline struct weir_pool_stats rig_stats(struct rig *rig)
{
    struct weir_pool_stats stats;
    weir_core_stats(&rig->core, rig->now_us, &stats);
    return stats;
}

#endif
