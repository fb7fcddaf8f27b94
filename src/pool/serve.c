/* SPDX-License-Identifier: MIT */
/*
 * Serving: who asks gets a lease, waits, or is refused; who waits is served in order. See core.h.
 */
#include <assert.h>

#include "base/clock.h"
#include "base/limits.h"
#include "pool/core.h"
#include "pool/core_parts.h"

/* A policy that says "not before" is not asked again sooner than this. */
#define ASK_AGAIN_MIN_US (1 * WEIR_US_PER_MS)

/* --- granting --- */

static void refuse(struct weir_grant *grant, enum weir_status status, uint32_t connection,
                   int64_t retry_after_us)
{
    grant->status = status;
    grant->refusal = (struct weir_refusal){ status, connection, retry_after_us };
}

static uint32_t shut_lanes(const struct weir_core *core, uint32_t connection)
{
    uint32_t shut = 0;
    for (uint32_t lane = 0; lane < core->connections[connection].lane_count; lane++) {
        if (weir_core_lane_closed(core, connection, lane) ||
            weir_lane_is_full(weir_core_lane(core, connection, lane)))
            shut |= UINT32_C(1) << lane;
    }
    return shut;
}

/* Its part of what is left; who is set aside or tripped has none. */
static double share_left(const struct weir_core *core)
{
    const uint32_t *counts = core->condition_counts;
    uint32_t out = counts[WEIR_CONDITION_TRIPPED] + counts[WEIR_CONDITION_SET_ASIDE];
    return (double)core->left / (core->count > out ? core->count - out : 1);
}

/* What the policy says, tightened by what the pool knows: shut lanes and the breaker's probe. */
static void consult(struct weir_core *core, uint32_t connection, const struct weir_ask *ask,
                    struct weir_admission *ret)
{
    const struct weir_connection *it = &core->connections[connection];
    struct weir_policy_ask policy_ask = {
        .ask = ask,
        .in_flight = it->in_flight,
        .shut_lanes = shut_lanes(core, connection),
        .left = share_left(core),
    };
    int before = weir_core_level(core, connection);
    core->policy->admit(weir_core_policy_state(core, connection), &policy_ask, core->now_us, ret);
    weir_core_note_level(core, connection, before);
    if (!ret->ok)
        return;
    assert(ret->lane < core->policy->lanes_max);
    if (policy_ask.shut_lanes >> ret->lane & 1 ||
        it->in_flight >= weir_core_cap(core, connection, core->now_us))
        *ret = (struct weir_admission){ .not_before_us = WEIR_FOREVER };
}

/* May this connection take the request? If not, it is put where it has to wait. */
static bool admit(struct weir_core *core, uint32_t connection, const struct weir_ask *ask,
                  struct weir_admission *ret)
{
    consult(core, connection, ask, ret);
    if (ret->ok)
        return true;
    int64_t not_before = ret->not_before_us;
    if (not_before == WEIR_FOREVER && core->connections[connection].in_flight == 0)
        not_before = weir_time_add(core->now_us, WEIR_TIMER_MAX_US); /* no answer will come */
    if (not_before < weir_time_add(core->now_us, ASK_AGAIN_MIN_US))
        not_before = core->now_us + ASK_AGAIN_MIN_US; /* early is allowed, spinning is not */
    weir_core_set_condition(core, connection,
                            ret->paced ? WEIR_CONDITION_PACED : WEIR_CONDITION_FULL, not_before);
    return false;
}

static struct weir_lease_record *record_lease(struct weir_core *core, uint32_t connection,
                                              const struct weir_admission *admission,
                                              const struct weir_ask *ask)
{
    struct weir_lease_record *record = weir_leases_take(&core->leases);
    record->lease.lane = admission->lane;
    record->lease.server_id = admission->server_id;
    record->lease.kind = ask->kind;
    record->lease.rows = ask->rows;
    record->lease.bytes = ask->bytes;
    record->lease.epoch = core->policy->epoch(weir_core_policy_state(core, connection));
    record->lease.leased_us = core->now_us;
    record->lease.sent_us = core->now_us;
    record->generation = weir_core_lane(core, connection, admission->lane)->generation;
    record->connection = connection;
    record->attempt = ask->attempt;
    record->attempt_max = ask->attempt_max;
    return record;
}

static void lend(struct weir_core *core, uint32_t connection,
                 const struct weir_admission *admission, const struct weir_ask *ask,
                 struct weir_lease *ret)
{
    struct weir_connection *it = &core->connections[connection];
    uint32_t lane = admission->lane;
    struct weir_lane *its_lane = weir_core_lane(core, connection, lane);
    const struct weir_policy_lease *lease = &record_lease(core, connection, admission, ask)->lease;
    core->policy->leased(weir_core_policy_state(core, connection), lease, core->now_us);

    if (its_lane->ramp && !its_lane->probed)
        weir_core_note(core, connection, WEIR_EVENT_REOPENED, 0);
    its_lane->probed = true;
    its_lane->in_flight++;
    it->in_flight++;
    it->last_leased = ++core->leases_granted;
    if (lane >= it->lane_count)
        it->lane_count = lane + 1;
    *ret = (struct weir_lease){
        .connection_name = it->name,
        .connection = connection,
        .lane = lane,
        .server_id = lease->server_id,
        .epoch = lease->epoch,
        .serial = lease->serial,
        .slot = lease->slot,
    };
    core->cursor = core->candidates.keys[connection] + 1;
    weir_core_refresh(core, connection);
}

/* When the first lane of a connection clears, without the jitter: not a matter of chance. */
static int64_t clears_us(const struct weir_core *core, uint32_t connection)
{
    int64_t first = WEIR_FOREVER;
    for (uint32_t lane = 0; lane < core->connections[connection].lane_count; lane++) {
        uint32_t key = weir_core_lane_key(core, connection, lane);
        int64_t at = weir_tracker_clears_us(&core->tracker, key);
        first = at < first ? at : first;
    }
    return first;
}

/* The throttled connection that whoever waits will get first: a blind strategy's choice, or the one
 * that clears first. */
static uint32_t first_to_clear(const struct weir_core *core)
{
    if (!core->strategy->routes_around_throttles && core->candidates.count)
        return weir_heap_top(&core->candidates);
    uint32_t first = WEIR_NO_CONNECTION;
    for (uint32_t i = 0; i < core->count; i++) {
        if (core->connections[i].condition == WEIR_CONDITION_CLOSED &&
            (first == WEIR_NO_CONNECTION || clears_us(core, i) < clears_us(core, first)))
            first = i;
    }
    return first;
}

/* A blind strategy may wait for its choice while others are open: that is its way, and no reason to
 * give up. */
static bool all_are_throttled(const struct weir_core *core)
{
    const uint32_t *counts = core->condition_counts;
    return counts[WEIR_CONDITION_READY] + counts[WEIR_CONDITION_FULL] +
               counts[WEIR_CONDITION_TRIPPED] ==
           0;
}

/* Nothing is free: wait, or is the wait longer than the caller tolerates? */
static void wait_or_refuse(struct weir_core *core, struct weir_grant *grant)
{
    refuse(grant, WEIR_E_WOULD_WAIT, WEIR_NO_CONNECTION, -1);
    if (!weir_core_waits_for_throttle(core))
        return;
    uint32_t connection = first_to_clear(core);
    if (connection == WEIR_NO_CONNECTION)
        return; /* all are paced */
    int64_t wait = clears_us(core, connection) - core->now_us;
    if (wait < 0)
        wait = 0; /* only the jitter is left */
    int64_t tolerance = core->pool.max_retry_after_tolerance_us;
    bool too_long = tolerance >= 0 && wait > tolerance && all_are_throttled(core);
    refuse(grant, too_long ? WEIR_E_SERVICE_PROTECTION : WEIR_E_WOULD_WAIT, connection, wait);
}

static uint32_t last_throttled(const struct weir_core *core)
{
    uint32_t last = 0;
    for (uint32_t i = 1; i < core->count; i++) {
        if (core->connections[i].throttled_us > core->connections[last].throttled_us)
            last = i;
    }
    return last;
}

/* Full and paced were said of another ask; for this one they have to be asked again. */
static void forget_answers_to_others(struct weir_core *core, const struct weir_ask *ask)
{
    if (!core->policy->asks_differ ||
        (ask->kind == core->last_ask.kind && ask->rows == core->last_ask.rows &&
         ask->bytes == core->last_ask.bytes))
        return;
    core->last_ask = *ask;
    for (uint32_t i = 0; i < core->count; i++) {
        enum weir_condition condition = core->connections[i].condition;
        if (condition == WEIR_CONDITION_FULL || condition == WEIR_CONDITION_PACED)
            weir_core_refresh(core, i);
    }
}

/* One ask, as things stand at core->now_us. */
static void decide(struct weir_core *core, const struct weir_ask *ask, struct weir_grant *grant)
{
    if (core->shut_down) {
        refuse(grant, WEIR_E_SHUTDOWN, WEIR_NO_CONNECTION, -1);
        return;
    }
    if (core->condition_counts[WEIR_CONDITION_SET_ASIDE] == core->count) {
        refuse(grant, WEIR_E_NO_CONNECTION, WEIR_NO_CONNECTION, -1);
        return;
    }
    if (weir_episodes_exceeded(&core->episodes, core->now_us)) {
        refuse(grant, WEIR_E_SERVICE_PROTECTION, last_throttled(core), -1);
        return;
    }
    forget_answers_to_others(core, ask);
    while (core->candidates.count && core->leases.count < core->in_flight_max) {
        uint32_t choice = weir_heap_top(&core->candidates);
        struct weir_admission admission;
        if (core->connections[choice].condition == WEIR_CONDITION_CLOSED)
            break; /* a blind strategy waits for its choice */
        if (admit(core, choice, ask, &admission)) {
            lend(core, choice, &admission, ask, &grant->lease);
            grant->status = WEIR_OK;
            return;
        }
    }
    wait_or_refuse(core, grant);
}

/* --- asking and turning --- */

static const struct weir_ask plain_ask;

static int64_t deadline_us(const struct weir_core *core, const struct weir_ask *ask)
{
    int64_t timeout = ask->acquire_timeout_us;
    if (timeout < 0)
        return WEIR_FOREVER;
    return weir_time_add(core->slot_clock_us, timeout ? timeout : core->pool.acquire_timeout_us);
}

void weir_core_try(struct weir_core *core, const struct weir_ask *ask, int64_t now_us,
                   struct weir_grant *ret)
{
    *ret = (struct weir_grant){ 0 };
    weir_core_advance(core, now_us);
    if (core->waiters.count && !core->shut_down)
        refuse(ret, WEIR_E_WOULD_WAIT, WEIR_NO_CONNECTION, -1);
    else
        decide(core, ask ? ask : &plain_ask, ret);
    weir_core_set_slot_clock(core);
}

void weir_core_set_left(struct weir_core *core, uint64_t requests)
{
    core->left = requests;
}

void weir_core_ask(struct weir_core *core, const struct weir_ask *ask, int64_t now_us,
                   struct weir_grant *ret)
{
    if (!ask)
        ask = &plain_ask;
    weir_core_try(core, ask, now_us, ret);
    if (ret->status != WEIR_E_WOULD_WAIT)
        return;
    if (core->waiters.count >= WEIR_WAITERS_MAX) {
        refuse(ret, WEIR_E_TOO_BIG, WEIR_NO_CONNECTION, -1);
        return;
    }
    ret->ticket = weir_waiters_add(&core->waiters, ask, deadline_us(core, ask));
    weir_core_set_slot_clock(core);
}

bool weir_core_cancel(struct weir_core *core, uint64_t ticket, int64_t now_us)
{
    weir_core_advance(core, now_us);
    bool waited = weir_waiters_remove(&core->waiters, ticket);
    weir_core_changed(core);
    return waited;
}

/* The first waiter is served or refused: true. He has to wait: false. */
static bool serve_first(struct weir_core *core, struct weir_grant *grant)
{
    const struct weir_waiter *waiter = weir_waiters_first(&core->waiters);
    *grant = (struct weir_grant){ .ticket = waiter->ticket };
    struct weir_ask ask = waiter->ask;
    decide(core, &ask, grant);
    if (grant->status == WEIR_E_WOULD_WAIT)
        return false;
    weir_waiters_remove(&core->waiters, grant->ticket);
    return true;
}

static bool expire_one(struct weir_core *core, struct weir_grant *grant)
{
    if (weir_waiters_deadline_us(&core->waiters) > core->slot_clock_us)
        return false;
    *grant = (struct weir_grant){ .ticket = weir_waiters_earliest(&core->waiters) };
    refuse(grant, WEIR_E_POOL_EXHAUSTED, WEIR_NO_CONNECTION, -1);
    weir_waiters_remove(&core->waiters, grant->ticket);
    return true;
}

int64_t weir_core_next_us(const struct weir_core *core)
{
    if (!core->waiters.count)
        return WEIR_FOREVER;
    if (core->turn_due)
        return core->now_us;
    int64_t next = weir_heap_min(&core->wakes);
    int64_t deadline = weir_waiters_deadline_us(&core->waiters);
    if (core->slot_clock_runs && deadline != WEIR_FOREVER) {
        int64_t due = weir_time_add(core->now_us, deadline - core->slot_clock_us);
        next = due < next ? due : next;
    }
    return next;
}

int64_t weir_core_turn(struct weir_core *core, int64_t now_us, struct weir_grant *grants,
                       uint32_t max, uint32_t *ret_count)
{
    weir_core_advance(core, now_us);
    uint32_t count = 0;
    while (count < max && core->waiters.count && serve_first(core, &grants[count]))
        count++;
    /* Who could still be served has been; the others' time may be up. */
    while (count < max && expire_one(core, &grants[count]))
        count++;
    core->turn_due = count == max;
    weir_core_set_slot_clock(core);
    *ret_count = count;
    return weir_core_next_us(core);
}
