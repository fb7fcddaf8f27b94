/* SPDX-License-Identifier: MIT */
/*
 * The driver's life and its turns; see driver.h.
 *
 *     woken, timer, answer ─▶ turn: what the journal and others say ─▶ batches for the executor
 *                                   ─▶ its actions until there are none ─▶ the timer is set again
 */
#include "bulk/driver.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "bulk/driver_parts.h"
#include "bulk/lessons.h"
#include "pool/blocking.h"

/* What the policies have learned is written down so often. */
#define LESSONS_EVERY_US (30 * WEIR_US_PER_S)

/* --- what happened elsewhere ------------------------------------------------------------------ */

void weir_driver_note_trouble(struct weir_driver *driver, const struct weir_error *err)
{
    uint32_t connection;
    if (err->status != WEIR_E_CREDENTIALS) {
        driver->trouble = *err;
        return;
    }
    driver->refusal = *err;
    if (!weir_core_find(&driver->core, err->connection, &connection))
        return;
    free(driver->refusals[connection]);
    driver->refusals[connection] = weir_strdup(err->message);
}

void weir_driver_hear_failure(struct weir_driver *driver, int64_t now_us)
{
    pthread_mutex_lock(&driver->failure_lock);
    bool failed = driver->failed;
    driver->failed = false;
    if (failed)
        driver->trouble = driver->failure;
    pthread_mutex_unlock(&driver->failure_lock);
    if (failed)
        weir_executor_journal_failed(&driver->executor, now_us);
}

static void hear_journal(struct weir_driver *driver, int64_t now_us)
{
    uint64_t serial = __atomic_load_n(&driver->durable_serial, __ATOMIC_ACQUIRE);
    uint64_t receipt = weir_scribe_durable(&driver->scribe, serial);
    if (receipt)
        weir_executor_committed(&driver->executor, receipt, now_us);
    weir_driver_hear_failure(driver, now_us);
}

static void hear_orders(struct weir_driver *driver, int64_t now_us)
{
    unsigned orders = __atomic_exchange_n(&driver->orders, 0, __ATOMIC_ACQ_REL);
    for (unsigned bit = 1; bit && bit <= orders; bit <<= 1) {
        if (orders & bit)
            weir_executor_stop(&driver->executor, (enum weir_end)bit, now_us);
    }
    bool stopping = driver->executor.stop_us != WEIR_FOREVER;
    if (!stopping && now_us >= driver->options.deadline_us)
        weir_executor_stop(&driver->executor, WEIR_END_LIMIT, now_us);
}

/* --- batches ---------------------------------------------------------------------------------- */

static uint64_t last_row_of(const struct weir_batch *batch)
{
    return batch->row_count ? batch->rows[batch->row_count - 1].number : 0;
}

/* The next one that may be sent: one beyond the reach is held until that is durable. */
static struct weir_batch *next_batch(struct weir_driver *driver)
{
    struct weir_batch *batch = driver->held ? driver->held : weir_intake_take(driver->pass.intake);
    driver->held = NULL;
    if (!batch)
        return NULL;
    uint64_t last = last_row_of(batch);
    weir_scribe_want_reach(&driver->scribe, last);
    if (last <= driver->scribe.reach)
        return batch;
    driver->held = batch;
    return NULL;
}

static void offer(struct weir_driver *driver, struct weir_batch *batch, int64_t now_us)
{
    uint64_t last = last_row_of(batch);
    driver->last_row = last > driver->last_row ? last : driver->last_row;
    weir_scribe_see(&driver->scribe, batch);
    weir_executor_offer(&driver->executor, batch, now_us);
}

static void hear_end_of_input(struct weir_driver *driver, int64_t now_us)
{
    enum weir_status status;
    struct weir_error err;
    if (driver->held || driver->executor.input_ended ||
        !weir_intake_ended(driver->pass.intake, &status, &err))
        return;
    if (status) {
        driver->broken_input = err;
        weir_executor_stop(&driver->executor, WEIR_END_INPUT, now_us);
        if (status == WEIR_E_DAMAGED)
            weir_executor_stop(&driver->executor, WEIR_END_DAMAGED, now_us);
    }
    weir_executor_end_of_input(&driver->executor, now_us);
}

static void take_input(struct weir_driver *driver, int64_t now_us)
{
    struct weir_batch *batch;
    struct weir_block block;
    while (weir_intake_take_block(driver->pass.intake, &block))
        weir_scribe_add_block(&driver->scribe, &block);
    while (weir_executor_wants(&driver->executor) && (batch = next_batch(driver)))
        offer(driver, batch, now_us);
    hear_end_of_input(driver, now_us);
}

/* Whoever reads may stop. */
static void turn_away(struct weir_driver *driver)
{
    if (driver->intake_closed || driver->executor.stop_us == WEIR_FOREVER)
        return;
    driver->intake_closed = true;
    if (driver->held) {
        driver->left_behind.rows += driver->held->row_count;
        for (uint32_t i = 0; i < driver->held->row_count; i++)
            driver->left_behind.tainted +=
                weir_row_may_be_sent(&driver->held->rows[i], driver->executor.plan.tainted_through);
        weir_intake_give_back(driver->pass.intake, driver->held, weir_loop_now_us(driver->loop));
        driver->held = NULL;
    }
    struct weir_intake_rows left = weir_intake_close(driver->pass.intake);
    driver->left_behind.rows += left.rows;
    driver->left_behind.tainted += left.tainted;
}

/* --- actions ---------------------------------------------------------------------------------- */

/* A request that was cancelled is read from until its end has come. */
static void give_back(struct weir_driver *driver)
{
    while (driver->returns && !driver->cancelled) {
        struct weir_batch *batch = driver->returns;
        driver->returns = batch->next;
        weir_intake_give_back(driver->pass.intake, batch, weir_loop_now_us(driver->loop));
    }
}

static bool act(struct weir_driver *driver, int64_t now_us)
{
    struct weir_action action;
    weir_executor_next(&driver->executor, now_us, &action);
    switch (action.kind) {
    case WEIR_ACTION_NONE:
        return false;
    case WEIR_ACTION_SEND:
        weir_flight_begin(driver, action.flight);
        break;
    case WEIR_ACTION_CANCEL:
        weir_flight_cancel(driver, action.flight);
        break;
    case WEIR_ACTION_RECORD:
        weir_scribe_add_receipt(&driver->scribe, action.receipt);
        break;
    case WEIR_ACTION_RETURN:
        weir_scribe_forget(&driver->scribe, action.batch);
        action.batch->next = driver->returns;
        driver->returns = action.batch;
        break;
    case WEIR_ACTION_OVER:
        driver->over = true;
        break;
    }
    return true;
}

/* The failure itself comes by weir_driver_journal_failed(). */
static void write_down(struct weir_driver *driver)
{
    struct weir_error err;
    if (driver->executor.result.ends & WEIR_END_JOURNAL)
        return;
    if (weir_scribe_write(&driver->scribe, &err) != WEIR_OK) {
        driver->trouble = err;
        weir_executor_journal_failed(&driver->executor, weir_loop_now_us(driver->loop));
    }
    if (driver->executor.input_ended && !driver->flights)
        weir_journal_hurry(driver->options.journal); /* no answer will come to fill the group */
}

static void note_lessons(struct weir_driver *driver, int64_t now_us)
{
    weir_lessons_note(&driver->core, driver->options.settings, driver->options.journal, now_us,
                      weir_clock_wall_us());
    driver->lessons_us = weir_time_add(now_us, LESSONS_EVERY_US);
}

static void set_timer(struct weir_driver *driver)
{
    int64_t next_us = weir_executor_next_us(&driver->executor);
    if (driver->executor.stop_us == WEIR_FOREVER && driver->options.deadline_us < next_us)
        next_us = driver->options.deadline_us;
    if (next_us == WEIR_FOREVER)
        weir_timer_stop(&driver->timer);
    else
        weir_timer_set(&driver->timer, next_us);
}

static uint64_t bytes_sent(const struct weir_driver *driver)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < driver->options.client->link_count; i++) {
        struct weir_transport_stats stats;
        if (!driver->options.client->links[i].transport)
            continue;
        weir_transport_stats(driver->options.client->links[i].transport, &stats);
        bytes += stats.bytes_sent;
    }
    return bytes;
}

static void tell_over(struct weir_driver *driver)
{
    if (!driver->over || driver->flights || driver->over_told)
        return;
    driver->over_told = true;
    driver->bytes_sent = bytes_sent(driver) - driver->bytes_before;
    weir_timer_stop(&driver->timer);
    driver->options.over(driver->options.ctx);
}

static uint64_t rows_ended(const struct weir_driver *driver)
{
    const uint64_t *fates = driver->executor.result.fates;
    return driver->ended_before + fates[WEIR_FATE_DONE] + fates[WEIR_FATE_ABSENT] +
           fates[WEIR_FATE_SKIPPED] + fates[WEIR_FATE_REJECTED];
}

/* Whatever can be done now. */
static void turn(struct weir_driver *driver)
{
    int64_t now_us = weir_loop_now_us(driver->loop);
    if (driver->over_told)
        return;
    hear_journal(driver, now_us);
    hear_orders(driver, now_us);
    bool more = true;
    while (more) {
        take_input(driver, now_us);
        more = act(driver, now_us);
        turn_away(driver);
    }
    write_down(driver);
    while (act(driver, now_us)) /* a failure to write may be the end of everything */
        turn_away(driver);
    give_back(driver);
    if (now_us >= driver->lessons_us)
        note_lessons(driver, now_us);
    weir_progress_note(&driver->progress, rows_ended(driver), now_us);
    if (!driver->over)
        set_timer(driver);
}

/* --- coming and going ------------------------------------------------------------------------- */

#define EVENTS_AT_ONCE 8

static size_t take_events(struct weir_driver *driver, struct weir_pool_event events[EVENTS_AT_ONCE])
{
    size_t count = 0;
    while (count < EVENTS_AT_ONCE && weir_core_event(&driver->core, &events[count]))
        count++;
    return count;
}

/* A sink may ask for the progress of its job: nobody is told anything under the lock. */
static void log_events(struct weir_driver *driver)
{
    const struct weir_log_sink *sink = &driver->options.client->sink;
    struct weir_pool_event events[EVENTS_AT_ONCE];
    for (size_t count; (count = take_events(driver, events)) > 0;) {
        pthread_mutex_unlock(&driver->lock);
        for (size_t i = 0; i < count; i++)
            weir_pool_event_log(&events[i], sink);
        pthread_mutex_lock(&driver->lock);
    }
}

void weir_driver_enter(struct weir_driver *driver)
{
    pthread_mutex_lock(&driver->lock);
}

void weir_driver_leave(struct weir_driver *driver)
{
    if (driver->started)
        turn(driver);
    log_events(driver);
    tell_over(driver);
    pthread_mutex_unlock(&driver->lock);
}

/* --- being woken ------------------------------------------------------------------------------ */

static void on_wake(struct weir_task *task)
{
    struct weir_driver *driver =
        (struct weir_driver *)((char *)task - offsetof(struct weir_driver, wake));
    __atomic_store_n(&driver->wake_posted, false, __ATOMIC_SEQ_CST);
    weir_driver_enter(driver);
    weir_driver_leave(driver);
}

static void on_timer(struct weir_timer *timer)
{
    struct weir_driver *driver =
        (struct weir_driver *)((char *)timer - offsetof(struct weir_driver, timer));
    weir_driver_enter(driver);
    weir_driver_leave(driver);
}

void weir_driver_wake(struct weir_driver *driver)
{
    if (!__atomic_exchange_n(&driver->wake_posted, true, __ATOMIC_SEQ_CST))
        weir_loop_post(driver->loop, &driver->wake);
}

void weir_driver_stop(struct weir_driver *driver, enum weir_end why)
{
    __atomic_fetch_or(&driver->orders, (unsigned)why, __ATOMIC_ACQ_REL);
    weir_driver_wake(driver);
}

void weir_driver_durable(void *ctx, uint64_t serial)
{
    struct weir_driver *driver = ctx;
    __atomic_store_n(&driver->durable_serial, serial, __ATOMIC_RELEASE);
    weir_driver_wake(driver);
}

void weir_driver_journal_failed(void *ctx, const struct weir_error *err)
{
    struct weir_driver *driver = ctx;
    pthread_mutex_lock(&driver->failure_lock);
    driver->failed = true;
    driver->failure = *err;
    pthread_mutex_unlock(&driver->failure_lock);
    weir_driver_wake(driver);
}

/* --- beginning and end ------------------------------------------------------------------------ */

static enum weir_status begin_pass(struct weir_driver *driver, const struct weir_driver_pass *pass,
                                   struct weir_error *err)
{
    weir_scribe_begin_pass(&driver->scribe, pass->plan, pass->reach);
    driver->pass = *pass;
    return pass->view ? weir_scribe_recall(&driver->scribe, pass->view, err) : WEIR_OK;
}

/* What the client was told while the run was prepared is as good as told to the run. */
static void inherit(struct weir_driver *driver)
{
    weir_pool_bequeath(driver->options.client->pool, driver->options.throttles_before,
                       &driver->core);
    driver->refusals = weir_calloc(driver->core.count, sizeof(*driver->refusals));
    for (uint32_t i = 0; i < driver->core.count; i++) {
        if (driver->core.connections[i].set_aside)
            driver->refusals[i] = weir_client_loss(driver->options.client, i);
        const struct weir_throttle_counts *counts = &driver->core.connections[i].throttles;
        struct weir_connection_result *result = &driver->executor.result.connections[i];
        for (int kind = 0; kind <= WEIR_THROTTLE_OTHER; kind++) {
            result->throttles += counts->of_kind[kind];
            result->throttles_by_kind[kind] += counts->of_kind[kind];
        }
    }
}

enum weir_status weir_driver_new(const struct weir_driver_options *options,
                                 struct weir_driver **ret, struct weir_error *err)
{
    uint64_t seed = weir_rng_system_seed();
    int64_t now_us = weir_clock_now_us();
    struct weir_driver *driver = weir_calloc(1, sizeof(*driver));
    driver->options = *options;
    driver->loop = options->client->loop;
    driver->wake.run = on_wake;
    enum weir_status status =
        weir_core_init(&driver->core, options->settings, NULL, seed, true, err);
    if (status) {
        free(driver);
        return status;
    }
    weir_executor_init(&driver->executor, options->pass.plan, &driver->core, seed, now_us);
    inherit(driver);
    if (options->sizes)
        driver->executor.sizes = *options->sizes;
    if (options->pass.view)
        weir_lessons_recall(&driver->core, options->settings, options->journal, now_us,
                            weir_clock_wall_us());
    driver->lessons_us = weir_time_add(now_us, LESSONS_EVERY_US);
    weir_scribe_init(&driver->scribe, options->journal, options->settings);
    weir_progress_init(&driver->progress, now_us);
    pthread_mutex_init(&driver->lock, NULL);
    pthread_mutex_init(&driver->failure_lock, NULL);
    pthread_cond_init(&driver->released, NULL);
    status = begin_pass(driver, &options->pass, err);
    if (status)
        weir_driver_free(driver);
    else
        *ret = driver;
    return status;
}

static void on_start(struct weir_task *task)
{
    struct weir_driver *driver =
        (struct weir_driver *)((char *)task - offsetof(struct weir_driver, start));
    weir_driver_enter(driver);
    weir_timer_init(&driver->timer, driver->loop, on_timer);
    driver->bytes_before = bytes_sent(driver);
    driver->started = true;
    weir_driver_leave(driver);
}

void weir_driver_start(struct weir_driver *driver)
{
    driver->start.run = on_start;
    weir_loop_post(driver->loop, &driver->start);
}

enum weir_status weir_driver_next_pass(struct weir_driver *driver,
                                       const struct weir_driver_pass *pass, struct weir_error *err)
{
    pthread_mutex_lock(&driver->lock);
    uint64_t ended = rows_ended(driver);
    enum weir_status status = begin_pass(driver, pass, err);
    if (!status) {
        weir_executor_next_pass(&driver->executor, pass->plan, weir_clock_now_us());
        driver->ended_before = ended;
        driver->last_row = 0;
        driver->left_behind = (struct weir_intake_rows){ 0 };
        driver->over = false;
        driver->over_told = false;
    }
    pthread_mutex_unlock(&driver->lock);
    if (!status)
        weir_driver_wake(driver);
    return status;
}

/* Comes after every wake that was posted before it. */
static void on_farewell(struct weir_task *task)
{
    struct weir_driver *driver =
        (struct weir_driver *)((char *)task - offsetof(struct weir_driver, farewell));
    weir_timer_release(&driver->timer);
    pthread_mutex_lock(&driver->lock);
    driver->is_released = true;
    pthread_cond_signal(&driver->released);
    pthread_mutex_unlock(&driver->lock);
}

static void leave_loop(struct weir_driver *driver)
{
    driver->farewell.run = on_farewell;
    weir_loop_post(driver->loop, &driver->farewell);
    pthread_mutex_lock(&driver->lock);
    while (!driver->is_released)
        pthread_cond_wait(&driver->released, &driver->lock);
    pthread_mutex_unlock(&driver->lock);
}

void weir_driver_free(struct weir_driver *driver)
{
    if (!driver)
        return;
    leave_loop(driver);
    weir_executor_release(&driver->executor);
    weir_scribe_release(&driver->scribe);
    for (uint32_t i = 0; i < driver->core.count; i++)
        free(driver->refusals[i]);
    free(driver->refusals);
    weir_core_release(&driver->core);
    pthread_cond_destroy(&driver->released);
    pthread_mutex_destroy(&driver->failure_lock);
    pthread_mutex_destroy(&driver->lock);
    free(driver);
}

void weir_driver_note_lessons(struct weir_driver *driver)
{
    pthread_mutex_lock(&driver->lock);
    note_lessons(driver, weir_clock_now_us());
    pthread_mutex_unlock(&driver->lock);
}

/* --- looking ---------------------------------------------------------------------------------- */

void weir_driver_view(struct weir_driver *driver, struct weir_driver_view *ret)
{
    int64_t now_us = weir_clock_now_us();
    int64_t reopening_us = 0;
    pthread_mutex_lock(&driver->lock);
    const struct weir_executor *executor = &driver->executor;
    bool open = weir_core_any_open(&driver->core, now_us, &reopening_us);
    *ret = (struct weir_driver_view){
        .result = executor->result,
        .rejected = executor->rejected,
        .rows_in_flight = weir_loads_flying_rows(&executor->loads),
        .rows_left_behind = driver->left_behind.rows,
        .tainted_left_behind = driver->left_behind.tainted,
        .last_row = driver->last_row,
        .rows_per_second = weir_progress_rate(&driver->progress, now_us),
        .all_throttled_until_us = open || reopening_us == WEIR_FOREVER ? 0 : reopening_us,
        .bytes_sent = driver->bytes_sent,
        .reach = driver->scribe.reach,
        .stopping = executor->stop_us != WEIR_FOREVER,
        .requests_in_flight = driver->flights,
        .rows_chosen = weir_executor_rows_chosen(executor),
        .trouble = driver->trouble,
        .refusal = driver->refusal,
        .broken_input = driver->broken_input,
        .pool_refusal = executor->refusal,
    };
    ret->result.connections = NULL;
    weir_core_stats(&driver->core, now_us, &ret->pool);
    pthread_mutex_unlock(&driver->lock);
}

char *weir_driver_refusal(struct weir_driver *driver, uint32_t connection)
{
    pthread_mutex_lock(&driver->lock);
    const char *words = driver->refusals[connection];
    char *copy = words ? weir_strdup(words) : NULL;
    pthread_mutex_unlock(&driver->lock);
    return copy;
}

void weir_driver_sizes(struct weir_driver *driver, struct weir_sizes *ret)
{
    pthread_mutex_lock(&driver->lock);
    *ret = driver->executor.sizes;
    pthread_mutex_unlock(&driver->lock);
}

double weir_driver_eta_s(struct weir_driver *driver, const struct weir_progress_view *rest)
{
    pthread_mutex_lock(&driver->lock);
    double eta_s = weir_progress_eta_s(&driver->progress, rest, weir_clock_now_us());
    pthread_mutex_unlock(&driver->lock);
    return eta_s;
}

void weir_driver_connection(struct weir_driver *driver, uint32_t connection,
                            struct weir_driver_connection *ret)
{
    int64_t now_us = weir_clock_now_us();
    pthread_mutex_lock(&driver->lock);
    struct weir_core *core = &driver->core;
    const struct weir_connection *it = &core->connections[connection];
    bool is_open = weir_breaker_state(&it->breaker, now_us) == WEIR_BREAKER_OPEN;
    *ret = (struct weir_driver_connection){
        .result = driver->executor.result.connections[connection],
        .in_flight = it->in_flight,
        .cap = it->set_aside ? 0 : weir_core_cap(core, connection, now_us),
        .reopening_us = weir_core_reopening_us(core, connection),
        .backoff_us = weir_core_backoff_us(core, connection, now_us),
        .set_aside = it->set_aside,
        .breaker_until_us = is_open ? it->breaker.until_us : 0,
        .requests_budget = it->requests_budget,
        .execution_budget = it->execution_budget,
    };
    weir_core_rate_stats(core, connection, now_us, &ret->rate);
    ret->rate.total_throttle_events = ret->result.throttles; /* the policy has not seen all */
    pthread_mutex_unlock(&driver->lock);
}
