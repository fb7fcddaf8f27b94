/* SPDX-License-Identifier: MIT */
/*
 * The simulated service as a whole; see service.h, and world.h for the files that it is made of.
 *
 * The law's clockwork. A request that the law let in has a planned end; the law is told of it at
 * exactly that moment (sim_world_settle), whenever somebody looks and however late. So what is
 * charged does not depend on how busy the machine is that runs the simulator.
 */
#include "sim/service/service.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/mem.h"
#include "sim/service/guid.h"
#include "sim/service/world.h"

#define RNG_STREAM UINT64_C(0x776f726c64)

/* More than anybody can use in a window so short: clients that go by what is left are told so. */
#define LIFTED_REQUESTS  1000000000
#define LIFTED_WINDOW_US (10 * WEIR_US_PER_S)

/* A limit of 0 is none, and no header tells of it; changes on the way keep only the hint. */
static void lift_limits(struct sim_scenario *scenario)
{
    scenario->limits.requests = LIFTED_REQUESTS;
    scenario->limits.execution_us = 0;
    scenario->limits.concurrent = 0;
    scenario->limits.window_us = LIFTED_WINDOW_US;
    scenario->prefill = 0;
    scenario->foreign.share = 0;
    for (uint32_t i = 0; i < scenario->change_count; i++) {
        scenario->changes[i].requests = SIM_UNCHANGED;
        scenario->changes[i].execution_us = SIM_UNCHANGED;
    }
}

static void lift_time(struct sim_scenario *scenario)
{
    for (uint32_t i = 0; i < scenario->service_count; i++) {
        scenario->services[i].median_s = 0;
        scenario->services[i].fixed_s = 0;
        scenario->services[i].overhead_us = 0;
    }
}

static void set_options(struct sim_world *world, const struct sim_world_options *options)
{
    world->scenario = options->scenario;
    world->switches = options->switches;
    world->flat_time = options->flat_time;
    world->no_limits = options->no_limits;
    world->seed = options->seed;
    world->base_url = weir_strdup(options->base_url);
    if (options->no_limits)
        lift_limits(&world->scenario);
    if (options->no_time)
        lift_time(&world->scenario);
    sim_guid_print(sim_guid_of("organization", 0), world->organization);
}

static enum weir_status make_api(struct sim_world *world, const struct sim_world_options *options,
                                 struct weir_error *err)
{
    struct sim_api_options api = {
        .users = world->scenario.connections,
        .base_url = options->base_url,
        .switches = options->switches,
        .seed = options->seed,
        .scenario = options->scenario_json,
        .scenario_file = options->scenario_file,
    };
    /* It is we who give it a gate, or none: a fault may want one too. */
    api.switches.throttle_inside_batch = true;
    return sim_api_new(&api, &world->api, err);
}

static void make_tokens(struct sim_world *world, const struct sim_world_options *options)
{
    struct sim_tokens_options tokens = {
        .users = world->scenario.connections,
        .base_url = options->base_url,
        .lifetime_s = options->token_lifetime_s,
        .seed = options->seed,
    };
    world->tokens = sim_tokens_new(&tokens);
}

static enum weir_status make_faults(struct sim_world *world,
                                    const struct sim_world_options *options, struct weir_error *err)
{
    sim_faults_init(&world->faults, options->seed);
    const struct weir_json_node *list =
        options->scenario_json ? weir_json_find(weir_json_root(options->scenario_json), "faults")
                               : NULL;
    if (list && sim_faults_read(&world->faults, list, options->scenario_file, err) != WEIR_OK)
        return WEIR_E_INVALID;
    sim_faults_keep(&world->faults);
    return WEIR_OK;
}

static void make_callers(struct sim_world *world)
{
    world->callers = weir_calloc(world->scenario.connections, sizeof(*world->callers));
    for (uint32_t i = 0; i < world->scenario.connections; i++)
        snprintf(world->callers[i].name, sizeof(world->callers[i].name), "app%u", i + 1);
}

static void make_passes(struct sim_world *world)
{
    world->passes = weir_calloc(SIM_PASSES, sizeof(*world->passes));
    for (int i = 0; i < SIM_PASSES; i++)
        weir_buf_init(&world->passes[i].token, SIM_TOKEN_BYTES_MAX);
}

static void forget_passes(struct sim_world *world)
{
    for (int i = 0; i < SIM_PASSES; i++)
        weir_buf_release(&world->passes[i].token);
}

enum weir_status sim_world_new(const struct sim_world_options *options, struct sim_world **ret,
                               struct weir_error *err)
{
    struct sim_world *world = weir_calloc(1, sizeof(*world));
    set_options(world, options);
    sim_law_init(&world->law, &world->scenario, world->seed);
    weir_rng_init(&world->rng, world->seed, RNG_STREAM);
    weir_heap_init(&world->late_due, 1);
    make_callers(world);
    make_tokens(world, options);
    make_passes(world);
    sim_world_make_nodes(world);
    enum weir_status status = make_faults(world, options, err);
    if (status == WEIR_OK)
        status = make_api(world, options, err);
    if (status == WEIR_OK)
        *ret = world;
    else
        sim_world_free(world);
    return status;
}

static void drop_late(struct sim_world *world)
{
    while (world->late_due.count) {
        uint32_t id = weir_heap_top(&world->late_due);
        weir_heap_remove(&world->late_due, id);
        sim_visit_free(world->late[id]);
        world->late[id] = NULL;
    }
}

void sim_world_free(struct sim_world *world)
{
    if (!world)
        return;
    drop_late(world);
    sim_visits_release(world);
    free(world->late);
    weir_heap_release(&world->late_due);
    sim_faults_release(&world->faults);
    sim_tokens_free(world->tokens);
    sim_api_free(world->api);
    sim_law_release(&world->law);
    sim_world_free_nodes(world);
    forget_passes(world);
    free(world->passes);
    free(world->callers);
    free(world->base_url);
    free(world);
}

/* Requests that are inside meanwhile belong to an older epoch: they are answered, but change
 * nothing. */
void sim_world_reset(struct sim_world *world, int64_t now_us)
{
    drop_late(world);
    world->epoch++;
    world->origin_us = now_us;
    sim_law_release(&world->law);
    sim_law_init(&world->law, &world->scenario, world->seed);
    sim_api_reset(world->api);
    sim_faults_reset(&world->faults);
    free(world->callers);
    make_callers(world);
    for (uint32_t i = 0; i < world->scenario.servers; i++)
        world->nodes[i].requests = world->nodes[i].asked = 0;
}

int64_t sim_world_settle(struct sim_world *world, int64_t now_us)
{
    int64_t law_us = now_us - world->origin_us;
    uint32_t ticket;
    int64_t ends_us;
    while (sim_law_next_end(&world->law, &ticket, &ends_us) && ends_us <= law_us)
        sim_law_finish(&world->law, ticket, ends_us);
    sim_law_advance(&world->law, law_us);
    return law_us;
}

static uint32_t free_late(struct sim_world *world)
{
    for (uint32_t id = 0; id < world->late_capacity; id++) {
        if (!world->late[id])
            return id;
    }
    uint32_t id = world->late_capacity;
    world->late_capacity = id ? 2 * id : 16;
    world->late = weir_realloc(world->late, world->late_capacity, sizeof(*world->late));
    memset(world->late + id, 0, (world->late_capacity - id) * sizeof(*world->late));
    weir_heap_reserve(&world->late_due, world->late_capacity);
    return id;
}

void sim_world_keep_late(struct sim_world *world, struct sim_visit *visit, int64_t at_us)
{
    uint32_t id = free_late(world);
    world->late[id] = visit;
    weir_heap_set(&world->late_due, id, at_us);
}

static void commit_late(struct sim_world *world, uint32_t id, int64_t now_us, int64_t wall_us)
{
    struct sim_visit *visit = world->late[id];
    struct sim_answer answer;
    weir_heap_remove(&world->late_due, id);
    world->late[id] = NULL;
    sim_answer_init(&answer);
    sim_visit_execute(world, visit, now_us, wall_us, &answer);
    sim_answer_release(&answer);
    sim_visit_free(visit);
}

int64_t sim_world_turn(struct sim_world *world, int64_t now_us, int64_t wall_us)
{
    world->wall_ahead_us = wall_us - now_us;
    while (world->late_due.count && weir_heap_min(&world->late_due) <= now_us)
        commit_late(world, weir_heap_top(&world->late_due), now_us, wall_us);
    return weir_heap_min(&world->late_due);
}

struct sim_tokens *sim_world_tokens(struct sim_world *world)
{
    /* Whoever asks may be about to revoke one. */
    forget_passes(world);
    return world->tokens;
}
