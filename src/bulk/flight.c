/* SPDX-License-Identifier: MIT */
/*
 * One load on its way; see driver_parts.h.
 *
 *     token ─▶ request built ─▶ lease begun ─▶ sent ─▶ answer, told to the executor
 *       └ none: unsent             └ stale: the load is back in line
 *
 * A flight that the executor has forgotten goes on until its callback comes, and is told to nobody.
 */
#include <stdio.h>

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "bulk/driver_parts.h"
#include "throttle/attempt.h"

static void end_flight(struct weir_flight *flight)
{
    struct weir_driver *driver = flight->driver;
    driver->flights--;
    driver->cancelled -= flight->load == NULL;
    weir_load_request_release(&flight->request);
    free(flight);
}

/* --- the answer ------------------------------------------------------------------------------- */

static int64_t span_us(int64_t from_us, int64_t to_us)
{
    return from_us && to_us > from_us ? to_us - from_us : 0;
}

static void note_failure(struct weir_driver *driver, const struct weir_flight *flight,
                         const struct weir_call_answer *answer)
{
    struct weir_error err;
    const struct weir_verdict *verdict = &answer->answer.verdict;
    const char *words = answer->fault.message[0] ? answer->fault.message : answer->exchange->detail;
    if (verdict->class_ == WEIR_CLASS_OK || verdict->class_ == WEIR_CLASS_THROTTLE)
        return;
    bool forbidden =
        verdict->class_ == WEIR_CLASS_BAD_CREDENTIALS || verdict->class_ == WEIR_CLASS_PRIVILEGE;
    weir_fail(&err, forbidden ? WEIR_E_CREDENTIALS : WEIR_E_UNAVAILABLE, "%s%s%s",
              weir_verdict_cause(verdict).text, words[0] ? ": " : "", words);
    weir_error_set_connection(&err, flight->link->name);
    err.http_status = verdict->http_status;
    err.service_code = verdict->code;
    weir_driver_note_trouble(driver, &err);
}

/* Of rows that were told one by one, what forbids them. */
static void note_denial(struct weir_driver *driver, const struct weir_flight *flight,
                        const struct weir_report *report)
{
    for (uint32_t i = 0; i < report->item_count; i++) {
        const struct weir_report_item *item = &report->items[i];
        struct weir_error err;
        if (item->verdict.class_ != WEIR_CLASS_PRIVILEGE &&
            item->verdict.class_ != WEIR_CLASS_BAD_CREDENTIALS)
            continue;
        weir_fail(&err, WEIR_E_CREDENTIALS, "%s%s%s", weir_verdict_cause(&item->verdict).text,
                  item->message ? ": " : "", item->message ? item->message : "");
        weir_error_set_connection(&err, flight->link->name);
        weir_driver_note_trouble(driver, &err);
        return;
    }
}

/* One answer is judged twice: by the link, for tokens and for people, and by the report, for the
 * pool and the rows. */
static void tell(struct weir_flight *flight, const struct weir_call_answer *answer)
{
    struct weir_driver *driver = flight->driver;
    const struct weir_exchange_answer *exchange = answer->exchange;
    struct weir_report_exchange seen = {
        .status = exchange->status,
        .sent = exchange->sent,
        .timed_out = exchange->ending == WEIR_ENDING_TIMED_OUT,
        .headers = exchange->headers,
        .header_count = exchange->header_count,
        .body = exchange->body,
        .duration_us = span_us(exchange->begun_us, exchange->done_us),
        .ttfb_us = span_us(exchange->sent_us, exchange->first_byte_us),
    };
    struct weir_report report;
    const struct weir_request_plan *plan = driver->pass.requests;
    weir_report_read(&seen, flight->mode, plan->table, plan->operation == WEIR_OPERATION_CREATE,
                     flight->row_count, &report);
    report.broken = answer->broken;
    if (!report.message && exchange->detail[0])
        report.message = weir_strdup(exchange->detail);
    note_failure(driver, flight, answer);
    note_denial(driver, flight, &report);
    weir_executor_answered(&driver->executor, flight->load, &report,
                           weir_loop_now_us(driver->loop));
    weir_report_release(&report);
}

static void on_answer(void *ctx, const struct weir_call_answer *answer)
{
    struct weir_flight *flight = ctx;
    struct weir_driver *driver = flight->driver;
    weir_driver_enter(driver);
    flight->call = NULL;
    if (flight->load)
        tell(flight, answer);
    end_flight(flight);
    weir_driver_leave(driver);
}

/* --- the request ------------------------------------------------------------------------------ */

/* A load that cannot be written is a mistake of ours: the rows were judged before. */
static void on_unwritable(struct weir_flight *flight, struct weir_error *err)
{
    struct weir_driver *driver = flight->driver;
    int64_t now_us = weir_loop_now_us(driver->loop);
    weir_driver_note_trouble(driver, err);
    weir_executor_stop(&driver->executor, WEIR_END_INTERNAL, now_us);
    weir_executor_unsent(&driver->executor, flight->load, WEIR_UNSENT_TRANSIENT, now_us);
}

static bool write_request(struct weir_flight *flight)
{
    struct weir_driver *driver = flight->driver;
    struct weir_error err;
    char boundary[40] = "";
    if (flight->load->mode != WEIR_LOAD_BULK)
        snprintf(boundary, sizeof(boundary), "batch_%016llx",
                 (unsigned long long)weir_rng_u64(&driver->executor.rng));
    if (weir_load_request_init(&flight->request, flight->load, driver->pass.requests,
                               weir_str_from(boundary), &err) == WEIR_OK)
        return true;
    on_unwritable(flight, &err);
    return false;
}

static void send_request(struct weir_flight *flight, const struct weir_token *token)
{
    struct weir_load_request *it = &flight->request;
    struct weir_call_request request = {
        .method = "POST",
        .target = weir_buf_text(&it->path),
        .lines = it->lines.lines,
        .line_count = it->lines.count,
        .body = it->body->slices,
        .body_count = it->body->count,
        .server_id = flight->load->lease.server_id,
    };
    flight->call = weir_link_send(flight->link, token, &request, on_answer, flight);
}

/* True: it is on the wire. */
static bool depart(struct weir_flight *flight, const struct weir_token *token)
{
    struct weir_driver *driver = flight->driver;
    int64_t now_us = weir_loop_now_us(driver->loop);
    if (!write_request(flight))
        return false;
    weir_driver_hear_failure(driver, now_us); /* the last moment at which that helps */
    if (weir_executor_begin(&driver->executor, flight->load, now_us) != WEIR_OK)
        return false;
    send_request(flight, token);
    return true;
}

static void on_no_token(struct weir_flight *flight, const struct weir_error *err)
{
    struct weir_driver *driver = flight->driver;
    enum weir_unsent why =
        err->status == WEIR_E_CREDENTIALS ? WEIR_UNSENT_CREDENTIALS : WEIR_UNSENT_TRANSIENT;
    weir_driver_note_trouble(driver, err);
    weir_executor_unsent(&driver->executor, flight->load, why, weir_loop_now_us(driver->loop));
}

static void on_token(void *ctx, enum weir_status status, const struct weir_token *token,
                     const struct weir_error *err)
{
    struct weir_flight *flight = ctx;
    struct weir_driver *driver = flight->driver;
    bool gone = false;
    weir_driver_enter(driver);
    flight->asking = false;
    if (flight->load && status)
        on_no_token(flight, err);
    else if (flight->load)
        gone = depart(flight, token);
    if (!gone)
        end_flight(flight);
    weir_driver_leave(driver);
}

void weir_flight_begin(struct weir_driver *driver, struct weir_load *load)
{
    struct weir_flight *flight = weir_calloc(1, sizeof(*flight));
    *flight = (struct weir_flight){
        .driver = driver,
        .load = load,
        .link = &driver->options.client->links[load->lease.connection],
        .ask = { .done = on_token, .ctx = flight },
        .asking = true,
        .mode = load->mode,
        .row_count = load->row_count,
    };
    load->carrier = flight;
    driver->flights++;
    weir_tokens_want(flight->link->tokens, &flight->ask);
}

void weir_flight_cancel(struct weir_driver *driver, struct weir_load *load)
{
    struct weir_flight *flight = load->carrier;
    flight->load = NULL;
    driver->cancelled++;
    if (flight->call)
        weir_call_cancel(flight->call);
    else if (flight->asking)
        weir_tokens_cancel(flight->link->tokens, &flight->ask);
}
