/* SPDX-License-Identifier: MIT */
/*
 * All or nothing: the writes since the outermost begin, newest last, with the rows that they
 * replaced.
 *
 *     begin … write … begin … write … commit … commit      nested: only the outermost commit is
 * final
 *
 * A rollback puts everything back that was written since its own begin. The ledger hears of writes
 * at the final commit. Elastic tables know no transactions: their writes are final at once and
 * stay.
 */
#ifndef SIM_SERVICE_TXN_H
#define SIM_SERVICE_TXN_H

#include "sim/service/ledger.h"
#include "sim/service/store.h"

struct sim_undo {
    uint32_t table;
    uint32_t place;
    struct sim_row *old; /* NULL: there was none */
    struct sim_guid id;
    enum sim_event event;
};

struct sim_txn {
    struct sim_store *stores; /* by place of the table; borrowed */
    struct sim_ledger *ledgers;
    struct sim_undo *log;
    size_t count;
    size_t capacity;
    uint32_t depth;
};

/* What a begin hands out and its commit or rollback takes. */
struct sim_savepoint {
    size_t count;
};

void sim_txn_init(struct sim_txn *txn, struct sim_store *stores, struct sim_ledger *ledgers);
void sim_txn_release(struct sim_txn *txn);

struct sim_savepoint sim_txn_begin(struct sim_txn *txn);
void sim_txn_commit(struct sim_txn *txn, struct sim_savepoint savepoint);
void sim_txn_rollback(struct sim_txn *txn, struct sim_savepoint savepoint);

/* The three kinds of writes; outside of begin and commit they are final at once. */
uint32_t sim_txn_insert(struct sim_txn *txn, uint32_t table, struct sim_row *row,
                        enum sim_event event);
void sim_txn_replace(struct sim_txn *txn, uint32_t table, uint32_t place, struct sim_row *row,
                     enum sim_event event);
void sim_txn_delete(struct sim_txn *txn, uint32_t table, uint32_t place);

#endif
