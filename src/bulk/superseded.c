/* SPDX-License-Identifier: MIT */
/* Which rejected rows' keys come again; see superseded.h. */
#include "bulk/superseded.h"

#include "base/limits.h"

void weir_superseded_init(struct weir_superseded *superseded)
{
    weir_table64_init(&superseded->rejected);
    weir_table64_init(&superseded->refused);
    weir_table64_init(&superseded->offered);
}

void weir_superseded_release(struct weir_superseded *superseded)
{
    weir_table64_release(&superseded->rejected);
    weir_table64_release(&superseded->refused);
    weir_table64_release(&superseded->offered);
}

/* The later row of a key stays. */
static void remember(struct weir_table64 *table, uint64_t key_hash, uint64_t row)
{
    uint64_t known = 0;
    bool found = weir_table64_find(table, key_hash, &known);
    if (found ? row > known : table->count < WEIR_SUPERSEDED_MAX)
        weir_table64_set(table, key_hash, row);
}

/* An earlier row of that key has been rejected: forget and return it. 0: there is none. */
static uint64_t take_rejected(struct weir_superseded *superseded, const struct weir_row *row)
{
    uint64_t earlier;
    if (!weir_table64_find(&superseded->rejected, row->key_hash, &earlier) ||
        earlier >= row->number)
        return 0;
    weir_table64_remove(&superseded->rejected, row->key_hash);
    return earlier;
}

static void forget(struct weir_table64 *table, uint64_t key_hash, uint64_t row)
{
    uint64_t known;
    if (weir_table64_find(table, key_hash, &known) && known == row)
        weir_table64_remove(table, key_hash);
}

/* A refused row of that key comes before it and is not recorded yet. */
static bool follows_refused(const struct weir_superseded *superseded, const struct weir_row *row)
{
    uint64_t earlier;
    return superseded->refused.count &&
           weir_table64_find(&superseded->refused, row->key_hash, &earlier) &&
           earlier < row->number;
}

uint32_t weir_superseded_offer(struct weir_superseded *superseded, const struct weir_batch *batch,
                               uint64_t *ret_rows)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < batch->row_count; i++) {
        const struct weir_row *row = &batch->rows[i];
        if (!row->key_hash)
            continue;
        uint64_t earlier = take_rejected(superseded, row);
        if (earlier)
            ret_rows[count++] = earlier;
        if (batch->after_count || follows_refused(superseded, row))
            remember(&superseded->offered, row->key_hash, row->number);
        if (row->refusal.len)
            remember(&superseded->refused, row->key_hash, row->number);
    }
    return count;
}

static bool is_later(const struct weir_table64 *table, uint64_t key_hash, uint64_t row)
{
    uint64_t known;
    return weir_table64_find(table, key_hash, &known) && known > row;
}

bool weir_superseded_reject(struct weir_superseded *superseded, uint64_t key_hash, uint64_t row)
{
    if (!key_hash)
        return false;
    forget(&superseded->refused, key_hash, row);
    if (is_later(&superseded->offered, key_hash, row) ||
        is_later(&superseded->refused, key_hash, row) ||
        is_later(&superseded->rejected, key_hash, row))
        return true;
    remember(&superseded->rejected, key_hash, row);
    return false;
}

void weir_superseded_over(struct weir_superseded *superseded, const struct weir_batch *batch)
{
    if (!superseded->offered.count && !superseded->refused.count)
        return;
    for (uint32_t i = 0; i < batch->row_count; i++) {
        const struct weir_row *row = &batch->rows[i];
        forget(&superseded->offered, row->key_hash, row->number);
        forget(&superseded->refused, row->key_hash, row->number);
    }
}
