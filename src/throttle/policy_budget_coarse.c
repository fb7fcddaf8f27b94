/* SPDX-License-Identifier: MIT */
/*
 * Budget: a server that forgets in steps, not as its window slides.
 *
 *     booked ──▶│◀── window ──────────────────▶│ now
 *        │◀─ late ─▶│ has left our books; the server may have kept it to the end of its bucket
 *
 * Whether it does shows in its headers: what has left our books and not come back is kept. Until
 * that is known, and where it is so, nothing counts as gone before a header has said so; at the
 * latest when it is older than anything that was ever kept. While nothing is in flight that would
 * bring a header, one request may go and look.
 *
 * The servers are alike: what one of them shows holds for all.
 */
#include "base/clock.h"
#include "throttle/policy_budget_state.h"

#define COARSE       0.75 /* part of what should have left the window that has not */
#define COARSE_STILL 0.4  /* the same, for one that has been known to be */
#define FADES        0.97
#define PROVEN       4.0 /* requests that have to have left for that to be known */
#define TELLS_MOST   8.0 /* requests that have left, by which one header tells most */
#define FOUND        3.0 /* requests that a probe has to find room for to go on, or a step to hold */
#define LATE_PARTS   2   /* of a window: as late as what is kept can be told */
#define LATE_STEPS   8   /* halvings of that */
#define LATE_TOLD    1.2  /* times as much as is kept has to have been there */
#define LATE_LEAST   0.05 /* of the limit that has to be kept */
#define LATE_FADES   16   /* steps */
#define SILENT       16   /* part of a window */
#define LATE_SLACK   128  /* part of a window */

static double one(const struct weir_budget *budget)
{
    return weir_budget_rho(budget) * budget->average_us;
}

bool weir_budget_is_coarse(const struct weir_budget *budget)
{
    return budget->charging.trusted && budget->coarse.verdict == WEIR_WINDOW_COARSE;
}

bool weir_budget_is_fine(const struct weir_budget *budget)
{
    return budget->coarse.verdict == WEIR_WINDOW_FINE;
}

/* What has left has to be worth a judgement; until more does, the last one holds. */
static void judge(struct weir_budget *budget)
{
    struct weir_coarse *coarse = &budget->coarse;
    double least = PROVEN * one(budget);
    if (coarse->xx <= least * least)
        return;
    bool was = coarse->verdict == WEIR_WINDOW_COARSE;
    bool is = coarse->xy > (was ? COARSE_STILL : COARSE) * coarse->xx;
    coarse->verdict = is ? WEIR_WINDOW_COARSE : WEIR_WINDOW_FINE;
    if (!is)
        coarse->late_us = 0;
}

static int64_t late_us(const struct weir_budget *budget)
{
    int64_t most_us = budget->window_us / LATE_PARTS;
    if (budget->coarse.late_us <= 0)
        return most_us;
    int64_t late = budget->coarse.late_us + budget->window_us / LATE_SLACK;
    return late < most_us ? late : most_us;
}

/* How late the server is if it keeps so much that has left our books. */
static int64_t lateness_us(const struct weir_budget *budget, const struct weir_ledger *ledger,
                           enum weir_series series, double kept, int64_t tail_us)
{
    int64_t low = 0;
    int64_t high = budget->window_us / LATE_PARTS;
    if (weir_budget_rho(budget) * weir_ledger_measure(ledger, series, tail_us - high, tail_us) <
        LATE_TOLD * kept)
        return 0; /* there is nothing before that could have gone */
    for (int i = 0; i < LATE_STEPS; i++) {
        int64_t middle = (low + high) / 2;
        bool enough = weir_budget_rho(budget) *
                          weir_ledger_measure(ledger, series, tail_us - middle, tail_us) >=
                      kept;
        low = enough ? low : middle;
        high = enough ? middle : high;
    }
    return high;
}

/* Of what left our window since the last header, how much seems to be foreign use now? */
void weir_budget_learn_coarseness(struct weir_budget *budget, struct weir_budget_lane *lane,
                                  double foreign_before, int64_t now_us)
{
    if (lane->heard_us == WEIR_NEVER)
        return;
    struct weir_guess guess = weir_charging_guess(budget->charging.best);
    int64_t since_us = lane->heard_us - guess.lag_us - budget->window_us;
    int64_t until_us = now_us - guess.lag_us - budget->window_us;
    double foreign = lane->quotas[WEIR_BUDGET_EXECUTION].foreign;
    double left = weir_budget_rho(budget) *
                  weir_ledger_measure(&lane->ledger, guess.series, since_us, until_us);
    double stayed = foreign - foreign_before;
    bool step = stayed < -FOUND * one(budget);
    if (step) {
        lane->probe_gap_us = 0;
        budget->coarse.late_us -= budget->coarse.late_us / LATE_FADES;
    }
    if (left <= 0 || step)
        return;
    stayed = stayed < -2 * left ? -2 * left : stayed > 2 * left ? 2 * left : stayed;
    double most = TELLS_MOST * one(budget);
    if (left > most) { /* after a pause it may have forgotten several times */
        stayed *= most / left;
        left = most;
    }
    budget->coarse.xx = budget->coarse.xx * FADES + left * left;
    budget->coarse.xy = budget->coarse.xy * FADES + left * stayed;
    judge(budget);
    if (!weir_budget_is_coarse(budget) ||
        foreign < LATE_LEAST * lane->quotas[WEIR_BUDGET_EXECUTION].limit)
        return;
    int64_t late = lateness_us(budget, &lane->ledger, guess.series, foreign, until_us);
    if (late > budget->coarse.late_us)
        budget->coarse.late_us = late;
}

double weir_budget_forgotten(const struct weir_budget *budget, const struct weir_budget_lane *lane,
                             int which, int64_t now_us)
{
    struct weir_guess guess = weir_charging_guess(budget->charging.best);
    if (lane->heard_us == WEIR_NEVER || !weir_budget_is_coarse(budget))
        return 0;
    int64_t told_us = lane->heard_us - guess.lag_us;
    if (now_us - told_us <= late_us(budget) ||
        weir_budget_is_shared(budget, lane, WEIR_BUDGET_EXECUTION)) /* it is not ours */
        return 0;
    bool execution = which == WEIR_BUDGET_EXECUTION;
    enum weir_series series = execution ? guess.series : WEIR_SERIES_REQUESTS;
    int64_t tail_us = told_us - budget->window_us;
    return (execution ? weir_budget_rho(budget) : 1) *
           weir_ledger_measure(&lane->ledger, series, tail_us - late_us(budget), tail_us);
}

/* Where time is charged on arrival, a server that has not been heard for long is not met with many
 * requests at a time before one has said how things stand: what they take shows too late. */
static bool is_silent(const struct weir_budget *budget, const struct weir_budget_lane *lane,
                      int64_t now_us)
{
    return weir_budget_series(budget) == WEIR_SERIES_AT_BEGIN &&
           now_us - lane->heard_us > budget->window_us / SILENT;
}

int64_t weir_budget_tail_us(const struct weir_budget *budget, const struct weir_budget_lane *lane,
                            bool idle, int64_t until_us, int64_t now_us)
{
    int64_t from_us = until_us - budget->window_us;
    if (lane->heard_us == WEIR_NEVER)
        return from_us;
    bool sure = (weir_budget_is_fine(budget) ||
                 weir_budget_is_shared(budget, lane, WEIR_BUDGET_EXECUTION)) &&
                !is_silent(budget, lane, now_us);
    if (!budget->charging.trusted || sure || (idle && now_us >= lane->probe_us))
        return from_us;
    int64_t lag_us = weir_charging_guess(budget->charging.best).lag_us;
    int64_t told_us = lane->heard_us - lag_us - budget->window_us;
    int64_t late = from_us - late_us(budget);
    int64_t tail_us = told_us > late ? told_us : late;
    return tail_us < from_us ? tail_us : from_us;
}

/* Nothing is in flight that would tell whether a coarse window has moved on. */
void weir_budget_plan_probe(struct weir_budget *budget, struct weir_budget_lane *lane,
                            int64_t now_us)
{
    int64_t least_us = budget->window_us / 150;
    int64_t most_us = budget->window_us / 20;
    int64_t gap_us = 2 * lane->probe_gap_us;
    lane->probe_gap_us = gap_us < least_us ? least_us : gap_us > most_us ? most_us : gap_us;
    lane->probe_us = now_us + lane->probe_gap_us;
}
