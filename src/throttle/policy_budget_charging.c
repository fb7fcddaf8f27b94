/* SPDX-License-Identifier: MIT */
/* How a server charges execution time; see policy_budget_charging.h. */
#include "throttle/policy_budget_charging.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"

#define FORGET        0.997 /* weight that a sample keeps when the next one comes */
#define SAMPLES_MIN   12
#define SHARED_MIN    40  /* samples before all servers are taken for one */
#define BETTER        0.7 /* a guess has to leave this much less unexplained */
#define SHARED_BETTER 0.3
#define MOVED_MIN     0.01 /* of the budget: own use before headers are judged */
#define RHO_MIN       0.05
#define RHO_MAX       1.25
#define STALE_US      (5 * WEIR_US_PER_S)

struct weir_guess weir_charging_guess(uint32_t guess)
{
    return (struct weir_guess){
        .series = (enum weir_series)(guess % WEIR_CHARGING_RULES),
        .lag_us = guess / WEIR_CHARGING_RULES % WEIR_CHARGING_LAGS ? STALE_US : 0,
        .shared = guess / (WEIR_CHARGING_RULES * WEIR_CHARGING_LAGS) != 0,
    };
}

void weir_charging_init(struct weir_charging *charging)
{
    *charging = (struct weir_charging){ .rho = 1 };
}

static void learn(struct weir_fit *fit, double x, double y)
{
    fit->xx = fit->xx * FORGET + x * x;
    fit->xy = fit->xy * FORGET + x * y;
    fit->yy = fit->yy * FORGET + y * y;
}

static double slope(const struct weir_fit *fit)
{
    return fit->xx > 0 ? -fit->xy / fit->xx : 0;
}

/* What the line through the origin leaves unexplained. */
static double rest(const struct weir_fit *fit)
{
    double left = fit->xx > 0 ? fit->yy - fit->xy * fit->xy / fit->xx : fit->yy;
    return left > 0 ? left : 0;
}

static void choose(struct weir_charging *charging, bool shared_possible)
{
    double least = rest(&charging->fits[charging->best]);
    for (uint32_t i = 0; i < WEIR_CHARGING_GUESSES; i++) {
        bool shared = weir_charging_guess(i).shared && !weir_charging_guess(charging->best).shared;
        if (shared && (!shared_possible || charging->samples < SHARED_MIN))
            continue;
        if (slope(&charging->fits[i]) > RHO_MIN &&
            rest(&charging->fits[i]) < least * (shared ? SHARED_BETTER : BETTER)) {
            charging->best = i;
            least = rest(&charging->fits[i]);
        }
    }
}

static void judge(struct weir_charging *charging)
{
    const struct weir_fit *fit = &charging->fits[charging->best];
    double rho = slope(fit);
    charging->trusted = rho > RHO_MIN;
    if (charging->trusted)
        charging->rho = rho > RHO_MAX ? RHO_MAX : rho;
}

void weir_charging_hear(struct weir_charging *charging, struct weir_heard *last, double remaining,
                        const double *used, double budget, bool shared_possible)
{
    if (last->known && remaining > 0) {
        double y = remaining - last->remaining;
        for (uint32_t i = 0; i < WEIR_CHARGING_GUESSES; i++)
            learn(&charging->fits[i], used[i] - last->used[i], y);
        charging->moved += fabs(used[0] - last->used[0]);
        charging->samples++;
    }
    last->known = remaining > 0; /* none left: it may be less than none */
    last->remaining = remaining;
    memcpy(last->used, used, sizeof(last->used));
    if (charging->samples < SAMPLES_MIN || charging->moved < MOVED_MIN * budget)
        return;
    choose(charging, shared_possible);
    judge(charging);
}
