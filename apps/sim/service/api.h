/* SPDX-License-Identifier: MIT */
/*
 * The Web API: one call in, one answer out. Pure: the store, the ledger and the counters are its
 * state, time is an argument. It knows nothing of tokens, limits and faults: those stand around it
 * (service.h).
 *
 *     measure   what the law needs to know of a call before it runs: operation and number of rows
 *     execute   run it, $batch and all
 */
#ifndef SIM_SERVICE_API_H
#define SIM_SERVICE_API_H

#include "base/json.h"
#include "sim/service/guid.h"
#include "sim/service/http.h"
#include "weir/error.h"

struct sim_api; /* schema, store, ledger, counters, switches, users */

/* What nobody knows for sure about the real service. */
enum sim_duplicate_first {
    SIM_DUPLICATE_PRIMARY_FIRST, /* a row that violates both keys is reported by its primary key */
    SIM_DUPLICATE_ALTERNATE_FIRST,
};

/*
 * A value for a column that can never be written, or with more digits than the column has: the
 * service, as far as anybody knows, ignores the one and rounds the other without a word.
 */
enum sim_careless {
    SIM_CARELESS_REFUSE, /* so that a client that does it is noticed */
    SIM_CARELESS_ACCEPT, /* as the service */
};

struct sim_switches {
    enum sim_duplicate_first duplicate_first;
    int duplicate_status;       /* 412 or 500: how a duplicate is answered */
    bool throttle_inside_batch; /* the limits are checked again for every part of a $batch */
    enum sim_careless careless;
};

struct sim_call {
    struct weir_str method;
    struct weir_str target; /* "/api/data/v9.2/accounts(…)?…", or absolute */
    const struct sim_header *headers;
    size_t header_count;
    struct weir_str body;
    uint32_t user;   /* who calls */
    int64_t wall_us; /* microseconds since 1970, for createdon and the like */

    /* What the API finds in headers and address; not for who calls it (optional.h). */
    struct sim_guid caller; /* systemuserid in whose name it is done */
    uint32_t acting;        /* the same among the users that log in; SIM_NO_USER: none of them */
    uint32_t extras;        /* bits */
};

/* What a call will cost. `operation`: "CreateMultiple", "$batch", or the HTTP method. */
struct sim_measure {
    char operation[64];
    uint32_t rows; /* targets, parts, or 1 */
};

struct sim_api_options {
    uint32_t users;       /* application users app1 … appN */
    const char *base_url; /* "http://127.0.0.1:8080"; copied */
    struct sim_switches switches;
    uint64_t seed;                    /* for the ids that the service makes */
    const struct weir_json *scenario; /* for `tables` and `users`; NULL: none */
    const char *scenario_file;        /* names it in messages */
};

enum weir_status sim_api_new(const struct sim_api_options *options, struct sim_api **ret,
                             struct weir_error *err);
void sim_api_free(struct sim_api *api);

/* As new: rows, ledger, counters. */
void sim_api_reset(struct sim_api *api);

struct sim_measure sim_api_measure(struct sim_api *api, const struct sim_call *call);

/*
 * Asked before each part of a $batch if switches.throttle_inside_batch is on: true lets it run,
 * false has filled `answer` with the refusal. NULL: every part runs.
 */
typedef bool sim_part_gate(void *ctx, const struct sim_call *part, struct sim_answer *answer);

void sim_api_execute(struct sim_api *api, const struct sim_call *call, sim_part_gate *gate,
                     void *gate_ctx, struct sim_answer *answer);

/* One row on purpose bad: creates and updates that set `column` to `value` are refused. For faults.
 */
void sim_api_set_bad_row(struct sim_api *api, const char *column, const char *value);

/* GET /sim/ledger?table=T[&by=COLUMN]: the JSON object. False: no such table or column (err). */
bool sim_api_ledger_json(struct sim_api *api, struct weir_str table, struct weir_str by,
                         struct weir_buf *json, struct weir_error *err);

/* "events" of GET /sim/stats: {"create":…,"update":…,"upsert":…,"delete":…}. */
void sim_api_events_json(const struct sim_api *api, struct weir_buf *json);

/* "headers" of GET /sim/stats: how many requests, parts of a $batch each for itself, had which. */
void sim_api_headers_json(const struct sim_api *api, struct weir_buf *json);

/* The systemuserid and the name of a user, for WhoAmI and tokens. */
const char *sim_api_user_id(const struct sim_api *api, uint32_t user);

#endif
