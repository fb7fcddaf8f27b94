/* SPDX-License-Identifier: MIT */
/* Plots as SVG, by hand; see svg.h. */
#include "lab/svg.h"

/* clang-format off */
static const char style[] =
    "<style>"
    "svg{--paper:#fff;--ink:#1b2733;--soft:#5b6b7b;--rule:#dfe5ea;--c0:#1f6f9f;--c1:#b4581a;"
    "--c2:#3b7d4f;--c3:#8a4f9e;--c4:#a8871c;--c5:#c0392b;--grey:#a9b4bf;--bad:#c0392b}"
    "@media(prefers-color-scheme:dark){svg{--paper:#12181e;--ink:#e4eaf0;--soft:#98a7b5;"
    "--rule:#2c3742;--c0:#63b3e0;--c1:#e8975a;--c2:#77c28d;--c3:#c893da;--c4:#d9bb55;"
    "--c5:#e8705f;--grey:#5c6975;--bad:#e8705f}}"
    "text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',sans-serif;"
    "font-variant-numeric:tabular-nums;fill:var(--ink);font-size:12px}"
    "text.h{font-size:16px;font-weight:600}text.b{font-weight:600}"
    "text.s{fill:var(--soft);font-size:11px}"
    ".paper{fill:var(--paper)}.grid{stroke:var(--rule);stroke-width:1}"
    ".rule{stroke:var(--soft);stroke-width:1;stroke-dasharray:3 3}"
    ".m{stroke:var(--paper);stroke-width:.8}"
    ".m0{fill:var(--c0)}.m1{fill:var(--c1)}.m2{fill:var(--c2)}.m3{fill:var(--c3)}"
    ".m4{fill:var(--c4)}.m5{fill:var(--c5)}.mx{fill:var(--grey)}"
    ".area{fill:var(--c0);fill-opacity:.35;stroke:none}"
    ".use{fill:none;stroke:var(--c1);stroke-width:1.6;stroke-linejoin:round}"
    ".bad{stroke:var(--bad);stroke-width:1.2}"
    "</style>";
/* clang-format on */

void lab_svg_open(struct weir_buf *svg, double width, double height, const char *what)
{
    weir_buf_printf(svg,
                    "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" "
                    "width=\"%.0f\" height=\"%.0f\" role=\"img\" aria-label=\"%s\">\n%s\n"
                    "<rect class=\"paper\" width=\"100%%\" height=\"100%%\"/>\n",
                    width, height, width, height, what, style);
}

void lab_svg_close(struct weir_buf *svg)
{
    weir_buf_add_text(svg, "</svg>\n");
}

static void add_escaped(struct weir_buf *svg, const char *text)
{
    for (; *text; text++) {
        if (*text == '<')
            weir_buf_add_text(svg, "&lt;");
        else if (*text == '&')
            weir_buf_add_text(svg, "&amp;");
        else if ((unsigned char)*text >= ' ')
            weir_buf_add_char(svg, *text);
    }
}

void lab_svg_text(struct weir_buf *svg, double x, double y, enum lab_svg_anchor anchor,
                  const char *class_, const char *text)
{
    static const char *const anchors[] = { "start", "middle", "end" };
    weir_buf_printf(svg, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", class_, x,
                    y, anchors[anchor]);
    add_escaped(svg, text);
    weir_buf_add_text(svg, "</text>\n");
}

void lab_svg_line(struct weir_buf *svg, double x1, double y1, double x2, double y2,
                  const char *class_)
{
    weir_buf_printf(svg, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
                    class_, x1, y1, x2, y2);
}

static void polygon(struct weir_buf *svg, uint32_t series, const char *points)
{
    weir_buf_printf(svg, "<polygon class=\"m m%u\" points=\"%s\"/>\n", series, points);
}

void lab_svg_mark(struct weir_buf *svg, double x, double y, uint32_t series)
{
    struct weir_buf points;
    weir_buf_init(&points, 256);
    switch (series) {
    case 1: /* a diamond */
        weir_buf_printf(&points, "%.1f,%.1f %.1f,%.1f %.1f,%.1f %.1f,%.1f", x, y - 5.5, x + 5.5, y,
                        x, y + 5.5, x - 5.5, y);
        polygon(svg, series, weir_buf_text(&points));
        break;
    case 2: /* a triangle */
        weir_buf_printf(&points, "%.1f,%.1f %.1f,%.1f %.1f,%.1f", x, y - 5, x + 5, y + 4, x - 5,
                        y + 4);
        polygon(svg, series, weir_buf_text(&points));
        break;
    case 3: /* a square */
        weir_buf_printf(&points, "%.1f,%.1f %.1f,%.1f %.1f,%.1f %.1f,%.1f", x - 4, y - 4, x + 4,
                        y - 4, x + 4, y + 4, x - 4, y + 4);
        polygon(svg, series, weir_buf_text(&points));
        break;
    case 4: /* a triangle upside down */
        weir_buf_printf(&points, "%.1f,%.1f %.1f,%.1f %.1f,%.1f", x, y + 5, x + 5, y - 4, x - 5,
                        y - 4);
        polygon(svg, series, weir_buf_text(&points));
        break;
    default:
        if (series < LAB_SVG_SERIES)
            weir_buf_printf(svg, "<circle class=\"m m%u\" cx=\"%.1f\" cy=\"%.1f\" r=\"%s\"/>\n",
                            series, x, y, series ? "3.5" : "5");
        else
            weir_buf_printf(svg, "<circle class=\"m mx\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\"/>\n", x,
                            y);
    }
    weir_buf_release(&points);
}
