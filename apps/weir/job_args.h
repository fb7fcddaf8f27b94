/* SPDX-License-Identifier: MIT */
/*
 * The command line of create, update, upsert, delete, resume and check: words first, then what they
 * mean.
 * A resumed job has its rows' options (row_args.h), batch size and directory already; whoever gives
 * one of them again is told so.
 */
#ifndef WEIR_APP_JOB_ARGS_H
#define WEIR_APP_JOB_ARGS_H

#include "row_args.h"
#include "settings.h"
#include "weir/bulk.h"

enum job_progress_form {
    JOB_PROGRESS_AUTO,  /* the view if it can be shown, otherwise plain */
    JOB_PROGRESS_PLAIN, /* a line now and then */
    JOB_PROGRESS_JSON,  /* an object a line, every second */
    JOB_PROGRESS_NONE,
};

/* Who reads it. */
enum job_args_use {
    JOB_ARGS_NEW,    /* create, update, upsert, delete */
    JOB_ARGS_RESUME, /* takes nothing that shapes a job */
    JOB_ARGS_CHECK,  /* takes --operation besides; without operands nothing that shapes a job */
};

/* Texts point into argv; NULL: not given. */
struct job_args {
    struct settings_args settings;
    struct row_args rows;
    const char *job;
    const char *job_dir;
    bool or_resume;
    const char *batch_size;
    const char *max_errors;
    const char *max_parallel;
    const char *max_rate;
    const char *limit;
    const char *deadline;
    const char *memory;
    const char *progress;
    const char *metrics_listen;
    const char *report;
    const char *operation;
    bool yes;
    char **operands;
    size_t operand_count;
};

/* WEIR_E_INVALID: an option that is not known, lacks its value, or has no place here. */
enum weir_status job_args_parse(struct job_args *args, enum job_args_use use, int argc, char **argv,
                                struct weir_error *err);

/* WEIR_E_INVALID: something that has no place in a new job that does this. */
enum weir_status job_args_check(const struct job_args *args, enum weir_operation operation,
                                struct weir_error *err);

/* The options to offer, up to ARGS_MAX; returns how many. `operation`: of a new job. */
size_t job_args_list(enum job_args_use use, enum weir_operation operation, struct arg *ret);

/*
 * What was given, into options that have their defaults; texts are borrowed. WEIR_E_INVALID: a
 * value that cannot be right.
 */
enum weir_status job_args_options(const struct job_args *args, struct weir_job_options *ret,
                                  struct weir_error *err);

enum weir_status job_args_progress(const struct job_args *args, enum job_progress_form *ret,
                                   struct weir_error *err);

#endif
