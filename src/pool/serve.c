/* SPDX-License-Identifier: MIT */
/*
 * Serving: who asks gets a lease, waits, or is refused; who waits is served in order. See core.h.
 */
#include "base/clock.h"
#include "base/limits.h"
#include "pool/core.h"
#include "pool/core_parts.h"

/* --- granting --- */

static void refuse(struct weir_grant *grant, enum weir_status status, uint32_t connection,
                   int64_t retry_after_us)
{
    grant->status = status;
    grant->refusal = (struct weir_refusal){ status, connection, retry_after_us };
}

/* What the policy says, tightened by what the pool knows: closed lanes and the ramp. */
static void consult(struct weir_core *core, uint32_t connection, const struct weir_ask *ask,
                    struct weir_admission *ret)
{
    const struct weir_connection *it = &core->connections[connection];
    struct weir_policy_ask policy_ask = { .ask = ask, .in_flight = it->in_flight };
    int before = weir_core_level(core, connection);
    core->policy->admit(weir_core_policy_state(core, connection), &policy_ask, core->now_us, ret);
    weir_core_note_level(core, connection, before);
    if (!ret->ok)
        return;

    if (weir_core_lane_closed(core, connection, ret->lane)) {
        uint32_t key = weir_core_lane_key(core, connection, ret->lane);
        ret->ok = false;
        ret->not_before_us = weir_tracker_reopening_us(&core->tracker, key);
    } else if (it->in_flight >= weir_core_cap(core, connection, core->now_us)) {
        ret->ok = false;
        ret->not_before_us = WEIR_FOREVER;
    }
}

/* May this connection take the request? If not, it is put where it has to wait. */
static bool admit(struct weir_core *core, uint32_t connection, const struct weir_ask *ask,
                  uint32_t *ret_lane)
{
    struct weir_admission admission;
    consult(core, connection, ask, &admission);
    if (admission.ok) {
        *ret_lane = admission.lane;
        return true;
    }
    int64_t not_before = admission.not_before_us;
    if (not_before <= core->now_us)
        not_before = core->now_us + 1; /* a wait that is over would be asked for ever */
    weir_core_set_condition(core, connection,
                            not_before == WEIR_FOREVER ? WEIR_CONDITION_FULL : WEIR_CONDITION_PACED,
                            not_before);
    return false;
}

static void lend(struct weir_core *core, uint32_t connection, uint32_t lane,
                 const struct weir_ask *ask, struct weir_lease *ret)
{
    struct weir_connection *it = &core->connections[connection];
    void *state = weir_core_policy_state(core, connection);
    struct weir_policy_ask policy_ask = { .ask = ask, .in_flight = it->in_flight };
    core->policy->leased(state, &policy_ask, lane, core->now_us);

    uint32_t slot;
    struct weir_lease_record *record = weir_leases_take(&core->leases, &slot);
    record->epoch = core->policy->epoch(state);
    record->generation = it->generation;
    record->leased_us = core->now_us;
    record->sent_us = core->now_us;
    record->connection = connection;
    record->lane = lane;
    record->kind = ask->kind;
    record->rows = ask->rows;
    record->attempt = ask->attempt;
    record->attempt_max = ask->attempt_max;
    *ret = (struct weir_lease){
        .connection_name = it->name,
        .connection = connection,
        .lane = lane,
        .epoch = record->epoch,
        .serial = record->serial,
        .slot = slot,
    };

    if (it->ramp == 1)
        weir_core_note(core, connection, WEIR_EVENT_REOPENED, 0);
    it->in_flight++;
    it->last_leased = ++core->leases_granted;
    if (lane >= it->lanes)
        it->lanes = lane + 1;
    core->cursor = core->candidates.keys[connection] + 1;
    weir_core_refresh(core, connection);
}

/* The connection whose throttle ends first, of those that the strategy would wait for. */
static uint32_t next_to_reopen(const struct weir_core *core)
{
    if (!core->strategy->routes_around_throttles && core->candidates.count)
        return weir_heap_top(&core->candidates);
    return core->wakes.count ? weir_heap_top(&core->wakes) : WEIR_NO_CONNECTION;
}

/* Without the jitter, so that the answer does not depend on chance. */
static int64_t throttle_wait_us(const struct weir_core *core, uint32_t connection)
{
    int64_t first = WEIR_FOREVER;
    for (uint32_t lane = 0; lane < core->connections[connection].lanes; lane++) {
        int64_t expiry = core->tracker.expiry_us[weir_core_lane_key(core, connection, lane)];
        if (expiry < first)
            first = expiry;
    }
    int64_t wait = first + core->resilience.retry_after_buffer_us - core->now_us;
    return wait > 0 ? wait : 0;
}

/* Nothing is free: wait, or is the wait longer than the caller tolerates? */
static void wait_or_refuse(struct weir_core *core, struct weir_grant *grant)
{
    grant->status = WEIR_E_WOULD_WAIT;
    grant->refusal = (struct weir_refusal){ WEIR_E_WOULD_WAIT, WEIR_NO_CONNECTION, -1 };
    if (!weir_core_waits_for_throttle(core))
        return;
    uint32_t connection = next_to_reopen(core);
    if (connection == WEIR_NO_CONNECTION)
        return;
    bool closed = core->connections[connection].condition == WEIR_CONDITION_CLOSED;
    int64_t wait =
        closed ? throttle_wait_us(core, connection) : core->wakes.keys[connection] - core->now_us;
    int64_t tolerance = core->pool.max_retry_after_tolerance_us;
    grant->refusal.connection = connection;
    grant->refusal.retry_after_us = wait;
    if (closed && tolerance >= 0 && wait > tolerance)
        refuse(grant, WEIR_E_SERVICE_PROTECTION, connection, wait);
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
    while (core->candidates.count && core->leases.count < core->in_flight_max) {
        uint32_t choice = weir_heap_top(&core->candidates);
        uint32_t lane;
        if (core->connections[choice].condition == WEIR_CONDITION_CLOSED)
            break; /* a blind strategy waits for its choice */
        if (admit(core, choice, ask, &lane)) {
            lend(core, choice, lane, ask, &grant->lease);
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
    weir_core_set_slot_clock(core);
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

static int64_t next_turn_us(const struct weir_core *core)
{
    if (!core->waiters.count)
        return WEIR_FOREVER;
    int64_t next = weir_heap_min(&core->wakes);
    int64_t deadline = weir_waiters_deadline_us(&core->waiters);
    if (core->slot_clock_runs && deadline != WEIR_FOREVER) {
        int64_t due = weir_time_add(core->now_us, deadline - core->slot_clock_us);
        if (due < next)
            next = due;
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
    weir_core_set_slot_clock(core);
    *ret_count = count;
    return count == max && core->waiters.count ? core->now_us : next_turn_us(core);
}
