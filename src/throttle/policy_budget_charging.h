/* SPDX-License-Identifier: MIT */
/*
 * How a server charges execution time, learned from its headers.
 *
 * Between two answers of one web server `remaining` moves by minus the share ρ of our own time that
 * is charged, as far as it was charged meanwhile, and by what others use or free in that time,
 * which is taken as steady; everything else is noise. When time is charged (while it runs, at the
 * end, at the beginning) and how old the header is are *hypotheses*: for each of them the ledger
 * says how much our own use has moved, and the one that explains the header best is believed. How
 * old headers are is told by requests as well (policy_budget_age.h); whether all servers draw on
 * one account is told by requests alone (policy_budget_hear.c).
 *
 * How large ρ is, is read off the long run, under that guess: what is left, over our own use and
 * time. Where both go on evenly nothing can be read, and ρ stays as it was; it begins at one,
 * because too small a ρ would make our own use look like somebody else's. A slope is too flat if
 * there is noise in what it is drawn over. Where servers cannot be chosen that noise is in our own
 * use, so the line is drawn over the header instead, and turned round. A header that does not move
 * when we spend is not trusted.
 */
#ifndef WEIR_THROTTLE_POLICY_BUDGET_CHARGING_H
#define WEIR_THROTTLE_POLICY_BUDGET_CHARGING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "throttle/policy_budget_ledger.h"

#define WEIR_CHARGING_RULES   3 /* the first three series of the ledger */
#define WEIR_CHARGING_LAGS    2
#define WEIR_CHARGING_LAG_US  (5 * WEIR_US_PER_S) /* that old headers are of */
#define WEIR_CHARGING_GUESSES (WEIR_CHARGING_RULES * WEIR_CHARGING_LAGS)

/* One guess is rule + rules × lag. */
struct weir_guess {
    enum weir_series series;
    int64_t lag_us;
};

/* Sums over samples: x is our own use, t time, y what is left, all as changes since the last. */
struct weir_fit {
    double xx, xt, tt;
    double xy, ty, yy;
};

/* Sums over what one server said, centred at its first word; old samples fade within a window. */
struct weir_trend {
    double weight;
    double t, x, y;
    double tt, tx, ty, xx, xy, yy;
};

/* What one server said last, and what the ledger said then under each guess. */
struct weir_heard {
    bool known;
    int64_t at_us;
    double remaining;
    double used[WEIR_CHARGING_GUESSES];
    uint32_t guess;   /* that the trend was begun under */
    int64_t first_us; /* of the trend */
    int64_t trend_us; /* its last sample */
    int64_t read_us;  /* ρ is read off it from then on */
    struct weir_trend trend;
};

struct weir_charging {
    struct weir_fit fits[WEIR_CHARGING_GUESSES];
    uint32_t samples;
    uint32_t best;
    double rho;    /* share of the client's time that is charged */
    bool trusted;  /* the headers behave */
    bool at_begin; /* it may well be that time is charged at the beginning */
    bool later;    /* it clearly is not */
    double moved;  /* own use that the samples have seen pass */
};

struct weir_guess weir_charging_guess(uint32_t guess);

void weir_charging_init(struct weir_charging *charging);

/* Begin the guessing anew, from what is believed now; headers are not trusted until then. */
void weir_charging_forget(struct weir_charging *charging);

/* What is known of a server when it says what is left. */
struct weir_setting {
    double budget;     /* about the whole, and … */
    int64_t window_us; /* … for how long, for a sense of scale */
    bool told;         /* its first header said so, less than a window ago */
    double noise;      /* what is in flight that may be on another server */
    bool scattered;  /* requests land on any server, and nobody else is seen: what is off is ours */
    bool current;    /* requests tell that its headers are not old */
    double draining; /* that was used before us and has not left the window yet */
    bool coarse;     /* it forgets in steps */
    double kept;     /* what had left our books and not its window, and … */
    double gone[WEIR_CHARGING_GUESSES]; /* … what left them since and may not have left it */
};

/* A server said `remaining`, and by the ledger `used[]` of ours was in its window then. */
void weir_charging_hear(struct weir_charging *charging, struct weir_heard *last, double remaining,
                        const double *used, const struct weir_setting *setting, int64_t now_us);

#endif
