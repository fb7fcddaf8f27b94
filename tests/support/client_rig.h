/* SPDX-License-Identifier: MIT */
/*
 * A client of the library against the weir-sim of sim_process.h: options with as many application
 * users as the simulator has, and what its counters say.
 */
#ifndef WEIR_TESTS_CLIENT_RIG_H
#define WEIR_TESTS_CLIENT_RIG_H

#include <inttypes.h>
#include <pthread.h>

#include "base/json.h"
#include "base/mem.h"
#include "support/sim_process.h"
#include "weir/weir.h"

#define ACCOUNT       "{\"name\":\"a\"}"
#define RIG_USERS_MAX 8

struct rig {
    struct weir_options options;
    struct weir_connection_options connections[RIG_USERS_MAX];
    char names[RIG_USERS_MAX][16];
    char secrets[RIG_USERS_MAX][64];
    struct weir_log_sink sink;
    struct weir_client *client;
    struct weir_error err;
    pthread_mutex_t lock; /* of the log */
    struct weir_buf log;
    void (*heard)(void); /* called for every record, on whatever thread; NULL: nobody */
};

static struct rig rig;

/* The options, before a client is made of them. */
static inline void rig_users(size_t users)
{
    weir_options_defaults(&rig.options);
    for (size_t i = 0; i < users; i++) {
        snprintf(rig.names[i], sizeof(rig.names[i]), "app%zu", i + 1);
        snprintf(rig.secrets[i], sizeof(rig.secrets[i]), "app%zu~simulated.client-secret", i + 1);
        rig.connections[i] = (struct weir_connection_options){
            .name = rig.names[i],
            .client_id = rig.names[i],
            .client_secret = rig.secrets[i],
            .certificate_algorithm = "PS256",
        };
    }
    rig.options.url = sim.url;
    rig.options.authority = sim.url;
    rig.options.tenant_id = "contoso";
    rig.options.connections = rig.connections;
    rig.options.connection_count = users;
    rig.options.resilience.retry_after_buffer_us = 0;
}

static inline void rig_write_log(void *ctx, const struct weir_log_record *record)
{
    char line[4096];
    (void)ctx;
    weir_log_format_text(record, line, sizeof(line));
    pthread_mutex_lock(&rig.lock);
    weir_buf_add_text(&rig.log, line);
    weir_buf_add_char(&rig.log, '\n');
    pthread_mutex_unlock(&rig.lock);
    if (rig.heard)
        rig.heard();
}

static inline void rig_open(void)
{
    pthread_mutex_init(&rig.lock, NULL);
    weir_buf_init(&rig.log, (size_t)64 * 1024 * 1024);
    rig.sink = (struct weir_log_sink){ WEIR_LOG_TRACE, rig_write_log, NULL };
    enum weir_status status = weir_client_new(&rig.options, &rig.sink, &rig.client, &rig.err);
    ck_assert_msg(status == WEIR_OK, "%s", rig.err.message);
}

/* A simulator without limits, and a client with that many of its users. */
static inline void rig_start(size_t users)
{
    char count[8];
    snprintf(count, sizeof(count), "%zu", users);
    start("--users", count, "--no-limits", NULL);
    rig_users(users);
    rig_open();
}

static inline void rig_close(void)
{
    weir_client_free(rig.client);
    weir_buf_release(&rig.log);
    pthread_mutex_destroy(&rig.lock);
    weir_buf_release(&bytes);
    stop();
}

/* A request that need not succeed. */
static inline enum weir_status rig_try(const char *method, const char *path, const char *body,
                                       bool repeatable, struct weir_response *response)
{
    struct weir_request request = {
        .method = method,
        .path = path,
        .body = body,
        .body_bytes = body ? strlen(body) : 0,
        .repeatable = repeatable,
    };
    return weir_execute(rig.client, &request, response, &rig.err);
}

/* WhoAmI must succeed. */
static inline void rig_who(struct weir_response *response)
{
    enum weir_status status = rig_try("GET", "WhoAmI", NULL, false, response);
    ck_assert_msg(status == WEIR_OK, "%s", rig.err.message);
}

/* The sum over all users of a counter of /sim/stats. */
static inline long rig_count(const char *counter)
{
    struct weir_json *json;
    long sum = 0;
    ck_assert_int_eq(ask("GET", "/sim/stats", NULL), 200);
    ck_assert_int_eq(weir_json_parse(weir_str_from(body_of(&bytes)), &json, NULL), WEIR_OK);
    const struct weir_json_node *users = weir_json_find(weir_json_root(json), "connections");
    for (const struct weir_json_node *it = users->first; it; it = it->next) {
        const struct weir_json_node *node = weir_json_find(it, counter);
        ck_assert_msg(node, "no counter %s", counter);
        sum += strtol(node->text.ptr, NULL, 10);
    }
    weir_json_free(json);
    return sum;
}

static inline int64_t now_us(void)
{
    return weir_clock_now_us();
}

/* Until the simulator has counted so many requests. */
static inline void await_requests(long count)
{
    int64_t deadline_us = now_us() + WAIT_MS * WEIR_US_PER_MS;
    while (rig_count("requests") < count)
        ck_assert(now_us() < deadline_us);
}

/* Until so many are leased or wait for it. */
static inline void await_inside(uint64_t count)
{
    struct weir_pool_stats stats = { 0 };
    int64_t deadline_us = now_us() + WAIT_MS * WEIR_US_PER_MS;
    while ((uint64_t)stats.active_leases + (uint64_t)stats.waiters < count) {
        ck_assert(now_us() < deadline_us);
        weir_pool_stats(weir_client_pool(rig.client), &stats);
    }
}

/* Until the pool has heard of so many throttles. */
static inline void await_throttles(uint64_t count)
{
    struct weir_pool_stats stats = { 0 };
    int64_t deadline_us = now_us() + WAIT_MS * WEIR_US_PER_MS;
    while ((uint64_t)stats.total_throttle_events < count) {
        ck_assert(now_us() < deadline_us);
        weir_pool_stats(weir_client_pool(rig.client), &stats);
    }
}

/* Somebody who creates a row and may be called off. */
struct called_off {
    uint64_t tag;
    enum weir_status status;
    struct weir_error err;
};

static inline void *create_in_a_thread(void *ctx)
{
    struct called_off *it = ctx;
    struct weir_request request = {
        .method = "POST",
        .path = "accounts",
        .body = ACCOUNT,
        .body_bytes = strlen(ACCOUNT),
        .repeatable = true,
        .cancel_tag = it->tag,
    };
    struct weir_response response;
    it->status = weir_execute(rig.client, &request, &response, &it->err);
    weir_response_release(&response);
    return NULL;
}

#endif
