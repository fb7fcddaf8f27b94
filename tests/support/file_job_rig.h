/* SPDX-License-Identifier: MIT */
/*
 * A bulk job that reads a file, against a running weir-sim: prepared, begun and waited for as the
 * command does it, in this process or in another one that is killed; and what the simulator holds
 * afterwards.
 */
#ifndef WEIR_TESTS_FILE_JOB_RIG_H
#define WEIR_TESTS_FILE_JOB_RIG_H

#include <signal.h>
#include <sys/wait.h>

#include "bulk/job.h"
#include "support/job_rig.h"

struct file_job {
    char path[96];
    const char *paths[1];
    struct weir_job_files files;
    char job_directory[96];
    bool begun; /* atomic */
};

static struct file_job file_job;

/* The directory of the rig has the input; the job has one of its own inside. */
static inline void file_job_write(const char *name, const char *text)
{
    snprintf(file_job.path, sizeof(file_job.path), "%s/%s", job_rig.directory, name);
    FILE *file = fopen(file_job.path, "we");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(text, 1, strlen(text), file), strlen(text));
    ck_assert_int_eq(fclose(file), 0);
    file_job.paths[0] = file_job.path;
    file_job.files = (struct weir_job_files){ file_job.paths, 1, -1 };
    snprintf(file_job.job_directory, sizeof(file_job.job_directory), "%s/job", job_rig.directory);
    job_rig.options.directory = file_job.job_directory;
}

static inline enum weir_status file_job_try(const struct weir_journal_hooks *hooks)
{
    return weir_job_prepare(rig.client, &job_rig.options, &file_job.files, hooks, &job_rig.job,
                            &job_rig.err);
}

static inline void file_job_prepare(const struct weir_journal_hooks *hooks)
{
    enum weir_status status = file_job_try(hooks);
    ck_assert_msg(status == WEIR_OK, "%s", job_rig.err.message);
}

static inline void file_job_prepare_again(const struct weir_journal_hooks *hooks)
{
    enum weir_status status = weir_job_prepare_again(rig.client, &job_rig.options, false, -1, hooks,
                                                     &job_rig.job, &job_rig.err);
    ck_assert_msg(status == WEIR_OK, "%s", job_rig.err.message);
}

static inline void file_job_begin(void)
{
    enum weir_status status = weir_job_begin(job_rig.job, &job_rig.err);
    ck_assert_msg(status == WEIR_OK, "%s", job_rig.err.message);
    __atomic_store_n(&file_job.begun, true, __ATOMIC_RELEASE);
}

static inline void file_job_run(int exit_code)
{
    file_job_prepare(NULL);
    file_job_begin();
    job_finish(exit_code);
}

static inline void file_job_run_again(int exit_code)
{
    __atomic_store_n(&file_job.begun, false, __ATOMIC_RELEASE);
    job_leave();
    file_job_prepare_again(NULL);
    file_job_begin();
    job_finish(exit_code);
}

/* A file of the job. The caller frees it. */
static inline char *file_job_file(const char *name)
{
    char path[128];
    snprintf(path, sizeof(path), "job/%s", name);
    return job_file(path);
}

/* --- another process -------------------------------------------------------------------------- */

struct file_job_death {
    enum weir_point point;
    unsigned nth;
    unsigned passed; /* atomic */
};

static inline void file_job_die(void *ctx, enum weir_point point)
{
    struct file_job_death *death = ctx;
    if (point == death->point &&
        __atomic_add_fetch(&death->passed, 1, __ATOMIC_SEQ_CST) == death->nth)
        kill(getpid(), SIGKILL);
}

/*
 * Run the job in a process of its own that dies at that point; there is no client yet. True: it
 * died. Otherwise it came to its end, with that exit code.
 */
static inline bool file_job_run_and_die(bool again, enum weir_point point, unsigned nth,
                                        int exit_code)
{
    pid_t child = fork();
    if (child == 0) {
        struct file_job_death death = { point, nth, 0 };
        struct weir_journal_hooks hooks = { .at = file_job_die, .ctx = &death };
        rig_open();
        enum weir_status status =
            again ? weir_job_prepare_again(rig.client, &job_rig.options, false, -1, &hooks,
                                           &job_rig.job, &job_rig.err)
                  : file_job_try(&hooks);
        if (!status)
            status = weir_job_begin(job_rig.job, &job_rig.err);
        if (!status)
            status = weir_job_finish(job_rig.job, &job_rig.result, &job_rig.err);
        _exit(status ? 99 : job_rig.result.exit_code);
    }
    int how;
    ck_assert_int_eq(waitpid(child, &how, 0), child);
    if (WIFSIGNALED(how)) {
        ck_assert_int_eq(WTERMSIG(how), SIGKILL);
        return true;
    }
    ck_assert_int_eq(WEXITSTATUS(how), exit_code);
    return false;
}

/* --- what the simulator holds ----------------------------------------------------------------- */

/* What the values of the last answer point into. */
static char *file_job_answer;

/* The answer to a read of a set, to be freed; it is good until the next one. */
static inline struct weir_json *file_job_rows(const char *path)
{
    struct weir_json *json;
    struct weir_response response;
    enum weir_status status = rig_try("GET", path, NULL, true, &response);
    ck_assert_msg(status == WEIR_OK, "%s", rig.err.message);
    free(file_job_answer);
    file_job_answer = weir_strndup(response.body, response.body_bytes);
    weir_response_release(&response);
    ck_assert_int_eq(weir_json_parse(weir_str_from(file_job_answer), &json, NULL), WEIR_OK);
    return json;
}

/* The text of a member of a row; "" if it is null. */
static inline struct weir_str file_job_value(const struct weir_json_node *row, const char *name)
{
    const struct weir_json_node *node = weir_json_find(row, name);
    ck_assert_msg(node, "no member %s", name);
    return node->type == WEIR_JSON_NULL ? weir_str("", 0) : node->text;
}

#endif
