/* SPDX-License-Identifier: MIT */
/*
 * What was written, as it was told at the moment of each commit: kept apart from the store and
 * never derived from it, so that the one can be held against the other. An entry per row ever
 * written, deleted ones included.
 *
 *     event        a write that was committed
 *     plug-in run  the pipeline of a create, update or delete ran for a row, also when it was
 * rolled back afterwards
 */
#ifndef SIM_SERVICE_LEDGER_H
#define SIM_SERVICE_LEDGER_H

#include "sim/service/guid.h"

enum sim_event {
    SIM_EVENT_CREATE,
    SIM_EVENT_UPDATE,
    SIM_EVENT_UPSERT, /* of elastic tables, which fire neither create nor update */
    SIM_EVENT_DELETE,
    SIM_EVENTS,
};

struct sim_entry {
    struct sim_guid id;
    uint32_t writes; /* 0 and plugin_runs 0: empty slot */
    uint32_t creates;
    uint32_t plugin_runs;
};

/* The account of one table. */
struct sim_ledger {
    struct sim_entry *entries;
    uint32_t entry_count;
    uint32_t slot_count;
    uint64_t events[SIM_EVENTS];
    uint64_t writes;
    uint64_t plugin_runs;
    uint32_t writes_max; /* of one row */
    uint32_t creates_max;
    uint32_t plugin_runs_max;
};

void sim_ledger_init(struct sim_ledger *ledger);
void sim_ledger_release(struct sim_ledger *ledger);

void sim_ledger_write(struct sim_ledger *ledger, enum sim_event event, struct sim_guid id);
void sim_ledger_plugin(struct sim_ledger *ledger, struct sim_guid id);

/*
 * What a row is called here. Rows of an elastic table that differ in their partition only are
 * different rows; an empty partition is none.
 */
struct sim_guid sim_ledger_id(struct sim_guid id, struct weir_str partition);

/* What is known of a row; all zero: nothing. */
struct sim_entry sim_ledger_entry(const struct sim_ledger *ledger, struct sim_guid id);

#endif
