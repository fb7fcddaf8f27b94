/* SPDX-License-Identifier: MIT */
/* The script for bash; see completion.h. What it cannot complete, bash takes for a file. */
#include <stdio.h>

#include "completion.h"

/* A case for each option with a value; of two commands with the same one, the words are the same.
 */
static void print_values(const struct command *command)
{
    struct arg args[ARGS_MAX];
    size_t count = command->options(args);
    for (size_t i = 0; i < count; i++) {
        const char *words;
        enum completion_kind kind = completion_kind(&args[i], &words);
        if (kind == COMPLETION_FLAG || kind == COMPLETION_FILE)
            continue;
        printf("        %s:%s) ", command->name, args[i].name);
        if (kind == COMPLETION_WORDS)
            printf("COMPREPLY=($(compgen -W '%s' -- \"$cur\"))", words);
        else if (kind == COMPLETION_DIRECTORY)
            printf("COMPREPLY=($(compgen -d -- \"$cur\"))");
        else
            printf("compopt +o default 2>/dev/null");
        puts("; return ;;");
    }
}

static void print_files(const struct command *command)
{
    struct arg args[ARGS_MAX];
    size_t count = command->options(args);
    for (size_t i = 0; i < count; i++) {
        const char *words;
        if (completion_kind(&args[i], &words) == COMPLETION_FILE)
            printf("        %s:%s) return ;;\n", command->name, args[i].name);
    }
}

static void print_options(const struct command *command)
{
    struct arg args[ARGS_MAX];
    size_t count = command->options(args);
    printf("        %s:-*) words='", command->name);
    for (size_t i = 0; i < count; i++)
        printf("%s%s", i ? " " : "", args[i].name);
    puts("' ;;");
}

static void print_operands(const struct command *command)
{
    static const char jobs_of_show[] = "elif [ \"$prev\" = show ]; then words=$jobs; ";
    switch (completion_operand(command)) {
    case COMPLETION_JOBS:
        printf("        %s:*) words=$jobs ;;\n", command->name);
        break;
    case COMPLETION_OPERANDS:
        printf("        %s:*) if [ \"$COMP_CWORD\" -eq 2 ]; then words='", command->name);
        for (size_t i = 0; i < command->operand_count; i++)
            printf("%s%s", i ? " " : "", command->operands[i]);
        printf("'; %s", command == &command_jobs ? jobs_of_show : "");
        puts("fi ;;");
        break;
    case COMPLETION_NOTHING:
        printf("        %s:*) compopt +o default 2>/dev/null ;;\n", command->name);
        break;
    case COMPLETION_FILES:
        break;
    }
}

void completion_print_bash(void)
{
    size_t count;
    const struct command *const *all = command_all(&count);
    puts("# Completion of weir for bash; printed by: weir completion bash\n"
         "_weir()\n"
         "{\n"
         "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words= jobs\n"
         "    local command=${COMP_WORDS[1]}\n"
         "    jobs=$(ls \"${XDG_STATE_HOME:-$HOME/.local/state}/weir/jobs\" 2>/dev/null)\n"
         "    COMPREPLY=()\n"
         "    if [ \"$COMP_CWORD\" -eq 1 ]; then command=help; fi\n"
         "    case $command:$prev in");
    for (size_t i = 0; i < count; i++) {
        print_values(all[i]);
        print_files(all[i]);
    }
    puts("    esac\n"
         "    case $command:$cur in");
    for (size_t i = 0; i < count; i++) {
        print_options(all[i]);
        print_operands(all[i]);
    }
    printf("        help:*) words='");
    for (size_t i = 0; i < count; i++)
        printf("%s ", all[i]->name);
    puts("help'\n"
         "            if [ \"$COMP_CWORD\" -eq 1 ]; then words=\"$words --help --version\"; fi ;;\n"
         "    esac\n"
         "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
         "}\n"
         "complete -o default -F _weir weir");
}
