/* SPDX-License-Identifier: MIT */
/* A report for people; see report_html.h. From top to bottom. */
#include "report_html.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "figures.h"
#include "report_chart.h"
#include "weir/weir.h"

/* --- the head --------------------------------------------------------------------------------- */

static const char *state_of(const struct report_data *data, const char **ret_class)
{
    *ret_class = "state";
    if (report_data_is_unfinished(data)) {
        *ret_class = "state open";
        return "not finished";
    }
    if (data->result->rejected > 0) {
        *ret_class = "state bad";
        return "done, with rejected rows";
    }
    return "done";
}

static void add_head(const struct report_data *data, struct weir_buf *html)
{
    const char *class_, *state = state_of(data, &class_);
    const char *operation = weir_operation_name(data->options->operation);
    weir_buf_add_text(html, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
                            "'none'; style-src 'unsafe-inline'\">\n"
                            "<meta name=\"viewport\" content=\"width=device-width, "
                            "initial-scale=1\">\n<title>weir: ");
    weir_buf_printf(html, "%s ", operation);
    report_html_text(html, data->options->table);
    weir_buf_printf(html, "</title>\n<style>%s</style></head><body><main>\n<h1>%s ", report_style,
                    operation);
    report_html_text(html, data->options->table);
    weir_buf_add_text(html, "</h1>\n<p class=\"meta\">");
    report_html_text(html, data->url);
    weir_buf_add_text(html, " &middot; job ");
    report_html_text(html, data->job);
    weir_buf_printf(html, " &middot; %s</p>\n", report_data_moment(data->began_us).text);
    weir_buf_printf(html,
                    "<p><span class=\"%s\">%s</span> <span class=\"meta\">exit code %d</span>"
                    "</p>\n",
                    class_, state, data->result->exit_code);
}

/* --- the balance ------------------------------------------------------------------------------ */

struct part {
    const char *name;
    const char *class_;
    uint64_t rows;
};

static void add_part(struct weir_buf *html, const struct part *part)
{
    weir_buf_printf(html, "<div%s><dt><i class=\"key %s\"></i>%s</dt><dd>%s</dd></div>\n",
                    part->rows ? "" : " class=\"none\"", part->class_, part->name,
                    figure_count(part->rows).text);
}

static void add_bar(struct weir_buf *html, const struct part *parts, size_t count, uint64_t read)
{
    weir_buf_add_text(html, "<div class=\"bar\" aria-hidden=\"true\">");
    for (size_t i = 0; i < count && read > 0; i++) {
        if (parts[i].rows > 0)
            weir_buf_printf(html, "<i class=\"%s\" style=\"width:%.3f%%\"></i>", parts[i].class_,
                            100.0 * (double)parts[i].rows / (double)read);
    }
    weir_buf_add_text(html, "</div>\n");
}

static void add_fact(struct weir_buf *html, const char *name, const char *value)
{
    weir_buf_printf(html, "<div><dt>%s</dt><dd>%s</dd></div>\n", name, value);
}

static void add_facts(const struct report_data *data, struct weir_buf *html)
{
    const struct weir_job_result *it = data->result;
    char size[40];
    snprintf(size, sizeof(size), "%.1f MiB", (double)it->bytes_sent / (1024.0 * 1024.0));
    weir_buf_add_text(html, "<dl class=\"facts\">\n");
    add_fact(html, "this run took", figure_span(it->elapsed_s).text);
    add_fact(html, "requests", figure_count(it->requests).text);
    add_fact(html, "sent", size);
    add_fact(html, "throttles", figure_count(it->throttles).text);
    add_fact(html, "connections closed", figure_span(it->throttle_wait_s).text);
    add_fact(html, "rows sent again", figure_count(it->rows_again).text);
    if (data->passes > 1) {
        char passes[16];
        snprintf(passes, sizeof(passes), "%u", data->passes);
        add_fact(html, "passes", passes);
    }
    if (it->absent > 0)
        add_fact(html, "were not there any more", figure_count(it->absent).text);
    weir_buf_add_text(html, "</dl>\n");
}

static void add_balance(const struct report_data *data, struct weir_buf *html)
{
    const struct weir_job_result *it = data->result;
    const struct part parts[] = {
        { "done", "done", it->done },
        { "rejected", "rejected", it->rejected },
        { "skipped", "skipped", it->skipped },
        { "unknown", "unknown", it->unknown },
        { "not sent", "not-sent", it->not_sent },
    };
    size_t count = sizeof(parts) / sizeof(parts[0]);
    weir_buf_printf(html,
                    "<section class=\"card\"><dl class=\"balance\">\n<div><dt>read</dt>"
                    "<dd>%s =</dd></div>\n",
                    figure_count(it->read).text);
    for (size_t i = 0; i < count; i++)
        add_part(html, &parts[i]);
    weir_buf_add_text(html, "</dl>\n");
    add_bar(html, parts, count, it->read);
    if (data->went_on)
        weir_buf_add_text(html, "<p class=\"runs\">These are the rows of all runs of the job; what "
                                "follows is of this run alone.</p>\n");
    add_facts(data, html);
    weir_buf_add_text(html, "</section>\n");
}

static void add_trouble(const struct report_data *data, struct weir_buf *html)
{
    bool unfinished = report_data_is_unfinished(data);
    if (!unfinished && !data->trouble[0])
        return;
    weir_buf_add_text(html, "<section class=\"card\"><p>");
    report_html_text(html, data->trouble[0] ? data->trouble : "Rows are left to do.");
    weir_buf_add_text(html, "</p>");
    if (unfinished) {
        weir_buf_add_text(html, "<p class=\"meta\">Go on with</p><pre>");
        report_html_text(html, data->resume_line);
        weir_buf_add_text(html, "</pre>");
    }
    weir_buf_add_text(html, "</section>\n");
}

/* --- problems --------------------------------------------------------------------------------- */

static void add_example(struct weir_buf *html, const char *name, const char *text)
{
    if (!text[0])
        return;
    weir_buf_printf(html, "%s <code>", name);
    report_html_text(html, text);
    weir_buf_add_text(html, "</code>");
}

static void add_problem(struct weir_buf *html, const struct report_problem *it)
{
    weir_buf_printf(html,
                    "<article class=\"problem\"><div class=\"count\">%s<small>row%s</small>"
                    "</div><div><h3>%s",
                    figure_count(it->rows).text, it->rows == 1 ? "" : "s", it->name);
    if (it->service_code)
        weir_buf_printf(html, " <code>0x%08" PRIX32 "</code>", it->service_code);
    weir_buf_add_text(html, "</h3><p>");
    report_html_text(html, it->message);
    weir_buf_printf(html, "</p><p class=\"where\">First: row %s", figure_count(it->row).text);
    add_example(html, " of", it->file);
    add_example(html, ", column", it->column);
    add_example(html, ", value", it->value);
    if (it->line[0]) {
        weir_buf_add_text(html, "<br><code>");
        report_html_text(html, it->line);
        weir_buf_add_text(html, "</code>");
    }
    weir_buf_add_text(html, "</p><p class=\"what\">");
    report_html_text(html, it->advice);
    weir_buf_add_text(html, "</p></div></article>\n");
}

static void add_problems(const struct report_data *data, struct weir_buf *html)
{
    const struct report_problems *problems = data->problems;
    if (problems->rejects == 0)
        return;
    weir_buf_printf(html, "<h2>%s reject%s = %s%zu problem%s</h2>\n<section class=\"card\">\n",
                    figure_count(problems->rejects).text, problems->rejects == 1 ? "" : "s",
                    problems->others ? "more than " : "", problems->count,
                    problems->count == 1 ? "" : "s");
    for (size_t i = 0; i < problems->count; i++)
        add_problem(html, &problems->list[i]);
    weir_buf_add_text(html, "</section>\n");
    if (problems->others > 0)
        weir_buf_printf(html,
                        "<p class=\"note\">%s rows have other problems; errors.jsonl has "
                        "all of them.</p>\n",
                        figure_count(problems->others).text);
}

/* --- connections ------------------------------------------------------------------------------ */

static void add_ms(struct weir_buf *html, const struct weir_histogram *latency, int64_t us)
{
    double ms = (double)us / WEIR_US_PER_MS;
    if (latency->count == 0)
        weir_buf_add_text(html, "<td class=\"n\">&ndash;</td>");
    else if (ms < 100)
        weir_buf_printf(html, "<td class=\"n\">%.1f</td>", ms);
    else
        weir_buf_printf(html, "<td class=\"n\">%s</td>", figure_count((uint64_t)(ms + 0.5)).text);
}

static void add_quantiles(struct weir_buf *html, const struct weir_histogram *latency)
{
    add_ms(html, latency, weir_histogram_quantile_us(latency, 0.5));
    add_ms(html, latency, weir_histogram_quantile_us(latency, 0.9));
    add_ms(html, latency, weir_histogram_quantile_us(latency, 0.99));
    add_ms(html, latency, latency->max_us);
}

static void add_number(struct weir_buf *html, uint64_t number)
{
    weir_buf_printf(html, "<td class=\"n\">%s</td>", figure_count(number).text);
}

static void add_latencies(const struct report_data *data, struct weir_buf *html)
{
    weir_buf_add_text(
        html,
        "<h2>How long requests took, in milliseconds</h2>\n<section class=\"card wide\"><table>"
        "<thead><tr><th>connection</th><th class=\"n\">answers</th>"
        "<th class=\"n\">p50</th><th class=\"n\">p90</th>"
        "<th class=\"n\">p99</th><th class=\"n\">max</th></tr></thead>\n");
    for (size_t i = 0; i < data->connection_count; i++) {
        const struct report_connection *it = &data->connections[i];
        weir_buf_add_text(html, "<tr><td>");
        report_html_text(html, it->now.name);
        weir_buf_add_text(html, "</td>");
        add_number(html, it->experience.latency.count);
        add_quantiles(html, &it->experience.latency);
        weir_buf_add_text(html, "</tr>\n");
    }
    weir_buf_add_text(html, "<tr class=\"all\"><td>all</td>");
    add_number(html, data->latency.count);
    add_quantiles(html, &data->latency);
    weir_buf_add_text(html, "</tr></table></section>\n");
}

static void add_throttles(const struct report_data *data, struct weir_buf *html)
{
    if (data->result->throttles == 0)
        return;
    weir_buf_add_text(html, "<h2>Throttles by kind</h2>\n<section class=\"card wide\"><table>"
                            "<thead><tr><th>connection</th><th class=\"n\">requests</th>"
                            "<th class=\"n\">execution time</th><th class=\"n\">concurrency</th>"
                            "<th class=\"n\">other</th></tr></thead>\n");
    for (size_t i = 0; i < data->connection_count; i++) {
        weir_buf_add_text(html, "<tr><td>");
        report_html_text(html, data->connections[i].now.name);
        weir_buf_add_text(html, "</td>");
        for (int kind = WEIR_THROTTLE_REQUESTS; kind <= WEIR_THROTTLE_OTHER; kind++)
            add_number(html, data->connections[i].experience.throttles_by_kind[kind]);
        weir_buf_add_text(html, "</tr>\n");
    }
    weir_buf_add_text(html, "<tr class=\"all\"><td>all</td>");
    for (int kind = WEIR_THROTTLE_REQUESTS; kind <= WEIR_THROTTLE_OTHER; kind++)
        add_number(html, report_data_throttles(data, (enum weir_throttle_kind)kind));
    weir_buf_add_text(html, "</tr></table></section>\n");
}

/* --- what was asked for ----------------------------------------------------------------------- */

static void add_option(struct weir_buf *html, const char *name, const char *value)
{
    if (!value)
        return;
    weir_buf_printf(html, "<tr><td>%s</td><td><code>", name);
    report_html_text(html, value);
    weir_buf_add_text(html, "</code></td></tr>\n");
}

static void add_options(const struct report_data *data, struct weir_buf *html)
{
    const struct weir_job_options *it = data->options;
    char batch[32];
    if (it->batch_size == WEIR_BATCH_SIZE_AUTO)
        snprintf(batch, sizeof(batch), "auto, %" PRIu32 " at the end", data->result->batch_rows);
    else
        snprintf(batch, sizeof(batch), "%" PRIu32, it->batch_size);
    weir_buf_add_text(html, "<h2>What was asked for</h2>\n<section class=\"card wide\"><table>\n");
    for (size_t i = 0; i < data->file_count; i++)
        add_option(html, "file", data->files[i]);
    add_option(html, "job directory", data->directory);
    add_option(html, "key", it->key);
    add_option(html, "ids from", it->id_from);
    add_option(html, "owner", it->owner);
    add_option(html, "mapping", it->mapping);
    for (size_t i = 0; i < it->with_count; i++)
        add_option(html, "with", it->with[i]);
    add_option(html, "ignored columns", it->ignore_columns);
    add_option(html, "time zone", it->timezone);
    add_option(html, "for the user", it->as);
    add_option(html, "bypassed logic", it->bypass_logic);
    add_option(html, "tag", it->tag);
    add_option(html, "batch size", batch);
    weir_buf_add_text(html, "</table></section>\n");
}

void report_html(const struct report_data *data, struct weir_buf *html)
{
    add_head(data, html);
    add_balance(data, html);
    add_trouble(data, html);
    add_problems(data, html);
    report_html_timelines(data, html);
    add_latencies(data, html);
    add_throttles(data, html);
    add_options(data, html);
    weir_buf_printf(html, "<footer>weir %s</footer>\n</main></body></html>\n", weir_version());
}
