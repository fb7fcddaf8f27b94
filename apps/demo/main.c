/* SPDX-License-Identifier: MIT */
/*
 * weir-demo: a throttling scenario in virtual time, as a small timeline.
 *
 * Three application users push batches through the pool at a service with Dataverse's limits. One
 * of them has most of its budget used up already, by somebody else. Nothing here opens a socket or
 * waits: minutes pass in milliseconds. Until the command `weir` exists this is what ./demo
 * shows.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "pool/core.h"
#include "support/job.h"

#define USERS     3
#define BATCHES   1600
#define BATCH_S   2
#define ROWS      100
#define BAR       8
#define SAMPLE_US (15 * WEIR_US_PER_S)

static const struct service_limits limits = {
    .window_us = 300 * WEIR_US_PER_S,
    .requests = 6000,
    .execution_us = 1200 * WEIR_US_PER_S,
    .concurrent = 52,
};

struct view {
    int64_t begun_us;
    uint32_t done_before;
    uint64_t done_by[USERS];
};

static void print_time(int64_t us)
{
    int64_t seconds = us / WEIR_US_PER_S;
    printf("%3" PRId64 ":%02" PRId64, seconds / 60, seconds % 60);
}

static void print_connection(const struct job *job, uint32_t connection, int64_t now_us)
{
    int64_t reopening_us = weir_core_reopening_us(job->core, connection);
    char cell[32];
    if (now_us < reopening_us) {
        snprintf(cell, sizeof(cell), "throttled, %3" PRId64 " s",
                 (reopening_us - now_us + WEIR_US_PER_S - 1) / WEIR_US_PER_S);
        printf("  %-16s", cell);
        return;
    }
    struct weir_adaptive_rate_stats stats;
    weir_core_rate_stats(job->core, connection, now_us, &stats);
    uint32_t in_flight = job->core->connections[connection].in_flight;
    for (uint32_t i = 0; i < BAR; i++)
        cell[i] = i < in_flight ? '#' : '.';
    cell[BAR] = '\0';
    printf("  %s %2u/%-4d", cell, in_flight, stats.current_parallelism);
}

static void print_event(const struct view *view, const struct weir_pool_event *event)
{
    print_time(event->time_us - view->begun_us);
    if (event->type == WEIR_EVENT_THROTTLE)
        printf("  > %s hits its %s limit (0x%08" PRIx32
               "), Retry-After %.0f s: work goes elsewhere\n",
               event->connection_name, weir_throttle_kind_name(event->verdict.throttle),
               event->verdict.code, (double)event->verdict.retry_after_us / 1e6);
    else
        printf("  > %s is open again: one probe, then 2, 4 ...\n", event->connection_name);
}

static void print_events(const struct view *view, struct weir_core *core)
{
    const char *told = NULL;
    struct weir_pool_event event;
    while (weir_core_event(core, &event)) {
        bool again = event.type == WEIR_EVENT_THROTTLE && told == event.connection_name;
        if (event.type == WEIR_EVENT_THROTTLE)
            told = event.connection_name;
        if (event.type == WEIR_EVENT_REOPENED || (event.type == WEIR_EVENT_THROTTLE && !again))
            print_event(view, &event); /* of the throttles of one flight, the first */
    }
}

static void sample(void *ctx, const struct job *job, int64_t now_us)
{
    struct view *view = ctx;
    print_events(view, job->core);
    print_time(now_us - view->begun_us);
    for (uint32_t i = 0; i < USERS; i++)
        print_connection(job, i, now_us);
    printf("  %6u rows/s\n", (unsigned)((job->done - view->done_before) * ROWS /
                                        (uint32_t)(SAMPLE_US / WEIR_US_PER_S)));
    view->done_before = job->done;
}

/* Three quarters of a user's budget, spent between 150 and 100 seconds ago. */
static void use_up(struct service *service, uint32_t user, int64_t now_us)
{
    for (int i = 0; i < 900; i++) {
        service->users[user].running++;
        service_finish(service, user, WEIR_US_PER_S,
                       now_us - 150 * WEIR_US_PER_S + i * WEIR_US_PER_S / 18);
    }
}

static void print_head(const struct weir_options *options)
{
    printf(
        "Three application users load %d batches of %d rows; a batch takes %d s. Each user may "
        "use\n"
        "up 1,200 s of execution time in any 300 s, and somebody else has just used up 900 s of\n"
        "AppUser1's. Policy %s, strategy %s, virtual time. A # is a request in flight;\n"
        "n/m: n in flight of a level of m.\n\n",
        BATCHES, ROWS, BATCH_S, options->adaptive_rate.policy, options->pool.selection_strategy);
    printf("  time");
    for (uint32_t i = 0; i < options->connection_count; i++)
        printf("  %-16s", options->connections[i].name);
    printf("\n");
}

static void print_end(struct weir_core *core, const struct job *job, const struct view *view)
{
    struct weir_pool_stats stats;
    weir_core_stats(core, job->now_us, &stats);
    int64_t seconds = (job->now_us - view->begun_us) / WEIR_US_PER_S;
    printf("\n%u rows in", job->done * ROWS);
    print_time(job->now_us - view->begun_us);
    printf(" (%" PRId64 " rows/s), %" PRIu64 " throttles, nothing sent inside a Retry-After.\n",
           (int64_t)job->done * ROWS / seconds, stats.total_throttle_events);
    for (uint32_t i = 0; i < USERS; i++)
        printf("  %s  %" PRIu64 " batches\n", core->connections[i].name, view->done_by[i]);
}

int main(void)
{
    static const struct weir_connection_options connections[USERS] = { { .name = "AppUser1" },
                                                                       { .name = "AppUser2" },
                                                                       { .name = "AppUser3" } };
    struct weir_options options;
    weir_options_defaults(&options);
    options.connections = connections;
    options.connection_count = USERS;

    struct weir_core core;
    struct weir_error err;
    if (weir_core_init(&core, &options, NULL, 1, true, &err)) {
        fprintf(stderr, "weir-demo: %s\n", err.message);
        return 1;
    }
    struct service service;
    service_init(&service, USERS, limits);
    struct view view = { .begun_us = WEIR_US_PER_HOUR };
    use_up(&service, 0, view.begun_us);
    struct job job = {
        .core = &core,
        .service = &service,
        .batches = BATCHES,
        .duration_us = BATCH_S * WEIR_US_PER_S,
        .dop_hint = 4,
        .deadline_us = WEIR_US_PER_DAY,
        .sample_us = SAMPLE_US,
        .sample = sample,
        .ctx = &view,
        .now_us = view.begun_us,
        .done_by = view.done_by,
    };
    print_head(&options);
    job_run(&job);
    print_end(&core, &job, &view);
    service_release(&service);
    weir_core_release(&core);
    return job.done == BATCHES && !job.over_cap && !job.while_closed ? 0 : 1;
}
