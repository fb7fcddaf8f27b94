/* SPDX-License-Identifier: MIT */
/*
 * weir_execute(): try, give the lease back, decide, until there is an answer for the caller.
 *
 *     acquire ─▶ try ─▶ answered ─▶ release ─▶ attempt decides ─▶ the caller's answer
 *        ▲               │                       │                 give up
 *        │               │                       ├─ again now ──────────┐
 *        │               │                       └─ wait, no slot held ─┤
 *        │               ├─ lease stale, nothing sent ──────────────────┤
 *        │               └─ no token ─▶ refused for good: the connection is set aside ──┤
 *        └──────────────────────────────────────────────────────────────┘
 *
 * Waiting for a throttle is left to the pool, which knows when the first connection reopens and who
 * came first; back-off after other failures is waited for here.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/mem.h"
#include "client/client.h"
#include "pool/blocking.h"
#include "protocol/odata.h"
#include "throttle/attempt.h"

/* What has happened so far. */
struct story {
    struct weir_attempt attempt;
    int requests;          /* sent */
    size_t refusals;       /* of tokens, by the service */
    bool lost;             /* a connection was set aside … */
    struct weir_error why; /* … for this reason, which is the one to give when none is left */
};

/* --- what the caller gets --------------------------------------------------------------------- */

static void name_cause(const struct weir_verdict *verdict, char *text, size_t text_bytes)
{
    if (verdict->code)
        snprintf(text, text_bytes, "0x%08" PRIx32 " (HTTP %d)", verdict->code,
                 verdict->http_status);
    else if (verdict->http_status)
        snprintf(text, text_bytes, "HTTP %d", verdict->http_status);
    else
        snprintf(text, text_bytes, "no answer");
}

static enum weir_status status_of(const struct weir_verdict *verdict)
{
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
    char cause[48];
    name_cause(verdict, cause, sizeof(cause));
    weir_fail(err, status, "%s%s%s", cause, execution->fault[0] ? ": " : "", execution->fault);
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
 * here, unless that takes longer than the caller tolerates.
 */
static bool wait_for_it(struct weir_execution *execution, int64_t until_us)
{
    const struct weir_options *options = execution->client->options;
    bool throttle = execution->answer.verdict.class_ == WEIR_CLASS_THROTTLE;
    if (throttle && options->resilience.enable_throttle_tracking)
        return true;
    int64_t tolerance_us = options->pool.max_retry_after_tolerance_us;
    if (throttle && tolerance_us >= 0 && until_us - weir_clock_now_us() > tolerance_us)
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
    case WEIR_ATTEMPT_REFRESH:
        return true;
    case WEIR_ATTEMPT_WAIT:
        if (wait_for_it(execution, decision.until_us))
            return true;
        *ret_status = refuse(execution, story, err);
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
static void set_aside(struct weir_execution *execution, struct story *story,
                      const struct weir_error *why)
{
    story->lost = true;
    story->why = *why;
    weir_pool_set_aside(execution->client->pool, execution->lease.connection_name);
}

/* A refused token has been dropped; the link says when new ones are of no use either. */
static bool on_refused_token(struct weir_execution *execution, struct story *story,
                             enum weir_status *ret_status, struct weir_error *err)
{
    struct weir_error why;
    *ret_status = refuse(execution, story, &why);
    if (execution->broken)
        set_aside(execution, story, &why);
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
    if (!type || !weir_str_starts_nocase(weir_str_from(type), "application/json"))
        return;
    struct weir_json *json = NULL;
    struct weir_error err;
    if (weir_json_parse(weir_str(response->body, response->body_bytes), &json, &err) ==
        WEIR_E_INVALID) {
        execution->answer.verdict.class_ = WEIR_CLASS_TRANSIENT;
        execution->answer.verdict.outcome = WEIR_OUTCOME_UNKNOWN;
        snprintf(execution->fault, sizeof(execution->fault), "the answer is not JSON: %s",
                 err.message);
    }
    weir_json_free(json);
}

static bool on_answered(struct weir_execution *execution, struct story *story,
                        enum weir_status *ret_status, struct weir_error *err)
{
    struct weir_verdict *verdict = &execution->answer.verdict;
    story->requests++;
    if (verdict->class_ == WEIR_CLASS_OK)
        doubt(execution);
    weir_pool_release(execution->client->pool, &execution->lease, &execution->answer);
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

/* Nothing was sent: the login service is out of reach, or does not know us. */
static bool on_no_token(struct weir_execution *execution, struct story *story,
                        enum weir_status *ret_status, struct weir_error *err)
{
    struct weir_answer unsent = { .verdict = { .class_ = WEIR_CLASS_UNSENT } };
    weir_pool_release(execution->client->pool, &execution->lease, &unsent);
    if (execution->err.status == WEIR_E_CREDENTIALS) {
        set_aside(execution, story, &execution->err);
        return true;
    }
    execution->answer = (struct weir_answer){
        .verdict = { .class_ = WEIR_CLASS_TRANSIENT,
                     .outcome = WEIR_OUTCOME_NOT_EXECUTED,
                     .retry_after_us = execution->err.retry_after_us },
    };
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
    if (*ret_status == WEIR_E_NO_CONNECTION && story->lost) {
        *ret_status = story->why.status;
        if (err)
            *err = story->why;
    }
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
    enum weir_status status;
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

/* The caller frees it. */
static char *target_of(const char *path)
{
    const char *root = path[0] == '/' ? "" : WEIR_API_PATH;
    size_t bytes = strlen(root) + strlen(path) + 1;
    char *target = weir_calloc(bytes, 1);
    snprintf(target, bytes, "%s%s", root, path);
    return target;
}

enum weir_status weir_execute(struct weir_client *client, const struct weir_request *request,
                              struct weir_response *ret, struct weir_error *err)
{
    *ret = (struct weir_response){ 0 };
    struct weir_execution execution = { .request = request };
    enum weir_status status = weir_request_check(request, err);
    if (status)
        return status;
    if (!weir_client_enter(client, &execution))
        return weir_fail(err, WEIR_E_SHUTDOWN, "the client is shutting down");
    char *target = target_of(request->path);
    execution.target = target;
    status = execute(&execution, ret, err);
    weir_client_leave(client, &execution);
    free(target);
    return status;
}
