/* SPDX-License-Identifier: MIT */
/* A comparison and its tables; see compare.h. */
#include "lab/compare.h"

#include "base/clock.h"
#include "base/mem.h"

/* --- classes ---------------------------------------------------------------------------------- */

static bool limits_are_published(const struct sim_scenario *scenario)
{
    struct sim_scenario published;
    sim_scenario_init(&published);
    const struct sim_limits *limits = &scenario->limits;
    return !scenario->change_count && limits->requests == published.limits.requests &&
           limits->execution_us == published.limits.execution_us &&
           limits->concurrent == published.limits.concurrent &&
           limits->window_us == published.limits.window_us;
}

enum lab_class lab_class_of(const struct sim_scenario *scenario)
{
    if (scenario->foreign.share > 0)
        return LAB_CLASS_FOREIGN;
    if (scenario->work_items != SIM_NO_WORK_ITEMS)
        return LAB_CLASS_FINITE;
    if (scenario->headers == SIM_HEADERS_ABSENT || scenario->headers == SIM_HEADERS_WRONG)
        return LAB_CLASS_BLIND;
    if (!limits_are_published(scenario))
        return LAB_CLASS_LIMITS;
    if (scenario->servers > 1)
        return LAB_CLASS_SERVERS;
    if (scenario->contention.knee > 0)
        return LAB_CLASS_CONTENTION;
    return LAB_CLASS_PLAIN;
}

const char *lab_class_name(enum lab_class class_)
{
    static const char *const names[] = { "plain", "contention", "servers", "limits",
                                         "blind", "finite",     "foreign", "all" };
    return names[class_];
}

/* --- gathering -------------------------------------------------------------------------------- */

void lab_comparison_init(struct lab_comparison *comparison, const struct lab_files *files,
                         const struct lab_request *request)
{
    *comparison = (struct lab_comparison){ .files = files, .request = request };
    comparison->cells =
        weir_calloc((size_t)files->count * request->policy_count, sizeof(*comparison->cells));
}

void lab_comparison_release(struct lab_comparison *comparison)
{
    free(comparison->cells);
    *comparison = (struct lab_comparison){ 0 };
}

static double hours(const struct sim_scenario *scenario, const struct lab_outcome *outcomes)
{
    double seconds = outcomes[0].figures.makespan_s;
    if (seconds < 0)
        seconds = (double)scenario->duration_us / (double)WEIR_US_PER_S;
    return seconds / 3600;
}

void lab_comparison_add(void *ctx, uint32_t index, const struct lab_outcome *outcomes)
{
    struct lab_comparison *comparison = ctx;
    uint32_t seeds = comparison->request->seeds;
    const struct sim_scenario *scenario = &comparison->files->scenarios[index];
    for (uint32_t p = 0; p < comparison->request->policy_count; p++) {
        const struct lab_outcome *of_it = &outcomes[(size_t)p * seeds];
        struct lab_cell *cell = &comparison->cells[index * comparison->request->policy_count + p];
        for (int c = 0; c < LAB_COLUMN_COUNT; c++)
            cell->median[c] = lab_outcome_quantile(of_it, seeds, (enum lab_column)c, 0.5);
        cell->share_low = lab_outcome_quantile(of_it, seeds, LAB_COLUMN_SHARE, 0.05);
        cell->share_high = lab_outcome_quantile(of_it, seeds, LAB_COLUMN_SHARE, 0.95);
        cell->episodes_per_hour =
            cell->median[LAB_COLUMN_EPISODES] / scenario->connections / hours(scenario, of_it);
    }
}

const struct lab_cell *lab_comparison_cell(const struct lab_comparison *comparison,
                                           uint32_t scenario, uint32_t policy)
{
    return &comparison->cells[scenario * comparison->request->policy_count + policy];
}

static void add_to_total(struct lab_total *total, const struct lab_cell *cell, uint32_t scenario)
{
    double share = cell->median[LAB_COLUMN_SHARE];
    if (!total->scenarios || share < total->worst_share) {
        total->worst_share = share;
        total->worst = scenario;
    }
    if (!total->scenarios || cell->median[LAB_COLUMN_JAIN] < total->least_jain)
        total->least_jain = cell->median[LAB_COLUMN_JAIN];
    total->scenarios++;
    total->mean_share += share;
    total->throttles += cell->median[LAB_COLUMN_THROTTLES];
    total->episodes_per_hour += cell->episodes_per_hour;
    total->penalty += cell->median[LAB_COLUMN_PENALTY];
}

struct lab_total lab_comparison_total(const struct lab_comparison *comparison, uint32_t policy,
                                      enum lab_class class_)
{
    struct lab_total total = { 0 };
    for (uint32_t s = 0; s < comparison->files->count; s++) {
        if (class_ == LAB_CLASS_COUNT || lab_class_of(&comparison->files->scenarios[s]) == class_)
            add_to_total(&total, lab_comparison_cell(comparison, s, policy), s);
    }
    double count = total.scenarios ? total.scenarios : 1;
    total.mean_share /= count;
    total.throttles /= count;
    total.episodes_per_hour /= count;
    total.penalty /= count;
    return total;
}

/* --- Markdown --------------------------------------------------------------------------------- */

static void markdown_head(struct weir_buf *md, const struct lab_request *request, const char *first)
{
    weir_buf_printf(md, "| %s |", first);
    for (uint32_t p = 0; p < request->policy_count; p++)
        weir_buf_printf(md, " %s |", request->policies[p].name);
    weir_buf_add_text(md, "\n|---|");
    for (uint32_t p = 0; p < request->policy_count; p++)
        weir_buf_add_text(md, "---|");
    weir_buf_add_char(md, '\n');
}

static void markdown_totals(const struct lab_comparison *comparison, struct weir_buf *md)
{
    weir_buf_add_text(md, "| policy | mean of oracle | worst | where | throttles a run | episodes "
                          "an hour and connection | in penalty | least Jain |\n"
                          "|---|---|---|---|---|---|---|---|\n");
    for (uint32_t p = 0; p < comparison->request->policy_count; p++) {
        struct lab_total total = lab_comparison_total(comparison, p, LAB_CLASS_COUNT);
        weir_buf_printf(md, "| %s | %.1f %% | %.1f %% | %s | %.1f | %.2f | %.1f %% | %.3f |\n",
                        comparison->request->policies[p].name, 100 * total.mean_share,
                        100 * total.worst_share, comparison->files->scenarios[total.worst].name,
                        total.throttles, total.episodes_per_hour, 100 * total.penalty,
                        total.least_jain);
    }
}

static void markdown_classes(const struct lab_comparison *comparison, struct weir_buf *md)
{
    markdown_head(md, comparison->request, "class");
    for (int class_ = 0; class_ < LAB_CLASS_COUNT; class_++) {
        struct lab_total any = lab_comparison_total(comparison, 0, (enum lab_class)class_);
        if (!any.scenarios)
            continue;
        weir_buf_printf(md, "| %s (%u) |", lab_class_name((enum lab_class)class_), any.scenarios);
        for (uint32_t p = 0; p < comparison->request->policy_count; p++) {
            struct lab_total total = lab_comparison_total(comparison, p, (enum lab_class)class_);
            weir_buf_printf(md, " %.1f %% / %.1f |", 100 * total.mean_share, total.throttles);
        }
        weir_buf_add_char(md, '\n');
    }
}

static void markdown_scenarios(const struct lab_comparison *comparison, struct weir_buf *md)
{
    markdown_head(md, comparison->request, "scenario");
    for (uint32_t s = 0; s < comparison->files->count; s++) {
        weir_buf_printf(md, "| %s |", comparison->files->scenarios[s].name);
        for (uint32_t p = 0; p < comparison->request->policy_count; p++) {
            const double *median = lab_comparison_cell(comparison, s, p)->median;
            weir_buf_printf(md, " %.1f %% / %.0f |", 100 * median[LAB_COLUMN_SHARE],
                            median[LAB_COLUMN_THROTTLES]);
        }
        weir_buf_add_char(md, '\n');
    }
}

/* Who leaves the other client alone: only where there is one. */
static void markdown_foreign(const struct lab_comparison *comparison, struct weir_buf *md)
{
    if (!lab_comparison_total(comparison, 0, LAB_CLASS_FOREIGN).scenarios)
        return;
    weir_buf_add_text(md,
                      "\n## The other client\n\nThe share of its requests that was served.\n\n");
    markdown_head(md, comparison->request, "scenario");
    for (uint32_t s = 0; s < comparison->files->count; s++) {
        if (lab_class_of(&comparison->files->scenarios[s]) != LAB_CLASS_FOREIGN)
            continue;
        weir_buf_printf(md, "| %s |", comparison->files->scenarios[s].name);
        for (uint32_t p = 0; p < comparison->request->policy_count; p++)
            weir_buf_printf(md, " %.1f %% |",
                            100 *
                                lab_comparison_cell(comparison, s, p)->median[LAB_COLUMN_FOREIGN]);
        weir_buf_add_char(md, '\n');
    }
}

void lab_comparison_markdown(const struct lab_comparison *comparison, struct weir_buf *ret)
{
    weir_buf_printf(ret,
                    "# Policies compared\n\n%u scenarios, %u seeds each, medians over seeds.\n\n",
                    comparison->files->count, comparison->request->seeds);
    markdown_totals(comparison, ret);
    weir_buf_add_text(ret, "\n## By class\n\nMean share of the oracle / throttles a run.\n\n");
    markdown_classes(comparison, ret);
    weir_buf_add_text(ret, "\n## By scenario\n\nShare of the oracle / throttles a run.\n\n");
    markdown_scenarios(comparison, ret);
    markdown_foreign(comparison, ret);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void json_cell(const struct lab_comparison *comparison, uint32_t s, uint32_t p,
                      struct weir_buf *json)
{
    const struct sim_scenario *scenario = &comparison->files->scenarios[s];
    const struct lab_cell *cell = lab_comparison_cell(comparison, s, p);
    const double *m = cell->median;
    weir_buf_add_text(json, "{\"scenario\":");
    weir_buf_add_json_string(json, weir_str_from(scenario->name));
    weir_buf_printf(json,
                    ",\"class\":\"%s\",\"policy\":\"%s\",\"share\":%.6f,\"share_low\":%.6f,"
                    "\"share_high\":%.6f,\"items\":%.1f,\"throttles\":%.1f,\"episodes\":%.1f,"
                    "\"episodes_per_hour\":%.4f,\"penalty_fraction\":%.6f,\"jain\":%.6f,"
                    "\"foreign_served\":%.6f",
                    lab_class_name(lab_class_of(scenario)), comparison->request->policies[p].name,
                    m[LAB_COLUMN_SHARE], cell->share_low, cell->share_high, m[LAB_COLUMN_ITEMS],
                    m[LAB_COLUMN_THROTTLES], m[LAB_COLUMN_EPISODES], cell->episodes_per_hour,
                    m[LAB_COLUMN_PENALTY], m[LAB_COLUMN_JAIN], m[LAB_COLUMN_FOREIGN]);
    if (comparison->request->edge)
        weir_buf_printf(json, ",\"edge_share\":%.6f", m[LAB_COLUMN_EDGE]);
    weir_buf_add_char(json, '}');
}

void lab_comparison_json(const struct lab_comparison *comparison, struct weir_buf *ret)
{
    weir_buf_printf(ret, "{\"seeds\":%u,\"rows\":[", comparison->request->seeds);
    const char *before = "\n";
    for (uint32_t s = 0; s < comparison->files->count; s++) {
        for (uint32_t p = 0; p < comparison->request->policy_count; p++) {
            weir_buf_add_text(ret, before);
            json_cell(comparison, s, p, ret);
            before = ",\n";
        }
    }
    weir_buf_add_text(ret, "\n]}\n");
}
