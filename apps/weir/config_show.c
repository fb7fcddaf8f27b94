/* SPDX-License-Identifier: MIT */
/* weir config show: the effective settings and where each comes from; secrets masked. */
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "base/json_text.h"
#include "base/limits.h"
#include "command.h"
#include "config/config.h"
#include "exit_code.h"
#include "output.h"
#include "say.h"
#include "settings.h"
#include "text_table.h"

static const char *const forms[] = { "show" };

/* What the command line says. */
struct words {
    struct settings_args settings;
    bool json;
};

/* --- for people ------------------------------------------------------------------------------- */

static void add_row(void *ctx, const char *key, const char *value, const char *origin)
{
    text_table_add(ctx, key);
    text_table_add(ctx, value ? value : "-");
    text_table_add(ctx, origin);
}

static void print_table(const struct weir_config *config)
{
    static const struct text_table_column columns[] = { { "SETTING", false, 0 },
                                                        { "VALUE", false, 0 },
                                                        { "FROM", false, 0 } };
    struct text_table table;
    text_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
    weir_config_each(config, add_row, &table);
    text_table_print(&table, stdout);
    text_table_release(&table);
}

/* --- for programs ----------------------------------------------------------------------------- */

static void print_member(const char *before, const char *key, const char *text)
{
    struct weir_buf buf;
    weir_buf_init(&buf, 16 * WEIR_CONFIG_TEXT_MAX);
    if (text)
        weir_json_text_add(&buf, weir_str_from(text));
    else
        weir_buf_add_text(&buf, "null");
    printf("%s\"%s\": %s", before, key, weir_buf_text(&buf));
    weir_buf_release(&buf);
}

static void print_object(void *ctx, const char *key, const char *value, const char *origin)
{
    bool *again = ctx;
    print_member(*again ? ",\n  { " : "\n  { ", "key", key);
    print_member(", ", "value", value);
    print_member(", ", "origin", origin);
    fputs(" }", stdout);
    *again = true;
}

static void print_json(const struct weir_config *config)
{
    bool again = false;
    putchar('[');
    weir_config_each(config, print_object, &again);
    puts("\n]");
}

/* --- the command ------------------------------------------------------------------------------ */

static int show(const struct words *words)
{
    struct settings settings = { 0 };
    struct weir_error err = { 0 };
    int code;
    if (settings_gather(&settings, &words->settings, &err)) {
        code = command_refuse(&command_config, err.message);
    } else {
        if (words->json)
            print_json(settings.config);
        else
            print_table(settings.config);
        code = output_end(&command_config);
        if (!settings.file)
            say("weir config: no appsettings.json was found");
    }
    settings_release(&settings);
    return code;
}

static size_t list_args(struct words *words, struct arg *ret)
{
    const struct arg args[] = {
        SETTINGS_ARGS(&words->settings),
        SETTINGS_RATE_ARGS(&words->settings),
        { .name = "--json", .flag = &words->json },
    };
    memcpy(ret, args, sizeof(args));
    return sizeof(args) / sizeof(args[0]);
}

static int run(int argc, char **argv)
{
    struct words words = { 0 };
    struct arg args[ARGS_MAX];
    int code;
    if (!command_parse(&command_config, args, list_args(&words, args), &argc, argv, &code))
        return code;
    if (argc != 1 || strcmp(argv[0], "show") != 0)
        return command_refuse(&command_config, "it is weir config show; see weir help config");
    return show(&words);
}

static size_t options(struct arg *ret)
{
    static struct words none;
    return list_args(&none, ret);
}

const struct command command_config = {
    .name = "config",
    .summary = "show: the effective settings, and where each comes from",
    .run = run,
    .options = options,
    .operands = forms,
    .operand_count = sizeof(forms) / sizeof(forms[0]),
    /* clang-format off */
    .help =
        "usage: weir config show [OPTION]...\n"
        "\n"
        "Prints every setting that holds and where it comes from: the command line beats\n"
        "the environment (Dataverse__Pool__MaxPoolSize=8), the environment the file, the\n"
        "file the defaults. Of connections it prints what was said. Secrets are masked.\n"
        "\n"
        "  --json              a list of objects: key, value, origin\n"
        "  --config FILE, --url URL, --set KEY=VALUE   the settings; see weir-config(5)\n"
        "  --policy P, --preset P, --strategy S, --max-retry-after DURATION   some, short\n"
        "  --log-level L, --log-format text|json       are checked, and nothing is logged\n"
        "\n"
        "exit code: 0 shown, 2 usage or configuration, 7 local I/O\n"
        "\n"
        "example:\n"
        "  weir config show --set Dataverse:Pool:MaxPoolSize=8\n",
    /* clang-format on */
};
