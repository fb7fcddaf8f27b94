/* SPDX-License-Identifier: MIT */
/*
 * Which rejected rows are *superseded*: their key comes again further down, so whoever mends the
 * rejects and feeds them in again must not have them among these, or an old value would overwrite a
 * newer one. A row may learn it at two moments:
 *
 *     row 5 of key A is rejected ── row 9 of key A was offered before? ── yes: marked at once
 *                                                                      └─ no: remembered
 *     row 9 of key A is offered  ── is an earlier row of key A remembered? ── yes: marked now
 *
 * A row that we refuse ourselves is as good as rejected when it is offered, but it can be marked
 * only when it is recorded. Rows of its key that are offered in between are remembered.
 *
 * Whoever drives the executor:
 *
 *     before weir_executor_offer()        count = weir_superseded_offer(&s, batch, rows);
 *                                         … the `count` rejected rows in `rows` are marked in the
 *                                         journal, where they stand unmarked
 *     a row is recorded as rejected       mark = weir_superseded_reject(&s, key_hash, number);
 *     the batch is handed back (RETURN)   weir_superseded_over(&s, batch);
 *
 * A run that goes on with a job calls weir_superseded_reject() for the rejects that it finds
 * unmarked in the journal, before the first batch: it then knows what the last run knew.
 *
 * It relies on the order of batches: rows of one key are offered in the order of the input, and a
 * batch names those before it that have a key of its own and are not over. So only the rows of a
 * batch that names others are worth remembering when they are offered, and those that follow a
 * refused row which is not recorded yet; nobody is named for a refused row, but it is offered with
 * those that follow it or before them. (An earlier row of its key may be offered after it, and then
 * finds it remembered.) A batch that names nobody costs little while no row was rejected.
 *
 * At most WEIR_SUPERSEDED_MAX rejected keys and as many offered ones are remembered. Beyond that
 * marks are missing; none is ever wrong, as far as two keys have two hashes.
 *
 * Pure. One thread at a time: the loop's.
 */
#ifndef WEIR_BULK_SUPERSEDED_H
#define WEIR_BULK_SUPERSEDED_H

#include "base/table64.h"
#include "bulk/batch.h"

struct weir_superseded {
    struct weir_table64 rejected; /* key → its last rejected row, which has no mark */
    struct weir_table64 refused;  /* key → its last refused row, which is not recorded */
    struct weir_table64 offered; /* key → its last row, of batches that name others; or later than
                                    one of `refused` */
};

void weir_superseded_init(struct weir_superseded *superseded);
void weir_superseded_release(struct weir_superseded *superseded);

/*
 * A batch is about to be offered. Puts the numbers of rejected rows that are to be marked now into
 * `ret_rows`, which has room for batch->row_count of them, and returns how many; each row is named
 * once. Rows without a key play no part.
 */
uint32_t weir_superseded_offer(struct weir_superseded *superseded, const struct weir_batch *batch,
                               uint64_t *ret_rows);

/*
 * A row is rejected, for good. True: its key has come again, it is to be marked now. False: it is
 * remembered. `key_hash` 0: false, and nothing to remember.
 */
bool weir_superseded_reject(struct weir_superseded *superseded, uint64_t key_hash, uint64_t row);

/* No row of the batch can be rejected any more, and none of those that it names. */
void weir_superseded_over(struct weir_superseded *superseded, const struct weir_batch *batch);

#endif
