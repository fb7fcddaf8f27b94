/* SPDX-License-Identifier: MIT */
/*
 * What is known of a job before its first request and never changes: durable before anything is
 * sent. Each fact has a CRC of its own.
 */
#ifndef WEIR_JOURNAL_FACTS_H
#define WEIR_JOURNAL_FACTS_H

#include "base/str.h"
#include "journal/entry.h"
#include "journal/sql.h"
#include "protocol/row_id.h"

#define WEIR_JOB_ID_BYTES WEIR_ROW_ID_JOB_BYTES

/* The identity of an input file; the hashes are the reader's. */
struct weir_job_input {
    const char *path;
    bool on_disk; /* false: a stream, of which nothing is known: the rest is 0 */
    uint64_t size_bytes;
    uint64_t hash_first; /* of the first MiB */
    uint64_t hash_last;
};

/* Texts are terminated; NULL is the empty one. */
struct weir_job_facts {
    const char *job;                     /* its id or name */
    const char *operation;               /* "create", … */
    const char *table;                   /* logical name */
    const char *url;                     /* of the environment */
    const char *organisation;            /* id of the organisation */
    const char *options;                 /* whatever shapes the work; JSON, opaque here */
    const char *suffix;                  /* of the rejects file: "csv", "jsonl", … */
    int64_t started_us;                  /* wall clock */
    uint8_t id_bytes[WEIR_JOB_ID_BYTES]; /* random; made into ids of rows */
    struct weir_str header;              /* what the rejects file begins with */
    const struct weir_job_input *inputs;
    size_t input_count;
    /* Notes that are there from the beginning, each name once. A later one of the name replaces
     * them, so they are not among what is read. */
    const struct weir_note *notes;
    size_t note_count;
};

/* WEIR_E_INVALID or WEIR_E_TOO_BIG: what cannot be journaled. */
enum weir_status weir_job_facts_check(const struct weir_job_facts *facts, struct weir_error *err);

/* Of which the ids are made that weir makes: the same in every run. */
struct weir_row_ids weir_job_facts_row_ids(const struct weir_job_facts *facts);

/* How lines of the rejects file end: as that of the header does. */
const char *weir_job_facts_line_end(const struct weir_job_facts *facts);

/* Into an empty journal, within the caller's transaction. *ret_crc: over all of them. */
enum weir_status weir_job_facts_write(sqlite3 *db, const struct weir_job_facts *facts,
                                      uint32_t *ret_crc, struct weir_error *err);

/* Facts with memory of their own, verified. WEIR_E_INVALID: damaged. */
enum weir_status weir_job_facts_read(sqlite3 *db, struct weir_job_facts *ret, uint32_t *ret_crc,
                                     struct weir_error *err);

/* Only for facts that were read. */
void weir_job_facts_release(struct weir_job_facts *facts);

#endif
