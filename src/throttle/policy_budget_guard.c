/* SPDX-License-Identifier: MIT */
/* The efficiency guard; see policy_budget_guard.h. */
#include "throttle/policy_budget_guard.h"

#define FORGET      0.997
#define RISE        1.5  /* a round */
#define RISE_AGAIN  1.08 /* a window after a fall, and from then on */
#define FALL        0.85
#define FALL_ROUNDS 3    /* between two falls */
#define FADE        0.3  /* what counts of the samples before a fall */
#define SIGNIFICANT 3.0  /* slope over its standard error */
#define INFLATION   0.15 /* growth of durations from the floor to the cap, from which it falls */
#define WASTE       0.25 /* part of one more at a time that is lost to all others being slower */
#define WEIGHT_MIN  8

void weir_guard_sample(struct weir_guard *guard, double in_flight, int64_t duration_us)
{
    double y = (double)duration_us;
    guard->weight = guard->weight * FORGET + 1;
    guard->x = guard->x * FORGET + in_flight;
    guard->y = guard->y * FORGET + y;
    guard->xx = guard->xx * FORGET + in_flight * in_flight;
    guard->xy = guard->xy * FORGET + in_flight * y;
    guard->yy = guard->yy * FORGET + y * y;
}

/* How much longer a request takes for each one more in flight, as a share of what it takes with
 * `floor` in flight; 0: nothing that is significant. */
static double slope(const struct weir_guard *guard, double floor)
{
    double n = guard->weight;
    if (n < WEIGHT_MIN)
        return 0;
    double sxx = guard->xx - guard->x * guard->x / n;
    double sxy = guard->xy - guard->x * guard->y / n;
    double syy = guard->yy - guard->y * guard->y / n;
    if (sxx < n * 0.25 || sxy <= 0)
        return 0;
    double b = sxy / sxx;
    double rest = syy - b * sxy;
    double error_squared = (rest > 0 ? rest : 0) / (n - 2) / sxx;
    if (b * b <= SIGNIFICANT * SIGNIFICANT * error_squared)
        return 0;
    double at_floor = guard->y / n + b * (floor - guard->x / n);
    double least = guard->y / n / 4; /* the line may be too steep to be believed down there */
    return b / (at_floor > least ? at_floor : least);
}

/* The cap is too high if what is above the floor only makes everything slower; and even below it if
 * most of what one more at a time gets done is lost to the others being slower. */
static bool is_too_high(const struct weir_guard *guard, double floor)
{
    double b = slope(guard, guard->cap < floor ? guard->cap : floor);
    return b * (guard->cap - floor) > INFLATION || b * guard->cap > WASTE;
}

/* What was seen above the new cap says little about it. */
static void fade(struct weir_guard *guard)
{
    guard->weight *= FADE;
    guard->x *= FADE;
    guard->y *= FADE;
    guard->xx *= FADE;
    guard->xy *= FADE;
    guard->yy *= FADE;
}

static void look(struct weir_guard *guard, double floor, int64_t round_us, int64_t window_us,
                 int64_t now_us)
{
    int64_t since_us = now_us - guard->fell_us;
    int64_t hold_us = guard->cap < floor ? window_us / 8 : window_us;
    if (guard->fallen && since_us < FALL_ROUNDS * round_us)
        return;
    if (is_too_high(guard, floor)) {
        guard->cap = guard->cap > floor ? floor : FALL * guard->cap;
        guard->fell_us = now_us;
        guard->fallen = true;
        fade(guard);
    } else if (guard->reached && (!guard->fallen || since_us > hold_us)) {
        guard->cap = (guard->fallen ? RISE_AGAIN : RISE) * guard->cap;
    }
}

void weir_guard_turn(struct weir_guard *guard, double floor, double ceiling, int64_t round_us,
                     int64_t window_us, int64_t now_us)
{
    if (guard->cap <= 0) {
        guard->cap = floor;
        guard->round_us = now_us;
    }
    if (now_us - guard->round_us >= round_us) {
        look(guard, floor, round_us, window_us, now_us);
        guard->round_us = now_us;
        guard->reached = false;
    }
    if (guard->cap < 1)
        guard->cap = 1;
    if (guard->cap > ceiling)
        guard->cap = ceiling;
}
