/* SPDX-License-Identifier: MIT */
/*
 * How many rows a request should have, learned from how long requests take. Pure.
 *
 *     seconds = a + b · rows       a: what every request costs, b: what a row costs
 *
 * The service grants seconds of execution, so what matters is how many of them are spent on rows:
 * chosen is the smallest number of rows whose share, b·rows / (a + b·rows), is 95 %. More would
 * gain little, and lose more whenever a request has to be sent again. Around that:
 *
 *     not shorter than   execution budget / request budget: of quicker requests the number is
 *                        what runs out, not their time
 *     not longer than    10 s, or twice as long as a request without rows if that is more
 *     not more than      the service takes, twice as many as were ever answered within that
 *                        time, and what a time-out or a refusal (413) has shown to be too many
 *
 * Where two of them disagree the smaller number wins.
 *
 * a and b are a least-squares fit in which old answers fade. How far a time is off grows with the
 * time itself, so every answer counts in proportion to 1 / (expected time)². One that is absurdly
 * slow or quick counts as four times slower or quicker than expected. What makes all requests
 * slower, contention or a bad hour, makes a and b larger alike, and leaves their ratio as it is.
 *
 * A line needs points at both of its ends. The first requests have different sizes on purpose;
 * later one in sixteen (in four while times scatter much, or little is known) is a *probe*: a small
 * one, which costs no more than one a, or a larger one if all are small.
 *
 * One line for each kind of request; whoever has several keeps several. One thread at a time.
 */
#ifndef WEIR_BULK_SIZING_H
#define WEIR_BULK_SIZING_H

#include <stdbool.h>
#include <stdint.h>

/* Rows of the first requests, about which the others are tried. */
#define WEIR_SIZING_START_ROWS 100

/* The share of a request's time that its rows should have. */
#define WEIR_SIZING_SHARE 0.95

/* What is known when nobody says anything: 1,200 s and 6,000 requests within the same time. */
#define WEIR_SIZING_CROSSOVER_US INT64_C(200000)
#define WEIR_SIZING_LONGEST_US   INT64_C(10000000)

/* Zeroed: nothing is known. */
struct weir_sizing {
    /* Sums over the answers, each with its weight. Times in microseconds. */
    double weight;
    double rows;
    double rows_rows;
    double us;
    double rows_us;

    double typical_us;   /* what the last requests took */
    double scatter;      /* mean of (time / expected time − 1)² */
    uint32_t answers;    /* so many; no longer counted when there are enough */
    uint32_t most_rows;  /* that were answered in good time */
    uint32_t too_many;   /* a request of so many was refused for its size; 0: none was */
    uint32_t in_time;    /* a request of more has timed out; 0: none has */
    uint32_t since_late; /* answers since then that were as large as they could be */
    uint64_t sent;       /* requests that were sized by this */
};

struct weir_sizing_bounds {
    uint32_t rows_max;   /* that the service takes; at least 1 */
    int64_t shortest_us; /* a request should not be quicker … */
    int64_t longest_us;  /* … nor take longer */
};

/* What is known of a line; 0 and 0: nothing. */
struct weir_sizing_fit {
    double a_us;
    double b_us; /* of a row */
};

/* A request of so many rows was done. */
void weir_sizing_answer(struct weir_sizing *sizing, uint32_t rows, int64_t duration_us,
                        const struct weir_sizing_bounds *bounds);

/* … was refused for its size, and never will be taken. */
void weir_sizing_too_big(struct weir_sizing *sizing, uint32_t rows);

/* … was not answered in time. That may be the service's hour: the bound is lifted bit by bit. */
void weir_sizing_timed_out(struct weir_sizing *sizing, uint32_t rows);

/* What is chosen, for those who look. */
uint32_t weir_sizing_choice(const struct weir_sizing *sizing,
                            const struct weir_sizing_bounds *bounds);

/*
 * Rows of the next request, if `waiting` rows, at least one, may travel together: about the choice,
 * such that the rest makes requests of the same size; or those of a probe.
 */
uint32_t weir_sizing_rows(const struct weir_sizing *sizing, const struct weir_sizing_bounds *bounds,
                          uint32_t waiting);

/* It is on its way. */
void weir_sizing_sent(struct weir_sizing *sizing);

struct weir_sizing_fit weir_sizing_fit(const struct weir_sizing *sizing);

/*
 * What is known as a text, of one line; false: too little. And back, to a line that knows nothing
 * yet, where it counts as little, so that what has changed meanwhile is soon found out; false: it
 * is nothing that was written here.
 */
#define WEIR_SIZING_TEXT_MAX 96
bool weir_sizing_print(const struct weir_sizing *sizing, char ret[WEIR_SIZING_TEXT_MAX]);
bool weir_sizing_parse(struct weir_sizing *sizing, const char *text);

#endif
