/* SPDX-License-Identifier: MIT */
/*
 * Where jobs live: $XDG_STATE_HOME/weir/jobs/<id>, below ~/.local/state without that variable, or
 * wherever --job-dir says. An id says when a job began (UTC), with which table and what it does:
 * 20261116-054512-account-create-7f3a. Directories are absolute; texts that
 * are returned are the caller's to free.
 */
#ifndef WEIR_APP_JOB_PLACE_H
#define WEIR_APP_JOB_PLACE_H

#include "weir/error.h"

/* Where jobs are that have no directory of their own. WEIR_E_INVALID: there is no home for it. */
enum weir_status job_place_root(char **ret, struct weir_error *err);

/* A directory for a new job; nothing is made yet. WEIR_E_INVALID: there is no home for it. */
enum weir_status job_place_new(const char *table, const char *operation, char **ret,
                               struct weir_error *err);

/* The directory that --job-dir names. WEIR_E_INVALID: it names none. */
enum weir_status job_place_given(const char *directory, char **ret, struct weir_error *err);

/*
 * The directory of a job that is called so, below the root. WEIR_E_INVALID: it cannot be called so,
 * or there is no home for it.
 */
enum weir_status job_place_named(const char *name, char **ret, struct weir_error *err);

/*
 * The directory of the job that `job` means: an id, or a directory. WEIR_E_NOT_FOUND: neither.
 * Whether there is a job in it is for others to say.
 */
enum weir_status job_place_find(const char *job, char **ret, struct weir_error *err);

/* What job_place_find() finds `directory` by, from everywhere: its id, or itself. */
char *job_place_name(const char *directory);

/* The same for a shell of another day, which may not have this one's XDG_STATE_HOME. */
char *job_place_word(const char *directory);

/* Whether there is a job in `directory`, whatever its state. */
bool job_place_has_job(const char *directory);

/* The rejects file in `directory`, whatever its format; NULL: there is none. */
char *job_place_rejects(const char *directory);

#endif
