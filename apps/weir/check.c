/* SPDX-License-Identifier: MIT */
/*
 * weir check: before work begins. Without operands: does every connection work (inspection.c)? With
 * a table and files: what would a job do (dry_run.c)?
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "command.h"
#include "dry_run.h"
#include "exit_code.h"
#include "inspection.h"
#include "job_signals.h"
#include "say.h"

static int check_connections(const struct settings *settings)
{
    struct inspection it;
    say("environment %s, configuration %s", settings->options->url,
        settings->file ? settings->file : "from the environment");
    inspection_init(&it, settings);
    inspection_print_table(&it);
    bool written = fflush(stdout) == 0 && !ferror(stdout);
    int code = inspection_say_findings(&it);
    say("%zu of %zu connection%s work%s", inspection_working(&it), it.count,
        it.count == 1 ? "" : "s", inspection_working(&it) == 1 && it.count == 1 ? "s" : "");
    if (!written) {
        say("weir check: the table could not be written");
        code = exit_code_worse(code, EXIT_LOCAL_IO);
    }
    inspection_release(&it);
    return code;
}

static enum weir_status read_operation(const char *text, enum weir_operation *ret,
                                       struct weir_error *err)
{
    static const enum weir_operation operations[] = {
        WEIR_OPERATION_CREATE,
        WEIR_OPERATION_UPDATE,
        WEIR_OPERATION_UPSERT,
        WEIR_OPERATION_DELETE,
    };
    if (!text)
        return WEIR_OK;
    for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
        if (strcmp(text, weir_operation_name(operations[i])) == 0) {
            *ret = operations[i];
            return WEIR_OK;
        }
    }
    return args_refuse("--operation", text, "create, update, upsert or delete", err);
}

/* Everything that can be told from the command line alone. */
static enum weir_status read_words(const struct job_args *args, struct weir_job_options *ret,
                                   struct weir_error *err)
{
    weir_job_options_defaults(ret);
    if (args->operand_count == 1)
        return weir_fail(err, WEIR_E_INVALID,
                         "it takes a table and a file, or neither; see weir help check");
    enum weir_status status = read_operation(args->operation, &ret->operation, err);
    return status ? status : job_args_options(args, ret, err);
}

static int run(int argc, char **argv)
{
    struct job_args args;
    struct settings settings = { 0 };
    struct weir_job_options options;
    struct weir_error err;
    if (job_args_parse(&args, JOB_ARGS_CHECK, argc, argv, &err))
        return command_refuse(&command_check, err.message);
    if (args.settings.help) {
        fputs(command_check.help, stdout);
        return EXIT_DONE;
    }
    if (read_words(&args, &options, &err))
        return command_refuse(&command_check, err.message);
    int code = EXIT_DONE;
    job_signals_begin(command_check.name);
    if (settings_read(&settings, &args.settings, &err))
        code = command_refuse(&command_check, err.message);
    else if (args.operand_count > 0)
        code = dry_run(&command_check, &args, &settings, &options);
    else
        code = check_connections(&settings);
    job_signals_over();
    settings_release(&settings);
    return code;
}

static size_t options(struct arg *ret)
{
    return job_args_list(JOB_ARGS_CHECK, WEIR_OPERATION_CREATE, ret);
}

const struct command command_check = {
    .name = "check",
    .summary = "rehearse a job without a write, or see whether all connections work",
    .run = run,
    .options = options,
    /* clang-format off */
    .help =
        "usage: weir check [OPTION]...\n"
        "       weir check TABLE FILE... [--operation O] [OPTION OF THE COMMAND]...\n"
        "\n"
        "Every connection asks for a token and WhoAmI. A row for each says how it logs\n"
        "in, whether it works, its user, its recommended parallelism and what is left of\n"
        "both budgets; below stands what is wrong, and whose security roles differ.\n"
        "\n"
        "With a table and files it is a dry run: nothing is written. It shows what each\n"
        "column becomes, which rows would be rejected and why, repeated keys, how many\n"
        "requests that is, how long they take, what bounds them, and lacking privileges.\n"
        "\n"
        "  --operation O       create, update, upsert or delete (create); and all options\n"
        "                      of that command, as it is going to be run\n"
        "  --config FILE       appsettings.json (else ./, else $XDG_CONFIG_HOME/weir/)\n"
        "  --url URL           the environment, instead of Dataverse:Url\n"
        "  --set KEY=VALUE     one setting, as in Dataverse:Http:ConnectTimeout=5s\n"
        "  --log-level L       error, warning, info, debug or trace (warning)\n"
        "  --log-format F      text or json (text)\n"
        "\n"
        "exit code: 0 all is well, 1 rows would be rejected, 2 usage or configuration,\n"
        "4 credentials, 5 interrupted, 6 throttled, 7 local I/O, 10 unreachable\n"
        "example:\n"
        "  weir check account accounts.csv --operation upsert --key accountnumber\n",
    /* clang-format on */
};
