/* SPDX-License-Identifier: MIT */
/* How much of one budget is ours; see policy_budget_quota.h. */
#include "throttle/policy_budget_quota.h"

#include <string.h>

#include "base/clock.h"
#include "weir/stats.h"

#define LEAST      0.05 /* of the limit that is ours in any case: without answers nothing is learned */
#define CROWDED    1.03 /* times the foreign use that is expected: it is not steady */
#define DRAINS     0.3  /* of what is due */
#define LATE_US    (5 * WEIR_US_PER_S) /* that a header may be old, … */
#define LATE_PARTS 20                  /* … and this part of a window at most */
#define DOUBTS     2    /* times the noise that has to be due before draining is taken on trust */
#define LATELY     128  /* short spans in a window */
#define PERSISTS   20   /* a higher limit has to show for this part of a window */
#define RISE_FADES 0.97 /* a span */
#define YOUNG      1.05 /* times the most that was seen, in the second window */

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

static int64_t span_us(int64_t window_us)
{
    return window_us / WEIR_QUOTA_SPANS + 1;
}

void weir_quota_init(struct weir_quota *quota, double limit)
{
    *quota = (struct weir_quota){
        .limit = limit,
        .first_us = WEIR_NEVER,
        .above_us = WEIR_NEVER,
        .ghost_us = WEIR_NEVER,
    };
    weir_quota_forget(quota);
}

void weir_quota_forget(struct weir_quota *quota)
{
    memset(quota->highest, 0, sizeof(quota->highest));
    for (int i = 0; i <= WEIR_QUOTA_SPANS; i++)
        quota->lowest[i] = -1;
    memset(quota->rises, 0, sizeof(quota->rises));
    quota->most = 0;
    memset(quota->lately, 0, sizeof(quota->lately));
    weir_rhythm_forget(&quota->rhythm);
    quota->foreign = 0;
    quota->drains = false;
    quota->unbacked = false;
    quota->first_us = WEIR_NEVER;
    quota->above_us = WEIR_NEVER;
}

void weir_quota_set_limit(struct weir_quota *quota, double limit)
{
    if (limit == quota->limit)
        return;
    quota->limit = limit;
    weir_quota_forget(quota);
}

/* Samples above the limit: it is higher than believed, if they stay there. */
static void look_up(struct weir_quota *quota, double remaining, double ours, double noise,
                    int64_t window_us, int64_t now_us)
{
    if (remaining > quota->limit)
        weir_quota_set_limit(quota, ours);
    if (ours <= quota->limit * (1 + quota->doubt) + noise) {
        quota->above_us = WEIR_NEVER;
        return;
    }
    if (quota->above_us == WEIR_NEVER || ours < quota->above)
        quota->above = ours;
    if (quota->above_us == WEIR_NEVER)
        quota->above_us = now_us;
    if (now_us - quota->above_us > window_us / PERSISTS)
        weir_quota_set_limit(quota, quota->above);
}

static double draining(double amount, int64_t since_us, int64_t window_us, int64_t now_us)
{
    if (since_us == WEIR_NEVER || now_us - since_us >= window_us)
        return 0;
    return amount * (1 - (double)(now_us - since_us) / (double)window_us);
}

double weir_quota_draining(const struct weir_quota *quota, int64_t window_us, int64_t now_us)
{
    return draining(quota->first, quota->first_us, window_us, now_us);
}

/* The most that foreign use grew by within so many spans. */
static double rise_within(const struct weir_quota *quota, int spans)
{
    double most = 0;
    for (int from = WEIR_QUOTA_SPANS; from >= 0; from--) {
        for (int to = from; to >= 0 && from - to <= spans; to--) {
            double rise = quota->highest[to] - quota->lowest[from];
            if (quota->lowest[from] >= 0 && rise > most)
                most = rise;
        }
    }
    return most;
}

static double highest(const struct weir_quota *quota)
{
    double most = 0;
    for (int i = 0; i <= WEIR_QUOTA_SPANS; i++)
        most = quota->highest[i] > most ? quota->highest[i] : most;
    return most;
}

static void keep_spans(struct weir_quota *quota, int64_t window_us, int64_t now_us)
{
    int64_t span = now_us / span_us(window_us);
    int64_t passed = span - quota->span;
    if (passed > WEIR_QUOTA_SPANS)
        passed = WEIR_QUOTA_SPANS + 1;
    double kept = 1;
    for (int64_t i = 0; i < passed; i++) {
        kept *= RISE_FADES;
        memmove(quota->highest + 1, quota->highest, WEIR_QUOTA_SPANS * sizeof(double));
        memmove(quota->lowest + 1, quota->lowest, WEIR_QUOTA_SPANS * sizeof(double));
        quota->highest[0] = 0;
        quota->lowest[0] = -1;
    }
    for (int i = 0; passed > 0 && i < WEIR_QUOTA_RISES; i++)
        quota->rises[i] = larger(rise_within(quota, 1 << i), kept * quota->rises[i]);
    quota->most = highest(quota);
    quota->span = span;
    double fresh = quota->foreign - draining(quota->first, quota->first_us, window_us, now_us);
    fresh = fresh > 0 ? fresh : 0;
    weir_rhythm_note(&quota->rhythm, fresh, window_us, now_us);
    if (fresh > quota->highest[0])
        quota->highest[0] = fresh;
    if (quota->lowest[0] < 0 || fresh < quota->lowest[0])
        quota->lowest[0] = fresh;
}

static void keep_lately(struct weir_quota *quota, bool exact, int64_t window_us, int64_t now_us)
{
    int64_t number = now_us / (window_us / LATELY + 1);
    if (!exact)
        quota->lately[0] = 0;
    if (!exact || number != quota->lately_no) {
        quota->lately[1] = quota->lately[0];
        quota->lately[0] = 0;
    }
    quota->lately_no = number;
    if (quota->foreign > quota->lately[0])
        quota->lately[0] = quota->foreign;
}

/* What was used at the first sample has to drain. If it does not, the limit is lower. What has gone
 * in the last moments need not be in a header yet. */
static void look_down(struct weir_quota *quota, double ours, double noise, int64_t window_us,
                      int64_t now_us)
{
    int64_t late_us = window_us / LATE_PARTS < LATE_US ? window_us / LATE_PARTS : LATE_US;
    double due =
        quota->first - draining(quota->first, quota->first_us, window_us, now_us - late_us);
    double drained = quota->first - quota->foreign;
    if (!quota->drains && due > noise && drained < DRAINS * due)
        weir_quota_set_limit(
            quota, ours < quota->limit - quota->first ? ours : quota->limit - quota->first);
}

void weir_quota_sample(struct weir_quota *quota, double remaining, double used, double noise,
                       bool trusted, bool exact, int64_t window_us, int64_t now_us)
{
    double ours = remaining + used;
    if (trusted)
        look_up(quota, remaining, ours, noise, window_us, now_us);
    quota->foreign = ours < quota->limit ? quota->limit - ours : 0;
    quota->sample_us = now_us;
    if (trusted && quota->first_us != WEIR_NEVER)
        look_down(quota, ours, noise, window_us, now_us);
    if (quota->first_us == WEIR_NEVER) {
        quota->foreign = ours < quota->limit ? quota->limit - ours : 0;
        quota->first = quota->foreign;
        quota->first_us = now_us;
    }
    keep_lately(quota, trusted && exact, window_us, now_us);
    keep_spans(quota, window_us, now_us);
}

void weir_quota_haunt(struct weir_quota *quota, double missing, int64_t now_us)
{
    quota->ghost = missing;
    quota->ghost_us = now_us;
}

/* Whether what was there at the first sample may be taken to go on draining without a header that
 * says so: if it has been seen to as soon as it could be. */
static bool drains(const struct weir_quota *quota, double noise, int64_t window_us, int64_t now_us)
{
    double due = quota->first - draining(quota->first, quota->first_us, window_us, now_us);
    double due_then =
        quota->first - draining(quota->first, quota->first_us, window_us, quota->sample_us);
    bool seen = quota->first - quota->foreign >= DRAINS * due_then;
    return !quota->unbacked && due > DOUBTS * noise && (seen || due_then <= noise);
}

/* Foreign use as it is now. While answers come they say what it is. */
static double current(const struct weir_quota *quota, double noise, bool waits, int64_t window_us,
                      int64_t now_us)
{
    if (quota->first_us == WEIR_NEVER)
        return 0;
    double seen = quota->lately[1] > quota->lately[0] ? quota->lately[1] : quota->lately[0];
    if (!waits || !drains(quota, noise, window_us, now_us))
        return seen;
    double drained = draining(quota->first, quota->first_us, window_us, quota->sample_us) -
                     draining(quota->first, quota->first_us, window_us, now_us);
    return seen > drained ? seen - drained : 0;
}

/* As fast as it has grown so far, in the first window. */
static double extrapolated(const struct weir_quota *quota, double noise, int64_t window_us,
                           int64_t now_us)
{
    int64_t age_us = now_us - quota->first_us;
    double fresh = quota->foreign - draining(quota->first, quota->first_us, window_us, now_us);
    if (fresh < noise || age_us < window_us / 100)
        return 0;
    return fresh * CROWDED * (double)window_us / (double)age_us;
}

/* What foreign use may have grown by within a time. */
static double grown(const struct weir_quota *quota, int64_t within_us, int64_t window_us)
{
    int64_t one_us = span_us(window_us);
    if (within_us < one_us)
        return quota->rises[0] * (double)within_us / (double)one_us;
    for (int i = 1; i < WEIR_QUOTA_RISES; i++) {
        if (within_us <= one_us << i)
            return quota->rises[i];
    }
    return quota->rises[WEIR_QUOTA_RISES - 1];
}

double weir_quota_ghost(const struct weir_quota *quota, int64_t window_us, int64_t now_us)
{
    return draining(quota->ghost, quota->ghost_us, window_us, now_us);
}

double weir_quota_foreign(const struct weir_quota *quota, double noise, bool waits,
                          int64_t window_us, int64_t now_us)
{
    double ghost = weir_quota_ghost(quota, window_us, now_us);
    if (quota->first_us == WEIR_NEVER)
        return ghost;
    double now = current(quota, noise, waits, window_us, now_us);
    double most = larger(quota->most, quota->highest[0]);
    double risen = now;
    if (most > noise)
        risen += grown(quota, now_us - quota->sample_us, window_us);
    int64_t age_us = now_us - quota->first_us;
    if (age_us < window_us)
        risen = larger(extrapolated(quota, noise, window_us, now_us), risen);
    else if (age_us < 2 * window_us)
        risen = smaller(risen, YOUNG * most); /* it may not have been at its highest yet */
    else
        risen = smaller(risen, most);
    return larger(larger(risen, now), ghost);
}

double weir_quota_swing(const struct weir_quota *quota)
{
    double most = highest(quota);
    double least = most;
    for (int i = 0; i <= WEIR_QUOTA_SPANS; i++) {
        if (quota->lowest[i] >= 0)
            least = smaller(least, quota->lowest[i]);
    }
    return most - least;
}

double weir_quota_beside(const struct weir_quota *quota, double foreign)
{
    double ours = quota->limit - foreign;
    return ours > LEAST * quota->limit ? ours : LEAST * quota->limit;
}
