/* SPDX-License-Identifier: MIT */
/*
 * The timelines of some policies; see trace.h. Each is a panel:
 *
 *     name, figures
 *     52 ┤  ▇▇▇          area: in flight on all connections, to a scale of its own
 *        │▇▇   ▇▇▇▇▇     line: how full the binding window is, of all accounts together
 *      0 ┼──┬─┬──────    ticks below: throttles
 */
#include <stdio.h>

#include "base/clock.h"
#include "base/mem.h"
#include "lab/outcome.h"
#include "lab/svg.h"
#include "lab/trace.h"

#define WIDTH   960.0
#define LEFT    64.0
#define RIGHT   60.0
#define PANEL   150.0
#define HEIGHT  96.0
#define POINTS  400
#define USE_TOP 1.25

struct panel {
    const struct sim_scenario *scenario;
    const struct lab_trace *trace;
    int64_t end_us;
    double in_flight[POINTS + 1];
    double use[POINTS + 1];
};

struct frame {
    struct weir_buf *svg;
    double top;
    double in_flight_most;
};

static int64_t point_us(const struct panel *panel, int i)
{
    return panel->end_us / POINTS * i;
}

static int64_t overlap_us(const struct lab_step *step, int64_t from_us, int64_t to_us)
{
    int64_t end_us = step->sent_us + step->service_us;
    int64_t from = step->sent_us > from_us ? step->sent_us : from_us;
    int64_t to = end_us < to_us ? end_us : to_us;
    return to > from ? to - from : 0;
}

/* The fuller of the two windows, of all accounts together, without prefill and other clients; of
 * several services the first one's share of charged time stands for all. */
static double use_at(const struct panel *panel, int64_t now_us)
{
    const struct sim_scenario *scenario = panel->scenario;
    struct sim_budget budget = sim_scenario_budget(scenario, now_us);
    int64_t from_us = now_us - scenario->limits.window_us;
    double requests = 0, execution = 0;
    for (uint32_t i = 0; i < panel->trace->count; i++) {
        const struct lab_step *step = &panel->trace->steps[i];
        if (step->throttled || step->sent_us > now_us)
            continue;
        requests += step->sent_us > from_us;
        execution += (double)overlap_us(step, from_us, now_us);
    }
    double accounts =
        scenario->connections * (scenario->limits.shared ? 1.0 : (double)scenario->servers);
    double share = (double)scenario->services[0].exec_share / SIM_WHOLE_SHARE;
    double by_number = budget.requests ? requests / (double)budget.requests : 0;
    double by_time = budget.execution_us ? execution * share / (double)budget.execution_us : 0;
    return (by_number > by_time ? by_number : by_time) / accounts;
}

static void measure(struct panel *panel)
{
    for (int k = 0; k <= POINTS; k++) {
        int64_t now_us = point_us(panel, k);
        panel->use[k] = use_at(panel, now_us);
        panel->in_flight[k] = 0;
        for (uint32_t i = 0; i < panel->trace->count; i++) {
            const struct lab_step *step = &panel->trace->steps[i];
            panel->in_flight[k] += step->sent_us <= now_us && now_us < step->back_us;
        }
    }
}

/* --- drawing ---------------------------------------------------------------------------------- */

static double x_of(const struct panel *panel, int64_t at_us)
{
    return LEFT + (double)at_us / (double)panel->end_us * (WIDTH - LEFT - RIGHT);
}

static double y_of(const struct frame *frame, double part)
{
    return frame->top + HEIGHT * (1 - (part > 1 ? 1 : part));
}

static void draw_area(const struct frame *frame, const struct panel *panel)
{
    weir_buf_printf(frame->svg, "<path class=\"area\" d=\"M%.1f %.1f", LEFT, y_of(frame, 0));
    for (int k = 0; k <= POINTS; k++)
        weir_buf_printf(frame->svg, "L%.1f %.1f", x_of(panel, point_us(panel, k)),
                        y_of(frame, panel->in_flight[k] / frame->in_flight_most));
    weir_buf_printf(frame->svg, "L%.1f %.1fZ\"/>\n", WIDTH - RIGHT, y_of(frame, 0));
}

static void draw_use(const struct frame *frame, const struct panel *panel)
{
    weir_buf_add_text(frame->svg, "<path class=\"use\" d=\"");
    for (int k = 0; k <= POINTS; k++)
        weir_buf_printf(frame->svg, "%c%.1f %.1f", k ? 'L' : 'M', x_of(panel, point_us(panel, k)),
                        y_of(frame, panel->use[k] / USE_TOP));
    weir_buf_add_text(frame->svg, "\"/>\n");
}

static void draw_throttles(const struct frame *frame, const struct panel *panel)
{
    double last = -1;
    for (uint32_t i = 0; i < panel->trace->count; i++) {
        const struct lab_step *step = &panel->trace->steps[i];
        double x = x_of(panel, step->sent_us);
        if (!step->throttled || step->sent_us > panel->end_us || (x - last < 0.5 && x >= last))
            continue;
        lab_svg_line(frame->svg, x, y_of(frame, 0) + 2, x, y_of(frame, 0) + 9, "bad");
        last = x;
    }
}

static void draw_scales(const struct frame *frame, const struct panel *panel)
{
    char text[32];
    lab_svg_line(frame->svg, LEFT, y_of(frame, 0), WIDTH - RIGHT, y_of(frame, 0), "grid");
    lab_svg_line(frame->svg, LEFT, y_of(frame, 1 / USE_TOP), WIDTH - RIGHT,
                 y_of(frame, 1 / USE_TOP), "rule");
    snprintf(text, sizeof(text), "%.0f", frame->in_flight_most);
    lab_svg_text(frame->svg, LEFT - 8, y_of(frame, 1) + 8, LAB_SVG_END, "s", text);
    lab_svg_text(frame->svg, LEFT - 8, y_of(frame, 0) + 4, LAB_SVG_END, "s", "0");
    lab_svg_text(frame->svg, WIDTH - RIGHT + 8, y_of(frame, 1 / USE_TOP) + 4, LAB_SVG_START, "s",
                 "100 %");
    int64_t minutes = panel->end_us / WEIR_US_PER_MINUTE;
    int64_t every = minutes > 40 ? 20 : minutes > 8 ? 5 : 1;
    for (int64_t minute = every; minute <= minutes; minute += every) {
        double x = x_of(panel, minute * WEIR_US_PER_MINUTE);
        snprintf(text, sizeof(text), "%ld min", (long)minute);
        lab_svg_text(frame->svg, x, y_of(frame, 0) + 20, LAB_SVG_MIDDLE, "s", text);
    }
}

static void draw_panel(const struct frame *frame, const struct panel *panel, const char *name,
                       const char *figures)
{
    lab_svg_text(frame->svg, LEFT, frame->top - 8, LAB_SVG_START, "b", name);
    lab_svg_text(frame->svg, WIDTH - RIGHT, frame->top - 8, LAB_SVG_END, "s", figures);
    draw_scales(frame, panel);
    draw_area(frame, panel);
    draw_use(frame, panel);
    draw_throttles(frame, panel);
}

/* --- gathering -------------------------------------------------------------------------------- */

struct strip {
    struct lab_trace trace;
    struct panel panel;
    char name[LAB_POLICY_NAME_MAX + 1];
    char figures[96];
};

static void fill_oracle(struct strip *strip, const struct sim_scenario *scenario, uint64_t seed,
                        struct lab_oracle *ret)
{
    lab_trace_oracle(scenario, seed, &strip->trace, ret);
    snprintf(strip->name, sizeof(strip->name), "oracle");
    snprintf(strip->figures, sizeof(strip->figures), "%lu requests", (unsigned long)ret->items);
}

static void fill_policy(struct strip *strip, const struct sim_scenario *scenario,
                        const struct lab_policy *policy, uint64_t seed,
                        const struct lab_oracle *oracle)
{
    struct lab_outcome outcome = { .oracle = *oracle };
    lab_trace_run(scenario, policy, seed, &strip->trace, &outcome.figures);
    snprintf(strip->name, sizeof(strip->name), "%s", policy->name);
    snprintf(strip->figures, sizeof(strip->figures), "%.1f %% of the oracle, %lu throttles",
             100 * lab_outcome_cell(&outcome, LAB_COLUMN_SHARE),
             (unsigned long)outcome.figures.throttles);
}

/* The longest of the runs; an endless one is as long as its scenario says. */
static int64_t end_of(const struct sim_scenario *scenario, const struct strip *strips,
                      uint32_t count)
{
    if (scenario->work_items == SIM_NO_WORK_ITEMS)
        return scenario->duration_us;
    int64_t end_us = 1;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < strips[i].trace.count; k++)
            end_us = strips[i].trace.steps[k].back_us > end_us ? strips[i].trace.steps[k].back_us
                                                               : end_us;
    }
    return end_us;
}

static double most_in_flight(const struct panel *panel)
{
    double most = 1;
    for (int k = 0; k <= POINTS; k++)
        most = panel->in_flight[k] > most ? panel->in_flight[k] : most;
    return most;
}

static void draw(struct weir_buf *svg, const struct sim_scenario *scenario,
                 const struct strip *strips, uint32_t count)
{
    char title[SIM_NAME_MAX + 32];
    snprintf(title, sizeof(title), "Timeline: %s", scenario->name);
    lab_svg_open(svg, WIDTH, 84 + count * PANEL, "timeline of what is in flight and of window use");
    lab_svg_text(svg, 24, 34, LAB_SVG_START, "h", title);
    lab_svg_text(
        svg, 24, 54, LAB_SVG_START, "s",
        "Area: requests in flight, all connections, each to its own scale. Line: how full the "
        "binding window is. Ticks below: throttles.");
    for (uint32_t i = 0; i < count; i++) {
        struct frame frame = { svg, 96 + i * PANEL, most_in_flight(&strips[i].panel) };
        draw_panel(&frame, &strips[i].panel, strips[i].name, strips[i].figures);
    }
    lab_svg_close(svg);
}

void lab_plot_timeline(const struct sim_scenario *scenario, const struct lab_policy *policies,
                       uint32_t count, uint64_t seed, struct weir_buf *ret)
{
    struct strip *strips = weir_calloc(count + 1, sizeof(*strips));
    struct lab_oracle oracle;
    fill_oracle(&strips[0], scenario, seed, &oracle);
    for (uint32_t i = 0; i < count; i++)
        fill_policy(&strips[i + 1], scenario, &policies[i], seed, &oracle);
    int64_t end_us = end_of(scenario, strips, count + 1);
    for (uint32_t i = 0; i <= count; i++) {
        strips[i].panel.scenario = scenario;
        strips[i].panel.trace = &strips[i].trace;
        strips[i].panel.end_us = end_us;
        measure(&strips[i].panel);
    }
    draw(ret, scenario, strips, count + 1);
    for (uint32_t i = 0; i <= count; i++)
        lab_trace_release(&strips[i].trace);
    free(strips);
}
