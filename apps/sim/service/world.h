/* SPDX-License-Identifier: MIT */
/*
 * The inside of the simulated service, for the files that are it; what it offers to others stands
 * in service.h. All times in here are from the start of the world; the law's own begin at
 * `origin_us`.
 *
 *     service.c   the world: made, reset, freed; the clockwork between visits
 *     visit.c     one request: where it goes, what it meets, what it gets
 *     refusal.c   the answers that are no success
 *     headers.c   what stands above every answer of the Web API
 *     partial.c   bulk messages of which some rows fail
 *     control.c   /sim/, and the summary
 *     tables.c    what the others want to know of the tables
 *     faults.c, faults_read.c
 */
#ifndef SIM_SERVICE_WORLD_H
#define SIM_SERVICE_WORLD_H

#include "base/heap.h"
#include "base/rng.h"
#include "sim/service/faults.h"
#include "sim/service/service.h"

#define SIM_NODE_DIGITS     64
#define SIM_LATE_MAX        10000 /* late commits that are waiting; more do not happen */
#define SIM_USER_NAME_BYTES 16    /* "app10000" */
#define SIM_NOBODY          UINT32_MAX
#define SIM_PASSES          1024
#define SIM_TOKEN_BYTES_MAX 8192 /* of one that is remembered */

#define SIM_TENANT "contoso"

/* What the outside sees of one web server. */
struct sim_node {
    char affinity[SIM_NODE_DIGITS + 1]; /* the value of its cookie */
    char source[SIM_NODE_DIGITS + 1];   /* X-Source */
    struct weir_buf headers;            /* those that are always the same */
    uint64_t requests;                  /* that the law has seen there … */
    uint64_t asked; /* … and those whose cookie asked for it, wherever they went */
};

/* A token that was found to be good, for the rest of that second. */
struct sim_pass {
    struct weir_buf token; /* empty: none */
    int64_t wall_s;
    uint32_t user;
};

struct sim_caller {
    char name[SIM_USER_NAME_BYTES];
    uint64_t number;     /* of the next request that the law sees */
    uint64_t turned_off; /* requests that a fault ended before the law saw them */
};

enum sim_visit_kind {
    SIM_VISIT_ANSWERED, /* the answer is there already */
    SIM_VISIT_CALL,     /* the Web API runs at the end */
};

struct sim_visit {
    enum sim_visit_kind kind;
    int64_t due_us;
    struct sim_delivery delivery;
    struct sim_answer answer;

    /* Of a call: */
    uint32_t user;
    uint32_t server;
    uint64_t epoch;                  /* of the world; an older one has been reset away */
    bool fails;                      /* the law says 503 */
    int64_t service_us;              /* that it took */
    struct sim_fault_effect *effect; /* what hit it; NULL: nothing */
    struct sim_http_request request; /* in `text` */
    struct weir_buf text;

    struct sim_world *world;
    struct sim_visit *next; /* spare */
};

struct sim_world {
    struct sim_scenario scenario;
    struct sim_switches switches;
    bool flat_time;
    bool no_limits; /* those of the scenario are only there to be told of */
    uint64_t seed;
    char *base_url;
    struct sim_law law;
    int64_t origin_us;
    uint64_t epoch;
    int64_t wall_ahead_us; /* wall time less time of the world, as last heard */
    struct sim_api *api;
    struct sim_tokens *tokens;
    struct sim_faults faults;
    struct sim_caller *callers;
    struct sim_pass *passes;
    struct sim_node nodes[SIM_SERVERS_MAX];
    struct weir_rng rng; /* for the ids of requests */
    char organization[40];

    struct sim_visit *spare; /* visits that can be used again */
    uint32_t spare_count;

    /* Late commits: visits that nobody waits for, by the time of their commit. */
    struct sim_visit **late;
    uint32_t late_capacity;
    struct weir_heap late_due;
};

/* In service.c */

/* Bring the law to `now_us`: what ends until then has ended. Returns the law's own time. */
int64_t sim_world_settle(struct sim_world *world, int64_t now_us);
void sim_world_reset(struct sim_world *world, int64_t now_us);
/* Carry a visit out at `at_us` although nobody waits for it. The world takes it over. */
void sim_world_keep_late(struct sim_world *world, struct sim_visit *visit, int64_t at_us);

/* In visit.c */

/* Run the Web API for a visit that is a call. */
void sim_visit_execute(struct sim_world *world, struct sim_visit *visit, int64_t now_us,
                       int64_t wall_us, struct sim_answer *answer);

/* The spare ones. */
void sim_visits_release(struct sim_world *world);

/* In refusal.c */

/* 401 with the challenge. */
void sim_refuse_stranger(const struct sim_world *world, struct sim_answer *answer);
/* 429 as the law has it. */
void sim_refuse_by_law(const struct sim_world *world, const struct sim_decision *decision,
                       int64_t wall_us, struct sim_answer *answer);
/* 429 as a fault has it. */
void sim_refuse_by_fault(const struct sim_world *world, const struct sim_fault_effect *effect,
                         int64_t wall_us, struct sim_answer *answer);
/* The Retry-After of a fault alone. */
void sim_refuse_retry_after(const struct sim_fault_effect *effect, int64_t wall_us,
                            struct sim_answer *answer);
/* A page of the web server in front, for people. */
void sim_refuse_page(struct sim_answer *answer, int status);
/* 401 and 429 of the login service. */
void sim_refuse_login(const struct sim_fault_effect *effect, int64_t wall_us,
                      struct sim_answer *answer);
/* deadlock, tvp_race, plugin_error, server_error, html_error. False: it is none of them. */
bool sim_refuse_execution(const struct sim_fault_effect *effect, int64_t wall_us,
                          struct sim_answer *answer);

/* In headers.c */

/* Of an answer of the Web API. user SIM_NOBODY: only what is known of a stranger. */
void sim_world_add_headers(struct sim_world *world, uint32_t user, uint32_t server, int64_t now_us,
                           struct sim_answer *answer);
/* The web server that the cookies ask for; SIM_ANY_SERVER: none. */
uint32_t sim_world_wanted_server(const struct sim_world *world,
                                 const struct sim_http_request *request);
void sim_world_make_nodes(struct sim_world *world);
void sim_world_free_nodes(struct sim_world *world);

/* In partial.c */

/* A bulk message on an elastic table. */
bool sim_partial_possible(const struct sim_api *api, struct weir_str target);
/* Run the call without the rows that the fault names, and answer as the service does then. */
void sim_partial_execute(struct sim_world *world, const struct sim_call *call,
                         const struct sim_fault_effect *effect, struct sim_answer *answer);

/* In control.c */

/* Answer a request below /sim/. */
void sim_control_answer(struct sim_world *world, const struct sim_http_request *request,
                        int64_t now_us, struct sim_answer *answer);

#endif
