/* SPDX-License-Identifier: MIT */
/* Progress as a view: which lines there are, and the total; see progress_view.h. */
#include "progress_view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "figures.h"
#include "progress_view_parts.h"

/* --- the total -------------------------------------------------------------------------------- */

/* Of the work that has ended, over all passes; negative: the size is not known. */
static double share_ended(const struct weir_job_progress *job)
{
    if (job->read_share < 0 || job->read == 0)
        return -1;
    bool all = job->pass == job->passes && job->pass_ended >= job->read;
    if (job->over && all && job->read_share >= 1)
        return 1;
    double pass = (double)job->pass_ended / (double)job->read;
    double share = job->pass > 1 ? (job->pass - 1 + pass) / job->passes : job->read_share * pass;
    return share < 0.999 ? share : 0.999; /* all of it is said when it is over */
}

static void add_share(struct view_line *line, const struct weir_job_progress *job)
{
    double share = share_ended(job);
    if (share < 0)
        return;
    if (line->columns_max >= (job->passes > 1 ? 99 : 79)) {
        view_add_text(line, "[");
        view_add_bar(line, share, line->columns_max >= 99 ? 20 : 10, VIEW_GREEN);
        view_add_text(line, "] ");
    }
    view_printf(line, VIEW_BOLD, "%3.0f %%", (double)(int)(share * 100));
    view_add_text(line, "  ");
}

/* A row is done after its last pass: until then it is the pass that moves. */
static void add_done(struct view_line *line, const struct weir_job_progress *job)
{
    if (job->passes > 1)
        view_printf(line, VIEW_PLAIN, "pass %u of %u: ", job->pass, job->passes);
    if (job->pass < job->passes && !job->over)
        view_printf(line, VIEW_BOLD, "%s rows", figure_count(job->pass_ended).text);
    else
        view_printf(line, VIEW_BOLD, "%s done", figure_count(job->done).text);
}

/* Where there is no room for both, how long it takes goes before how fast it is. */
static void add_pace(struct view_line *line, const struct weir_job_progress *job)
{
    struct figure rate = figure_rate(job->rows_per_second), left = figure_span(job->eta_s);
    size_t both = strlen(rate.text) + strlen(left.text) + strlen(",  rows/s,  left");
    bool narrow = line->columns_max < 79;
    if (!narrow || job->eta_s < 0 || both <= line->columns_max - line->columns)
        view_add_piece(line, VIEW_PLAIN, "%s rows/s", rate.text);
    if (job->eta_s >= 0)
        view_add_piece(line, VIEW_PLAIN, "%s left", left.text);
}

static void draw_total(struct view_line *line, const struct weir_job_progress *job)
{
    add_share(line, job);
    add_done(line, job);
    if (job->rejected > 0)
        view_add_piece(line, VIEW_RED, "%s rejected", figure_count(job->rejected).text);
    if (job->skipped > 0)
        view_add_piece(line, VIEW_PLAIN, "%s skipped", figure_count(job->skipped).text);
    if (job->over)
        return;
    add_pace(line, job);
}

/* --- what is in the way ----------------------------------------------------------------------- */

static void draw_trouble(struct view_line *line, const struct weir_job_progress *job)
{
    if (job->over)
        return;
    if (job->stopping)
        view_printf(line, VIEW_YELLOW, "stopping, %" PRIu32 " %s way", job->requests_in_flight,
                    job->requests_in_flight == 1 ? "request on its" : "requests on their");
    else if (job->throttled_for_s > 0)
        view_printf(line, VIEW_YELLOW, "all throttled, the first for %s",
                    view_countdown(job->throttled_for_s).text);
    if (job->trouble[0]) {
        view_add_text(line, line->columns ? "; " : "");
        view_add_words(line, job->trouble, VIEW_RED, PROGRESS_VIEW_COLUMNS);
    }
}

/* --- which connections ------------------------------------------------------------------------ */

static int compare_busy(const void *a, const void *b)
{
    const struct progress_connection *one = *(const struct progress_connection *const *)a;
    const struct progress_connection *two = *(const struct progress_connection *const *)b;
    if (one->now.rows_done != two->now.rows_done)
        return one->now.rows_done > two->now.rows_done ? -1 : 1;
    if (one->now.in_flight != two->now.in_flight)
        return one->now.in_flight > two->now.in_flight ? -1 : 1;
    return one < two ? -1 : 1;
}

static int compare_place(const void *a, const void *b)
{
    const struct progress_connection *one = *(const struct progress_connection *const *)a;
    const struct progress_connection *two = *(const struct progress_connection *const *)b;
    return one < two ? -1 : one > two;
}

/* The busiest come first, those of them that are shown in the order of the settings. */
static const struct progress_connection **choose(const struct progress_snapshot *snapshot,
                                                 size_t shown)
{
    size_t count = snapshot->connection_count;
    const struct progress_connection **order = weir_calloc(count, sizeof(*order));
    for (size_t i = 0; i < count; i++)
        order[i] = &snapshot->connections[i];
    if (shown < count)
        qsort(order, count, sizeof(*order), compare_busy);
    qsort(order, shown, sizeof(*order), compare_place);
    return order;
}

static void draw_rest(struct view_line *line, const struct progress_connection *const *rest,
                      size_t count)
{
    size_t counts[VIEW_STATES] = { 0 };
    bool first = true;
    for (size_t i = 0; i < count; i++)
        counts[view_state(&rest[i]->now)]++;
    view_printf(line, VIEW_DIM, "and %s more:", figure_count(count).text);
    for (int state = 0; state < VIEW_STATES; state++) {
        if (counts[state] == 0)
            continue;
        view_printf(line, view_state_colour(state), "%s %s %s", first ? "" : ",",
                    figure_count(counts[state]).text, view_state_name(state));
        first = false;
    }
}

static void draw_connections(const struct progress_snapshot *snapshot, struct view_line *line,
                             unsigned lines)
{
    size_t count = snapshot->connection_count;
    if (lines < 2 || count == 0)
        return; /* not even its heading and one of them */
    view_draw_heading(line);
    view_end_line(line);
    size_t room = lines - 1;
    size_t shown = count <= room ? count : room - 1;
    const struct progress_connection **order = choose(snapshot, shown);
    for (size_t i = 0; i < shown; i++) {
        view_draw_connection(line, order[i], snapshot->wall_us);
        view_end_line(line);
    }
    if (shown < count) {
        draw_rest(line, order + shown, count - shown);
        view_end_line(line);
    }
    free(order);
}

/* --- the whole -------------------------------------------------------------------------------- */

void progress_view_draw(const struct progress_snapshot *snapshot,
                        const struct progress_view_options *options, struct weir_buf *ret)
{
    unsigned columns =
        options->columns < PROGRESS_VIEW_COLUMNS ? options->columns : PROGRESS_VIEW_COLUMNS;
    unsigned lines = options->lines < PROGRESS_VIEW_LINES ? options->lines : PROGRESS_VIEW_LINES;
    struct view_line line = {
        .buf = ret,
        .columns_max = columns > 1 ? columns - 1 : 1,
        .colour = options->colour,
        .utf8 = options->utf8,
    };
    if (lines == 0)
        return;
    draw_total(&line, &snapshot->job);
    view_end_line(&line);
    lines--;
    if (lines > 0)
        draw_trouble(&line, &snapshot->job);
    if (line.columns > 0) {
        view_end_line(&line);
        lines--;
    }
    draw_connections(snapshot, &line, lines);
}
