/* SPDX-License-Identifier: MIT */
/* weir jobs: the jobs of this user (jobs_list.c, jobs_show.c, jobs_clean.c). */
#include "jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "base/error.h"
#include "command.h"
#include "exit_code.h"
#include "job_place.h"

static const char *const forms[] = { "show", "clean" };

int jobs_fail(const struct weir_error *err)
{
    command_refuse(&command_jobs, err->message);
    return exit_code_of(err);
}

static size_t list_args(struct jobs_words *words, struct arg *ret)
{
    const struct arg args[] = {
        { .name = "--json", .flag = &words->json },
        { .name = "--older-than", .text = &words->older_than },
        { .name = "--force", .flag = &words->force },
        { .name = "--yes", .flag = &words->yes },
        ARGS_HELP(&words->help),
    };
    memcpy(ret, args, sizeof(args));
    return sizeof(args) / sizeof(args[0]);
}

static enum weir_status refuse_form(const char *form, struct weir_error *err)
{
    const char *nearest = args_nearest(form, forms, sizeof(forms) / sizeof(forms[0]));
    if (nearest)
        return weir_fail(err, WEIR_E_INVALID,
                         "there is no \"weir jobs %.100s\"; did you mean \"%s\"?", form, nearest);
    return weir_fail(err, WEIR_E_INVALID,
                     "there is no \"weir jobs %.100s\"; it is weir jobs, weir jobs show JOB, or "
                     "weir jobs clean",
                     form);
}

static enum weir_status check_words(const struct jobs_words *words, const char *form,
                                    struct weir_error *err)
{
    bool cleaning = strcmp(form, "clean") == 0;
    bool of_clean = words->force || words->yes || words->older_than;
    if (of_clean && !cleaning)
        return weir_fail(err, WEIR_E_INVALID,
                         "--older-than, --force and --yes are about weir jobs clean");
    if (words->json && cleaning)
        return weir_fail(err, WEIR_E_INVALID, "--json is about what is shown, and clean removes");
    return WEIR_OK;
}

static int run_form(int operands, char **argv, const struct jobs_words *words)
{
    struct weir_error err = { 0 };
    const char *form = operands ? argv[0] : "";
    bool showing = strcmp(form, "show") == 0;
    char *root;
    if (operands && !showing && strcmp(form, "clean") != 0) {
        refuse_form(form, &err);
        return jobs_fail(&err);
    }
    if (operands != (int)(operands > 0) + (int)showing)
        return command_refuse(&command_jobs, showing ? "show takes one job; see weir help jobs"
                                                     : "clean takes no job; see weir help jobs");
    if (check_words(words, form, &err))
        return jobs_fail(&err);
    if (showing)
        return jobs_show(argv[1], words);
    if (job_place_root(&root, &err))
        return jobs_fail(&err);
    int code = operands ? jobs_clean(root, words) : jobs_list(root, words);
    free(root);
    return code;
}

static int run(int argc, char **argv)
{
    struct jobs_words words = { 0 };
    struct arg args[ARGS_MAX];
    int code;
    if (!command_parse(&command_jobs, args, list_args(&words, args), &argc, argv, &code))
        return code;
    return run_form(argc, argv, &words);
}

static size_t options(struct arg *ret)
{
    static struct jobs_words none;
    return list_args(&none, ret);
}

const struct command command_jobs = {
    .name = "jobs",
    .summary = "the jobs there are: list, show one, remove what is finished",
    .run = run,
    .options = options,
    .operands = forms,
    .operand_count = sizeof(forms) / sizeof(forms[0]),
    /* clang-format off */
    .help =
        "usage: weir jobs [--json]\n"
        "       weir jobs show JOB [--json]\n"
        "       weir jobs clean [--older-than DURATION] [--force] [--yes]\n"
        "\n"
        "Lists jobs below $XDG_STATE_HOME/weir/jobs (~/.local/state/weir/jobs), newest\n"
        "first: finished, finished with rejects, unfinished, running or damaged. show\n"
        "prints all that is known of one, by its id or its directory, with the rows that\n"
        "are not finished and the command that goes on with them. clean removes those\n"
        "that are finished, after asking.\n"
        "\n"
        "  --json              for programs\n"
        "  --older-than DURATION   only jobs not written to for so long: 30d, 12h\n"
        "  --force             also jobs with unfinished, unknown or rejected rows, and\n"
        "                      damaged ones; what is running is never removed\n"
        "  --yes               do not ask; needed where there is no terminal\n"
        "\n"
        "exit code: 0 done, 2 usage or no such job, 5 not removed after all, 7 local I/O\n"
        "\n"
        "example:\n"
        "  weir jobs clean --older-than 30d\n",
    /* clang-format on */
};
