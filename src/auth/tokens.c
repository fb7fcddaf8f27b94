/* SPDX-License-Identifier: MIT */
/*
 * The tokens of one connection; see tokens.h. The cache decides, a fetch does the work, and what is
 * here are those who ask:
 *
 *     want ──▶ asked ──(next turn: the cache)──▶ told: the token, or the error
 *                              │
 *                              └──▶ waiting ──(the fetch is over)──▶ told, all of them
 *     cancel ─▶ from any list to cancelled ──(next turn)──▶ told WEIR_E_CANCELLED
 *
 * Invariant: whenever `waiting` is not empty, a fetch is under way.
 *
 * `done` may want, cancel, spurn and even free the tokens. So those to be told move to a list of
 * their own first, the memory stays until all of them have been told, and the state has changed
 * before anybody is.
 */
#include "auth/tokens.h"

#include <stdio.h>

#include "auth/credential.h"
#include "auth/fetch.h"
#include "auth/token_cache.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/rng.h"
#include "config/quote.h"

struct list {
    struct weir_token_ask *first;
    struct weir_token_ask *last;
};

struct weir_tokens {
    struct weir_loop *loop;
    const struct weir_options *options;
    size_t connection;
    const char *name;
    const struct weir_log_sink *sink;
    enum weir_credential_kind kind;
    char *tenant; /* that the challenge named; NULL: none was needed yet */
    struct weir_rng rng;
    struct weir_token_cache cache;
    struct weir_fetch *fetch; /* NULL: none is under way */
    struct weir_tokens_stats stats;
    struct weir_timer turn;
    struct list asked;
    struct list waiting;
    struct list cancelled;
    struct list told; /* those who are being told just now */
    bool telling;
    bool dead; /* freed by one of those who are being told: the memory goes when that is over */
};

/* --- lists ------------------------------------------------------------------------------------ */

static void append(struct list *list, struct weir_token_ask *ask)
{
    ask->next = NULL;
    if (list->last)
        list->last->next = ask;
    else
        list->first = ask;
    list->last = ask;
}

static struct weir_token_ask *take_first(struct list *list)
{
    struct weir_token_ask *ask = list->first;
    if (ask)
        list->first = ask->next;
    if (!list->first)
        list->last = NULL;
    return ask;
}

static bool take_out(struct list *list, struct weir_token_ask *ask)
{
    struct weir_token_ask *before = NULL;
    struct weir_token_ask *it = list->first;
    for (; it && it != ask; it = it->next)
        before = it;
    if (!it)
        return false;
    if (before)
        before->next = ask->next;
    else
        list->first = ask->next;
    if (list->last == ask)
        list->last = before;
    return true;
}

/* --- telling ---------------------------------------------------------------------------------- */

static void tell_token(const struct weir_tokens *tokens, struct weir_token_ask *ask)
{
    const struct weir_token token = {
        .text = tokens->cache.text.text,
        .serial = tokens->cache.serial,
        .expires_us = tokens->cache.expires_us,
    };
    ask->waiting = false;
    ask->done(ask->ctx, WEIR_OK, &token, NULL);
}

static void tell_error(struct weir_token_ask *ask, const struct weir_error *err)
{
    struct weir_error copy = *err; /* the cache may change, or go, while it is being read */
    ask->waiting = false;
    ask->done(ask->ctx, copy.status, NULL, &copy);
}

static void tell_end(const struct weir_tokens *tokens, struct weir_token_ask *ask,
                     enum weir_status status)
{
    struct weir_error err;
    weir_fail(&err, status, "%s",
              status == WEIR_E_CANCELLED ? "nobody wants the token any more"
                                         : "the connection is being closed");
    weir_error_set_connection(&err, tokens->name);
    tell_error(ask, &err);
}

/* Whoever asks from now on is not among them. */
static void begin_telling(struct weir_tokens *tokens, struct list *list)
{
    tokens->told = *list;
    *list = (struct list){ 0 };
    tokens->telling = true;
}

/* False: the tokens are gone. */
static bool end_telling(struct weir_tokens *tokens)
{
    bool dead = tokens->dead;
    tokens->telling = false;
    if (dead)
        free(tokens);
    return !dead;
}

/* --- fetching --------------------------------------------------------------------------------- */

static void log_fetched(const struct weir_tokens *tokens, int64_t begun_us, int64_t now_us)
{
    const struct weir_log_field fields[] = {
        { "Connection", WEIR_LOG_TEXT, 0, tokens->name },
        { "Kind", WEIR_LOG_TEXT, 0, weir_credential_name(tokens->kind) },
        { "ExpiresIn", WEIR_LOG_DURATION_US, tokens->cache.expires_us - now_us, NULL },
        { "Duration", WEIR_LOG_DURATION_US, now_us - begun_us, NULL },
    };
    weir_log(tokens->sink, WEIR_LOG_DEBUG, "token", "a new access token", fields,
             sizeof(fields) / sizeof(fields[0]));
}

static void log_failed(const struct weir_tokens *tokens, int64_t number, int64_t now_us)
{
    char code[32] = "";
    if (number)
        snprintf(code, sizeof(code), "AADSTS%lld", (long long)number);
    const struct weir_log_field fields[] = {
        { "Connection", WEIR_LOG_TEXT, 0, tokens->name },
        { "Kind", WEIR_LOG_TEXT, 0, weir_credential_name(tokens->kind) },
        { "RetryAfter", WEIR_LOG_DURATION_US, tokens->cache.not_before_us - now_us, NULL },
        { "Reason", WEIR_LOG_TEXT, 0, tokens->cache.error.message },
        { "ErrorCode", WEIR_LOG_TEXT, 0, code },
    };
    weir_log(tokens->sink, WEIR_LOG_WARNING, "token_failed", "no access token", fields,
             sizeof(fields) / sizeof(fields[0]) - (number == 0));
}

/* Whose error it is stands in front of it. */
static void name_connection(struct weir_error *err, const char *name)
{
    if (!err)
        return;
    struct weir_buf message;
    weir_buf_init(&message, 2 * WEIR_MESSAGE_MAX);
    weir_buf_printf(&message, "connection %s: %s", weir_quote(weir_str_from(name)).text,
                    err->message);
    weir_buf_hand_over(&message, err->message, sizeof(err->message));
    weir_error_set_connection(err, name);
}

static void keep(struct weir_tokens *tokens, const struct weir_fetch_answer *answer)
{
    int64_t now_us = weir_loop_now_us(tokens->loop);
    if (answer->tenant && !tokens->tenant)
        tokens->tenant = weir_strdup(answer->tenant);
    if (answer->status == WEIR_OK) {
        weir_token_cache_fetched(&tokens->cache, answer->grant, answer->begun_us);
        log_fetched(tokens, answer->begun_us, now_us);
        return;
    }
    struct weir_error err = *answer->err;
    name_connection(&err, tokens->name);
    tokens->stats.failures++;
    weir_token_cache_failed(&tokens->cache, &err, weir_rng_unit(&tokens->rng), now_us);
    log_failed(tokens, answer->number, now_us);
}

/* Those who waited share what came, whether it is good for a second or for an hour. */
static void on_fetched(void *ctx, const struct weir_fetch_answer *answer)
{
    struct weir_tokens *tokens = ctx;
    bool ok = answer->status == WEIR_OK;
    keep(tokens, answer);
    weir_fetch_free(tokens->fetch);
    tokens->fetch = NULL;

    struct weir_token_ask *ask;
    begin_telling(tokens, &tokens->waiting);
    while ((ask = take_first(&tokens->told))) {
        if (!ok)
            tell_error(ask, &tokens->cache.error);
        else if (tokens->cache.good)
            tell_token(tokens, ask);
        else
            weir_tokens_want(tokens, ask); /* one of those told before has spurned it */
    }
    end_telling(tokens);
}

static void fetch(struct weir_tokens *tokens)
{
    const struct weir_fetch_options options = {
        .options = tokens->options,
        .connection = tokens->connection,
        .kind = tokens->kind,
        .tenant = tokens->options->tenant_id ? tokens->options->tenant_id : tokens->tenant,
        .sink = tokens->sink,
        .chance = { weir_rng_u64(&tokens->rng), weir_rng_u64(&tokens->rng) },
    };
    tokens->stats.fetches++;
    tokens->fetch = weir_fetch_begin(tokens->loop, &options, on_fetched, tokens);
}

/* --- asking ----------------------------------------------------------------------------------- */

static void decide(struct weir_tokens *tokens, struct weir_token_ask *ask)
{
    switch (weir_token_cache_want(&tokens->cache, weir_loop_now_us(tokens->loop))) {
    case WEIR_TOKEN_HAVE_AND_FETCH:
        fetch(tokens);
        tell_token(tokens, ask);
        return;
    case WEIR_TOKEN_HAVE:
        tell_token(tokens, ask);
        return;
    case WEIR_TOKEN_FETCH:
        fetch(tokens);
        append(&tokens->waiting, ask);
        return;
    case WEIR_TOKEN_WAIT:
        append(&tokens->waiting, ask);
        return;
    case WEIR_TOKEN_REFUSED:
        tell_error(ask, &tokens->cache.error);
        return;
    }
}

static void on_turn(struct weir_timer *turn)
{
    struct weir_tokens *tokens =
        (struct weir_tokens *)((char *)turn - offsetof(struct weir_tokens, turn));
    struct weir_token_ask *ask;
    begin_telling(tokens, &tokens->cancelled);
    while ((ask = take_first(&tokens->told)))
        tell_end(tokens, ask, WEIR_E_CANCELLED);
    if (!end_telling(tokens))
        return;
    begin_telling(tokens, &tokens->asked);
    while ((ask = take_first(&tokens->told)))
        decide(tokens, ask);
    end_telling(tokens);
}

static void turn_soon(struct weir_tokens *tokens)
{
    weir_timer_set(&tokens->turn, weir_loop_now_us(tokens->loop));
}

void weir_tokens_want(struct weir_tokens *tokens, struct weir_token_ask *ask)
{
    ask->waiting = true;
    append(&tokens->asked, ask);
    turn_soon(tokens);
}

void weir_tokens_cancel(struct weir_tokens *tokens, struct weir_token_ask *ask)
{
    if (!ask->waiting || !(take_out(&tokens->asked, ask) || take_out(&tokens->waiting, ask) ||
                           take_out(&tokens->told, ask)))
        return;
    append(&tokens->cancelled, ask);
    turn_soon(tokens);
}

void weir_tokens_spurned(struct weir_tokens *tokens, uint64_t serial)
{
    weir_token_cache_spurned(&tokens->cache, serial);
}

void weir_tokens_stats(const struct weir_tokens *tokens, struct weir_tokens_stats *ret)
{
    *ret = tokens->stats;
}

/* --- beginning and end ------------------------------------------------------------------------ */

enum weir_status weir_tokens_new(struct weir_loop *loop, const struct weir_options *options,
                                 size_t connection, const struct weir_log_sink *sink,
                                 struct weir_tokens **ret, struct weir_error *err)
{
    enum weir_credential_kind kind;
    const char *name = options->connections[connection].name;
    enum weir_status status =
        weir_credential_check(options, connection, weir_clock_wall_us(), &kind, err);
    if (status) {
        name_connection(err, name);
        return status;
    }
    struct weir_tokens *tokens = weir_calloc(1, sizeof(*tokens));
    tokens->loop = loop;
    tokens->options = options;
    tokens->connection = connection;
    tokens->name = name;
    tokens->sink = sink;
    tokens->kind = kind;
    weir_rng_init(&tokens->rng, weir_rng_system_seed(), connection);
    weir_timer_init(&tokens->turn, loop, on_turn);
    *ret = tokens;
    return WEIR_OK;
}

static void tell_all(struct weir_tokens *tokens, struct list *list, enum weir_status status)
{
    struct weir_token_ask *ask;
    while ((ask = take_first(list)))
        tell_end(tokens, ask, status);
}

void weir_tokens_free(struct weir_tokens *tokens)
{
    if (!tokens)
        return;
    weir_fetch_free(tokens->fetch);
    tell_all(tokens, &tokens->told, WEIR_E_SHUTDOWN);
    tell_all(tokens, &tokens->waiting, WEIR_E_SHUTDOWN);
    tell_all(tokens, &tokens->cancelled, WEIR_E_CANCELLED);
    tell_all(tokens, &tokens->asked, WEIR_E_SHUTDOWN);
    weir_timer_release(&tokens->turn);
    weir_token_cache_release(&tokens->cache);
    free(tokens->tenant);
    tokens->dead = true;
    if (!tokens->telling)
        free(tokens);
}
