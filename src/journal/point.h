/* SPDX-License-Identifier: MIT */
/*
 * Fault points: the boundaries at which a kill would leave different things behind. Nothing happens
 * at them in production; a test is called with the name of each and ends the process there.
 */
#ifndef WEIR_JOURNAL_POINT_H
#define WEIR_JOURNAL_POINT_H

enum weir_point {
    /* making a job */
    WEIR_POINT_DIRECTORY_MADE,
    WEIR_POINT_FACTS_COMMITTED,
    WEIR_POINT_JOB_SYNCED,
    WEIR_POINT_JOB_BEFORE_RENAME,
    WEIR_POINT_JOB_AFTER_RENAME,
    WEIR_POINT_JOB_CREATED,
    /* opening one */
    WEIR_POINT_VERIFIED,
    WEIR_POINT_OPENED,
    /* a group of records, on the journal's thread */
    WEIR_POINT_BEFORE_INSERT,
    WEIR_POINT_AFTER_INSERT,
    WEIR_POINT_BEFORE_COMMIT,
    WEIR_POINT_AFTER_COMMIT,
    WEIR_POINT_AFTER_SEAL,
    WEIR_POINT_BEFORE_CHECKPOINT,
    WEIR_POINT_AFTER_CHECKPOINT,
    /* the end */
    WEIR_POINT_BEFORE_FINISH,
    WEIR_POINT_AFTER_FINISH,
    WEIR_POINT_CLOSED,
    /* exports: two for each file, in the order of enum weir_export */
    WEIR_POINT_REJECTS_BEFORE_RENAME,
    WEIR_POINT_REJECTS_AFTER_RENAME,
    WEIR_POINT_ERRORS_BEFORE_RENAME,
    WEIR_POINT_ERRORS_AFTER_RENAME,
    WEIR_POINT_IDS_BEFORE_RENAME,
    WEIR_POINT_IDS_AFTER_RENAME,
    WEIR_POINT_SUMMARY_BEFORE_RENAME,
    WEIR_POINT_SUMMARY_AFTER_RENAME,
    WEIR_POINT_COUNT
};

/* Such as "before-commit". Any thread. */
const char *weir_point_name(enum weir_point point);

#endif
