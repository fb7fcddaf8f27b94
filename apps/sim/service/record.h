/* SPDX-License-Identifier: MIT */
/*
 * One row on its way in: read from JSON, checked against its table, applied to the store.
 *
 *     read     record_read.c: names, types, lengths, ranges, lookups by id or key
 *     apply    record.c: what the service decides itself (owner, state, dates), keys, references,
 *              the write
 *
 * A *rejection* is why it was refused; it becomes the answer, or an entry in the list of a partial
 * success.
 */
#ifndef SIM_SERVICE_RECORD_H
#define SIM_SERVICE_RECORD_H

#include "sim/service/api_internal.h"
#include "sim/service/scan.h"

#define SIM_REJECTION_TEXT_MAX 1024

struct sim_rejection {
    int status;
    char code[16];
    char message[SIM_REJECTION_TEXT_MAX];
    const char *key_name; /* a violated alternate key; NULL: none */
    char
        duplicate_attributes[SIM_REJECTION_TEXT_MAX]; /* XML, as the service has it; may be empty */
};

/* Always false, so that refusing is one line. */
bool sim_reject(struct sim_rejection *why, int status, const char *code, const char *format, ...)
    WEIR_PRINTF(4, 5);

/* The rejection as an answer; `details`: with annotations. */
void sim_rejection_answer(const struct sim_rejection *why, bool details, struct sim_answer *answer);

/* "account With Id = … Does Not Exist", 404 0x80040217. Always false. */
bool sim_reject_absent(struct sim_rejection *why, const struct sim_table *table,
                       struct sim_guid id);

/* A payload that cannot be read: 400 0x80048d19 with the service's preamble. Always false. */
bool sim_reject_payload(struct sim_rejection *why, const struct sim_table *table,
                        const char *format, ...) WEIR_PRINTF(3, 4);

struct sim_record {
    const struct sim_table *table;
    bool strict;                              /* SIM_CARELESS_REFUSE */
    struct sim_value values[SIM_COLUMNS_MAX]; /* of the columns that were given */
    uint8_t given[SIM_COLUMNS_MAX];
    uint16_t columns[SIM_COLUMNS_MAX]; /* those, in the order of the body */
    uint32_t column_count;
    bool has_type;            /* @odata.type was there and is the table's */
    struct weir_str odata_id; /* @odata.id, decoded; ptr NULL: none */
    char *text;               /* texts that had escapes */
    size_t text_len;
    size_t text_capacity;
};

void sim_record_release(struct sim_record *record);

/* Begin a row of `table`. Texts of the one before are gone. */
void sim_record_reset(struct sim_record *record, const struct sim_table *table);

void sim_record_set(struct sim_record *record, uint32_t column, struct sim_value value);

/* Read the members of an object whose opening brace was the scanner's last token. */
bool sim_record_read(struct sim_api *api, struct sim_record *record, struct sim_scan *scan,
                     struct sim_rejection *why);

/* Read the body of a request that is one row. */
bool sim_record_read_body(struct sim_api *api, struct sim_record *record, struct weir_str body,
                          struct sim_rejection *why);

/* What a key in a URL says: the primary id, or the values of an alternate key. */
struct sim_target_key {
    uint32_t key; /* SIM_NO_KEY: the primary id */
    struct sim_guid id;
    struct weir_str partition;
    struct sim_value parts[SIM_KEY_COLUMNS_MAX]; /* in the order of the key's columns */
};

#define SIM_NO_KEY UINT32_MAX

/* `partition`: the query option partitionId, or nothing. */
bool sim_target_key_read(const struct sim_table *table, const struct sim_url_key *keys,
                         uint32_t key_count, struct weir_str partition, struct sim_target_key *ret,
                         struct sim_rejection *why);

/* SIM_NO_PLACE: there is no such row. */
uint32_t sim_target_key_find(const struct sim_api *api, const struct sim_table *table,
                             const struct sim_target_key *key);

/* The rejection of a row that is not there. Always false. */
bool sim_target_key_absent(const struct sim_table *table, const struct sim_target_key *key,
                           struct sim_rejection *why);

/* The columns of the key become values of the record, as an upsert that creates needs it. */
void sim_target_key_fill(const struct sim_table *table, const struct sim_target_key *key,
                         struct sim_record *record);

/* The primary id that the record has; false: none, or the empty one. */
bool sim_record_id(const struct sim_record *record, struct sim_guid *ret);

/* Its partition; empty: none. */
struct weir_str sim_record_partition(const struct sim_record *record);

/*
 * The writes. `call` says who and when. On success *ret_place is where the row is. A write that
 * fails leaves everything as it was, but for the plug-in run that it caused.
 */
bool sim_record_create(struct sim_api *api, const struct sim_call *call, struct sim_record *record,
                       enum sim_event event, uint32_t *ret_place, struct sim_rejection *why);
bool sim_record_update(struct sim_api *api, const struct sim_call *call, struct sim_record *record,
                       uint32_t place, struct sim_rejection *why);
bool sim_record_delete(struct sim_api *api, const struct sim_call *call,
                       const struct sim_table *table, uint32_t place, struct sim_rejection *why);

/* A row that is there from the start: into any table, unseen by ledger and plug-ins. */
bool sim_record_seed(struct sim_api *api, const struct sim_call *call, struct sim_record *record,
                     struct sim_rejection *why);

/* An elastic upsert puts the record in the place of the row, whole. */
bool sim_record_replace(struct sim_api *api, const struct sim_call *call, struct sim_record *record,
                        uint32_t place, struct sim_rejection *why);

#endif
