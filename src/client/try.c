/* SPDX-License-Identifier: MIT */
/*
 * One try of an execution, on the loop thread: token, lease, request, answer. See client.h.
 *
 * The lease is begun after the token has come, because fetching one may take long enough for the
 * connection to be throttled meanwhile.
 */
#include <stdio.h>

#include "base/error.h"
#include "client/client.h"

static void finish(struct weir_execution *execution, enum weir_try ended)
{
    struct weir_client *client = execution->client;
    execution->ended = ended;
    execution->call = NULL;
    pthread_mutex_lock(&client->lock);
    execution->finished = true;
    pthread_cond_signal(&execution->woken);
    pthread_mutex_unlock(&client->lock);
}

static void on_answer(void *ctx, const struct weir_call_answer *answer)
{
    struct weir_execution *execution = ctx;
    const struct weir_exchange_answer *exchange = answer->exchange;
    execution->answer = answer->answer;
    execution->broken = answer->broken;
    execution->broken_off = exchange->ending == WEIR_ENDING_CANCELLED;
    const char *words = answer->fault.message[0] ? answer->fault.message : exchange->detail;
    snprintf(execution->fault, sizeof(execution->fault), "%s", words);
    if (answer->answer.verdict.class_ == WEIR_CLASS_OK)
        weir_response_copy(exchange, &execution->response);
    finish(execution, WEIR_TRY_ANSWERED);
}

static void send_request(struct weir_execution *execution, const struct weir_token *token)
{
    const struct weir_request *request = execution->request;
    struct weir_link *link = &execution->client->links[execution->lease.connection];
    execution->body = weir_str(request->body, request->body_bytes);
    struct weir_call_request call = {
        .method = request->method,
        .target = execution->head.target,
        .lines = execution->head.lines,
        .line_count = execution->head.line_count,
        .body = &execution->body,
        .body_count = request->body ? 1 : 0,
        .server_id = execution->lease.server_id,
    };
    execution->call = weir_link_send(link, token, &call, on_answer, execution);
}

static void on_token(void *ctx, enum weir_status status, const struct weir_token *token,
                     const struct weir_error *err)
{
    struct weir_execution *execution = ctx;
    execution->ask.done = NULL;
    if (status) {
        execution->err = *err;
        finish(execution, WEIR_TRY_NO_TOKEN);
    } else if (weir_pool_begin(execution->client->pool, &execution->lease, NULL) != WEIR_OK) {
        finish(execution, WEIR_TRY_STALE);
    } else {
        send_request(execution, token);
    }
}

static void start(struct weir_task *task)
{
    struct weir_execution *execution = (struct weir_execution *)task;
    if (__atomic_load_n(&execution->cancelled, __ATOMIC_ACQUIRE)) {
        weir_fail(&execution->err, WEIR_E_CANCELLED, "cancelled before it was sent");
        execution->err.outcome_known = true;
        finish(execution, WEIR_TRY_NO_TOKEN);
        return;
    }
    execution->ask = (struct weir_token_ask){ .done = on_token, .ctx = execution };
    weir_tokens_want(execution->client->links[execution->lease.connection].tokens, &execution->ask);
}

void weir_execution_try(struct weir_execution *execution)
{
    struct weir_client *client = execution->client;
    execution->task.run = start;
    pthread_mutex_lock(&client->lock);
    execution->finished = false;
    weir_loop_post(client->loop, &execution->task);
    while (!execution->finished)
        pthread_cond_wait(&execution->woken, &client->lock);
    pthread_mutex_unlock(&client->lock);
}
