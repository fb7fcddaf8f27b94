/* SPDX-License-Identifier: MIT */
/*
 * Charts of a report's page: SVG that is stretched to the width that there is, with its words
 * outside, in HTML, so that they stay readable on a narrow screen. No script. Pure; any thread.
 */
#ifndef WEIR_APP_REPORT_CHART_H
#define WEIR_APP_REPORT_CHART_H

#include <stdbool.h>

#include "base/buf.h"

#define REPORT_CHART_SERIES_MAX 2

struct report_series {
    const char *name;
    const char *class_;   /* of the style sheet */
    const double *values; /* one for each point; negative: a gap */
    bool area;            /* filled below */
};

struct report_chart {
    const char *title;
    const char *note;    /* beside it; "": nothing */
    const char *percent; /* "%": values are shares, and the scale ends at 1; "": numbers */
    double from_s;
    const double *at_s;  /* the end of each point's time, ascending */
    const double *shade; /* above 0: throttled; NULL: nothing is shaded */
    size_t count;
    struct report_series series[REPORT_CHART_SERIES_MAX];
    size_t series_count;
    bool small;
};

/* Nothing is drawn without points. */
void report_chart_add(struct weir_buf *html, const struct report_chart *chart);

/* Text from elsewhere, for a page: escaped, and without control characters. */
void report_html_text(struct weir_buf *html, const char *text);

/* The end of a scale that holds `most`: an even number up to 10, then 1, 2, 2.5 or 5 times a power
 * of ten. Its half is shown, too. */
double report_chart_scale(double most);

#endif
