/* SPDX-License-Identifier: MIT */
/* The script for zsh; see completion.h. */
#include <stdio.h>

#include "completion.h"

/* Within single quotes, behind a colon that ends the word before it. */
static void print_escaped(const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", stdout);
        else if (*text == ':')
            fputs("\\:", stdout);
        else
            putchar(*text);
    }
}

/* "--name=" takes its value in the same word or in the next; "-o" in the next. */
static void print_option(const struct arg *arg)
{
    const char *words;
    enum completion_kind kind = completion_kind(arg, &words);
    const char *many = arg->texts ? "*" : "";
    const char *equals = kind != COMPLETION_FLAG && arg->name[1] == '-' ? "=" : "";
    printf(" \\\n            '%s%s%s", many, arg->name, equals);
    if (kind == COMPLETION_WORDS) {
        printf(":value:(");
        print_escaped(words);
        putchar(')');
    } else if (kind == COMPLETION_FILE) {
        printf(":file:_files");
    } else if (kind == COMPLETION_DIRECTORY) {
        printf(":directory:_files -/");
    } else if (kind == COMPLETION_ANY) {
        printf(":value:");
    }
    putchar('\'');
}

static void print_operands(const struct command *command)
{
    switch (completion_operand(command)) {
    case COMPLETION_FILES:
        printf(" \\\n            '*:file:_files'");
        break;
    case COMPLETION_JOBS:
        printf(" \\\n            '1:job:_weir_jobs'");
        break;
    case COMPLETION_OPERANDS:
        printf(" \\\n            '1:word:(");
        for (size_t i = 0; i < command->operand_count; i++)
            printf("%s%s", i ? " " : "", command->operands[i]);
        printf(")'%s", command == &command_jobs ? " \\\n            '2:job:_weir_jobs'" : "");
        break;
    case COMPLETION_NOTHING:
        printf(" \\\n            ':value:'");
        break;
    }
}

static void print_command(const struct command *command)
{
    struct arg args[ARGS_MAX];
    size_t count = command->options(args);
    printf("        %s)\n            _arguments", command->name);
    for (size_t i = 0; i < count; i++)
        print_option(&args[i]);
    print_operands(command);
    puts(" ;;");
}

void completion_print_zsh(void)
{
    size_t count;
    const struct command *const *all = command_all(&count);
    puts("#compdef weir\n"
         "# Completion of weir for zsh; printed by: weir completion zsh\n"
         "_weir_jobs() {\n"
         "    _files -/ -W \"${XDG_STATE_HOME:-$HOME/.local/state}/weir/jobs\"\n"
         "}\n"
         "_weir() {\n"
         "    local -a commands=(");
    for (size_t i = 0; i < count; i++) {
        printf("        '%s:", all[i]->name);
        print_escaped(all[i]->summary);
        puts("'");
    }
    puts("        'help:what a command does, with an example'\n"
         "    )\n"
         "    if (( CURRENT == 2 )) && [[ $PREFIX == -* ]]; then\n"
         "        compadd -- --help --version\n"
         "        return\n"
         "    fi\n"
         "    if (( CURRENT == 2 )) || [[ $words[2] == help ]]; then\n"
         "        _describe command commands\n"
         "        return\n"
         "    fi\n"
         "    shift words\n"
         "    (( CURRENT-- ))\n"
         "    case $words[1] in");
    for (size_t i = 0; i < count; i++)
        print_command(all[i]);
    puts("    esac\n"
         "}\n"
         "if [[ $funcstack[1] == _weir ]]; then _weir \"$@\"; else compdef _weir weir; fi");
}
