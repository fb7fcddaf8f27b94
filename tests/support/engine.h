/* SPDX-License-Identifier: MIT */
/*
 * The engine in virtual time: the executor and the pool's core on one side, the simulated service
 * on the other, real bytes in between, and a driver that does in virtual time what sockets, reader
 * and journal do in real time.
 *
 *     rows ─▶ batches ─▶ executor ─▶ flight: TOKEN ─▶ VISIT (inside the service) ─▶ ANSWER
 *                            │
 *                            └─▶ records ─▶ durable, some time later
 *
 * A *run* is one process: engine_run() begins one and ends it when the executor is over or at a
 * moment at which it is killed. What survives is what was durable, and the service.
 */
#ifndef WEIR_TESTS_ENGINE_H
#define WEIR_TESTS_ENGINE_H

#include "support/engine_state.h"

/* --- the way to the service ------------------------------------------------------------------- */

static inline void engine_log_in(uint32_t user)
{
    int64_t at_us = now;
    log_in(user);
    now = at_us;
}

static inline struct engine_flight *engine_free_flight(void)
{
    for (uint32_t i = 0; i < ENGINE_FLIGHTS_MAX; i++) {
        if (engine.flights[i].stage == ENGINE_FREE)
            return &engine.flights[i];
    }
    ck_abort_msg("WEIR_SEED=%lu: too many flights", (unsigned long)engine.seed);
}

static inline void engine_end_flight(struct engine_flight *flight)
{
    sim_answer_release(&flight->answer);
    *flight = (struct engine_flight){ .stage = ENGINE_FREE };
}

/* A token that was refused is replaced; it counts once, however many requests had it. */
static inline void engine_spurn(const struct engine_flight *flight)
{
    uint32_t user = flight->connection;
    if (flight->token_serial != engine.token_serials[user])
        return;
    engine_log_in(user);
    engine.token_serials[user]++;
    engine.spurned[user]++;
}

/* The rows of a load set out. */
static inline void engine_count_attempt(const struct engine_flight *flight)
{
    for (uint32_t i = 0; flight->mode != WEIR_LOAD_READ_BACK && i < flight->row_count; i++)
        engine.rows[weir_load_row(flight->load, i)->number].attempts++;
}

/* Those that were turned back, with all of it or by themselves, have not been tried. */
static inline void engine_count_refusals(const struct engine_flight *flight,
                                         const struct weir_report *report)
{
    bool all = report->answer.verdict.outcome == WEIR_OUTCOME_NOT_EXECUTED;
    for (uint32_t i = 0; flight->mode != WEIR_LOAD_READ_BACK && i < flight->row_count; i++) {
        bool own = report->items && i < report->item_count &&
                   report->items[i].verdict.outcome == WEIR_OUTCOME_NOT_EXECUTED;
        engine.rows[weir_load_row(flight->load, i)->number].attempts -= all || own;
    }
}

/* Tell the executor what came of it; the flight may go on inside the service without anybody. */
static inline void engine_report(struct engine_flight *flight,
                                 const struct weir_report_exchange *exchange)
{
    struct weir_report report;
    weir_report_read(exchange, flight->mode, engine.requests.table,
                     engine.plan.operation == WEIR_OPERATION_CREATE, flight->row_count, &report);
    if (exchange->status == 401) {
        engine_spurn(flight);
        report.broken = engine.spurned[flight->connection] >= 2;
        engine.broken |= report.broken;
    } else if (exchange->status) {
        engine.spurned[flight->connection] = 0;
    }
    if (exchange->sent)
        engine_count_refusals(flight, &report);
    engine_note((uint64_t)exchange->status + 1000 * (uint64_t)report.item_count);
    weir_executor_answered(&engine.executor, flight->load, &report, now);
    weir_report_release(&report);
    flight->load = NULL;
}

static inline void engine_break(struct engine_flight *flight, bool sent, bool timed_out)
{
    struct weir_report_exchange exchange = {
        .sent = sent,
        .timed_out = timed_out,
        .duration_us = now - flight->begun_us,
    };
    engine_report(flight, &exchange);
}

/* Hand the bytes to the service. */
static inline void engine_enter(struct engine_flight *flight, const struct sim_http_request *http)
{
    struct sim_http_request head = *http;
    head.body = weir_str(NULL, 0);
    if (sim_world_head(world, &head, now, &flight->delivery)) {
        flight->stage = ENGINE_ANSWER;
        flight->at_us = now + WEIR_US_PER_MS;
        return;
    }
    flight->visit = sim_world_arrive(world, http, now, WALL + now);
    flight->stage = ENGINE_VISIT;
    flight->at_us = sim_visit_due_us(flight->visit);
    if (flight->at_us < now)
        flight->at_us = now;
}

static inline size_t engine_headers(const struct weir_request_lines *lines, uint32_t user,
                                    struct sim_header *headers)
{
    size_t count = 0;
    for (size_t i = 0; i < lines->count; i++) {
        const char *colon = strchr(lines->lines[i], ':');
        headers[count].name = weir_str(lines->lines[i], (size_t)(colon - lines->lines[i]));
        headers[count++].value = weir_str_trim(weir_str_from(colon + 1));
    }
    headers[count++] =
        (struct sim_header){ weir_str_from("Authorization"), weir_str_from(tokens[user]) };
    return count;
}

static inline char *engine_join(const struct weir_gather *body)
{
    char *text = weir_calloc(body->bytes + 1, 1);
    size_t at = 0;
    for (size_t i = 0; i < body->count; i++) {
        memcpy(text + at, body->slices[i].ptr, body->slices[i].len);
        at += body->slices[i].len;
    }
    return text;
}

static inline void engine_send(struct engine_flight *flight)
{
    struct weir_load_request request;
    struct weir_error err;
    struct sim_header headers[WEIR_REQUEST_LINES_MAX + 1];
    char boundary[40];
    snprintf(boundary, sizeof(boundary), "batch_%016lx", (unsigned long)weir_rng_u64(&engine.rng));
    if (weir_load_request_init(&request, flight->load, &engine.requests, weir_str_from(boundary),
                               &err) != WEIR_OK)
        ck_abort_msg("WEIR_SEED=%lu: %s", (unsigned long)engine.seed, err.message);
    char *body = engine_join(request.body);
    struct sim_http_request http = {
        .method = weir_str_from("POST"),
        .target = weir_str(weir_buf_text(&request.path), request.path.len),
        .headers = headers,
        .header_count = engine_headers(&request.lines, flight->connection, headers),
        .body = weir_str(body, request.body->bytes),
    };
    engine_note(weir_str_hash(http.body));
    engine_enter(flight, &http);
    free(body);
    weir_load_request_release(&request);
}

/* The token is there: the request leaves, if it may. */
static inline void engine_depart(struct engine_flight *flight)
{
    enum weir_status status = weir_executor_begin(&engine.executor, flight->load, now);
    engine_note(status);
    INVARIANT(status != WEIR_OK || engine.may_send);
    if (status != WEIR_OK) {
        engine_end_flight(flight);
        return;
    }
    for (uint32_t i = 0; i < flight->row_count; i++)
        INVARIANT(!weir_load_row(flight->load, i)->idle);
    uint64_t last = weir_load_row(flight->load, flight->row_count - 1)->number;
    engine.reached = last > engine.reached ? last : engine.reached;
    flight->begun_us = now;
    flight->token_serial = engine.token_serials[flight->connection];
    flight->timeout_us = now + engine.request_timeout_us;
    if (!engine_chance(engine.unreachable)) {
        engine_count_attempt(flight);
        engine_send(flight);
        return;
    }
    engine_break(flight, false, false);
    engine_end_flight(flight);
}

static inline void engine_leave(struct engine_flight *flight)
{
    sim_world_finish(world, flight->visit, now, WALL + now, &flight->answer, &flight->delivery);
    flight->visit = NULL;
    flight->stage = ENGINE_ANSWER;
    flight->at_us = now + WEIR_US_PER_MS;
    if (flight->delivery.kind == SIM_STALL || flight->delivery.kind == SIM_SILENCE)
        flight->at_us += flight->delivery.stall_us;
}

/* "Name: value\r\n" lines as the transport would hand them out; the text is taken apart. */
static inline size_t engine_split(char *text, struct weir_http_header *headers, size_t max)
{
    size_t count = 0;
    while (text && *text && count < max) {
        char *end_of_line = strstr(text, "\r\n");
        char *colon = strchr(text, ':');
        *end_of_line = '\0';
        *colon = '\0';
        headers[count++] = (struct weir_http_header){ text, colon + 2 };
        text = end_of_line + 2;
    }
    return count;
}

static inline void engine_deliver(struct engine_flight *flight)
{
    struct weir_http_header headers[64];
    bool whole = flight->delivery.kind == SIM_DELIVER || flight->delivery.kind == SIM_STALL;
    if (!flight->load) {
        engine_end_flight(flight);
        return;
    }
    if (!whole) {
        engine_break(flight, true, false);
        engine_end_flight(flight);
        return;
    }
    struct weir_report_exchange exchange = {
        .status = flight->answer.status,
        .sent = true,
        .headers = headers,
        .header_count = engine_split(flight->answer.headers.ptr, headers, 64),
        .body = weir_str(weir_buf_text(&flight->answer.body), flight->answer.body.len),
        .duration_us = now - flight->begun_us,
        .ttfb_us = now - flight->begun_us,
    };
    engine_report(flight, &exchange);
    engine_end_flight(flight);
}

static inline void engine_step_flight(struct engine_flight *flight)
{
    if (flight->load && flight->stage != ENGINE_TOKEN && now >= flight->timeout_us &&
        flight->at_us > now) {
        engine_break(flight, true, true);
        if (!flight->visit)
            engine_end_flight(flight);
    } else if (now < flight->at_us) {
        return;
    } else if (flight->stage == ENGINE_TOKEN) {
        engine_depart(flight);
    } else if (flight->stage == ENGINE_VISIT) {
        engine_leave(flight);
    } else if (flight->stage == ENGINE_ANSWER) {
        engine_deliver(flight);
    }
}

static inline int64_t engine_flights_us(void)
{
    int64_t next = WEIR_FOREVER;
    for (uint32_t i = 0; i < ENGINE_FLIGHTS_MAX; i++) {
        const struct engine_flight *flight = &engine.flights[i];
        if (flight->stage == ENGINE_FREE)
            continue;
        if (flight->at_us < next)
            next = flight->at_us;
        if (flight->load && flight->stage != ENGINE_TOKEN && flight->timeout_us < next)
            next = flight->timeout_us;
    }
    return next;
}

/* --- the journal ------------------------------------------------------------------------------ */

static inline void engine_make_durable(void)
{
    for (uint32_t i = 0; i < engine.record_count; i++) {
        const struct engine_record *record = &engine.records[i];
        for (uint32_t n = 0; n < record->count; n++) {
            struct engine_row *row = &engine.rows[record->first + n];
            INVARIANT(row->durable == WEIR_FATE_OPEN); /* a row ends once */
            row->durable = record->fate;
        }
    }
}

static inline void engine_write(const struct weir_receipt *record)
{
    INVARIANT(engine.record_count < ENGINE_RECORDS_MAX && !engine.journal_lost);
    INVARIANT(record->fate != WEIR_FATE_REJECTED || weir_receipt_states(record)->error);
    engine.records[engine.record_count++] =
        (struct engine_record){ record->serial, weir_receipt_rows(record)->number,
                                record->row_count, record->fate };
    if (engine.commit_us == WEIR_FOREVER)
        engine.commit_us = now + (int64_t)engine_pick(50000);
    engine_note(record->serial * 8 + record->fate);
}

static inline void engine_commit(void)
{
    engine.commit_us = WEIR_FOREVER;
    if (engine_chance(engine.journal_loss)) {
        engine.record_count = 0;
        engine.may_send = false;
        engine.journal_lost = true;
        weir_executor_journal_failed(&engine.executor, now);
        return;
    }
    engine_make_durable();
    uint64_t serial = engine.records[engine.record_count - 1].serial;
    engine.record_count = 0;
    weir_executor_committed(&engine.executor, serial, now);
}

/* --- a run ------------------------------------------------------------------------------------ */

static inline void engine_take_off(struct weir_load *load)
{
    struct engine_flight *flight = engine_free_flight();
    *flight = (struct engine_flight){
        .stage = ENGINE_TOKEN,
        .load = load,
        .mode = load->mode,
        .row_count = load->row_count,
        .connection = load->lease.connection,
        .at_us = now + (engine_pick(10) ? 0 : (int64_t)engine_pick(3000000)),
    };
    sim_answer_init(&flight->answer);
    INVARIANT(engine.may_send);
    engine_note(load->row_count + 100 * (uint64_t)load->mode);
}

static inline void engine_forget(const struct weir_load *load)
{
    for (uint32_t i = 0; i < ENGINE_FLIGHTS_MAX; i++) {
        struct engine_flight *flight = &engine.flights[i];
        if (flight->stage == ENGINE_FREE || flight->load != load)
            continue;
        flight->load = NULL;
        if (flight->stage == ENGINE_TOKEN)
            engine_end_flight(flight);
    }
}

/*
 * Up to which row a next run has to reckon with requests of the earlier ones: none if the last run
 * was over, had read all that those before it had sent, and left nothing unknown.
 */
static inline uint64_t engine_tainted_through(void)
{
    bool clean = engine.over && !engine.journal_lost &&
                 engine.result.fates[WEIR_FATE_UNKNOWN] == 0 &&
                 engine.cursor > engine.plan.tainted_through;
    return clean ? 0 : engine.reached + engine_pick(5);
}

static inline void engine_act(void)
{
    for (;;) {
        struct weir_action action;
        engine_feed();
        weir_executor_next(&engine.executor, now, &action);
        engine_note(action.kind);
        if (action.kind == WEIR_ACTION_NONE)
            return;
        if (action.kind == WEIR_ACTION_SEND)
            engine_take_off(action.flight);
        else if (action.kind == WEIR_ACTION_CANCEL)
            engine_forget(action.flight);
        else if (action.kind == WEIR_ACTION_RECORD)
            engine_write(action.receipt);
        else if (action.kind == WEIR_ACTION_OVER)
            engine.over = true;
        else {
            engine.batches_out--;
            free(action.batch);
        }
    }
}

static inline void engine_start(uint64_t seed)
{
    rig_init(&engine.rig, engine.connections);
    engine.rig.options.adaptive_rate.policy = engine.policy;
    engine.rig.options.adaptive_rate.fixed_parallelism = 3;
    rig_start_with(&engine.rig, seed);
    weir_executor_init(&engine.executor, &engine.plan, &engine.rig.core, seed, now);
    engine.cursor = 1;
    engine.batch_serial = 0;
    memset(engine.last_batch_of, 0, sizeof(engine.last_batch_of));
    memset(engine.spurned, 0, sizeof(engine.spurned));
    engine.batches_out = 0;
    engine.record_count = 0;
    engine.commit_us = WEIR_FOREVER;
    engine.read = 0;
    engine.may_send = true;
    engine.journal_lost = false;
    engine.over = false;
}

static inline void engine_check_result(void)
{
    const struct weir_result *result = &engine.executor.result;
    INVARIANT(result->read == engine.read);
    INVARIANT(weir_result_ended(result) == result->read); /* UNBALANCED */
    INVARIANT(engine.batches_out == 0);                   /* every batch was handed back */
    INVARIANT(engine.record_count == 0);
    INVARIANT(engine.rig.core.leases.count == 0);
    engine.result = *result;
}

/* The process is gone; the requests that it sent are not. */
static inline void engine_die(void)
{
    if (engine.over)
        engine_check_result();
    for (uint32_t i = 0; i < ENGINE_FLIGHTS_MAX; i++) {
        struct engine_flight *flight = &engine.flights[i];
        flight->load = NULL;
        if (flight->stage == ENGINE_TOKEN)
            engine_end_flight(flight);
    }
    struct weir_batch *returns = engine.executor.returns;
    while (returns) {
        struct weir_batch *next = returns->next;
        weir_batch_close(returns);
        free(returns);
        returns = next;
    }
    engine.executor.returns = NULL;
    struct weir_batch *live[ENGINE_ROWS_MAX];
    uint32_t live_count = engine.executor.live_count;
    for (uint32_t i = 0; i < live_count; i++)
        live[i] = engine.executor.live[i];
    weir_executor_release(&engine.executor);
    for (uint32_t i = 0; i < live_count; i++)
        free(live[i]);
    rig_release(&engine.rig);
    engine.record_count = 0;
    engine.commit_us = WEIR_FOREVER;
}

static inline void engine_advance(int64_t to_us)
{
    if (to_us > now)
        now = to_us;
    sim_world_turn(world, now, WALL + now);
    for (uint32_t i = 0; i < ENGINE_FLIGHTS_MAX; i++) {
        if (engine.flights[i].stage != ENGINE_FREE)
            engine_step_flight(&engine.flights[i]);
    }
    if (now >= engine.commit_us)
        engine_commit();
}

/* A process from its start to its end, or until it is killed. True: it was over. */
static inline bool engine_run(uint64_t seed, int64_t kill_us, int64_t interrupt_us)
{
    engine_start(seed);
    for (uint32_t steps = 0; !engine.over; steps++) {
        INVARIANT(steps < ENGINE_STEPS_MAX); /* it does not spin */
        engine_act();
        if (engine.over)
            break;
        int64_t next = weir_executor_next_us(&engine.executor);
        int64_t flights = engine_flights_us();
        int64_t late = sim_world_turn(world, now, WALL + now);
        next = flights < next ? flights : next;
        next = late < next ? late : next;
        next = engine.commit_us < next ? engine.commit_us : next;
        next = interrupt_us < next ? interrupt_us : next;
        INVARIANT(next != WEIR_FOREVER); /* it does not hang */
        if (next > kill_us) {
            engine_advance(kill_us);
            break;
        }
        engine_advance(next);
        if (now >= interrupt_us) {
            interrupt_us = WEIR_FOREVER;
            engine.may_send = false;
            weir_executor_stop(&engine.executor, WEIR_END_INTERRUPT, now);
        }
    }
    bool was_over = engine.over;
    if (!was_over && engine.record_count && engine_chance(0.5))
        engine_make_durable(); /* written, but nobody was told */
    engine_die();
    return was_over;
}

/* Time passes without a process: what is inside the service comes to its end. */
static inline void engine_rest(int64_t span_us)
{
    int64_t until_us = now + span_us;
    for (;;) {
        int64_t next = engine_flights_us();
        int64_t late = sim_world_turn(world, now, WALL + now);
        next = late < next ? late : next;
        if (next >= until_us)
            break;
        engine_advance(next);
    }
    engine_advance(until_us);
}

#endif
