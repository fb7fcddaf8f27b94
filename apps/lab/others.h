/* SPDX-License-Identifier: MIT */
/*
 * The other client of a scenario as an oracle knows him: what he sends, one request after the
 * other, drawn as the law draws it. What becomes of a request is for the oracle to say.
 */
#ifndef LAB_OTHERS_H
#define LAB_OTHERS_H

#include "base/rng.h"
#include "sim/law/foreign.h"

struct lab_others {
    const struct sim_scenario *scenario;
    struct sim_foreign foreign;
    struct lab_others_user *users; /* NULL: there is no other client */
};

struct lab_others_request {
    int64_t at_us;
    uint32_t user;
    uint32_t server;
    const struct sim_service *service;
    double normal; /* of its duration, and … */
    double drift;  /* … the factor on it */
};

void lab_others_init(struct lab_others *others, const struct sim_scenario *scenario, uint64_t seed);
void lab_others_release(struct lab_others *others);

/* When it is his turn; WEIR_FOREVER: never. */
int64_t lab_others_next_us(const struct lab_others *others);

/* Take the turn. False: he sends nothing. */
bool lab_others_turn(struct lab_others *others, struct lab_others_request *ret);

/* What it takes; `slower`: the factor of contention. */
int64_t lab_others_service_us(const struct lab_others_request *request, double slower);

#endif
