/* SPDX-License-Identifier: MIT */
/*
 * A bulk job of the library against a running weir-sim: a directory of its own, rows from memory,
 * and what the simulator's ledger says afterwards.
 */
#ifndef WEIR_TESTS_JOB_RIG_H
#define WEIR_TESTS_JOB_RIG_H

#include <ftw.h>

#include "support/client_rig.h"
#include "weir/bulk.h"

struct job_rig {
    char directory[64];
    struct weir_job_options options;
    struct weir_job *job;
    struct weir_job_result result;
    struct weir_error err;
};

static struct job_rig job_rig;

static inline int job_rig_remove(const char *path, const struct stat *about, int flag,
                                 struct FTW *place)
{
    (void)about;
    (void)flag;
    (void)place;
    return remove(path);
}

/* A simulator, a client and options for a job; the job is not begun. */
static inline void job_rig_start(size_t users, enum weir_operation operation, const char *table)
{
    job_rig = (struct job_rig){ .directory = "/tmp/weir-job-XXXXXX" };
    ck_assert_ptr_nonnull(mkdtemp(job_rig.directory));
    rig_start(users);
    weir_job_options_defaults(&job_rig.options);
    job_rig.options.operation = operation;
    job_rig.options.table = table;
    job_rig.options.owner = "caller";
    job_rig.options.directory = job_rig.directory;
    rig.options.resilience.late_commit_time_us = WEIR_US_PER_S;
    rig.options.resilience.read_back_delay_us = 100 * WEIR_US_PER_MS;
}

static inline void job_rig_end(void)
{
    weir_job_free(job_rig.job);
    rig_close();
    nftw(job_rig.directory, job_rig_remove, 16, FTW_DEPTH | FTW_PHYS);
}

static inline void job_begin(void)
{
    enum weir_status status =
        weir_job_new(rig.client, &job_rig.options, &job_rig.job, &job_rig.err);
    ck_assert_msg(status == WEIR_OK, "%s", job_rig.err.message);
}

static inline void job_begin_again(void)
{
    enum weir_status status =
        weir_job_resume(rig.client, &job_rig.options, &job_rig.job, &job_rig.err);
    ck_assert_msg(status == WEIR_OK, "%s", job_rig.err.message);
}

static inline enum weir_status job_add(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
static inline enum weir_status job_add(const char *format, ...)
{
    char row[512];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(row, sizeof(row), format, args);
    va_end(args);
    return weir_job_add(job_rig.job, row, (size_t)len, &job_rig.err);
}

/* Accounts number `from` to `to` - 1. */
static inline void job_add_accounts(int from, int to)
{
    for (int i = from; i < to; i++) {
        enum weir_status status =
            job_add("{\"name\":\"account %d\",\"accountnumber\":\"A%d\"}", i, i);
        ck_assert_msg(status == WEIR_OK, "%s", job_rig.err.message);
    }
}

/* The job must come to its end; the balance must be right. */
static inline void job_finish(int exit_code)
{
    const struct weir_job_result *it = &job_rig.result;
    enum weir_status status = weir_job_finish(job_rig.job, &job_rig.result, &job_rig.err);
    ck_assert_msg(status == WEIR_OK, "%s", job_rig.err.message);
    ck_assert_uint_eq(it->read, it->done + it->rejected + it->skipped + it->unknown + it->not_sent);
    ck_assert_int_eq(it->exit_code, exit_code);
}

static inline void job_leave(void)
{
    weir_job_free(job_rig.job);
    job_rig.job = NULL;
}

/* A number of the simulator's ledger of a table. */
static inline long job_ledger(const char *table, const char *counter)
{
    struct weir_json *json;
    char path[128];
    snprintf(path, sizeof(path), "/sim/ledger?table=%s", table);
    ck_assert_int_eq(ask("GET", path, NULL), 200);
    ck_assert_int_eq(weir_json_parse(weir_str_from(body_of(&bytes)), &json, NULL), WEIR_OK);
    const struct weir_json_node *node = weir_json_find(weir_json_root(json), counter);
    ck_assert_msg(node, "no counter %s", counter);
    long value = strtol(node->text.ptr, NULL, 10);
    weir_json_free(json);
    return value;
}

static inline void job_faults(const char *faults)
{
    char body[512];
    snprintf(body, sizeof(body), "{\"faults\":[%s]}", faults);
    ck_assert_int_eq(ask("POST", "/sim/faults", body), 200);
}

/* A file of the job, as text. The caller frees it. */
static inline char *job_file(const char *name)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", job_rig.directory, name);
    FILE *file = fopen(path, "re");
    ck_assert_ptr_nonnull(file);
    struct weir_buf text;
    char part[4096];
    size_t got;
    weir_buf_init(&text, (size_t)64 * 1024 * 1024);
    while ((got = fread(part, 1, sizeof(part), file)) > 0)
        weir_buf_add(&text, part, got);
    fclose(file);
    return weir_buf_take(&text);
}

#endif
