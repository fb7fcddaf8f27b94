/* SPDX-License-Identifier: MIT */
/* A job in virtual time; see job.h. */
#include "support/job.h"

#include "base/clock.h"
#include "base/mem.h"

#define FLIGHTS_MAX 4096

/* One request on the wire; `lease` of the heap `ends` by the time of its answer. */
struct flight {
    struct weir_lease lease;
    struct weir_answer answer;
    bool accepted;
};

struct run {
    struct job *job;
    struct flight *flights;
    struct weir_heap ends; /* flights by the time of their answer */
    uint32_t *free;        /* places in `flights` */
    uint32_t free_count;
    uint32_t waiting; /* batches not in flight */
    uint64_t ticket;  /* of the one ask that is out; 0: none */
};

static void note_grant(struct job *job, const struct weir_lease *lease)
{
    const struct weir_connection *it = &job->core->connections[lease->connection];
    /* The ramp and the level may have moved since, but not by a grant: it can be checked after it.
     */
    if (it->in_flight > weir_core_cap(job->core, lease->connection, job->now_us))
        job->over_cap++;
    if (job->core->resilience.enable_throttle_tracking &&
        job->now_us < weir_core_reopening_us(job->core, lease->connection))
        job->while_closed++;
}

/* The lease is there: the request leaves, and is let in or refused by the service. */
static void depart(struct run *run, struct weir_lease lease)
{
    struct job *job = run->job;
    note_grant(job, &lease);
    if (weir_core_begin(job->core, &lease, job->now_us) != WEIR_OK)
        return;
    run->waiting--;
    uint32_t place = run->free[--run->free_count];
    struct flight *flight = &run->flights[place];
    *flight = (struct flight){ .lease = lease };
    flight->accepted = service_arrive(job->service, lease.connection, job->now_us, &flight->answer);
    if (flight->accepted)
        flight->answer = (struct weir_answer){ .verdict = { .outcome = WEIR_OUTCOME_EXECUTED,
                                                            .retry_after_us = -1 },
                                               .duration_us = job->duration_us };
    flight->answer.budget.dop_hint = job->dop_hint;
    int64_t latency_us = flight->accepted ? job->duration_us : SERVICE_REFUSAL_US;
    weir_heap_set(&run->ends, place, job->now_us + latency_us);
}

/* Ask for leases until somebody has to wait. */
static void ask(struct run *run)
{
    while (!run->ticket && run->waiting && run->free_count) {
        struct weir_grant grant;
        struct weir_ask wish = { .rows = 100, .acquire_timeout_us = -1 };
        weir_core_ask(run->job->core, &wish, run->job->now_us, &grant);
        if (grant.status == WEIR_OK)
            depart(run, grant.lease);
        else
            run->ticket = grant.ticket;
    }
}

static void arrive(struct run *run, uint32_t place)
{
    struct job *job = run->job;
    struct flight *flight = &run->flights[place];
    uint32_t connection = flight->lease.connection;
    weir_heap_remove(&run->ends, place);
    if (flight->accepted) {
        service_finish(job->service, connection, job->duration_us, job->now_us);
        job->done++;
        if (job->done_by)
            job->done_by[connection]++;
    } else {
        job->throttled++;
        run->waiting++;
    }
    weir_core_settle(job->core, &flight->lease, &flight->answer, job->now_us);
    run->free[run->free_count++] = place;
}

static int64_t turn(struct run *run)
{
    struct weir_grant grant;
    uint32_t count;
    int64_t next = weir_core_turn(run->job->core, run->job->now_us, &grant, 1, &count);
    if (count) {
        run->ticket = 0;
        if (grant.status == WEIR_OK)
            depart(run, grant.lease);
    }
    return next;
}

static void go_on_until(struct job *job, int64_t next_us)
{
    while (job->sample && job->sample_us &&
           next_us / job->sample_us > job->now_us / job->sample_us) {
        job->now_us = (job->now_us / job->sample_us + 1) * job->sample_us;
        job->sample(job->ctx, job, job->now_us);
    }
    job->now_us = next_us;
}

void job_run(struct job *job)
{
    struct run run = { .job = job, .waiting = job->batches };
    run.flights = weir_calloc(FLIGHTS_MAX, sizeof(*run.flights));
    run.free = weir_calloc(FLIGHTS_MAX, sizeof(*run.free));
    weir_heap_init(&run.ends, FLIGHTS_MAX);
    for (uint32_t i = 0; i < FLIGHTS_MAX; i++)
        run.free[run.free_count++] = FLIGHTS_MAX - 1 - i;

    while (job->done < job->batches && job->now_us < job->deadline_us) {
        int64_t next = turn(&run);
        ask(&run);
        if (run.ticket)
            next = turn(&run);
        if (weir_heap_min(&run.ends) < next)
            next = weir_heap_min(&run.ends);
        if (next > job->deadline_us)
            next = job->deadline_us;
        go_on_until(job, next > job->now_us ? next : job->now_us);
        while (weir_heap_min(&run.ends) <= job->now_us)
            arrive(&run, weir_heap_top(&run.ends));
    }
    weir_heap_release(&run.ends);
    free(run.flights);
    free(run.free);
}
