/* SPDX-License-Identifier: MIT */
/*
 * A transport with a loop of its own, turned by the test's thread, and two ways to use it:
 *
 *     one after the other     struct got got = client_ask(&client, "POST", "/a", "body");
 *     a crowd                 many exchanges, so many of them under way at a time
 *
 * Every wait has an end: GUARD_US, which nothing takes, not even under a sanitizer.
 */
#ifndef WEIR_TESTS_EXCHANGE_H
#define WEIR_TESTS_EXCHANGE_H

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "net/transport.h"
#include "support/suite.h"

#define MS(n)      ((int64_t)(n)*WEIR_US_PER_MS)
#define SECONDS(n) ((int64_t)(n)*WEIR_US_PER_S)
#define COUNT(a)   (sizeof(a) / sizeof((a)[0]))

#define GUARD_US      SECONDS(60)
#define GOT_BYTES_MAX 4096

struct client {
    struct weir_loop *loop;
    struct weir_transport *transport;
    const char *const *headers; /* of every request; borrowed */
    size_t header_count;
};

/* A copy of an answer. */
struct got {
    bool done;
    enum weir_ending ending;
    bool sent;
    bool reused;
    int status;
    char detail[128];
    size_t header_count;
    size_t body_len;
    char body[GOT_BYTES_MAX]; /* its beginning, terminated */
    char location[256];
    int64_t begun_us;
    int64_t sent_us;
    int64_t first_byte_us;
    int64_t done_us;
    struct weir_verdict verdict;
};

/* --- one answer ------------------------------------------------------------------------------- */

/* As the layers above would judge it from the bare HTTP. */
static inline struct weir_verdict judge(const struct weir_exchange_answer *answer)
{
    struct weir_answer read;
    struct weir_http_answer http = {
        .status = answer->status,
        .sent = answer->sent,
        .headers = answer->headers,
        .header_count = answer->header_count,
    };
    weir_answer_read(&http, WEIR_US_PER_S, &read);
    return read.verdict;
}

/* What holds for every answer, however it ended. */
static inline void check_answer(const struct weir_exchange_answer *answer)
{
    bool complete = answer->ending == WEIR_ENDING_COMPLETE;
    must(complete == (answer->status != 0));
    must(complete == (answer->detail[0] == '\0'));
    must(complete || answer->header_count == 0);
    must(answer->body.len == 0 || answer->body.ptr[answer->body.len] == '\0');
    must(answer->begun_us > 0 && answer->done_us >= answer->begun_us);
    must(!answer->sent_us || (answer->sent && answer->sent_us >= answer->begun_us));
    must(!answer->first_byte_us || answer->first_byte_us >= answer->begun_us);
    must(!complete || (answer->sent && answer->first_byte_us));
    must(complete || judge(answer).outcome ==
                         (answer->sent ? WEIR_OUTCOME_UNKNOWN : WEIR_OUTCOME_NOT_EXECUTED));
}

static inline void copy_answer(void *ctx, const struct weir_exchange_answer *answer)
{
    struct got *got = ctx;
    must(!got->done);
    check_answer(answer);
    *got = (struct got){
        .done = true,
        .ending = answer->ending,
        .sent = answer->sent,
        .reused = answer->reused,
        .status = answer->status,
        .header_count = answer->header_count,
        .body_len = answer->body.len,
        .begun_us = answer->begun_us,
        .sent_us = answer->sent_us,
        .first_byte_us = answer->first_byte_us,
        .done_us = answer->done_us,
        .verdict = judge(answer),
    };
    size_t len = answer->body.len < GOT_BYTES_MAX ? answer->body.len : GOT_BYTES_MAX - 1;
    if (len)
        memcpy(got->body, answer->body.ptr, len);
    snprintf(got->detail, sizeof(got->detail), "%s", answer->detail);
    for (size_t i = 0; i < answer->header_count; i++) {
        if (strcasecmp(answer->headers[i].name, "Location") == 0)
            snprintf(got->location, sizeof(got->location), "%s", answer->headers[i].value);
    }
}

static inline void assert_ending(struct got got, enum weir_ending expected)
{
    ck_assert_msg(got.ending == expected, "%s: %s", weir_ending_name(got.ending), got.detail);
}

static inline void assert_complete(struct got got, int status)
{
    assert_ending(got, WEIR_ENDING_COMPLETE);
    ck_assert_int_eq(got.status, status);
}

/* --- the client ------------------------------------------------------------------------------- */

static inline void client_init_with(struct client *client, struct weir_transport_options options)
{
    struct weir_error err;
    *client = (struct client){ 0 };
    if (!options.http.connect_timeout_us)
        options.http.connect_timeout_us = SECONDS(20);
    if (!options.http.first_byte_timeout_us)
        options.http.first_byte_timeout_us = SECONDS(20);
    if (!options.http.request_timeout_us)
        options.http.request_timeout_us = SECONDS(20);
    enum weir_status status = weir_loop_new(&client->loop, &err);
    ck_assert_msg(status == WEIR_OK, "%s", status ? err.message : "");
    status = weir_transport_new(client->loop, &options, &client->transport, &err);
    ck_assert_msg(status == WEIR_OK, "%s", status ? err.message : "");
}

static inline void client_init(struct client *client, const char *url)
{
    client_init_with(client, (struct weir_transport_options){ .origin = url });
}

static inline void client_release(struct client *client)
{
    weir_transport_free(client->transport);
    weir_loop_free(client->loop);
}

/* Turn the loop until it is so. */
#define client_until(client, condition)                                                            \
    do {                                                                                           \
        int64_t guard_us = weir_clock_now_us() + GUARD_US;                                         \
        while (!(condition)) {                                                                     \
            weir_loop_turn((client)->loop, MS(20));                                                \
            must(weir_clock_now_us() < guard_us);                                                  \
        }                                                                                          \
    } while (0)

/* Turn the loop for a while, in which whatever is under way may happen. */
static inline void client_idle(struct client *client, int64_t span_us)
{
    int64_t until_us = weir_clock_now_us() + span_us;
    while (weir_clock_now_us() < until_us)
        weir_loop_turn(client->loop, MS(5));
}

/* With these time-outs; zero members: the transport's. The body may be NULL. */
static inline struct got client_ask_within(struct client *client, const char *method,
                                           const char *target, struct weir_str body,
                                           struct weir_http_options http)
{
    struct got got = { 0 };
    struct weir_exchange_request request = {
        .method = method,
        .target = target,
        .headers = client->headers,
        .header_count = client->header_count,
        .body = &body,
        .body_count = body.ptr ? 1 : 0,
        .http = http,
    };
    weir_transport_send(client->transport, &request, copy_answer, &got);
    must(!got.done); /* never before the function has returned */
    client_until(client, got.done);
    return got;
}

static inline struct got client_ask(struct client *client, const char *method, const char *target,
                                    const char *body)
{
    return client_ask_within(client, method, target, weir_str_from(body),
                             (struct weir_http_options){ 0 });
}

static inline struct weir_transport_stats client_stats(const struct client *client)
{
    struct weir_transport_stats stats;
    weir_transport_stats(client->transport, &stats);
    return stats;
}

/* --- a crowd ---------------------------------------------------------------------------------- */

#define CROWD_TARGET_MAX 128

struct crowd {
    struct client *client;
    uint32_t count;
    uint32_t in_flight_max;
    const char *method;
    const char *body;                                                       /* NULL: none */
    void (*name)(void *ctx, uint32_t index, char target[CROWD_TARGET_MAX]); /* NULL: "/index" */
    void (*heard)(void *ctx, uint32_t index, const struct weir_exchange_answer *answer);
    void *ctx;

    uint32_t begun;
    uint32_t done;
};

struct crowd_place {
    struct crowd *crowd;
    uint32_t index;
    char target[CROWD_TARGET_MAX];
    struct weir_str body;
};

static inline void crowd_done(void *ctx, const struct weir_exchange_answer *answer);

static inline void crowd_send(struct crowd_place *place)
{
    struct crowd *crowd = place->crowd;
    place->index = crowd->begun++;
    place->body = weir_str_from(crowd->body);
    if (crowd->name)
        crowd->name(crowd->ctx, place->index, place->target);
    else
        snprintf(place->target, sizeof(place->target), "/%u", place->index);
    struct weir_exchange_request request = {
        .method = crowd->method,
        .target = place->target,
        .headers = crowd->client->headers,
        .header_count = crowd->client->header_count,
        .body = &place->body,
        .body_count = crowd->body ? 1 : 0,
    };
    weir_transport_send(crowd->client->transport, &request, crowd_done, place);
}

static inline void crowd_done(void *ctx, const struct weir_exchange_answer *answer)
{
    struct crowd_place *place = ctx;
    struct crowd *crowd = place->crowd;
    check_answer(answer);
    crowd->heard(crowd->ctx, place->index, answer);
    crowd->done++;
    if (crowd->begun < crowd->count)
        crowd_send(place);
}

static inline void crowd_run(struct crowd *crowd)
{
    struct crowd_place *places = weir_calloc(crowd->in_flight_max, sizeof(*places));
    for (uint32_t i = 0; i < crowd->in_flight_max && crowd->begun < crowd->count; i++) {
        places[i].crowd = crowd;
        crowd_send(&places[i]);
    }
    uint32_t seen = 0;
    while (crowd->done < crowd->count) { /* a guard for each step, not for the whole */
        client_until(crowd->client, crowd->done > seen);
        seen = crowd->done;
    }
    free(places);
}

#endif
