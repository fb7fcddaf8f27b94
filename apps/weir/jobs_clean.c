/* SPDX-License-Identifier: MIT */
/* weir jobs clean: remove what is finished; see jobs.h. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "args.h"
#include "base/clock.h"
#include "base/mem.h"
#include "command.h"
#include "config/duration.h"
#include "confirm.h"
#include "exit_code.h"
#include "figures.h"
#include "job_remove.h"
#include "jobs.h"
#include "journal/place.h"
#include "say.h"

/* What is to go, and how many stay. */
struct clean {
    bool force;
    int64_t before_us; /* wall clock: what was written to later stays */
    char **paths;
    size_t count;
    size_t max;
    size_t kept_young;
    size_t kept_open; /* something is left to do, or to read */
    size_t kept_running;
};

/* The last time that somebody wrote to it. */
static bool is_old(const struct clean *clean, const char *directory)
{
    struct weir_path path = weir_path_join(directory, WEIR_PLACE_DATABASE);
    struct stat about;
    return stat(path.text, &about) == 0 &&
           (int64_t)about.st_mtime * WEIR_US_PER_S <= clean->before_us;
}

static bool may_go(const struct clean *clean, enum job_state state)
{
    return state == JOB_STATE_FINISHED || (clean->force && state != JOB_STATE_RUNNING);
}

static void keep_path(struct clean *clean, const char *path)
{
    if (clean->count == clean->max) {
        clean->max = clean->max ? 2 * clean->max : 64;
        clean->paths = weir_realloc(clean->paths, clean->max, sizeof(*clean->paths));
    }
    clean->paths[clean->count++] = weir_strdup(path);
}

static void judge(void *ctx, const struct weir_job_listing *job)
{
    struct clean *clean = ctx;
    struct job_view view;
    job_view_look(&view, job);
    if (view.state == JOB_STATE_RUNNING)
        clean->kept_running++;
    else if (!may_go(clean, view.state))
        clean->kept_open++;
    else if (!is_old(clean, job->path))
        clean->kept_young++;
    else
        keep_path(clean, job->path);
}

/* Now that it is held, nobody runs it: the lock that is found is ours. */
static bool still_may_go(void *ctx, const char *directory)
{
    const struct clean *clean = ctx;
    struct weir_job_listing job;
    struct job_view view;
    struct weir_error err = { 0 };
    if (weir_job_listing_init(&job, directory, &err) == WEIR_E_NOT_FOUND)
        return false;
    job.error = err;
    job.holder = 0;
    job_view_look(&view, &job);
    weir_job_listing_release(&job);
    return may_go(clean, view.state) && is_old(clean, directory);
}

static void say_kept(const struct clean *clean)
{
    if (clean->kept_open > 0)
        say("kept: %s with rows that are unfinished, unknown or rejected, or damaged; --force "
            "removes them too",
            figure_count(clean->kept_open).text);
    if (clean->kept_young > 0)
        say("kept: %s younger than --older-than", figure_count(clean->kept_young).text);
    if (clean->kept_running > 0)
        say("kept: %s running", figure_count(clean->kept_running).text);
}

/* EXIT_DONE: go on. */
static int ask(const struct clean *clean, const struct jobs_words *words)
{
    for (size_t i = 0; i < clean->count; i++)
        say("  %s", clean->paths[i]);
    if (words->yes)
        return EXIT_DONE;
    if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
        return command_refuse(&command_jobs, "it asks before it removes jobs, and there is no "
                                             "terminal to ask on: give --yes");
    say_part("Remove %s job%s? [y/N] ", figure_count(clean->count).text,
             clean->count == 1 ? "" : "s");
    if (confirm_read_answer())
        return EXIT_DONE;
    say("weir jobs: nothing was removed");
    return EXIT_INTERRUPTED;
}

static int remove_all(struct clean *clean)
{
    size_t removed = 0;
    int code = EXIT_DONE;
    for (size_t i = 0; i < clean->count; i++) {
        struct weir_error err = { 0 };
        if (!job_remove(clean->paths[i], still_may_go, clean, &err)) {
            removed++;
            continue;
        }
        jobs_fail(&err);
        if (err.status == WEIR_E_IO)
            code = EXIT_LOCAL_IO;
    }
    say("weir jobs: removed %s of %s", figure_count(removed).text, figure_count(clean->count).text);
    return code;
}

static int clean_up(struct clean *clean, const char *root, const struct jobs_words *words)
{
    struct weir_error err = { 0 };
    if (weir_jobs_each(root, judge, clean, &err))
        return jobs_fail(&err);
    if (clean->count == 0) {
        say("weir jobs: nothing to remove in %s", root);
        say_kept(clean);
        return EXIT_DONE;
    }
    say("to be removed, with all their files:");
    int code = ask(clean, words);
    if (!code)
        code = remove_all(clean);
    say_kept(clean);
    return code;
}

int jobs_clean(const char *root, const struct jobs_words *words)
{
    struct weir_error err = { 0 };
    int64_t age_us = 0;
    if (words->older_than &&
        (!weir_duration_parse(weir_str_from(words->older_than), &age_us) || age_us < 0)) {
        args_refuse("--older-than", words->older_than,
                    "a duration with a unit, such as 90m, 12h or 30d", &err);
        return jobs_fail(&err);
    }
    struct clean clean = { .force = words->force, .before_us = weir_clock_wall_us() - age_us };
    int code = clean_up(&clean, root, words);
    for (size_t i = 0; i < clean.count; i++)
        free(clean.paths[i]);
    free(clean.paths);
    return code;
}
