/* SPDX-License-Identifier: MIT */
/*
 * How a run went over time, in memory that does not grow with it: when there are as many points as
 * there may be, each two become one, and from then on a point stands for twice as many samples.
 * Counters are kept as they were at the end of a point's time, so that nothing is lost between
 * points; the rest is the mean over it. Pure; one thread.
 */
#ifndef WEIR_APP_REPORT_TIMELINE_H
#define WEIR_APP_REPORT_TIMELINE_H

#include "progress_snapshot.h"

#define REPORT_POINTS_MAX      600
#define REPORT_CONNECTIONS_MAX 32 /* with a timeline of their own: the first of them */

/* Of all connections. */
struct report_point {
    double at_s;   /* the end of its time; the beginning is the point before */
    uint64_t rows; /* that had come to their end in a pass, over all passes */
    unsigned pass; /* from 1 */
    double in_flight;
    double throttled; /* the share of connections that were, 0 … 1 */
};

/* Of one connection. */
struct report_mark {
    float in_flight;
    float level;
    float throttled;      /* the share of its time, 0 … 1 */
    float requests_left;  /* of the budget, 0 … 1; negative: not told yet */
    float execution_left; /* likewise */
};

/* Zeroed, then fed. */
struct report_timeline {
    double from_s; /* the first sample */
    uint64_t from_rows;
    bool begun;
    size_t count;    /* of points */
    size_t lanes;    /* connections with marks */
    uint32_t stride; /* samples to a point … */
    uint32_t taken;  /* … of which the last one has so many */
    struct report_point *points;
    struct report_mark *marks; /* points times lanes */
};

void report_timeline_add(struct report_timeline *timeline,
                         const struct progress_snapshot *snapshot);
void report_timeline_release(struct report_timeline *timeline);

/* Rows a second within a point's time, or within the second up to its end if that is longer: rows
 * come to their end in groups. */
double report_timeline_rate(const struct report_timeline *timeline, size_t point);

static inline const struct report_mark *report_timeline_mark(const struct report_timeline *timeline,
                                                             size_t point, size_t connection)
{
    return &timeline->marks[point * timeline->lanes + connection];
}

#endif
