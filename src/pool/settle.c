/* SPDX-License-Identifier: MIT */
/*
 * Settling: what the pool learns from an answer, and what may be changed from outside. See core.h.
 */
#include "base/clock.h"
#include "base/limits.h"
#include "pool/core.h"
#include "pool/core_parts.h"

/* --- sending and settling --- */

/* Throttled, set aside or tripped since it was granted: sending it now would be wrong. */
static bool is_stale(const struct weir_core *core, const struct weir_lease_record *record)
{
    const struct weir_connection *it = &core->connections[record->connection];
    return it->set_aside || weir_core_lane_closed(core, record->connection, record->lane) ||
           weir_breaker_state(&it->breaker, core->now_us) == WEIR_BREAKER_OPEN;
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
    record->sent_us = core->now_us;
    record->epoch = core->policy->epoch(state);
    lease->epoch = record->epoch;
    if (core->policy->sent)
        core->policy->sent(state, record->lane, core->now_us);
    return WEIR_OK;
}

static int64_t retry_after_us(const struct weir_core *core, const struct weir_verdict *verdict)
{
    return verdict->retry_after_us > 0 ? verdict->retry_after_us
                                       : core->resilience.fallback_retry_after_us;
}

static void note_throttle(struct weir_core *core, const struct weir_lease_record *record,
                          const struct weir_verdict *verdict)
{
    struct weir_pool_event event = {
        .type = WEIR_EVENT_THROTTLE,
        .connection_name = core->connections[record->connection].name,
        .time_us = core->now_us,
        .verdict = *verdict,
        .attempt = record->attempt,
        .attempt_max = record->attempt_max,
    };
    weir_pool_events_add(&core->events, &event);
    if (verdict->retry_after_fallback)
        weir_core_note(core, record->connection, WEIR_EVENT_FALLBACK, verdict->retry_after_us);
    if (verdict->retry_after_clamped)
        weir_core_note(core, record->connection, WEIR_EVENT_CLAMPED, verdict->retry_after_us);

    int64_t reopening;
    if (weir_core_any_open(core, core->now_us, &reopening))
        weir_core_note(core, record->connection, WEIR_EVENT_ELSEWHERE, 0);
    else if (reopening != WEIR_FOREVER)
        weir_core_note(core, record->connection, WEIR_EVENT_ALL_THROTTLED,
                       reopening - core->now_us);
}

/* The tracker learns of a throttle, or of a 503 that asks to be left alone for a while. */
static void learn_block(struct weir_core *core, const struct weir_lease_record *record,
                        const struct weir_verdict *verdict)
{
    struct weir_connection *it = &core->connections[record->connection];
    uint32_t key = weir_core_lane_key(core, record->connection, record->lane);
    double chance = weir_rng_unit(&core->rng);
    if (verdict->class_ == WEIR_CLASS_THROTTLE) {
        weir_tracker_record(&core->tracker, key, verdict->retry_after_us, chance, core->now_us);
        weir_episodes_record(&core->episodes, it->throttled_us, core->now_us);
        it->throttled_us = core->now_us;
        it->last_throttle = *verdict;
    } else {
        weir_tracker_block(&core->tracker, key, verdict->retry_after_us, chance, core->now_us);
    }
    if (core->resilience.enable_throttle_tracking)
        weir_connection_close(it);
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
    } else if (weir_breaker_failed(&it->breaker, &core->resilience.circuit_breaker, record->sent_us,
                                   core->now_us)) {
        weir_core_note(core, record->connection, WEIR_EVENT_BREAKER_OPEN, it->breaker.open_for_us);
    }
}

static void tell_policy(struct weir_core *core, const struct weir_lease_record *record,
                        const struct weir_answer *answer)
{
    uint32_t key = weir_core_lane_key(core, record->connection, record->lane);
    struct weir_policy_answer policy_answer = {
        .answer = answer,
        .kind = record->kind,
        .rows = record->rows,
        .lane = record->lane,
        .epoch = record->epoch,
        .sent_us = record->sent_us,
        .reopens_us = weir_tracker_reopening_us(&core->tracker, key),
    };
    core->policy->answered(weir_core_policy_state(core, record->connection), &policy_answer,
                           core->now_us);
}

static void learn(struct weir_core *core, const struct weir_lease_record *record,
                  const struct weir_answer *answer)
{
    const struct weir_verdict *verdict = &answer->verdict;
    bool throttled = verdict->class_ == WEIR_CLASS_THROTTLE;
    if (answer->budget.dop_hint > 0)
        weir_core_hint(core, record->connection, answer->budget.dop_hint, core->now_us);
    if (throttled || (verdict->class_ == WEIR_CLASS_TRANSIENT && verdict->retry_after_us > 0))
        learn_block(core, record, verdict);
    learn_breaker(core, record, verdict->class_);

    int before = weir_core_level(core, record->connection);
    tell_policy(core, record, answer);
    if (verdict->class_ == WEIR_CLASS_OK)
        weir_connection_ramp_up(&core->connections[record->connection], record->generation,
                                weir_core_level(core, record->connection));
    weir_core_refresh(core, record->connection);
    if (throttled)
        note_throttle(core, record, verdict);
    weir_core_note_level(core, record->connection, before);
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
    core->connections[record.connection].in_flight--;

    struct weir_answer heard = *answer;
    if (heard.verdict.class_ == WEIR_CLASS_THROTTLE)
        heard.verdict.retry_after_us = retry_after_us(core, &heard.verdict);
    if (heard.verdict.class_ != WEIR_CLASS_UNSENT)
        core->requests_served++;
    learn(core, &record, &heard);
    weir_core_set_slot_clock(core);
    return WEIR_OK;
}

/* --- connections --- */

bool weir_core_find(const struct weir_core *core, const char *name, uint32_t *ret)
{
    return weir_map_find(&core->names, weir_str_from(name), ret);
}

/* What every change from outside ends with. */
static void changed(struct weir_core *core, uint32_t connection)
{
    weir_core_refresh(core, connection);
    weir_core_set_slot_clock(core);
}

void weir_core_hint(struct weir_core *core, uint32_t connection, int dop_hint, int64_t now_us)
{
    weir_core_advance(core, now_us);
    int before = weir_core_level(core, connection);
    if (dop_hint < 1)
        dop_hint = 1;
    if (dop_hint > WEIR_PARALLELISM_MAX)
        dop_hint = WEIR_PARALLELISM_MAX;
    core->policy->hint(weir_core_policy_state(core, connection), dop_hint, core->now_us);
    weir_core_note_level(core, connection, before);
    changed(core, connection);
}

void weir_core_set_aside(struct weir_core *core, uint32_t connection, int64_t now_us)
{
    weir_core_advance(core, now_us);
    if (!core->connections[connection].set_aside)
        weir_core_note(core, connection, WEIR_EVENT_SET_ASIDE, 0);
    core->connections[connection].set_aside = true;
    changed(core, connection);
}

void weir_core_restore(struct weir_core *core, uint32_t connection, int64_t now_us)
{
    weir_core_advance(core, now_us);
    if (core->connections[connection].set_aside)
        weir_core_note(core, connection, WEIR_EVENT_RESTORED, 0);
    core->connections[connection].set_aside = false;
    core->connections[connection].breaker = (struct weir_breaker){ 0 };
    changed(core, connection);
}

void weir_core_clear_throttle(struct weir_core *core, uint32_t connection, int64_t now_us)
{
    weir_core_advance(core, now_us);
    for (uint32_t lane = 0; lane < core->connections[connection].lanes; lane++)
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

void weir_core_shutdown(struct weir_core *core)
{
    core->shut_down = true;
}
