/* SPDX-License-Identifier: MIT */
/*
 * A small throttling service in virtual time: several users, each with the three service protection
 * limits over a sliding window. Simple on purpose, and shares nothing with what it judges; the
 * simulator's law is the thorough one.
 *
 * A request is checked on arrival against what its user has used up in the window; one that is let
 * in runs for the duration that the test gave it and is charged when it ends. Retry-After is the
 * time until the window has room again, at least a second.
 */
#ifndef WEIR_TESTS_SERVICE_H
#define WEIR_TESTS_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "weir/verdict.h"

/* How long a refusal takes to reach the client. */
#define SERVICE_REFUSAL_US INT64_C(20000)

struct service_limits {
    int64_t window_us;
    uint32_t requests;
    int64_t execution_us;
    uint32_t concurrent;
};

struct service_charge {
    int64_t at_us;
    int64_t execution_us;
};

struct service_user {
    struct service_charge *charges; /* of the window, oldest first */
    uint32_t charge_count;
    uint32_t charge_capacity;
    uint32_t running;
    uint32_t running_max;
    int64_t penalty_until_us;
    int64_t penalty_heard_us; /* when the client has the first refusal of it */
    uint64_t accepted;
    uint64_t throttled;
    uint64_t sent_while_throttled; /* by a client that knew of the Retry-After */
};

struct service {
    struct service_limits limits;
    struct service_user *users;
    uint32_t user_count;
};

void service_init(struct service *service, uint32_t users, struct service_limits limits);
void service_release(struct service *service);

/* A request arrives. True: accepted, call service_finish() at its end. False: *ret says why not. */
bool service_arrive(struct service *service, uint32_t user, int64_t now_us,
                    struct weir_answer *ret);
void service_finish(struct service *service, uint32_t user, int64_t duration_us, int64_t now_us);

#endif
