/* SPDX-License-Identifier: MIT */
/*
 * The files that a job leaves for people and programs, made from the journal at every orderly exit.
 * Each is replaced whole: an older one stays until the new one is complete. Memory does not grow
 * with the number of rows.
 *
 *     rejects.<suffix>  the header, then the original bytes of rejected rows, in order: an input
 *                       file again; superseded rows are left out, and those without bytes
 *     errors.jsonl      why, one line for each rejection; offsets are within the file it names
 *     ids.csv           row,id of the rows whose ids were journaled, ascending
 *     summary.json      whatever the caller says
 *
 * After weir_journal_finish(), or while the job runs (then: what is durable by now). One thread at
 * a time. WEIR_E_IO: a file could not be written; WEIR_E_INVALID: the journal is damaged.
 */
#ifndef WEIR_JOURNAL_EXPORT_H
#define WEIR_JOURNAL_EXPORT_H

#include "base/buf.h"
#include "journal/journal.h"

enum weir_export {
    WEIR_EXPORT_REJECTS = 0,
    WEIR_EXPORT_ERRORS,
    WEIR_EXPORT_IDS,
    WEIR_EXPORT_SUMMARY,
};

/*
 * The summary is written last, so it stands for all of them. A run that begins takes it away; one
 * that was killed before the end of its exports leaves none, and nothing is read.
 */
void weir_export_read_summary(const struct weir_journal *journal, struct weir_buf *text);
void weir_export_revoke(const struct weir_journal *journal);

enum weir_status weir_export_rejects(struct weir_journal *journal, struct weir_error *err);
enum weir_status weir_export_errors(struct weir_journal *journal, struct weir_error *err);
enum weir_status weir_export_ids(struct weir_journal *journal, struct weir_error *err);
enum weir_status weir_export_summary(struct weir_journal *journal, struct weir_str text,
                                     struct weir_error *err);

/* The first three. All are tried; the first failure is returned. */
enum weir_status weir_export_all(struct weir_journal *journal, struct weir_error *err);

#endif
