/* SPDX-License-Identifier: MIT */
/* The timelines of a report's page; see report_html.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "figures.h"
#include "report_chart.h"
#include "report_html.h"

/* What the charts of one connection, or of all, are drawn from. */
struct columns {
    double at_s[REPORT_POINTS_MAX];
    double first[REPORT_POINTS_MAX];
    double second[REPORT_POINTS_MAX];
    double shade[REPORT_POINTS_MAX];
};

static struct report_chart chart_of(const struct report_timeline *timeline, struct columns *columns,
                                    const char *title, const char *note)
{
    for (size_t i = 0; i < timeline->count; i++)
        columns->at_s[i] = timeline->points[i].at_s;
    return (struct report_chart){ .title = title,
                                  .note = note,
                                  .percent = "",
                                  .from_s = timeline->from_s,
                                  .at_s = columns->at_s,
                                  .count = timeline->count };
}

static void add_rate(const struct report_data *data, struct columns *columns, struct weir_buf *html)
{
    const struct report_timeline *timeline = data->timeline;
    char note[120];
    double peak = 0;
    for (size_t i = 0; i < timeline->count; i++) {
        columns->first[i] = report_timeline_rate(timeline, i);
        columns->shade[i] = timeline->points[i].throttled >= 1;
        peak = columns->first[i] > peak ? columns->first[i] : peak;
    }
    uint64_t rows = timeline->count ? timeline->points[timeline->count - 1].rows : 0;
    double span_s = data->result->elapsed_s;
    snprintf(note, sizeof(note), "mean %s, peak %s",
             figure_rate(span_s > 0 ? (double)(rows - timeline->from_rows) / span_s : 0).text,
             figure_rate(peak).text);
    struct report_chart chart = chart_of(timeline, columns, "Rows per second", note);
    chart.shade = columns->shade;
    chart.series[chart.series_count++] =
        (struct report_series){ "rows per second", "c1", columns->first, true };
    report_chart_add(html, &chart);
}

static void add_levels(const struct report_data *data, size_t connection, struct columns *columns,
                       struct weir_buf *html)
{
    const struct report_timeline *timeline = data->timeline;
    for (size_t i = 0; i < timeline->count; i++) {
        const struct report_mark *mark = report_timeline_mark(timeline, i, connection);
        columns->first[i] = mark->in_flight;
        columns->second[i] = mark->level;
        columns->shade[i] = mark->throttled;
    }
    struct report_chart chart = chart_of(timeline, columns, "Requests", "");
    chart.small = true;
    chart.shade = columns->shade;
    chart.series[chart.series_count++] =
        (struct report_series){ "in flight", "c1", columns->first, true };
    chart.series[chart.series_count++] =
        (struct report_series){ "level", "c2", columns->second, false };
    report_chart_add(html, &chart);
}

static void add_budgets(const struct report_data *data, size_t connection, struct columns *columns,
                        struct weir_buf *html)
{
    const struct report_timeline *timeline = data->timeline;
    bool told = false;
    for (size_t i = 0; i < timeline->count; i++) {
        const struct report_mark *mark = report_timeline_mark(timeline, i, connection);
        columns->first[i] = mark->requests_left;
        columns->second[i] = mark->execution_left;
        told |= mark->requests_left >= 0 || mark->execution_left >= 0;
    }
    if (!told)
        return;
    struct report_chart chart = chart_of(timeline, columns, "Budget left", "");
    chart.small = true;
    chart.percent = "%";
    chart.shade = columns->shade;
    chart.series[chart.series_count++] =
        (struct report_series){ "requests", "c3", columns->first, false };
    chart.series[chart.series_count++] =
        (struct report_series){ "execution time", "c4", columns->second, false };
    report_chart_add(html, &chart);
}

static void add_connection(const struct report_data *data, size_t connection,
                           struct columns *columns, struct weir_buf *html)
{
    const struct report_connection *it = &data->connections[connection];
    weir_buf_add_text(html, "<section class=\"card\"><h3>");
    report_html_text(html, it->now.name);
    weir_buf_printf(html, "<small>%s rows, %s throttle%s", figure_count(it->now.rows_done).text,
                    figure_count(it->now.throttles).text, it->now.throttles == 1 ? "" : "s");
    if (it->experience.throttle_wait_s > 0)
        weir_buf_printf(html, ", closed for %s", figure_span(it->experience.throttle_wait_s).text);
    weir_buf_printf(html, "; level %" PRIu32 " at the end, bound by %s%s</small></h3>",
                    it->now.level, weir_bound_name(it->now.bound_by),
                    it->now.set_aside ? "; set aside" : "");
    add_levels(data, connection, columns, html);
    add_budgets(data, connection, columns, html);
    weir_buf_add_text(html, "</section>\n");
}

void report_html_timelines(const struct report_data *data, struct weir_buf *html)
{
    static const char shaded[] = "<p class=\"note\"><i class=\"key shaded\"></i>Shaded: throttled, "
                                 "until the service would listen again; above, all connections at "
                                 "once.</p>\n";
    struct columns columns;
    size_t lanes = data->timeline->lanes;
    if (data->timeline->count == 0)
        return;
    memset(&columns, 0, sizeof(columns));
    weir_buf_add_text(html, "<h2>Over time</h2>\n<section class=\"card\">");
    add_rate(data, &columns, html);
    weir_buf_add_text(html, "</section>\n<div class=\"cards\">\n");
    for (size_t i = 0; i < lanes; i++)
        add_connection(data, i, &columns, html);
    weir_buf_add_text(html, "</div>\n");
    weir_buf_add_text(html, shaded);
    if (lanes < data->connection_count)
        weir_buf_printf(html, "<p class=\"note\">The first %zu of %zu connections are drawn.</p>\n",
                        lanes, data->connection_count);
}
