/* SPDX-License-Identifier: MIT */
/* A scenario as the text of a file; see draw.h. The reader is sim/law/scenario_read.c. */
#include "lab/draw.h"

static const char *const affinities[] = { "none", "soft", "pinned" };
static const char *const charges[] = { "accrual", "completion", "arrival" };
static const char *const forms[] = { "seconds", "date", "missing" };
static const char *const headers[] = { "exact", "stale", "absent", "wrong" };
static const char *const drifts[] = { "none", "linear", "step", "sine" };
static const char *const patterns[] = { "constant", "onoff", "bursty" };

/* What opens something ends with a blank, and a value never does. */
static void add_key(struct weir_buf *json, const char *key)
{
    weir_buf_printf(json, "%s\"%s\": ", json->ptr[json->len - 1] == ' ' ? "" : ", ", key);
}

static void add_number(struct weir_buf *json, const char *key, double number)
{
    add_key(json, key);
    weir_buf_printf(json, "%.12g", number);
}

static void add_seconds(struct weir_buf *json, const char *key, int64_t us)
{
    add_number(json, key, (double)us / 1e6);
}

static void add_word(struct weir_buf *json, const char *key, const char *word)
{
    add_key(json, key);
    weir_buf_add_json_string(json, weir_str_from(word));
}

static void add_truth(struct weir_buf *json, const char *key, bool truth)
{
    add_key(json, key);
    weir_buf_add_text(json, truth ? "true" : "false");
}

static void add_change(struct weir_buf *json, const struct sim_change *change)
{
    weir_buf_add_text(json, "{ ");
    add_seconds(json, "at_s", change->at_us);
    if (change->requests != SIM_UNCHANGED)
        add_number(json, "requests", (double)change->requests);
    if (change->execution_us != SIM_UNCHANGED)
        add_seconds(json, "execution_s", change->execution_us);
    if (change->dop_hint != SIM_UNCHANGED)
        add_number(json, "dop_hint", (double)change->dop_hint);
    weir_buf_add_text(json, " }");
}

static void add_limits(struct weir_buf *json, const struct sim_scenario *scenario)
{
    const struct sim_limits *limits = &scenario->limits;
    weir_buf_add_text(json, "  \"limits\": { ");
    add_number(json, "requests", (double)limits->requests);
    add_seconds(json, "execution_s", limits->execution_us);
    add_number(json, "concurrent", (double)limits->concurrent);
    add_seconds(json, "window_s", limits->window_us);
    add_seconds(json, "bucket_s", limits->bucket_us);
    add_truth(json, "shared", limits->shared);
    add_word(json, "charge", charges[limits->charge]);
    add_truth(json, "count_throttled", limits->count_throttled);
    add_key(json, "change");
    weir_buf_add_char(json, '[');
    for (uint32_t i = 0; i < scenario->change_count; i++) {
        weir_buf_add_text(json, i ? ", " : " ");
        add_change(json, &scenario->changes[i]);
    }
    weir_buf_add_text(json, " ] },\n");
}

static void add_retry_after(struct weir_buf *json, const struct sim_retry_after *retry)
{
    weir_buf_add_text(json, "  \"retry_after\": { ");
    add_seconds(json, "base_s", retry->base_us);
    add_number(json, "growth", retry->growth);
    add_seconds(json, "forget_s", retry->forget_us);
    add_seconds(json, "cap_s", retry->cap_us);
    add_seconds(json, "per_offence_s", retry->per_offence_us);
    add_word(json, "form", forms[retry->form]);
    weir_buf_add_text(json, " },\n");
}

static void add_service(struct weir_buf *json, const struct sim_service *service)
{
    weir_buf_add_text(json, "    { ");
    add_number(json, "weight", service->weight);
    if (service->operation[0])
        add_word(json, "operation", service->operation);
    add_number(json, "rows", service->rows);
    add_number(json, "median_s", service->median_s);
    add_number(json, "fixed_s", service->fixed_s);
    add_number(json, "sigma", service->sigma);
    add_seconds(json, "overhead_s", service->overhead_us);
    add_number(json, "exec_share", (double)service->exec_share / SIM_WHOLE_SHARE);
    add_key(json, "drift");
    weir_buf_add_text(json, "{ ");
    add_word(json, "kind", drifts[service->drift.kind]);
    add_number(json, "to", service->drift.to);
    weir_buf_add_text(json, " } }");
}

static void add_services(struct weir_buf *json, const struct sim_scenario *scenario)
{
    weir_buf_add_text(json, "  \"service\": [\n");
    for (uint32_t i = 0; i < scenario->service_count; i++) {
        add_service(json, &scenario->services[i]);
        weir_buf_add_text(json, i + 1 < scenario->service_count ? ",\n" : "\n  ],\n");
    }
}

void lab_scenario_write(const struct sim_scenario *scenario, struct weir_buf *json)
{
    weir_buf_add_text(json, "{ ");
    add_word(json, "name", scenario->name);
    add_seconds(json, "duration_s", scenario->duration_us);
    if (scenario->work_items != SIM_NO_WORK_ITEMS)
        add_number(json, "work_items", (double)scenario->work_items);
    weir_buf_add_text(json, ",\n  ");
    add_number(json, "connections", scenario->connections);
    add_number(json, "servers", scenario->servers);
    add_word(json, "affinity", affinities[scenario->affinity]);
    weir_buf_add_text(json, ",\n");
    add_limits(json, scenario);
    add_retry_after(json, &scenario->retry_after);
    weir_buf_add_text(json, "  ");
    add_word(json, "headers", headers[scenario->headers]);
    add_number(json, "dop_hint", (double)scenario->dop_hint);
    weir_buf_add_text(json, ",\n");
    add_services(json, scenario);
    weir_buf_add_text(json, "  \"contention\": { ");
    add_number(json, "knee", scenario->contention.knee);
    add_number(json, "kappa", scenario->contention.kappa);
    weir_buf_add_text(json, " },\n  \"foreign\": { ");
    add_number(json, "share", scenario->foreign.share);
    add_word(json, "pattern", patterns[scenario->foreign.pattern]);
    weir_buf_add_text(json, " },\n  ");
    add_number(json, "prefill", scenario->prefill);
    add_number(json, "failures", scenario->failures);
    weir_buf_add_text(json, " }\n");
}
