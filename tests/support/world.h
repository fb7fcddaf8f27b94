/* SPDX-License-Identifier: MIT */
/*
 * A simulated service in virtual time, for tests: one world, its clock, and its users logged in.
 * `now` is the clock, wall time begins at WALL; answer and delivery are those of the last request.
 */
#ifndef WEIR_TESTS_WORLD_H
#define WEIR_TESTS_WORLD_H

#include "sim/service/service.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "support/suite.h"

#define API      "/api/data/v9.2/"
#define BASE     "http://127.0.0.1:8080"
#define BULK(s)  API s "/Microsoft.Dynamics.CRM.CreateMultiple"
#define WALL     (INT64_C(1800000000) * WEIR_US_PER_S)
#define S        WEIR_US_PER_S
#define HEADERS  8
#define NO_TOKEN 99

static struct sim_world *world;
static int64_t now;
static char tokens[4][2048];
static struct sim_answer answer;
static struct sim_delivery delivery;
static const char *extra_name; /* one more header for the next request */
static const char *extra_value;

/* Worlds. */

/* 3 requests in 5 s, 4 s of execution, 2 at a time; every request takes a second, all of it
 * charged. */
static inline struct sim_world_options small(void)
{
    struct sim_world_options options = {
        .switches = { .duplicate_status = 412 },
        .base_url = BASE,
        .seed = 1,
        .flat_time = true,
        .token_lifetime_s = 3599,
    };
    sim_scenario_init(&options.scenario);
    options.scenario.limits.requests = 3;
    options.scenario.limits.execution_us = 100 * S;
    options.scenario.limits.concurrent = 52;
    options.scenario.limits.window_us = 5 * S;
    options.scenario.services[0].median_s = 1;
    options.scenario.services[0].sigma = 0;
    options.scenario.services[0].overhead_us = 0;
    return options;
}

static inline struct sim_world_options boundless(void)
{
    struct sim_world_options options = small();
    options.no_limits = true;
    options.no_time = true;
    return options;
}

static inline int64_t arrive_and_finish(const struct sim_http_request *request)
{
    struct sim_visit *visit = sim_world_arrive(world, request, now, WALL + now);
    int64_t due = sim_visit_due_us(visit);
    if (due > now)
        now = due;
    sim_world_turn(world, now, WALL + now);
    sim_world_finish(world, visit, now, WALL + now, &answer, &delivery);
    return due;
}

static inline void log_in(uint32_t user)
{
    char body[512];
    char secret[128];
    snprintf(body, sizeof(body),
             "client_id=app%u&client_secret=%s&grant_type=client_credentials&scope=" BASE
             "/.default",
             user + 1, sim_tokens_secret(user, secret, sizeof(secret)));
    struct sim_header type = { weir_str_from("Content-Type"),
                               weir_str_from("application/x-www-form-urlencoded") };
    struct sim_http_request request = { weir_str_from("POST"),
                                        weir_str_from("/contoso/oauth2/v2.0/token"), &type, 1,
                                        weir_str_from(body) };
    arrive_and_finish(&request);
    const char *begin = strstr(weir_buf_text(&answer.body), "\"access_token\":\"");
    ck_assert_msg(answer.status == 200 && begin, "%s", weir_buf_text(&answer.body));
    begin += strlen("\"access_token\":\"");
    snprintf(tokens[user], sizeof(tokens[user]), "Bearer %.*s", (int)strcspn(begin, "\""), begin);
}

static inline void begin(struct sim_world_options options)
{
    struct weir_error err;
    if (sim_world_new(&options, &world, &err) != WEIR_OK)
        ck_abort_msg("%s", err.message);
    sim_answer_init(&answer);
    for (uint32_t user = 0; user < options.scenario.connections && user < 4; user++)
        log_in(user);
}

static inline void end(void)
{
    sim_answer_release(&answer);
    sim_world_free(world);
}

/* Requests. */

static inline struct sim_http_request make(uint32_t user, const char *method, const char *target,
                                           const char *body)
{
    static struct sim_header headers[HEADERS];
    size_t count = 0;
    headers[count++] =
        (struct sim_header){ weir_str_from("Content-Type"), weir_str_from("application/json") };
    if (user != NO_TOKEN)
        headers[count++] =
            (struct sim_header){ weir_str_from("authorization"), weir_str_from(tokens[user]) };
    if (extra_name)
        headers[count++] =
            (struct sim_header){ weir_str_from(extra_name), weir_str_from(extra_value) };
    extra_name = NULL;
    return (struct sim_http_request){ weir_str_from(method), weir_str_from(target), headers, count,
                                      weir_str_from(body) };
}

/* A request from its arrival to its answer; time goes on. Returns when it was due. */
static inline int64_t ask(uint32_t user, const char *method, const char *target, const char *body)
{
    struct sim_http_request request = make(user, method, target, body);
    return arrive_and_finish(&request);
}

static inline struct sim_visit *arrive(uint32_t user, const char *method, const char *target,
                                       const char *body)
{
    struct sim_http_request request = make(user, method, target, body);
    return sim_world_arrive(world, &request, now, WALL + now);
}

static inline void finish(struct sim_visit *visit)
{
    sim_world_finish(world, visit, now, WALL + now, &answer, &delivery);
}

static inline int status_of(uint32_t user, const char *method, const char *target, const char *body)
{
    ask(user, method, target, body);
    return answer.status;
}

static inline void fault(const char *list)
{
    char body[1024];
    snprintf(body, sizeof(body), "{\"faults\":[%s]}", list);
    int status = status_of(NO_TOKEN, "POST", "/sim/faults", body);
    ck_assert_msg(status == 200, "%s", weir_buf_text(&answer.body));
}

static inline bool body_has(const char *text)
{
    return strstr(weir_buf_text(&answer.body), text) != NULL;
}

/* The number behind `key` in a JSON text of ours. */
static inline double number(const char *target, const char *key)
{
    ck_assert_int_eq(status_of(NO_TOKEN, "GET", target, ""), 200);
    const char *at = strstr(weir_buf_text(&answer.body), key);
    ck_assert_msg(at, "%s in %s", key, weir_buf_text(&answer.body));
    return strtod(at + strlen(key), NULL);
}

static inline double rows(const char *table)
{
    char target[128];
    snprintf(target, sizeof(target), "/sim/ledger?table=%s", table);
    return number(target, "\"rows\":");
}

/* The value of the nth header of that name, from 0; ptr NULL: there are fewer. */
static inline struct weir_str find_header(const char *name, int nth)
{
    struct weir_str rest = weir_str(weir_buf_text(&answer.headers), answer.headers.len);
    size_t len = strlen(name);
    while (rest.len) {
        const char *stop = memchr(rest.ptr, '\r', rest.len);
        size_t line = (size_t)(stop - rest.ptr);
        if (line > len && rest.ptr[len] == ':' && weir_str_starts_nocase(rest, name) && nth-- == 0)
            return weir_str_trim(weir_str(rest.ptr + len + 1, line - len - 1));
        rest = weir_str(rest.ptr + line + 2, rest.len - line - 2);
    }
    return weir_str(NULL, 0);
}

static inline bool header_is(const char *name, const char *value)
{
    return weir_str_equal(find_header(name, 0), weir_str_from(value));
}

#endif
