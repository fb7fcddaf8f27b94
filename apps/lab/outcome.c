/* SPDX-License-Identifier: MIT */
/* What came out of one run, and the figures of many; see outcome.h. */
#include "lab/outcome.h"

#include "base/mem.h"

/* Of a finite job what counts is how long it took, of an endless one how much was done. */
static double share(uint64_t items, double makespan_s, const struct lab_oracle *oracle)
{
    if (oracle->makespan_s >= 0)
        return makespan_s > 0 ? oracle->makespan_s / makespan_s : 1;
    return oracle->items ? (double)items / (double)oracle->items : 1;
}

double lab_outcome_cell(const struct lab_outcome *outcome, enum lab_column column)
{
    const struct lab_figures *figures = &outcome->figures;
    const struct lab_oracle *edge = &outcome->edge;
    switch (column) {
    case LAB_COLUMN_ITEMS:
        return (double)figures->items;
    case LAB_COLUMN_SHARE:
        return share(figures->items, figures->makespan_s, &outcome->oracle);
    case LAB_COLUMN_THROTTLES:
        return (double)figures->throttles;
    case LAB_COLUMN_EPISODES:
        return (double)figures->episodes;
    case LAB_COLUMN_PENALTY:
        return figures->penalty_fraction;
    case LAB_COLUMN_JAIN:
        return figures->jain;
    case LAB_COLUMN_FOREIGN:
        return figures->foreign_served;
    case LAB_COLUMN_EDGE:
        return share(edge->items, edge->makespan_s, &outcome->oracle);
    case LAB_COLUMN_COUNT:
        break;
    }
    return 0;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

double lab_outcome_quantile(const struct lab_outcome *outcomes, uint32_t count,
                            enum lab_column column, double share_below)
{
    double *values = weir_calloc(count, sizeof(*values));
    for (uint32_t i = 0; i < count; i++)
        values[i] = lab_outcome_cell(&outcomes[i], column);
    qsort(values, count, sizeof(*values), by_value);
    double place = share_below * (count - 1);
    uint32_t below = (uint32_t)place;
    uint32_t above = below + 1 < count ? below + 1 : below;
    double value = values[below] + (values[above] - values[below]) * (place - below);
    free(values);
    return value;
}
