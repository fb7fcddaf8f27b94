/* SPDX-License-Identifier: MIT */
/*
 * A job as the command sees it: what weir/bulk.h offers, and besides that rows from files, a look
 * at what is going to happen before anything is written, and a wait that ends.
 *
 *     prepare ─▶ what will be done: table, mapping, input       nothing has been written yet
 *     begin   ─▶ the journal is there; the reader and the loop work
 *     wait    ─▶ over, or not yet
 *     finish  ─▶ files, result
 *
 * Threads: the caller's; the client's loop, which owns the driver; one that reads the files, if
 * there are any; the journal's.
 */
#ifndef WEIR_BULK_JOB_H
#define WEIR_BULK_JOB_H

#include "journal/entry.h"
#include "journal/hooks.h"
#include "metrics/histogram.h"
#include "protocol/metadata.h"
#include "records/spec.h"
#include "weir/bulk.h"
#include "weir/verdict.h"

/* Where the rows come from. The paths are copied. */
struct weir_job_files {
    const char *const *paths; /* "-" is standard input */
    size_t path_count;        /* 0: rows come by weir_job_add() */
    int stdin_fd;             /* borrowed as long as the job lives */
};

/*
 * A new job, not begun. As weir_job_new(), and WEIR_E_INVALID, WEIR_E_NOT_FOUND, WEIR_E_IO for what
 * is wrong with the files or their columns. `hooks` may be NULL. Without a directory it can only be
 * checked (job_check.h).
 */
enum weir_status weir_job_prepare(struct weir_client *client,
                                  const struct weir_job_options *options,
                                  const struct weir_job_files *files,
                                  const struct weir_journal_hooks *hooks, struct weir_job **ret,
                                  struct weir_error *err);

/*
 * The job in options->directory, not begun. It is held from now on. The files are those of the
 * job; `stdin_fd` stands in for standard input if `stdin_given`, and a job that read from standard
 * input needs it.
 */
enum weir_status weir_job_prepare_again(struct weir_client *client,
                                        const struct weir_job_options *options, bool stdin_given,
                                        int stdin_fd, const struct weir_journal_hooks *hooks,
                                        struct weir_job **ret, struct weir_error *err);

/* Of a job that was prepared; live as long as the job. */
const struct weir_table *weir_job_table(const struct weir_job *job);
const struct weir_job_options *weir_job_options(const struct weir_job *job);
const char *weir_job_directory(const struct weir_job *job);
const char *weir_job_url(const struct weir_job *job);
const struct weir_spec *weir_job_spec(const struct weir_job *job); /* NULL: nothing is said */

/* The columns of the input. Of objects, which have none: those of the first one, if it can be read
 * twice; they live as long as the job. */
enum weir_status weir_job_columns(struct weir_job *job, struct weir_columns *ret,
                                  struct weir_error *err);

/* The files whose rows it has, as it was begun with them; none if rows are handed in. */
const char *const *weir_job_paths(const struct weir_job *job, size_t *ret_count);

/* Nothing is left to do: every row of the input is finished, and the files are there. */
bool weir_job_is_finished(const struct weir_job *job);

/* Make the journal (of a new one) and go. */
enum weir_status weir_job_begin(struct weir_job *job, struct weir_error *err);

/*
 * Wait until it is over, at most so long. True: it is over. One thread: it is the one that begins
 * the next pass of rows from files when one is over, so that somebody must be waiting, or finish.
 */
bool weir_job_wait(struct weir_job *job, int64_t timeout_us);

/*
 * As weir_job_each_reject(), of rows from files, too. `path`: of its file; "" if rows were handed
 * in.
 */
typedef void weir_job_walk_fn(void *ctx, const struct weir_reject *reject, const char *path);
enum weir_status weir_job_walk_rejects(struct weir_job *job, weir_job_walk_fn *fn, void *ctx,
                                       struct weir_error *err);

/* What the service last said that is left of a budget. */
struct weir_job_budget {
    double remaining; /* negative: nothing was said yet */
    double most;      /* the most that it said in this run: about the whole */
};

/* Of one connection, beside weir_job_rate_stats(): for a line of progress. Any thread. */
struct weir_job_connection {
    const char *name;
    uint64_t requests;
    uint64_t rows_done;
    uint64_t throttles;
    double throttled_for_s; /* 0: not */
    double broken_for_s;    /* its breaker is open so long; 0: not */
    bool set_aside;
    struct weir_job_budget requests_budget;
    struct weir_job_budget execution_budget; /* in seconds */
    uint32_t in_flight;
    uint32_t level;
    enum weir_bound bound_by;
};
void weir_job_connection(struct weir_job *job, size_t connection, struct weir_job_connection *ret);

/* What it has met in this run, for a report. Any thread. */
struct weir_job_experience {
    uint64_t throttles_by_kind[WEIR_THROTTLE_OTHER + 1]; /* enum weir_throttle_kind */
    double throttle_wait_s;                              /* that throttles have kept it closed */
    struct weir_histogram latency;                       /* of requests that were answered */
};
void weir_job_experience(struct weir_job *job, size_t connection, struct weir_job_experience *ret);

/* What a connection was last refused for, in words. The caller frees it; NULL: for nothing. */
char *weir_job_refusal(struct weir_job *job, size_t connection);
size_t weir_job_connection_count(const struct weir_job *job);

#endif
