/* SPDX-License-Identifier: MIT */
/*
 * Faults on purpose: what goes wrong, for whom, and when. Pure and deterministic: each fault has a
 * stream of chance of its own, and draws from it for every request that it looks at.
 *
 *     occasion   one request as a fault sees it
 *     stage      where a request can be hit; each kind belongs to one:
 *                HEAD    its head has come, the body not yet      reset_before, reset_within
 *                DOOR    before the limits are asked              unauthorized, throttles of
 *                                                                 the whole answer
 *                INSIDE  the limits let it in                     all others
 *     seen       occasions that a fault looked at, that is those of its operation and connection,
 *                without the first ones, which `after` lets pass
 *
 * A fault is ripe if all its conditions hold: `nth` (the n-th that it saw), `every` (each n-th),
 * `count` (the first n times), `probability`; with none of them it always is. All faults of the
 * stage look at each occasion; the first one that is ripe, in the order of the list, happens.
 */
#ifndef SIM_SERVICE_FAULTS_H
#define SIM_SERVICE_FAULTS_H

#include "base/json.h"
#include "base/rng.h"
#include "sim/service/http.h"

#define SIM_FAULTS_MAX       256
#define SIM_FAULT_TEXT_MAX   256  /* bytes of a column, a value or a garbled Retry-After */
#define SIM_FAULT_ROWS_MAX   1000 /* that one partial_failure names */
#define SIM_FAULT_NAME_MAX   64   /* bytes of an operation */
#define SIM_FAULT_CODE_BYTES 11   /* "0x80072322" */

enum sim_fault_kind {
    SIM_FAULT_RESET_BEFORE,
    SIM_FAULT_RESET_WITHIN,
    SIM_FAULT_RESET_AFTER,
    SIM_FAULT_CUT,
    SIM_FAULT_STALL,
    SIM_FAULT_UNAUTHORIZED,
    SIM_FAULT_SERVER_ERROR,
    SIM_FAULT_HTML_ERROR,
    SIM_FAULT_THROTTLE,
    SIM_FAULT_COMMIT_THEN_SILENCE,
    SIM_FAULT_LATE_COMMIT,
    SIM_FAULT_DEADLOCK,
    SIM_FAULT_TVP_RACE,
    SIM_FAULT_LATENCY_COLLAPSE,
    SIM_FAULT_BAD_ROW,
    SIM_FAULT_PARTIAL_FAILURE,
    SIM_FAULT_PLUGIN_ERROR,
    SIM_FAULT_KINDS
};

enum sim_fault_stage {
    SIM_STAGE_HEAD,
    SIM_STAGE_DOOR,
    SIM_STAGE_INSIDE,
    SIM_STAGES
};

/* How a throttle says when to come again. */
enum sim_fault_retry {
    SIM_FAULT_RETRY_SECONDS,
    SIM_FAULT_RETRY_DATE,    /* retry_after_us from now */
    SIM_FAULT_RETRY_MISSING, /* not at all */
    SIM_FAULT_RETRY_TEXT,    /* in words that mean nothing */
};

enum sim_fault_where {
    SIM_FAULT_IN_ANSWER,
    SIM_FAULT_IN_PART,   /* of a $batch */
    SIM_FAULT_IN_DETAIL, /* of a bulk message on an elastic table */
};

/* What the fault does; its kind says which of these matter. */
struct sim_fault_effect {
    enum sim_fault_kind kind;
    uint64_t byte; /* of cut; UINT64_MAX: in the middle */
    int64_t stall_us;
    double factor; /* of latency_collapse */
    int status;
    char code[SIM_FAULT_CODE_BYTES];
    enum sim_fault_retry retry;
    int64_t retry_after_us;
    char retry_text[SIM_FAULT_TEXT_MAX + 1];
    enum sim_fault_where where;
    uint32_t index; /* of the part or the row */
    char column[SIM_FAULT_TEXT_MAX + 1];
    char value[SIM_FAULT_TEXT_MAX + 1];
    uint32_t rows[SIM_FAULT_ROWS_MAX]; /* that fail, ascending */
    uint32_t row_count;
};

struct sim_fault {
    struct sim_fault_effect effect;
    char operation[SIM_FAULT_NAME_MAX + 1];  /* empty: any */
    char connection[SIM_FAULT_TEXT_MAX + 1]; /* empty: any */
    double probability;                      /* 1: not drawn */
    uint64_t nth;                            /* 0: not given; as the next three */
    uint64_t every;
    uint64_t count;
    uint64_t after;
    uint64_t passed; /* of those that `after` lets pass */
    uint64_t seen;
    uint64_t happened;
    struct weir_rng rng;
};

struct sim_faults {
    struct sim_fault *list;
    uint32_t fault_count;
    bool stages[SIM_STAGES]; /* whether there is any of the stage */
    uint64_t counts[SIM_FAULT_KINDS];
    uint64_t seed;
    struct sim_fault *kept; /* what a reset goes back to */
    uint32_t kept_count;
};

struct sim_occasion {
    const struct sim_http_request *request; /* at the head: without its body */
    bool token;                             /* it is for the login service */
    const char *connection;                 /* "app1"; empty: not known */
    bool elastic;                           /* a bulk message on an elastic table */
};

void sim_faults_init(struct sim_faults *faults, uint64_t seed);
void sim_faults_release(struct sim_faults *faults);

/* What is there now is what a reset goes back to. To be called before the first request. */
void sim_faults_keep(struct sim_faults *faults);

/* As it was kept, or empty; counts are 0. */
void sim_faults_reset(struct sim_faults *faults);

/*
 * Take over the list {"faults": […]}, instead of what was there; an empty one clears. Counts stay.
 * WEIR_E_INVALID names key, value and what is allowed; then nothing changes. In faults_read.c.
 */
enum weir_status sim_faults_read(struct sim_faults *faults, const struct weir_json_node *list,
                                 const char *file, struct weir_error *err);

/* The fault that happens to a request, valid until the list changes; NULL: none. */
const struct sim_fault_effect *sim_faults_decide(struct sim_faults *faults,
                                                 enum sim_fault_stage stage,
                                                 const struct sim_occasion *occasion);

/* Whether a fault could want to know if the table is elastic. */
bool sim_faults_ask_elastic(const struct sim_faults *faults);

const char *sim_fault_kind_name(enum sim_fault_kind kind);
enum sim_fault_stage sim_fault_stage_of(const struct sim_fault_effect *effect);

/* {"cut": 3, …}: all kinds. */
void sim_faults_counts_json(const struct sim_faults *faults, struct weir_buf *json);

/* The names that `operation` may have; ends with NULL. */
extern const char *const sim_fault_operations[];

/* Take over a list made with weir_calloc(). */
void sim_faults_adopt(struct sim_faults *faults, struct sim_fault *list, uint32_t count);

/* Whether a request is what `operation` says. Empty: any. */
bool sim_occasion_is(const struct sim_occasion *occasion, struct weir_str operation);

/* "CreateMultiple", "WhoAmI", "$batch", "accounts(…)": the last segment of the path, without its
 * namespace and without the parentheses of a function. */
struct weir_str sim_target_name(struct weir_str target);

#endif
