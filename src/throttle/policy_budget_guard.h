/* SPDX-License-Identifier: MIT */
/*
 * The efficiency guard: how many requests at a time a server takes before each of them gets slower.
 *
 * A server that is saturated may not refuse anything; everything just takes longer, and the longer
 * time is charged. The guard keeps a cap on what is in flight:
 *
 *     start ── every answer allows one more, as long as answers take no longer than the first ones,
 *       │      and do not seem to take longer the more there are; a short job begins with more
 *     search ─ half as many again each round while nothing gets slower, once all have come back
 * that │      were sent before the last time; down to the floor (what │      just uses the budget
 * up) if durations grow *with the number in flight*: a straight │      line of the duration over
 * that number, whose slope has to be significant. If that │      makes nothing faster, they have
 * got slower by themselves, and the cap is what it was ▼ levels ─ from the floor down, what each
 * number at a time gets done is remembered, and the best is kept
 *
 * Batches that get slower by themselves do not lower it: what a level takes is remembered as a
 * part of what everything took lately.
 */
#ifndef WEIR_THROTTLE_POLICY_BUDGET_GUARD_H
#define WEIR_THROTTLE_POLICY_BUDGET_GUARD_H

#include <stdbool.h>
#include <stdint.h>

#define WEIR_GUARD_LEVELS 17

/* What requests take with so many in flight. */
struct weir_guard_level {
    double weight; /* samples, at most so many that old ones fade; 0: not known */
    double mean_us;
    int64_t seen_us;
};

struct weir_guard {
    double cap;                      /* requests in flight; 0: not begun */
    double weight, x, y, xx, xy, yy; /* sums, old samples fading */
    double root, x_root, root_root;  /* the same of fourth roots of durations */
    int64_t round_us;                /* when the cap was looked at last */
    bool reached;                    /* since then */
    int64_t oldest_us;               /* when the oldest that is in flight was sent */
    int64_t rose_us;                 /* the start was over, or more were allowed */
    bool started;                    /* the start is over */
    bool hurried;                    /* it began with more than usual */
    bool brief;                      /* the budget did not have to last, at the last turn */
    double start_cap;                /* that it began with */
    uint32_t first_count;            /* answers of requests within it, … */
    double first_us;                 /* … their mean, … */
    double late_us;                  /* … and that of the last answers, old ones fading */
    bool fallen;                     /* and not taken back since */
    int64_t fell_us;
    double lately_us;   /* what the last answers took */
    bool on_trial;      /* the last fall has yet to make them faster: … */
    double hope_us;     /* … less than this, … */
    double before;      /* … or as many as this may go again, and … */
    int64_t quiet_us;   /* … until then nothing is blamed on their number */
    int64_t changed_us; /* by a fall, or below the floor */
    uint32_t since;     /* answers since the cap changed */
    struct weir_guard_level levels[WEIR_GUARD_LEVELS];
};

/* One success took `duration_us` with `in_flight` requests in flight on its lane when it was sent.
 */
void weir_guard_sample(struct weir_guard *guard, double in_flight, int64_t duration_us,
                       int64_t now_us);

/*
 * Before a turn: as many as `cap` may go at once, for the job is short; 0: it is not, or not known
 * to be. What it began with in a hurry is taken back if it turns out not to be; unless the start is
 * over, thirty answers have come and it has not fallen: so many do not slow each other, and may go
 * on. After a start as usual, nothing happens. `several`: there are other servers, and only a part
 * of the wave is here.
 */
void weir_guard_hurry(struct weir_guard *guard, double cap, double floor, bool several,
                      int64_t now_us);

/* Before a turn: the oldest request in flight was sent then; `now_us`: none is in flight. */
void weir_guard_await(struct weir_guard *guard, int64_t sent_us);

/* Look at the cap; `floor` in flight are needed to use the budget up, `ceiling` are never allowed,
 * a round takes `round_us`. `brief`: the budget is enough for what is left of the job, and it falls
 * less deep; what had fallen deeper before goes up again. */
void weir_guard_turn(struct weir_guard *guard, double floor, bool brief, double ceiling,
                     int64_t round_us, int64_t window_us, int64_t now_us);

#endif
