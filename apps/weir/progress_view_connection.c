/* SPDX-License-Identifier: MIT */
/* The view's table of connections; see progress_view_parts.h. */
#include <inttypes.h>
#include <stdio.h>

#include "progress_view_parts.h"

#define GAP 2 /* columns between two of the table's */

/* Columns that each takes, 0: not shown. The first layout that the terminal has room for stands. */
struct layout {
    unsigned columns; /* in all */
    unsigned name;
    unsigned state;
    unsigned flight_bar;
    unsigned flight; /* the bar and its figures */
    unsigned bound;
    unsigned budget_bar;
    unsigned budget; /* each of the two: the bar and its figure */
    unsigned throttles;
};

static const struct layout layouts[] = {
    { 120, 14, 31, 10, 16, 16, 4, 11, 9 }, { 99, 11, 31, 6, 12, 16, 5, 5, 6 },
    { 79, 10, 17, 5, 11, 16, 4, 4, 5 },    { 59, 10, 17, 4, 10, 16, 0, 0, 0 },
    { 39, 11, 17, 0, 7, 0, 0, 0, 0 },      { 0, 8, 17, 0, 6, 0, 0, 0, 0 },
};

static const struct layout *layout_for(const struct view_line *line)
{
    const struct layout *it = layouts;
    while (it->columns > line->columns_max)
        it++;
    return it;
}

/* --- states ----------------------------------------------------------------------------------- */

enum view_state view_state(const struct weir_job_connection *connection)
{
    if (connection->set_aside)
        return VIEW_SET_ASIDE;
    if (connection->throttled_for_s > 0)
        return VIEW_THROTTLED;
    return connection->broken_for_s > 0 ? VIEW_BROKEN : VIEW_OK;
}

const char *view_state_name(enum view_state state)
{
    static const char *const names[VIEW_STATES] = {
        [VIEW_OK] = "ok",
        [VIEW_THROTTLED] = "throttled",
        [VIEW_BROKEN] = "breaker open",
        [VIEW_SET_ASIDE] = "set aside",
    };
    return names[state];
}

enum view_colour view_state_colour(enum view_state state)
{
    static const enum view_colour state_colours[VIEW_STATES] = {
        [VIEW_OK] = VIEW_GREEN,
        [VIEW_THROTTLED] = VIEW_YELLOW,
        [VIEW_BROKEN] = VIEW_RED,
        [VIEW_SET_ASIDE] = VIEW_RED,
    };
    return state_colours[state];
}

/* --- cells ------------------------------------------------------------------------------------ */

static void add_state(struct view_line *line, const struct weir_job_connection *it, bool wide,
                      int64_t wall_us)
{
    enum view_state state = view_state(it);
    enum view_colour colour = view_state_colour(state);
    const char *name = view_state_name(state);
    double rest_s = state == VIEW_THROTTLED ? it->throttled_for_s
                    : state == VIEW_BROKEN  ? it->broken_for_s
                                            : 0;
    if (rest_s <= 0)
        view_printf(line, colour, "%s", name);
    else if (wide && state == VIEW_THROTTLED)
        view_printf(line, colour, "%s until %s, %s", name, figure_clock_from(wall_us, rest_s).text,
                    view_countdown(rest_s).text);
    else
        view_printf(line, colour, "%s %s", name, view_countdown(rest_s).text);
}

static void add_flight(struct view_line *line, const struct layout *layout,
                       const struct weir_job_connection *it)
{
    if (layout->flight_bar > 0) {
        view_add_bar(line, it->level > 0 ? (double)it->in_flight / it->level : 0,
                     layout->flight_bar, VIEW_GREEN);
        view_add_text(line, " ");
    }
    view_printf(line, VIEW_PLAIN, "%" PRIu32 "/%" PRIu32, it->in_flight, it->level);
}

/* The last fifth is yellow. */
static void add_budget(struct view_line *line, const struct layout *layout,
                       const struct weir_job_budget *budget, const char *unit)
{
    if (budget->remaining < 0) {
        view_printf(line, VIEW_DIM, "-");
        return;
    }
    double share = budget->most > 0 ? budget->remaining / budget->most : 0;
    view_add_bar(line, share, layout->budget_bar, share < 0.2 ? VIEW_YELLOW : VIEW_GREEN);
    if (layout->budget > layout->budget_bar)
        view_printf(line, VIEW_PLAIN, " %.0f%s", budget->remaining < 1e9 ? budget->remaining : 1e9,
                    unit);
}

/* Where the next column begins; `from` is where the last one did. */
static unsigned next_column(struct view_line *line, unsigned from, unsigned columns)
{
    unsigned next = from + columns + (columns > 0 ? GAP : 0);
    view_pad(line, next);
    return next;
}

void view_draw_heading(struct view_line *line)
{
    const struct layout *layout = layout_for(line);
    bool wide = layout->budget > layout->budget_bar;
    char text[256];
    const struct {
        const char *name;
        unsigned columns;
    } cells[] = {
        { "connection", layout->name },
        { "state", layout->state },
        { layout->flight < 9 ? "flight" : "in flight", layout->flight },
        { "bound by", layout->bound },
        { wide ? "requests" : "req", layout->budget },
        { wide ? "exec time" : "exec", layout->budget },
        { wide ? "throttles" : "thr", layout->throttles },
    };
    int len = 0;
    for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++) {
        if (cells[i].columns > 0)
            len += snprintf(text + len, sizeof(text) - (size_t)len, "%s%-*.*s", len ? "  " : "",
                            (int)cells[i].columns, (int)cells[i].columns, cells[i].name);
    }
    while (len > 0 && text[len - 1] == ' ')
        text[--len] = '\0';
    view_printf(line, VIEW_DIM, "%s", text);
}

void view_draw_connection(struct view_line *line, const struct progress_connection *connection,
                          int64_t wall_us)
{
    const struct layout *layout = layout_for(line);
    const struct weir_job_connection *it = &connection->now;
    view_add_words(line, it->name, VIEW_PLAIN, layout->name);
    unsigned at = next_column(line, 0, layout->name);
    add_state(line, it, layout->state > 20, wall_us);
    at = next_column(line, at, layout->state);
    add_flight(line, layout, it);
    if (layout->bound == 0)
        return;
    at = next_column(line, at, layout->flight);
    view_printf(line, VIEW_PLAIN, "%s", it->level > 0 ? weir_bound_name(it->bound_by) : "-");
    if (layout->budget == 0)
        return;
    at = next_column(line, at, layout->bound);
    add_budget(line, layout, &it->requests_budget, "");
    at = next_column(line, at, layout->budget);
    add_budget(line, layout, &it->execution_budget, " s");
    next_column(line, at, layout->budget);
    view_printf(line, it->throttles > 0 ? VIEW_YELLOW : VIEW_PLAIN, "%s",
                figure_count(it->throttles).text);
}
