/* SPDX-License-Identifier: MIT */
/*
 * The driver: the executor's hands. It takes batches from the intake, sends what the executor wants
 * sent over the links of a client, writes down in the journal what it wants recorded, and tells it
 * what came of both.
 *
 *     intake ──batches──▶ ┌────────┐ ──▶ token ─▶ request ─▶ answer      (flight.c)
 *                         │ driver │
 *     journal ──durable─▶ └────────┘ ──▶ receipts                         (scribe.c)
 *
 * It lives on the client's loop thread. Others wake it, and look at it under its lock, which the
 * loop thread holds while it works.
 *
 * How far rows may have been sent (the *reach*) is in the journal before they are: a later run then
 * knows which of the unfinished rows nobody can have sent. The mark is set well ahead, so that
 * nothing waits for it but the first batch.
 *
 * It works through one pass over the rows, says that this is over, and can be given another one:
 * what it knows of connections and throttles stays.
 */
#ifndef WEIR_BULK_DRIVER_H
#define WEIR_BULK_DRIVER_H

#include "bulk/executor.h"
#include "bulk/intake.h"
#include "bulk/progress.h"
#include "bulk/request.h"
#include "client/client.h"
#include "journal/journal.h"

struct weir_driver;

/* One pass over the rows. Borrowed until it is over, but for this struct. */
struct weir_driver_pass {
    const struct weir_plan *plan;
    const struct weir_request_plan *requests;
    struct weir_intake *intake;
    const struct weir_journal_view
        *view;      /* of what earlier runs have done in it; NULL: there were none */
    uint64_t reach; /* rows up to this one may be sent: it is durable */
};

/* Borrowed as long as the driver lives, but for this struct. */
struct weir_driver_options {
    struct weir_client *client;
    const struct weir_options *settings; /* the client's, or a copy with another parallelism */
    struct weir_journal *journal;
    struct weir_driver_pass pass;   /* the first */
    const struct weir_sizes *sizes; /* what an earlier run knew; NULL: nothing */
    const struct weir_throttle_counts
        *throttles_before; /* of the client's pool, that are not its affair; NULL: all are */
    int64_t deadline_us;   /* WEIR_FOREVER: none */
    void (*over)(void *ctx);
    void *ctx;
};

/* Nothing happens before weir_driver_start(). Fails as weir_core_init() and the journal do. Any
 * thread. */
enum weir_status weir_driver_new(const struct weir_driver_options *options,
                                 struct weir_driver **ret, struct weir_error *err);

/* Begin to work. `over` is called once, on the loop thread, when nothing is left to do. */
void weir_driver_start(struct weir_driver *driver);

/*
 * After `over`, of a pass that nothing has stopped: begin with another one, at the end of which
 * `over` is called again. Nobody else may free the intake of the one before until this returns. Any
 * thread. Fails as the journal does; then it stays over.
 */
enum weir_status weir_driver_next_pass(struct weir_driver *driver,
                                       const struct weir_driver_pass *pass, struct weir_error *err);

/*
 * Only when it was never started, or after `over`, and when nobody is left who might wake it: the
 * reader and the journal's thread have ended. Waits for the loop thread. NULL is fine.
 */
void weir_driver_free(struct weir_driver *driver);

/* Something has happened elsewhere: the intake has something. Any thread. */
void weir_driver_wake(struct weir_driver *driver);

/* Send nothing more. Any thread. */
void weir_driver_stop(struct weir_driver *driver, enum weir_end why);

/* The journal's callbacks; `ctx` is the driver. Journal's thread. */
void weir_driver_durable(void *ctx, uint64_t serial);
void weir_driver_journal_failed(void *ctx, const struct weir_error *err);

/* --- looking; any thread --------------------------------------------------------------------- */

struct weir_driver_connection {
    struct weir_connection_result result;
    struct weir_adaptive_rate_stats rate;
    uint32_t in_flight;
    uint32_t cap;
    int64_t reopening_us; /* throttled until then; past: not */
    bool set_aside;
    int64_t breaker_until_us; /* open until then; 0: not */
    struct weir_budget_seen requests_budget;
    struct weir_budget_seen execution_budget; /* in microseconds */
    int64_t backoff_us;                       /* that throttles have kept it closed, in all */
};

struct weir_driver_view {
    struct weir_result result;    /* its connections are not there: weir_driver_connection(); `read`
                                     and `fates` are of the pass, the rest is of all */
    uint64_t rejected;            /* decided, durable or not, in all passes */
    uint64_t rows_in_flight;      /* sent, and not answered */
    uint64_t rows_left_behind;    /* of this pass: read, never offered, when it stopped */
    uint64_t tainted_left_behind; /* of them: an earlier run may have sent them */
    uint64_t last_row;            /* likewise: that was offered */
    double rows_per_second;
    int64_t all_throttled_until_us; /* past: not all are */
    struct weir_pool_stats pool;
    uint64_t bytes_sent; /* once it is over */
    uint64_t reach;      /* that is durable */
    bool stopping;
    uint32_t requests_in_flight;
    uint32_t rows_chosen; /* of a request, now; 0: the plan says how many */

    /* The last of each; status WEIR_OK: none. */
    struct weir_error trouble; /* of the journal, the service, the way to it */
    struct weir_error refusal; /* of who we are, or of what we may do */
    struct weir_error broken_input;
    struct weir_error pool_refusal;
};

void weir_driver_view(struct weir_driver *driver, struct weir_driver_view *ret);

/* What a connection was last refused for. The caller frees it; NULL: for nothing. */
char *weir_driver_refusal(struct weir_driver *driver, uint32_t connection);

/* What requests take, for a later run. */
void weir_driver_sizes(struct weir_driver *driver, struct weir_sizes *ret);

/* What its policies have learned, into the journal for a later run. Whoever ends the job. */
void weir_driver_note_lessons(struct weir_driver *driver);

/* Seconds that the rest will take; negative: not known. */
double weir_driver_eta_s(struct weir_driver *driver, const struct weir_progress_view *rest);
void weir_driver_connection(struct weir_driver *driver, uint32_t connection,
                            struct weir_driver_connection *ret);

#endif
