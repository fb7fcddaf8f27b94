/* SPDX-License-Identifier: MIT */
/* What chance decides about one request; see service_time.h. */
#include "sim/law/service_time.h"

#include <math.h>

#include "base/clock.h"
#include "base/rng.h"
#include "sim/law/number.h"

#define SINE_PERIOD_US (600 * WEIR_US_PER_S)

uint64_t sim_draw_key(uint64_t seed, uint32_t connection, enum sim_drawer drawer)
{
    struct weir_rng rng;
    weir_rng_init(&rng, seed, (uint64_t)drawer << 32 | connection);
    return weir_rng_u64(&rng);
}

/* Marsaglia's polar method: no function but logarithm and square root, which is exact everywhere.
 */
static double draw_normal(struct weir_rng *rng)
{
    for (;;) {
        double x = 2 * weir_rng_unit(rng) - 1;
        double y = 2 * weir_rng_unit(rng) - 1;
        double square = x * x + y * y;
        if (square > 0 && square < 1)
            return x * sqrt(-2 * sim_log(square) / square);
    }
}

struct sim_draw sim_draw(uint64_t key, uint64_t number)
{
    struct weir_rng rng;
    weir_rng_init(&rng, key, number);
    struct sim_draw draw;
    draw.pick = weir_rng_unit(&rng);
    draw.fail = weir_rng_unit(&rng);
    draw.normal = draw_normal(&rng);
    return draw;
}

/* The weight of an entry among those of `name`; NULL: among all. */
static double weight_among(const struct sim_service *service, const struct weir_str *name)
{
    bool member = !name || weir_str_equal_nocase(weir_str_from(service->operation), *name);
    return member ? service->weight : 0;
}

static double weight_of_all(const struct sim_scenario *scenario, const struct weir_str *name)
{
    double sum = 0;
    for (uint32_t i = 0; i < scenario->service_count; i++)
        sum += weight_among(&scenario->services[i], name);
    return sum;
}

static uint32_t pick_among(const struct sim_scenario *scenario, const struct weir_str *name,
                           double left)
{
    uint32_t last = 0;
    for (uint32_t i = 0; i < scenario->service_count; i++) {
        double weight = weight_among(&scenario->services[i], name);
        if (weight <= 0)
            continue;
        last = i;
        left -= weight;
        if (left < 0)
            break;
    }
    return last;
}

uint32_t sim_service_pick(const struct sim_scenario *scenario, struct weir_str operation,
                          double pick)
{
    static const struct weir_str nameless = { "", 0 };
    const struct weir_str *name = operation.len ? &operation : NULL;
    double weight = weight_of_all(scenario, name);
    if (name && weight <= 0) {
        name = &nameless;
        weight = weight_of_all(scenario, name);
    }
    if (name && weight <= 0) {
        name = NULL;
        weight = weight_of_all(scenario, name);
    }
    return pick_among(scenario, name, pick * weight);
}

/* How far the drift has gone: 0 is not begun, 1 is `to`. */
static double drift_progress(enum sim_drift_kind kind, int64_t duration_us, int64_t now_us)
{
    switch (kind) {
    case SIM_DRIFT_LINEAR:
        return now_us >= duration_us ? 1 : (double)now_us / (double)duration_us;
    case SIM_DRIFT_STEP:
        return now_us >= duration_us / 2 ? 1 : 0;
    case SIM_DRIFT_SINE:
        return (1 - sim_cos_turns((double)now_us / (double)SINE_PERIOD_US)) / 2;
    case SIM_DRIFT_NONE:
        break;
    }
    return 0;
}

double sim_drift_factor(const struct sim_drift *drift, int64_t duration_us, int64_t now_us)
{
    if (now_us < 0)
        return 1;
    return 1 + (drift->to - 1) * drift_progress(drift->kind, duration_us, now_us);
}

double sim_contention_factor(const struct sim_contention *contention, uint32_t executing)
{
    double over = (double)executing - contention->knee;
    if (contention->knee <= 0 || over <= 0)
        return 1;
    return 1 + contention->kappa * over / contention->knee;
}

int64_t sim_service_time_us(const struct sim_service *service, double normal, uint32_t rows,
                            double factor)
{
    double chance = sim_exp(service->sigma * normal);
    double time_s = service->median_s * chance * factor;
    if (rows)
        time_s = time_s * (double)rows / (double)service->rows;
    time_s += service->fixed_s * chance * factor;
    return sim_round(time_s * (double)WEIR_US_PER_S, SIM_SERVICE_TIME_MAX_US);
}

double sim_service_mean_s(const struct sim_service *service, double factor)
{
    return (service->median_s + service->fixed_s) * sim_exp(service->sigma * service->sigma / 2) *
           factor;
}
