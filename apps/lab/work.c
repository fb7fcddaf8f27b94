/* SPDX-License-Identifier: MIT */
/* All the runs that were asked for; see work.h. */
#include "lab/work.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"

/* A process that works on one scenario. */
struct worker {
    pid_t pid;
    int from; /* the end of the pipe that is read */
};

static void run_scenario(const struct sim_scenario *scenario, const struct lab_request *request,
                         struct lab_outcome *outcomes)
{
    for (uint32_t seed = 0; seed < request->seeds; seed++) {
        struct lab_outcome blank = { 0 };
        lab_oracle(scenario, seed + 1, LAB_ORACLE_COMPLIANT, &blank.oracle, NULL);
        if (request->edge)
            lab_oracle(scenario, seed + 1, LAB_ORACLE_EDGE, &blank.edge, NULL);
        for (uint32_t p = 0; p < request->policy_count; p++) {
            struct lab_outcome *outcome = &outcomes[p * request->seeds + seed];
            *outcome = blank;
            lab_run(scenario, &request->policies[p], seed + 1, &outcome->figures);
        }
    }
}

static size_t outcome_bytes(const struct lab_request *request)
{
    return sizeof(struct lab_outcome) * request->policy_count * request->seeds;
}

/* --- one after the other ---------------------------------------------------------------------- */

static enum weir_status work_alone(const struct sim_scenario *scenarios, uint32_t count,
                                   const struct lab_request *request, lab_done *done, void *ctx)
{
    struct lab_outcome *outcomes = weir_calloc(1, outcome_bytes(request));
    for (uint32_t i = 0; i < count; i++) {
        run_scenario(&scenarios[i], request, outcomes);
        done(ctx, i, outcomes);
    }
    free(outcomes);
    return WEIR_OK;
}

/* --- several at a time ------------------------------------------------------------------------ */

static bool write_all(int to, const void *bytes, size_t len)
{
    for (const char *at = bytes; len > 0;) {
        ssize_t written = write(to, at, len);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        at += written;
        len -= (size_t)written;
    }
    return true;
}

static bool read_all(int from, void *bytes, size_t len)
{
    for (char *at = bytes; len > 0;) {
        ssize_t got = read(from, at, len);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        at += got;
        len -= (size_t)got;
    }
    return true;
}

static void be_worker(const struct sim_scenario *scenario, const struct lab_request *request,
                      int to)
{
    struct lab_outcome *outcomes = weir_calloc(1, outcome_bytes(request));
    run_scenario(scenario, request, outcomes);
    bool told = write_all(to, outcomes, outcome_bytes(request));
    free(outcomes);
    _exit(told ? 0 : 1);
}

static enum weir_status start(struct worker *worker, const struct sim_scenario *scenario,
                              const struct lab_request *request, struct weir_error *err)
{
    int ends[2];
    if (pipe(ends))
        return weir_fail(err, WEIR_E_IO, "no pipe: %s", strerror(errno));
    worker->pid = fork();
    if (worker->pid == 0)
        be_worker(scenario, request, ends[1]);
    close(ends[1]);
    worker->from = ends[0];
    if (worker->pid > 0)
        return WEIR_OK;
    close(ends[0]);
    return weir_fail(err, WEIR_E_IO, "no process: %s", strerror(errno));
}

static enum weir_status finish(struct worker *worker, const struct lab_request *request,
                               struct lab_outcome *ret, struct weir_error *err)
{
    bool told = read_all(worker->from, ret, outcome_bytes(request));
    int status;
    close(worker->from);
    while (waitpid(worker->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return told ? WEIR_OK : weir_fail(err, WEIR_E_IO, "a process did not come to its end");
}

static enum weir_status work_together(const struct sim_scenario *scenarios, uint32_t count,
                                      const struct lab_request *request, struct weir_error *err,
                                      lab_done *done, void *ctx)
{
    struct worker workers[LAB_JOBS_MAX];
    struct lab_outcome *outcomes = weir_calloc(1, outcome_bytes(request));
    enum weir_status status = WEIR_OK;
    uint32_t started = 0, finished = 0;
    while (finished < count && !status) {
        while (started < count && started - finished < request->jobs && !status) {
            status = start(&workers[started % LAB_JOBS_MAX], &scenarios[started], request, err);
            started += !status;
        }
        if (status)
            break;
        status = finish(&workers[finished % LAB_JOBS_MAX], request, outcomes, err);
        if (!status)
            done(ctx, finished, outcomes);
        finished++;
    }
    for (; finished < started; finished++) /* only after a failure */
        finish(&workers[finished % LAB_JOBS_MAX], request, outcomes, NULL);
    free(outcomes);
    return status;
}

enum weir_status lab_work(const struct sim_scenario *scenarios, uint32_t count,
                          const struct lab_request *request, struct weir_error *err, lab_done *done,
                          void *ctx)
{
    if (request->jobs > 1)
        return work_together(scenarios, count, request, err, done, ctx);
    return work_alone(scenarios, count, request, done, ctx);
}
