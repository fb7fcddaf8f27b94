/* SPDX-License-Identifier: MIT */
/*
 * The simulated service as a whole: login, limits, faults, Web API, ledger. Pure: no socket and no
 * clock. The HTTP shell drives it in real time, the tests of the engine in virtual time.
 *
 * A request makes a *visit* of two steps, because it takes time:
 *
 *     arrive(request, now) ─▶ visit, due_us      401, 429 and /sim/ are due at once; what the law
 * lets in … until due_us …                        is due when its service time is over
 *     finish(visit, now) ───▶ answer, delivery   the Web API runs now; the law is told; faults have
 * their say
 *
 * `delivery` says what happens to the bytes of the answer: as they are, or as a fault has it.
 */
#ifndef SIM_SERVICE_H
#define SIM_SERVICE_H

#include "sim/law/law.h"
#include "sim/service/api.h"
#include "sim/service/http.h"
#include "sim/tokens/tokens.h"

struct sim_world; /* everything */

struct sim_world_options {
    struct sim_scenario scenario; /* connections = users */
    struct sim_switches switches;
    const struct weir_json *scenario_json; /* for `tables`, `users` and `faults`; NULL: none */
    const char *scenario_file;
    const char *base_url;
    uint64_t seed;
    bool no_limits; /* nothing is throttled */
    bool no_time;   /* nothing takes time */
    bool flat_time; /* a request takes the time of its service entry, whatever its rows */
    int64_t token_lifetime_s;
};

/* What the shell does with the answer. */
enum sim_delivery_kind {
    SIM_DELIVER,      /* send it */
    SIM_RESET_BEFORE, /* a TCP reset before the body has been read */
    SIM_RESET_WITHIN, /* a TCP reset while the body is being read */
    SIM_RESET_AFTER,  /* a TCP reset instead of the answer */
    SIM_CUT,     /* the first `byte` bytes of the answer as it goes over the wire, then close */
    SIM_STALL,   /* nothing for `stall_us`, then the answer */
    SIM_SILENCE, /* close without a byte, after `stall_us` */
};

struct sim_delivery {
    enum sim_delivery_kind kind;
    uint64_t byte;
    int64_t stall_us;
};

struct sim_visit; /* one request inside the service */

enum weir_status sim_world_new(const struct sim_world_options *options, struct sim_world **ret,
                               struct weir_error *err);
void sim_world_free(struct sim_world *world);

/*
 * A request has come, whole. It is copied as far as it is needed later. `now_us` from the start of
 * the world, `wall_us` since 1970.
 */
struct sim_visit *sim_world_arrive(struct sim_world *world, const struct sim_http_request *request,
                                   int64_t now_us, int64_t wall_us);

/*
 * Only the head of a request has come (method, target, headers). True: a fault ends it here, and
 * *ret says how (reset before or within); do not read the body. The rest of the request does not
 * arrive.
 */
bool sim_world_head(struct sim_world *world, const struct sim_http_request *request, int64_t now_us,
                    struct sim_delivery *ret);

/* When to finish it; a moment that has passed: now. */
int64_t sim_visit_due_us(const struct sim_visit *visit);

/* Its answer; the visit is gone afterwards. A client that has left meanwhile changes nothing. */
void sim_world_finish(struct sim_world *world, struct sim_visit *visit, int64_t now_us,
                      int64_t wall_us, struct sim_answer *answer, struct sim_delivery *delivery);

/* Without finishing it, for the end of the world. NULL is fine. */
void sim_visit_free(struct sim_visit *visit);

/* Late commits that are due are carried out; returns when the next one is (INT64_MAX: none). */
int64_t sim_world_turn(struct sim_world *world, int64_t now_us, int64_t wall_us);

struct sim_tokens *sim_world_tokens(struct sim_world *world);

/* The text of GET /sim/stats. */
void sim_world_stats_json(struct sim_world *world, struct weir_buf *json);

/* What happened, for people: a line for every user, then one for every table that has rows. */
void sim_world_summary(struct sim_world *world, struct weir_buf *text);

#endif
