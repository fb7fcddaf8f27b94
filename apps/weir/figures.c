/* SPDX-License-Identifier: MIT */
/* Numbers as people read them; see figures.h. */
#include "figures.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"

/* What is longer is said to be this long: a hundred years. */
#define SPAN_MAX_S (100.0 * 365 * 24 * 3600)

struct figure figure_count(uint64_t count)
{
    char digits[24];
    struct figure figure;
    size_t out = 0;
    snprintf(digits, sizeof(digits), "%" PRIu64, count);
    size_t len = strlen(digits);
    for (size_t i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0)
            figure.text[out++] = ',';
        figure.text[out++] = digits[i];
    }
    figure.text[out] = '\0';
    return figure;
}

struct figure figure_rate(double per_second)
{
    struct figure figure;
    if (per_second >= 99.95)
        return figure_count(per_second < 1e15 ? (uint64_t)(per_second + 0.5) : UINT64_C(1) << 50);
    snprintf(figure.text, sizeof(figure.text), "%.1f", per_second > 0 ? per_second : 0.0);
    return figure;
}

struct figure figure_span(double seconds)
{
    struct figure figure;
    double bounded = seconds > 0 ? seconds : 0;
    bounded = bounded < SPAN_MAX_S ? bounded : SPAN_MAX_S;
    int64_t whole = (int64_t)(bounded + 0.5);
    int64_t minutes = whole / 60, hours = minutes / 60, days = hours / 24;
    size_t bytes = sizeof(figure.text);
    if (bounded < 9.95)
        snprintf(figure.text, bytes, "%.1f s", bounded);
    else if (minutes < 1)
        snprintf(figure.text, bytes, "%" PRId64 " s", whole);
    else if (hours < 1)
        snprintf(figure.text, bytes, "%" PRId64 " min %02" PRId64 " s", minutes, whole % 60);
    else if (days < 1)
        snprintf(figure.text, bytes, "%" PRId64 " h %02" PRId64 " min", hours, minutes % 60);
    else
        snprintf(figure.text, bytes, "%" PRId64 " d %" PRId64 " h", days, hours % 24);
    return figure;
}

struct figure figure_clock_from(int64_t wall_us, double seconds_ahead)
{
    struct figure figure = { "?" };
    struct tm local;
    double bounded = seconds_ahead < SPAN_MAX_S ? seconds_ahead : SPAN_MAX_S;
    double ahead_us = bounded * (double)WEIR_US_PER_S;
    int64_t moment_us = wall_us + (int64_t)ahead_us + WEIR_US_PER_S - 1;
    time_t moment = moment_us / WEIR_US_PER_S;
    if (localtime_r(&moment, &local))
        strftime(figure.text, sizeof(figure.text), "%H:%M:%S", &local);
    return figure;
}

struct figure figure_clock(double seconds_ahead)
{
    return figure_clock_from(weir_clock_wall_us(), seconds_ahead);
}
