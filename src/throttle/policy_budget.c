/* SPDX-License-Identifier: MIT */
/*
 * Budget: mirror the service's sliding windows and spend what is left of them.
 *
 *     ledger ──▶ quota ──▶ room: does one more fit, now and until it ends? ──▶ admit
 *       ▲          ▲                     ▲
 *    answers    headers, throttles     guard: does it get slower?
 *
 * The limits are sums over a window of minutes, so a throttle says what the last minutes came to,
 * not that the present rate is too high. The policy therefore keeps the books itself and does not
 * wait to be told: requests are booked when they were sent, execution time when the answer is there
 * (and is expected while it is not), and headers and throttles only correct the books. What is
 * where:
 *
 *     policy_budget_ledger.c    what a web server has booked
 *     policy_budget_charging.c  how it charges: when, how much of what we see, since when
 *     policy_budget_age.c       how old headers are, told by requests
 *     policy_budget_quota.c     how much is ours: limits, foreign use, what a restart left behind
 *     policy_budget_rhythm.c    whether others come and go in a rhythm
 *     policy_budget_guard.c     how many at a time before it gets slower
 *     policy_budget_hear.c      what headers say
 *     policy_budget_throttle.c  what throttles say, and what is tried until one comes
 *     policy_budget_coarse.c    whether it forgets in steps
 *     policy_budget_flying.c    what is in flight, and what the sums are with it
 *     policy_budget_short.c     jobs that do not have to make anything last
 *     policy_budget_room.c      the decision
 *     policy_budget_forecast.c  what others may use, and when we would be throttled
 *     policy_budget_keep.c      what outlives a restart
 *     policy_budget.c           the events
 *     policy_budget_state.h     what all of them share, and the vocabulary
 *
 * One decision per event, as with Aimd: the throttles of one flight teach once (epoch).
 */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "throttle/policy_budget_flying.h"

/* As published. */
#define PUBLISHED_REQUESTS     6000.0
#define PUBLISHED_EXECUTION_US (1200.0 * WEIR_US_PER_S)
#define PUBLISHED_CONCURRENT   52
#define PUBLISHED_WINDOW_US    (300 * WEIR_US_PER_S)

#define UNKNOWN_US      (1.0 * WEIR_US_PER_S) /* a request of which nothing is known */
#define MEAN_WEIGHT     0.06
#define MEAN_SAMPLES    16
#define WIDE_FALLS      3 /* times slower than it rises: what is back first after a pause is short */
#define STICK_FADES     0.98
#define STICK_FROM      0.90 /* hits per try from which lanes are chosen, … */
#define STICK_UNTIL     0.80 /* … until which they are */
#define EXECUTION_DOUBT 0.1  /* requests are counted, time is estimated */

/* --- beginning -------------------------------------------------------------------------------- */

void weir_budget_lane_init(struct weir_budget *budget, struct weir_budget_lane *lane,
                           uint64_t server_id, double requests, double execution_us, int64_t now_us)
{
    memset(lane, 0, sizeof(*lane));
    lane->server_id = server_id;
    lane->shut_us = WEIR_NEVER;
    lane->heard_us = WEIR_NEVER;
    lane->probe_us = WEIR_NEVER;
    lane->foreseen_no = -1;
    lane->unseen.number = -2; /* neither this span nor the one before */
    lane->said[WEIR_BUDGET_REQUESTS] = lane->said[WEIR_BUDGET_EXECUTION] = -1;
    weir_ledger_init(&lane->ledger, budget->window_us, now_us);
    weir_quota_init(&lane->quotas[WEIR_BUDGET_REQUESTS], requests);
    lane->quotas[WEIR_BUDGET_REQUESTS].rhythm.counts = true;
    weir_quota_init(&lane->quotas[WEIR_BUDGET_EXECUTION], execution_us);
    lane->quotas[WEIR_BUDGET_EXECUTION].doubt = EXECUTION_DOUBT;
}

/* Somebody may look before anybody asks: the level is what the first to ask would be told. */
static void foresee_level(struct weir_budget *budget)
{
    static const struct weir_ask any = { 0 };
    struct weir_admission unused;
    weir_budget_admit(budget, &(struct weir_policy_ask){ .ask = &any }, 0, &unused);
    budget->guard = (struct weir_guard){ 0 }; /* which begins with the first */
}

static void init(void *state, const struct weir_adaptive_rate_options *options)
{
    struct weir_budget *budget = state;
    budget->options = options;
    budget->window_us =
        options->budget.window_us > 0 ? options->budget.window_us : PUBLISHED_WINDOW_US;
    double scale = (double)budget->window_us / PUBLISHED_WINDOW_US;
    budget->concurrent = WEIR_BUDGET_AT_A_TIME;
    budget->blind_rho = 1;
    budget->lane_count = 1;
    budget->begun_us = WEIR_NEVER;
    budget->clean_us = WEIR_NEVER;
    budget->max = PUBLISHED_CONCURRENT;
    budget->throttled_us = WEIR_NEVER;
    budget->reopens_us = WEIR_NEVER;
    budget->explored_us = WEIR_NEVER;
    budget->tried_us = WEIR_NEVER;
    budget->activity_us = WEIR_NEVER;
    weir_charging_init(&budget->charging);
    weir_budget_lane_init(budget, &budget->lanes[0], 0, PUBLISHED_REQUESTS * scale,
                          PUBLISHED_EXECUTION_US * scale, 0);
    foresee_level(budget);
}

/* --- durations -------------------------------------------------------------------------------- */

static struct weir_budget_kind *find_kind(struct weir_budget *budget, uint32_t kind)
{
    struct weir_budget_kind *least = &budget->kinds[0];
    for (uint32_t i = 0; i < WEIR_BUDGET_KINDS; i++) {
        struct weir_budget_kind *it = &budget->kinds[i];
        if (it->samples && it->kind == kind)
            return it;
        if (it->samples < least->samples)
            least = it;
    }
    *least = (struct weir_budget_kind){ .kind = kind };
    return least;
}

/* What is in flight was sent when nothing was known of its kind. */
static void expect_like(struct weir_budget *budget, uint32_t kind, double duration_us)
{
    for (uint32_t i = 0; i < budget->flight_count; i++) {
        struct weir_budget_flight *flight = &budget->flights[i];
        if (flight->kind == kind)
            flight->expected_us = duration_us;
    }
}

static void learn_duration(struct weir_budget *budget, uint32_t kind, double duration_us)
{
    struct weir_budget_kind *it = find_kind(budget, kind);
    double weight = it->samples < MEAN_SAMPLES ? 1.0 / (it->samples + 1) : MEAN_WEIGHT;
    it->mean_us += weight * (duration_us - it->mean_us);
    if (it->samples++ == 0)
        expect_like(budget, kind, duration_us);
    double off_us = fabs(duration_us - it->mean_us);
    double wider_us = off_us - budget->wide_us;
    budget->spread_us += weight * (off_us - budget->spread_us);
    budget->wide_us += (wider_us < 0 ? weight / WIDE_FALLS : weight) * wider_us;
    budget->average_us += weight * (duration_us - budget->average_us);
}

double weir_budget_expected_us(const struct weir_budget *budget, uint32_t kind, int64_t now_us)
{
    for (uint32_t i = 0; i < WEIR_BUDGET_KINDS; i++) {
        if (budget->kinds[i].samples && budget->kinds[i].kind == kind)
            return budget->kinds[i].mean_us;
    }
    return fmax(UNKNOWN_US, (double)(now_us - weir_budget_oldest_us(budget, now_us)));
}

/* --- flights and lanes ------------------------------------------------------------------------ */

static uint32_t lane_of(const struct weir_budget *budget, uint64_t server_id)
{
    for (uint32_t i = 0; server_id && i < budget->lane_count; i++) {
        if (budget->lanes[i].server_id == server_id)
            return i;
    }
    return WEIR_BUDGET_ANY;
}

/* The lane of the server that answered; a new one for a new server, as long as there is room. */
static uint32_t answering_lane(struct weir_budget *budget, uint64_t server_id, int64_t now_us)
{
    uint32_t lane = lane_of(budget, server_id);
    if (lane != WEIR_BUDGET_ANY || !server_id || budget->shared)
        return lane == WEIR_BUDGET_ANY ? 0 : lane;
    budget->searched = 0;
    budget->found_us = now_us;
    weir_budget_forget_counts(budget);
    if (!budget->lanes[0].server_id) {
        budget->lanes[0].server_id = server_id;
        return 0;
    }
    if (budget->lane_count == WEIR_LANES_MAX)
        return (uint32_t)(server_id % WEIR_LANES_MAX);
    const struct weir_quota *like = budget->lanes[0].quotas;
    weir_budget_lane_init(budget, &budget->lanes[budget->lane_count], server_id,
                          like[WEIR_BUDGET_REQUESTS].limit, like[WEIR_BUDGET_EXECUTION].limit,
                          now_us);
    return budget->lane_count++;
}

static void learn_stickiness(struct weir_budget *budget, uint64_t wanted, uint64_t answered)
{
    if (!answered)
        return;
    if (!wanted) {
        budget->searched++;
        return;
    }
    budget->tries = budget->tries * STICK_FADES + 1;
    budget->hits = budget->hits * STICK_FADES + (wanted == answered);
    double rate = budget->hits / budget->tries;
    bool pinned = budget->pinned;
    if (budget->lane_count > 1 && budget->tries >= WEIR_BUDGET_TRIES && rate >= STICK_FROM)
        budget->pinned = true;
    if (rate < STICK_UNTIL)
        budget->pinned = false;
    if (budget->pinned != pinned)
        weir_budget_forget_counts(budget);
}

/* Nothing is in flight that may be on a lane's server. */
static bool is_idle(const struct weir_budget *budget, uint32_t lane)
{
    for (uint32_t i = 0; i < budget->flight_count; i++) {
        uint32_t on = budget->flights[i].lane;
        if (!budget->pinned || on == lane || on == WEIR_BUDGET_ANY)
            return false;
    }
    return true;
}

/* How many are in flight on the server that one is sent to now, itself included. */
static double beside(const struct weir_budget *budget, uint32_t lane)
{
    bool tied = budget->pinned && lane != WEIR_BUDGET_ANY;
    if (!tied)
        return (double)budget->flight_count / budget->lane_count;
    double count = 1;
    for (uint32_t i = 0; i + 1 < budget->flight_count; i++) {
        uint32_t on = budget->flights[i].lane;
        count += on == WEIR_BUDGET_ANY ? 1.0 / budget->lane_count : on == lane;
    }
    return count;
}

static void leased(void *state, const struct weir_policy_lease *lease, int64_t now_us)
{
    struct weir_budget *budget = state;
    budget->activity_us = now_us;
    budget->leases++;
    if (!lease->server_id)
        budget->search_lease = budget->leases;
    if (budget->clean_us == WEIR_NEVER)
        budget->begun_us = budget->clean_us = now_us;
    uint32_t meant = lane_of(budget, lease->server_id);
    for (uint32_t i = 0; i < budget->lane_count; i++) {
        bool may_be = !budget->pinned || meant == i || meant == WEIR_BUDGET_ANY;
        if (may_be && is_idle(budget, i))
            weir_budget_plan_probe(budget, &budget->lanes[i], now_us);
    }
    if (budget->flight_count == WEIR_BUDGET_FLIGHTS_MAX)
        return;
    double expected_us = weir_budget_expected_us(budget, lease->kind, now_us);
    uint32_t place = budget->flight_count++;
    budget->any_count += meant == WEIR_BUDGET_ANY;
    budget->flights[place] = (struct weir_budget_flight){
        .serial = lease->serial,
        .sent_us = now_us,
        .expected_us = expected_us,
        .kind = lease->kind,
        .lane = meant,
        .beside = beside(budget, meant),
        .together = budget->flight_count,
        .lanes = budget->lane_count,
    };
}

static struct weir_budget_flight *find_flight(struct weir_budget *budget, uint64_t serial)
{
    for (uint32_t i = 0; i < budget->flight_count; i++) {
        if (budget->flights[i].serial == serial)
            return &budget->flights[i];
    }
    return NULL;
}

static void sent(void *state, const struct weir_policy_lease *lease, int64_t now_us)
{
    struct weir_budget_flight *flight = find_flight(state, lease->serial);
    if (flight)
        flight->sent_us = now_us;
}

static struct weir_budget_flight land(struct weir_budget *budget,
                                      const struct weir_policy_lease *lease)
{
    struct weir_budget_flight *flight = find_flight(budget, lease->serial);
    if (!flight)
        return (struct weir_budget_flight){ .sent_us = lease->sent_us, .beside = 1 };
    struct weir_budget_flight landed = *flight;
    budget->any_count -= landed.lane == WEIR_BUDGET_ANY;
    *flight = budget->flights[--budget->flight_count];
    return landed;
}

/* --- answers ---------------------------------------------------------------------------------- */

/* The server worked on it, or may have. */
static void book(struct weir_budget *budget, uint32_t lane, const struct weir_budget_flight *flight,
                 const struct weir_answer *answer, int64_t now_us)
{
    double amount = (double)(answer->ttfb_us > 0 ? answer->ttfb_us : answer->duration_us);
    if (answer->verdict.http_status == 0) { /* no answer: it may well have been executed */
        double elapsed = (double)(now_us - flight->sent_us);
        amount = elapsed > flight->expected_us ? elapsed : flight->expected_us;
    }
    struct weir_ledger *ledger = &budget->lanes[lane].ledger;
    weir_ledger_request(ledger, flight->sent_us);
    weir_ledger_charge(ledger, flight->sent_us, now_us, (int64_t)amount);
}

/* The guard looks at one server. Of several, it is shown as many answers as one of them gives: its
 * memory has to hold for longer than a request takes, or the long ones among its last samples are
 * those that were sent earlier, when there was another number in flight. */
static void guard_learns(struct weir_budget *budget, const struct weir_budget_flight *flight,
                         int64_t duration_us, int64_t now_us)
{
    if (flight->lanes != budget->lane_count || ++budget->unseen < budget->lane_count)
        return; /* or how many there were on its server was not known */
    budget->unseen = 0;
    weir_guard_sample(&budget->guard, flight->beside, duration_us, now_us);
}

static void on_success(struct weir_budget *budget, const struct weir_policy_lease *lease,
                       const struct weir_budget_flight *flight, const struct weir_answer *answer,
                       int64_t now_us)
{
    budget->successes++;
    learn_duration(budget, lease->kind, (double)answer->duration_us);
    guard_learns(budget, flight, answer->duration_us, now_us);
}

static void answered(void *state, const struct weir_policy_lease *lease,
                     const struct weir_answer *answer, int64_t reopens_us, int64_t now_us)
{
    struct weir_budget *budget = state;
    struct weir_budget_flight flight = land(budget, lease);
    enum weir_class class_ = answer->verdict.class_;
    if (class_ == WEIR_CLASS_UNSENT)
        return;
    uint32_t lane = answering_lane(budget, answer->budget.server_id, now_us);
    budget->activity_us = now_us;
    learn_stickiness(budget, lease->server_id, answer->budget.server_id);
    for (uint32_t i = 0; i < budget->lane_count; i++)
        weir_ledger_advance(&budget->lanes[i].ledger, now_us);
    if (class_ == WEIR_CLASS_THROTTLE) {
        weir_budget_throttled(budget, lane, &flight, lease, &answer->verdict, now_us);
        if (reopens_us > budget->reopens_us)
            budget->reopens_us = reopens_us;
        if (lane != lease->lane)
            budget->lanes[lane].shut_us = reopens_us;
    } else {
        book(budget, lane, &flight, answer, now_us);
        if (class_ == WEIR_CLASS_OK)
            on_success(budget, lease, &flight, answer, now_us);
    }
    weir_budget_listen(budget, lane, &answer->budget, now_us);
    weir_budget_try(budget, now_us);
}

static void admit(void *state, const struct weir_policy_ask *ask, int64_t now_us,
                  struct weir_admission *ret)
{
    weir_budget_admit(state, ask, now_us, ret);
}

static void hint(void *state, int dop_hint, int64_t now_us)
{
    (void)now_us;
    struct weir_budget *budget = state;
    budget->max = dop_hint;
    budget->hinted = dop_hint;
}

static void reset(void *state, int64_t now_us)
{
    (void)now_us;
    struct weir_budget *budget = state;
    budget->caution = 0;
    memset(budget->kinds, 0, sizeof(budget->kinds));
}

static uint64_t get_epoch(const void *state)
{
    const struct weir_budget *budget = state;
    return budget->epoch;
}

static int level(const void *state)
{
    const struct weir_budget *budget = state;
    return budget->level;
}

static void stats(const void *state, int64_t now_us, struct weir_adaptive_rate_stats *ret)
{
    const struct weir_budget *budget = state;
    ret->current_parallelism = budget->level;
    ret->max_parallelism = budget->max;
    ret->last_known_good_parallelism = budget->level;
    ret->is_last_known_good_stale = false;
    ret->successes_since_throttle = budget->successes;
    ret->total_throttle_events = budget->throttle_events;
    ret->last_throttle_time_us = budget->throttled_us;
    ret->last_increase_time_us = WEIR_NEVER;
    ret->last_activity_time_us = budget->activity_us;
    ret->average_batch_ms = budget->average_us / WEIR_US_PER_MS;
    ret->execution_time_ceiling = 0;
    ret->throttle_ceiling = 0;
    ret->bound_by = budget->bound_by;
    ret->predicted_throttle_in_us = weir_budget_throttle_in_us(budget, now_us);
}

const struct weir_policy weir_policy_budget = {
    .name = "Budget",
    .state_bytes = sizeof(struct weir_budget),
    .lanes_max = WEIR_LANES_MAX,
    .asks_differ = true,
    .init = init,
    .admit = admit,
    .leased = leased,
    .sent = sent,
    .answered = answered,
    .hint = hint,
    .reset = reset,
    .epoch = get_epoch,
    .level = level,
    .headroom = weir_budget_headroom,
    .stats = stats,
    .save = weir_budget_save,
    .load = weir_budget_load,
};
