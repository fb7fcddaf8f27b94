/* SPDX-License-Identifier: MIT */
/* The command that goes on with a job; see resume_line.h. */
#include "resume_line.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "job_place.h"
#include "say.h"

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

char *resume_line_make(const struct job_args *args, const struct settings *settings,
                       const char *directory, bool from_stdin)
{
    struct weir_buf line;
    char *name = job_place_name(directory);
    weir_buf_init(&line, SAY_LINE_MAX - 256);
    weir_buf_add_text(&line, "weir resume");
    add_config(&line, settings->file);
    add_option(&line, "--url", args->settings.url);
    for (size_t i = 0; i < args->settings.sets.count; i++)
        add_option(&line, "--set", args->settings.sets.texts[i]);
    add_option(&line, "--policy", args->settings.policy);
    add_option(&line, "--preset", args->settings.preset);
    add_option(&line, "--strategy", args->settings.strategy);
    add_option(&line, "--max-retry-after", args->settings.max_retry_after);
    add_option(&line, "--max-errors", args->max_errors);
    add_option(&line, "--max-parallel", args->max_parallel);
    add_option(&line, "--max-rate", args->max_rate);
    add_option(&line, "--memory", args->memory);
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
