/* SPDX-License-Identifier: MIT */
/* The efficiency guard; see policy_budget_guard.h. */
#include "throttle/policy_budget_guard.h"

#include <math.h>

#define START       2.0   /* times the floor */
#define START_TELLS 6     /* answers that tell whether the first ones were alike */
#define START_STEEP 1.0   /* slope over its error, squared, from which the start waits */
#define ORDER_TELLS 2.9   /* answers of a first wave that tell whether they have an order */
#define ORDER_DOUBT 1.0   /* variances that they may be early by */
#define HURRY_TELLS 30    /* answers of a hurry that tell that as many may go on */
#define SLOWER      1.35  /* than the first answers: the start is over */
#define LATE_WEIGHT 0.125 /* of an answer among the last ones */
#define FORGET      0.997
#define RISE        1.5  /* a round */
#define RISE_WAITS  8    /* rounds at most, for those that were sent before the last one */
#define RISE_AGAIN  1.08 /* a window after a fall, and from then on */
#define FALL_ROUNDS 3    /* between two falls */
#define BRIEF       2.0  /* times the floor, of a job that does not have to make its budget last */
#define FADE        0.3  /* what counts of the samples before a fall */
#define SIGNIFICANT 3.0  /* slope over its standard error */
#define SPREAD_DOUBT                                                                               \
    2.0 /* more of that, for durations that differ anyway: the short ones come first */
#define WIDE          0.8  /* spread from which fourth roots are looked at */
#define WIDE_DOUBT    2.0  /* more of the error, then: the short ones come first */
#define INFLATION     0.15 /* growth of durations from the floor to the cap, from which it falls */
#define LATELY_WEIGHT 0.1  /* of an answer among those of lately */
#define HOPEFUL       0.85 /* of what they take, that a fall is to bring them to at most, and … */
#define BETTER        0.1  /* … the part of that gain which has to come */
#define WASTE         0.25 /* part of one more at a time that is lost to all others being slower */
#define WEIGHT_MIN    8
#define LEVEL_SAMPLES 8    /* that a level is judged by, and … */
#define LEVEL_SPREAD  24   /* … times the square of how far durations differ */
#define SPREAD_MAX    1.0  /* up to which levels can be told apart */
#define LEVEL_MEMORY  2    /* times as many are kept */
#define LEVEL_WINDOWS 3    /* that a level is remembered */
#define LEVEL_BETTER  1.04 /* times as much has to get done to change the level */
#define LEVEL_TRIES   8    /* in a window, of the next level up */
#define DRIFT_MEMORY  64   /* samples in which the other levels follow one that gets slower */

/* --- samples ---------------------------------------------------------------------------------- */

/* How far durations differ anyway: the square of their standard deviation over their mean. */
static double spread(const struct weir_guard *guard)
{
    double mean = guard->y / guard->weight;
    double variance = guard->yy / guard->weight - mean * mean;
    return variance > 0 ? variance / (mean * mean) : 0;
}

/* They differ so far that a few long ones are most of their sum, and hide what the others tell:
 * then their fourth roots tell it. */
static bool is_wide(const struct weir_guard *guard)
{
    return spread(guard) > WIDE;
}

/* Samples that tell what a level takes. */
static double enough(const struct weir_guard *guard)
{
    return LEVEL_SAMPLES + LEVEL_SPREAD * spread(guard);
}

/* What a level takes, and how far all of them have got slower or faster since. */
static void remember_level(struct weir_guard *guard, double in_flight, double y, int64_t now_us)
{
    uint32_t n = (uint32_t)(in_flight + 0.5);
    if (n < 1 || n >= WEIR_GUARD_LEVELS)
        return;
    struct weir_guard_level *level = &guard->levels[n];
    double off = level->weight > 0 ? y / level->mean_us - 1 : 0;
    off = off > 1 ? 1 : off;
    double most = LEVEL_MEMORY * enough(guard);
    level->weight = level->weight < most ? level->weight + 1 : most;
    level->mean_us += (y - level->mean_us) / level->weight;
    level->seen_us = now_us;
    for (uint32_t i = 1; i < WEIR_GUARD_LEVELS; i++) {
        if (i != n)
            guard->levels[i].mean_us *= 1 + off / DRIFT_MEMORY;
    }
}

/* Whether the answers so far took longer the more there were in flight: the slope of their
 * durations over its standard error, squared; below 0 if they took less. */
static double steepness(const struct weir_guard *guard)
{
    double n = guard->weight;
    double mean = guard->y / n;
    double sxx = guard->xx - guard->x * guard->x / n;
    double sxy = guard->xy - guard->x * guard->y / n;
    double syy = guard->yy - guard->y * guard->y / n;
    if (sxx < 1)
        return START_STEEP;
    double b = sxy / sxx;
    double rest = (syy - b * sxy) / (n - 2);
    double least = mean * mean / 100; /* all alike, or nearly */
    double squared = b * b * sxx / (rest > least ? rest : least);
    return b > 0 ? squared : -squared;
}

/* The requests of the first wave have more and more beside them: near a knee that shows. */
static bool seems_near_knee(const struct weir_guard *guard)
{
    return guard->weight >= START_TELLS && steepness(guard) > START_STEEP;
}

/* The first wave comes back in no order if its requests do not slow each other. If they do, those
 * that were sent first come first: the mean of their numbers is low. */
static bool has_no_order(const struct weir_guard *guard)
{
    double n = guard->weight;
    double middle = guard->start_cap / 2;
    double low = middle - guard->x / n;
    return n >= ORDER_TELLS && (low <= 0 || low * low * n <= ORDER_DOUBT * middle * middle / 3);
}

/* Answers clock the start: with each that takes no longer than the first ones, one more may go. */
static void extend_start(struct weir_guard *guard, double in_flight, double y, int64_t now_us)
{
    if (in_flight <= guard->start_cap && guard->cap <= 2 * guard->start_cap) {
        guard->first_count++;
        guard->first_us += (y - guard->first_us) / guard->first_count;
        guard->late_us = guard->first_us;
    } else {
        guard->late_us += LATE_WEIGHT * (y - guard->late_us);
    }
    if (guard->late_us > SLOWER * guard->first_us) {
        guard->started = true;
        guard->rose_us = now_us;
        guard->cap /= 2;
    } else if (guard->reached && !seems_near_knee(guard)) {
        guard->cap += 1;
    }
}

void weir_guard_sample(struct weir_guard *guard, double in_flight, int64_t duration_us,
                       int64_t now_us)
{
    double y = (double)duration_us;
    guard->weight = guard->weight * FORGET + 1;
    guard->x = guard->x * FORGET + in_flight;
    guard->y = guard->y * FORGET + y;
    guard->xx = guard->xx * FORGET + in_flight * in_flight;
    guard->xy = guard->xy * FORGET + in_flight * y;
    guard->yy = guard->yy * FORGET + y * y;
    double root = sqrt(sqrt(y > 0 ? y : 0));
    guard->root = guard->root * FORGET + root;
    guard->x_root = guard->x_root * FORGET + in_flight * root;
    guard->root_root = guard->root_root * FORGET + root * root;
    guard->since++;
    guard->lately_us += (guard->lately_us > 0 ? LATELY_WEIGHT : 1) * (y - guard->lately_us);
    if (y <= 0 || guard->cap <= 0)
        return;
    remember_level(guard, in_flight, y, now_us);
    if (!guard->started)
        extend_start(guard, in_flight, y, now_us);
}

/* --- slope ------------------------------------------------------------------------------------ */

/* How much longer a request takes for each one more in flight, as a share of what it takes with
 * `floor` in flight; 0: nothing that is significant. */
static double slope(const struct weir_guard *guard, double floor)
{
    double n = guard->weight;
    if (n < WEIGHT_MIN)
        return 0;
    bool wide = is_wide(guard);
    double y = wide ? guard->root : guard->y;
    double sxx = guard->xx - guard->x * guard->x / n;
    double sxy = (wide ? guard->x_root : guard->xy) - guard->x * y / n;
    double syy = (wide ? guard->root_root : guard->yy) - y * y / n;
    if (sxx < n * 0.25 || sxy <= 0)
        return 0;
    double b = sxy / sxx;
    double rest = syy - b * sxy;
    double error_squared = (rest > 0 ? rest : 0) / (n - 2) / sxx;
    double significant = SIGNIFICANT + (wide ? WIDE_DOUBT : SPREAD_DOUBT * spread(guard));
    if (b * b <= significant * significant * error_squared)
        return 0;
    double at_floor = y / n + b * (floor - guard->x / n);
    double least = y / n / 4; /* the line may be too steep to be believed down there */
    return (wide ? 4 : 1) * b / (at_floor > least ? at_floor : least);
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
    guard->root *= FADE;
    guard->x_root *= FADE;
    guard->root_root *= FADE;
}

/* --- levels ----------------------------------------------------------------------------------- */

static bool is_known(const struct weir_guard *guard, double n, int64_t window_us, int64_t now_us)
{
    if (n < 1 || n >= WEIR_GUARD_LEVELS)
        return false;
    const struct weir_guard_level *level = &guard->levels[(uint32_t)n];
    return level->weight >= enough(guard) && now_us - level->seen_us < LEVEL_WINDOWS * window_us;
}

/* What gets done with n at a time, if the budget allows no more than the floor does. Being slower
 * counts twice: others are there who do as we do. */
static double worth(const struct weir_guard *guard, double n, double floor)
{
    double mean = guard->levels[(uint32_t)n].mean_us;
    return (n < floor ? n : floor) / (mean * mean);
}

static void set_cap(struct weir_guard *guard, double cap, int64_t now_us)
{
    if (cap < guard->cap) {
        guard->fallen = true;
        guard->fell_us = now_us;
        fade(guard);
    }
    guard->changed_us = now_us;
    guard->cap = cap;
    guard->since = 0;
}

/* At the floor and below it: the neighbour that gets most done. One that is not known is tried from
 * time to time. Returns false if it may as well go up from the floor. */
static bool look_at_levels(struct weir_guard *guard, double floor, int64_t window_us,
                           int64_t now_us)
{
    double n = (double)(uint32_t)guard->cap;
    if (guard->since < enough(guard))
        return n < floor;
    bool here = is_known(guard, n, window_us, now_us);
    bool below = is_known(guard, n - 1, window_us, now_us);
    bool above = is_known(guard, n + 1, window_us, now_us);
    double better = here ? LEVEL_BETTER * worth(guard, n, floor) : 0;
    bool down = here && below && worth(guard, n - 1, floor) > better;
    bool up = !down && here && above && guard->reached && worth(guard, n + 1, floor) > better;
    if (!down && !up)
        down = !below && n > 1 && is_too_high(guard, floor);
    if (!down && !up && n >= floor)
        return false;
    if (!down && !up)
        up = guard->reached && now_us - guard->changed_us > window_us / LEVEL_TRIES &&
             (!above || worth(guard, n + 1, floor) > better / LEVEL_BETTER);
    if (down || up)
        set_cap(guard, down ? n - 1 : n + 1, now_us);
    return true;
}

/* What answers take by the line with so many in flight. */
static double on_line(const struct weir_guard *guard, double in_flight)
{
    double n = guard->weight;
    double sxx = guard->xx - guard->x * guard->x / n;
    double sxy = guard->xy - guard->x * guard->y / n;
    return guard->y / n + sxy / sxx * (in_flight - guard->x / n);
}

/* Down to the floor; it will be seen whether that helps. */
static void fall(struct weir_guard *guard, double floor, int64_t now_us)
{
    double at_floor = on_line(guard, floor);
    double least = guard->y / guard->weight / 4; /* as in slope() */
    at_floor = at_floor > least ? at_floor : least;
    guard->hope_us = guard->lately_us - BETTER * (guard->lately_us - at_floor);
    guard->on_trial = at_floor < HOPEFUL * guard->lately_us && !is_wide(guard);
    if (guard->cap > guard->before || !guard->fallen)
        guard->before = guard->cap;
    guard->started = true;
    set_cap(guard, floor, now_us);
}

/* Fewer at a time have not made it faster: it has got slower by itself. As many as before may go,
 * and for a window that stays so: nothing is blamed on their number. */
static void judge_fall(struct weir_guard *guard, int64_t window_us, int64_t now_us)
{
    guard->on_trial = false;
    if (guard->lately_us < guard->hope_us)
        return;
    guard->cap = guard->before;
    guard->fallen = false;
    guard->quiet_us = now_us + window_us;
    guard->weight = guard->x = guard->y = guard->xx = guard->xy = guard->yy = 0;
    guard->root = guard->x_root = guard->root_root = 0;
}

void weir_guard_await(struct weir_guard *guard, int64_t sent_us)
{
    guard->oldest_us = sent_us;
}

/* All have come back that were sent before the last rise. Of requests that differ widely the short
 * ones come first, and until the long ones do, more at a time seem to cost nothing. */
static bool has_come_back(const struct weir_guard *guard, int64_t round_us, int64_t now_us)
{
    return guard->oldest_us >= guard->rose_us || now_us - guard->rose_us > RISE_WAITS * round_us;
}

static void rise(struct weir_guard *guard, int64_t now_us)
{
    guard->cap = (guard->fallen ? RISE_AGAIN : RISE) * guard->cap;
    guard->rose_us = now_us;
}

static void look(struct weir_guard *guard, double floor, int64_t round_us, int64_t window_us,
                 int64_t now_us)
{
    int64_t since_us = now_us - guard->fell_us;
    if (guard->fallen && since_us < FALL_ROUNDS * round_us)
        return;
    if (guard->on_trial && guard->since >= enough(guard))
        judge_fall(guard, window_us, now_us);
    if (now_us < guard->quiet_us)
        return;
    bool tells = spread(guard) < SPREAD_MAX;
    if (guard->fallen && guard->cap <= floor && tells &&
        look_at_levels(guard, floor, window_us, now_us))
        return;
    if (guard->cap > floor && is_too_high(guard, floor)) {
        fall(guard, floor, now_us);
    } else if (guard->fallen && guard->cap < floor) { /* levels cannot be told apart */
        set_cap(guard, floor, now_us);
    } else if (guard->reached && guard->started && (!guard->fallen || since_us > window_us) &&
               has_come_back(guard, round_us, now_us)) {
        rise(guard, now_us);
    }
}

static void begin(struct weir_guard *guard, double cap, int64_t now_us)
{
    guard->cap = cap;
    guard->start_cap = cap;
    guard->round_us = now_us;
}

/* It starts as usual; unless it has fallen meanwhile, or so many have been seen not to slow each
 * other: that was learned, and stays. */
static void take_back(struct weir_guard *guard, double cap, int64_t now_us)
{
    guard->hurried = false;
    if (guard->fallen) {
        guard->cap = guard->cap < cap ? guard->cap : cap;
        guard->before = guard->before < cap ? guard->before : cap;
        return;
    }
    if (guard->started && guard->weight >= HURRY_TELLS)
        return;
    begin(guard, cap, now_us);
    guard->started = false;
}

void weir_guard_hurry(struct weir_guard *guard, double cap, double floor, bool several,
                      int64_t now_us)
{
    if (guard->hurried && cap <= 0) {
        take_back(guard, START * floor, now_us);
    } else if (guard->started) {
        return;
    } else if (guard->cap <= 0 && cap > START * floor) {
        begin(guard, cap, now_us);
        guard->hurried = true;
    } else if (guard->cap > 0 && guard->cap < cap && !seems_near_knee(guard) &&
               (several || has_no_order(guard))) {
        guard->cap = cap;
        guard->hurried = true;
        guard->started = true;
    }
}

void weir_guard_turn(struct weir_guard *guard, double floor, bool brief, double ceiling,
                     int64_t round_us, int64_t window_us, int64_t now_us)
{
    if (guard->cap <= 0)
        begin(guard, START * floor, now_us);
    if (brief)
        floor = BRIEF * floor < ceiling ? BRIEF * floor : ceiling;
    if (brief && !guard->brief && guard->fallen && guard->cap < floor)
        set_cap(guard, floor, now_us); /* it fell as long as its budget had to last */
    guard->brief = brief;
    if (now_us - guard->round_us >= round_us) {
        look(guard, floor, round_us, window_us, now_us);
        guard->round_us = now_us;
        guard->reached = false;
    }
    if (guard->cap < 1)
        guard->cap = 1;
    if (guard->cap > ceiling) {
        guard->cap = ceiling;
        guard->started = true;
    }
}
