/* SPDX-License-Identifier: MIT */
/*
 * A scenario: the world that the law enforces and the load that the laboratory puts on it, as plain
 * data that owns nothing. weir-sim and weir-lab read the same files; every key of a file has one
 * field here, in the file's order, seconds turned into microseconds.
 *
 * Time 0 is the start of the run; times before it are negative.
 */
#ifndef SIM_LAW_SCENARIO_H
#define SIM_LAW_SCENARIO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "weir/error.h"

#define SIM_NAME_MAX     128 /* bytes of a scenario's or an operation's name */
#define SIM_SERVERS_MAX  64
#define SIM_SERVICES_MAX 64
#define SIM_CHANGES_MAX  64

#define SIM_UNCHANGED     (-1) /* in a sim_change */
#define SIM_NO_WORK_ITEMS (-1)

/* Execution is charged in shares of a ten-thousandth: exact sums, and exec_share has four digits.
 */
#define SIM_WHOLE_SHARE 10000

/* What the client may do with the affinity cookie. */
enum sim_affinity {
    SIM_AFFINITY_NONE,   /* it is ignored */
    SIM_AFFINITY_SOFT,   /* it is honoured in 90 % of the cases */
    SIM_AFFINITY_PINNED, /* it is honoured */
};

/* When the execution time of a request is charged. */
enum sim_charge {
    SIM_CHARGE_ACCRUAL,    /* while it runs */
    SIM_CHARGE_COMPLETION, /* all at its end */
    SIM_CHARGE_ARRIVAL,    /* all at its start */
};

enum sim_retry_form {
    SIM_RETRY_SECONDS,
    SIM_RETRY_DATE,
    SIM_RETRY_MISSING,
};

enum sim_header_mode {
    SIM_HEADERS_EXACT,
    SIM_HEADERS_STALE,  /* as they were 5 s ago */
    SIM_HEADERS_ABSENT, /* no quota headers; the dop hint is sent all the same */
    SIM_HEADERS_WRONG,  /* always 6000 and 1200.00 */
};

enum sim_drift_kind {
    SIM_DRIFT_NONE,
    SIM_DRIFT_LINEAR, /* from 1 at the start to `to` at the end of the run, and there it stays */
    SIM_DRIFT_STEP,   /* `to` from half time on */
    SIM_DRIFT_SINE,   /* between 1 (at 0, 600, ... s) and `to` (at 300, 900, ... s) */
};

enum sim_pattern {
    SIM_PATTERN_CONSTANT,
    SIM_PATTERN_ONOFF,  /* 120 s at twice the share, 120 s silence */
    SIM_PATTERN_BURSTY, /* 20 s at six times the share, 100 s silence */
};

/* The limits of one user on one web server, or of one user if shared. A limit of 0: none. */
struct sim_limits {
    int64_t requests;
    int64_t execution_us;
    int64_t concurrent;
    int64_t window_us;
    int64_t bucket_us; /* 0: exact log */
    bool shared;       /* one account a user over all servers */
    enum sim_charge charge;
    bool count_throttled; /* refused requests count in the request window */
};

/* Limits that change on the way; SIM_UNCHANGED leaves one as it is. */
struct sim_change {
    int64_t at_us;
    int64_t requests;
    int64_t execution_us;
    int64_t dop_hint;
};

struct sim_retry_after {
    int64_t base_us;
    double growth;
    int64_t forget_us;
    int64_t cap_us;
    int64_t per_offence_us;
    enum sim_retry_form form; /* the law carries it, the shell writes it */
};

struct sim_drift {
    enum sim_drift_kind kind;
    double to;
};

/* One kind of request. Its server time is log-normal. */
struct sim_service {
    double weight;
    char operation[SIM_NAME_MAX + 1]; /* empty: any */
    uint32_t rows;                    /* that the median is for */
    double median_s;
    double fixed_s; /* on top of it, whatever the rows; median as well */
    double sigma;
    int64_t overhead_us; /* client latency = server time + overhead */
    int64_t exec_share;  /* of the server time that is charged, in SIM_WHOLE_SHARE parts */
    struct sim_drift drift;
};

/* Server time × (1 + kappa·(n − knee)/knee) above the knee. knee 0: none. */
struct sim_contention {
    double knee;
    double kappa;
};

struct sim_foreign_load {
    double share;
    enum sim_pattern pattern;
};

struct sim_scenario {
    char name[SIM_NAME_MAX + 1];
    int64_t duration_us;
    int64_t work_items; /* SIM_NO_WORK_ITEMS: run for the duration */
    uint32_t connections;
    uint32_t servers;
    enum sim_affinity affinity;
    struct sim_limits limits;
    struct sim_change changes[SIM_CHANGES_MAX]; /* ascending in time */
    uint32_t change_count;
    struct sim_retry_after retry_after;
    enum sim_header_mode headers;
    int64_t dop_hint; /* 0: not sent */
    struct sim_service services[SIM_SERVICES_MAX];
    uint32_t service_count;
    struct sim_contention contention;
    struct sim_foreign_load foreign;
    double prefill;
    double failures;
};

/* What may change on the way, at one moment. */
struct sim_budget {
    int64_t requests;
    int64_t execution_us;
    int64_t dop_hint;
};

/* The defaults of the file format. */
void sim_scenario_init(struct sim_scenario *scenario);

/*
 * What was measured on a real developer environment, weir-sim's world without a file: 5 in flight
 * are never throttled, 10 are; 37 in flight take 7.5 s each.
 */
void sim_scenario_calibrated(struct sim_scenario *scenario);

/* The defaults of one entry of `service`. */
struct sim_service sim_service_default(void);

/* What is in force at `now_us`. */
struct sim_budget sim_scenario_budget(const struct sim_scenario *scenario, int64_t now_us);

/*
 * Read a scenario from JSON with comments and trailing commas; `file` names it in messages. The
 * top-level keys `tables`, `users` and `faults` belong to weir-sim and are passed over.
 * WEIR_E_INVALID with file, key, value and what is allowed. In scenario_read.c.
 */
enum weir_status sim_scenario_read(struct sim_scenario *ret_scenario, struct weir_str json,
                                   const char *file, struct weir_error *err);

#endif
