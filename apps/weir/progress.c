/* SPDX-License-Identifier: MIT */
/* What a running job shows; see progress.h. */
#include "progress.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/str.h"
#include "progress_plain.h"
#include "progress_view.h"
#include "say.h"
#include "screen.h"

#define VIEW_PERIOD_US 250000
#define END_BYTES_MAX  (6 * (size_t)(3 * SAY_LINE_MAX)) /* of texts in the last line */

/* --- the view --------------------------------------------------------------------------------- */

/* As the C library would decide; the command itself has no use for a locale. */
static bool is_utf8(void)
{
    static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *value = getenv(names[i]);
        if (value && *value)
            return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
    }
    return false;
}

static bool wants_colour(void)
{
    const char *no = getenv("NO_COLOR");
    return !no || !*no;
}

/* A third of the terminal is left for what is said above. */
static void show_view(struct progress *progress)
{
    struct progress_view_options options = { .colour = progress->colour, .utf8 = progress->utf8 };
    struct weir_buf lines;
    unsigned height;
    screen_size(&options.columns, &height);
    options.lines = height > 2 ? (height * 2 + 2) / 3 : 1;
    weir_buf_init(&lines, PROGRESS_VIEW_MAX);
    progress_view_draw(&progress->snapshot, &options, &lines);
    screen_show(weir_buf_text(&lines), lines.len, options.columns);
    weir_buf_release(&lines);
}

/* --- lines ------------------------------------------------------------------------------------ */

static void write_json(struct weir_buf *line)
{
    weir_buf_add_char(line, '\n');
    screen_write(weir_buf_text(line), line->len);
    weir_buf_release(line);
}

static void show_json(const struct progress_snapshot *snapshot)
{
    struct weir_buf line;
    weir_buf_init(&line, PROGRESS_JSON_MAX(snapshot->connection_count));
    progress_json_draw(snapshot, &line);
    write_json(&line);
}

void progress_say_end(struct weir_job *job, const struct progress_end *end)
{
    struct progress_snapshot snapshot = { 0 };
    struct weir_buf line;
    if (job)
        progress_snapshot_take(&snapshot, job);
    weir_buf_init(&line, PROGRESS_JSON_MAX(snapshot.connection_count) + END_BYTES_MAX);
    progress_json_draw_end(job ? &snapshot : NULL, end, &line);
    write_json(&line);
    progress_snapshot_release(&snapshot);
}

/* --- all forms -------------------------------------------------------------------------------- */

static int64_t period_us(const struct progress *progress)
{
    if (progress->form == JOB_PROGRESS_AUTO)
        return VIEW_PERIOD_US;
    return progress->form == JOB_PROGRESS_JSON ? PROGRESS_JSON_PERIOD_US : PROGRESS_PLAIN_PERIOD_US;
}

void progress_begin(struct progress *progress, enum job_progress_form form)
{
    bool view = form == JOB_PROGRESS_AUTO && screen_is_possible();
    progress->form = form == JOB_PROGRESS_AUTO && !view ? JOB_PROGRESS_PLAIN : form;
    if (view)
        screen_begin();
    progress->colour = wants_colour();
    progress->utf8 = is_utf8();
    progress->next_us = weir_clock_now_us() + (view ? 0 : period_us(progress));
}

static void tell(struct progress *progress, struct weir_job *job)
{
    switch (progress->form) {
    case JOB_PROGRESS_AUTO:
        progress_snapshot_take(&progress->snapshot, job);
        show_view(progress);
        break;
    case JOB_PROGRESS_PLAIN:
        progress_plain_say(job);
        break;
    case JOB_PROGRESS_JSON:
        progress_snapshot_take(&progress->snapshot, job);
        show_json(&progress->snapshot);
        break;
    case JOB_PROGRESS_NONE:
        break;
    }
}

int64_t progress_tell(struct progress *progress, struct weir_job *job)
{
    int64_t now_us = weir_clock_now_us();
    if (now_us >= progress->next_us) {
        if (say_has_room())
            tell(progress, job);
        now_us = weir_clock_now_us(); /* whatever the job's clock and ours think of the period */
        progress->next_us = now_us + period_us(progress);
    }
    return progress->next_us - now_us;
}

void progress_end(struct progress *progress, struct weir_job *job)
{
    if (progress->form == JOB_PROGRESS_AUTO && say_has_room())
        tell(progress, job);
    screen_end();
    progress_snapshot_release(&progress->snapshot);
}
