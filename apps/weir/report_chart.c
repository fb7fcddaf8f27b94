/* SPDX-License-Identifier: MIT */
/* Charts of a report's page; see report_chart.h. */
#include "report_chart.h"

#include <math.h>

#include "figures.h"
#include "printable.h"

#define WIDTH  1000.0 /* of the drawing, in its own units … */
#define HEIGHT 100.0  /* … both ways */

void report_html_text(struct weir_buf *html, const char *text)
{
    struct weir_buf shown;
    weir_buf_init(&shown, SIZE_MAX);
    for (const char *at = text; *at; at++) {
        bool blank = *at == '\n' || *at == '\r' || *at == '\t';
        weir_buf_add_char(&shown, blank ? ' ' : *at);
    }
    struct weir_str bytes = weir_str(weir_buf_text(&shown), shown.len);
    struct weir_buf plain;
    weir_buf_init(&plain, SIZE_MAX);
    printable_add(&plain, bytes);
    for (const char *at = weir_buf_text(&plain); *at; at++) {
        switch (*at) {
        case '&':
            weir_buf_add_text(html, "&amp;");
            break;
        case '<':
            weir_buf_add_text(html, "&lt;");
            break;
        case '>':
            weir_buf_add_text(html, "&gt;");
            break;
        case '"':
            weir_buf_add_text(html, "&quot;");
            break;
        case '\'':
            weir_buf_add_text(html, "&#39;");
            break;
        default:
            weir_buf_add_char(html, *at);
        }
    }
    weir_buf_release(&plain);
    weir_buf_release(&shown);
}

double report_chart_scale(double most)
{
    static const double steps[] = { 1, 2, 2.5, 5, 10 };
    if (!isfinite(most) || most <= 0)
        return 2;
    if (most <= 10)
        return 2 * ceil(most / 2);
    double unit = pow(10, floor(log10(most)));
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        if (most <= steps[i] * unit)
            return steps[i] * unit;
    }
    return 10 * unit;
}

/* --- places ----------------------------------------------------------------------------------- */

static double end_s(const struct report_chart *chart)
{
    return chart->at_s[chart->count - 1];
}

static double begin_s(const struct report_chart *chart, size_t point)
{
    return point ? chart->at_s[point - 1] : chart->from_s;
}

static double x_of(const struct report_chart *chart, double at_s)
{
    return end_s(chart) > 0 ? at_s / end_s(chart) * WIDTH : 0;
}

static double y_of(double value, double scale)
{
    double share = value / scale;
    return HEIGHT - (share < 1 ? share : 1) * HEIGHT;
}

static double most(const struct report_chart *chart)
{
    double most = 0;
    for (size_t s = 0; s < chart->series_count; s++) {
        for (size_t i = 0; i < chart->count; i++)
            most = fmax(most, chart->series[s].values[i]);
    }
    return most;
}

/* --- drawing ---------------------------------------------------------------------------------- */

/* A value holds for all of its point's time: a step. */
static void add_path(struct weir_buf *html, const struct report_chart *chart,
                     const struct report_series *series, double scale)
{
    bool drawn = false;
    for (size_t i = 0; i < chart->count; i++) {
        if (series->values[i] < 0) {
            drawn = false;
            continue;
        }
        double y = y_of(series->values[i], scale);
        weir_buf_printf(html, "%c%.1f %.1f", drawn ? 'L' : 'M', x_of(chart, begin_s(chart, i)), y);
        weir_buf_printf(html, "H%.1f", x_of(chart, chart->at_s[i]));
        drawn = true;
    }
}

static void add_series(struct weir_buf *html, const struct report_chart *chart,
                       const struct report_series *series, double scale)
{
    if (series->area) {
        weir_buf_printf(html, "<path class=\"area %s\" d=\"M%.1f %.1fL", series->class_,
                        x_of(chart, chart->from_s), HEIGHT);
        for (size_t i = 0; i < chart->count; i++)
            weir_buf_printf(html, "%.1f %.1fH%.1fL", x_of(chart, begin_s(chart, i)),
                            y_of(fmax(series->values[i], 0), scale), x_of(chart, chart->at_s[i]));
        weir_buf_printf(html, "%.1f %.1fZ\"/>", x_of(chart, end_s(chart)), HEIGHT);
    }
    weir_buf_printf(html, "<path class=\"line %s\" d=\"", series->class_);
    add_path(html, chart, series, scale);
    weir_buf_add_text(html, "\"/>");
}

/* One band for each time that is shaded without a break; a pointer on it is told which. */
static void add_shades(struct weir_buf *html, const struct report_chart *chart)
{
    for (size_t i = 0; chart->shade && i < chart->count; i++) {
        if (chart->shade[i] <= 0)
            continue;
        double from_s = begin_s(chart, i);
        while (i + 1 < chart->count && chart->shade[i + 1] > 0)
            i++;
        double to_s = chart->at_s[i];
        weir_buf_printf(html,
                        "<rect class=\"shade\" x=\"%.1f\" y=\"0\" width=\"%.1f\" height=\"%.0f\">"
                        "<title>throttled from %s to %s</title></rect>",
                        x_of(chart, from_s), x_of(chart, to_s) - x_of(chart, from_s), HEIGHT,
                        figure_span(from_s).text, figure_span(to_s).text);
    }
}

static void add_legend(struct weir_buf *html, const struct report_chart *chart)
{
    weir_buf_add_text(html, "<span class=\"legend\">");
    for (size_t i = 0; chart->series_count > 1 && i < chart->series_count; i++)
        weir_buf_printf(html, "<span><i class=\"key %s\"></i>%s</span>", chart->series[i].class_,
                        chart->series[i].name);
    report_html_text(html, chart->note);
    weir_buf_add_text(html, "</span>");
}

static void add_tick(struct weir_buf *html, const struct report_chart *chart, double value)
{
    if (chart->percent[0])
        weir_buf_printf(html, "<span>%.0f&#8239;%%</span>", value * 100);
    else if (value >= 100 || value == floor(value))
        weir_buf_printf(html, "<span>%s</span>", figure_count((uint64_t)value).text);
    else
        weir_buf_printf(html, "<span>%.1f</span>", value);
}

static void add_svg(struct weir_buf *html, const struct report_chart *chart, double scale)
{
    weir_buf_add_text(html, "<svg viewBox=\"0 0 1000 100\" preserveAspectRatio=\"none\" "
                            "role=\"img\"><title>");
    report_html_text(html, chart->title);
    if (chart->note[0])
        weir_buf_add_text(html, ": ");
    report_html_text(html, chart->note);
    weir_buf_add_text(html, "</title>");
    add_shades(html, chart);
    weir_buf_add_text(html, "<path class=\"grid\" d=\"M0 0H1000M0 50H1000M0 100H1000\"/>");
    for (size_t i = 0; i < chart->series_count; i++)
        add_series(html, chart, &chart->series[i], scale);
    weir_buf_add_text(html, "</svg>");
}

void report_chart_add(struct weir_buf *html, const struct report_chart *chart)
{
    if (chart->count == 0)
        return;
    double scale = chart->percent[0] ? 1 : report_chart_scale(most(chart));
    weir_buf_printf(html, "<figure%s><figcaption><b>", chart->small ? " class=\"small\"" : "");
    report_html_text(html, chart->title);
    weir_buf_add_text(html, "</b>");
    add_legend(html, chart);
    weir_buf_add_text(html, "</figcaption><div class=\"plot\"><div class=\"y\">");
    add_tick(html, chart, scale);
    add_tick(html, chart, scale / 2);
    add_tick(html, chart, 0);
    weir_buf_add_text(html, "</div>");
    add_svg(html, chart, scale);
    weir_buf_printf(html, "<div class=\"x\"><span>0 s</span><span>%s</span><span>%s</span></div>",
                    figure_span(end_s(chart) / 2).text, figure_span(end_s(chart)).text);
    weir_buf_add_text(html, "</div></figure>\n");
}
