/* SPDX-License-Identifier: MIT */
/*
 * The inside of the executor, for the files that are it; see executor.h.
 *
 *     executor.c   life cycle, batches, what to do next
 *     asking.c     leases, and which load goes with one
 *     portion.c    how many of its rows
 *     landing.c    answers (landing.h), with outcome.c, denial.c and verify.c
 *     stopping.c   giving up, stopping, the end
 */
#ifndef WEIR_BULK_EXECUTOR_PARTS_H
#define WEIR_BULK_EXECUTOR_PARTS_H

#include "bulk/executor.h"

/* How many of the last loads are remembered, and judged when the next one goes. */
#define WEIR_BAD_WINDOW 40

/* --- executor.c --- */

/* It is over if no row is open and no receipt awaits its commit. */
void weir_executor_finish_batch(struct weir_executor *executor, struct weir_batch *batch,
                                int64_t now_us);

/* --- asking.c --- */

/* Ask for a lease if there is a load for it. True: *ret is a SEND. */
bool weir_executor_ask(struct weir_executor *executor, int64_t now_us, struct weir_action *ret);
int64_t weir_executor_ask_us(const struct weir_executor *executor);
void weir_executor_cancel_ask(struct weir_executor *executor, int64_t now_us);

/* The flight is over: its counts. The lease is settled by the caller. */
void weir_executor_land(struct weir_executor *executor, struct weir_load *flight);

/* A connection other than this one is in use. */
bool weir_executor_has_other(const struct weir_executor *executor, uint32_t connection);

/* --- portion.c --- */

/* How many of its rows would go now, in that mode. */
uint32_t weir_executor_portion(const struct weir_executor *executor, const struct weir_load *load,
                               enum weir_load_mode mode);

/* A load of just those; the rest stays in line. */
struct weir_load *weir_executor_cut(struct weir_executor *executor, struct weir_load *load,
                                    enum weir_load_mode mode);

/* What the answer to a write says of its size. `done`: all of its rows are. */
void weir_executor_learn_size(struct weir_executor *executor, const struct weir_load *load,
                              const struct weir_report *report, bool done);

/* --- denial.c --- */

/* It should go to somebody else, who has not forbidden it. */
bool weir_executor_is_barred(const struct weir_executor *executor, const struct weir_load *load,
                             uint32_t connection);

/* --- landing.c, outcome.c --- */

/* A row has come to its end. */
void weir_executor_end_row(struct weir_executor *executor, struct weir_batch *batch, uint32_t row,
                           enum weir_fate fate);

/* More rows were rejected than wanted: stop. */
void weir_executor_end_early(struct weir_executor *executor, int64_t now_us);

/* The error that stands against a row unless something better is learned. */
struct weir_report_item;
void weir_executor_blame(const struct weir_load *load, uint32_t i, const struct weir_report *report,
                         const struct weir_report_item *item, bool own);

/* Back in line, or to rest for its next back-off. */
void weir_executor_rest(struct weir_executor *executor, struct weir_load *load, int64_t now_us);

/* --- verify.c --- */

/* Rows leave: those that leave as the job begins are remembered. */
void weir_executor_note_first(struct weir_executor *executor, const struct weir_load *load,
                              int64_t now_us);

/* --- stopping.c --- */

/* The rows that are still open end as not sent, or unknown. */
void weir_executor_give_up(struct weir_executor *executor, struct weir_load *load, int64_t now_us);

/* What time alone has brought about: deadlines, nobody reachable. */
void weir_executor_check(struct weir_executor *executor, int64_t now_us);
int64_t weir_executor_check_us(const struct weir_executor *executor);

/* A flight to cancel: not on the wire, or past the time for coming home; NULL: none. Its rows are
 * given up. */
struct weir_load *weir_executor_abandon(struct weir_executor *executor, int64_t now_us);

static inline bool weir_executor_is_stopping(const struct weir_executor *executor)
{
    return executor->stop_us != WEIR_FOREVER;
}

#endif
