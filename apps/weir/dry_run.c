/* SPDX-License-Identifier: MIT */
/* A job without its writes; see dry_run.h. */
#include "dry_run.h"

#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "exit_code.h"
#include "figures.h"
#include "inspection.h"
#include "progress_plain.h"
#include "say.h"

/* Rejected rows whose reasons are told apart. */
#define REFUSALS_MAX 10000

/* One run; zeroed, then filled from step to step. */
struct run {
    const struct command *command;
    const struct job_args *args;
    const struct settings *settings;
    struct weir_job_options *options;
    struct weir_job_files files;
    enum job_progress_form progress;
    struct inspection inspection;
    int code; /* of the connections */
    struct weir_client *client;
    struct weir_job *job;
    struct weir_job_check check;
    int64_t next_line_us;
};

static int fail(const struct run *run, const struct weir_error *err)
{
    say_wrapped("weir %s: %s", run->command->name, err->message);
    return exit_code_worse(run->code, exit_code_of(err));
}

/* --- the steps -------------------------------------------------------------------------------- */

static enum weir_status prepare(struct run *run, struct weir_error *err)
{
    run->files = (struct weir_job_files){
        .paths = (const char *const *)run->args->operands + 1,
        .path_count = run->args->operand_count - 1,
        .stdin_fd = STDIN_FILENO,
    };
    enum weir_status status =
        weir_client_new(run->settings->options, &run->settings->sink, &run->client, err);
    return status ? status
                  : weir_job_prepare(run->client, run->options, &run->files, NULL, &run->job, err);
}

/* A line now and then: a big file takes its time. */
static bool tell(void *ctx, uint64_t rows)
{
    struct run *run = ctx;
    int64_t now_us = weir_clock_now_us();
    if (run->progress <= JOB_PROGRESS_PLAIN && now_us >= run->next_line_us && say_has_room()) {
        say_wrapped("%s rows read", figure_count(rows).text);
        run->next_line_us = now_us + PROGRESS_PLAIN_PERIOD_US;
    }
    return true;
}

static enum weir_status check(struct run *run, struct weir_error *err)
{
    const struct weir_job_check_options how = {
        .refusals_max = REFUSALS_MAX,
        .rows_max = run->options->rows_max,
        .go_on = tell,
        .ctx = run,
    };
    run->next_line_us = weir_clock_now_us() + PROGRESS_PLAIN_PERIOD_US;
    return weir_job_check(run->job, &how, &run->check, err);
}

/* --- the report ------------------------------------------------------------------------------- */

static void print_connections(const struct inspection *it)
{
    static const char *const roles[] = {
        [INSPECTION_ROLES_ALIKE] = "with the same roles",
        [INSPECTION_ROLES_DIFFER] = "and their roles differ",
        [INSPECTION_ROLES_UNKNOWN] = "not all of their roles could be read",
    };
    size_t working = inspection_working(it);
    printf("connections    %zu of %zu work%s", working, it->count, it->count == 1 ? "s" : "");
    if (working > 1)
        printf(", %s", roles[inspection_roles(it)]);
    putchar('\n');
}

static void print_bulk(const struct weir_table *table)
{
    const char *between = "";
    fputs("bulk messages  ", stdout);
    for (int i = 0; i < WEIR_BULK_MESSAGES; i++) {
        if (!table->bulk[i])
            continue;
        printf("%s%s", between, weir_bulk_name((enum weir_bulk_message)i));
        between = ", ";
    }
    if (!between[0])
        fputs(table->bulk_known ? "none: rows go one by one, in a $batch"
                                : "the service would not say: rows go one by one, in a $batch",
              stdout);
    putchar('\n');
}

static void print_head(const struct run *run)
{
    const struct weir_job_options *options = weir_job_options(run->job);
    const struct weir_table *table = weir_job_table(run->job);
    printf("environment    %s\n", weir_job_url(run->job));
    print_connections(&run->inspection);
    printf("table          %s, %s\n", table->name, weir_table_type_name(table->type));
    print_bulk(table);
    printf("operation      %s", weir_operation_name(options->operation));
    if (options->key)
        printf(" by %s", options->key);
    if (options->id_from)
        printf(", ids derived from %s", options->id_from);
    if (options->as)
        printf(", as user %s", options->as);
    putchar('\n');
}

/* Whoever did not say how many is taken to recommend as many as he is sent at first. */
static uint64_t in_flight_of(const struct inspected *row, bool by_limits)
{
    int hint = row->answer.budget.dop_hint;
    if (by_limits)
        return ESTIMATE_AT_A_TIME;
    return hint > 0 ? (uint64_t)hint : WEIR_PARALLELISM_UNHINTED;
}

static struct estimate_world world_of(const struct run *run)
{
    const struct weir_adaptive_rate_options *rate = &run->settings->options->adaptive_rate;
    struct estimate_world world = {
        .by_limits = rate->enabled && strcmp(rate->policy, "Budget") == 0,
        .in_flight_max = run->options->parallel_batches_max,
        .rows_per_second_max = run->options->rows_per_second_max,
    };
    for (size_t i = 0; i < run->inspection.count; i++) {
        const struct inspected *row = &run->inspection.rows[i];
        if (row->status)
            continue;
        world.connections++;
        world.in_flight += in_flight_of(row, world.by_limits);
    }
    return world;
}

static int report(const struct run *run)
{
    struct estimate_world world = world_of(run);
    const struct dry_run_job job = {
        .client = run->client,
        .table = weir_job_table(run->job),
        .options = weir_job_options(run->job),
        .check = &run->check,
    };
    dry_run_print_rows(stdout, &run->check, run->options, job.table);
    dry_run_print_work(stdout, &run->check, run->options, &world);
    bool rejected = run->check.refused > 0 || run->check.duplicates > 0;
    int code = exit_code_worse(run->code, rejected ? EXIT_REJECTED_ROWS : EXIT_DONE);
    code = exit_code_worse(code, dry_run_compare_privileges(&job, &run->inspection));
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    say_wrapped("weir %s: the report could not be written", run->command->name);
    return exit_code_worse(code, EXIT_LOCAL_IO);
}

/* What is given as it is going to be run, but is about the run itself. */
static void say_ignored(const struct command *command, const struct job_args *args)
{
    const char *const names[] = {
        args->metrics_listen ? "--metrics-listen" : NULL,
        args->report ? "--report" : NULL,
        args->job ? "--job" : NULL,
        args->job_dir ? "--job-dir" : NULL,
        args->or_resume ? "--or-resume" : NULL,
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (names[i])
            say_wrapped("weir %s: %s is for the run, and does nothing here", command->name,
                        names[i]);
    }
}

/* --- the whole -------------------------------------------------------------------------------- */

static int work(struct run *run)
{
    struct weir_error err = { 0 };
    if (job_args_progress(run->args, &run->progress, &err))
        return fail(run, &err);
    inspection_init(&run->inspection, run->settings);
    run->code = inspection_say_findings(&run->inspection);
    if (inspection_working(&run->inspection) == 0)
        return run->code;
    if (prepare(run, &err))
        return fail(run, &err);
    struct weir_columns columns;
    if (weir_job_columns(run->job, &columns, &err))
        return fail(run, &err);
    print_head(run);
    dry_run_print_columns(stdout, weir_job_table(run->job), columns, weir_job_spec(run->job),
                          run->options);
    fflush(stdout); /* before the lines that say how far it is */
    if (check(run, &err))
        return fail(run, &err);
    return report(run);
}

int dry_run(const struct command *command, const struct job_args *args,
            const struct settings *settings, struct weir_job_options *options)
{
    struct run run = { .command = command, .args = args, .settings = settings, .options = options };
    options->table = args->operands[0];
    say_ignored(command, args);
    int code = work(&run);
    weir_job_check_release(&run.check);
    weir_job_free(run.job);
    weir_client_free(run.client);
    inspection_release(&run.inspection);
    return code;
}
