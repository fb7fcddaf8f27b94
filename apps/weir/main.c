/* SPDX-License-Identifier: MIT */
/*
 * weir: the command.
 *
 *     main.c             which sub-command is meant
 *     command.c          what a sub-command is, and what they share
 *     args.c             options on a command line
 *     settings.c         configuration file, environment, command line; the log (log_echo.c:
 *                        warnings that repeat themselves)
 *     check.c            weir check
 *       inspection.c       does every connection work? (role.c: the roles of a user)
 *       dry_run.c          a job without its writes (dry_run_columns.c, dry_run_text.c)
 *       dry_run_privileges.c   may every connection do it? (privilege.c: what a job needs)
 *       reasons.c          why rows would be rejected, counted
 *       estimate.c         how long it would take
 *     describe.c         weir describe: what a table is (describe_text.c, describe_json.c)
 *     map.c              weir map: a mapping file to edit (input_names.c: the names in a file)
 *     create.c update.c upsert.c delete.c resume.c      what each says of itself
 *     job_command.c      their common life, from the command line to the exit code
 *       job_args.c         what the command line says (row_args.c: of the rows)
 *       job_place.c        where jobs live
 *       job_same.c         --or-resume: is the job that is there the one that is meant?
 *       job_signals.c      Ctrl-C, once and twice (signal_meaning.c: which of the two)
 *       confirm.c          asking before rows are changed (job_warning.c: what is done to those
 *                          that are there already)
 *       progress.c         what is shown meanwhile: a view (progress_view.c, …_line.c,
 *                          …_connection.c), lines (progress_plain.c) or JSON (progress_json.c) of
 *                          how it stands (progress_snapshot.c)
 *       metrics_server.c   the same over HTTP for Prometheus (metrics_text.c)
 *       job_report.c       the last lines on standard error, from the balance to the resume command
 *       report_problems.c  rejected rows by their cause, for those lines and for reports
 *                          (report_advice.c: what to do about them)
 *       report_run.c       --report: sampled while the job runs (report_timeline.c), written at its
 *                          end (report_file.c)
 *         report_data.c      what it says, in either form: report_json.c, report_html.c
 *         report_chart.c report_timelines.c report_style.c    what the page is made of
 *       resume_line.c      the command that goes on with a job (program_path.c: how it names weir)
 *       hooks.c            where tests reach in; empty
 *     jobs.c             weir jobs: jobs_list.c, jobs_show.c, jobs_clean.c (jobs_json.c)
 *       job_view.c         what a job has come to, from outside
 *       open_rows.c        its rows that are not finished
 *       job_remove.c       removing one
 *     rejects.c          weir rejects: the rejected rows of a job (rejects_reason.c: why)
 *     explain.c          weir explain: what a code means (http_status.c: or a status)
 *     config_show.c      weir config show: the settings and where each comes from
 *     demo.c             weir demo: a load to look at (demo_show.c: the show, demo_world.c: its
 *                        folder, demo_process.c: its programs, demo_books.c: what is judged)
 *     completion.c       weir completion: what a shell can complete (completion_bash.c, …_zsh.c,
 *                        …_fish.c)
 *     ask_table.c        what the service says of a table
 *     column_text.c      what a column holds, in words
 *     say.c figures.c printable.c     lines, numbers and words of others, for people
 *     screen.c           standard error, with something that stays at its bottom
 *     text_table.c wrap.c output.c    columns; sentences; the end of standard output
 *     exit_code.c        how it ends
 *
 * Standard output is for data, standard error for people.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "args.h"
#include "command.h"
#include "exit_code.h"
#include "output.h"
#include "weir/weir.h"

static const struct command *const commands[] = {
    &command_create,  &command_update,   &command_upsert, &command_delete,     &command_resume,
    &command_check,   &command_describe, &command_map,    &command_jobs,       &command_rejects,
    &command_explain, &command_config,   &command_demo,   &command_completion,
};

#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

const struct command *const *command_all(size_t *ret_count)
{
    *ret_count = COMMAND_COUNT;
    return commands;
}

static const struct command *find(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    }
    return NULL;
}

static int refuse_option(const char *name)
{
    static const char *const names[] = { "--help", "--version", "-h" };
    const char *nearest = args_nearest(name, names, sizeof(names) / sizeof(names[0]));
    fprintf(stderr, "weir: there is no option \"%s\"", name);
    if (nearest)
        fprintf(stderr, "; did you mean %s?\n", nearest);
    else
        fprintf(stderr, " in front of a command; weir help lists the commands\n");
    return EXIT_USAGE;
}

static int refuse_name(const char *name)
{
    if (name[0] == '-')
        return refuse_option(name);
    const char *names[COMMAND_COUNT + 1] = { "help" };
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        names[i + 1] = commands[i]->name;
    const char *nearest = args_nearest(name, names, COMMAND_COUNT + 1);
    fprintf(stderr, "weir: there is no command \"%s\"", name);
    if (nearest)
        fprintf(stderr, "; did you mean \"%s\"?\n", nearest);
    else
        fprintf(stderr, "; weir help lists them\n");
    return EXIT_USAGE;
}

static void print_overview(FILE *out)
{
    fputs("weir: bulk work against Microsoft Dataverse at its own speed limit\n\n"
          "usage: weir COMMAND [OPTION]...\n\n",
          out);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        fprintf(out, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    fputs("  help       weir help COMMAND: what a command does, with an example\n\n"
          "weir --version prints the version.\n",
          out);
}

static int help(int argc, char **argv)
{
    if (argc == 0 || strcmp(argv[0], "help") == 0) {
        print_overview(stdout);
        return output_end(NULL);
    }
    const struct command *command = find(argv[0]);
    if (!command)
        return refuse_name(argv[0]);
    return command_print_help(command);
}

/*
 * A core file would hold secrets and tokens; so would what a debugger of the same user reads. The
 * journal makes a crash resumable, the messages say what happened.
 */
static void keep_memory_private(void)
{
    struct rlimit none = { 0, 0 };
    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_DUMPABLE, 0);
}

/*
 * Whoever started us may have closed them, and the next file would get the number: a message for
 * people must not end up in a journal. The stand-ins can be neither read nor written the way they
 * are meant to be, so that nobody takes them for empty input or a sink.
 */
static bool keep_standard_files(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        int wrong_way = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", wrong_way) != fd)
            return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    if (!keep_standard_files())
        return EXIT_LOCAL_IO;
    keep_memory_private();
    if (argc < 2) {
        print_overview(stderr);
        return EXIT_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "--version") == 0) {
        printf("weir %s\n", weir_version());
        return output_end(NULL);
    }
    if (strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        return help(argc - 2, argv + 2);
    const struct command *command = find(name);
    return command ? command->run(argc - 2, argv + 2) : refuse_name(name);
}
