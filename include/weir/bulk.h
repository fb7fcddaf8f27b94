/* SPDX-License-Identifier: MIT */
/*
 * Bulk jobs: a table, an operation and rows, and every row is carried to its end.
 *
 *     struct weir_job_options options;
 *     weir_job_options_defaults(&options);
 *     options.operation = WEIR_OPERATION_UPSERT;
 *     options.table = "account";
 *     options.key = "accountnumber";
 *     options.directory = "/var/lib/loads/2026-11";
 *     if (weir_job_new(client, &options, &job, &err) != WEIR_OK)
 *         ...
 *     while (... a row ...)
 *         if (weir_job_add(job, json, bytes, &err) != WEIR_OK)
 *             break;
 *     weir_job_finish(job, &result, &err);
 *     weir_job_free(job);
 *
 * A row is a JSON object as the Web API takes it: `{"accountnumber":"A1","name":"Contoso"}`. The
 * job spreads rows over the client's connections, as many at a time as the service allows, and
 * keeps a journal in its directory: whatever dies in between, weir_job_resume() and the same rows
 * in the same order finish it, and no row is lost or doubled. Creates carry ids that the job makes
 * unless the rows have them.
 *
 * When it is over, the directory has `rejects.jsonl` (the rows that were refused, as they came),
 * `errors.jsonl` (why), `ids.csv` (what was created) and `summary.json`.
 *
 * While a job runs, weir_execute() works on the same client; the job does not know of it.
 */
#ifndef WEIR_BULK_H
#define WEIR_BULK_H

#include "weir/execute.h"
#include "weir/stats.h"

#ifdef __cplusplus
extern "C" {
#endif

enum weir_operation {
    WEIR_OPERATION_CREATE = 0,
    WEIR_OPERATION_UPDATE,
    WEIR_OPERATION_UPSERT,
    WEIR_OPERATION_DELETE,
};

/* "create", "update", "upsert", "delete"; "unknown operation" of anything else. Any thread. */
WEIR_API const char *weir_operation_name(enum weir_operation operation);

/* What an empty cell is. */
enum weir_empty {
    WEIR_EMPTY_OMIT = 0, /* not there */
    WEIR_EMPTY_NULL,     /* null: the column is cleared */
    WEIR_EMPTY_REJECT,   /* wrong: the row is rejected */
};

/* Of weir_job_options.batch_size: chosen on the way. */
#define WEIR_BATCH_SIZE_AUTO 0

/* Everything is copied. A resumed job takes from here only what is marked with a star. */
struct weir_job_options {
    enum weir_operation operation;
    const char *table;     /* logical name */
    const char *key;       /* columns of an alternate key, with commas; NULL: the primary id */
    const char *id_from;   /* columns that ids are derived from, with commas: the same values give
                              the same id in every job of the organisation. A create that finds
                              such a row there from an earlier job skips it; NULL: ids are made
                              unless rows have them */
    const char *owner;     /* of created rows: systemuser:ID, team:ID, or caller (whoever sends
                              them); NULL: not said, which tables with owners do not accept from
                              more than one connection */
    const char *directory; /* * of the job; that of a new one must not be there, or be empty */
    const char *name;      /* of the job; NULL: the last part of its directory */

    /* Rows of files, which only the command reads: what their columns are for, and what their cells
     * mean. Rows that are handed in are taken as they are: a mapping, constants, columns to ignore
     * and a time zone are refused then, and the others change nothing. */
    const char *format;         /* csv, tsv or jsonl; NULL: by the name of the first file, and csv
                                   of standard input, which has none */
    const char *mapping;        /* path of a mapping file, whose text is journaled; NULL: none */
    const char *const *with;    /* constants, each COLUMN=VALUE */
    size_t with_count;          /* … so many */
    const char *ignore_columns; /* of the input, with commas; NULL: none */
    enum weir_empty empty;      /* what an empty cell is */
    const char *timezone;       /* IANA name, of times that have none; NULL: they are refused */
    bool raw;                   /* JSON Lines: objects as the Web API takes them */

    /* Asked of the service with every request. */
    const char *as;           /* in whose name: the object id of a user; NULL: our own */
    const char *bypass_logic; /* plug-ins and workflows that do not run: sync, async or all; NULL:
                                 they run */
    bool bypass_flows;        /* flows are not started */
    bool detect_duplicates;   /* by the service's own rules */
    const char *tag;          /* a text that plug-ins see; NULL: none */

    uint32_t batch_size;        /* rows in a request at most: 100; WEIR_BATCH_SIZE_AUTO: as many
                                   as make good use of the time that requests take, which is
                                   learned on the way */
    uint64_t rejected_max;      /* * rejected rows after which the job stops; UINT64_MAX: any */
    double rejected_share_max;  /* * or this share of the rows that were read, 0 … 1, as if they
                                   were 1,000 as long as there are fewer and more may come; 0:
                                   not used */
    uint64_t rows_max;          /* * of the input that this run may read, in each pass; 0: all */
    int64_t deadline_us;        /* * this run stops after so long; 0: never */
    double rows_per_second_max; /* * 0: any */
    uint32_t parallel_batches_max; /* * requests in flight; 0: what the settings say */
    size_t memory_bytes_max;       /* * of rows on their way: 24 MiB */
};

WEIR_API void weir_job_options_defaults(struct weir_job_options *options);

/* How the command would end; when several apply, the one further up stands. */
enum weir_exit {
    WEIR_EXIT_INTERNAL = 70,
    WEIR_EXIT_LOCAL_IO = 7,      /* disk full, journal */
    WEIR_EXIT_CREDENTIALS = 4,   /* or privilege */
    WEIR_EXIT_UNREACHABLE = 10,  /* the service */
    WEIR_EXIT_UNKNOWN_ROWS = 8,  /* rows whose outcome is unknown remain */
    WEIR_EXIT_TOO_MANY = 3,      /* rows were rejected: rejected_max, rejected_share_max */
    WEIR_EXIT_STOPPED = 6,       /* deadline, limit or tolerance reached */
    WEIR_EXIT_INTERRUPTED = 5,   /* weir_job_stop() */
    WEIR_EXIT_USAGE = 2,         /* or configuration; or the input could not be read */
    WEIR_EXIT_REJECTED_ROWS = 1, /* done, some rows rejected */
    WEIR_EXIT_DONE = 0,
};

/* Why a run ended before its input did; several may apply. */
enum weir_end {
    WEIR_END_JOURNAL = 1 << 0,     /* results could not be made durable */
    WEIR_END_CREDENTIALS = 1 << 1, /* nobody is let in, or nobody may do it */
    WEIR_END_UNREACHABLE = 1 << 2,
    WEIR_END_ERRORS = 1 << 3,    /* more rejected rows than wanted */
    WEIR_END_LIMIT = 1 << 4,     /* a deadline, a number of rows, a tolerance */
    WEIR_END_INTERRUPT = 1 << 5, /* weir_job_stop() */
    WEIR_END_INPUT = 1 << 6,     /* it could not be read, or is not what it was */
    WEIR_END_INTERNAL = 1 << 7,  /* the service, or weir itself, did not do as it must */
    WEIR_END_DAMAGED = 1 << 8, /* besides WEIR_END_INPUT: it will be as unreadable in a later run */
};

/*
 * What has become of the rows, over all runs of the job:
 *     read = done + rejected + skipped + unknown + not_sent      when it is over
 */
struct weir_job_result {
    uint64_t read;
    uint64_t done;     /* durably known to be done; absent ones included */
    uint64_t absent;   /* deletes that found nothing to delete */
    uint64_t rejected; /* the service, or we, will never accept them */
    uint64_t skipped;  /* there already, from an earlier job that derived the same ids */
    uint64_t unknown;  /* may have been executed; a resume finds out */
    uint64_t not_sent; /* have not been executed */
    uint64_t halfway;  /* of them: written, with a pass for their lookups or states still to come */
    bool read_to_end;  /* the input has no more rows than those */

    /* Of this run. */
    unsigned ends; /* enum weir_end, as bits */
    int exit_code; /* that the command would end with: enum weir_exit */
    double elapsed_s;
    uint64_t requests;
    uint64_t bytes_sent;
    uint64_t rows_again; /* rows of requests that were not their first */
    uint64_t throttles;
    double throttle_wait_s;    /* that throttles kept connections closed, added up over them */
    uint64_t requests_unknown; /* whose outcome is not known and that may still be executed … */
    double requests_unknown_for_s; /* … for so long; 0: none */
    uint32_t batch_rows;           /* of a request: batch_size, or what was chosen at the end */
};

/*
 * How things stand. Rows of files may need several passes: what refers to rows of the same table is
 * set when all of them are there, and states come last. A row is done after its last pass.
 */
struct weir_job_progress {
    unsigned pass;       /* that is under way, from 1 … */
    unsigned passes;     /* … of so many */
    uint64_t pass_ended; /* rows that have nothing left to do in it */
    uint64_t read;       /* rows, over all runs, as in the result … */
    uint64_t done;
    uint64_t rejected;
    uint64_t skipped;
    uint64_t in_flight;     /* … sent, and not answered */
    double rows_per_second; /* that ended in their pass, over the last 30 s of this run */
    double elapsed_s;       /* of this run */
    double eta_s;           /* until the last pass is over; negative: not known */
    double read_share;      /* of the input, over all passes, 0 … 1; negative: not known */
    double throttled_for_s; /* all connections are: so long; 0: not */
    struct weir_pool_stats pool;
    uint32_t requests_in_flight;
    char trouble[160]; /* what is in the way while nothing moves; empty: nothing */
    bool stopping;     /* nothing more is sent */
    bool over;
};

struct weir_job;

/*
 * Begin a job: ask the service for the table, make the journal, be ready for rows. Blocks.
 *   WEIR_E_INVALID      an option; a job is there already; a key that the table has not
 *   WEIR_E_NOT_FOUND    no such table
 *   WEIR_E_IO           the journal cannot be made
 *   and what weir_execute() fails with
 * The client must outlive the job; one job at a time.
 */
WEIR_API enum weir_status weir_job_new(struct weir_client *client,
                                       const struct weir_job_options *options,
                                       struct weir_job **ret, struct weir_error *err);

/*
 * Go on with a job that was begun with weir_job_new(). All rows are handed in again, in the same
 * order; those that are finished are passed over.
 *   WEIR_E_NOT_FOUND  no job in options->directory
 *   WEIR_E_INVALID    somebody else works on it; it is damaged; it belongs to another environment
 */
WEIR_API enum weir_status weir_job_resume(struct weir_client *client,
                                          const struct weir_job_options *options,
                                          struct weir_job **ret, struct weir_error *err);

/*
 * One row, copied: `bytes` of JSON without a line end. Blocks while the job has enough of them.
 * One thread at a time. What is no JSON object, or an object that the table cannot take, is no
 * failure: it is a row of the job, and rejected.
 *   WEIR_E_INVALID    a row with a line end in it; or another row than the one that a resumed job
 *                     had here. These are compared in blocks: it may be one of the last 4 MiB, and
 *                     the job takes no more
 *   WEIR_E_TOO_BIG    larger than can be sent; it is no row of the job, and others may follow
 *   WEIR_E_CANCELLED  the job takes no more: it is ending; weir_job_trouble() says why
 *   WEIR_E_IO         the journal of a resumed job cannot be read
 */
WEIR_API enum weir_status weir_job_add(struct weir_job *job, const char *json, size_t bytes,
                                       struct weir_error *err);

/*
 * There are no more rows: wait until all have come to their end, write the files. Returns WEIR_OK
 * when the job has run, whatever became of the rows: ret->exit_code tells; otherwise what kept the
 * files from being written. *ret is set in either case. Call it once, in the thread that adds.
 */
WEIR_API enum weir_status weir_job_finish(struct weir_job *job, struct weir_job_result *ret,
                                          struct weir_error *err);

/* Something is left that weir_job_resume() can do: rows, or files. Any thread. */
WEIR_API bool weir_job_result_can_resume(const struct weir_job_result *result);

/* Why it ended, as one sentence for people; "" if there is nothing to say. After weir_job_finish();
 * lives as long as the job. */
WEIR_API const char *weir_job_trouble(const struct weir_job *job);

/* A rejected row, as errors.jsonl has it. Texts end with a 0 and are empty if there is none. */
struct weir_job_reject {
    uint64_t row;           /* as they were handed in, from 1 */
    const char *json;       /* the row; empty: it is not to be handed in again */
    size_t json_bytes;      /* … without its line end */
    bool superseded;        /* a later row has the same key: that one counts */
    const char *column;     /* at which it failed */
    const char *class_name; /* as weir_class_name() says it; "input": it was never sent */
    const char *message;
    int http_status; /* 0: it was never sent */
    uint32_t service_code;
    uint32_t attempts;
    const char *connection;
    const char *request_id; /* for the support of the service */
};

/*
 * Call `fn` for each rejected row of all runs, in the order of rows; what it is given lives for the
 * call. One at a time is read, however many there are. After weir_job_finish(), one thread.
 * WEIR_E_IO, WEIR_E_INVALID: the journal cannot be read.
 */
typedef void weir_job_reject_fn(void *ctx, const struct weir_job_reject *reject);
WEIR_API enum weir_status weir_job_each_reject(struct weir_job *job, weir_job_reject_fn *fn,
                                               void *ctx, struct weir_error *err);

/* Send nothing more; what is in flight may come home for 29 s, so that the job is over within 30.
 * Any thread. */
WEIR_API void weir_job_stop(struct weir_job *job);

/* How things stand. Any thread. */
WEIR_API void weir_job_progress(struct weir_job *job, struct weir_job_progress *ret);

/* Of one connection, by its place in the settings; zeroed if there are fewer. Any thread. */
WEIR_API void weir_job_rate_stats(struct weir_job *job, size_t connection,
                                  struct weir_adaptive_rate_stats *ret);

/* A job that was not finished is stopped first. NULL is fine. */
WEIR_API void weir_job_free(struct weir_job *job);

#ifdef __cplusplus
}
#endif

#endif
