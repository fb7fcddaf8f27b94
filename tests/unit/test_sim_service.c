/* SPDX-License-Identifier: MIT */
/*
 * The service as a whole, in virtual time: login, limits, headers, faults, ledger, statistics.
 * Every test has a world of its own; `now` is its clock, wall time begins at WALL.
 */
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
static struct sim_world_options small(void)
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

static struct sim_world_options boundless(void)
{
    struct sim_world_options options = small();
    options.no_limits = true;
    options.no_time = true;
    return options;
}

static struct weir_str find_header(const char *name, int nth);

static int64_t arrive_and_finish(const struct sim_http_request *request)
{
    struct sim_visit *visit = sim_world_arrive(world, request, now, WALL + now);
    int64_t due = sim_visit_due_us(visit);
    if (due > now)
        now = due;
    sim_world_turn(world, now, WALL + now);
    sim_world_finish(world, visit, now, WALL + now, &answer, &delivery);
    return due;
}

static void log_in(uint32_t user)
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

static void begin(struct sim_world_options options)
{
    struct weir_error err;
    if (sim_world_new(&options, &world, &err) != WEIR_OK)
        ck_abort_msg("%s", err.message);
    sim_answer_init(&answer);
    for (uint32_t user = 0; user < options.scenario.connections && user < 4; user++)
        log_in(user);
}

static void end(void)
{
    sim_answer_release(&answer);
    sim_world_free(world);
}

/* Requests. */

static struct sim_http_request make(uint32_t user, const char *method, const char *target,
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
static int64_t ask(uint32_t user, const char *method, const char *target, const char *body)
{
    struct sim_http_request request = make(user, method, target, body);
    return arrive_and_finish(&request);
}

static struct sim_visit *arrive(uint32_t user, const char *method, const char *target,
                                const char *body)
{
    struct sim_http_request request = make(user, method, target, body);
    return sim_world_arrive(world, &request, now, WALL + now);
}

static void finish(struct sim_visit *visit)
{
    sim_world_finish(world, visit, now, WALL + now, &answer, &delivery);
}

static int status_of(uint32_t user, const char *method, const char *target, const char *body)
{
    ask(user, method, target, body);
    return answer.status;
}

static void fault(const char *list)
{
    char body[1024];
    snprintf(body, sizeof(body), "{\"faults\":[%s]}", list);
    int status = status_of(NO_TOKEN, "POST", "/sim/faults", body);
    ck_assert_msg(status == 200, "%s", weir_buf_text(&answer.body));
}

static bool body_has(const char *text)
{
    return strstr(weir_buf_text(&answer.body), text) != NULL;
}

/* The number behind `key` in a JSON text of ours. */
static double number(const char *target, const char *key)
{
    ck_assert_int_eq(status_of(NO_TOKEN, "GET", target, ""), 200);
    const char *at = strstr(weir_buf_text(&answer.body), key);
    ck_assert_msg(at, "%s in %s", key, weir_buf_text(&answer.body));
    return strtod(at + strlen(key), NULL);
}

static double rows(const char *table)
{
    char target[128];
    snprintf(target, sizeof(target), "/sim/ledger?table=%s", table);
    return number(target, "\"rows\":");
}

/* The value of the nth header of that name, from 0; ptr NULL: there are fewer. */
static struct weir_str find_header(const char *name, int nth)
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

static bool header_is(const char *name, const char *value)
{
    return weir_str_equal(find_header(name, 0), weir_str_from(value));
}

/* Login. */

START_TEST(a_stranger_gets_401_with_the_challenge)
{
    begin(small());
    ck_assert_int_eq(status_of(NO_TOKEN, "GET", API "WhoAmI", ""), 401);
    ck_assert(header_is("WWW-Authenticate", "Bearer authorization_uri=" BASE
                                            "/contoso/oauth2/authorize, resource_id=" BASE "/"));
    ck_assert(body_has("{\"error\":{\"code\":\"0x8004A100\""));
    ck_assert_ptr_nonnull(find_header("REQ_ID", 0).ptr);
    ck_assert_ptr_null(find_header("x-ms-ratelimit-burst-remaining-xrm-requests", 0).ptr);
    ck_assert(number("/sim/stats", "\"requests\":") == 0);
    end();
}
END_TEST

START_TEST(a_token_ends_with_its_lifetime_and_when_it_is_revoked)
{
    struct sim_world_options options = boundless();
    options.token_lifetime_s = 10;
    begin(options);
    ck_assert_int_eq(status_of(0, "GET", API "WhoAmI", ""), 200);
    sim_tokens_revoke(sim_world_tokens(world), 0, true);
    ck_assert_int_eq(status_of(0, "GET", API "WhoAmI", ""), 401);
    ck_assert_int_eq(status_of(1, "GET", API "WhoAmI", ""), 200);
    sim_tokens_revoke(sim_world_tokens(world), 0, false);
    ck_assert_int_eq(status_of(0, "GET", API "WhoAmI", ""), 200);
    now += 11 * S;
    ck_assert_int_eq(status_of(1, "GET", API "WhoAmI", ""), 401);
    end();
}
END_TEST

/* Limits. */

START_TEST(the_first_request_over_the_limit_is_refused_and_it_opens_again)
{
    begin(small());
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(status_of(0, "GET", API "WhoAmI", ""), 200);
        ck_assert_int_eq(now, (i + 1) * S);
    }
    int64_t due = ask(0, "GET", API "WhoAmI", "");
    ck_assert_int_eq(due, 3 * S); /* at once */
    ck_assert_int_eq(answer.status, 429);
    ck_assert_str_eq(weir_buf_text(&answer.body),
                     "{\"error\":{\"code\":\"0x80072322\",\"message\":\"Number of requests "
                     "exceeded the limit of 3 over time window of 5 seconds.\"}}");
    /* The first leaves the window at 5 s. */
    ck_assert(header_is("Retry-After", "2"));
    ck_assert_int_eq(status_of(1, "GET", API "WhoAmI", ""), 200); /* another user */
    now = 5 * S;
    ck_assert_int_eq(status_of(0, "GET", API "WhoAmI", ""), 200);
    end();
}
END_TEST

START_TEST(requests_inside_retry_after_are_counted_and_lengthen_it)
{
    begin(small());
    for (int i = 0; i < 3; i++)
        ask(0, "GET", API "WhoAmI", "");
    ask(0, "GET", API "WhoAmI", "");
    ck_assert(header_is("Retry-After", "2"));
    ask(0, "GET", API "WhoAmI", "");
    ck_assert(header_is("Retry-After", "3"));
    ask(0, "GET", API "WhoAmI", "");
    ck_assert(header_is("Retry-After", "4"));
    now = 6 * S + 500000;
    ask(0, "GET", API "WhoAmI", "");
    ck_assert_int_eq(answer.status, 429);
    ck_assert(header_is("Retry-After", "2")); /* 1.5, rounded up */
    now = 8 * S;
    ck_assert_int_eq(status_of(0, "GET", API "WhoAmI", ""), 200);
    ck_assert(number("/sim/stats", "\"sent_while_throttled\":") == 3);
    ck_assert(body_has("{\"name\":\"app1\",\"requests\":8,\"accepted\":4,\"throttled\":"
                       "{\"requests\":4,\"execution_time\":0,\"concurrency\":0},"
                       "\"execution_s\":4.000000,"));
    end();
}
END_TEST

START_TEST(execution_time_and_concurrency_have_their_own_words)
{
    struct sim_world_options options = small();
    options.scenario.limits.requests = 6000;
    options.scenario.limits.execution_us = 1200 * S;
    options.scenario.limits.window_us = 300 * S;
    options.scenario.limits.concurrent = 2;
    options.scenario.services[0].median_s = 1200;
    begin(options);
    struct sim_visit *first = arrive(0, "GET", API "WhoAmI", "");
    struct sim_visit *second = arrive(0, "GET", API "WhoAmI", "");
    ask(0, "GET", API "WhoAmI", "");
    ck_assert_int_eq(answer.status, 429);
    ck_assert_str_eq(weir_buf_text(&answer.body),
                     "{\"error\":{\"code\":\"0x80072326\",\"message\":\"Number of concurrent "
                     "requests exceeded the limit of 2.\"}}");
    ck_assert(header_is("Retry-After", "2"));
    now = sim_visit_due_us(first);
    ck_assert_int_eq(now, 1200 * S);
    finish(first);
    ck_assert_int_eq(answer.status, 200);
    finish(second);
    ask(0, "GET", API "WhoAmI", "");
    ck_assert_int_eq(answer.status, 200); /* 600 s are in the window */
    end();

    options.scenario.limits.execution_us = 1200 * S;
    options.scenario.limits.window_us = 2400 * S;
    now = 0;
    begin(options);
    ck_assert_int_eq(status_of(0, "GET", API "WhoAmI", ""), 200);
    ck_assert(header_is("x-ms-ratelimit-time-remaining-xrm-requests", "0.00"));
    ck_assert_int_eq(status_of(0, "GET", API "WhoAmI", ""), 429);
    ck_assert_str_eq(weir_buf_text(&answer.body),
                     "{\"error\":{\"code\":\"0x80072321\",\"message\":\"Combined execution time of "
                     "incoming requests exceeded limit of 1,200,000 milliseconds over time window "
                     "of 2400 seconds. Decrease number of concurrent requests or reduce the "
                     "duration of requests and try again later.\"}}");
    end();
}
END_TEST

START_TEST(retry_after_can_be_a_date_or_missing)
{
    struct sim_world_options options = small();
    options.scenario.limits.requests = 1;
    options.scenario.retry_after.form = SIM_RETRY_DATE;
    begin(options);
    ask(0, "GET", API "WhoAmI", "");
    ck_assert_int_eq(status_of(0, "GET", API "WhoAmI", ""), 429);
    ck_assert(header_is("Date", "Fri, 15 Jan 2027 08:00:01 GMT"));
    ck_assert(header_is("Retry-After", "Fri, 15 Jan 2027 08:00:05 GMT"));
    end();
    options.scenario.retry_after.form = SIM_RETRY_MISSING;
    now = 0;
    begin(options);
    ask(0, "GET", API "WhoAmI", "");
    ck_assert_int_eq(status_of(0, "GET", API "WhoAmI", ""), 429);
    ck_assert_ptr_null(find_header("Retry-After", 0).ptr);
    end();
}
END_TEST

START_TEST(what_is_charged_does_not_depend_on_when_somebody_looks)
{
    begin(small());
    struct sim_visit *visit = arrive(0, "GET", API "WhoAmI", "");
    now = 4 * S; /* the machine was busy; it was due at 1 s */
    finish(visit);
    ck_assert(header_is("x-ms-ratelimit-time-remaining-xrm-requests", "99.00"));
    ck_assert(number("/sim/stats", "\"execution_s\":") == 1);
    end();
}
END_TEST

START_TEST(failures_of_the_law_are_503_and_execute_nothing)
{
    struct sim_world_options options = boundless();
    options.scenario.failures = 1;
    begin(options);
    ck_assert_int_eq(status_of(0, "POST", API "accounts", "{\"name\":\"a\"}"), 503);
    ck_assert(rows("account") == 0);
    end();
}
END_TEST

/* Headers. */

START_TEST(an_answer_has_all_headers_of_the_real_one)
{
    static const char *const names[] = { "OData-Version", "CRM.ServiceId",
                                         "x-ms-dop-hint", "Public",
                                         "Allow",         "Expires",
                                         "Cache-Control", "Strict-Transport-Security",
                                         "AuthActivityId" };
    struct sim_world_options options = small();
    options.scenario.limits.execution_us = 1234567 * S;
    begin(options);
    ask(0, "GET", API "WhoAmI", "");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        ck_assert_msg(find_header(names[i], 0).ptr, "%s", names[i]);
        ck_assert_msg(!find_header(names[i], 1).ptr, "%s twice", names[i]);
    }
    ck_assert(header_is("CRM.ServiceId", "framework"));
    ck_assert(header_is("OData-Version", "4.0"));
    ck_assert(header_is("Expires", "-1"));
    ck_assert(header_is("x-ms-dop-hint", "4"));
    ck_assert(header_is("x-ms-ratelimit-burst-remaining-xrm-requests", "2"));
    ck_assert(header_is("x-ms-ratelimit-time-remaining-xrm-requests", "1,234,566.00"));
    struct weir_str id = find_header("x-ms-service-request-id", 0);
    ck_assert_uint_eq(id.len, 36);
    ck_assert(weir_str_equal(id, find_header("x-ms-service-request-id", 1)));
    ck_assert(weir_str_equal(id, find_header("REQ_ID", 0)));
    ck_assert_ptr_nonnull(find_header("X-Source", 1).ptr);
    ck_assert_ptr_null(find_header("X-Source", 2).ptr);
    end();
}
END_TEST

START_TEST(the_cookies_are_four_secure_and_for_http_only)
{
    static const char *const cookies[] = { "ReqClientId=", "ARRAffinity=", "ARRAffinity=",
                                           "orgId=" };
    begin(small());
    ask(0, "GET", API "WhoAmI", "");
    for (int i = 0; i < 4; i++) {
        struct weir_str cookie = find_header("Set-Cookie", i);
        ck_assert(weir_str_starts_nocase(cookie, cookies[i]));
        ck_assert(weir_str_find_nocase(cookie, "; secure; HttpOnly") < cookie.len);
    }
    ck_assert_ptr_null(find_header("Set-Cookie", 4).ptr);
    end();
}
END_TEST

static void keep_affinity(char cookie[160])
{
    struct weir_str value = find_header("Set-Cookie", 1);
    snprintf(cookie, 160, "a=b; %.*s; c=d", (int)strcspn(value.ptr, ";"), value.ptr);
}

START_TEST(the_affinity_cookie_names_a_web_server_and_is_honoured_if_pinned)
{
    char cookie[160];
    char source[80];
    int elsewhere[2] = { 0, 0 };
    for (int pinned = 0; pinned < 2; pinned++) {
        struct sim_world_options options = boundless();
        options.scenario.servers = 8;
        options.scenario.affinity = pinned ? SIM_AFFINITY_PINNED : SIM_AFFINITY_NONE;
        begin(options);
        ask(0, "GET", API "WhoAmI", "");
        keep_affinity(cookie);
        struct weir_str node = find_header("X-Source", 1);
        snprintf(source, sizeof(source), "%.*s", (int)node.len, node.ptr);
        for (int i = 0; i < 50; i++) {
            extra_name = "Cookie";
            extra_value = cookie;
            ask(0, "GET", API "WhoAmI", "");
            elsewhere[pinned] += !weir_str_equal(find_header("X-Source", 1), weir_str_from(source));
        }
        end();
    }
    ck_assert_int_eq(elsewhere[1], 0);
    ck_assert_int_gt(elsewhere[0], 30);
}
END_TEST

/* Paths. */

struct path_case {
    const char *method;
    const char *target;
    int status;
};

static const struct path_case path_cases[] = {
    { "GET", "/", 404 },
    { "GET", "/api/", 404 },
    { "GET", "/nowhere?x=/api/data/", 404 },
    { "GET", API "nowhere", 404 },
    { "GET", BASE API "WhoAmI", 200 },
    { "GET", "/contoso/v2.0/.well-known/openid-configuration", 200 },
    { "GET", "/sim/", 404 },
    { "GET", "/sim/other", 404 },
    { "POST", "/sim/stats", 405 },
    { "DELETE", "/sim/faults", 405 },
    { "GET", "/sim/reset", 405 },
    { "GET", "/sim/stats", 200 },
    { "GET", "/sim/ledger", 400 },
    { "GET", "/sim/ledger?table=nothing", 404 },
    { "GET", "/sim/ledger?table=account&by=nothing", 404 },
    { "GET", "/sim/ledger?table=account&by=accountnumber", 200 },
    { "GET", "/sim/ledger?table=%zz", 400 },
    { "POST", "/sim/faults", 400 },
};

START_TEST(every_path_and_method_has_a_clear_answer)
{
    const struct path_case *c = &path_cases[_i];
    begin(boundless());
    int status = status_of(0, c->method, c->target, "");
    ck_assert_msg(status == c->status, "%s %s: %d", c->method, c->target, status);
    if (status == 405)
        ck_assert_ptr_nonnull(find_header("Allow", 0).ptr);
    end();
}
END_TEST

START_TEST(wrong_faults_are_400_with_the_reason)
{
    begin(boundless());
    ck_assert_int_eq(
        status_of(NO_TOKEN, "POST", "/sim/faults", "{\"faults\":[{\"kind\":\"cut\",\"byte\":-1}]}"),
        400);
    ck_assert(body_has("faults[0].byte is \\\"-1\\\", must be an integer from 0"));
    ck_assert_int_eq(status_of(NO_TOKEN, "POST", "/sim/faults", "{\"faults\":[],\"x\":1}"), 400);
    ck_assert_int_eq(status_of(NO_TOKEN, "POST", "/sim/faults", "[1"), 400);
    end();
}
END_TEST

START_TEST(nothing_below_sim_is_faulted_throttled_or_counted)
{
    struct sim_world_options options = small();
    options.scenario.limits.requests = 1;
    begin(options);
    ask(0, "GET", API "WhoAmI", "");
    ck_assert_int_eq(status_of(0, "GET", API "WhoAmI", ""), 429);
    fault("{\"kind\":\"server_error\"},{\"kind\":\"reset_before\"},{\"kind\":\"unauthorized\"}");
    struct sim_http_request request = make(NO_TOKEN, "GET", "/sim/stats", "");
    ck_assert(!sim_world_head(world, &request, now, &delivery));
    for (int i = 0; i < 5; i++)
        ck_assert_int_eq(status_of(0, "GET", "/sim/stats", ""), 200);
    ck_assert(number("/sim/stats", "\"requests\":") == 2);
    end();
}
END_TEST

/* Faults. */

START_TEST(heads_are_reset_before_or_within_and_only_those_that_match)
{
    begin(boundless());
    fault("{\"kind\":\"reset_before\",\"operation\":\"POST\",\"connection\":\"app2\",\"count\":1},"
          "{\"kind\":\"reset_within\",\"operation\":\"$batch\"}");
    struct sim_http_request request = make(0, "POST", API "accounts", "");
    ck_assert(!sim_world_head(world, &request, now, &delivery));
    request = make(1, "POST", API "accounts", "");
    ck_assert(sim_world_head(world, &request, now, &delivery));
    ck_assert_int_eq(delivery.kind, SIM_RESET_BEFORE);
    ck_assert(!sim_world_head(world, &request, now, &delivery));
    request = make(0, "POST", API "$batch", "");
    ck_assert(sim_world_head(world, &request, now, &delivery));
    ck_assert_int_eq(delivery.kind, SIM_RESET_WITHIN);
    ck_assert(number("/sim/stats", "\"name\":\"app2\",\"requests\":") == 1);
    ck_assert(number("/sim/stats", "\"reset_before\":") == 1);
    end();
}
END_TEST

struct delivery_case {
    const char *fault;
    enum sim_delivery_kind kind;
    int status;
    int rows;
};

#define CREATE ",\"operation\":\"Create\"}"

static const struct delivery_case delivery_cases[] = {
    { "{\"kind\":\"reset_after\"" CREATE, SIM_RESET_AFTER, 204, 1 },
    { "{\"kind\":\"cut\",\"byte\":9" CREATE, SIM_CUT, 204, 1 },
    { "{\"kind\":\"stall\",\"seconds\":7" CREATE, SIM_STALL, 204, 1 },
    { "{\"kind\":\"commit_then_silence\",\"seconds\":7" CREATE, SIM_SILENCE, 204, 1 },
    { "{\"kind\":\"latency_collapse\",\"seconds\":7" CREATE, SIM_STALL, 204, 1 },
    { "{\"kind\":\"unauthorized\"" CREATE, SIM_DELIVER, 401, 0 },
    { "{\"kind\":\"server_error\",\"status\":502" CREATE, SIM_DELIVER, 502, 0 },
    { "{\"kind\":\"html_error\"" CREATE, SIM_DELIVER, 502, 0 },
    { "{\"kind\":\"throttle\"" CREATE, SIM_DELIVER, 429, 0 },
    { "{\"kind\":\"deadlock\"" CREATE, SIM_DELIVER, 400, 0 },
    { "{\"kind\":\"plugin_error\",\"code\":\"0x80048d0b\"" CREATE, SIM_DELIVER, 400, 0 },
    { "{\"kind\":\"bad_row\",\"column\":\"name\",\"value\":\"a\"" CREATE, SIM_DELIVER, 400, 0 },
    { "{\"kind\":\"bad_row\",\"column\":\"name\",\"value\":\"b\"" CREATE, SIM_DELIVER, 204, 1 },
    { "{\"kind\":\"tvp_race\"}", SIM_DELIVER, 204, 1 },        /* no bulk message */
    { "{\"kind\":\"partial_failure\"}", SIM_DELIVER, 204, 1 }, /* no elastic table */
};

START_TEST(a_fault_does_what_it_says_and_is_counted)
{
    const struct delivery_case *c = &delivery_cases[_i];
    begin(boundless());
    fault(c->fault);
    ask(0, "POST", API "accounts", "{\"name\":\"a\"}");
    ck_assert_msg(answer.status == c->status, "%s: %d %s", c->fault, answer.status,
                  weir_buf_text(&answer.body));
    ck_assert_int_eq(delivery.kind, c->kind);
    if (c->kind == SIM_CUT)
        ck_assert_uint_eq(delivery.byte, 9);
    if (c->kind == SIM_STALL || c->kind == SIM_SILENCE)
        ck_assert_int_eq(delivery.stall_us, 7 * S);
    ck_assert(rows("account") == c->rows);
    fault("");
    ck_assert_int_eq(status_of(0, "POST", API "accounts", "{\"name\":\"a\"}"), 204);
    ck_assert_int_eq(delivery.kind, SIM_DELIVER);
    end();
}
END_TEST

START_TEST(errors_of_the_database_carry_their_numbers)
{
    begin(boundless());
    fault("{\"kind\":\"deadlock\",\"count\":1},{\"kind\":\"tvp_race\"}");
    ask(0, "POST", BULK("accounts"), "{\"Targets\":[]}");
    ck_assert(body_has("\"code\":\"0x80044150\"") && body_has("Sql Number: 1205"));
    ask(0, "POST", BULK("accounts"), "{\"Targets\":[]}");
    ck_assert(body_has("\"code\":\"0x80044150\"") && body_has("Sql Number: 3732"));
    end();
}
END_TEST

struct retry_case {
    const char *retry_after;
    const char *header; /* NULL: none */
};

static const struct retry_case retry_cases[] = {
    { "12", "12" },
    { "1.5", "1.5" },
    { "0", "0" },
    { "\"date\"", "Fri, 15 Jan 2027 08:00:05 GMT" },
    { "\"missing\"", NULL },
    { "\"garbage\"", "garbage" },
    { "\"Wed, 21 Oct 2015 07:28:00 GMT\"", "Wed, 21 Oct 2015 07:28:00 GMT" },
};

START_TEST(a_throttle_by_fault_has_the_retry_after_that_was_asked_for)
{
    const struct retry_case *c = &retry_cases[_i];
    char list[256];
    begin(small());
    snprintf(list, sizeof(list),
             "{\"kind\":\"throttle\",\"code\":\"0x80072321\",\"retry_after\":%s}", c->retry_after);
    fault(list);
    ck_assert_int_eq(status_of(0, "GET", API "WhoAmI", ""), 429);
    ck_assert(body_has("\"code\":\"0x80072321\"") && body_has("limit of 100,000 milliseconds"));
    if (c->header)
        ck_assert(header_is("Retry-After", c->header));
    else
        ck_assert_ptr_null(find_header("Retry-After", 0).ptr);
    /* The law knows nothing of it. */
    ck_assert(number("/sim/stats", "\"requests\":") == 1);
    ck_assert(number("/sim/stats", "\"accepted\":") == 0);
    end();
}
END_TEST

#define PART(body)                                                                                 \
    "--b\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n"           \
    "POST " API "accounts HTTP/1.1\r\nContent-Type: application/json\r\n\r\n" body "\r\n"

static void ask_batch(void)
{
    struct sim_header headers[] = {
        { weir_str_from("Authorization"), weir_str_from(tokens[0]) },
        { weir_str_from("Content-Type"), weir_str_from("multipart/mixed; boundary=b") },
        { weir_str_from("Prefer"), weir_str_from("odata.continue-on-error") },
    };
    struct sim_http_request request = {
        weir_str_from("POST"),
        weir_str_from(API "$batch"),
        headers,
        3,
        weir_str_from(PART("{\"name\":\"a\"}") PART("{\"name\":\"b\"}")
                          PART("{\"name\":\"c\"}") "--b--\r\n"),
    };
    arrive_and_finish(&request);
}

START_TEST(a_part_of_a_batch_is_throttled_by_a_fault)
{
    begin(boundless());
    fault("{\"kind\":\"throttle\",\"where\":\"part\",\"index\":1,\"code\":\"0x80072326\","
          "\"retry_after\":9}");
    ask_batch();
    ck_assert_int_eq(answer.status, 200);
    ck_assert(body_has("HTTP/1.1 429 Too Many Requests") && body_has("0x80072326"));
    ck_assert(body_has("Retry-After: 9"));
    ck_assert(rows("account") == 2);
    end();
}
END_TEST

START_TEST(limits_are_checked_for_every_part_if_the_switch_says_so)
{
    for (int on = 0; on < 2; on++) {
        struct sim_world_options options = small();
        options.switches.throttle_inside_batch = on;
        now = 0;
        begin(options);
        ask_batch(); /* itself and two parts are three requests */
        ck_assert_int_eq(answer.status, 200);
        ck_assert_int_eq(body_has("0x80072322"), on);
        ck_assert(rows("account") == (on ? 2 : 3));
        end();
    }
}
END_TEST

#define READING(n)                                                                                 \
    "{\"@odata.type\":\"Microsoft.Dynamics.CRM.sensorreading\",\"sensorreadingid\":"               \
    "\"00000000-0000-0000-0000-00000000000" #n "\"}"
#define READINGS "{\"Targets\":[" READING(1) "," READING(2) "," READING(3) "]}"

START_TEST(rows_of_an_elastic_table_fail_one_by_one)
{
    begin(boundless());
    fault("{\"kind\":\"partial_failure\",\"rows\":[0,2],\"status\":409,\"code\":\"0x80040237\"}");
    extra_name = "Prefer";
    extra_value = "odata.include-annotations=\"*\"";
    ck_assert_int_eq(status_of(0, "POST", BULK("sensorreadings"), READINGS), 409);
    ck_assert(body_has("\"code\":\"0x80040237\""));
    ck_assert(body_has("BulkApiErrorDetails\":\"[{\\\"RequestIndex\\\":0,\\\"Id\\\":"
                       "\\\"00000000-0000-0000-0000-000000000001\\\",\\\"StatusCode\\\":409},"
                       "{\\\"RequestIndex\\\":2,"));
    ck_assert(rows("sensorreading") == 1);
    ck_assert_int_eq(status_of(0, "POST", BULK("sensorreadings"), READINGS), 409);
    ck_assert(!body_has("BulkApiErrorDetails")); /* nobody asked */
    end();
}
END_TEST

START_TEST(a_row_of_an_elastic_table_is_throttled)
{
    begin(boundless());
    fault("{\"kind\":\"throttle\",\"where\":\"detail\",\"index\":1,\"retry_after\":3}");
    extra_name = "Prefer";
    extra_value = "odata.include-annotations=\"*\"";
    ck_assert_int_eq(status_of(0, "POST", BULK("sensorreadings"), READINGS), 500);
    ck_assert(body_has("\\\"RequestIndex\\\":1") && body_has("\\\"StatusCode\\\":429") &&
              body_has("0x80072322"));
    ck_assert(!body_has("\"code\":\"0x80072322\"")); /* the call as a whole was executed */
    ck_assert(header_is("Retry-After", "3"));
    ck_assert(rows("sensorreading") == 2);
    end();
}
END_TEST

START_TEST(commit_then_silence_executes_at_the_end_of_the_service_time)
{
    begin(small());
    fault("{\"kind\":\"commit_then_silence\"}");
    struct sim_visit *visit = arrive(0, "POST", API "accounts", "{\"name\":\"a\"}");
    ck_assert(rows("account") == 0);
    now = sim_visit_due_us(visit);
    ck_assert_int_eq(now, S);
    finish(visit);
    ck_assert_int_eq(delivery.kind, SIM_SILENCE);
    ck_assert_int_eq(delivery.stall_us, 0);
    ck_assert(rows("account") == 1);
    end();
}
END_TEST

START_TEST(a_late_commit_breaks_now_and_comes_later)
{
    begin(small());
    fault("{\"kind\":\"late_commit\",\"seconds\":20}");
    struct sim_visit *visit = arrive(0, "POST", API "accounts", "{\"name\":\"a\"}");
    ck_assert_int_eq(sim_visit_due_us(visit), 0);
    finish(visit);
    ck_assert_int_eq(delivery.kind, SIM_RESET_AFTER);
    now = 19 * S;
    ck_assert_int_eq(sim_world_turn(world, now, WALL + now), 20 * S);
    ck_assert(rows("account") == 0);
    now = 20 * S;
    ck_assert_int_eq(sim_world_turn(world, now, WALL + now), INT64_MAX);
    ck_assert(rows("account") == 1);
    ck_assert(number("/sim/stats", "\"late_commit\":") == 1);
    ck_assert(number("/sim/stats", "\"execution_s\":") == 1);
    end();
}
END_TEST

START_TEST(a_late_commit_is_not_before_the_service_time_is_over)
{
    begin(small());
    fault("{\"kind\":\"late_commit\",\"seconds\":0}");
    finish(arrive(0, "POST", API "accounts", "{\"name\":\"a\"}"));
    ck_assert_int_eq(sim_world_turn(world, 0, WALL), S);
    end();
}
END_TEST

START_TEST(late_commits_come_in_their_order)
{
    begin(boundless());
    for (int i = 0; i < 40; i++) {
        char list[64];
        snprintf(list, sizeof(list), "{\"kind\":\"late_commit\",\"seconds\":%d}", 1 + i * 7 % 40);
        fault(list);
        finish(arrive(0, "POST", API "accounts", "{\"name\":\"a\"}"));
    }
    for (int i = 1; i <= 40; i++) {
        sim_world_turn(world, i * S, WALL + i * S);
        ck_assert(rows("account") == i);
    }
    end();
}
END_TEST

START_TEST(a_latency_collapse_multiplies_the_time_and_charges_nothing)
{
    begin(small());
    fault("{\"kind\":\"latency_collapse\",\"factor\":30}");
    ask(0, "GET", API "WhoAmI", "");
    ck_assert_int_eq(delivery.kind, SIM_STALL);
    ck_assert_int_eq(delivery.stall_us, 29 * S);
    ck_assert(number("/sim/stats", "\"execution_s\":") == 1);
    end();
}
END_TEST

START_TEST(faults_on_tokens_answer_as_the_login_service_does)
{
    begin(boundless());
    struct sim_http_request request = make(NO_TOKEN, "POST", "/contoso/oauth2/v2.0/token", "x=y");
    fault("{\"kind\":\"throttle\",\"operation\":\"token\",\"retry_after\":4,\"count\":1},"
          "{\"kind\":\"unauthorized\",\"operation\":\"token\",\"count\":1},"
          "{\"kind\":\"server_error\",\"operation\":\"token\",\"count\":1},"
          "{\"kind\":\"cut\",\"operation\":\"token\",\"byte\":3}");
    request = make(NO_TOKEN, "POST", "/contoso/oauth2/v2.0/token", "x=y");
    arrive_and_finish(&request);
    ck_assert_int_eq(answer.status, 429);
    ck_assert(header_is("Retry-After", "4"));
    arrive_and_finish(&request);
    ck_assert_int_eq(answer.status, 401);
    ck_assert(body_has("\"error\":\"invalid_client\""));
    arrive_and_finish(&request);
    ck_assert_int_eq(answer.status, 500);
    arrive_and_finish(&request);
    ck_assert_int_eq(delivery.kind, SIM_CUT);
    ck_assert_int_eq(status_of(0, "GET", API "WhoAmI", ""), 200);
    end();
}
END_TEST

/* Reset. */

START_TEST(a_reset_is_as_new_and_what_was_inside_changes_nothing)
{
    begin(small());
    for (int i = 0; i < 3; i++)
        ask(0, "POST", API "accounts", "{\"name\":\"a\"}");
    ck_assert_int_eq(status_of(0, "GET", API "WhoAmI", ""), 429);
    struct sim_visit *inside = arrive(1, "POST", API "accounts", "{\"name\":\"b\"}");
    fault("{\"kind\":\"late_commit\"}");
    finish(arrive(1, "POST", API "accounts", "{\"name\":\"c\"}"));
    ck_assert_int_eq(status_of(NO_TOKEN, "POST", "/sim/reset", ""), 204);
    ck_assert(rows("account") == 0);
    ck_assert(number("/sim/stats", "\"requests\":") == 0);
    ck_assert(number("/sim/stats", "\"late_commit\":") == 0);
    now += 10 * S;
    ck_assert_int_eq(sim_world_turn(world, now, WALL + now), INT64_MAX);
    finish(inside);
    ck_assert_int_eq(answer.status, 503);
    ck_assert(rows("account") == 0);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(status_of(0, "GET", API "WhoAmI", ""), 200);
    ck_assert_int_eq(status_of(0, "GET", API "WhoAmI", ""), 429);
    end();
}
END_TEST

START_TEST(faults_of_the_scenario_are_there_from_the_start_and_after_a_reset)
{
    struct weir_json *json;
    struct sim_world_options options = boundless();
    ck_assert_int_eq(
        weir_json_parse(weir_str_from("{\"faults\":[{\"kind\":\"deadlock\"}]}"), &json, NULL),
        WEIR_OK);
    options.scenario_json = json;
    options.scenario_file = "world.json";
    begin(options);
    ck_assert_int_eq(status_of(0, "GET", API "WhoAmI", ""), 400);
    fault("");
    ck_assert_int_eq(status_of(0, "GET", API "WhoAmI", ""), 200);
    ask(NO_TOKEN, "POST", "/sim/reset", "");
    ck_assert_int_eq(status_of(0, "GET", API "WhoAmI", ""), 400);
    end();
    weir_json_free(json);
}
END_TEST

START_TEST(wrong_faults_of_the_scenario_are_named_with_the_file)
{
    struct weir_json *json;
    struct weir_error err;
    struct sim_world_options options = boundless();
    ck_assert_int_eq(weir_json_parse(weir_str_from("{\"faults\":[{\"kind\":\"x\"}]}"), &json, NULL),
                     WEIR_OK);
    options.scenario_json = json;
    options.scenario_file = "world.json";
    ck_assert_int_eq(sim_world_new(&options, &world, &err), WEIR_E_INVALID);
    ck_assert_ptr_nonnull(strstr(err.message, "world.json: line 1: faults[0].kind is \"x\""));
    weir_json_free(json);
}
END_TEST

START_TEST(the_summary_tells_of_users_and_tables)
{
    struct weir_buf text;
    weir_buf_init(&text, 65536);
    begin(boundless());
    ask(0, "POST", API "accounts", "{\"name\":\"a\"}");
    sim_world_summary(world, &text);
    ck_assert_ptr_nonnull(strstr(weir_buf_text(&text), "app1: 1 requests, 1 accepted, throttled by "
                                                       "requests 0, execution time 0, "
                                                       "concurrency 0\n"));
    ck_assert_ptr_null(strstr(weir_buf_text(&text), "app2"));
    ck_assert_ptr_nonnull(strstr(weir_buf_text(&text), "account: 1 rows\n"));
    weir_buf_release(&text);
    end();
}
END_TEST

#define LOOP(s, table, test)                                                                       \
    suite_add_loop((s), #test, test, (int)(sizeof(table) / sizeof((table)[0])))

int main(void)
{
    struct suite s = suite_new("sim_service");
    suite_add(&s, a_stranger_gets_401_with_the_challenge);
    suite_add(&s, a_token_ends_with_its_lifetime_and_when_it_is_revoked);
    suite_add(&s, the_first_request_over_the_limit_is_refused_and_it_opens_again);
    suite_add(&s, requests_inside_retry_after_are_counted_and_lengthen_it);
    suite_add(&s, execution_time_and_concurrency_have_their_own_words);
    suite_add(&s, retry_after_can_be_a_date_or_missing);
    suite_add(&s, what_is_charged_does_not_depend_on_when_somebody_looks);
    suite_add(&s, failures_of_the_law_are_503_and_execute_nothing);
    suite_add(&s, an_answer_has_all_headers_of_the_real_one);
    suite_add(&s, the_cookies_are_four_secure_and_for_http_only);
    suite_add(&s, the_affinity_cookie_names_a_web_server_and_is_honoured_if_pinned);
    LOOP(&s, path_cases, every_path_and_method_has_a_clear_answer);
    suite_add(&s, wrong_faults_are_400_with_the_reason);
    suite_add(&s, nothing_below_sim_is_faulted_throttled_or_counted);
    suite_add(&s, heads_are_reset_before_or_within_and_only_those_that_match);
    LOOP(&s, delivery_cases, a_fault_does_what_it_says_and_is_counted);
    suite_add(&s, errors_of_the_database_carry_their_numbers);
    LOOP(&s, retry_cases, a_throttle_by_fault_has_the_retry_after_that_was_asked_for);
    suite_add(&s, a_part_of_a_batch_is_throttled_by_a_fault);
    suite_add(&s, limits_are_checked_for_every_part_if_the_switch_says_so);
    suite_add(&s, rows_of_an_elastic_table_fail_one_by_one);
    suite_add(&s, a_row_of_an_elastic_table_is_throttled);
    suite_add(&s, commit_then_silence_executes_at_the_end_of_the_service_time);
    suite_add(&s, a_late_commit_breaks_now_and_comes_later);
    suite_add(&s, a_late_commit_is_not_before_the_service_time_is_over);
    suite_add(&s, late_commits_come_in_their_order);
    suite_add(&s, a_latency_collapse_multiplies_the_time_and_charges_nothing);
    suite_add(&s, faults_on_tokens_answer_as_the_login_service_does);
    suite_add(&s, a_reset_is_as_new_and_what_was_inside_changes_nothing);
    suite_add(&s, faults_of_the_scenario_are_there_from_the_start_and_after_a_reset);
    suite_add(&s, wrong_faults_of_the_scenario_are_named_with_the_file);
    suite_add(&s, the_summary_tells_of_users_and_tables);
    return suite_run(&s);
}
