/* SPDX-License-Identifier: MIT */
/* weir describe: what the service says of a table (describe_text.c, describe_json.c). */
#include "describe.h"

#include <string.h>

#include "args.h"
#include "ask_table.h"
#include "command.h"
#include "exit_code.h"
#include "output.h"
#include "settings.h"

/* What the command line says. */
struct words {
    struct settings_args settings;
    bool json;
    bool all;
};

static int print(const struct weir_table *table, const struct words *words)
{
    if (words->json)
        describe_json(stdout, table);
    else
        describe_text(stdout, table, words->all);
    return output_end(&command_describe);
}

static int describe(const char *name, const struct settings *settings, const struct words *words)
{
    struct weir_error err = { 0 };
    struct weir_client *client;
    struct weir_table *table;
    enum weir_status status = weir_client_new(settings->options, &settings->sink, &client, &err);
    if (!status) {
        status = ask_table(client, name, &table, &err);
        weir_client_free(client);
    }
    if (status) {
        command_refuse(&command_describe, err.message);
        return exit_code_of(&err);
    }
    int code = print(table, words);
    weir_table_free(table);
    return code;
}

static size_t list_args(struct words *words, struct arg *ret)
{
    const struct arg args[] = {
        SETTINGS_ARGS(&words->settings),
        { .name = "--json", .flag = &words->json },
        { .name = "--all", .flag = &words->all },
    };
    memcpy(ret, args, sizeof(args));
    return sizeof(args) / sizeof(args[0]);
}

static size_t options(struct arg *ret)
{
    static struct words none;
    return list_args(&none, ret);
}

static int run(int argc, char **argv)
{
    struct words words = { 0 };
    struct arg args[ARGS_MAX];
    struct settings settings = { 0 };
    struct weir_error err;
    int code;
    if (!command_parse(&command_describe, args, list_args(&words, args), &argc, argv, &code))
        return code;
    if (argc != 1)
        return command_refuse(&command_describe, "it takes one table; see weir help describe");
    code = settings_read(&settings, &words.settings, &err)
               ? command_refuse(&command_describe, err.message)
               : describe(argv[0], &settings, &words);
    settings_release(&settings);
    return code;
}

const struct command command_describe = {
    .name = "describe",
    .summary = "what a table is: columns, types, choices, lookups, keys",
    .run = run,
    .options = options,
    /* clang-format off */
    .help =
        "usage: weir describe TABLE [OPTION]...\n"
        "\n"
        "Asks the service for a table (by its logical name, as in account), and prints\n"
        "what it is, its alternate keys, the bulk messages that it has, and a line for\n"
        "each column: whether create and update can write it, who requires it (the\n"
        "system, or only forms), its type with lengths, ranges and decimals; choices with\n"
        "their labels, and the tables that a lookup may point to.\n"
        "\n"
        "  --all               also the columns that cannot be written\n"
        "  --json              one JSON object for programs, with all columns\n"
        "  --config FILE, --url URL, --set KEY=VALUE   the settings; see weir-config(5)\n"
        "  --log-level L, --log-format text|json       the log; see weir(1)\n"
        "\n"
        "exit code: 0 described, 2 no such table, usage or configuration, 4 credentials\n"
        "or privilege, 6 throttled, 7 local I/O, 10 unreachable\n"
        "\n"
        "example:\n"
        "  weir describe account\n",
    /* clang-format on */
};
