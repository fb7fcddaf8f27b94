/* SPDX-License-Identifier: MIT */
/*
 * Settling: what the pool learns from an answer, and what may be changed from outside. See core.h.
 */
#include <assert.h>

#include "base/clock.h"
#include "base/limits.h"
#include "pool/core.h"
#include "pool/core_parts.h"

/* --- sending ---------------------------------------------------------------------------------- */

/* Throttled, tripped or set aside since it was granted: sending it now would be wrong. */
static bool is_stale(const struct weir_core *core, const struct weir_lease_record *record)
{
    return record->generation !=
           weir_core_lane(core, record->connection, record->lease.lane)->generation;
}

enum weir_status weir_core_begin(struct weir_core *core, struct weir_lease *lease, int64_t now_us)
{
    weir_core_advance(core, now_us);
    struct weir_lease_record *record = weir_leases_find(&core->leases, lease);
    if (!record)
        return WEIR_E_STALE_LEASE;
    if (is_stale(core, record)) {
        struct weir_answer unsent = { .verdict = { .class_ = WEIR_CLASS_UNSENT } };
        weir_core_settle(core, lease, &unsent, now_us);
        return WEIR_E_STALE_LEASE;
    }
    void *state = weir_core_policy_state(core, record->connection);
    record->lease.sent_us = core->now_us;
    record->lease.epoch = core->policy->epoch(state);
    lease->epoch = record->lease.epoch;
    if (core->policy->sent)
        core->policy->sent(state, &record->lease, core->now_us);
    return WEIR_OK;
}

void weir_core_set_attempt(struct weir_core *core, const struct weir_lease *lease, int attempt)
{
    struct weir_lease_record *record = weir_leases_find(&core->leases, lease);
    if (record)
        record->attempt = attempt;
}

/* --- learning --------------------------------------------------------------------------------- */

/* The answer asks to be left alone: a throttle, or a 503 that says for how long. */
static bool is_block(const struct weir_verdict *verdict)
{
    return verdict->class_ == WEIR_CLASS_THROTTLE ||
           (verdict->class_ == WEIR_CLASS_TRANSIENT && verdict->http_status == 503 &&
            verdict->retry_after_us > 0);
}

/* Retry-After as it is acted on: the fallback where there is none, never more than an hour. */
static struct weir_verdict with_retry_after(const struct weir_core *core,
                                            const struct weir_verdict *verdict)
{
    struct weir_verdict heard = *verdict;
    if (heard.class_ == WEIR_CLASS_THROTTLE && heard.retry_after_us <= 0) {
        heard.retry_after_us = core->resilience.fallback_retry_after_us;
        heard.retry_after_fallback = true;
    }
    if (heard.retry_after_us > WEIR_RETRY_AFTER_MAX_US) {
        heard.retry_after_us = WEIR_RETRY_AFTER_MAX_US;
        heard.retry_after_clamped = true;
    }
    return heard;
}

static void note_where_to_go(struct weir_core *core, uint32_t connection)
{
    int64_t reopening;
    if (!core->resilience.enable_throttle_tracking)
        return; /* the request waits by itself */
    if (weir_core_any_open(core, core->now_us, &reopening)) {
        weir_core_note(core, connection, WEIR_EVENT_ELSEWHERE, 0);
    } else if (!core->all_throttled && reopening != WEIR_FOREVER) {
        core->all_throttled = true; /* once, not for every answer of the flight */
        weir_core_note(core, connection, WEIR_EVENT_ALL_THROTTLED, reopening - core->now_us);
    }
}

static void note_block(struct weir_core *core, const struct weir_lease_record *record,
                       const struct weir_verdict *verdict)
{
    bool throttle = verdict->class_ == WEIR_CLASS_THROTTLE;
    struct weir_pool_event event = {
        .type = throttle ? WEIR_EVENT_THROTTLE : WEIR_EVENT_BLOCKED,
        .connection_name = core->connections[record->connection].name,
        .time_us = core->now_us,
        .verdict = *verdict,
        .attempt = record->attempt,
        .attempt_max = record->attempt_max,
        .wait_us = verdict->retry_after_us,
    };
    weir_pool_events_add(&core->events, &event);
    if (verdict->retry_after_fallback)
        weir_core_note(core, record->connection, WEIR_EVENT_FALLBACK, verdict->retry_after_us);
    if (verdict->retry_after_clamped)
        weir_core_note(core, record->connection, WEIR_EVENT_CLAMPED, verdict->retry_after_us);
    if (throttle)
        note_where_to_go(core, record->connection);
}

static void learn_block(struct weir_core *core, const struct weir_lease_record *record,
                        const struct weir_verdict *verdict)
{
    struct weir_connection *it = &core->connections[record->connection];
    uint32_t key = weir_core_lane_key(core, record->connection, record->lease.lane);
    double chance = weir_rng_unit(&core->rng);
    if (verdict->class_ == WEIR_CLASS_THROTTLE) {
        weir_tracker_record(&core->tracker, key, verdict->retry_after_us, chance, core->now_us);
        weir_episodes_record(&core->episodes, it->throttled_us, core->now_us);
        it->throttled_us = core->now_us;
        it->last_throttle = *verdict;
        it->throttles.of_kind[verdict->throttle]++;
    } else {
        weir_tracker_block(&core->tracker, key, verdict->retry_after_us, chance, core->now_us);
    }
    if (core->resilience.enable_throttle_tracking)
        weir_lane_close(weir_core_lane(core, record->connection, record->lease.lane));
}

static void learn_breaker(struct weir_core *core, const struct weir_lease_record *record,
                          enum weir_class class_)
{
    struct weir_connection *it = &core->connections[record->connection];
    if (class_ == WEIR_CLASS_THROTTLE || class_ == WEIR_CLASS_UNSENT)
        return;
    if (class_ != WEIR_CLASS_TRANSIENT) {
        if (it->breaker.open_for_us)
            weir_core_note(core, record->connection, WEIR_EVENT_BREAKER_CLOSED, 0);
        weir_breaker_succeeded(&it->breaker);
    } else if (weir_breaker_failed(&it->breaker, &core->resilience.circuit_breaker,
                                   record->lease.sent_us, core->now_us)) {
        weir_connection_outdate(it);
        weir_core_note(core, record->connection, WEIR_EVENT_BREAKER_OPEN, it->breaker.open_for_us);
    }
}

/* The service took the request, whatever it thought of its contents: the lane is open. */
static bool shows_open(enum weir_class class_)
{
    switch (class_) {
    case WEIR_CLASS_OK:
    case WEIR_CLASS_RACE:
    case WEIR_CLASS_TOO_BIG:
    case WEIR_CLASS_BAD_ROWS:
    case WEIR_CLASS_PRIVILEGE:
        return true;
    default:
        return false;
    }
}

static void learn_budgets(struct weir_connection *connection,
                          const struct weir_budget_headers *said)
{
    if (said->requests_known)
        weir_budget_hear(&connection->requests_budget, said->requests_remaining);
    if (said->execution_known)
        weir_budget_hear(&connection->execution_budget, said->execution_remaining_us);
}

static void learn(struct weir_core *core, const struct weir_lease_record *record,
                  const struct weir_answer *answer)
{
    const struct weir_verdict *verdict = &answer->verdict;
    uint32_t connection = record->connection;
    if (answer->budget.dop_hint > 0)
        weir_core_hint(core, connection, answer->budget.dop_hint, core->now_us);
    learn_budgets(&core->connections[connection], &answer->budget);
    if (is_block(verdict))
        learn_block(core, record, verdict);
    learn_breaker(core, record, verdict->class_);

    int before = weir_core_level(core, connection);
    uint32_t key = weir_core_lane_key(core, connection, record->lease.lane);
    core->policy->answered(weir_core_policy_state(core, connection), &record->lease, answer,
                           weir_tracker_reopening_us(&core->tracker, key), core->now_us);
    if (shows_open(verdict->class_))
        weir_lane_ramp_up(weir_core_lane(core, connection, record->lease.lane), record->generation,
                          weir_core_level(core, connection));
    weir_core_refresh(core, connection);
    if (is_block(verdict))
        note_block(core, record, verdict);
    weir_core_note_level(core, connection, before);
}

enum weir_status weir_core_settle(struct weir_core *core, const struct weir_lease *lease,
                                  const struct weir_answer *answer, int64_t now_us)
{
    weir_core_advance(core, now_us);
    const struct weir_lease_record *found = weir_leases_find(&core->leases, lease);
    if (!found)
        return WEIR_E_STALE_LEASE;
    struct weir_lease_record record = *found;
    weir_leases_give(&core->leases, lease->slot);
    struct weir_lane *lane = weir_core_lane(core, record.connection, record.lease.lane);
    assert(lane->in_flight > 0 && core->connections[record.connection].in_flight > 0);
    lane->in_flight--;
    core->connections[record.connection].in_flight--;

    struct weir_answer heard = *answer;
    heard.verdict = with_retry_after(core, &answer->verdict);
    if (heard.verdict.class_ != WEIR_CLASS_UNSENT)
        core->requests_served++;
    learn(core, &record, &heard);
    weir_core_changed(core);
    return WEIR_OK;
}

/* --- changes from outside --------------------------------------------------------------------- */

bool weir_core_find(const struct weir_core *core, const char *name, uint32_t *ret)
{
    return weir_map_find(&core->names, weir_str_from(name), ret);
}

/* What every change of a connection from outside ends with. */
static void changed(struct weir_core *core, uint32_t connection)
{
    weir_core_refresh(core, connection);
    weir_core_changed(core);
}

void weir_core_hint(struct weir_core *core, uint32_t connection, int dop_hint, int64_t now_us)
{
    weir_core_advance(core, now_us);
    int before = weir_core_level(core, connection);
    if (dop_hint < 1)
        dop_hint = 1;
    if (dop_hint > WEIR_PARALLELISM_MAX)
        dop_hint = WEIR_PARALLELISM_MAX;
    core->connections[connection].dop_hint = dop_hint;
    core->policy->hint(weir_core_policy_state(core, connection), dop_hint, core->now_us);
    weir_core_note_level(core, connection, before);
    changed(core, connection);
}

size_t weir_core_save(const struct weir_core *core, uint32_t connection, int64_t now_us,
                      void *bytes, size_t bytes_max)
{
    const void *state = weir_core_policy_state(core, connection);
    return core->policy->save ? core->policy->save(state, now_us, bytes, bytes_max) : 0;
}

bool weir_core_load(struct weir_core *core, uint32_t connection, const void *bytes, size_t len,
                    int64_t age_us, int64_t now_us)
{
    void *state = weir_core_policy_state(core, connection);
    weir_core_advance(core, now_us);
    int before = weir_core_level(core, connection);
    if (!core->policy->load || !core->policy->load(state, bytes, len, age_us, core->now_us))
        return false;
    weir_core_note_level(core, connection, before);
    changed(core, connection);
    return true;
}

void weir_core_set_aside(struct weir_core *core, uint32_t connection, int64_t now_us)
{
    struct weir_connection *it = &core->connections[connection];
    weir_core_advance(core, now_us);
    if (!it->set_aside) {
        it->set_aside = true;
        weir_connection_outdate(it);
        weir_core_note(core, connection, WEIR_EVENT_SET_ASIDE, 0);
    }
    changed(core, connection);
}

void weir_core_pass_over(struct weir_core *core, uint32_t connection, int64_t now_us)
{
    weir_core_advance(core, now_us);
    core->connections[connection].passed_over = true;
    weir_core_refresh(core, connection);
}

void weir_core_consider_all(struct weir_core *core, int64_t now_us)
{
    weir_core_advance(core, now_us);
    for (uint32_t i = 0; i < core->count; i++) {
        if (!core->connections[i].passed_over)
            continue;
        core->connections[i].passed_over = false;
        weir_core_refresh(core, i);
    }
}

void weir_core_restore(struct weir_core *core, uint32_t connection, int64_t now_us)
{
    struct weir_connection *it = &core->connections[connection];
    weir_core_advance(core, now_us);
    if (it->set_aside)
        weir_core_note(core, connection, WEIR_EVENT_RESTORED, 0);
    it->set_aside = false;
    it->breaker = (struct weir_breaker){ 0 };
    changed(core, connection);
}

void weir_core_clear_throttle(struct weir_core *core, uint32_t connection, int64_t now_us)
{
    weir_core_advance(core, now_us);
    for (uint32_t lane = 0; lane < core->connections[connection].lane_count; lane++)
        weir_tracker_clear(&core->tracker, weir_core_lane_key(core, connection, lane),
                           core->now_us);
    changed(core, connection);
}

void weir_core_reset(struct weir_core *core, uint32_t connection, int64_t now_us)
{
    weir_core_advance(core, now_us);
    int before = weir_core_level(core, connection);
    core->policy->reset(weir_core_policy_state(core, connection), core->now_us);
    weir_core_note_level(core, connection, before);
    changed(core, connection);
}

void weir_core_hasten(struct weir_core *core, int64_t span_us, int64_t now_us)
{
    weir_core_advance(core, now_us);
    for (uint32_t i = 0; i < core->count; i++) {
        if (weir_breaker_hasten(&core->connections[i].breaker, span_us, core->now_us))
            changed(core, i);
    }
}

void weir_core_shutdown(struct weir_core *core, int64_t now_us)
{
    weir_core_advance(core, now_us);
    core->shut_down = true;
    weir_core_changed(core);
}
