/* SPDX-License-Identifier: MIT */
/*
 * A dry run: all rows of a job that was prepared are read, mapped and packed as they would be, and
 * nothing is sent or written.
 *
 *     weir_job_prepare(client, &options, &files, NULL, &job, err)     options.directory may be NULL
 *     weir_job_check(job, &how, &check, err)                          instead of weir_job_begin()
 *     weir_job_check_release(&check);
 *     weir_job_free(job);
 *
 * Rows from files only. The input is read: a job that was checked cannot be begun.
 */
#ifndef WEIR_BULK_JOB_CHECK_H
#define WEIR_BULK_JOB_CHECK_H

#include "bulk/check_row.h"
#include "bulk/job.h"
#include "records/mapping.h"

struct weir_job_check_options {
    uint32_t refusals_max; /* that are kept, the first of them */
    uint64_t rows_max;     /* to read; 0: all */

    /* Asked every few thousand rows, with what was found so far: false ends the check, with
     * WEIR_E_CANCELLED. May be NULL. */
    bool (*go_on)(void *ctx, uint64_t rows);
    void *ctx;
};

/* A row that would be refused before it is sent. */
struct weir_check_refusal {
    uint64_t row;     /* from 1, over all files */
    const char *path; /* of its file, as people know it; the job's */
    uint64_t line;    /* in that file, from 1 */
    uint64_t offset;  /* of its first byte in the file */
    char *column;     /* to blame; "": the row */
    char *message;    /* with the value that is wrong */
};

/* One pass over the rows. */
struct weir_check_pass {
    bool made;           /* the job has it */
    const char *message; /* by which rows would go: "CreateMultiple", …; "$batch" if one by one */
    uint64_t rows;       /* that would be sent */
    uint64_t idle;       /* with nothing to do in this pass */
    uint64_t requests;   /* if none fails */
    uint64_t bytes;      /* of rows in their bodies, about */
};

/* An active alternate key of the table, whose values no two rows that are created may share. */
struct weir_check_key {
    const struct weir_alternate_key *key; /* the table's */
    uint64_t repeated;                    /* rows that have the value of an earlier one … */
    uint64_t repeated_row;                /* … the first of them; 0: none … */
    uint64_t repeated_first;              /* … and the row that had its value */
};

struct weir_job_check {
    uint64_t rows; /* that were read */
    bool limited;  /* rows_max of them: there may be more */
    bool ids_made; /* the input has none: every row gets one of its own */
    uint64_t refused;
    struct weir_check_refusal *refusals; /* the first of those */
    uint32_t refusal_count;

    /*
     * Rows whose key an earlier one has, compared by 64-bit hashes of keys as the database compares
     * them: of ten million different keys two have the same hash with a chance of 3 in a million.
     * WEIR_CHECK_KEYS_MAX keys are remembered; beyond that repeats of later ones are not seen.
     */
    uint64_t repeated;
    uint64_t repeated_row;   /* the first of them; 0: none … */
    uint64_t repeated_first; /* … and the row that had its key */
    bool keys_forgotten;     /* there were too many keys */

    /*
     * Of a create into a table that is not elastic. The service refuses the later one of two rows
     * that share an id or the values of an alternate key; a row that has no value for a part of a
     * key has none. The keys of the rows are remembered together with these.
     */
    struct weir_check_key *keys;
    uint32_t key_count;
    uint64_t duplicates; /* rows that would be refused for that, each once */

    /* What else is in the rows, over all passes: links, overrides. Its keys are those above. */
    struct weir_check_view view;

    struct weir_check_pass passes[WEIR_PASSES];
};

/*
 * Outputs are set on success only.
 *   WEIR_E_INVALID    the job reads no files, or was begun
 *   WEIR_E_CANCELLED  go_on() said so
 *   and what keeps the input from being read
 */
enum weir_status weir_job_check(struct weir_job *job, const struct weir_job_check_options *options,
                                struct weir_job_check *ret, struct weir_error *err);
void weir_job_check_release(struct weir_job_check *check);

#endif
