/* SPDX-License-Identifier: MIT */
/*
 * The executor: carries every row to its end. Pure: it is told what happened and says what to do;
 * it opens no socket, reads no clock and calls nobody back.
 *
 *     batches ──offer──▶ ┌──────────┐ ──SEND────▶ request, by whoever drives it
 *                        │ executor │ ◀─answered─
 *      pool (core) ◀────▶│          │ ──RECORD──▶ journal
 *                        └──────────┘ ◀─committed
 *
 * A row that has nothing to do in this pass (idle) is done when its turn comes, without a request.
 * The same executor goes over the rows again, in another way, with weir_executor_next_pass().
 *
 * Vocabulary
 *   load     rows of one batch that wait or travel together, cut to one request when they board;
 *            and how: as one bulk message, as single requests in one $batch, or as reads of their
 *            ids (load.h)
 *   flight   a load that has a lease on a connection
 *   tainted  a row that an attempt carried whose outcome is unknown
 *
 * What an answer makes of a load
 *   ok            its rows are done, once the journal has them
 *   throttle      the same load again, at once, wherever there is a lease
 *   transient     again after a back-off with jitter; an unknown outcome taints the rows; given
 *                 up after MaxRetryTime of it and of throttles, of which little counts (failing.h)
 *   race          again after a short back-off
 *   too big       two halves, at once
 *   timed out     two halves, after a back-off; likewise a $batch that is refused for no reason
 *   bad rows      a bulk message: its rows as single requests in one $batch. A single request: the
 *                 row is rejected, unless it is a create that is tainted: then its id is read back
 *                 first, ReadBackDelay after the last unknown attempt at the earliest. Another row
 *                 that is tainted is asked again when nothing of that attempt can be under way
 *   privilege     on each other connection; success there sets those aside that forbade it
 *   credentials   the connection is the link's affair; the load goes again
 *
 * Loads wait for leases, not for connections: whichever lease comes is given to the load that is
 * first in line and may use it. Before the first success of a bulk message one load of it is in
 * flight (the service makes its procedures then, and parallel calls would collide).
 *
 * Whoever drives it: after each event, weir_executor_next() until it says NONE; then sleep until
 * weir_executor_next_us() or the next event. The executor is the only one who lets the core turn.
 *
 *     while (weir_executor_wants(&executor) && …)  weir_executor_offer(&executor, batch, now);
 *     SEND    get a token, weir_executor_begin(), send, weir_executor_answered();
 *             or weir_executor_unsent() if there is no token
 *     CANCEL  end that request and forget the flight: no word of it afterwards
 *     RECORD  write it; weir_executor_committed() once it is durable
 *     RETURN  the batch's memory is the caller's again
 *     OVER    nothing is left; executor.result is what it came to
 *
 * One thread at a time.
 */
#ifndef WEIR_BULK_EXECUTOR_H
#define WEIR_BULK_EXECUTOR_H

#include "base/rng.h"
#include "base/table64.h"
#include "bulk/load.h"
#include "bulk/outbox.h"
#include "bulk/plan.h"
#include "bulk/report.h"
#include "bulk/result.h"
#include "bulk/sizes.h"
#include "bulk/turn.h"
#include "pool/core.h"

enum weir_action_kind {
    WEIR_ACTION_NONE = 0,
    WEIR_ACTION_SEND,
    WEIR_ACTION_CANCEL,
    WEIR_ACTION_RECORD,
    WEIR_ACTION_RETURN,
    WEIR_ACTION_OVER,
};

struct weir_action {
    enum weir_action_kind kind;
    struct weir_load *flight;           /* send, cancel */
    const struct weir_receipt *receipt; /* record; lives until its commit */
    struct weir_batch *batch;           /* return */
};

/* Why a flight did not leave. */
enum weir_unsent {
    WEIR_UNSENT_TRANSIENT,   /* the login service did not answer, or not now */
    WEIR_UNSENT_CREDENTIALS, /* it refuses: the connection is set aside */
};

struct weir_executor {
    struct weir_plan plan;
    struct weir_core *core; /* borrowed */
    struct weir_rng rng;
    int64_t begun_us;
    int64_t now_us; /* of the last action that was asked for */
    struct weir_loads loads;
    struct weir_outbox outbox;
    struct weir_result result;

    /* Of an adaptive plan: what requests take, and what the quickest should. */
    struct weir_sizes sizes;
    int64_t crossover_us;

    /* Batches. */
    struct weir_batch **live;
    uint32_t live_count;
    uint32_t live_capacity;
    size_t live_bytes;
    struct weir_batch *returns; /* over, to be handed back */
    struct weir_turns turns;    /* who waits for whom */
    bool input_ended;

    /* Asking. */
    uint64_t ticket;      /* of the one ask that is out; 0: none */
    int64_t pace_us;      /* no row before this, by rows_per_second_max */
    int64_t unfit_us;     /* the leases that came were of no use: not before this */
    uint32_t retries_out; /* flights that are retries of failures */
    uint32_t bulk_out;    /* flights that are bulk messages */
    uint32_t load_parts;  /* requests that a whole batch becomes; 0: none was seen */
    bool warm;            /* a bulk message has succeeded */
    uint64_t bad_history; /* the last loads, newest in the lowest bit: 1 had a bad row */
    uint32_t bad_seen;    /* how many of them there were, at most 40 */

    /* Reaching the service. */
    bool contacted;         /* it has answered at all */
    int64_t first_begun_us; /* WEIR_FOREVER: nothing was sent */
    int64_t unreachable_us; /* nobody has answered since; WEIR_FOREVER: somebody has */
    bool *unreachable;      /* by connection: its last request did not get there */
    struct weir_failing failing;
    int64_t throttled_us; /* when anything was throttled last; WEIR_NEVER: nothing */

    struct weir_table64 first_rows; /* of derived ids: key → row that was sent as the job began */

    bool any_done;         /* a row, by an answer */
    int64_t done_begun_us; /* when the last request that did a row had been begun; 0: none */

    /* The end. */
    uint64_t rejected;           /* decided, committed or not, in all passes */
    uint64_t ended;              /* likewise of this pass, whatever became of them … */
    uint64_t ended_before;       /* … and the most of any pass before it */
    int64_t stop_us;             /* flights may come home until then; WEIR_FOREVER: not stopping */
    struct weir_error refusal;   /* why the pool gave no lease any more; status WEIR_OK: it did */
    struct weir_load *abandoned; /* cancelled a moment ago; gone with the next action */
    bool over_said;
};

/* `plan` is copied; `core` must outlive the executor and be used by nobody else meanwhile. */
void weir_executor_init(struct weir_executor *executor, const struct weir_plan *plan,
                        struct weir_core *core, uint64_t seed, int64_t now_us);

/*
 * After OVER, of a run that nothing has stopped: everything from the beginning again, by another
 * plan. What is known of the service stays, and so does what the result counts, but for `read` and
 * `fates`, which are those of a pass.
 */
void weir_executor_next_pass(struct weir_executor *executor, const struct weir_plan *plan,
                             int64_t now_us);

/* Batches that were not handed back yet are the caller's again, as if they had been. */
void weir_executor_release(struct weir_executor *executor);

/* There is room for another batch, and it would be sent. */
bool weir_executor_wants(const struct weir_executor *executor);

/* Hand over a batch, until it is returned; its rows count as read. */
void weir_executor_offer(struct weir_executor *executor, struct weir_batch *batch, int64_t now_us);
void weir_executor_end_of_input(struct weir_executor *executor, int64_t now_us);

/* What to do now, one thing at a time. */
void weir_executor_next(struct weir_executor *executor, int64_t now_us, struct weir_action *ret);

/* When to ask for the next action if nothing happens before; WEIR_FOREVER: never. */
int64_t weir_executor_next_us(const struct weir_executor *executor);

/*
 * The request goes out now. Anything but WEIR_OK: do not send it, the load is back in line and the
 * flight no more: WEIR_E_STALE_LEASE, its connection was throttled or set aside meanwhile;
 * WEIR_E_CANCELLED, the executor is stopping.
 */
enum weir_status weir_executor_begin(struct weir_executor *executor, struct weir_load *flight,
                                     int64_t now_us);
void weir_executor_unsent(struct weir_executor *executor, struct weir_load *flight,
                          enum weir_unsent why, int64_t now_us);
void weir_executor_answered(struct weir_executor *executor, struct weir_load *flight,
                            const struct weir_report *report, int64_t now_us);

/* All receipts up to this one are durable. */
void weir_executor_committed(struct weir_executor *executor, uint64_t serial, int64_t now_us);

/* No receipt will be durable any more: nothing is sent from now on. */
void weir_executor_journal_failed(struct weir_executor *executor, int64_t now_us);

/*
 * Send nothing more; flights may come home for 29 s, so that the process ends within thirty; those
 * that have not left are cancelled at once. Reasons add up.
 */
void weir_executor_stop(struct weir_executor *executor, enum weir_end why, int64_t now_us);

/* Of an adaptive plan: how many rows a request should have now; 0: the plan is none. */
uint32_t weir_executor_rows_chosen(const struct weir_executor *executor);

#endif
