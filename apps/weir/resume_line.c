/* SPDX-License-Identifier: MIT */
/* The command that goes on with a job; see resume_line.h. */
#include "resume_line.h"

#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "job_place.h"
#include "program_path.h"
#include "say.h"

#define RUN         "-run"
#define REPORTS_MAX 9999

static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                            "_-./:=@%+,";

/* Within single quotes nothing is special but the quote itself. */
void resume_line_quote(struct weir_buf *line, const char *word)
{
    if (word[0] && strspn(word, plain) == strlen(word)) {
        weir_buf_add_text(line, word);
        return;
    }
    weir_buf_add_char(line, '\'');
    for (const char *at = word; *at; at++) {
        if (*at == '\'')
            weir_buf_add_text(line, "'\\''");
        else
            weir_buf_add_char(line, *at);
    }
    weir_buf_add_char(line, '\'');
}

static void add_option(struct weir_buf *line, const char *name, const char *value)
{
    if (!value)
        return;
    weir_buf_printf(line, " %s ", name);
    resume_line_quote(line, value);
}

/* Wherever the shell stands by then. */
static void add_config(struct weir_buf *line, const char *file)
{
    char absolute[PATH_MAX];
    if (file)
        add_option(line, "--config", realpath(file, absolute) ? absolute : file);
}

/* Without its ending and what an earlier run has added: "load" of "load-run2.html". */
static int stem_len(const char *name, int64_t *ret_number)
{
    int len = (int)(strrchr(name, '.') ? strrchr(name, '.') - name : (ptrdiff_t)strlen(name));
    int digits = len;
    while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9')
        digits--;
    bool ours = digits < len && len - digits < 5 && digits > (int)strlen(RUN) &&
                strncmp(name + digits - strlen(RUN), RUN, strlen(RUN)) == 0;
    ours = ours && weir_str_to_int64(weir_str(name + digits, (size_t)(len - digits)), ret_number);
    if (!ours)
        *ret_number = 1;
    return ours ? digits - (int)strlen(RUN) : len;
}

void resume_line_next_report(struct weir_buf *ret, const char *folder, const char *name)
{
    int64_t number;
    int len = stem_len(name, &number);
    const char *end = strrchr(name, '.') ? strrchr(name, '.') : "";
    do {
        weir_buf_reset(ret);
        weir_buf_printf(ret, "%s/%.*s" RUN "%" PRId64 "%s", strcmp(folder, "/") ? folder : "", len,
                        name, ++number, end);
    } while (number < REPORTS_MAX && access(weir_buf_text(ret), F_OK) == 0);
}

/* The page of this run stays, and the next run has one of its own. It may not be there yet, but its
 * folder is. */
static void add_report(struct weir_buf *line, const char *path)
{
    char folder[PATH_MAX], absolute[PATH_MAX];
    struct weir_buf next;
    const char *slash = path ? strrchr(path, '/') : NULL;
    const char *name = slash ? slash + 1 : path;
    if (!path)
        return;
    int len = snprintf(folder, sizeof(folder), "%.*s", (int)(name - path), path);
    if (len >= (int)sizeof(folder) || !realpath(len ? folder : ".", absolute)) {
        add_option(line, "--report", path);
        return;
    }
    weir_buf_init(&next, (size_t)2 * PATH_MAX);
    resume_line_next_report(&next, absolute, name);
    add_option(line, "--report", weir_buf_text(&next));
    weir_buf_release(&next);
}

static bool names_file(const char *setting, const char *equals)
{
    static const char end[] = "File";
    return equals - setting > (ptrdiff_t)strlen(end) &&
           strncasecmp(equals - strlen(end), end, strlen(end)) == 0;
}

/* One that names a file means the one that it meant here. */
static void add_set(struct weir_buf *line, const char *setting)
{
    char absolute[PATH_MAX], whole[2 * PATH_MAX];
    const char *equals = strchr(setting, '=');
    int len = equals ? (int)(equals - setting) : 0;
    if (len && len < PATH_MAX && names_file(setting, equals) && realpath(equals + 1, absolute)) {
        snprintf(whole, sizeof(whole), "%.*s=%s", len, setting, absolute);
        setting = whole;
    }
    add_option(line, "--set", setting);
}

/* What is shown meanwhile, and what is left behind. */
static void add_showing(struct weir_buf *line, const struct job_args *args)
{
    add_option(line, "--progress", args->progress);
    add_option(line, "--metrics-listen", args->metrics_listen);
    add_report(line, args->report);
    add_option(line, "--log-level", args->settings.log_level);
    add_option(line, "--log-format", args->settings.log_format);
}

static void add_command(struct weir_buf *line)
{
    char *program = program_path();
    resume_line_quote(line, program);
    weir_buf_add_text(line, " resume");
    free(program);
}

char *resume_line_make(const struct job_args *args, const struct settings *settings,
                       const char *directory, bool from_stdin)
{
    struct weir_buf line;
    char *name = job_place_word(directory);
    weir_buf_init(&line, SAY_LINE_MAX - 256);
    add_command(&line);
    add_config(&line, settings->file);
    add_option(&line, "--url", args->settings.url);
    for (size_t i = 0; i < args->settings.sets.count; i++)
        add_set(&line, args->settings.sets.texts[i]);
    add_option(&line, "--policy", args->settings.policy);
    add_option(&line, "--preset", args->settings.preset);
    add_option(&line, "--strategy", args->settings.strategy);
    add_option(&line, "--max-retry-after", args->settings.max_retry_after);
    add_option(&line, "--max-errors", args->max_errors);
    add_option(&line, "--max-parallel", args->max_parallel);
    add_option(&line, "--max-rate", args->max_rate);
    add_option(&line, "--memory", args->memory);
    add_showing(&line, args);
    weir_buf_add_char(&line, ' ');
    resume_line_quote(&line, name);
    if (from_stdin)
        weir_buf_add_text(&line, " -");
    if (line.overflow) { /* hundreds of settings: half of them would be worse than none */
        weir_buf_reset(&line);
        line.overflow = false;
        weir_buf_printf(&line, "weir resume JOB, with the settings of this run; JOB is %s", name);
    }
    free(name);
    return weir_buf_take(&line);
}
