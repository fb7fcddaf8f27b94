/* SPDX-License-Identifier: MIT */
/* How a server charges execution time; see policy_budget_charging.h. */
#include "throttle/policy_budget_charging.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"

#define EXCITED      0.02  /* of the budget that own use has to leave its drift by to be read */
#define PULL         10    /* samples of that size that speak for the ρ that we have */
#define NOT_WORSE    20.0  /* times what the best guess leaves unexplained */
#define CLEARLY      0.1   /* left unexplained by a guess that is wrong */
#define TOO_GOOD     0.002 /* left unexplained by a guess that is right, … */
#define TOO_BAD      0.03  /* … and by one among noise */
#define EXPLAINED    0.9
#define USED_MIN     0.03 /* of the budget */
#define USED_MOSTLY  0.5
#define MOSTLY_ALL   1.01 /* times the whole: what is in flight is not known to the last drop */
#define TREND_LEAST  4    /* part of a window, under a new guess */
#define RHO_DROP     0.5
#define RHO_STEP     0.2
#define RHO_TURN     0.02
#define FORGET       0.997 /* weight that a sample keeps when the next one comes */
#define SAMPLES_MIN  12
#define BETTER       0.7 /* a guess has to leave this much less unexplained, … */
#define BETTER_STALE 0.4 /* … and one that takes headers for old, this much */
#define RIDGE        0.01
#define LEAP         0.4  /* of the budget */
#define JUMP         0.1  /* of it, in one step, that our own use does not explain */
#define MOVED_MIN    0.01 /* of the budget: own use before headers are judged */
#define RHO_MIN      0.05
#define RHO_MAX      1.0
#define STALE_PARTS  4 /* of a window that headers may be old */

struct weir_guess weir_charging_guess(uint32_t guess)
{
    return (struct weir_guess){
        .series = (enum weir_series)(guess % WEIR_CHARGING_RULES),
        .lag_us = guess / WEIR_CHARGING_RULES ? WEIR_CHARGING_LAG_US : 0,
    };
}

void weir_charging_init(struct weir_charging *charging)
{
    *charging = (struct weir_charging){ .rho = 1 };
}

static void learn(struct weir_fit *fit, double x, double t, double y)
{
    fit->xx = fit->xx * FORGET + x * x;
    fit->xt = fit->xt * FORGET + x * t;
    fit->tt = fit->tt * FORGET + t * t;
    fit->xy = fit->xy * FORGET + x * y;
    fit->ty = fit->ty * FORGET + t * y;
    fit->yy = fit->yy * FORGET + y * y;
}

struct line {
    double rho;  /* what is left falls by so much for each microsecond of ours */
    double rest; /* what that leaves unexplained */
};

/* As long as our own use goes on evenly it cannot be told from somebody else's: then it is ours. */
static struct line solve(const struct weir_fit *fit)
{
    double tt = fit->tt * (1 + RIDGE);
    double det = fit->xx * tt - fit->xt * fit->xt;
    if (fit->xx <= 0 || det <= 0)
        return (struct line){ 0, fit->yy };
    double by_use = (fit->xy * tt - fit->ty * fit->xt) / det;
    double by_time = (fit->xx * fit->ty - fit->xt * fit->xy) / det;
    double rest = fit->yy - by_use * fit->xy - by_time * fit->ty;
    return (struct line){ -by_use, rest > 0 ? rest : 0 };
}

/* Unless requests tell that they are not. In a window of a few seconds, headers that are old cannot
 * be told from others. */
static bool may_be_old(const struct weir_setting *setting, int64_t lag_us)
{
    return !setting->current && lag_us <= setting->window_us / STALE_PARTS;
}

static void choose(struct weir_charging *charging, const struct weir_setting *setting)
{
    if (setting->current)
        charging->best %= WEIR_CHARGING_RULES;
    double least = solve(&charging->fits[charging->best]).rest;
    for (uint32_t i = 0; i < WEIR_CHARGING_GUESSES; i++) {
        struct line line = solve(&charging->fits[i]);
        int64_t lag_us = weir_charging_guess(i).lag_us;
        if (lag_us && !may_be_old(setting, lag_us))
            break;
        double better = lag_us ? BETTER_STALE : BETTER;
        if (line.rest < least * better && line.rho > RHO_MIN) {
            charging->best = i;
            least = line.rest;
        }
    }
}

/* What is in flight makes a charge at the beginning hard to see: how long it takes is not known,
 * and what was sent while an answer was on its way is not in its header. A guess that is nearly
 * right but not quite may be wrong then. */
static void judge(struct weir_charging *charging)
{
    struct line best = solve(&charging->fits[charging->best]);
    uint32_t lag = charging->best / WEIR_CHARGING_RULES;
    uint32_t begin = WEIR_SERIES_AT_BEGIN + WEIR_CHARGING_RULES * lag;
    const struct weir_fit *fit = &charging->fits[charging->best];
    bool crowded = fit->yy > fit->xx; /* it moves by more than we use: somebody else is there */
    charging->trusted = best.rho > RHO_MIN || (charging->trusted && crowded);
    double left = best.rest / (fit->yy + 1);
    double at_begin = solve(&charging->fits[begin]).rest;
    bool alike = at_begin < NOT_WORSE * best.rest;
    charging->at_begin = alike || (left > TOO_GOOD && left < TOO_BAD);
    charging->later = !alike && at_begin > CLEARLY * (fit->yy + 1);
}

/* --- the long run ----------------------------------------------------------------------------- */

static void extend(struct weir_trend *trend, double keep, double t, double x, double y)
{
    trend->weight = trend->weight * keep + 1;
    trend->t = trend->t * keep + t;
    trend->x = trend->x * keep + x;
    trend->y = trend->y * keep + y;
    trend->tt = trend->tt * keep + t * t;
    trend->tx = trend->tx * keep + t * x;
    trend->ty = trend->ty * keep + t * y;
    trend->xx = trend->xx * keep + x * x;
    trend->xy = trend->xy * keep + x * y;
    trend->yy = trend->yy * keep + y * y;
}

/* One answer does not say much: it may turn ρ only so far. */
static void turn_rho(struct weir_charging *charging, double rho)
{
    double most = RHO_TURN * charging->rho;
    double turn = rho - charging->rho;
    turn = turn > most ? most : turn < -most ? -most : turn;
    rho = charging->rho + turn;
    rho = rho < RHO_MIN ? RHO_MIN : rho;
    charging->rho = rho > RHO_MAX ? RHO_MAX : rho;
}

/* Read ρ off a trend: y over x, with a constant and a drift taken out of both. It has to explain
 * nearly all of what is left of y: what others do is not always steady. Where the noise is in x,
 * x over y is read instead: noise in what one divides by makes the quotient too small. */
static void read_trend(struct weir_charging *charging, const struct weir_trend *trend, double most,
                       const struct weir_setting *setting)
{
    double n = trend->weight;
    double stt = trend->tt - trend->t * trend->t / n;
    double stx = trend->tx - trend->t * trend->x / n;
    double sty = trend->ty - trend->t * trend->y / n;
    if (stt <= 0)
        return;
    double sxx = trend->xx - trend->x * trend->x / n - stx * stx / stt;
    double sxy = trend->xy - trend->x * trend->y / n - stx * sty / stt;
    double syy = trend->yy - trend->y * trend->y / n - sty * sty / stt;
    double least = EXCITED * EXCITED * setting->budget * setting->budget;
    if (sxx < least * n || sxy * sxy < EXPLAINED * sxx * syy)
        return;
    double pull = PULL * least;
    double rho = (-sxy + pull * charging->rho) / (sxx + pull);
    if (setting->scattered && sxy < 0)
        rho = (syy + pull * charging->rho) / (-sxy + pull);
    turn_rho(charging, rho < most ? rho : most);
}

/* What is left and what we use cannot be more than the whole: then we are charged less. Unless it
 * is much more; then the whole has grown. */
static void bound_rho(struct weir_charging *charging, double remaining, double used, double budget,
                      bool told)
{
    if (used < USED_MIN * budget || remaining + charging->rho * used <= budget)
        return;
    double rho = (budget - remaining) / used;
    if (told || rho > RHO_DROP * charging->rho)
        charging->rho += (rho - charging->rho) * RHO_STEP;
}

/* The same for what a trend may say: of a window that is mostly ours it cannot be more. */
static double most_rho(const struct weir_charging *charging, const struct weir_heard *heard,
                       double budget)
{
    double used = heard->used[charging->best];
    double rho = used > 0 ? (budget - heard->remaining) / used : RHO_MAX;
    bool ours = charging->trusted && used >= USED_MOSTLY * budget;
    return ours && rho > RHO_DROP * charging->rho ? rho : RHO_MAX;
}

static void follow(struct weir_charging *charging, struct weir_heard *heard,
                   const struct weir_setting *setting, int64_t now_us)
{
    int64_t window_us = setting->window_us;
    if (heard->trend.weight <= 0 || heard->guess != charging->best) {
        bool another = heard->trend.weight > 0; /* a short trend says little, and ρ is known */
        heard->read_us = another ? now_us + window_us / TREND_LEAST : now_us;
        heard->trend = (struct weir_trend){ 0 };
        heard->guess = charging->best;
        heard->first_us = now_us;
        heard->trend_us = now_us;
    }
    double window = (double)window_us;
    double keep = 1 / (1 + (double)(now_us - heard->trend_us) / window);
    heard->trend_us = now_us;
    extend(&heard->trend, keep, (double)(now_us - heard->first_us) / window,
           heard->used[charging->best], heard->remaining + setting->draining);
    double most = setting->budget + setting->noise;
    if (now_us >= heard->read_us)
        read_trend(charging, &heard->trend, most_rho(charging, heard, MOSTLY_ALL * most), setting);
    if (charging->trusted)
        bound_rho(charging, heard->remaining, heard->used[charging->best], most, setting->told);
}

void weir_charging_forget(struct weir_charging *charging)
{
    *charging = (struct weir_charging){ .rho = charging->rho, .best = charging->best };
}

/* What is left has leapt by more than anybody can have used or freed: a header that was wrong is
 * right now, or the other way round. What was learned from one says nothing of the other, but for
 * the share that is charged. */
static void notice_leap(struct weir_charging *charging, struct weir_heard *last, double remaining,
                        const double *used, const struct weir_setting *setting)
{
    double own = fabs(used[charging->best] - last->used[charging->best]) + setting->kept +
                 setting->gone[charging->best];
    if (!last->known || fabs(remaining - last->remaining) <= LEAP * setting->budget + own)
        return;
    weir_charging_forget(charging);
    *last = (struct weir_heard){ 0 };
}

/* A limit that was changed: such a step has nothing to do with what we use under any guess. It
 * counts by its square, as much as ten thousand of a hundredth of it, and would hide them for long.
 */
static bool is_jump(const struct weir_heard *last, double y, const double *used,
                    const struct weir_setting *setting)
{
    double most = 0;
    for (uint32_t i = 0; i < WEIR_CHARGING_GUESSES; i++)
        most = fmax(most, fabs(used[i] - last->used[i]) + setting->gone[i]);
    return fabs(y) > JUMP * setting->budget + most;
}

void weir_charging_hear(struct weir_charging *charging, struct weir_heard *last, double remaining,
                        const double *used, const struct weir_setting *setting, int64_t now_us)
{
    notice_leap(charging, last, remaining, used, setting);
    double y = remaining - last->remaining;
    bool unsure = setting->coarse || setting->gone[charging->best] > 0; /* how much has gone */
    bool step = unsure && y > 0;
    if (last->known && remaining > 0 && !step && !is_jump(last, y, used, setting)) {
        for (uint32_t i = 0; i < WEIR_CHARGING_GUESSES; i++)
            learn(&charging->fits[i], used[i] - last->used[i] + setting->gone[i],
                  (double)(now_us - last->at_us), y);
        charging->moved += fabs(used[0] - last->used[0]);
        charging->samples++;
    }
    last->known = remaining > 0; /* none left: it may be less than none */
    last->at_us = now_us;
    last->remaining = remaining;
    memcpy(last->used, used, sizeof(last->used));
    if (charging->samples >= SAMPLES_MIN && charging->moved >= MOVED_MIN * setting->budget) {
        choose(charging, setting);
        judge(charging);
    }
    if (remaining > 0 && !unsure)
        follow(charging, last, setting, now_us);
}
