/* SPDX-License-Identifier: MIT */
/*
 * One line that sums up everything the law decides in a long mixed run: every rule of charging and
 * every kind of window, header, drift, affinity and foreign load. Built with any compiler at any
 * level of optimisation, it prints the same line; a run repeated within the program must agree with
 * itself, and another seed must not.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/rng.h"
#include "sim/law/law.h"

#define S     WEIR_US_PER_S
#define STEPS 4000

static void mix(uint64_t *hash, uint64_t value)
{
    for (int i = 0; i < 8; i++) {
        *hash ^= value >> (8 * i) & 0xff;
        *hash *= UINT64_C(0x100000001b3);
    }
}

/* Variant `v` of the world; together they touch every rule. */
static void mixed_scenario(struct sim_scenario *scenario, unsigned v)
{
    sim_scenario_init(scenario);
    scenario->connections = 3;
    scenario->servers = 1 + v % 4;
    scenario->affinity = (enum sim_affinity)(v % 3);
    scenario->headers = (enum sim_header_mode)(v % 4);
    scenario->limits.charge = (enum sim_charge)(v / 3 % 3);
    scenario->limits.bucket_us = (v % 3 ? v % 3 * 5 : 0) * S;
    scenario->limits.shared = v % 2;
    scenario->limits.count_throttled = v / 2 % 2;
    scenario->change_count = 1;
    scenario->changes[0] = (struct sim_change){ 500 * S, 3000, 700 * S, 8 };
    scenario->service_count = 2;
    scenario->services[1] = scenario->services[0];
    scenario->services[1].median_s = 0.3;
    scenario->services[1].exec_share = 7200;
    scenario->services[0].drift = (struct sim_drift){ (enum sim_drift_kind)(v % 4), 2.5 };
    scenario->contention = (struct sim_contention){ 12, 0.96 };
    scenario->foreign = (struct sim_foreign_load){ 0.1 * (v % 4), (enum sim_pattern)(v % 3) };
    scenario->prefill = 0.3 * (v % 3);
    scenario->failures = 0.05;
}

static void mix_decision(uint64_t *hash, const struct sim_decision *decision)
{
    mix(hash, decision->accepted);
    mix(hash, decision->server);
    mix(hash, decision->ticket);
    mix(hash, decision->service);
    mix(hash, (uint64_t)decision->service_us);
    mix(hash, decision->fails);
    mix(hash, decision->kind);
    mix(hash, (uint64_t)decision->retry_after_us);
    mix(hash, (uint64_t)decision->limit);
}

static void mix_headers(uint64_t *hash, const struct sim_headers *headers)
{
    mix(hash, (uint64_t)headers->requests_remaining);
    mix(hash, (uint64_t)headers->execution_remaining_us);
    mix(hash, (uint64_t)headers->dop_hint);
}

static void mix_counts(uint64_t *hash, const struct sim_law *law)
{
    for (uint32_t user = 0; user < law->scenario.connections; user++) {
        struct sim_foreign_counts counts = sim_law_foreign(law, user);
        mix(hash, counts.wanted);
        mix(hash, counts.sent);
        mix(hash, counts.served);
        mix(hash, (uint64_t)sim_law_stats(law, user)->execution_us);
    }
}

static void finish_until(struct sim_law *law, int64_t now_us)
{
    uint32_t ticket;
    int64_t ends_us;
    while (sim_law_next_end(law, &ticket, &ends_us) && ends_us <= now_us)
        sim_law_finish(law, ticket, ends_us);
}

static void run(uint64_t *hash, unsigned variant, uint64_t seed)
{
    struct sim_scenario scenario;
    mixed_scenario(&scenario, variant);
    struct sim_law law;
    sim_law_init(&law, &scenario, seed);
    struct weir_rng rng;
    weir_rng_init(&rng, seed, variant);
    int64_t now_us = 0;
    for (uint64_t step = 0; step < STEPS; step++) {
        now_us += (int64_t)weir_rng_below(&rng, step / 500 % 2 ? 1200000 : 90000);
        finish_until(&law, now_us);
        uint32_t user = (uint32_t)weir_rng_below(&rng, scenario.connections);
        uint32_t wanted = (uint32_t)weir_rng_below(&rng, scenario.servers + 1);
        struct sim_request request = { .service = SIM_ANY_SERVICE,
                                       .number = step,
                                       .rows = (uint32_t)weir_rng_below(&rng, 300) };
        struct sim_decision decision = sim_law_arrive(&law, user, wanted, &request, now_us);
        struct sim_headers headers = sim_law_headers(&law, user, decision.server, now_us);
        mix_decision(hash, &decision);
        mix_headers(hash, &headers);
    }
    mix_counts(hash, &law);
    sim_law_release(&law);
}

static uint64_t trace(uint64_t seed)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (unsigned variant = 0; variant < 36; variant++)
        run(&hash, variant, seed);
    return hash;
}

int main(void)
{
    uint64_t hash = trace(1);
    printf("law %016" PRIx64 "\n", hash);
    return trace(1) == hash && trace(2) != hash ? 0 : 1;
}
