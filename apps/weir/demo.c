/* SPDX-License-Identifier: MIT */
/* weir demo: see weir at work, without a tenant; demo_show.h has the show. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "base/error.h"
#include "base/mem.h"
#include "command.h"
#include "demo_show.h"
#include "demo_world.h"
#include "exit_code.h"
#include "output.h"
#include "say.h"

/* What the command line says. */
struct words {
    const char *keep;
    bool help;
};

/* Settings from outside are for other environments than this one. */
static void forget_settings(void)
{
    static const char prefix[] = "Dataverse__";
    for (size_t i = 0; environ[i];) {
        size_t len = strcspn(environ[i], "=");
        if (strncasecmp(environ[i], prefix, sizeof(prefix) - 1) == 0) {
            char *name = weir_strndup(environ[i], len);
            unsetenv(name);
            free(name);
        } else {
            i++;
        }
    }
}

static void clean(const struct demo_show *show, const struct weir_error *err)
{
    if (err->status == WEIR_E_CANCELLED && !show->kept)
        demo_world_remove(show->folder);
    else if (err->status == WEIR_OK && !show->kept)
        demo_world_clear(show->folder);
}

static int end(const struct demo_show *show, const struct weir_error *err)
{
    if (err->status == WEIR_OK)
        return output_end(&command_demo);
    fflush(stdout);
    if (err->status == WEIR_E_CANCELLED)
        say("weir demo: interrupted");
    else
        say("weir demo: %s; the files are in %s", err->message, show->folder);
    return err->status == WEIR_E_INVALID ? EXIT_INTERNAL : exit_code_of(err);
}

static int play(struct demo_show *show, const char *keep)
{
    struct weir_error err = { 0 };
    char *folder;
    if (demo_world_make(keep, &folder, &err)) {
        say("weir demo: %s", err.message);
        return exit_code_of(&err);
    }
    show->folder = folder;
    show->kept = keep != NULL;
    demo_signals_begin();
    demo_show_run(show, &err);
    demo_show_release(show, err.status == WEIR_E_CANCELLED);
    clean(show, &err);
    int code = end(show, &err);
    free(folder);
    return code;
}

static int find_and_play(const char *keep)
{
    char *self = demo_process_self();
    char *sim = self ? demo_process_find(self, "weir-sim") : NULL;
    int code;
    if (sim) {
        struct demo_show show = { .weir = self, .sim = sim };
        forget_settings();
        code = play(&show, keep);
    } else {
        code = command_refuse(&command_demo,
                              "there is no weir-sim, neither beside this program nor in PATH");
    }
    free(sim);
    free(self);
    return code;
}

static size_t list_args(struct words *words, struct arg *ret)
{
    const struct arg args[] = {
        { .name = "--keep", .text = &words->keep },
        { .name = "--help", .flag = &words->help },
        { .name = "-h", .flag = &words->help },
    };
    memcpy(ret, args, sizeof(args));
    return sizeof(args) / sizeof(args[0]);
}

static int run(int argc, char **argv)
{
    struct words words = { 0 };
    struct arg args[ARGS_MAX];
    struct weir_error err = { 0 };
    int operands;
    if (args_parse(args, list_args(&words, args), argc, argv, &operands, &err))
        return command_refuse(&command_demo, err.message);
    if (words.help) {
        fputs(command_demo.help, stdout);
        return EXIT_DONE;
    }
    if (operands > 0)
        return command_refuse(&command_demo, "it takes no operand; see weir help demo");
    return find_and_play(words.keep);
}

static size_t options(struct arg *ret)
{
    static struct words none;
    return list_args(&none, ret);
}

const struct command command_demo = {
    .name = "demo",
    .summary = "see it at work, against a simulated Dataverse; needs no tenant",
    .run = run,
    .options = options,
    /* clang-format off */
    .help =
        "usage: weir demo [--keep DIR]\n"
        "\n"
        "Starts weir-sim on a free port of this machine and loads 20,000 rows through\n"
        "three application users, of which one runs into its limits; interrupts itself,\n"
        "resumes, and lets the simulator's books judge. It takes half a minute, needs no\n"
        "network and no configuration, and leaves only two report pages; it says where.\n"
        "\n"
        "  --keep DIR          leave all files in DIR, which must be empty or not there\n"
        "\n"
        "exit code: 0 shown, 2 usage or no weir-sim, 5 interrupted, 7 local I/O,\n"
        "10 weir-sim cannot be reached, 70 something was not as it should be\n"
        "\n"
        "example:\n"
        "  weir demo --keep /tmp/demo\n",
    /* clang-format on */
};
