/* SPDX-License-Identifier: MIT */
/*
 * The inside of a job, for the files that are it; see job.h.
 *
 *     job_options.c   what may be asked for
 *     job_prepare.c   what is going to be done, of a new job or an old one, with
 *     job_input.c     … its files,
 *     job_spec.c      … what its rows mean,
 *     job_metadata.c  … its tables, and
 *     job_plan.c      … how rows are sent
 *     job_facts.c     what of that is journaled, and read again
 *     job.c           the run: begin, wait, stop, the end
 *     job_pass.c      one pass over the rows after the other
 *     job_rows.c      rows that are handed in
 *     job_progress.c  how it stands
 *     job_result.c    what has become of it, over all runs
 *     job_rejects.c   which rows were rejected, and why
 *     job_check.c     a dry run
 */
#ifndef WEIR_BULK_JOB_PARTS_H
#define WEIR_BULK_JOB_PARTS_H

#include <pthread.h>

#include "base/buf.h"
#include "bulk/driver.h"
#include "bulk/feed.h"
#include "bulk/job.h"
#include "bulk/scribe.h"
#include "bulk/skipper.h"
#include "client/client.h"
#include "records/mapping.h"
#include "records/reader.h"

/* Names of the journal's notes: how far earlier runs have read, and in which pass they were. */
#define WEIR_READ_NOTE "read"
#define WEIR_PASS_NOTE "pass"

/* … and what their requests took, for jobs that size them by that. */
#define WEIR_SIZES_NOTE "sizes"

struct weir_job {
    struct weir_client *client;
    struct weir_options settings; /* the client's, with the parallelism of this job */
    struct weir_job_options options;
    struct weir_journal_hooks hooks;
    struct weir_arena *texts;                      /* of the options and the paths */
    struct weir_throttle_counts *throttles_before; /* of the client, by connection */

    /* What is going to be done. */
    struct weir_table *table;
    struct weir_table_names names;
    struct weir_table **others; /* that lookups point to */
    size_t other_count;
    bool tables_told; /* by the service: the journal has not all of them yet */
    struct weir_references *references;
    const char *mapping_text; /* of the mapping file; NULL: none */
    struct weir_spec spec;
    struct weir_zone *zone; /* NULL: none */
    char organisation[WEIR_GUID_TEXT];
    int64_t service_began_us; /* by the service's clock */
    int64_t started_us;       /* wall clock */
    struct weir_row_ids ids;
    const char **paths;
    size_t path_count;          /* 0: rows are handed in */
    int stop_fds[2];            /* tells a reader of streams to stop; -1: not there */
    struct weir_reader *reader; /* the first: its columns are the job's; NULL: rows are handed in */
    struct weir_columns first_names; /* of an input without columns; no names: not read */
    uint32_t first_file;             /* … that has them; with columns all files do */
    struct weir_mapping *mapping;
    enum weir_pass last_pass;
    struct weir_plan plan; /* of the pass under way … */
    struct weir_request_plan requests;

    /* What earlier runs have left. */
    bool resumed;
    bool complete_before; /* the input was read to its end */
    struct weir_sizes sizes;
    struct weir_block *blocks;
    size_t block_count;

    /*
     * The pass under way. It is changed by whoever waits for the job, under its lock; this one is
     * taken before the driver's, `lock` after it.
     */
    pthread_mutex_t pass_lock;
    enum weir_pass pass;
    struct weir_pass_totals before; /* what earlier runs have done in it */
    uint64_t rejected_before;       /* rows that the passes before it rejected, … */
    uint64_t skipped_before;        /* … and that the first skipped */
    uint64_t read_before;           /* rows, as far as it is known: all of them behind the first */
    uint64_t reach;                 /* that is durable before it begins; decisions/008 */
    struct weir_reader *reading;    /* the one that is read in it */
    struct weir_intake *intake;
    struct weir_feed *feed;
    struct weir_error
        pass_failure; /* why the next one was not begun; WEIR_OK: it was, or is none */

    /* The run. */
    struct weir_journal *journal;
    struct weir_driver *driver;
    int64_t begun_us;
    int64_t deadline_us; /* counted from the first preparations on; WEIR_FOREVER: none */
    int64_t bytes_total; /* of the input; 0: not known */
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool over;     /* the pass under way … */
    bool run_over; /* … and no other follows */
    bool finished; /* weir_job_finish() has been here */

    /* Rows that are handed in; in the thread that does it, those that others look at under the
     * lock: rows, input_over, limited. */
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
    struct weir_hash_run block_hashed; /* as far as it was noted */
    size_t block_noted;                /* so much of it was told to the journal */
    struct weir_error wrong;           /* the rows are not those of the job; WEIR_OK: they may be */
    bool input_over;
    bool limited;

    char trouble[WEIR_MESSAGE_MAX + 64];
};

/* --- job_journal.c --- */

/* Make the journal of a new job; what it has to know before the first row is sent is durable. */
enum weir_status weir_job_make_journal(struct weir_job *job, struct weir_error *err);

/* What the journal does not have yet of the tables of a later run. */
void weir_job_note_tables(struct weir_job *job);

/* Notes with texts of their own. */
struct weir_job_notes {
    struct weir_note *notes;
    size_t count;
};
void weir_job_notes_add(struct weir_job_notes *notes, const char *name, const char *text);

/* --- job_facts.c --- */

/* The text of facts.options. The caller frees it. WEIR_E_TOO_BIG: more than a fact can be. */
enum weir_status weir_job_facts_print(struct weir_job *job, char **ret, struct weir_error *err);

/* Back from what was journaled. WEIR_E_INVALID: not as it was written. */
enum weir_status weir_job_facts_parse(struct weir_job *job, const struct weir_job_facts *facts,
                                      struct weir_error *err);

/* What the rejects file begins with. The caller frees it. WEIR_E_TOO_BIG: as above. */
enum weir_status weir_job_header(const struct weir_job *job, char **ret, struct weir_error *err);

/* --- job_options.c --- */

/* What a resumed job takes as well, and all of them. WEIR_E_INVALID. */
enum weir_status weir_job_check_run_options(const struct weir_job_options *options,
                                            struct weir_error *err);
enum weir_status weir_job_check_options(const struct weir_job_options *options,
                                        struct weir_error *err);

/* What goes with every request. WEIR_E_INVALID, WEIR_E_TOO_BIG: it cannot. */
enum weir_status weir_job_request_options(const struct weir_job_options *options,
                                          struct weir_request_options *ret, struct weir_error *err);

/* Copies that live as long as the job: of a text (NULL stays NULL), of constants, of all. */
const char *weir_job_keep(struct weir_job *job, const char *text);
void weir_job_keep_with(struct weir_job *job, const char *const *with, size_t count);
void weir_job_keep_options(struct weir_job *job, const struct weir_job_options *options);

/* --- job_spec.c --- */

/* The text of the mapping file that the options name. */
enum weir_status weir_job_read_mapping(struct weir_job *job, struct weir_error *err);

/* What the rows mean beyond their header: spec and zone. */
enum weir_status weir_job_make_spec(struct weir_job *job, struct weir_error *err);

/* --- job_input.c --- */

enum weir_status weir_job_keep_paths(struct weir_job *job, const struct weir_job_files *files,
                                     struct weir_error *err);

/* The files from their beginning. `options` has what is not the same every time. */
enum weir_status weir_job_open_files(struct weir_job *job, struct weir_reader_options *options,
                                     struct weir_reader **ret, struct weir_error *err);

/* The files from the first row on that is not finished in a pass; they must be what they were. */
enum weir_status weir_job_reopen_files(struct weir_job *job, const struct weir_journal_view *view,
                                       enum weir_pass pass, int stdin_fd, struct weir_reader **ret,
                                       struct weir_error *err);

/* As people know the file that has weir_job_columns(), the first; NULL: rows are handed in. */
const char *weir_job_input_name(const struct weir_job *job);

/* Of all files; 0: it is not known how long they are. */
int64_t weir_job_bytes(const struct weir_job *job);

/* One of them can be read only once. */
bool weir_job_reads_streams(const struct weir_job *job);

/* --- job_metadata.c --- */

/*
 * Ask for the job's own table, or read in the journal what an earlier run was told; and the same of
 * those that its lookups point to, one request each.
 */
enum weir_status weir_job_describe(struct weir_job *job, struct weir_error *err);
enum weir_status weir_job_describe_others(struct weir_job *job, struct weir_error *err);

/* Rows that lookups refer to by a column; the mapping says which. */
enum weir_status weir_job_read_references(struct weir_job *job, struct weir_error *err);

/* What the service has told of tables. */
void weir_job_notes_add_tables(struct weir_job_notes *notes, const struct weir_job *job);

/* --- job_plan.c --- */

/* Plan and requests of a pass. */
void weir_job_make_plan(struct weir_job *job, enum weir_pass pass);

/* How batches are packed. After weir_job_make_plan(). */
struct weir_packer_options weir_job_packer_options(const struct weir_job *job);

/* --- job_pass.c --- */

/* How many passes there are, and the place of one among them, from 0. */
unsigned weir_job_pass_count(const struct weir_job *job);
unsigned weir_job_pass_place(const struct weir_job *job, enum weir_pass pass);

/* The pass under way: its intake, and what the driver has to know of it. */
struct weir_intake *weir_job_new_intake(struct weir_job *job);
struct weir_driver_pass weir_job_driver_pass(const struct weir_job *job);

/* Read for the pass under way. */
enum weir_status weir_job_start_feed(struct weir_job *job, const struct weir_journal_view *view,
                                     struct weir_error *err);

/*
 * The pass is over. If it has brought every row to its end and there is another one, begin that:
 * true. Otherwise the run is over. Rows from files; in the thread that waits.
 */
bool weir_job_next_pass(struct weir_job *job);

/* Into the journal, between passes or after the last. */
enum weir_status weir_job_note_read(struct weir_job *job, bool complete, struct weir_error *err);
enum weir_status weir_job_add_note(struct weir_job *job, const char *name, const char *text,
                                   struct weir_error *err);

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

/* The intake has something: wakes the driver. `ctx` is the job. */
void weir_job_on_ready(void *ctx);

/* Nothing can be read in the pass that has begun, and why: it ends with that. */
void weir_job_call_off(struct weir_job *job, const struct weir_error *why);

/* --- job_result.c --- */

/* After the journal is finished. */
enum weir_status weir_job_sum_up(struct weir_job *job, struct weir_job_result *ret,
                                 struct weir_error *err);

/* How far this pass has read: a number of rows, and whether that was all. In the thread that
 * changes passes, or under their lock. */
struct weir_feed_position weir_job_position(struct weir_job *job);
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
