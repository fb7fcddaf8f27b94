/* SPDX-License-Identifier: MIT */
/*
 * weir_execute() from outside: what is on the wire, what is waited for, what the caller learns.
 * Over real sockets against weir-sim. Waits are asserted from below only: they may take longer on a
 * busy machine, but never less.
 */
#include "base/limits.h"
#include "support/client_rig.h"

static void throttle(const char *rest)
{
    char text[256];
    snprintf(text, sizeof(text),
             "{\"kind\":\"throttle\",\"operation\":\"GET\",\"code\":\"0x80072322\"%s}", rest);
    fault(text);
}

/* ---- answers ---- */

START_TEST(a_request_is_answered)
{
    struct weir_response response;
    rig_start(1);
    rig_who(&response);
    ck_assert_int_eq(response.status, 200);
    ck_assert_int_eq(response.requests, 1);
    ck_assert_str_eq(response.connection, "app1");
    ck_assert_ptr_nonnull(strstr(response.body, "\"UserId\""));
    ck_assert_uint_eq(strlen(response.body), response.body_bytes);
    ck_assert_str_eq(weir_response_header(&response, "odata-version"), "4.0");
    ck_assert_ptr_null(weir_response_header(&response, "x-nothing"));
    ck_assert_int_eq(response.answer.verdict.class_, WEIR_CLASS_OK);
    ck_assert(response.answer.duration_us > 0);
    weir_response_release(&response);
    weir_response_release(&response);
    rig_close();
}
END_TEST

START_TEST(the_service_says_no_in_its_own_words)
{
    struct weir_response response;
    rig_start(1);
    ck_assert_int_eq(
        rig_try("GET", "accounts(00000000-0000-0000-0000-000000000001)", NULL, false, &response),
        WEIR_E_REFUSED);
    ck_assert_int_eq(rig.err.http_status, 404);
    ck_assert_uint_eq(rig.err.service_code, 0x80040217);
    ck_assert_msg(strstr(rig.err.message, "0x80040217: "), "%s", rig.err.message);
    ck_assert_str_eq(rig.err.connection, "app1");
    ck_assert(rig.err.outcome_known);
    ck_assert(!rig.err.retryable);
    ck_assert_ptr_null(response.memory);
    ck_assert_int_eq(rig_try("POST", "accounts", "{\"nonsense\":1}", false, &response),
                     WEIR_E_REFUSED);
    ck_assert_int_eq(rig.err.http_status, 400);
    rig_close();
}
END_TEST

/* A counter of /sim/stats, of each of four web servers. */
static void count_servers(const char *counter, long ret[4])
{
    struct weir_json *json;
    ck_assert_int_eq(ask("GET", "/sim/stats", NULL), 200);
    ck_assert_int_eq(weir_json_parse(weir_str_from(body_of(&bytes)), &json, NULL), WEIR_OK);
    const struct weir_json_node *servers = weir_json_find(weir_json_root(json), "servers");
    ck_assert_uint_eq(servers->count, 4);
    for (const struct weir_json_node *it = servers->first; it; it = it->next)
        *ret++ = strtol(weir_json_find(it, counter)->text.ptr, NULL, 10);
    weir_json_free(json);
}

START_TEST(budget_asks_for_web_servers_and_aimd_does_not)
{
    static const char *const policies[] = { "Budget", "Aimd" };
    long requests[4], asked[4];
    start("--users", "1", "--servers", "4", "--affinity", "pinned", "--service-time", "0", NULL);
    rig_users(1);
    rig.options.adaptive_rate.policy = policies[_i];
    rig_open();
    for (int i = 0; i < 300; i++) {
        struct weir_response response;
        rig_who(&response);
        weir_response_release(&response);
    }
    count_servers("requests", requests);
    count_servers("asked", asked);
    for (int i = 0; i < 4; i++) {
        ck_assert_int_gt(requests[i], 0);
        ck_assert_int_le(asked[i], requests[i]);
        ck_assert_msg(_i == 0 ? asked[i] > 0 : asked[i] == 0, "server %d: %ld", i, asked[i]);
    }
    rig_close();
}
END_TEST

START_TEST(headers_of_the_caller_go_along)
{
    struct weir_response response;
    struct weir_http_header headers[] = { { "Prefer", "return=representation" },
                                          { "accept", "application/json;odata.metadata=none" } };
    struct weir_request request = {
        .method = "POST",
        .path = "accounts",
        .headers = headers,
        .header_count = 2,
        .body = ACCOUNT,
        .body_bytes = strlen(ACCOUNT),
    };
    rig_start(1);
    ck_assert_int_eq(weir_execute(rig.client, &request, &response, &rig.err), WEIR_OK);
    ck_assert_int_eq(response.status, 201);
    ck_assert_ptr_nonnull(strstr(response.body, "\"accountid\""));
    weir_response_release(&response);
    rig_close();
}
END_TEST

/* Ours, "If-None-Match: null", would have made a row of the first one. */
START_TEST(a_condition_of_the_caller_stands_by_itself)
{
    struct weir_response response;
    struct weir_http_header exists = { "if-match", "*" };
    struct weir_request request = {
        .method = "PATCH",
        .path = "accounts(00000000-0000-0000-0000-000000000001)",
        .headers = &exists,
        .header_count = 1,
        .body = ACCOUNT,
        .body_bytes = strlen(ACCOUNT),
    };
    rig_start(1);
    ck_assert_int_eq(weir_execute(rig.client, &request, &response, &rig.err), WEIR_E_REFUSED);
    ck_assert_int_eq(rig.err.http_status, 404);
    ck_assert_int_eq(rows(), 0);
    request.header_count = 0;
    ck_assert_int_eq(weir_execute(rig.client, &request, &response, &rig.err), WEIR_OK);
    ck_assert_int_eq(rows(), 1);
    weir_response_release(&response);
    ck_assert_int_eq(rig_try("DELETE", request.path, NULL, false, &response), WEIR_OK);
    ck_assert_int_eq(response.status, 204);
    weir_response_release(&response);
    rig_close();
}
END_TEST

static const struct weir_request bad_requests[] = {
    { .method = "HEAD", .path = "WhoAmI" },
    { .method = "get", .path = "WhoAmI" },
    { .method = NULL, .path = "WhoAmI" },
    { .method = "GET\r\nX: y", .path = "WhoAmI" },
    { .method = "GET", .path = NULL },
    { .method = "GET", .path = "" },
    { .method = "GET", .path = "//evil.example/x" },
    { .method = "GET", .path = "accounts#fragment" },
    { .method = "GET",
      .path = "WhoAmI",
      .headers = &(struct weir_http_header){ "X-Y", "" },
      .header_count = 1 },
    { .method = "GET",
      .path = "WhoAmI",
      .headers = &(struct weir_http_header){ "Upgrade", "h2c" },
      .header_count = 1 },
    { .method = "GET",
      .path = "WhoAmI",
      .headers = &(struct weir_http_header){ "Accept-Encoding", "gzip" },
      .header_count = 1 },
    { .method = "POST", .path = "accounts", .body_bytes = 5 },
    { .method = "GET", .path = "accounts?$filter=name eq 'a'" },
    { .method = "GET", .path = "Who\r\nAmI" },
    { .method = "GET", .path = "Who\x7f" },
    { .method = "GET",
      .path = "WhoAmI",
      .headers = &(struct weir_http_header){ "Authorization", "Bearer mine" },
      .header_count = 1 },
    { .method = "GET",
      .path = "WhoAmI",
      .headers = &(struct weir_http_header){ "hOsT", "evil.example" },
      .header_count = 1 },
    { .method = "GET",
      .path = "WhoAmI",
      .headers = &(struct weir_http_header){ "X-Y", "a\r\nAuthorization: x" },
      .header_count = 1 },
    { .method = "GET",
      .path = "WhoAmI",
      .headers = &(struct weir_http_header){ "X Y", "a" },
      .header_count = 1 },
    { .method = "GET",
      .path = "WhoAmI",
      .headers = &(struct weir_http_header){ "", "a" },
      .header_count = 1 },
    { .method = "GET",
      .path = "WhoAmI",
      .headers = &(struct weir_http_header){ "X-Y", NULL },
      .header_count = 1 },
    { .method = "GET",
      .path = "WhoAmI",
      .headers = &(struct weir_http_header){ NULL, "a" },
      .header_count = 1 },
};

START_TEST(what_cannot_be_sent_is_refused_before_anything_is)
{
    struct weir_response response;
    rig_start(1);
    for (size_t i = 0; i < sizeof(bad_requests) / sizeof(bad_requests[0]); i++) {
        ck_assert_int_eq(weir_execute(rig.client, &bad_requests[i], &response, &rig.err),
                         WEIR_E_INVALID);
        ck_assert_uint_gt(strlen(rig.err.message), 10);
    }
    static struct weir_http_header many[100];
    for (size_t i = 0; i < 100; i++)
        many[i] = (struct weir_http_header){ "X-Y", "a" };
    struct weir_request request = {
        .method = "GET", .path = "WhoAmI", .headers = many, .header_count = 100
    };
    ck_assert_int_eq(weir_execute(rig.client, &request, &response, NULL), WEIR_E_TOO_BIG);
    char *value = weir_calloc(WEIR_REQUEST_OWN_BYTES_MAX + 1, 1);
    memset(value, 'x', WEIR_REQUEST_OWN_BYTES_MAX);
    many[0].value = value;
    request.header_count = 1;
    ck_assert_int_eq(weir_execute(rig.client, &request, &response, NULL), WEIR_E_TOO_BIG);
    free(value);
    char *path = weir_calloc(40000, 1);
    memset(path, 'x', 32760); /* fits, but not behind the address of the Web API */
    ck_assert_int_eq(rig_try("GET", path, NULL, false, &response), WEIR_E_INVALID);
    free(path);
    ck_assert_int_eq(rig_count("requests"), 0);
    rig_who(&response); /* none of it was held against the connection */
    ck_assert_int_eq(response.requests, 1);
    weir_response_release(&response);
    rig_close();
}
END_TEST

/* ---- throttling, as seed 000 wants it ---- */

START_TEST(a_throttled_request_goes_to_another_connection_at_once)
{
    struct weir_response response;
    rig_start(2);
    throttle(",\"count\":1,\"retry_after\":600");
    rig_who(&response);
    ck_assert_str_eq(response.connection, "app2");
    ck_assert_int_eq(response.requests, 2);
    weir_response_release(&response);
    int64_t remaining_us;
    ck_assert(weir_pool_is_throttled(weir_client_pool(rig.client), "app1", &remaining_us));
    ck_assert(remaining_us > 500 * WEIR_US_PER_S);
    rig_who(&response);
    ck_assert_str_eq(response.connection, "app2");
    weir_response_release(&response);
    ck_assert_ptr_nonnull(strstr(rig.log.ptr, "Connection=app1"));
    ck_assert_ptr_nonnull(strstr(rig.log.ptr, "0x80072322"));
    rig_close();
}
END_TEST

START_TEST(when_all_are_throttled_the_shortest_wait_is_waited_for)
{
    struct weir_response response;
    rig_start(2);
    throttle(",\"count\":2,\"retry_after\":2");
    int64_t begun_us = now_us();
    rig_who(&response);
    ck_assert(now_us() - begun_us >= 2 * WEIR_US_PER_S);
    ck_assert_int_eq(response.requests, 3);
    ck_assert_int_eq(rig_count("requests"), 3);
    weir_response_release(&response);
    struct weir_pool_stats stats;
    weir_pool_stats(weir_client_pool(rig.client), &stats);
    ck_assert_uint_eq(stats.total_throttle_events, 2);
    ck_assert_uint_eq(stats.active_leases, 0);
    rig_close();
}
END_TEST

START_TEST(real_limits_are_never_run_into_twice)
{
    struct weir_response response;
    start("--users", "2", "--requests", "6", "--window", "2", "--service-time", "1", NULL);
    rig_users(2);
    rig_open();
    for (int i = 0; i < 40; i++) {
        rig_who(&response);
        weir_response_release(&response);
    }
    ck_assert_int_eq(rig_count("sent_while_throttled"), 0);
    ck_assert_int_eq(rig_count("accepted"), 40);
    struct weir_pool_stats stats;
    weir_pool_stats(weir_client_pool(rig.client), &stats);
    ck_assert_uint_ge(stats.total_throttle_events, 2);
    ck_assert_uint_eq(stats.requests_served, 40 + stats.total_throttle_events);
    rig_close();
}
END_TEST

static const int retries[] = { 1, 2, 3 };

START_TEST(max_throttle_retries_is_the_number_of_requests_on_the_wire)
{
    struct weir_response response;
    start("--users", "1", "--no-limits", NULL);
    rig_users(1);
    rig.options.resilience.max_throttle_retries = retries[_i];
    rig_open();
    throttle(",\"every\":1,\"retry_after\":1");
    int64_t begun_us = now_us();
    ck_assert_int_eq(rig_try("GET", "WhoAmI", NULL, false, &response), WEIR_E_SERVICE_PROTECTION);
    ck_assert_int_eq(rig_count("requests"), retries[_i]);
    ck_assert(now_us() - begun_us >= (retries[_i] - 1) * WEIR_US_PER_S);
    ck_assert_str_eq(rig.err.connection, "app1");
    ck_assert_uint_eq(rig.err.service_code, 0x80072322);
    ck_assert(rig.err.retry_after_us == WEIR_US_PER_S);
    ck_assert(rig.err.outcome_known);
    ck_assert(rig.err.retryable);
    rig_close();
}
END_TEST

START_TEST(longer_than_max_retry_after_tolerance_is_not_waited_for)
{
    struct weir_response response;
    start("--users", "2", "--no-limits", NULL);
    rig_users(2);
    rig.options.pool.max_retry_after_tolerance_us = 30 * WEIR_US_PER_S;
    rig_open();
    throttle(",\"every\":1,\"retry_after\":300");
    ck_assert_int_eq(rig_try("GET", "WhoAmI", NULL, false, &response), WEIR_E_SERVICE_PROTECTION);
    ck_assert_int_eq(rig_count("requests"), 2);
    ck_assert(rig.err.retry_after_us > 250 * WEIR_US_PER_S);
    ck_assert_int_eq(rig_try("GET", "WhoAmI", NULL, false, &response), WEIR_E_SERVICE_PROTECTION);
    ck_assert_int_eq(rig_count("requests"), 2);
    rig_close();
}
END_TEST

START_TEST(without_tracking_the_tolerance_holds_all_the_same)
{
    struct weir_response response;
    start("--users", "1", "--no-limits", NULL);
    rig_users(1);
    rig.options.resilience.enable_throttle_tracking = false;
    rig.options.pool.max_retry_after_tolerance_us = 30 * WEIR_US_PER_S;
    rig_open();
    throttle(",\"count\":1,\"retry_after\":300");
    ck_assert_int_eq(rig_try("GET", "WhoAmI", NULL, false, &response), WEIR_E_SERVICE_PROTECTION);
    ck_assert_int_eq(rig_count("requests"), 1);
    rig_who(&response);
    weir_response_release(&response);
    rig_close();
}
END_TEST

static void *who_in_a_thread(void *ctx)
{
    int64_t *took_us = ctx;
    struct weir_request request = { .method = "GET", .path = "WhoAmI" };
    struct weir_response response;
    int64_t begun_us = now_us();
    must(weir_execute(rig.client, &request, &response, NULL) == WEIR_OK);
    *took_us = now_us() - begun_us;
    must(response.requests == 2);
    weir_response_release(&response);
    return NULL;
}

START_TEST(without_throttle_tracking_only_the_throttled_request_waits)
{
    pthread_t thread;
    int64_t took_us;
    struct weir_response response;
    start("--users", "1", "--no-limits", NULL);
    rig_users(1);
    rig.options.resilience.enable_throttle_tracking = false;
    rig_open();
    throttle(",\"count\":1,\"retry_after\":3");
    ck_assert_int_eq(pthread_create(&thread, NULL, who_in_a_thread, &took_us), 0);
    await_throttles(1);
    int64_t begun_us = now_us();
    rig_who(&response); /* on the same connection, and not held up by the throttle */
    int64_t meanwhile_us = now_us() - begun_us;
    ck_assert_int_eq(response.requests, 1);
    ck_assert_str_eq(response.connection, "app1");
    weir_response_release(&response);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert(took_us >= 3 * WEIR_US_PER_S);
    ck_assert(meanwhile_us < took_us);
    struct weir_pool_stats stats;
    weir_pool_stats(weir_client_pool(rig.client), &stats);
    ck_assert_uint_eq(stats.total_throttle_events, 1);
    rig_close();
}
END_TEST

static const char *const unusable[] = { "\"missing\"", "\"soon\"", "\"-5\"" };

START_TEST(fallback_retry_after_stands_in_for_one_that_is_unusable)
{
    struct weir_response response;
    char rest[80];
    start("--users", "1", "--no-limits", NULL);
    rig_users(1);
    rig.options.resilience.fallback_retry_after_us = 2 * WEIR_US_PER_S;
    rig_open();
    snprintf(rest, sizeof(rest), ",\"count\":1,\"retry_after\":%s", unusable[_i]);
    throttle(rest);
    int64_t begun_us = now_us();
    rig_who(&response);
    ck_assert(now_us() - begun_us >= 2 * WEIR_US_PER_S);
    ck_assert_int_eq(response.requests, 2);
    weir_response_release(&response);
    ck_assert_msg(strcasestr(rig.log.ptr, "fallback"), "%s", rig.log.ptr);
    rig_close();
}
END_TEST

int main(void)
{
    struct suite s = suite_new("execute");
    suite_add(&s, a_request_is_answered);
    suite_add(&s, the_service_says_no_in_its_own_words);
    suite_add_loop(&s, "budget_asks_for_web_servers_and_aimd_does_not",
                   budget_asks_for_web_servers_and_aimd_does_not, 2);
    suite_add(&s, headers_of_the_caller_go_along);
    suite_add(&s, a_condition_of_the_caller_stands_by_itself);
    suite_add(&s, what_cannot_be_sent_is_refused_before_anything_is);
    suite_add(&s, a_throttled_request_goes_to_another_connection_at_once);
    suite_add(&s, when_all_are_throttled_the_shortest_wait_is_waited_for);
    suite_add(&s, real_limits_are_never_run_into_twice);
    suite_add_loop(&s, "max_throttle_retries_is_the_number_of_requests_on_the_wire",
                   max_throttle_retries_is_the_number_of_requests_on_the_wire, 3);
    suite_add(&s, longer_than_max_retry_after_tolerance_is_not_waited_for);
    suite_add(&s, without_tracking_the_tolerance_holds_all_the_same);
    suite_add(&s, without_throttle_tracking_only_the_throttled_request_waits);
    suite_add_loop(&s, "fallback_retry_after_stands_in_for_one_that_is_unusable",
                   fallback_retry_after_stands_in_for_one_that_is_unusable, 3);
    return suite_run(&s);
}
