/* SPDX-License-Identifier: MIT */
/*
 * The directory of a job, and the lock that makes it one process's.
 *
 *     make    parent/.name.new-XXXXXX   filled, fsynced ─ rename ─▶ parent/name ─ fsync parent
 *
 * so a job is there whole or not at all. The lock is taken before the rename and kept through it.
 * One thread at a time.
 */
#ifndef WEIR_JOURNAL_PLACE_H
#define WEIR_JOURNAL_PLACE_H

#include "base/limits.h"
#include "journal/hooks.h"
#include "weir/error.h"

#define WEIR_PLACE_DATABASE "journal.db"
#define WEIR_PLACE_SEAL     "journal.seal"
#define WEIR_PLACE_LOCK     "lock"

struct weir_job_place {
    char *directory; /* where the job is, or will be; absolute */
    char *temporary; /* where it is made; NULL: it is in its place */
    int lock_fd;     /* -1: not held */
    const struct weir_journal_hooks *hooks;
};

/* A file's path. */
struct weir_path {
    char text[WEIR_JOURNAL_PATH_MAX + 1];
};

/*
 * A temporary directory (0700) with a lock that is held; missing parents are made.
 *   WEIR_E_INVALID  there is a job already, or something else
 *   WEIR_E_IO       it cannot be made
 */
enum weir_status weir_place_make(struct weir_job_place *place, const char *directory,
                                 const struct weir_journal_hooks *hooks, struct weir_error *err);

/* Everything in the temporary directory is complete: make it durable and move it into place. */
enum weir_status weir_place_settle(struct weir_job_place *place, struct weir_error *err);

/*
 * The directory of an existing job, locked.
 *   WEIR_E_NOT_FOUND  there is no job
 *   WEIR_E_INVALID    another process holds it; the message says which, if that is known
 */
enum weir_status weir_place_init(struct weir_job_place *place, const char *directory,
                                 const struct weir_journal_hooks *hooks, struct weir_error *err);

/* Unlock; a job that was not settled is removed. Fine on one whose making failed. */
void weir_place_release(struct weir_job_place *place);

/* The path of a file in it, wherever it is now. */
struct weir_path weir_place_path(const struct weir_job_place *place, const char *name);

/* The path of `name` below `directory`. */
struct weir_path weir_path_join(const char *directory, const char *name);

/* The process that a job's lock names and that is alive; 0: none. It may be a later one's number.
 */
int64_t weir_place_holder(const char *directory);

#endif
