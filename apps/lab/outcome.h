/* SPDX-License-Identifier: MIT */
/* What came out of one run beside what the oracles did, and the figures of many such runs. */
#ifndef LAB_OUTCOME_H
#define LAB_OUTCOME_H

#include "lab/oracle.h"
#include "lab/run.h"

struct lab_outcome {
    struct lab_figures figures;
    struct lab_oracle oracle;
    struct lab_oracle edge; /* O3; only if it was wanted */
};

enum lab_column {
    LAB_COLUMN_ITEMS,
    LAB_COLUMN_SHARE, /* of the oracle: of its items or, of a finite job, of its makespan */
    LAB_COLUMN_THROTTLES,
    LAB_COLUMN_EPISODES,
    LAB_COLUMN_PENALTY,
    LAB_COLUMN_JAIN,
    LAB_COLUMN_FOREIGN,
    LAB_COLUMN_EDGE, /* what the edge rider would have of the oracle */
    LAB_COLUMN_COUNT
};

double lab_outcome_cell(const struct lab_outcome *outcome, enum lab_column column);

/* The value below which `share` of the outcomes lie, between two of them if need be; 0.5 is the
 * median. */
double lab_outcome_quantile(const struct lab_outcome *outcomes, uint32_t count,
                            enum lab_column column, double share);

#endif
