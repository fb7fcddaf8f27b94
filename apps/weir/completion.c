/* SPDX-License-Identifier: MIT */
/* weir completion: scripts for shells; see completion.h. */
#include "completion.h"

#include <stdio.h>
#include <string.h>

#include "exit_code.h"
#include "output.h"

static const char *const shells[] = { "bash", "zsh", "fish" };

#define SHELL_COUNT (sizeof(shells) / sizeof(shells[0]))

/* Options whose values are few, or names of files. What is not here can be anything. */
static const struct {
    const char *name;
    enum completion_kind kind;
    const char *words;
} values[] = {
    { "--config", COMPLETION_FILE, NULL },
    { "--mapping", COMPLETION_FILE, NULL },
    { "--report", COMPLETION_FILE, NULL },
    { "-o", COMPLETION_FILE, NULL },
    { "--job-dir", COMPLETION_DIRECTORY, NULL },
    { "--keep", COMPLETION_DIRECTORY, NULL },
    { "--log-level", COMPLETION_WORDS, "error warning info debug trace" },
    { "--log-format", COMPLETION_WORDS, "text json" },
    { "--policy", COMPLETION_WORDS, "Aimd Budget Dop Fixed" },
    { "--preset", COMPLETION_WORDS, "Conservative Balanced Aggressive" },
    { "--strategy", COMPLETION_WORDS, "ThrottleAware RoundRobin LeastConnections Headroom" },
    { "--batch-size", COMPLETION_WORDS, "auto" },
    { "--empty", COMPLETION_WORDS, "omit null reject" },
    { "--format", COMPLETION_WORDS, "csv tsv jsonl" },
    { "--bypass-logic", COMPLETION_WORDS, "sync async all" },
    { "--operation", COMPLETION_WORDS, "create update upsert delete" },
    { "--progress", COMPLETION_WORDS, "auto plain json none" },
    { "--owner", COMPLETION_WORDS, "caller systemuser: team:" },
};

enum completion_kind completion_kind(const struct arg *arg, const char **ret_words)
{
    *ret_words = NULL;
    if (arg->flag)
        return COMPLETION_FLAG;
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        if (strcmp(values[i].name, arg->name) == 0) {
            *ret_words = values[i].words;
            return values[i].kind;
        }
    }
    return COMPLETION_ANY;
}

enum completion_operand completion_operand(const struct command *command)
{
    if (command->operand_count > 0)
        return COMPLETION_OPERANDS;
    if (command == &command_resume || command == &command_rejects)
        return COMPLETION_JOBS;
    bool lone =
        command == &command_describe || command == &command_explain || command == &command_demo;
    return lone ? COMPLETION_NOTHING : COMPLETION_FILES;
}

/* --- the command ------------------------------------------------------------------------------ */

static int print(const char *shell)
{
    static void (*const printers[SHELL_COUNT])(
        void) = { completion_print_bash, completion_print_zsh, completion_print_fish };
    char message[160];
    for (size_t i = 0; i < SHELL_COUNT; i++) {
        if (strcmp(shells[i], shell) == 0) {
            printers[i]();
            return output_end(&command_completion);
        }
    }
    const char *nearest = args_nearest(shell, shells, SHELL_COUNT);
    snprintf(message, sizeof(message), "there is nothing for \"%.60s\"; %s%s%s", shell,
             nearest ? "did you mean " : "it must be bash, zsh or fish", nearest ? nearest : "",
             nearest ? "?" : "");
    return command_refuse(&command_completion, message);
}

static size_t list_args(bool *help, struct arg *ret)
{
    const struct arg args[] = {
        ARGS_HELP(help),
    };
    memcpy(ret, args, sizeof(args));
    return sizeof(args) / sizeof(args[0]);
}

static int run(int argc, char **argv)
{
    bool help = false;
    struct arg args[ARGS_MAX];
    int code;
    if (!command_parse(&command_completion, args, list_args(&help, args), &argc, argv, &code))
        return code;
    if (argc != 1)
        return command_refuse(&command_completion, "it takes one shell: bash, zsh or fish");
    return print(argv[0]);
}

static size_t options(struct arg *ret)
{
    static bool none;
    return list_args(&none, ret);
}

const struct command command_completion = {
    .name = "completion",
    .summary = "a script with which bash, zsh or fish complete commands and options",
    .run = run,
    .options = options,
    .operands = shells,
    .operand_count = SHELL_COUNT,
    .help = "usage: weir completion bash|zsh|fish\n"
            "\n"
            "Prints a script with which a shell completes the commands of weir, options, the\n"
            "words that an option takes, and the names of jobs. Where it goes:\n"
            "\n"
            "  bash    source <(weir completion bash)      in ~/.bashrc\n"
            "  zsh     weir completion zsh > DIR/_weir     DIR: one of $fpath, at compinit\n"
            "  fish    weir completion fish > ~/.config/fish/completions/weir.fish\n"
            "\n"
            "exit code: 0 printed, 2 usage, 7 local I/O\n"
            "\n"
            "example:\n"
            "  weir completion bash > /usr/share/bash-completion/completions/weir\n",
};
