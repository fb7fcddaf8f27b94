/* SPDX-License-Identifier: MIT */
/* Numbers as people read them. Any thread. */
#ifndef WEIR_APP_FIGURES_H
#define WEIR_APP_FIGURES_H

#include <stdint.h>

/* By value: `figure_count(rows).text`. */
struct figure {
    char text[40];
};

struct figure figure_count(uint64_t count);       /* 1,234,567 */
struct figure figure_rate(double per_second);     /* 0.4, 12.3, 1,234 */
struct figure figure_span(double seconds);        /* 4.2 s, 42 s, 3 min 21 s, 2 h 03 min, 3 d 4 h */
struct figure figure_clock(double seconds_ahead); /* 05:47:12, by the clock on the wall */

/* The same, from a moment in microseconds since 1970. */
struct figure figure_clock_from(int64_t wall_us, double seconds_ahead);

#endif
