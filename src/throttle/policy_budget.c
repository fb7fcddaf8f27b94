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
 *     policy_budget_quota.c     how much is ours: limits, foreign use, what a restart left behind
 *     policy_budget_guard.c     how many at a time before it gets slower
 *     policy_budget_hear.c      what headers say
 *     policy_budget_coarse.c    whether it forgets in steps
 *     policy_budget_room.c      the decision
 *     policy_budget_forecast.c  what is left, and until when
 *     policy_budget_keep.c      what outlives a restart
 *     policy_budget.c           the events
 *
 * One decision per event, as with Aimd: the throttles of one flight teach once (epoch).
 */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "throttle/policy_budget_state.h"

/* As published. */
#define PUBLISHED_REQUESTS     6000.0
#define PUBLISHED_EXECUTION_US (1200.0 * WEIR_US_PER_S)
#define PUBLISHED_CONCURRENT   52
#define PUBLISHED_WINDOW_US    (300 * WEIR_US_PER_S)
#define CONCURRENT_WINDOWS     12 /* until one more at a time is tried again */
#define CONCURRENT_AGAIN       0.85
#define A_FEW                  0.5 /* of what may be sent at a time */
#define CONCURRENT_SPARE       2   /* of the concurrency limit that is left alone */

#define UNKNOWN_US       (1.0 * WEIR_US_PER_S) /* a request of which nothing is known */
#define MEAN_WEIGHT      0.06
#define MEAN_SAMPLES     16
#define WIDE_FALLS       3 /* times slower than it rises: what is back first after a pause is short */
#define STICK_FADES      0.98
#define STICK_TRIES      12
#define STICK_FROM       0.86 /* hits per try from which lanes are chosen, … */
#define STICK_UNTIL      0.75 /* … until which they are */
#define CAUTION_STEP     0.01
#define CAUTION_MAX      0.10
#define CAUTION_FADES    0.7  /* in a clean window */
#define CREEP            0.85 /* of the blind share, each time that it is tried */
#define TRIES            4    /* of it in a window */
#define EXPLAINED        0.8  /* of the limit that own use has to make up to be what tripped it */
#define ONE_OF_MANY      0.7  /* of the limit that a server has at most, … */
#define LEAST_TOGETHER   0.9  /* … and all of them have together, … */
#define MOST_TOGETHER    1.15 /* … if they draw on one account, and … */
#define SHARED_THROTTLES 2    /* … how often that is to be seen, … */
#define MOMENTS          100  /* … not twice in a hundredth of a window */
#define EXPLORE_STEP     1.25
#define EXPLORES         8  /* in a window */
#define EXPLORE_REST     12 /* windows after a throttle */
#define LIMIT_DIFFERS    0.01
#define EXECUTION_DOUBT  0.1 /* requests are counted, time is estimated */

/* --- beginning -------------------------------------------------------------------------------- */

void weir_budget_lane_init(struct weir_budget *budget, struct weir_budget_lane *lane,
                           uint64_t server_id, double requests, double execution_us, int64_t now_us)
{
    lane->server_id = server_id;
    lane->shut_us = WEIR_NEVER;
    lane->heard_us = WEIR_NEVER;
    lane->probe_us = WEIR_NEVER;
    lane->probe_gap_us = 0;
    lane->heard.known = false;
    lane->requests_heard.known = false;
    lane->unseen.number = -2; /* neither this span nor the one before */
    lane->untold = 0;
    weir_ledger_init(&lane->ledger, budget->window_us, now_us);
    weir_quota_init(&lane->quotas[WEIR_BUDGET_REQUESTS], requests);
    weir_quota_init(&lane->quotas[WEIR_BUDGET_EXECUTION], execution_us);
    lane->quotas[WEIR_BUDGET_EXECUTION].doubt = EXECUTION_DOUBT;
}

static void init(void *state, const struct weir_adaptive_rate_options *options)
{
    struct weir_budget *budget = state;
    budget->options = options;
    budget->window_us =
        options->budget.window_us > 0 ? options->budget.window_us : PUBLISHED_WINDOW_US;
    double scale = (double)budget->window_us / PUBLISHED_WINDOW_US;
    budget->concurrent = PUBLISHED_CONCURRENT - CONCURRENT_SPARE;
    budget->blind_rho = 1;
    budget->lane_count = 1;
    budget->begun_us = WEIR_NEVER;
    budget->clean_us = WEIR_NEVER;
    budget->level = WEIR_PARALLELISM_UNHINTED;
    budget->max = PUBLISHED_CONCURRENT;
    budget->throttled_us = WEIR_NEVER;
    budget->reopens_us = WEIR_NEVER;
    budget->explored_us = WEIR_NEVER;
    budget->tried_us = WEIR_NEVER;
    budget->activity_us = WEIR_NEVER;
    weir_charging_init(&budget->charging);
    weir_budget_lane_init(budget, &budget->lanes[0], 0, PUBLISHED_REQUESTS * scale,
                          PUBLISHED_EXECUTION_US * scale, 0);
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
    double longest = UNKNOWN_US;
    for (uint32_t i = 0; i < budget->flight_count; i++) {
        double elapsed = (double)(now_us - budget->flights[i].sent_us);
        longest = elapsed > longest ? elapsed : longest;
    }
    return longest;
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
    if (budget->lane_count > 1 && budget->tries >= STICK_TRIES && rate >= STICK_FROM)
        budget->pinned = true;
    if (rate < STICK_UNTIL)
        budget->pinned = false;
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
    *flight = budget->flights[--budget->flight_count];
    return landed;
}

/* --- throttles -------------------------------------------------------------------------------- */

static void set_window(struct weir_budget *budget, int64_t window_us, int64_t now_us)
{
    double change = (double)window_us / (double)budget->window_us - 1;
    if (!weir_budget_is_window(window_us) || (change < LIMIT_DIFFERS && change > -LIMIT_DIFFERS))
        return;
    budget->window_us = window_us;
    weir_charging_init(&budget->charging);
    for (uint32_t i = 0; i < budget->lane_count; i++) {
        struct weir_budget_lane *lane = &budget->lanes[i];
        weir_ledger_set_window(&lane->ledger, window_us, now_us);
        lane->heard = (struct weir_heard){ 0 };
        for (int which = 0; which < WEIR_BUDGET_COUNT; which++)
            weir_quota_forget(&lane->quotas[which]);
    }
}

static bool is_told(const struct weir_budget *budget)
{
    for (uint32_t i = 0; i < budget->lane_count; i++) {
        if (budget->lanes[i].heard_us != WEIR_NEVER)
            return true;
    }
    return false;
}

/* Where no header tells: a throttle that our use of one server does not explain, and that of all
 * servers together does. A second one, which is not of the same moment, is no chance any more. */
static void vote_shared(struct weir_budget *budget, double alone, double together, double limit,
                        int64_t now_us)
{
    if (alone > ONE_OF_MANY * limit)
        budget->blamed = 0;
    if (budget->lane_count == 1 || is_told(budget) || alone > ONE_OF_MANY * limit ||
        together < LEAST_TOGETHER * limit || together > MOST_TOGETHER * limit)
        return;
    if (budget->blamed && now_us - budget->blamed_us < budget->window_us / MOMENTS)
        return;
    budget->blamed_us = now_us;
    budget->shared = ++budget->blamed >= SHARED_THROTTLES;
}

/* In the first window there may be what was used before us. */
static void learn_sharing_blindly(struct weir_budget *budget, uint32_t lane, int which,
                                  int64_t now_us)
{
    if (budget->begun_us == WEIR_NEVER || now_us - budget->begun_us < budget->window_us)
        return;
    double total = 0;
    for (uint32_t i = 0; i < budget->lane_count; i++)
        total += weir_budget_used(budget, i, which, now_us);
    vote_shared(budget, weir_budget_used(budget, lane, which, now_us), total,
                budget->lanes[lane].quotas[which].limit, now_us);
}

/* Nobody tells what is left, and less was left than the books say. */
static void learn_blindly(struct weir_budget *budget, uint32_t lane, int which, int64_t now_us)
{
    struct weir_quota *quota = &budget->lanes[lane].quotas[which];
    double used = weir_budget_used(budget, lane, which, now_us);
    learn_sharing_blindly(budget, lane, which, now_us);
    if (budget->shared && budget->lane_count > 1)
        return; /* it is explained */
    if (used < EXPLAINED * quota->limit) {
        weir_quota_haunt(quota, quota->limit - used, now_us);
    } else if (which == WEIR_BUDGET_EXECUTION && used > 0) {
        budget->blind_rho *= quota->limit / used;
        budget->blind_failed = true;
    }
}

/* Smaller shares were tried without a throttle because the limit is higher than it was taken for:
 * it is what our use has come to now. */
static void take_back_share(struct weir_budget *budget, uint32_t lane, double limit, int64_t now_us)
{
    double used = weir_budget_used(budget, lane, WEIR_BUDGET_EXECUTION, now_us);
    if (budget->tried_us == WEIR_NEVER || used <= 0 || used > EXPLAINED * limit)
        return;
    double rho = budget->blind_rho * limit / used;
    budget->blind_rho = rho < 1 ? rho : 1;
    budget->blind_failed = true;
}

static void learn_limit(struct weir_budget *budget, uint32_t lane, int which,
                        const struct weir_named_limit *named, int64_t now_us)
{
    double unit = which == WEIR_BUDGET_EXECUTION ? (double)WEIR_US_PER_MS : 1;
    double limit = (double)named->value * unit;
    struct weir_quota *quota = &budget->lanes[lane].quotas[which];
    double change = limit / quota->limit - 1;
    set_window(budget, named->window_us, now_us);
    if (weir_budget_is_limit(which, limit) && (change > LIMIT_DIFFERS || change < -LIMIT_DIFFERS)) {
        for (uint32_t i = 0; i < budget->lane_count; i++)
            weir_quota_set_limit(&budget->lanes[i].quotas[which], limit);
        if (which == WEIR_BUDGET_EXECUTION)
            take_back_share(budget, lane, limit, now_us);
        return;
    }
    if (budget->caution < CAUTION_MAX)
        budget->caution += CAUTION_STEP;
    if (!budget->charging.trusted)
        learn_blindly(budget, lane, which, now_us);
}

/* As many as the service says, or fewer than there were on the server. A few that were sent while
 * another throttle held are not too many: they are refused for that one. */
static void learn_concurrency(struct weir_budget *budget, const struct weir_budget_flight *flight,
                              const struct weir_named_limit *named, int64_t now_us)
{
    if (flight->sent_us < budget->reopens_us && flight->beside < A_FEW * budget->concurrent)
        return;
    double fewer = ceil(flight->beside) - 1;
    if (named->value > 0)
        fewer = (double)named->value;
    if (named->value > 0 && fewer >= budget->concurrent) /* not the first time: others are there */
        fewer = CONCURRENT_AGAIN * budget->concurrent;
    if (fewer < budget->concurrent)
        budget->concurrent = fewer > 1 ? fewer : 1;
    budget->concurrent_us = now_us;
}

static void on_throttle(struct weir_budget *budget, uint32_t lane,
                        const struct weir_budget_flight *flight,
                        const struct weir_policy_lease *lease, const struct weir_verdict *verdict,
                        int64_t now_us)
{
    budget->throttle_events++;
    budget->throttled_us = now_us;
    budget->successes = 0;
    if (lease->epoch != budget->epoch)
        return;
    budget->epoch++;
    budget->clean_us = now_us;
    budget->was_bound = false;
    if (verdict->throttle == WEIR_THROTTLE_REQUESTS)
        learn_limit(budget, lane, WEIR_BUDGET_REQUESTS, &verdict->limit, now_us);
    else if (verdict->throttle == WEIR_THROTTLE_EXECUTION_TIME)
        learn_limit(budget, lane, WEIR_BUDGET_EXECUTION, &verdict->limit, now_us);
    else
        learn_concurrency(budget, flight, &verdict->limit, now_us);
    if (verdict->throttle == WEIR_THROTTLE_CONCURRENCY && verdict->limit.value > 0)
        vote_shared(budget, flight->beside, flight->together, (double)verdict->limit.value, now_us);
}

/* Where nobody says what share of the time is charged, a smaller one is tried until a throttle. */
static void try_share(struct weir_budget *budget, int64_t now_us)
{
    if (budget->charging.trusted || budget->blind_failed || !budget->was_bound)
        return;
    budget->blind_rho *= CREEP;
    budget->tried_us = now_us;
    budget->was_bound = false;
}

/* A whole window without a throttle. */
static void end_window(struct weir_budget *budget, int64_t now_us)
{
    if (budget->clean_us == WEIR_NEVER || now_us - budget->clean_us < budget->window_us)
        return;
    budget->clean_us = now_us;
    budget->caution *= CAUTION_FADES;
    budget->blamed = 0;
    if (budget->concurrent < PUBLISHED_CONCURRENT - CONCURRENT_SPARE &&
        now_us - budget->concurrent_us > CONCURRENT_WINDOWS * budget->window_us)
        budget->concurrent += 1;
    try_share(budget, now_us);
    budget->was_bound = false;
}

/* After a clean window, and where there are no headers at all, what is tried shows as soon as it is
 * used up. */
static void go_on_trying(struct weir_budget *budget, int64_t now_us)
{
    if (!is_told(budget) && budget->tried_us > budget->throttled_us &&
        now_us - budget->tried_us > budget->window_us / TRIES)
        try_share(budget, now_us);
}

/* By option: where nobody says what the limits are, see whether they are higher. */
static void explore(struct weir_budget *budget, int64_t now_us)
{
    if (!budget->options->budget.explore || budget->charging.trusted || !budget->was_bound ||
        budget->clean_us == WEIR_NEVER)
        return;
    int64_t since_us =
        budget->explored_us > budget->clean_us ? budget->explored_us : budget->clean_us;
    bool failed = budget->throttled_us != WEIR_NEVER &&
                  now_us - budget->throttled_us < EXPLORE_REST * budget->window_us;
    if (failed || now_us - since_us < budget->window_us / EXPLORES)
        return;
    budget->explored_us = now_us;
    budget->was_bound = false;
    for (uint32_t i = 0; i < budget->lane_count; i++) {
        for (int which = 0; which < WEIR_BUDGET_COUNT; which++)
            budget->lanes[i].quotas[which].limit *= EXPLORE_STEP;
    }
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
    weir_guard_sample(&budget->guard, flight->beside, 1, duration_us, now_us);
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
        on_throttle(budget, lane, &flight, lease, &answer->verdict, now_us);
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
    explore(budget, now_us);
    go_on_trying(budget, now_us);
    end_window(budget, now_us);
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
    ret->current_parallelism = budget->activity_us == WEIR_NEVER ? 0 : budget->level;
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
