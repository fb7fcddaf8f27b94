/* SPDX-License-Identifier: MIT */
/* The life of a job as a command; see job_command.h. */
#include "job_command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "bulk/job.h"
#include "confirm.h"
#include "exit_code.h"
#include "hooks.h"
#include "job_args.h"
#include "job_place.h"
#include "job_report.h"
#include "job_same.h"
#include "job_signals.h"
#include "metrics_server.h"
#include "progress.h"
#include "report_run.h"
#include "resume_line.h"
#include "say.h"

/* One run of the command, from its words to its end; zeroed, then filled from step to step. */
struct run {
    const struct command *command;
    bool resuming;
    enum weir_operation operation; /* of a new job */
    struct job_args args;
    enum job_progress_form form; /* of the progress */
    struct progress progress;
    struct metrics_server *metrics; /* NULL: not wanted */
    struct settings settings;
    struct weir_job_options options;
    struct weir_job_files files;
    bool from_stdin;
    char *directory;
    char *resume_line;
    struct weir_client *client;
    struct weir_job *job;
    struct report report;
    struct report_problems problems;
    struct weir_job_result result;
    struct weir_error error;      /* what has ended it, if that is not in the result */
    struct weir_error unreported; /* why there is no report; WEIR_OK: there is, or none is wanted */
    bool begun;
    bool broken_off; /* it is there, and has no result */
    bool as_json;    /* what is said is for a program */
};

static int fail(struct run *run, const struct weir_error *err)
{
    say("weir %s: %s", run->command->name, err->message);
    run->error = *err;
    return exit_code_of(err);
}

/* From now on lines are objects, if that is wanted. A person may have to be asked before. */
static void speak(struct run *run)
{
    run->as_json = run->form == JOB_PROGRESS_JSON;
    if (run->as_json)
        say_as_json();
}

/* The last line for a program. */
static int end(const struct run *run, int code)
{
    const struct weir_job_result *result = &run->result;
    bool finished = run->begun && !run->error.status;
    struct progress_end it = {
        .result = finished ? result : NULL,
        .exit_code = code,
        .reason = run->error.status ? run->error.message : NULL,
        .directory = run->begun || run->broken_off ? weir_job_directory(run->job) : NULL,
    };
    if (run->broken_off || (finished && job_report_can_go_on(result)))
        it.resume = run->resume_line;
    if (finished && weir_job_trouble(run->job)[0])
        it.reason = weir_job_trouble(run->job);
    if (!it.reason && run->unreported.status)
        it.reason = run->unreported.message;
    if (run->as_json)
        progress_say_end(run->begun ? run->job : NULL, &it);
    return code;
}

/* --- words ------------------------------------------------------------------------------------ */

static enum weir_status check_operands(const struct run *run, struct weir_error *err)
{
    size_t count = run->args.operand_count;
    char **operands = run->args.operands;
    if (!run->resuming && count < 2)
        return weir_fail(err, WEIR_E_INVALID, "it takes a table and a file; see weir help %s",
                         run->command->name);
    if (run->resuming && (count < 1 || count > 2 || (count == 2 && strcmp(operands[1], "-") != 0)))
        return weir_fail(err, WEIR_E_INVALID,
                         "it takes a job, and - if its rows come from standard input; see weir "
                         "help resume");
    if (run->resuming && run->args.yes)
        return weir_fail(err, WEIR_E_INVALID,
                         "--yes is not needed: a job that goes on asks nothing");
    return WEIR_OK;
}

static enum weir_status find_place(struct run *run, struct weir_error *err)
{
    const struct job_args *args = &run->args;
    if (args->job && args->job_dir)
        return weir_fail(err, WEIR_E_INVALID,
                         "--job and --job-dir both say where the job is: give one of them");
    if (args->or_resume && !args->job && !args->job_dir)
        return weir_fail(err, WEIR_E_INVALID,
                         "--or-resume has no job to look for: give --job NAME or --job-dir DIR");
    if (args->job)
        return job_place_named(args->job, &run->directory, err);
    if (args->job_dir)
        return job_place_given(args->job_dir, &run->directory, err);
    return job_place_new(run->options.table, weir_operation_name(run->operation), &run->directory,
                         err);
}

/* One that is there already is gone on with, if that is wanted and it is the same. */
static enum weir_status meet_job(struct run *run, struct weir_error *err)
{
    if (!job_place_has_job(run->directory))
        return WEIR_OK;
    if (!run->args.or_resume)
        return weir_fail(err, WEIR_E_INVALID,
                         "there is a job in \"%.300s\": resume it, give --or-resume, or choose "
                         "another %s",
                         run->directory, run->args.job ? "name" : "directory");
    run->resuming = true;
    return job_same_check(run->directory, &run->options, &run->files, err);
}

/* Everything that can be told from the command line alone. */
static enum weir_status read_words(struct run *run, struct weir_error *err)
{
    struct job_args *args = &run->args;
    enum weir_status status = check_operands(run, err);
    if (!status && !run->resuming)
        status = job_args_check(args, run->operation, err);
    if (!status)
        status = job_args_progress(args, &run->form, err);
    if (!status)
        status = job_args_options(args, &run->options, err);
    if (!status)
        status = report_init(&run->report, args->report, err);
    if (status)
        return status;
    if (run->resuming)
        return job_place_find(args->operands[0], &run->directory, err);
    run->options.table = args->operands[0];
    run->files.paths = (const char *const *)args->operands + 1;
    run->files.path_count = args->operand_count - 1;
    run->files.stdin_fd = STDIN_FILENO;
    status = find_place(run, err);
    return status ? status : meet_job(run, err);
}

static bool reads_stdin(const struct run *run)
{
    for (size_t i = 1; i < run->args.operand_count; i++) {
        if (strcmp(run->args.operands[i], "-") == 0)
            return true;
    }
    return false;
}

/* --- the steps -------------------------------------------------------------------------------- */

static bool must_ask(const struct run *run)
{
    return !run->resuming && !run->args.yes && run->operation != WEIR_OPERATION_CREATE;
}

static enum weir_status prepare(struct run *run, struct weir_error *err)
{
    run->options.directory = run->directory;
    enum weir_status status =
        weir_client_new(run->settings.options, &run->settings.sink, &run->client, err);
    if (status)
        return status;
    if (run->resuming)
        return weir_job_prepare_again(run->client, &run->options, run->from_stdin, STDIN_FILENO,
                                      job_hooks(), &run->job, err);
    return weir_job_prepare(run->client, &run->options, &run->files, job_hooks(), &run->job, err);
}

static void announce(const struct run *run)
{
    const struct weir_job_options *options = weir_job_options(run->job);
    const char *what = "";
    if (run->resuming)
        what = run->args.or_resume ? "going on with" : weir_operation_name(options->operation);
    say("weir %s: %s%s%s at %s, job %s", run->command->name, what, what[0] ? " " : "",
        options->table, weir_job_url(run->job), weir_job_directory(run->job));
}

/* The port was taken long before; a job that has begun is not ended for want of a thread. */
static void serve_metrics(const struct run *run)
{
    struct weir_error err = { 0 };
    if (!run->metrics)
        return;
    if (metrics_server_start(run->metrics, run->job, &err))
        say("weir %s: %s", run->command->name, err.message);
    else
        say("weir %s: metrics at %s", run->command->name, metrics_server_url(run->metrics));
}

static void wait_for(struct run *run)
{
    int64_t progress_us, report_us;
    do {
        progress_us = progress_tell(&run->progress, run->job);
        report_us = report_sample(&run->report, run->job);
    } while (!weir_job_wait(run->job, progress_us < report_us ? progress_us : report_us));
}

static int fail_unfinished(struct run *run, const struct weir_error *err)
{
    int code = fail(run, err);
    run->broken_off = true;
    say("not finished; go on with\n  %s", run->resume_line);
    return code;
}

/* A new one whose making went wrong may be there all the same. */
static int fail_to_begin(struct run *run, const struct weir_error *err)
{
    bool resumable = err->status == WEIR_E_IO && job_place_has_job(weir_job_directory(run->job));
    return resumable ? fail_unfinished(run, err) : fail(run, err);
}

/* At every orderly end, whatever else has gone wrong. False: it is not there. */
static bool leave_report(struct run *run, const struct weir_job_result *result)
{
    struct weir_error *err = &run->unreported;
    struct report_data data = {
        .resume_line = run->resume_line,
        .went_on = run->resuming,
        .problems = &run->problems,
    };
    data.files = weir_job_paths(run->job, &data.file_count);
    report_problems_of(&run->problems, run->job);
    if (report_write(&run->report, run->job, result, &data, err) == WEIR_OK)
        return true;
    say("weir %s: %s", run->command->name, err->message);
    return false;
}

static int finish(struct run *run)
{
    struct weir_job_result *result = &run->result;
    struct weir_error err = { 0 };
    enum weir_status status = weir_job_finish(run->job, result, &err);
    job_signals_over();
    progress_end(&run->progress, run->job);
    bool reported = leave_report(run, result);
    if (status)
        return fail_unfinished(run, &err);
    job_report(run->job, result, &run->problems, reported ? run->report.path : NULL,
               run->resume_line);
    return reported ? result->exit_code : exit_code_worse(result->exit_code, EXIT_LOCAL_IO);
}

static int go(struct run *run)
{
    struct weir_error err = { 0 };
    run->resume_line =
        resume_line_make(&run->args, &run->settings, weir_job_directory(run->job), run->from_stdin);
    job_signals_hold(run->resume_line);
    if (weir_job_begin(run->job, &err)) {
        job_signals_over();
        return fail_to_begin(run, &err);
    }
    job_signals_watch(run->job);
    run->begun = true;
    announce(run);
    serve_metrics(run);
    progress_begin(&run->progress, run->form);
    report_begin(&run->report, run->job);
    wait_for(run);
    return finish(run);
}

/* From settings to the end; `run` is released by the caller. */
static int work(struct run *run)
{
    struct weir_error err = { 0 };
    bool yes = true;
    if (!must_ask(run))
        speak(run);
    if (must_ask(run) && confirm_possible(&run->files, &err))
        return fail(run, &err);
    if (settings_read(&run->settings, &run->args.settings, &err))
        return fail(run, &err);
    if (run->form == JOB_PROGRESS_JSON && !run->args.settings.log_format)
        run->settings.log_json = true;
    job_signals_begin(run->command->name);
    if (run->args.metrics_listen &&
        metrics_server_new(run->args.metrics_listen, &run->metrics, &err))
        return fail(run, &err);
    if (prepare(run, &err))
        return fail(run, &err);
    if (run->resuming && weir_job_is_finished(run->job)) {
        say("weir %s: nothing left to do: the job in %s is finished", run->command->name,
            weir_job_directory(run->job));
        return EXIT_DONE;
    }
    if (must_ask(run) && confirm_ask(run->job, &run->files, &yes, &err))
        return fail(run, &err);
    if (!yes) {
        say("weir %s: nothing was done", run->command->name);
        return EXIT_INTERRUPTED;
    }
    speak(run);
    return go(run);
}

/* Nothing may be watched any more when the job goes. */
static void release(struct run *run)
{
    job_signals_over();
    metrics_server_free(run->metrics);
    weir_job_free(run->job);
    weir_client_free(run->client);
    settings_release(&run->settings);
    report_release(&run->report);
    report_problems_release(&run->problems);
    free(run->resume_line);
    free(run->directory);
}

static int run_words(struct run *run, int argc, char **argv)
{
    struct weir_error err = { 0 };
    weir_job_options_defaults(&run->options);
    run->options.operation = run->operation;
    if (job_args_parse(&run->args, run->resuming ? JOB_ARGS_RESUME : JOB_ARGS_NEW, argc, argv,
                       &err))
        return fail(run, &err);
    if (run->args.settings.help)
        return command_print_help(run->command);
    if (read_words(run, &err))
        return fail(run, &err);
    run->from_stdin = reads_stdin(run);
    return end(run, work(run));
}

int job_command_run(const struct command *command, enum weir_operation operation, int argc,
                    char **argv)
{
    struct run run = { .command = command, .operation = operation };
    int code = run_words(&run, argc, argv);
    release(&run);
    return code;
}

int job_command_resume(const struct command *command, int argc, char **argv)
{
    struct run run = { .command = command, .resuming = true };
    int code = run_words(&run, argc, argv);
    release(&run);
    return code;
}
