/* SPDX-License-Identifier: MIT */
/* What others use in a rhythm; see policy_budget_rhythm.h. */
#include "throttle/policy_budget_rhythm.h"

#include <assert.h>
#include <math.h>

#define EVERY    4   /* positions a period is looked for */
#define SHORTEST 8   /* period */
#define LONGEST  128 /* two windows */
#define SEEN     40  /* positions at which a period has to fit, at least */
#define LOOKED   128 /* and those at which it is tried, at most */
#define FEW      8   /* requests in a period of which nothing can be told */
#define FITS     4   /* times what chance explains */
#define DIFFERS  12  /* times that is more than chance */
#define CYCLES   3   /* periods that what comes is the mean of */
#define HELD     0.8 /* of what a window is to hold, that it has to */

void weir_rhythm_forget(struct weir_rhythm *rhythm)
{
    *rhythm = (struct weir_rhythm){ .counts = rhythm->counts, .at = -1 };
}

static double *slot(struct weir_rhythm *rhythm, int64_t number)
{
    return &rhythm->totals[number % WEIR_RHYTHM_KEPT];
}

static double kept(const struct weir_rhythm *rhythm, int64_t number)
{
    return rhythm->totals[number % WEIR_RHYTHM_KEPT];
}

/* T at a position; evenly up to the first that is kept, and after the newest as it was then. */
static double total_at(const struct weir_rhythm *rhythm, double position)
{
    if (position >= rhythm->at)
        return rhythm->total;
    if (position <= (double)rhythm->since)
        return kept(rhythm, rhythm->since) -
               rhythm->before * fmin(1, ((double)rhythm->since - position) / WEIR_RHYTHM_SPANS);
    int64_t number = (int64_t)position;
    double from = kept(rhythm, number);
    bool last = number == rhythm->newest;
    double to = last ? rhythm->total : kept(rhythm, number + 1);
    double width = last ? rhythm->at - (double)number : 1;
    return from + (to - from) * (position - (double)number) / width;
}

/* Between two samples: as a period ago, if that is known, and evenly otherwise. */
static void keep_until(struct weir_rhythm *rhythm, double position, double total)
{
    double all = total - rhythm->total;
    int64_t oldest = (int64_t)position - WEIR_RHYTHM_KEPT + 1;
    if (rhythm->since < oldest)
        rhythm->since = oldest;
    bool known = weir_rhythm_can_tell(rhythm, position - rhythm->at);
    double comes = known ? weir_rhythm_comes(rhythm, position - rhythm->at) : 0;
    for (int64_t next = rhythm->newest + 1; (double)next <= position; next++) {
        double ahead = (double)next - rhythm->at;
        double part = ahead / (position - rhythm->at);
        if (comes > 0)
            part = fmin(1, weir_rhythm_comes(rhythm, ahead) / comes);
        *slot(rhythm, next) = rhythm->total + part * all;
    }
    rhythm->newest = (int64_t)position;
}

void weir_rhythm_note(struct weir_rhythm *rhythm, double foreign, int64_t window_us, int64_t now_us)
{
    assert(now_us >= 0);
    double position = (double)now_us / (double)window_us * WEIR_RHYTHM_SPANS;
    bool silent = position - rhythm->at > WEIR_RHYTHM_SPANS;
    if (rhythm->at < 0 || silent || position < rhythm->at) {
        weir_rhythm_forget(rhythm);
        rhythm->since = rhythm->newest = rhythm->sought = (int64_t)position;
        *slot(rhythm, rhythm->newest) = foreign;
        rhythm->at = position;
        rhythm->total = rhythm->before = rhythm->foreign = foreign;
        return;
    }
    double total = foreign + total_at(rhythm, position - WEIR_RHYTHM_SPANS);
    if (rhythm->counts) /* what was noted wrongly is not carried on from window to window */
        total = fmax(total, rhythm->total);
    if (position > rhythm->at)
        keep_until(rhythm, position, total);
    rhythm->at = position;
    rhythm->total = total;
    rhythm->foreign = foreign;
}

/* By how much what is used in a period differs from one to the next, and by how much it would if
 * the same number came by chance. */
struct fit {
    double off;    /* squared; negative: nothing can be told */
    double chance; /* squared */
};

/* Requests that come by chance, m in a period, differ by m, squared, from one period to another
 * that has nothing in common with it; within one they have most in common. So over n positions
 * it is a part of m that grows to all of it within about three periods; and one for rounding. */
static struct fit fit_of(const struct weir_rhythm *rhythm, double period)
{
    int64_t there = rhythm->newest - rhythm->since - (int64_t)ceil(period);
    int64_t count = there < LOOKED ? there : LOOKED;
    if (count < SEEN || (double)count < period)
        return (struct fit){ .off = -1 };
    double base = total_at(rhythm, (double)rhythm->newest) -
                  total_at(rhythm, (double)rhythm->newest - period);
    double sum = 0;
    double squares = 0;
    for (int64_t i = 0; i < count; i++) {
        double position = (double)(rhythm->newest - i);
        double used = total_at(rhythm, position) - total_at(rhythm, position - period) - base;
        sum += used;
        squares += used * used;
    }
    double n = (double)count;
    double mean = sum / n;
    if (base + mean < FEW)
        return (struct fit){ .off = -1 };
    return (struct fit){ .off = fmax(0, squares / n - mean * mean),
                         .chance = (base + mean) * fmin(1, n / period / 3) + 1 };
}

/* Periods need not be whole: the best of those around one. */
static double refine(const struct weir_rhythm *rhythm, double period)
{
    double best = period;
    double least = fit_of(rhythm, period).off;
    for (int i = -7; i <= 7; i++) {
        double near = period + i / 8.0;
        double off = fit_of(rhythm, near).off;
        if (off >= 0 && off < least) {
            best = near;
            least = off;
        }
    }
    return best;
}

/* Of the periods that fit the shortest; 0: there is none. */
static double shortest(struct fit fits[static LONGEST + 2])
{
    for (int i = SHORTEST; i <= LONGEST; i++) {
        bool least = fits[i].off >= 0 && (fits[i + 1].off < 0 || fits[i].off <= fits[i + 1].off);
        if (least && fits[i].off <= FITS * fits[i].chance)
            return i;
    }
    return 0;
}

void weir_rhythm_seek(struct weir_rhythm *rhythm, bool moves)
{
    if (rhythm->newest - rhythm->sought < EVERY) {
        weir_rhythm_follow(rhythm, rhythm->period);
        return;
    }
    rhythm->sought = rhythm->newest;
    struct fit fits[LONGEST + 2];
    rhythm->uneven = false;
    for (int i = SHORTEST; moves && i <= LONGEST + 1; i++) {
        fits[i] = fit_of(rhythm, i);
        rhythm->uneven |= fits[i].off > DIFFERS * fits[i].chance;
    }
    double period = rhythm->uneven ? shortest(fits) : 0;
    weir_rhythm_follow(rhythm, period > 0 ? refine(rhythm, period) : 0);
}

/* What the window holds by T is there: requests cannot be taken back. Otherwise it was our books
 * that came and went. */
static bool holds(const struct weir_rhythm *rhythm)
{
    double held = rhythm->total - total_at(rhythm, rhythm->at - WEIR_RHYTHM_SPANS);
    return rhythm->foreign >= HELD * held;
}

bool weir_rhythm_can_tell(const struct weir_rhythm *rhythm, double ahead)
{
    double back = fmax(rhythm->period, WEIR_RHYTHM_SPANS);
    return rhythm->period > 0 && holds(rhythm) && rhythm->at - back >= (double)rhythm->since &&
           rhythm->at + ahead < (double)(rhythm->told + WEIR_RHYTHM_FORETOLD);
}

/* What T grows by after the newest number: the mean of what it grew by in the periods before. */
static double growth(const struct weir_rhythm *rhythm, double ahead)
{
    double period = rhythm->period;
    double whole = floor(ahead / period);
    double rest = ahead - whole * period;
    double sum = 0;
    int cycles = 0;
    for (double from = (double)rhythm->newest - period;
         cycles < CYCLES && from >= (double)rhythm->since; from -= period, cycles++)
        sum += total_at(rhythm, from + rest) - total_at(rhythm, from) +
               whole * (total_at(rhythm, from + period) - total_at(rhythm, from));
    return cycles ? sum / cycles : 0;
}

void weir_rhythm_follow(struct weir_rhythm *rhythm, double period)
{
    if (period == rhythm->period && (period <= 0 || rhythm->told == rhythm->newest))
        return;
    rhythm->period = period;
    rhythm->told = rhythm->newest;
    for (int i = 0; i < WEIR_RHYTHM_FORETOLD && period > 0; i++)
        rhythm->foretold[i] = growth(rhythm, i);
}

/* What was foretold for a position. */
static double told_at(const struct weir_rhythm *rhythm, double position)
{
    double ahead = position - (double)rhythm->told;
    if (ahead >= WEIR_RHYTHM_FORETOLD - 1)
        return rhythm->foretold[WEIR_RHYTHM_FORETOLD - 1];
    int from = ahead > 0 ? (int)ahead : 0;
    double step = rhythm->foretold[from + 1] - rhythm->foretold[from];
    return rhythm->foretold[from] + step * (ahead - from);
}

double weir_rhythm_comes(const struct weir_rhythm *rhythm, double ahead)
{
    return fmax(0, told_at(rhythm, rhythm->at + ahead) - told_at(rhythm, rhythm->at));
}

double weir_rhythm_goes(const struct weir_rhythm *rhythm, double ahead)
{
    double from = rhythm->at - WEIR_RHYTHM_SPANS;
    double seen = fmax(0, total_at(rhythm, from + ahead) - total_at(rhythm, from));
    return seen + weir_rhythm_comes(rhythm, fmax(0, ahead - WEIR_RHYTHM_SPANS));
}
