/* SPDX-License-Identifier: MIT */
/* All or nothing; see txn.h. */
#include "sim/service/txn.h"

#include <assert.h>

#include "base/mem.h"

#define FIRST_CAPACITY 128

void sim_txn_init(struct sim_txn *txn, struct sim_store *stores, struct sim_ledger *ledgers)
{
    *txn = (struct sim_txn){ .stores = stores, .ledgers = ledgers };
}

void sim_txn_release(struct sim_txn *txn)
{
    for (size_t i = 0; i < txn->count; i++)
        free(txn->log[i].old);
    free(txn->log);
    txn->log = NULL;
    txn->count = txn->capacity = 0;
    txn->depth = 0;
}

struct sim_savepoint sim_txn_begin(struct sim_txn *txn)
{
    txn->depth++;
    return (struct sim_savepoint){ txn->count };
}

static void settle(struct sim_txn *txn, const struct sim_undo *undo)
{
    sim_ledger_write(&txn->ledgers[undo->table], undo->event, undo->id);
    free(undo->old);
}

void sim_txn_commit(struct sim_txn *txn, struct sim_savepoint savepoint)
{
    assert(txn->depth > 0 && savepoint.count <= txn->count);
    if (--txn->depth)
        return;
    for (size_t i = 0; i < txn->count; i++)
        settle(txn, &txn->log[i]);
    txn->count = 0;
}

void sim_txn_rollback(struct sim_txn *txn, struct sim_savepoint savepoint)
{
    assert(txn->depth > 0 && savepoint.count <= txn->count);
    txn->depth--;
    while (txn->count > savepoint.count) {
        struct sim_undo *undo = &txn->log[--txn->count];
        struct sim_store *store = &txn->stores[undo->table];
        if (undo->old)
            free(sim_store_replace(store, undo->place, undo->old));
        else
            sim_store_uninsert(store, undo->place);
    }
}

static void note(struct sim_txn *txn, struct sim_undo undo)
{
    if (!txn->depth || txn->stores[undo.table].table->elastic) {
        settle(txn, &undo);
        return;
    }
    if (txn->count == txn->capacity) {
        txn->capacity = txn->capacity ? txn->capacity * 2 : FIRST_CAPACITY;
        txn->log = weir_realloc(txn->log, txn->capacity, sizeof(*txn->log));
    }
    txn->log[txn->count++] = undo;
}

static struct sim_guid ledger_id(const struct sim_store *store, const struct sim_row *row)
{
    if (store->table->partition == SIM_NO_COLUMN)
        return row->id;
    struct sim_value partition = sim_row_get(row, store->table->partition);
    return sim_ledger_id(row->id, partition.kind == SIM_TEXT ? partition.text : weir_str("", 0));
}

uint32_t sim_txn_insert(struct sim_txn *txn, uint32_t table, struct sim_row *row,
                        enum sim_event event)
{
    struct sim_store *store = &txn->stores[table];
    uint32_t place = sim_store_insert(store, row);
    note(txn, (struct sim_undo){ table, place, NULL, ledger_id(store, row), event });
    return place;
}

void sim_txn_replace(struct sim_txn *txn, uint32_t table, uint32_t place, struct sim_row *row,
                     enum sim_event event)
{
    struct sim_store *store = &txn->stores[table];
    struct sim_row *old = sim_store_replace(store, place, row);
    note(txn, (struct sim_undo){ table, place, old, ledger_id(store, row), event });
}

void sim_txn_delete(struct sim_txn *txn, uint32_t table, uint32_t place)
{
    struct sim_store *store = &txn->stores[table];
    struct sim_row *old = sim_store_replace(store, place, NULL);
    note(txn, (struct sim_undo){ table, place, old, ledger_id(store, old), SIM_EVENT_DELETE });
}
