/* SPDX-License-Identifier: MIT */
/*
 * The executor with a pool core in virtual time and answers that the test makes up. The clock is
 * rig.now_us, and the test moves it.
 *
 *     setup(2, 4);                       // connections, and what each may have in flight
 *     give(10);                          // a batch of ten rows
 *     struct weir_load *load = flight(); // the next request that leaves; must be there
 *     reply(load, CLASS(THROTTLE));      // … and its answer
 *     finish(0);                         // commit, run to the end, expect that exit code
 */
#ifndef WEIR_TESTS_EXECUTOR_RIG_H
#define WEIR_TESTS_EXECUTOR_RIG_H

#include "bulk/executor.h"
#include "support/rig.h"
#include "support/suite.h"

#define RECORDS_MAX 512
#define BATCHES_MAX 64

static struct rig rig;
static struct weir_executor executor;
static struct weir_plan plan;
static bool over;
static uint64_t last_record;       /* serial that was handed out last */
static enum weir_fate fates[2048]; /* by number of the row, as recorded */
static char messages[2048][64];
static struct weir_load *cancelled;
static uint64_t rows_made;
static uint64_t batches_made;
static uint32_t batches_returned;

static inline void setup(uint32_t connections, int level)
{
    /* Without forks one case follows on another in the same process. */
    over = false;
    last_record = rows_made = batches_made = batches_returned = 0;
    memset(fates, 0, sizeof(fates));
    memset(messages, 0, sizeof(messages));
    cancelled = NULL;
    rig_init(&rig, connections);
    rig.options.adaptive_rate.policy = "Fixed";
    rig.options.adaptive_rate.fixed_parallelism = level;
    rig.options.resilience.circuit_breaker.enabled = false;
    rig_start(&rig);
    plan = (struct weir_plan){
        .bulk = true,
        .singles_max = 20,
        .job_begun_wall_us = SECONDS(2000000000),
        .max_retry_time_us = MINUTES(10),
        .late_us = MINUTES(5),
        .read_back_us = SECONDS(10),
        .errors_max = UINT64_MAX,
        .memory_bytes_max = 1 << 20,
        .commit_wait_max = 1000,
    };
}

/* After the plan has been changed. */
static inline void start(void)
{
    weir_executor_init(&executor, &plan, &rig.core, 1, rig.now_us);
}

static inline void start_warm(void)
{
    start();
    executor.warm = true;
}

/* A batch of `count` rows that comes after two others (0: none), the first of which has this key
 * (0: none). Returns its serial. */
static inline uint64_t give_key_after_two(uint32_t count, uint64_t key, uint64_t after,
                                          uint64_t and_after)
{
    struct weir_batch *batch = weir_calloc(1, sizeof(*batch));
    uint64_t *serials = weir_calloc(2, sizeof(*serials));
    batch->serial = ++batches_made;
    batch->rows = weir_calloc(count, sizeof(*batch->rows));
    batch->row_count = count;
    batch->bytes = 1000;
    batch->after = serials;
    batch->after_count = and_after ? 2 : after ? 1 : 0;
    serials[0] = after;
    serials[1] = and_after;
    for (uint32_t i = 0; i < count; i++)
        batch->rows[i].number = ++rows_made;
    batch->rows[0].key_hash = key;
    weir_executor_offer(&executor, batch, rig.now_us);
    return batch->serial;
}

static inline uint64_t give_key_after(uint32_t count, uint64_t key, uint64_t after)
{
    return give_key_after_two(count, key, after, 0);
}

static inline uint64_t give_after(uint32_t count, uint64_t after)
{
    return give_key_after(count, 0, after);
}

static inline uint64_t give_key(uint32_t count, uint64_t key)
{
    return give_key_after(count, key, 0);
}

static inline uint64_t give(uint32_t count)
{
    return give_after(count, 0);
}

static inline void keep_record(const struct weir_receipt *record)
{
    last_record = record->serial;
    for (uint32_t i = 0; i < record->row_count; i++) {
        uint64_t number = weir_receipt_rows(record)[i].number;
        ck_assert_int_eq(fates[number], WEIR_FATE_OPEN);
        fates[number] = record->fate;
        if (record->fate == WEIR_FATE_REJECTED)
            snprintf(messages[number], sizeof(messages[number]), "%s",
                     weir_receipt_states(record)->error->message);
    }
}

static inline void take_back(struct weir_batch *batch)
{
    batches_returned++;
    free(batch->rows);
    free((void *)(uintptr_t)batch->after);
    free(batch);
}

/* The next request that wants to leave; NULL: none now. Everything else is seen to. */
static inline struct weir_load *boarding(void)
{
    struct weir_action action;
    for (;;) {
        weir_executor_next(&executor, rig.now_us, &action);
        if (action.kind == WEIR_ACTION_RECORD)
            keep_record(action.receipt);
        else if (action.kind == WEIR_ACTION_RETURN)
            take_back(action.batch);
        else if (action.kind == WEIR_ACTION_CANCEL)
            cancelled = action.flight;
        else if (action.kind == WEIR_ACTION_OVER)
            over = true;
        else
            return action.kind == WEIR_ACTION_SEND ? action.flight : NULL;
    }
}

/* The same, begun. */
static inline struct weir_load *try_flight(void)
{
    struct weir_load *load = boarding();
    if (load)
        ck_assert_int_eq(weir_executor_begin(&executor, load, rig.now_us), WEIR_OK);
    return load;
}

static inline struct weir_load *flight(void)
{
    struct weir_load *load = try_flight();
    ck_assert_msg(load != NULL, "nothing is sent");
    return load;
}

/* Nothing happens until a request leaves; time passes. */
static inline struct weir_load *flight_later(int64_t within_us)
{
    int64_t until_us = rig.now_us + within_us;
    for (;;) {
        struct weir_load *load = try_flight();
        if (load)
            return load;
        int64_t next_us = weir_executor_next_us(&executor);
        ck_assert_msg(next_us > rig.now_us && next_us <= until_us,
                      "nothing is sent in time: next in %ld us", (long)(next_us - rig.now_us));
        rig.now_us = next_us;
    }
}

/* --- answers --- */

static inline struct weir_verdict verdict(enum weir_class class_, enum weir_outcome outcome,
                                          int status)
{
    return (struct weir_verdict){
        .class_ = class_,
        .outcome = outcome,
        .http_status = status,
        .retry_after_us = class_ == WEIR_CLASS_THROTTLE ? SECONDS(5) : -1,
        .throttle = class_ == WEIR_CLASS_THROTTLE ? WEIR_THROTTLE_REQUESTS : WEIR_THROTTLE_NONE,
    };
}

#define OK_       verdict(WEIR_CLASS_OK, WEIR_OUTCOME_EXECUTED, 200)
#define THROTTLED verdict(WEIR_CLASS_THROTTLE, WEIR_OUTCOME_NOT_EXECUTED, 429)
#define SILENT    verdict(WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_UNKNOWN, 0)
#define BUSY      verdict(WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_NOT_EXECUTED, 503)
#define DEAF      verdict(WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_NOT_EXECUTED, 0)
#define RACE      verdict(WEIR_CLASS_RACE, WEIR_OUTCOME_NOT_EXECUTED, 400)
#define TOO_BIG   verdict(WEIR_CLASS_TOO_BIG, WEIR_OUTCOME_NOT_EXECUTED, 413)
#define BAD       verdict(WEIR_CLASS_BAD_ROWS, WEIR_OUTCOME_NOT_EXECUTED, 400)
#define FORBIDDEN verdict(WEIR_CLASS_PRIVILEGE, WEIR_OUTCOME_NOT_EXECUTED, 403)
#define REFUSED   verdict(WEIR_CLASS_BAD_CREDENTIALS, WEIR_OUTCOME_NOT_EXECUTED, 401)
#define OTHER     verdict(WEIR_CLASS_OTHER, WEIR_OUTCOME_NOT_EXECUTED, 400)

static inline struct weir_report whole(struct weir_verdict said, enum weir_fault_kind fault)
{
    return (struct weir_report){ .answer = { .verdict = said }, .fault = fault };
}

static inline void answer(struct weir_load *load, struct weir_report report)
{
    weir_executor_answered(&executor, load, &report, rig.now_us);
}

static inline void reply(struct weir_load *load, struct weir_verdict said)
{
    answer(load, whole(said, WEIR_FAULT_NONE));
}

static inline void reply_fault(struct weir_load *load, struct weir_verdict said,
                               enum weir_fault_kind fault)
{
    answer(load, whole(said, fault));
}

/* A report with an answer for each row: all ok, to be changed. Lives until the next one. */
static inline struct weir_report each(const struct weir_load *load)
{
    static struct weir_report_item items[1024];
    memset(items, 0, sizeof(items));
    for (uint32_t i = 0; i < load->row_count; i++) {
        items[i].verdict = OK_;
        items[i].created_wall_us = INT64_MIN;
    }
    return (struct weir_report){ .answer = { .verdict = OK_ },
                                 .items = items,
                                 .item_count = load->row_count };
}

static inline void say(struct weir_report *report, uint32_t i, struct weir_verdict said,
                       enum weir_fault_kind fault)
{
    static char text[] = "its own words";
    report->items[i].verdict = said;
    report->items[i].fault = fault;
    report->items[i].message = said.class_ == WEIR_CLASS_OK ? NULL : text;
}

/* Every row of a $batch alike. */
static inline void reply_each(struct weir_load *load, struct weir_verdict said,
                              enum weir_fault_kind fault)
{
    struct weir_report report = each(load);
    for (uint32_t i = 0; i < load->row_count; i++)
        say(&report, i, said, fault);
    answer(load, report);
}

static inline void reply_presence(struct weir_load *load, enum weir_presence presence,
                                  int64_t created_wall_us)
{
    struct weir_report report = each(load);
    for (uint32_t i = 0; i < load->row_count; i++) {
        report.items[i].presence = presence;
        report.items[i].created_wall_us = created_wall_us;
    }
    ck_assert_int_eq(load->mode, WEIR_LOAD_READ_BACK);
    answer(load, report);
}

/* --- the end --- */

static inline void commit(void)
{
    ck_assert_ptr_null(boarding());
    weir_executor_committed(&executor, last_record, rig.now_us);
}

static inline uint64_t rows_that_are(enum weir_fate fate)
{
    return executor.result.fates[fate];
}

/* Nothing is left to send: commit, see that it is over and balanced, and clean up. */
static inline void finish(int exit_code)
{
    weir_executor_end_of_input(&executor, rig.now_us);
    commit();
    ck_assert_ptr_null(boarding());
    ck_assert(over);
    ck_assert_uint_eq(executor.result.read, weir_result_ended(&executor.result));
    ck_assert_uint_eq(executor.result.read, rows_made);
    ck_assert_uint_eq(batches_returned, batches_made);
    ck_assert_uint_eq(rig.core.leases.count, 0);
    ck_assert_int_eq(weir_result_exit_code(&executor.result), exit_code);
    weir_executor_release(&executor);
    rig_release(&rig);
}

#endif
