/* SPDX-License-Identifier: MIT */
/* The other client's requests; see others.h. */
#include "lab/others.h"

#include "base/clock.h"
#include "base/mem.h"
#include "sim/law/service_time.h"

struct lab_others_user {
    uint64_t key; /* of the draws */
    uint64_t number;
    struct weir_rng balancer;
};

void lab_others_init(struct lab_others *others, const struct sim_scenario *scenario, uint64_t seed)
{
    *others = (struct lab_others){ .scenario = scenario };
    sim_foreign_init(&others->foreign, scenario, seed);
    if (!others->foreign.users)
        return;
    others->users = weir_calloc(scenario->connections, sizeof(*others->users));
    for (uint32_t i = 0; i < scenario->connections; i++) {
        struct lab_others_user *user = &others->users[i];
        user->key = sim_draw_key(seed, i, SIM_DRAWER_FOREIGN);
        weir_rng_init(&user->balancer, sim_draw_key(seed, i, SIM_DRAWER_FOREIGN_BALANCER), 0);
    }
}

void lab_others_release(struct lab_others *others)
{
    sim_foreign_release(&others->foreign);
    free(others->users);
    *others = (struct lab_others){ 0 };
}

int64_t lab_others_next_us(const struct lab_others *others)
{
    return others->users ? sim_foreign_next_us(&others->foreign) : WEIR_FOREVER;
}

bool lab_others_turn(struct lab_others *others, struct lab_others_request *ret)
{
    const struct sim_scenario *scenario = others->scenario;
    int64_t now_us = sim_foreign_next_us(&others->foreign);
    uint32_t number;
    if (!sim_foreign_turn(&others->foreign, scenario, &number))
        return false;
    struct lab_others_user *user = &others->users[number];
    struct sim_draw draw = sim_draw(user->key, user->number++);
    const struct sim_service *service =
        &scenario->services[sim_service_pick(scenario, weir_str(NULL, 0), draw.pick)];
    weir_rng_below(&user->balancer, 100); /* the law's draw for a cookie, which he has not */
    *ret = (struct lab_others_request){
        .at_us = now_us,
        .user = number,
        .server = (uint32_t)weir_rng_below(&user->balancer, scenario->servers),
        .service = service,
        .normal = draw.normal,
        .drift = sim_drift_factor(&service->drift, scenario->duration_us, now_us),
    };
    return true;
}

int64_t lab_others_service_us(const struct lab_others_request *request, double slower)
{
    return sim_service_time_us(request->service, request->normal, 0, request->drift * slower);
}
