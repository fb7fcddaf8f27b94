/* SPDX-License-Identifier: MIT */
/*
 * Plots as SVG, by hand: no script, no font of their own, light or dark as the reader has it, also
 * when they stand in a page as an image.
 *
 * Series are numbered from 0; the first LAB_SVG_SERIES have colours and shapes of their own, what
 * comes after them is grey.
 */
#ifndef LAB_SVG_H
#define LAB_SVG_H

#include "base/buf.h"

#define LAB_SVG_SERIES    6
#define LAB_SVG_BYTES_MAX ((size_t)16 * 1024 * 1024)

enum lab_svg_anchor {
    LAB_SVG_START,
    LAB_SVG_MIDDLE,
    LAB_SVG_END
};

/* Begin a picture of so many units; `what` is for those who cannot see it. */
void lab_svg_open(struct weir_buf *svg, double width, double height, const char *what);
void lab_svg_close(struct weir_buf *svg);

/* A text in a class of the style sheet: "h" a heading, "t" plain, "s" small and soft, "b" bold. */
void lab_svg_text(struct weir_buf *svg, double x, double y, enum lab_svg_anchor anchor,
                  const char *class_, const char *text);

/* A line in a class: "grid", "rule". */
void lab_svg_line(struct weir_buf *svg, double x1, double y1, double x2, double y2,
                  const char *class_);

/* The mark of a series. */
void lab_svg_mark(struct weir_buf *svg, double x, double y, uint32_t series);

#endif
