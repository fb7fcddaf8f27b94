/* SPDX-License-Identifier: MIT */
/*
 * How many rows of a load go in one request; see executor_parts.h.
 *
 * A batch is as large as it was packed. Where requests are sized by what they take (sizing.h) it is
 * packed large, and a load is cut when it gets its lease: what has been learned until that moment
 * counts, and the thread that reads has to know nothing of it. Only what was never sent is cut so:
 * a load that comes again has the rows that it had.
 *
 *     batch of 1,000 rows ─▶ [ load, 1,000 rows, in line ]
 *                              lease ─▶ [ 240 go ] + [ 760 rows, in line ] ─▶ …
 */
#include "bulk/executor_parts.h"

/* A bulk message of an elastic table: what the service advises. */
#define ELASTIC_ROWS 100

/* Budgets whose ratio is beyond these are not understood. */
#define CROSSOVER_LEAST_US (10 * WEIR_US_PER_MS)
#define CROSSOVER_MOST_US  (2 * WEIR_US_PER_S)

/* Of one connection stands for all: they have the same limits. */
static void hear_budgets(struct weir_executor *executor, uint32_t connection)
{
    const struct weir_budget_seen *requests =
        &executor->core->connections[connection].requests_budget;
    const struct weir_budget_seen *execution =
        &executor->core->connections[connection].execution_budget;
    if (!requests->known || !execution->known || requests->most <= 0)
        return;
    int64_t us = execution->most / requests->most;
    if (us >= CROSSOVER_LEAST_US && us <= CROSSOVER_MOST_US)
        executor->crossover_us = us;
}

static uint32_t rows_max(const struct weir_executor *executor, enum weir_load_mode mode)
{
    if (mode == WEIR_LOAD_BULK)
        return executor->plan.elastic ? ELASTIC_ROWS : WEIR_TARGETS_MAX;
    return executor->plan.bulk ? WEIR_BATCH_PARTS_MAX : executor->plan.singles_max;
}

static struct weir_sizing_bounds bounds_of(const struct weir_executor *executor,
                                           enum weir_load_mode mode)
{
    return (struct weir_sizing_bounds){
        .rows_max = rows_max(executor, mode),
        .shortest_us = executor->crossover_us,
        .longest_us = WEIR_SIZING_LONGEST_US,
    };
}

static bool is_sized(const struct weir_executor *executor, const struct weir_load *load,
                     enum weir_load_mode mode)
{
    return executor->plan.adaptive && load->fresh && mode != WEIR_LOAD_READ_BACK;
}

uint32_t weir_executor_portion(const struct weir_executor *executor, const struct weir_load *load,
                               enum weir_load_mode mode)
{
    uint32_t rows = load->row_count;
    if (is_sized(executor, load, mode)) {
        struct weir_sizing_bounds bounds = bounds_of(executor, mode);
        return weir_sizing_rows(&executor->sizes.of[executor->plan.operation][mode], &bounds, rows);
    }
    bool narrow = mode == WEIR_LOAD_SINGLES && !executor->plan.bulk;
    return narrow && rows > executor->plan.singles_max ? executor->plan.singles_max : rows;
}

struct weir_load *weir_executor_cut(struct weir_executor *executor, struct weir_load *load,
                                    enum weir_load_mode mode)
{
    uint32_t rows = weir_executor_portion(executor, load, mode);
    if (is_sized(executor, load, mode))
        weir_sizing_sent(&executor->sizes.of[executor->plan.operation][mode]);
    if (rows == load->row_count)
        return load;
    struct weir_load *head = weir_loads_cut(&executor->loads, load, 0, rows);
    struct weir_load *rest = weir_loads_cut(&executor->loads, load, rows, load->row_count - rows);
    weir_loads_move(&executor->loads, rest, WEIR_LOAD_LINED);
    weir_loads_remove(&executor->loads, load);
    return head;
}

/* The time is that of the service, as near as it can be seen from here. The first bulk message
 * waits for procedures to be made, and tells nothing of those after it. */
void weir_executor_learn_size(struct weir_executor *executor, const struct weir_load *load,
                              const struct weir_report *report, bool done)
{
    const struct weir_answer *answer = &report->answer;
    struct weir_sizing *sizing = &executor->sizes.of[executor->plan.operation][load->mode];
    bool first = load->mode == WEIR_LOAD_BULK && !executor->warm;
    if (!executor->plan.adaptive)
        return;
    hear_budgets(executor, load->lease.connection);
    struct weir_sizing_bounds bounds = bounds_of(executor, load->mode);
    if (report->timed_out)
        weir_sizing_timed_out(sizing, load->row_count);
    else if (answer->verdict.class_ == WEIR_CLASS_TOO_BIG)
        weir_sizing_too_big(sizing, load->row_count);
    else if (done && !first)
        weir_sizing_answer(sizing, load->row_count,
                           answer->ttfb_us > 0 ? answer->ttfb_us : answer->duration_us, &bounds);
}

uint32_t weir_executor_rows_chosen(const struct weir_executor *executor)
{
    enum weir_load_mode mode = executor->plan.bulk ? WEIR_LOAD_BULK : WEIR_LOAD_SINGLES;
    struct weir_sizing_bounds bounds = bounds_of(executor, mode);
    if (!executor->plan.adaptive)
        return 0;
    return weir_sizing_choice(&executor->sizes.of[executor->plan.operation][mode], &bounds);
}
