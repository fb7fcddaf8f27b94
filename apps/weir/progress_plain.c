/* SPDX-License-Identifier: MIT */
/* Progress as plain lines; see progress_plain.h. */
#include "progress_plain.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "figures.h"
#include "printable.h"
#include "say.h"

#define NAME_COLUMNS 20 /* of a connection's name; the rest is cut */

/* Nothing but time will help it. */
static bool is_spent(const struct weir_job_connection *connection)
{
    return connection->in_flight == 0 && (connection->bound_by == WEIR_BOUND_BUDGET_REQUESTS ||
                                          connection->bound_by == WEIR_BOUND_BUDGET_EXECUTION);
}

void progress_plain_take(struct progress_plain *progress, struct weir_job *job)
{
    *progress = (struct progress_plain){ 0 };
    weir_job_progress(job, &progress->job);
    size_t count = weir_job_connection_count(job);
    for (size_t i = 0; i < count; i++) {
        struct weir_job_connection connection;
        weir_job_connection(job, i, &connection);
        if (connection.set_aside) {
            if (progress->set_aside++ == 0)
                progress->first_set_aside = connection;
        } else if (connection.throttled_for_s > 0) {
            if (connection.throttled_for_s > progress->first_throttled.throttled_for_s)
                progress->first_throttled = connection;
            progress->throttled++;
        } else if (is_spent(&connection)) {
            if (progress->spent++ == 0)
                progress->first_spent = connection;
        }
    }
}

static void add_words(struct weir_buf *line, const char *words, size_t columns)
{
    printable_add(line, weir_str_cut(weir_str_from(words), columns));
}

static void add_name(struct weir_buf *line, const char *name)
{
    add_words(line, name, NAME_COLUMNS);
}

static void add_others(struct weir_buf *line, uint32_t count)
{
    if (count > 1)
        weir_buf_printf(line, " +%" PRIu32, count - 1);
}

static void add_elapsed(struct weir_buf *line, double elapsed_s)
{
    uint64_t whole = elapsed_s > 0 && elapsed_s < 1e12 ? (uint64_t)elapsed_s : 0;
    weir_buf_printf(line, "%" PRIu64 ":%02u:%02u  ", whole / 3600, (unsigned)(whole / 60 % 60),
                    (unsigned)(whole % 60));
}

/* A row is done after its last pass: until then this is what moves. */
static void add_pass(struct weir_buf *line, const struct weir_job_progress *job)
{
    if (job->passes > 1)
        weir_buf_printf(line, "pass %u of %u: %s rows; ", job->pass, job->passes,
                        figure_count(job->pass_ended).text);
}

static void add_rows(struct weir_buf *line, const struct weir_job_progress *job)
{
    weir_buf_printf(line, "%s done", figure_count(job->done).text);
    if (job->rejected > 0)
        weir_buf_printf(line, ", %s rejected", figure_count(job->rejected).text);
    if (job->skipped > 0)
        weir_buf_printf(line, ", %s skipped", figure_count(job->skipped).text);
    weir_buf_printf(line, ", %s rows/s", figure_rate(job->rows_per_second).text);
    if (job->eta_s >= 0)
        weir_buf_printf(line, ", %s left", figure_span(job->eta_s).text);
    else if (job->read_share >= 0 && job->read_share <= 1)
        weir_buf_printf(line, ", %.0f %% read", job->read_share * 100);
}

static void add_trouble(struct weir_buf *line, const struct progress_plain *progress)
{
    double throttled_s = progress->first_throttled.throttled_for_s;
    if (progress->job.throttled_for_s > 0) {
        weir_buf_printf(line, "; all throttled for %s",
                        figure_span(progress->job.throttled_for_s).text);
    } else if (progress->throttled > 0) {
        weir_buf_add_text(line, "; ");
        add_name(line, progress->first_throttled.name);
        add_others(line, progress->throttled);
        weir_buf_printf(line, " throttled for %s", figure_span(throttled_s).text);
    }
    if (progress->spent > 0 && !progress->job.stopping) {
        weir_buf_add_text(line, "; ");
        add_name(line, progress->first_spent.name);
        add_others(line, progress->spent);
        weir_buf_printf(line, " bound by %s", weir_bound_name(progress->first_spent.bound_by));
    }
    if (progress->job.stopping)
        weir_buf_printf(line, "; stopping, %" PRIu32 " request%s", progress->job.requests_in_flight,
                        progress->job.requests_in_flight == 1 ? " on its way" : "s on their way");
    if (progress->set_aside > 0) {
        weir_buf_add_text(line, "; ");
        add_name(line, progress->first_set_aside.name);
        add_others(line, progress->set_aside);
        weir_buf_add_text(line, " set aside");
    }
    if (progress->job.trouble[0]) {
        weir_buf_add_text(line, "; ");
        add_words(line, progress->job.trouble, PROGRESS_PLAIN_COLUMNS);
    }
}

/* What is too long ends with its last whole word. A byte is a column at most. */
static void cut_at_word(const struct weir_buf *whole, char line[PROGRESS_PLAIN_COLUMNS + 1])
{
    static const char more[] = "\u2026";
    struct weir_str text = weir_str(weir_buf_text(whole), whole->len);
    size_t max =
        text.len <= PROGRESS_PLAIN_COLUMNS ? text.len : PROGRESS_PLAIN_COLUMNS - strlen(more);
    struct weir_str cut = weir_str_cut(text, max);
    const char *blank = memrchr(cut.ptr, ' ', cut.len);
    if (cut.len < text.len && text.ptr[cut.len] != ' ' && blank)
        cut.len = (size_t)(blank - cut.ptr);
    memcpy(line, cut.ptr, cut.len);
    if (cut.len < text.len) {
        memcpy(line + cut.len, more, strlen(more));
        cut.len += strlen(more);
    }
    line[cut.len] = '\0';
}

void progress_plain_line(const struct progress_plain *progress,
                         char line[PROGRESS_PLAIN_COLUMNS + 1])
{
    struct weir_buf whole;
    weir_buf_init(&whole, 4096);
    add_elapsed(&whole, progress->job.elapsed_s);
    add_pass(&whole, &progress->job);
    add_rows(&whole, &progress->job);
    add_trouble(&whole, progress);
    cut_at_word(&whole, line);
    weir_buf_release(&whole);
}

void progress_plain_say(struct weir_job *job)
{
    struct progress_plain progress;
    char line[PROGRESS_PLAIN_COLUMNS + 1];
    if (!say_has_room())
        return;
    progress_plain_take(&progress, job);
    progress_plain_line(&progress, line);
    say("%s", line);
}
