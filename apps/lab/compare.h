/* SPDX-License-Identifier: MIT */
/*
 * A comparison: medians of each scenario and policy, as tables for people (Markdown) and for
 * programs (JSON), and as plots.
 *
 * Scenarios have a class, the first that fits:
 *
 *     foreign      another client is there            servers      more than one web server
 *     finite       a job with an end                  contention   the server slows down
 *     blind        no quota headers, or wrong ones    plain        the others
 *     limits       not as published, or not for long
 */
#ifndef LAB_COMPARE_H
#define LAB_COMPARE_H

#include "base/buf.h"
#include "lab/files.h"
#include "lab/work.h"

enum lab_class {
    LAB_CLASS_PLAIN,
    LAB_CLASS_CONTENTION,
    LAB_CLASS_SERVERS,
    LAB_CLASS_LIMITS,
    LAB_CLASS_BLIND,
    LAB_CLASS_FINITE,
    LAB_CLASS_FOREIGN,
    LAB_CLASS_COUNT
};

enum lab_class lab_class_of(const struct sim_scenario *scenario);
const char *lab_class_name(enum lab_class class_);

/* Of one scenario and policy. */
struct lab_cell {
    double median[LAB_COLUMN_COUNT];
    double share_low; /* 5 % of the seeds are below */
    double share_high;
    double episodes_per_hour; /* and connection; the median */
};

/* Of one policy over all scenarios, or over those of a class. */
struct lab_total {
    uint32_t scenarios;
    double mean_share;
    double worst_share;
    uint32_t worst; /* the scenario */
    double throttles;
    double episodes_per_hour;
    double penalty;
    double least_jain;
};

struct lab_comparison {
    const struct lab_files *files;
    const struct lab_request *request;
    struct lab_cell *cells; /* scenarios × policies */
};

void lab_comparison_init(struct lab_comparison *comparison, const struct lab_files *files,
                         const struct lab_request *request);
void lab_comparison_release(struct lab_comparison *comparison);

/* Take up what came out of a scenario: a lab_done whose ctx is the comparison. */
void lab_comparison_add(void *ctx, uint32_t index, const struct lab_outcome *outcomes);

const struct lab_cell *lab_comparison_cell(const struct lab_comparison *comparison,
                                           uint32_t scenario, uint32_t policy);

/* LAB_CLASS_COUNT: of all classes. */
struct lab_total lab_comparison_total(const struct lab_comparison *comparison, uint32_t policy,
                                      enum lab_class class_);

void lab_comparison_markdown(const struct lab_comparison *comparison, struct weir_buf *ret);
void lab_comparison_json(const struct lab_comparison *comparison, struct weir_buf *ret);

/* Plots, in plots.c: one row a policy; one row a scenario with its shares, or with its throttles.
 */
void lab_plot_policies(const struct lab_comparison *comparison, struct weir_buf *ret);
void lab_plot_shares(const struct lab_comparison *comparison, struct weir_buf *ret);
void lab_plot_throttles(const struct lab_comparison *comparison, struct weir_buf *ret);

#endif
