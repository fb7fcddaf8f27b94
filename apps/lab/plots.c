/* SPDX-License-Identifier: MIT */
/*
 * The plots of a comparison; see compare.h. Each is a sheet of rows with a scale across:
 *
 *     title
 *     legend
 *     name of row   ┊···●··┊··▲···◆···┊   figures
 *                   0      50        100
 */
#include <stdio.h>

#include "lab/compare.h"
#include "lab/svg.h"
#include "sim/law/number.h"

#define WIDTH      960.0
#define LEFT       210.0
#define RIGHT      24.0
#define ROW        20.0
#define SHARE_MOST 1.15

struct sheet {
    struct weir_buf *svg;
    double right;  /* where the scale ends */
    double top;    /* of the first row */
    double bottom; /* of the last */
};

static double row_y(const struct sheet *sheet, uint32_t row)
{
    return sheet->top + (row + 0.5) * ROW;
}

static void write_rows(struct sheet *sheet, uint32_t row, const char *name)
{
    double y = row_y(sheet, row);
    lab_svg_text(sheet->svg, LEFT - 12, y + 4, LAB_SVG_END, "t", name);
    lab_svg_line(sheet->svg, LEFT, y, sheet->right, y, "grid");
}

/* Names of the first series with their marks, as many as have one of their own, and the grey. */
static void write_legend(struct sheet *sheet, const struct lab_request *request, double y)
{
    double x = LEFT;
    uint32_t count = request->policy_count;
    uint32_t shown = count > LAB_SVG_SERIES ? LAB_SVG_SERIES + 1 : count;
    for (uint32_t i = 0; i < shown; i++) {
        char text[LAB_POLICY_NAME_MAX + 1];
        if (i < LAB_SVG_SERIES)
            snprintf(text, sizeof(text), "%s", request->policies[i].name);
        else
            snprintf(text, sizeof(text), "%u others", count - LAB_SVG_SERIES);
        lab_svg_mark(sheet->svg, x + 5, y - 4, i);
        lab_svg_text(sheet->svg, x + 15, y, LAB_SVG_START, "t", text);
        x += 34 + 7.2 * (double)weir_str_from(text).len;
    }
}

static struct sheet open_sheet(struct weir_buf *svg, const char *title, const char *note,
                               uint32_t rows, double top, double room_right)
{
    struct sheet sheet = { svg, WIDTH - RIGHT - room_right, top, top + rows * ROW };
    lab_svg_open(svg, WIDTH, sheet.bottom + 40, title);
    lab_svg_text(svg, 24, 34, LAB_SVG_START, "h", title);
    lab_svg_text(svg, 24, 54, LAB_SVG_START, "s", note);
    return sheet;
}

static void write_tick(struct sheet *sheet, double x, const char *label, const char *class_)
{
    lab_svg_line(sheet->svg, x, sheet->top, x, sheet->bottom, class_);
    lab_svg_text(sheet->svg, x, sheet->bottom + 18, LAB_SVG_MIDDLE, "s", label);
}

/* --- shares ----------------------------------------------------------------------------------- */

static double share_x(const struct sheet *sheet, double share)
{
    double part = share > SHARE_MOST ? SHARE_MOST : share;
    return LEFT + part / SHARE_MOST * (sheet->right - LEFT);
}

static void write_share_scale(struct sheet *sheet)
{
    for (int percent = 0; percent <= 100; percent += 20) {
        char label[16];
        snprintf(label, sizeof(label), "%d %%", percent);
        write_tick(sheet, share_x(sheet, percent / 100.0), label, percent < 100 ? "grid" : "rule");
    }
}

/* What is drawn last stands on top: the first policies, which have colours. */
static void mark_scenario(struct sheet *sheet, const struct lab_comparison *comparison, uint32_t s)
{
    for (uint32_t p = comparison->request->policy_count; p-- > 0;) {
        double share = lab_comparison_cell(comparison, s, p)->median[LAB_COLUMN_SHARE];
        lab_svg_mark(sheet->svg, share_x(sheet, share), row_y(sheet, s), p);
    }
}

void lab_plot_shares(const struct lab_comparison *comparison, struct weir_buf *ret)
{
    uint32_t rows = comparison->files->count;
    struct sheet sheet =
        open_sheet(ret, "Share of the oracle, by scenario",
                   "Medians over seeds. 100 % is what a compliant client could do that knows all.",
                   rows, 96, 0);
    write_legend(&sheet, comparison->request, 82);
    write_share_scale(&sheet);
    for (uint32_t s = 0; s < rows; s++) {
        write_rows(&sheet, s, comparison->files->scenarios[s].name);
        mark_scenario(&sheet, comparison, s);
    }
    lab_svg_close(ret);
}

/* --- policies --------------------------------------------------------------------------------- */

static void write_figures(struct sheet *sheet, uint32_t row, const struct lab_total *total)
{
    char text[32];
    double y = row_y(sheet, row) + 4;
    snprintf(text, sizeof(text), "%.1f %%", 100 * total->mean_share);
    lab_svg_text(sheet->svg, sheet->right + 66, y, LAB_SVG_END, "b", text);
    snprintf(text, sizeof(text), "%.1f %%", 100 * total->worst_share);
    lab_svg_text(sheet->svg, sheet->right + 124, y, LAB_SVG_END, "t", text);
    snprintf(text, sizeof(text), "%.1f", total->throttles);
    lab_svg_text(sheet->svg, sheet->right + 202, y, LAB_SVG_END, "t", text);
}

static void write_policy(struct sheet *sheet, const struct lab_comparison *comparison, uint32_t row,
                         uint32_t p)
{
    struct lab_total total = lab_comparison_total(comparison, p, LAB_CLASS_COUNT);
    write_rows(sheet, row, comparison->request->policies[p].name);
    for (uint32_t s = 0; s < comparison->files->count; s++) {
        double share = lab_comparison_cell(comparison, s, p)->median[LAB_COLUMN_SHARE];
        lab_svg_mark(sheet->svg, share_x(sheet, share), row_y(sheet, row), LAB_SVG_SERIES);
    }
    lab_svg_mark(sheet->svg, share_x(sheet, total.mean_share), row_y(sheet, row), 0);
    write_figures(sheet, row, &total);
}

/* The best mean first; equals in the order in which they were asked for. */
static void sort_policies(const struct lab_comparison *comparison, uint32_t *order)
{
    double means[LAB_POLICIES_MAX];
    for (uint32_t p = 0; p < comparison->request->policy_count; p++) {
        means[p] = lab_comparison_total(comparison, p, LAB_CLASS_COUNT).mean_share;
        uint32_t place = p;
        for (; place > 0 && means[order[place - 1]] < means[p]; place--)
            order[place] = order[place - 1];
        order[place] = p;
    }
}

void lab_plot_policies(const struct lab_comparison *comparison, struct weir_buf *ret)
{
    uint32_t order[LAB_POLICIES_MAX];
    uint32_t rows = comparison->request->policy_count;
    char note[128];
    snprintf(note, sizeof(note),
             "Grey: each of %u scenarios, median over %u seeds. Blue: their mean.",
             comparison->files->count, comparison->request->seeds);
    struct sheet sheet = open_sheet(ret, "Share of the oracle, by policy", note, rows, 96, 206);
    lab_svg_text(ret, sheet.right + 66, 86, LAB_SVG_END, "s", "mean");
    lab_svg_text(ret, sheet.right + 124, 86, LAB_SVG_END, "s", "worst");
    lab_svg_text(ret, sheet.right + 202, 86, LAB_SVG_END, "s", "429s a run");
    write_share_scale(&sheet);
    sort_policies(comparison, order);
    for (uint32_t row = 0; row < rows; row++)
        write_policy(&sheet, comparison, row, order[row]);
    lab_svg_close(ret);
}

/* --- throttles -------------------------------------------------------------------------------- */

/* Decades, with room for none at all on the left. */
static double throttle_x(const struct sheet *sheet, double throttles)
{
    double place = throttles < 1 ? throttles : 1 + sim_log(throttles) / sim_log(10);
    return LEFT + 20 + (place > 4.1 ? 4.1 : place) / 4.2 * (sheet->right - LEFT - 20);
}

void lab_plot_throttles(const struct lab_comparison *comparison, struct weir_buf *ret)
{
    static const char *const labels[] = { "none", "1", "10", "100", "1000" };
    uint32_t rows = comparison->files->count;
    struct sheet sheet =
        open_sheet(ret, "Throttles a run, by scenario",
                   "Medians over seeds; each step is ten times as many.", rows, 96, 0);
    write_legend(&sheet, comparison->request, 82);
    double values[] = { 0, 1, 10, 100, 1000 };
    for (int i = 0; i < 5; i++)
        write_tick(&sheet, throttle_x(&sheet, values[i]), labels[i], "grid");
    for (uint32_t s = 0; s < rows; s++) {
        write_rows(&sheet, s, comparison->files->scenarios[s].name);
        for (uint32_t p = comparison->request->policy_count; p-- > 0;) {
            double throttles = lab_comparison_cell(comparison, s, p)->median[LAB_COLUMN_THROTTLES];
            lab_svg_mark(ret, throttle_x(&sheet, throttles), row_y(&sheet, s), p);
        }
    }
    lab_svg_close(ret);
}
