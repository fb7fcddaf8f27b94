/* SPDX-License-Identifier: MIT */
/*
 * Whether others use a budget in a rhythm: a load that runs every five minutes, a client that comes
 * and goes. What they will use then is what they used one period ago.
 *
 * Kept is the sum T of all that others have used since the first sample, which follows from what a
 * window W holds of it: T(t) = F(t) + T(t − W).
 *
 *     T ▲            ╭──       A period p fits if T(t) − T(t − p) is the same at all times, but for
 *       │      ╭─────╯         what chance brings. Somebody who comes at random fits with every p:
 *       │╭─────╯               a rhythm is known only if other periods do not fit at all.
 *       └──────────────▶ t
 *
 * Times here are positions: spans of a 64th of a window, with fractions.
 */
#ifndef WEIR_THROTTLE_POLICY_BUDGET_RHYTHM_H
#define WEIR_THROTTLE_POLICY_BUDGET_RHYTHM_H

#include <stdbool.h>
#include <stdint.h>

#define WEIR_RHYTHM_SPANS    64  /* in a window */
#define WEIR_RHYTHM_KEPT     320 /* five windows */
#define WEIR_RHYTHM_FORETOLD 132 /* two windows, and a little */

struct weir_rhythm {
    bool counts;    /* requests, whose number never falls; not time, which is known less well */
    double at;      /* the newest sample; negative: there is none */
    double total;   /* T then */
    double foreign; /* F then */
    double before;  /* used in the window before the first sample */
    int64_t since;  /* the first number that is kept */
    int64_t newest; /* the last */
    double totals[WEIR_RHYTHM_KEPT];       /* T at whole positions, n at n modulo the size */
    int64_t sought;                        /* the newest number when a period was looked for */
    double period;                         /* 0: none is known */
    int64_t told;                          /* the newest number when what comes was foretold: … */
    double foretold[WEIR_RHYTHM_FORETOLD]; /* … what T grows by from then on */
    bool uneven; /* they came and went when it was looked for, whether in a rhythm or not */
};

void weir_rhythm_forget(struct weir_rhythm *rhythm);

/* Others use so much of the window, what was there at the first sample left out. Times are not
 * negative. */
void weir_rhythm_note(struct weir_rhythm *rhythm, double foreign, int64_t window_us,
                      int64_t now_us);

/* Look for a period, if there is anything new, of what is counted: it is known how requests are
 * spread if they come by chance. `moves`: it has not been the same
 * all the time; otherwise there is nothing to look for. */
void weir_rhythm_seek(struct weir_rhythm *rhythm, bool moves);

/* Go by a period, of this budget or of the other one; 0: by none. */
void weir_rhythm_follow(struct weir_rhythm *rhythm, double period);

/* Whether a period is known, and what comes until so much time after the newest sample. */
bool weir_rhythm_can_tell(const struct weir_rhythm *rhythm, double ahead);

/* What others will use within so much time after the newest sample, … */
double weir_rhythm_comes(const struct weir_rhythm *rhythm, double ahead);

/* … and what will have left the window of what they use. */
double weir_rhythm_goes(const struct weir_rhythm *rhythm, double ahead);

#endif
