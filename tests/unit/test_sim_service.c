/* SPDX-License-Identifier: MIT */
/* The service as a whole, in virtual time: login, limits, headers, paths, reset. */
#include "support/world.h"

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

/* Reset. */

START_TEST(optional_parameters_are_counted_until_a_reset)
{
    begin(boundless());
    ck_assert_int_eq(status_of(0, "POST", API "accounts?tag=job", "{}"), 204);
    ck_assert_int_eq(status_of(0, "POST", API "accounts", "{}"), 204);
    ck_assert(number("/sim/stats", "\"tag\":") == 1);
    ck_assert(body_has(",\"headers\":{\"bypass_sync\":0,"));
    ck_assert_int_eq(status_of(NO_TOKEN, "POST", "/sim/reset", ""), 204);
    ck_assert(number("/sim/stats", "\"tag\":") == 0);
    end();
}
END_TEST

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
    suite_add(&s, optional_parameters_are_counted_until_a_reset);
    suite_add(&s, a_reset_is_as_new_and_what_was_inside_changes_nothing);
    suite_add(&s, faults_of_the_scenario_are_there_from_the_start_and_after_a_reset);
    suite_add(&s, wrong_faults_of_the_scenario_are_named_with_the_file);
    suite_add(&s, the_summary_tells_of_users_and_tables);
    return suite_run(&s);
}
