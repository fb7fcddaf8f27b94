/* SPDX-License-Identifier: MIT */
/* How many rows a request should have; see sizing.h. */
#include "bulk/sizing.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

#include "base/limits.h"

/* Answers after which one has faded to a third. */
#define MEMORY 512

/* Before so many the line is only drawn, not believed; before so many it is probed often. */
#define BELIEVED 12
#define SETTLED  64

/* One of so many requests is a probe, and has a small part of the rows. */
#define PROBE_OFTEN   4
#define PROBE_SELDOM  16
#define PROBE_PART    32
#define PROBE_TIMES   8 /* where it has less than so many, it is so many times larger */
#define SCATTER_LARGE 0.15

/* An answer is not taken for further off than this. */
#define OFF_MOST 4.0

/* No answer weighs more than one that took so small a part of what is usual. */
#define WEIGHT_MOST 16

/* Nothing is expected to take less: weights stay finite. */
#define EXPECTED_LEAST_US 1000.0

/* So many answers at a bound that a time-out has set lift it by a quarter. */
#define LIFT_ANSWERS 32

/* What was told by an earlier run counts as so many answers. */
#define TOLD_ANSWERS BELIEVED
#define TOLD_MOST_US INT64_C(1000000000)

static double least(double a, double b)
{
    return a < b ? a : b;
}

static uint32_t least_rows(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* --- the line --------------------------------------------------------------------------------- */

/* Neither a request nor a row takes less than no time. */
struct weir_sizing_fit weir_sizing_fit(const struct weir_sizing *sizing)
{
    const struct weir_sizing *it = sizing;
    if (it->weight <= 0)
        return (struct weir_sizing_fit){ 0 };
    double spread = it->weight * it->rows_rows - it->rows * it->rows;
    double flat_us = it->us / it->weight;
    if (spread <= 1e-9 * it->weight * it->rows_rows) /* all of one size */
        return (struct weir_sizing_fit){ .a_us = flat_us };
    double b_us = (it->weight * it->rows_us - it->rows * it->us) / spread;
    double a_us = (it->us - b_us * it->rows) / it->weight;
    if (b_us <= 0)
        return (struct weir_sizing_fit){ .a_us = flat_us };
    if (a_us <= 0)
        return (struct weir_sizing_fit){ .b_us = it->rows_us / it->rows_rows };
    return (struct weir_sizing_fit){ a_us, b_us };
}

/* Before the line is believed: what requests took until now, and of the first what it takes. */
static double expected_us(const struct weir_sizing *sizing, double rows, double us)
{
    struct weir_sizing_fit fit = weir_sizing_fit(sizing);
    if (sizing->answers >= BELIEVED)
        us = fit.a_us + fit.b_us * rows;
    else if (sizing->weight > 0)
        us = sizing->us / sizing->weight;
    return us > EXPECTED_LEAST_US ? us : EXPECTED_LEAST_US;
}

static void add_point(struct weir_sizing *sizing, double rows, double us, double weight)
{
    sizing->weight += weight;
    sizing->rows += weight * rows;
    sizing->rows_rows += weight * rows * rows;
    sizing->us += weight * us;
    sizing->rows_us += weight * rows * us;
}

/* The first ones sooner: they were weighed before anything was known. */
static void fade(struct weir_sizing *sizing)
{
    double kept = 1 - 1 / (BELIEVED + (double)sizing->answers * (MEMORY - BELIEVED) / MEMORY);
    sizing->weight *= kept;
    sizing->rows *= kept;
    sizing->rows_rows *= kept;
    sizing->us *= kept;
    sizing->rows_us *= kept;
}

static void draw(struct weir_sizing *sizing, uint32_t rows, double us)
{
    double expected = expected_us(sizing, rows, us);
    double off = us / expected;
    double least_us = sizing->typical_us / WEIGHT_MOST;
    double weighed = expected > least_us ? expected : least_us;
    if (sizing->answers >= BELIEVED) {
        off = off < 1 / OFF_MOST ? 1 / OFF_MOST : least(off, OFF_MOST);
        sizing->scatter += ((off - 1) * (off - 1) - sizing->scatter) / SETTLED;
    }
    fade(sizing);
    add_point(sizing, rows, off * expected, 1 / (weighed * weighed));
    sizing->typical_us += (off * expected - sizing->typical_us) /
                          (sizing->answers < SETTLED ? sizing->answers + 1 : SETTLED);
    sizing->answers += sizing->answers < MEMORY;
}

/* Where nothing is short, half of the time should be that of rows. */
static double longest_us(const struct weir_sizing *sizing, const struct weir_sizing_bounds *bounds)
{
    double twice_us = 2 * weir_sizing_fit(sizing).a_us;
    double us = (double)bounds->longest_us;
    return sizing->answers >= BELIEVED && twice_us > us ? twice_us : us;
}

/* --- bounds ----------------------------------------------------------------------------------- */

/* About as large as a time-out lets it be, and in time: enough of these, and it may be larger. */
static void lift(struct weir_sizing *sizing, uint32_t rows)
{
    if (!sizing->in_time || rows < sizing->in_time / 2)
        return;
    if (++sizing->since_late < LIFT_ANSWERS)
        return;
    sizing->since_late = 0;
    sizing->in_time += sizing->in_time / 4 + 1;
    if (sizing->in_time >= WEIR_TARGETS_MAX)
        sizing->in_time = 0;
}

void weir_sizing_answer(struct weir_sizing *sizing, uint32_t rows, int64_t duration_us,
                        const struct weir_sizing_bounds *bounds)
{
    if (!rows || duration_us <= 0)
        return;
    draw(sizing, rows, (double)duration_us);
    lift(sizing, rows);
    if (rows > sizing->most_rows && (double)duration_us <= longest_us(sizing, bounds))
        sizing->most_rows = rows;
}

void weir_sizing_too_big(struct weir_sizing *sizing, uint32_t rows)
{
    if (rows > 1 && (!sizing->too_many || rows < sizing->too_many))
        sizing->too_many = rows;
}

void weir_sizing_timed_out(struct weir_sizing *sizing, uint32_t rows)
{
    uint32_t half = rows > 1 ? rows / 2 : 1;
    sizing->since_late = 0;
    if (!sizing->in_time || half < sizing->in_time)
        sizing->in_time = half;
}

/* Of what was too big a half is tried, as the executor does with the rows themselves. */
static uint32_t most(const struct weir_sizing *sizing, const struct weir_sizing_bounds *bounds)
{
    uint32_t known =
        sizing->most_rows > WEIR_SIZING_START_ROWS ? sizing->most_rows : WEIR_SIZING_START_ROWS;
    uint32_t rows = least_rows(bounds->rows_max, 2 * known);
    if (sizing->too_many)
        rows = least_rows(rows, sizing->too_many / 2);
    if (sizing->in_time)
        rows = least_rows(rows, sizing->in_time);
    return rows;
}

/* --- the choice ------------------------------------------------------------------------------- */

/* The least number of rows that takes so long, or, rounded down, the most; `top` at most. */
static double rows_in(const struct weir_sizing_fit *fit, double us, double top)
{
    if (us <= fit->a_us)
        return 1;
    return fit->b_us > 0 ? least((us - fit->a_us) / fit->b_us, top) : top;
}

static uint32_t whole(double rows)
{
    return rows > 1 ? (uint32_t)rows : 1;
}

/* The most rows that stay below the longest time. */
static uint32_t longest(const struct weir_sizing *sizing, const struct weir_sizing_bounds *bounds)
{
    struct weir_sizing_fit fit = weir_sizing_fit(sizing);
    uint32_t top = most(sizing, bounds);
    if (sizing->answers < BELIEVED)
        return top;
    return least_rows(top, whole(rows_in(&fit, longest_us(sizing, bounds), top)));
}

uint32_t weir_sizing_choice(const struct weir_sizing *sizing,
                            const struct weir_sizing_bounds *bounds)
{
    struct weir_sizing_fit fit = weir_sizing_fit(sizing);
    uint32_t top = longest(sizing, bounds);
    if (sizing->answers < BELIEVED)
        return least_rows(top, WEIR_SIZING_START_ROWS);
    double worth = WEIR_SIZING_SHARE / (1 - WEIR_SIZING_SHARE) * fit.a_us;
    double rows = fit.b_us > 0 ? least(ceil(worth / fit.b_us), top) : top;
    double slow = ceil(rows_in(&fit, (double)bounds->shortest_us, top));
    return least_rows(top, whole(rows > slow ? rows : slow));
}

/* --- one request ------------------------------------------------------------------------------ */

/* Sizes that go up and down, so that nothing that changes meanwhile looks like an effect of them.
 * An earlier run may have told that other sizes are right. */
static uint32_t first_rows(const struct weir_sizing *sizing, uint32_t top)
{
    static const uint32_t sizes[] = { 100, 50, 200, 25 };
    return least_rows(top, sizes[sizing->sent % (sizeof(sizes) / sizeof(sizes[0]))]);
}

static bool is_probe(const struct weir_sizing *sizing)
{
    bool often = sizing->answers < SETTLED || sizing->scatter > SCATTER_LARGE;
    return sizing->sent % (often ? PROBE_OFTEN : PROBE_SELDOM) == PROBE_OFTEN - 1;
}

/* A small one; where all are small every other is a larger one, or nothing would ever differ. */
static uint32_t probe_rows(const struct weir_sizing *sizing, uint32_t choice, uint32_t top)
{
    if (choice < PROBE_TIMES && sizing->sent / PROBE_SELDOM % 2)
        return least_rows(top, choice * PROBE_TIMES);
    return choice > PROBE_PART ? choice / PROBE_PART : 1;
}

/* Requests of the same size, none above the top: as many as come nearest to the choice. */
static uint32_t share_out(uint32_t waiting, uint32_t choice, uint32_t top)
{
    assert(choice > 0 && top > 0); /* bounds allow a row, and so does what was learned */
    uint32_t requests = (waiting + choice / 2) / choice;
    uint32_t fewest = (waiting + top - 1) / top;
    requests = requests > fewest ? requests : fewest;
    return (waiting + requests - 1) / requests;
}

uint32_t weir_sizing_rows(const struct weir_sizing *sizing, const struct weir_sizing_bounds *bounds,
                          uint32_t waiting)
{
    uint32_t top = longest(sizing, bounds);
    uint32_t choice = weir_sizing_choice(sizing, bounds);
    if (sizing->answers < BELIEVED)
        return least_rows(waiting, first_rows(sizing, top));
    if (is_probe(sizing))
        return least_rows(waiting, probe_rows(sizing, choice, top));
    return share_out(waiting, choice, top);
}

void weir_sizing_sent(struct weir_sizing *sizing)
{
    sizing->sent++;
}

/* --- from one run to the next ----------------------------------------------------------------- */

bool weir_sizing_print(const struct weir_sizing *sizing, char ret[WEIR_SIZING_TEXT_MAX])
{
    struct weir_sizing_fit fit = weir_sizing_fit(sizing);
    if (sizing->answers < BELIEVED || !sizing->most_rows)
        return false;
    snprintf(ret, WEIR_SIZING_TEXT_MAX, "%lld %lld %u", (long long)(least(fit.a_us, TOLD_MOST_US)),
             (long long)(1000 * least(fit.b_us, TOLD_MOST_US)), (unsigned)sizing->most_rows);
    return true;
}

/* Microseconds, nanoseconds, rows. */
bool weir_sizing_parse(struct weir_sizing *sizing, const char *text)
{
    long long a_us, b_ns;
    unsigned rows;
    if (sizing->answers || sscanf(text, "%lld %lld %u", &a_us, &b_ns, &rows) != 3 || a_us < 0 ||
        a_us > TOLD_MOST_US || b_ns < 0 || b_ns > 1000 * TOLD_MOST_US || rows < 1 ||
        rows > WEIR_TARGETS_MAX)
        return false;
    for (uint32_t i = 0; i < TOLD_ANSWERS; i++) {
        uint32_t at = i % 2 ? rows : 1;
        draw(sizing, at, (double)a_us + (double)b_ns / 1000 * at);
    }
    sizing->most_rows = rows;
    return true;
}
