/* SPDX-License-Identifier: MIT */
/* The state of the Web API, for the files that are it. What it offers to others stands in api.h. */
#ifndef SIM_SERVICE_API_INTERNAL_H
#define SIM_SERVICE_API_INTERNAL_H

#include "base/rng.h"
#include "sim/service/api.h"
#include "sim/service/ledger.h"
#include "sim/service/optional.h"
#include "sim/service/schema.h"
#include "sim/service/store.h"
#include "sim/service/txn.h"
#include "sim/service/url.h"

struct sim_record; /* record.h */

/* What a user may do with a table; each includes those before it. */
enum sim_right {
    SIM_RIGHT_NONE,
    SIM_RIGHT_READ,
    SIM_RIGHT_WRITE, /* create and update */
    SIM_RIGHT_ALL,   /* delete */
};

#define SIM_ROLES_MAX     16 /* of one user */
#define SIM_ROLE_NAME_MAX 100

#define SIM_SEEDS_MAX      100000 /* rows of a scenario */
#define SIM_SEED_BYTES_MAX 65536  /* of one */

struct sim_user {
    struct sim_guid id; /* systemuserid */
    char id_text[SIM_GUID_TEXT];
    char name[32]; /* app1 */
    enum sim_right rights[SIM_TABLES_MAX];
    bool reads_own;        /* sees only rows that it owns */
    bool no_impersonation; /* may not act for somebody else */
    bool no_bypass;        /* may not leave custom logic out */
    char *roles[SIM_ROLES_MAX];
    uint32_t role_count;
};

struct sim_api {
    struct sim_schema schema;
    struct sim_store stores[SIM_TABLES_MAX]; /* by place of the table, as ledgers */
    struct sim_ledger ledgers[SIM_TABLES_MAX];
    struct sim_txn txn;
    struct sim_user *users;
    uint32_t user_count;
    struct sim_guid organization;
    struct sim_guid business_unit;
    char *base_url;
    struct sim_switches switches;
    uint64_t seed;
    struct weir_rng rng;  /* for ids */
    uint64_t row_version; /* of the last write */
    uint64_t extra_counts[SIM_EXTRAS];
    struct sim_seed *seeds; /* rows of the scenario */
    uint32_t seed_count;
    char *bad_column; /* sim_api_set_bad_row; NULL: none */
    char *bad_value;
    struct sim_record *record; /* the row that is being worked on */
};

/*
 * False: who calls, or who is acted for, lacks the right, and the answer is filled (403
 * 0x80040220).
 */
bool sim_api_may(const struct sim_api *api, const struct sim_call *call,
                 const struct sim_table *table, enum sim_right right, const char *verb,
                 struct sim_answer *answer);

/* Whether a call with the read depth of its users sees a row. */
bool sim_api_sees(const struct sim_api *api, const struct sim_call *call,
                  const struct sim_table *table, const struct sim_row *row);

/* The table of an entity set; NULL: there is none, and the answer is filled (404 0x8006088a). */
const struct sim_table *sim_api_set(const struct sim_api *api, struct weir_str set,
                                    struct sim_answer *answer);

/*
 * One call that is no $batch, as sim_api_execute() carries it out but without what only the outer
 * address is held to. The answer must be empty.
 */
void sim_api_dispatch(struct sim_api *api, const struct sim_call *call, struct sim_answer *answer);

/* In users.c: the rights and roles of the scenario. */
enum weir_status sim_api_read_users(struct sim_api *api, const struct weir_json *scenario,
                                    const char *file, struct weir_error *err);
void sim_api_release_users(struct sim_api *api);

/* In reference.c: the rows that are there from the start. */
void sim_api_add_reference_rows(struct sim_api *api);

/* In seeds.c: the rows of the scenario. They are read once, and added after each reset. */
enum weir_status sim_api_read_seeds(struct sim_api *api, const struct weir_json *scenario,
                                    const char *file, struct weir_error *err);
enum weir_status sim_api_add_seeds(struct sim_api *api, const char *file, struct weir_error *err);
void sim_api_release_seeds(struct sim_api *api);

/* The user of systemusers(id)…; NULL: nobody has that id, and the answer is filled. */
const struct sim_user *sim_api_user_of(const struct sim_api *api, const struct sim_url *url,
                                       struct sim_answer *answer);

/* GET systemusers(id)/systemuserroles_association: whether an address is one, and its answer. */
bool sim_api_is_roles(const struct sim_url *url);
void sim_api_list_roles(const struct sim_api *api, const struct sim_call *call,
                        const struct sim_url *url, struct sim_answer *answer);

#endif
