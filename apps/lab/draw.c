/* SPDX-License-Identifier: MIT */
/* Scenarios drawn at random; see draw.h. */
#include "lab/draw.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/rng.h"
#include "lab/files.h"

#define AXES_MAX       3  /* that one scenario differs in */
#define ACCOUNTS_MAX   40 /* connections × servers; more would take minutes to run */
#define ITEMS_MIN      20
#define FILE_BYTES_MAX 65536
#define NAME_BYTES     64

/* What is being drawn. */
struct draw {
    struct weir_rng rng;
    struct sim_scenario *scenario;
    double windows;        /* of work; 0: the job does not end */
    char name[NAME_BYTES]; /* of the axis: its own, or that and what was drawn */
};

/* --- choices ---------------------------------------------------------------------------------- */

static double choose(struct draw *draw, const double *values, size_t count)
{
    return values[weir_rng_below(&draw->rng, count)];
}

/* One of the values, all alike. */
#define PICK(draw, ...)                                                                            \
    choose(draw, (const double[]){ __VA_ARGS__ },                                                  \
           sizeof((const double[]){ __VA_ARGS__ }) / sizeof(double))

static bool happens(struct draw *draw, double chance)
{
    return weir_rng_unit(&draw->rng) < chance;
}

static int64_t seconds(double s)
{
    return (int64_t)(s * 1e6 + 0.5);
}

static void name_it(struct draw *draw, const char *name, const char *what)
{
    snprintf(draw->name, sizeof(draw->name), "%s-%s", name, what);
}

/* --- axes: the workload ----------------------------------------------------------------------- */

static void draw_batch(struct draw *draw)
{
    struct sim_service *service = &draw->scenario->services[0];
    service->median_s = PICK(draw, 0.05, 0.15, 0.3, 0.7, 1, 3, 4, 5, 6, 8, 10, 12, 15);
    if (happens(draw, 0.4))
        service->sigma = PICK(draw, 0, 0.1, 0.5, 0.8, 1.0);
}

static void draw_share(struct draw *draw)
{
    struct sim_service *service = &draw->scenario->services[0];
    double share = PICK(draw, 0.5, 0.6, 0.72, 0.8, 0.9);
    service->exec_share = (int64_t)(share * SIM_WHOLE_SHARE + 0.5);
    if (happens(draw, 0.4))
        service->overhead_us = seconds(PICK(draw, 0.01, 0.1, 0.2, 0.3));
}

static void draw_mixed(struct draw *draw)
{
    struct sim_service *services = draw->scenario->services;
    services[1] = services[0];
    services[0].weight = PICK(draw, 1, 3, 5, 9);
    services[0].median_s = PICK(draw, 0.1, 0.2, 0.5, 1);
    services[1].median_s = PICK(draw, 3, 5, 6, 8);
    draw->scenario->service_count = 2;
}

static void draw_connections(struct draw *draw)
{
    draw->scenario->connections = (uint32_t)PICK(draw, 1, 3, 4, 6, 8);
}

static void draw_drift(struct draw *draw)
{
    static const char *const names[] = { "none", "linear", "step", "sine" };
    enum sim_drift_kind kind =
        (enum sim_drift_kind)PICK(draw, SIM_DRIFT_LINEAR, SIM_DRIFT_STEP, SIM_DRIFT_SINE);
    double to = PICK(draw, 0.3, 0.5, 2, 2, 3, 4);
    for (uint32_t i = 0; i < draw->scenario->service_count; i++)
        draw->scenario->services[i].drift = (struct sim_drift){ kind, to };
    name_it(draw, "drift", names[kind]);
}

static void draw_finite(struct draw *draw)
{
    draw->windows = PICK(draw, 0.3, 0.5, 1.1, 1.5, 2, 3, 4, 6, 10);
    char text[16];
    snprintf(text, sizeof(text), "%g", draw->windows);
    name_it(draw, "finite", text);
}

static void draw_duration(struct draw *draw)
{
    draw->scenario->duration_us = seconds(PICK(draw, 900, 1200, 2400, 3600));
}

/* --- axes: the service ------------------------------------------------------------------------ */

static void draw_servers(struct draw *draw)
{
    static const char *const names[] = { "none", "soft", "pinned" };
    struct sim_scenario *scenario = draw->scenario;
    scenario->servers = (uint32_t)PICK(draw, 2, 2, 3, 4, 4, 6, 8, 12);
    scenario->affinity =
        (enum sim_affinity)PICK(draw, SIM_AFFINITY_NONE, SIM_AFFINITY_NONE, SIM_AFFINITY_SOFT,
                                SIM_AFFINITY_PINNED, SIM_AFFINITY_PINNED);
    scenario->dop_hint = 4 * scenario->servers;
    scenario->limits.shared = happens(draw, 0.12);
    name_it(draw, "servers", names[scenario->affinity]);
}

static void draw_limits(struct draw *draw)
{
    struct sim_limits *limits = &draw->scenario->limits;
    double times = PICK(draw, 0.25, 0.5, 0.5, 0.75, 1.5, 2, 2, 3);
    limits->requests = (int64_t)(6000 * times);
    if (happens(draw, 0.75))
        limits->execution_us = seconds(1200 * times);
}

static void draw_window(struct draw *draw)
{
    struct sim_limits *limits = &draw->scenario->limits;
    double window_s = PICK(draw, 60, 120, 600);
    limits->window_us = seconds(window_s);
    limits->requests = (int64_t)(20 * window_s);
    limits->execution_us = seconds(4 * window_s);
}

static void draw_concurrent(struct draw *draw)
{
    draw->scenario->limits.concurrent = (int64_t)PICK(draw, 8, 10, 16, 20, 26, 30, 100);
}

static void draw_bucket(struct draw *draw)
{
    draw->scenario->limits.bucket_us = seconds(PICK(draw, 1, 2, 5, 10, 15, 20, 30, 60));
}

static void draw_charge(struct draw *draw)
{
    bool arrival = happens(draw, 0.5);
    draw->scenario->limits.charge = arrival ? SIM_CHARGE_ARRIVAL : SIM_CHARGE_COMPLETION;
    name_it(draw, "charge", arrival ? "arrival" : "completion");
}

static void draw_change(struct draw *draw)
{
    struct sim_scenario *scenario = draw->scenario;
    double at_s = PICK(draw, 400, 600, 900);
    double times = PICK(draw, 0.4, 0.5, 0.7, 1.5, 2);
    scenario->changes[0] = (struct sim_change){ seconds(at_s), (int64_t)(6000 * times),
                                                seconds(1200 * times), SIM_UNCHANGED };
    scenario->change_count = 1;
    if (!happens(draw, 0.4))
        return;
    at_s += PICK(draw, 300, 600);
    scenario->changes[1] = (struct sim_change){ seconds(at_s), 6000, seconds(1200), SIM_UNCHANGED };
    scenario->change_count = 2;
}

static void draw_retry(struct draw *draw)
{
    struct sim_retry_after *retry = &draw->scenario->retry_after;
    switch (weir_rng_below(&draw->rng, 6)) {
    case 0:
        retry->base_us = seconds(PICK(draw, 30, 60));
        break;
    case 1:
        retry->base_us = seconds(5);
        retry->growth = 2;
        break;
    case 2:
        retry->form = SIM_RETRY_DATE;
        break;
    case 3:
        retry->form = SIM_RETRY_MISSING;
        break;
    case 4:
        retry->base_us = seconds(30);
        retry->growth = 1;
        retry->per_offence_us = 0;
        break;
    default:
        retry->base_us = seconds(10);
        retry->per_offence_us = seconds(5);
    }
}

static void draw_headers(struct draw *draw)
{
    static const char *const names[] = { "exact", "stale", "absent", "wrong" };
    enum sim_header_mode mode =
        (enum sim_header_mode)PICK(draw, SIM_HEADERS_STALE, SIM_HEADERS_STALE, SIM_HEADERS_ABSENT,
                                   SIM_HEADERS_ABSENT, SIM_HEADERS_WRONG);
    draw->scenario->headers = mode;
    name_it(draw, "headers", names[mode]);
}

static void draw_hint(struct draw *draw)
{
    draw->scenario->dop_hint = (int64_t)PICK(draw, 0, 1, 2, 8, 20, 48);
}

static void draw_contention(struct draw *draw)
{
    draw->scenario->contention.knee = PICK(draw, 4, 6, 8, 8, 10, 12, 16, 20);
    draw->scenario->contention.kappa = PICK(draw, 0.3, 0.5, 0.96, 1, 1.5, 2);
}

static void draw_foreign(struct draw *draw)
{
    static const char *const names[] = { "constant", "onoff", "bursty" };
    struct sim_foreign_load *foreign = &draw->scenario->foreign;
    foreign->share = PICK(draw, 0.1, 0.15, 0.2, 0.25, 0.3, 0.3, 0.4, 0.5, 0.6);
    foreign->pattern = (enum sim_pattern)PICK(draw, SIM_PATTERN_CONSTANT, SIM_PATTERN_CONSTANT,
                                              SIM_PATTERN_ONOFF, SIM_PATTERN_BURSTY);
    name_it(draw, "foreign", names[foreign->pattern]);
}

static void draw_prefill(struct draw *draw)
{
    draw->scenario->prefill = PICK(draw, 0.2, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0);
}

static void draw_failures(struct draw *draw)
{
    draw->scenario->failures = PICK(draw, 0.01, 0.02, 0.05, 0.1, 0.2);
}

static void draw_count(struct draw *draw)
{
    draw->scenario->limits.count_throttled = true;
}

/* In the order in which they are drawn: what replaces comes before what changes. */
static const struct axis {
    const char *name;
    uint32_t weight;
    void (*draw)(struct draw *draw);
} axes[] = {
    { "batch", 5, draw_batch },       { "share", 3, draw_share },
    { "mixed", 2, draw_mixed },       { "connections", 2, draw_connections },
    { "servers", 5, draw_servers },   { "limits", 3, draw_limits },
    { "window", 1, draw_window },     { "concurrent", 1, draw_concurrent },
    { "bucket", 3, draw_bucket },     { "charge", 4, draw_charge },
    { "change", 2, draw_change },     { "retry", 2, draw_retry },
    { "headers", 4, draw_headers },   { "hint", 1, draw_hint },
    { "drift", 3, draw_drift },       { "contention", 4, draw_contention },
    { "foreign", 5, draw_foreign },   { "prefill", 3, draw_prefill },
    { "failures", 2, draw_failures }, { "finite", 3, draw_finite },
    { "duration", 1, draw_duration }, { "count", 1, draw_count },
};

#define AXIS_COUNT (sizeof(axes) / sizeof(axes[0]))

/* --- a scenario ------------------------------------------------------------------------------- */

static size_t draw_axis(struct draw *draw)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < AXIS_COUNT; i++)
        sum += axes[i].weight;
    uint64_t at = weir_rng_below(&draw->rng, sum);
    size_t axis = 0;
    while (at >= axes[axis].weight)
        at -= axes[axis++].weight;
    return axis;
}

/* Which axes: one, two or three of them. */
static void draw_axes(struct draw *draw, bool *chosen)
{
    uint64_t few = weir_rng_below(&draw->rng, 10);
    int count = few < 2 ? 1 : few < 7 ? 2 : AXES_MAX;
    while (count > 0) {
        size_t axis = draw_axis(draw);
        count -= !chosen[axis];
        chosen[axis] = true;
    }
}

/* Requests that use up one account's window. */
static double items_a_window(const struct sim_scenario *scenario)
{
    double weight = 0;
    double charged_s = 0;
    for (uint32_t i = 0; i < scenario->service_count; i++) {
        const struct sim_service *service = &scenario->services[i];
        double mean_s = service->median_s * exp(service->sigma * service->sigma / 2);
        weight += service->weight;
        charged_s +=
            service->weight * mean_s * (double)service->exec_share / (double)SIM_WHOLE_SHARE;
    }
    double by_execution = (double)scenario->limits.execution_us / 1e6 / (charged_s / weight);
    double by_requests = (double)scenario->limits.requests;
    return by_execution < by_requests ? by_execution : by_requests;
}

/* What can be said only when all axes have been drawn. */
static void settle(struct draw *draw)
{
    struct sim_scenario *scenario = draw->scenario;
    if (scenario->servers * scenario->connections > ACCOUNTS_MAX)
        scenario->connections = 2;
    if (draw->windows <= 0)
        return;
    uint32_t accounts = scenario->connections * (scenario->limits.shared ? 1 : scenario->servers);
    double items = draw->windows * items_a_window(scenario) * accounts;
    scenario->work_items = items > ITEMS_MIN ? (int64_t)items : ITEMS_MIN;
}

void lab_draw(uint64_t seed, uint32_t number, struct sim_scenario *ret)
{
    struct draw draw = { .scenario = ret };
    bool chosen[AXIS_COUNT] = { false };
    weir_rng_init(&draw.rng, seed, number);
    sim_scenario_init(ret);
    ret->services[0].median_s = PICK(&draw, 0.5, 1, 1.5, 2, 2, 2, 2.5, 3);
    draw_axes(&draw, chosen);
    int len =
        snprintf(ret->name, sizeof(ret->name), "drawn-%llu-%03u", (unsigned long long)seed, number);
    char mark = '-';
    for (size_t i = 0; i < AXIS_COUNT; i++) {
        if (!chosen[i])
            continue;
        snprintf(draw.name, sizeof(draw.name), "%s", axes[i].name);
        axes[i].draw(&draw);
        len += snprintf(ret->name + len, sizeof(ret->name) - (size_t)len, "%c%s", mark, draw.name);
        mark = '+';
    }
    settle(&draw);
}

static enum weir_status write_drawn(uint64_t seed, uint32_t number, const char *folder,
                                    struct weir_error *err)
{
    struct sim_scenario scenario;
    struct weir_buf json;
    char name[32];
    lab_draw(seed, number, &scenario);
    weir_buf_init(&json, FILE_BYTES_MAX);
    weir_buf_printf(&json, "// Drawn at random: number %u of seed %llu.\n", number,
                    (unsigned long long)seed);
    lab_scenario_write(&scenario, &json);
    snprintf(name, sizeof(name), "%03u.json", number);
    enum weir_status status = lab_file_write(folder, name, weir_str(json.ptr, json.len), err);
    weir_buf_release(&json);
    return status;
}

enum weir_status lab_draw_files(uint64_t seed, uint32_t count, const char *folder,
                                struct weir_error *err)
{
    if (mkdir(folder, 0777) && errno != EEXIST)
        return weir_fail(err, WEIR_E_IO, "%s cannot be made: %s", folder, strerror(errno));
    enum weir_status status = WEIR_OK;
    for (uint32_t i = 0; i < count && !status; i++)
        status = write_drawn(seed, i, folder, err);
    return status;
}
