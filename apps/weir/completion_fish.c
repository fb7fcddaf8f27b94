/* SPDX-License-Identifier: MIT */
/* The script for fish; see completion.h. */
#include <stdio.h>

#include "completion.h"

static void print_quoted(const char *text)
{
    putchar('\'');
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\')
            putchar('\\');
        putchar(*text);
    }
    putchar('\'');
}

static void print_condition(const struct command *command)
{
    printf("complete -c weir -n '__weir_is %s'", command->name);
}

/* -r: a value, names of files among them; -x: a value, and no file. */
static void print_option(const struct command *command, const struct arg *arg)
{
    const char *words;
    enum completion_kind kind = completion_kind(arg, &words);
    print_condition(command);
    if (arg->name[1] == '-')
        printf(" -l %s", arg->name + 2);
    else
        printf(" -s %s", arg->name + 1);
    if (kind == COMPLETION_WORDS)
        printf(" -x -a '%s'", words);
    else if (kind == COMPLETION_FILE)
        printf(" -r -F");
    else if (kind == COMPLETION_DIRECTORY)
        printf(" -x -a '(__fish_complete_directories)'");
    else if (kind == COMPLETION_ANY)
        printf(" -x");
    putchar('\n');
}

/* Words stand first; behind "show" a job. */
static void print_words(const struct command *command)
{
    printf("complete -c weir -n '__weir_is %s; and __weir_at 2' -f -a '", command->name);
    for (size_t i = 0; i < command->operand_count; i++)
        printf("%s%s", i ? " " : "", command->operands[i]);
    puts("'");
    if (command == &command_jobs)
        puts("complete -c weir -n '__weir_is jobs; and __weir_at 3 show' -f -a '(__weir_jobs)'");
}

static void print_operands(const struct command *command)
{
    enum completion_operand operand = completion_operand(command);
    print_condition(command);
    if (operand == COMPLETION_FILES)
        puts(" -F");
    else if (operand == COMPLETION_JOBS)
        puts(" -f -a '(__weir_jobs)'");
    else
        puts(" -f");
    if (operand == COMPLETION_OPERANDS)
        print_words(command);
}

static void print_command(const struct command *command)
{
    struct arg args[ARGS_MAX];
    size_t count = command->options(args);
    printf("complete -c weir -f -n '__weir_at 1' -a %s -d ", command->name);
    print_quoted(command->summary);
    putchar('\n');
    for (size_t i = 0; i < count; i++)
        print_option(command, &args[i]);
    print_operands(command);
    printf("complete -c weir -n '__weir_is help' -f -a %s\n", command->name);
}

void completion_print_fish(void)
{
    size_t count;
    const struct command *const *all = command_all(&count);
    puts("# Completion of weir for fish; printed by: weir completion fish\n"
         "function __weir_jobs\n"
         "    set -l state $XDG_STATE_HOME\n"
         "    test -n \"$state\"; or set state $HOME/.local/state\n"
         "    ls $state/weir/jobs 2>/dev/null\n"
         "end\n"
         "# Whether the command is that one.\n"
         "function __weir_is\n"
         "    set -l words (commandline -opc)\n"
         "    test (count $words) -ge 2; and test $words[2] = $argv[1]\n"
         "end\n"
         "# Whether so many words stand before this one, and the last of them is that one.\n"
         "function __weir_at\n"
         "    set -l words (commandline -opc)\n"
         "    test (count $words) -eq $argv[1]\n"
         "    and begin\n"
         "        test (count $argv) -eq 1; or test $words[-1] = $argv[2]\n"
         "    end\n"
         "end\n"
         "complete -c weir -f -n '__weir_at 1' -a help -d "
         "'what a command does, with an example'\n"
         "complete -c weir -n '__weir_at 1' -l version\n"
         "complete -c weir -n '__weir_at 1' -l help");
    for (size_t i = 0; i < count; i++)
        print_command(all[i]);
}
