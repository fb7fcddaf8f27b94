/* SPDX-License-Identifier: MIT */
/* How a run went over time; see report_timeline.h. */
#include "report_timeline.h"

#include <stdlib.h>

#include "base/mem.h"

#define RATE_WINDOW_S 0.999 /* samples are never taken to the microsecond */

/* --- samples ---------------------------------------------------------------------------------- */

static float share_of(const struct weir_job_budget *budget)
{
    if (budget->remaining < 0 || budget->most <= 0)
        return -1;
    return (float)(budget->remaining / budget->most);
}

static struct report_mark look(const struct weir_job_connection *it)
{
    return (struct report_mark){
        .in_flight = (float)it->in_flight,
        .level = (float)it->level,
        .throttled = it->throttled_for_s > 0,
        .requests_left = share_of(&it->requests_budget),
        .execution_left = share_of(&it->execution_budget),
    };
}

/* Every row of the input ends once in each pass; that it never falls is for those who divide. */
static struct report_point stand(const struct progress_snapshot *snapshot, uint64_t rows_before)
{
    const struct weir_job_progress *job = &snapshot->job;
    uint64_t rows = (job->pass ? job->pass - 1 : 0) * job->read + job->pass_ended;
    double count = snapshot->connection_count ? (double)snapshot->connection_count : 1;
    return (struct report_point){
        .at_s = job->elapsed_s,
        .rows = rows > rows_before ? rows : rows_before,
        .pass = job->pass,
        .in_flight = job->requests_in_flight,
        .throttled = job->pool.throttled_connections / count,
    };
}

/* --- means ------------------------------------------------------------------------------------ */

static double mean(double old, uint32_t weight, double new, uint32_t more)
{
    return (old * weight + new *more) / (weight + more);
}

static void fold_mark(struct report_mark *into, uint32_t weight, const struct report_mark *it,
                      uint32_t more)
{
    into->in_flight = (float)mean(into->in_flight, weight, it->in_flight, more);
    into->level = (float)mean(into->level, weight, it->level, more);
    into->throttled = (float)mean(into->throttled, weight, it->throttled, more);
    into->requests_left = it->requests_left;
    into->execution_left = it->execution_left;
}

static void fold_point(struct report_point *into, uint32_t weight, const struct report_point *it,
                       uint32_t more)
{
    struct report_point folded = *it;
    folded.in_flight = mean(into->in_flight, weight, it->in_flight, more);
    folded.throttled = mean(into->throttled, weight, it->throttled, more);
    *into = folded;
}

/* Two by two; all of them are full, and their number is even. */
static void thin(struct report_timeline *timeline)
{
    size_t lanes = timeline->lanes;
    for (size_t i = 0; i < timeline->count / 2; i++) {
        timeline->points[i] = timeline->points[2 * i];
        fold_point(&timeline->points[i], 1, &timeline->points[2 * i + 1], 1);
        for (size_t lane = 0; lane < lanes; lane++) {
            struct report_mark *mark = &timeline->marks[i * lanes + lane];
            *mark = timeline->marks[2 * i * lanes + lane];
            fold_mark(mark, 1, &timeline->marks[(2 * i + 1) * lanes + lane], 1);
        }
    }
    timeline->count /= 2;
    timeline->stride *= 2;
}
_Static_assert(REPORT_POINTS_MAX % 2 == 0, "points are thinned two by two");

/* --- all of it -------------------------------------------------------------------------------- */

static void begin(struct report_timeline *timeline, const struct progress_snapshot *snapshot)
{
    size_t count = snapshot->connection_count;
    struct report_point first = stand(snapshot, 0);
    timeline->begun = true;
    timeline->from_s = first.at_s;
    timeline->from_rows = first.rows;
    timeline->stride = 1;
    timeline->lanes = count < REPORT_CONNECTIONS_MAX ? count : REPORT_CONNECTIONS_MAX;
    timeline->points = weir_calloc(REPORT_POINTS_MAX, sizeof(*timeline->points));
    timeline->marks = weir_calloc(REPORT_POINTS_MAX * (timeline->lanes ? timeline->lanes : 1),
                                  sizeof(*timeline->marks));
}

/* The point that takes the next sample is empty, and there is room for it. */
static void open_point(struct report_timeline *timeline)
{
    if (timeline->count == REPORT_POINTS_MAX)
        thin(timeline);
    timeline->count++;
    timeline->taken = 0;
}

static void take(struct report_timeline *timeline, const struct progress_snapshot *snapshot)
{
    size_t last = timeline->count - 1;
    uint64_t before = last ? timeline->points[last - 1].rows : timeline->from_rows;
    struct report_point point = stand(snapshot, before);
    struct report_mark *marks = &timeline->marks[last * timeline->lanes];
    if (timeline->taken)
        fold_point(&timeline->points[last], timeline->taken, &point, 1);
    else
        timeline->points[last] = point;
    for (size_t lane = 0; lane < timeline->lanes; lane++) {
        struct report_mark mark = look(&snapshot->connections[lane].now);
        if (timeline->taken)
            fold_mark(&marks[lane], timeline->taken, &mark, 1);
        else
            marks[lane] = mark;
    }
    timeline->taken++;
}

void report_timeline_add(struct report_timeline *timeline, const struct progress_snapshot *snapshot)
{
    if (!timeline->begun) {
        begin(timeline, snapshot);
        return;
    }
    if (timeline->count == 0 || timeline->taken >= timeline->stride)
        open_point(timeline);
    take(timeline, snapshot);
}

double report_timeline_rate(const struct report_timeline *timeline, size_t point)
{
    const struct report_point *it = &timeline->points[point];
    for (size_t i = point; i-- > 0;) {
        const struct report_point *before = &timeline->points[i];
        if (it->at_s - before->at_s >= RATE_WINDOW_S)
            return (double)(it->rows - before->rows) / (it->at_s - before->at_s);
    }
    double span_s = it->at_s - timeline->from_s;
    return span_s > 0 ? (double)(it->rows - timeline->from_rows) / span_s : 0;
}

void report_timeline_release(struct report_timeline *timeline)
{
    free(timeline->points);
    free(timeline->marks);
    *timeline = (struct report_timeline){ 0 };
}
