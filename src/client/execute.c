/* SPDX-License-Identifier: MIT */
/*
 * weir_execute(): try, give the lease back, decide, until there is an answer for the caller.
 *
 *     acquire ─▶ try ─▶ answered ─▶ release ─▶ attempt decides ─▶ the caller's answer
 *        ▲               │                       │                give up
 *        │               │                       ├─ again now ──────────┐
 *        │               │                       └─ wait, no slot held ─┤
 *        │               ├─ lease stale, nothing sent ──────────────────┤
 *        │               └─ no token ─▶ refused for good: the connection is set aside ──┤
 *        └──────────────────────────────────────────────────────────────┘
 *
 * Waiting for a throttle is left to the pool, which knows when the first connection reopens and who
 * came first; back-off after other failures is waited for here.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "client/client.h"
#include "pool/blocking.h"
#include "protocol/scan.h"
#include "throttle/attempt.h"

/* What has happened so far. */
struct story {
    struct weir_attempt attempt;
    int requests;    /* sent */
    size_t refusals; /* of tokens, by the service */
};

/* --- what the caller gets --------------------------------------------------------------------- */

static enum weir_status status_of(const struct weir_verdict *verdict)
{
    if (verdict->outcome == WEIR_OUTCOME_UNKNOWN)
        return WEIR_E_UNAVAILABLE;
    switch (verdict->class_) {
    case WEIR_CLASS_THROTTLE:
        return WEIR_E_SERVICE_PROTECTION;
    case WEIR_CLASS_TRANSIENT:
        return WEIR_E_UNAVAILABLE;
    case WEIR_CLASS_BAD_CREDENTIALS:
        return WEIR_E_CREDENTIALS;
    default:
        return WEIR_E_REFUSED;
    }
}

/* The answer as an error: its code, and the service's words or what broke. */
static enum weir_status refuse(const struct weir_execution *execution, const struct story *story,
                               struct weir_error *err)
{
    const struct weir_verdict *verdict = &execution->answer.verdict;
    enum weir_status status = status_of(verdict);
    weir_fail(err, status, "%s%s%s", weir_verdict_cause(verdict).text,
              execution->fault[0] ? ": " : "", execution->fault);
    if (err) {
        weir_error_set_connection(err, execution->lease.connection_name);
        err->http_status = verdict->http_status;
        err->service_code = verdict->code;
        err->retry_after_us = verdict->retry_after_us;
        err->retryable = status == WEIR_E_UNAVAILABLE || status == WEIR_E_SERVICE_PROTECTION;
        err->outcome_known = !story->attempt.unknown;
    }
    return status;
}

static enum weir_status call_off(struct weir_execution *execution, const struct story *story,
                                 struct weir_error *err)
{
    struct weir_client *client = execution->client;
    pthread_mutex_lock(&client->lock);
    bool shut_down = client->shut_down;
    pthread_mutex_unlock(&client->lock);
    enum weir_status status = shut_down ? WEIR_E_SHUTDOWN : WEIR_E_CANCELLED;
    weir_fail(err, status, shut_down ? "the client is shutting down" : "cancelled");
    if (err)
        err->outcome_known = !story->attempt.unknown;
    return status;
}

static void hand_over(struct weir_execution *execution, const struct story *story,
                      struct weir_response *ret)
{
    *ret = execution->response;
    execution->response = (struct weir_response){ 0 };
    snprintf(ret->connection, sizeof(ret->connection), "%s", execution->lease.connection_name);
    ret->requests = story->requests;
    ret->answer = execution->answer;
}

/* --- one round: true means that there is to be another one -------------------------------------
 */

static struct weir_attempt_scene look_around(struct weir_execution *execution)
{
    struct weir_client *client = execution->client;
    struct weir_attempt_scene scene = { .connection_name = execution->lease.connection_name };
    scene.others_open = weir_pool_any_open(client->pool, &scene.shortest_reopening_us);
    pthread_mutex_lock(&client->lock);
    scene.chance = weir_rng_unit(&client->rng);
    pthread_mutex_unlock(&client->lock);
    return scene;
}

/* "…: what broke", as far as there is room. */
static void add_detail(struct weir_error *err, const char *detail)
{
    size_t len = err ? strlen(err->message) : 0;
    if (err && detail[0])
        snprintf(err->message + len, sizeof(err->message) - len, ": %s", detail);
}

/*
 * Throttles that the pool tracks are waited for there, by everybody in turn. Others are waited for
 * here, unless the service asks for more patience than the caller has.
 */
static bool wait_for_it(struct weir_execution *execution, int64_t until_us)
{
    const struct weir_options *options = execution->client->options;
    const struct weir_verdict *verdict = &execution->answer.verdict;
    bool throttle = verdict->class_ == WEIR_CLASS_THROTTLE;
    if (throttle && options->resilience.enable_throttle_tracking)
        return true;
    int64_t tolerance_us = options->pool.max_retry_after_tolerance_us;
    bool asked_to = throttle || verdict->retry_after_us > 0;
    if (asked_to && tolerance_us >= 0 && until_us - weir_clock_now_us() > tolerance_us)
        return false;
    weir_execution_wait(execution, until_us);
    return true;
}

static bool decide(struct weir_execution *execution, struct story *story,
                   enum weir_status *ret_status, struct weir_error *err)
{
    struct weir_attempt_scene scene = look_around(execution);
    struct weir_attempt_decision decision = weir_attempt_decide(
        &story->attempt, &execution->answer.verdict, &scene, weir_clock_now_us(), err);
    switch (decision.action) {
    case WEIR_ATTEMPT_RETRY_NOW:
        return true;
    case WEIR_ATTEMPT_WAIT:
        if (wait_for_it(execution, decision.until_us))
            return true;
        *ret_status = refuse(execution, story, err);
        if (err)
            err->retry_after_us = decision.until_us - weir_clock_now_us();
        return false;
    case WEIR_ATTEMPT_GIVE_UP:
        *ret_status = status_of(&execution->answer.verdict);
        if (*ret_status != WEIR_E_SERVICE_PROTECTION) {
            *ret_status = WEIR_E_UNAVAILABLE;
            add_detail(err, execution->fault);
        }
        return false;
    case WEIR_ATTEMPT_RETURN:
        break;
    }
    *ret_status = refuse(execution, story, err);
    return false;
}

/* The others go on without it. */
static void set_aside(struct weir_execution *execution, const struct weir_error *why)
{
    struct weir_client *client = execution->client;
    pthread_mutex_lock(&client->lock);
    client->lost = *why;
    free(client->losses[execution->lease.connection]);
    client->losses[execution->lease.connection] = weir_strdup(why->message);
    pthread_mutex_unlock(&client->lock);
    weir_pool_set_aside(client->pool, execution->lease.connection_name);
}

/* No connection is left: whoever comes is told why the last one went. */
static enum weir_status explain_loss(struct weir_client *client, struct weir_error *err)
{
    pthread_mutex_lock(&client->lock);
    struct weir_error lost = client->lost;
    pthread_mutex_unlock(&client->lock);
    if (!lost.status)
        return WEIR_E_NO_CONNECTION; /* somebody else has set them aside */
    if (err)
        *err = lost;
    return lost.status;
}

/* A refused token has been dropped; the link says when new ones are of no use either. */
static bool on_refused_token(struct weir_execution *execution, struct story *story,
                             enum weir_status *ret_status, struct weir_error *err)
{
    struct weir_error why;
    *ret_status = refuse(execution, story, &why);
    if (execution->broken)
        set_aside(execution, &why);
    if (++story->refusals <= 2 * execution->client->link_count)
        return true;
    if (err)
        *err = why;
    return false;
}

/* A success whose JSON is cut, though the transport says that it is whole, is none. */
static void doubt(struct weir_execution *execution)
{
    const struct weir_response *response = &execution->response;
    const char *type = weir_response_header(response, "Content-Type");
    struct weir_str body = weir_str(response->body, response->body_bytes);
    struct weir_str value;
    bool is_json = type && weir_str_starts_nocase(weir_str_from(type), "application/json");
    if (!is_json || body.len == 0 || weir_response_header(response, "Content-Encoding") ||
        weir_scan_document(body, &value))
        return;
    execution->answer.verdict.class_ = WEIR_CLASS_TRANSIENT;
    execution->answer.verdict.outcome = WEIR_OUTCOME_UNKNOWN;
    snprintf(execution->fault, sizeof(execution->fault), "the answer is not a whole JSON document");
}

/* A request that the caller has broken off says nothing about the service. */
static void give_back(struct weir_execution *execution)
{
    struct weir_answer answer = execution->answer;
    if (execution->broken_off)
        answer.verdict.class_ = WEIR_CLASS_UNSENT;
    weir_pool_release(execution->client->pool, &execution->lease, &answer);
}

static bool on_answered(struct weir_execution *execution, struct story *story,
                        enum weir_status *ret_status, struct weir_error *err)
{
    struct weir_verdict *verdict = &execution->answer.verdict;
    story->requests++;
    if (verdict->class_ == WEIR_CLASS_OK)
        doubt(execution);
    give_back(execution);
    if (verdict->class_ == WEIR_CLASS_OK) {
        *ret_status = WEIR_OK;
        return false;
    }
    weir_response_release(&execution->response);
    story->attempt.unknown |= verdict->outcome == WEIR_OUTCOME_UNKNOWN;
    if (verdict->class_ == WEIR_CLASS_BAD_CREDENTIALS)
        return on_refused_token(execution, story, ret_status, err);
    return decide(execution, story, ret_status, err);
}

/*
 * Nothing was sent: the login service is out of reach, or does not know us. In the first case the
 * connection is blocked for as long as the tokens say, as by a 503, so that others are asked.
 */
static bool on_no_token(struct weir_execution *execution, struct story *story,
                        enum weir_status *ret_status, struct weir_error *err)
{
    struct weir_pool *pool = execution->client->pool;
    struct weir_answer unsent = { .verdict = { .class_ = WEIR_CLASS_UNSENT } };
    execution->answer = unsent;
    if (execution->err.status == WEIR_E_UNAVAILABLE)
        execution->answer.verdict = (struct weir_verdict){
            .class_ = WEIR_CLASS_TRANSIENT,
            .http_status = 503,
            .retry_after_us = execution->err.retry_after_us,
        };
    weir_pool_release(pool, &execution->lease, &execution->answer);
    if (execution->err.status == WEIR_E_CREDENTIALS) {
        set_aside(execution, &execution->err);
        return true;
    }
    execution->answer.verdict.class_ = WEIR_CLASS_TRANSIENT;
    execution->answer.verdict.http_status = 0;
    snprintf(execution->fault, sizeof(execution->fault), "%s", execution->err.message);
    return decide(execution, story, ret_status, err);
}

static bool go_round(struct weir_execution *execution, struct story *story,
                     enum weir_status *ret_status, struct weir_error *err)
{
    struct weir_ask ask = {
        .kind = execution->request->kind,
        .rows = execution->request->rows,
        .bytes = execution->request->body_bytes,
        .attempt = story->attempt.throttles + 1,
        .attempt_max = story->attempt.options->max_throttle_retries,
        .cancel_tag = execution->request->cancel_tag,
    };
    *ret_status = weir_pool_acquire_unless(execution->client->pool, &ask, &execution->cancelled,
                                           &execution->lease, err);
    if (*ret_status == WEIR_E_NO_CONNECTION)
        *ret_status = explain_loss(execution->client, err);
    if (*ret_status)
        return false;
    weir_execution_try(execution);
    switch (execution->ended) {
    case WEIR_TRY_ANSWERED:
        return on_answered(execution, story, ret_status, err);
    case WEIR_TRY_NO_TOKEN:
        return on_no_token(execution, story, ret_status, err);
    case WEIR_TRY_STALE:
        break;
    }
    return true;
}

/* --- the call --------------------------------------------------------------------------------- */

static enum weir_status execute(struct weir_execution *execution, struct weir_response *ret,
                                struct weir_error *err)
{
    struct story story = {
        .attempt = { .options = &execution->client->options->resilience,
                     .repeatable = execution->request->repeatable ||
                                   strcmp(execution->request->method, "GET") == 0 },
    };
    enum weir_status status = WEIR_E_CANCELLED; /* before the first round */
    bool again = true;
    while (again && !__atomic_load_n(&execution->cancelled, __ATOMIC_ACQUIRE))
        again = go_round(execution, &story, &status, err);
    bool called_off = __atomic_load_n(&execution->cancelled, __ATOMIC_ACQUIRE);
    if (called_off && (again || status != WEIR_OK))
        return call_off(execution, &story, err);
    if (status == WEIR_OK)
        hand_over(execution, &story, ret);
    else if (err)
        err->outcome_known &= !story.attempt.unknown;
    return status;
}

enum weir_status weir_execute(struct weir_client *client, const struct weir_request *request,
                              struct weir_response *ret, struct weir_error *err)
{
    *ret = (struct weir_response){ 0 };
    struct weir_execution execution = { .request = request };
    enum weir_status status = weir_request_check(request, err);
    if (status)
        return status;
    weir_request_head_init(&execution.head, request);
    status = weir_request_head_check(&execution.head, request, err);
    if (!status && !weir_client_enter(client, &execution))
        status = weir_fail(err, WEIR_E_SHUTDOWN, "the client is shutting down");
    else if (!status) {
        status = execute(&execution, ret, err);
        weir_client_leave(client, &execution);
    }
    weir_request_head_release(&execution.head);
    return status;
}
