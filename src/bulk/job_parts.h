/* SPDX-License-Identifier: MIT */
/*
 * The inside of a job, for the files that are it; see job.h.
 *
 *     job_prepare.c   what is going to be done: table, mapping, input; of a new job or an old one
 *     job_facts.c     what of that is journaled, and read again
 *     job.c           the run: begin, wait, stop, the end
 *     job_rows.c      rows that are handed in
 *     job_result.c    what has become of it, over all runs
 */
#ifndef WEIR_BULK_JOB_PARTS_H
#define WEIR_BULK_JOB_PARTS_H

#include <pthread.h>

#include "base/buf.h"
#include "bulk/driver.h"
#include "bulk/feed.h"
#include "bulk/job.h"
#include "bulk/skipper.h"
#include "client/client.h"
#include "records/mapping.h"
#include "records/reader.h"

/* The name of the journal's note that says how far earlier runs have read. */
#define WEIR_READ_NOTE "read"

struct weir_job {
    struct weir_client *client;
    struct weir_options settings; /* the client's, with the parallelism of this job */
    struct weir_job_options options;
    struct weir_journal_hooks hooks;
    struct weir_arena *texts; /* of the options and the paths */

    /* What is going to be done. */
    struct weir_table *table;
    struct weir_table_names names;
    char organisation[WEIR_GUID_TEXT];
    int64_t service_began_us; /* by the service's clock */
    int64_t started_us;       /* wall clock */
    struct weir_row_ids ids;
    const char **paths;
    size_t path_count; /* 0: rows are handed in */
    int stop_fds[2];   /* tells a reader of streams to stop; -1: not there */
    struct weir_reader *reader;
    struct weir_mapping *mapping;
    struct weir_plan plan;
    struct weir_request_plan requests;

    /* What earlier runs have left. */
    bool resumed;
    struct weir_pass_totals before;
    uint64_t read_before; /* rows, as far as it is known */
    bool complete_before; /* the input was read to its end */
    struct weir_block *blocks;
    size_t block_count;

    /* The run. */
    struct weir_journal *journal;
    struct weir_intake *intake;
    struct weir_driver *driver;
    struct weir_feed *feed;
    int64_t begun_us;
    int64_t bytes_total; /* of the input; 0: not known */
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool over;

    /* Rows that are handed in; in the thread that does it, those that others look at under the
     * lock: rows, input_over, limited. */
    bool finished;
    struct weir_skipper skipper;
    bool skipping;
    struct weir_arena *scratch;
    uint64_t rows;        /* so far, without those that are held back */
    uint64_t rows_added;  /* of them, not passed over */
    uint64_t rows_bytes;  /* of them, with a line end each */
    struct weir_buf held; /* rows that follow these, with a line end each */
    uint64_t bytes;       /* that are in a block: of all rows that were handed in */
    char *block;          /* of the input, WEIR_INPUT_BLOCK_BYTES */
    size_t block_filled;
    size_t block_noted;      /* so much of it was told to the journal */
    struct weir_error wrong; /* the rows are not those of the job; WEIR_OK: they may be */
    bool input_over;
    bool limited;

    char trouble[WEIR_MESSAGE_MAX + 64];
};

/* --- job_facts.c --- */

/* The text of facts.options. The caller frees it. */
char *weir_job_facts_print(const struct weir_job *job);

/* Back from what was journaled. WEIR_E_INVALID: not as it was written. */
enum weir_status weir_job_facts_parse(struct weir_job *job, const struct weir_job_facts *facts,
                                      struct weir_error *err);

/* What the rejects file begins with. The caller frees it. */
char *weir_job_header(const struct weir_job *job);

/* A copy of a text that lives as long as the job; NULL stays NULL. */
const char *weir_job_keep(struct weir_job *job, const char *text);

/* --- job_prepare.c --- */

void weir_job_release_preparations(struct weir_job *job);

/* --- job_rows.c --- */

enum weir_status weir_job_begin_rows(struct weir_job *job, struct weir_error *err);

/* Nothing follows. Does nothing if rows are read from files; more than once is fine. */
void weir_job_end_rows(struct weir_job *job);

/* The block at hand, to be journaled; false: nothing is in it. After the end of the rows. */
bool weir_job_rows_block(const struct weir_job *job, struct weir_block *ret);

void weir_job_release_rows(struct weir_job *job);

/* --- job.c --- */

/* The journal's callbacks; `ctx` is the job. */
struct weir_journal_watch weir_job_watch(struct weir_job *job);

/* --- job_result.c --- */

/* After the journal is finished. */
void weir_job_sum_up(struct weir_job *job, struct weir_job_result *ret);

/* How far this run has read: a number of rows, and whether that was all. */
uint64_t weir_job_last_row(struct weir_job *job);
bool weir_job_is_complete(struct weir_job *job);

/* Up to which row a next run has to reckon with requests of this one or of those before it. */
uint64_t weir_job_taint(struct weir_job *job, const struct weir_driver_view *view);

enum weir_status weir_job_write_summary(struct weir_job *job, const struct weir_job_result *result,
                                        struct weir_error *err);

/* One sentence that says why it ended; "" if there is nothing to say. `failure`: of the journal or
 * of a file; status WEIR_OK: none. */
void weir_job_explain(struct weir_job *job, const struct weir_job_result *result,
                      const struct weir_error *failure);

#endif
