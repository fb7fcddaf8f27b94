/* SPDX-License-Identifier: MIT */
/*
 * weir_execute() from outside: what is on the wire, what is waited for, what the caller learns.
 * Over real sockets against weir-sim. Waits are asserted from below only: they may take longer on a
 * busy machine, but never less.
 */
#include "support/client_rig.h"

#define ACCOUNT "{\"name\":\"a\"}"

static int64_t now_us(void)
{
    return weir_clock_now_us();
}

static void throttle(const char *rest)
{
    char text[256];
    snprintf(text, sizeof(text),
             "{\"kind\":\"throttle\",\"operation\":\"GET\",\"code\":\"0x80072322\"%s}", rest);
    fault(text);
}

struct called_off {
    uint64_t tag;
    enum weir_status status;
    struct weir_error err;
};

static void *create_in_a_thread(void *ctx)
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

/* ---- answers ---- */

START_TEST(a_request_is_answered)
{
    struct weir_response response;
    start("--users", "1", "--no-limits", NULL);
    rig_users(1);
    rig_open();
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
    start("--users", "1", "--no-limits", NULL);
    rig_users(1);
    rig_open();
    ck_assert_int_eq(
        rig_try("GET", "accounts(00000000-0000-0000-0000-000000000001)", NULL, false, &response),
        WEIR_E_REFUSED);
    ck_assert_int_eq(rig.err.http_status, 404);
    ck_assert_uint_eq(rig.err.service_code, 0x80040217);
    ck_assert_msg(strstr(rig.err.message, "0x80040217 (HTTP 404): "), "%s", rig.err.message);
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
    start("--users", "1", "--no-limits", NULL);
    rig_users(1);
    rig_open();
    ck_assert_int_eq(weir_execute(rig.client, &request, &response, &rig.err), WEIR_OK);
    ck_assert_int_eq(response.status, 201);
    ck_assert_ptr_nonnull(strstr(response.body, "\"accountid\""));
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
};

START_TEST(what_cannot_be_sent_is_refused_before_anything_is)
{
    struct weir_response response;
    start("--users", "1", "--no-limits", NULL);
    rig_users(1);
    rig_open();
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
    start("--users", "2", "--no-limits", NULL);
    rig_users(2);
    rig_open();
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
    start("--users", "2", "--no-limits", NULL);
    rig_users(2);
    rig_open();
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

/* Until the simulator has counted so many requests. */
static void await_requests(long count)
{
    int64_t deadline_us = now_us() + WAIT_MS * WEIR_US_PER_MS;
    while (rig_count("requests") < count)
        ck_assert(now_us() < deadline_us);
}

/* Until so many are leased or wait for it. */
static void await_inside(uint64_t count)
{
    struct weir_pool_stats stats = { 0 };
    int64_t deadline_us = now_us() + WAIT_MS * WEIR_US_PER_MS;
    while ((uint64_t)stats.active_leases + (uint64_t)stats.waiters < count) {
        ck_assert(now_us() < deadline_us);
        weir_pool_stats(weir_client_pool(rig.client), &stats);
    }
}

/* Until the pool has heard of so many throttles. */
static void await_throttles(uint64_t count)
{
    struct weir_pool_stats stats = { 0 };
    int64_t deadline_us = now_us() + WAIT_MS * WEIR_US_PER_MS;
    while ((uint64_t)stats.total_throttle_events < count) {
        ck_assert(now_us() < deadline_us);
        weir_pool_stats(weir_client_pool(rig.client), &stats);
    }
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

/* ---- other failures ---- */

START_TEST(a_request_whose_outcome_is_unknown_is_not_sent_twice_unless_that_does_no_harm)
{
    struct weir_response response;
    start("--users", "1", "--no-limits", NULL);
    rig_users(1);
    rig_open();
    fault("{\"kind\":\"commit_then_silence\",\"operation\":\"POST\",\"count\":1}");
    ck_assert_int_eq(rig_try("POST", "accounts", ACCOUNT, false, &response), WEIR_E_UNAVAILABLE);
    ck_assert(!rig.err.outcome_known);
    ck_assert_int_eq(rig.err.http_status, 0);
    ck_assert_int_eq(rows(), 1);
    fault("{\"kind\":\"commit_then_silence\",\"operation\":\"POST\",\"count\":1}");
    ck_assert_int_eq(rig_try("POST", "accounts", ACCOUNT, true, &response), WEIR_OK);
    ck_assert_int_eq(response.requests, 2);
    ck_assert_int_eq(rows(), 3);
    weir_response_release(&response);
    rig_close();
}
END_TEST

START_TEST(a_read_is_repeated_after_failures_of_the_service)
{
    struct weir_response response;
    start("--users", "1", "--no-limits", NULL);
    rig_users(1);
    rig_open();
    fault("{\"kind\":\"server_error\",\"status\":502,\"operation\":\"GET\",\"count\":2}");
    rig_who(&response);
    ck_assert_int_eq(response.requests, 3);
    weir_response_release(&response);
    fault("{\"kind\":\"server_error\",\"status\":500,\"operation\":\"GET\",\"every\":1}");
    long before = rig_count("requests");
    ck_assert_int_eq(rig_try("GET", "WhoAmI", NULL, false, &response), WEIR_E_UNAVAILABLE);
    ck_assert_int_eq(rig.err.http_status, 500);
    ck_assert_int_eq(rig_count("requests"), before + 3);
    rig_close();
}
END_TEST

START_TEST(a_service_that_is_not_there_is_said_to_be_so)
{
    struct weir_response response;
    start("--users", "1", "--no-limits", NULL);
    rig_users(1);
    rig.options.resilience.max_throttle_retries = 1;
    rig.options.url = "http://127.0.0.1:1";
    rig.options.scope = "http://127.0.0.1:1/.default";
    rig.connections[0].client_secret = NULL;
    rig.connections[0].access_token = "a.static.token";
    rig_open();
    ck_assert_int_eq(rig_try("POST", "accounts", ACCOUNT, false, &response), WEIR_E_UNAVAILABLE);
    ck_assert(rig.err.outcome_known);
    ck_assert_ptr_nonnull(strstr(rig.err.message, "no answer"));
    ck_assert_uint_gt(strlen(rig.err.message),
                      strlen("failed 1 time, last on \"app1\": no answer"));
    rig_close();
}
END_TEST

START_TEST(a_busy_connection_does_not_hold_up_the_others)
{
    struct weir_response response;
    start("--users", "2", "--no-limits", NULL);
    rig_users(2);
    rig_open();
    fault("{\"kind\":\"server_error\",\"status\":503,\"retry_after\":600,"
          "\"operation\":\"GET\",\"count\":1}");
    rig_who(&response); /* it would take ten minutes otherwise */
    ck_assert_str_eq(response.connection, "app2");
    ck_assert_int_eq(response.requests, 2);
    weir_response_release(&response);
    rig_close();
}
END_TEST

START_TEST(a_login_service_that_is_busy_for_one_does_not_hold_up_the_others)
{
    struct weir_response response;
    start("--users", "2", "--no-limits", NULL);
    rig_users(2);
    rig_open();
    fault("{\"kind\":\"throttle\",\"operation\":\"token\",\"retry_after\":600,\"count\":1}");
    rig_who(&response);
    ck_assert_str_eq(response.connection, "app2");
    weir_response_release(&response);
    rig_close();
}
END_TEST

START_TEST(cancelling_is_not_held_against_the_service)
{
    struct weir_response response;
    start("--users", "1", "--no-limits", NULL);
    rig_users(1);
    rig.options.resilience.circuit_breaker.failures = 2;
    rig_open();
    for (int i = 0; i < 4; i++) {
        pthread_t thread;
        struct called_off it = { .tag = 7 };
        long before = rig_count("requests");
        fault("{\"kind\":\"stall\",\"operation\":\"POST\",\"seconds\":600,\"count\":1}");
        ck_assert_int_eq(pthread_create(&thread, NULL, create_in_a_thread, &it), 0);
        await_requests(before + 1);
        weir_client_cancel(rig.client, 7);
        ck_assert_int_eq(pthread_join(thread, NULL), 0);
        ck_assert_int_eq(it.status, WEIR_E_CANCELLED);
    }
    ck_assert_ptr_null(strstr(rig.log.ptr, "breaker"));
    rig_who(&response);
    weir_response_release(&response);
    rig_close();
}
END_TEST

static const char *const addresses[] = {
    "http://127.0.0.1:1/x", "https://1.2.3",     "https://host:0443", "http://example.com",
    "https://user@host",    "https://host?x",    "ftp://127.0.0.1",   "",
    "https://host:99999",   "https://host name",
};

START_TEST(an_address_that_is_none_is_refused_before_anything_is_sent)
{
    start("--users", "1", "--no-limits", NULL);
    rig_users(1);
    rig.options.scope = "x/.default";
    for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
        rig.options.url = addresses[i];
        enum weir_status status = weir_client_new(&rig.options, NULL, &rig.client, &rig.err);
        ck_assert_msg(status == WEIR_E_INVALID, "%s: %d", addresses[i], status);
    }
    char slash[80];
    struct weir_response response;
    snprintf(slash, sizeof(slash), "%s/", sim.url);
    rig.options.url = slash;
    rig.options.scope = NULL;
    rig_open();
    rig_who(&response);
    weir_response_release(&response);
    rig_close();
}
END_TEST

/* ---- tokens ---- */

START_TEST(a_spurned_token_is_renewed_once)
{
    struct weir_response response;
    start("--users", "1", "--no-limits", NULL);
    rig_users(1);
    rig_open();
    fault("{\"kind\":\"unauthorized\",\"operation\":\"GET\",\"count\":1}");
    rig_who(&response);
    ck_assert_int_eq(response.requests, 2);
    weir_response_release(&response);
    rig_who(&response);
    ck_assert_int_eq(response.requests, 1);
    weir_response_release(&response);
    rig_close();
}
END_TEST

START_TEST(a_connection_whose_tokens_are_all_spurned_is_set_aside)
{
    struct weir_response response;
    start("--users", "1", "--no-limits", NULL);
    rig_users(1);
    rig_open();
    fault("{\"kind\":\"unauthorized\",\"operation\":\"GET\",\"every\":1}");
    ck_assert_int_eq(rig_try("GET", "WhoAmI", NULL, false, &response), WEIR_E_CREDENTIALS);
    ck_assert_int_eq(rig.err.http_status, 401);
    ck_assert_str_eq(rig.err.connection, "app1");
    ck_assert_int_eq(rig_count("requests"), 2); /* with two tokens */
    ck_assert_int_eq(rig_try("GET", "WhoAmI", NULL, false, &response), WEIR_E_CREDENTIALS);
    ck_assert_int_eq(rig.err.http_status, 401); /* whoever comes later is told the same */
    ck_assert_int_eq(rig_count("requests"), 2);
    struct weir_pool_stats stats;
    weir_pool_stats(weir_client_pool(rig.client), &stats);
    ck_assert_uint_eq(stats.set_aside_connections, 1);

    /* Put back, it works as if nothing had been; one refusal is one refresh again. */
    fault("{\"kind\":\"unauthorized\",\"operation\":\"GET\",\"nth\":2}");
    ck_assert_int_eq(weir_pool_restore(weir_client_pool(rig.client), "app1"), WEIR_OK);
    rig_who(&response);
    weir_response_release(&response);
    rig_who(&response);
    ck_assert_int_eq(response.requests, 2);
    weir_response_release(&response);
    rig_close();
}
END_TEST

START_TEST(a_connection_that_cannot_log_in_is_set_aside_and_the_others_go_on)
{
    struct weir_response response;
    start("--users", "3", "--no-limits", NULL);
    rig_users(3);
    rig.connections[0].client_secret = "wrong";
    rig.connections[1].client_secret = "wrong as well";
    rig_open();
    for (int i = 0; i < 5; i++) {
        rig_who(&response);
        ck_assert_str_eq(response.connection, "app3");
        ck_assert_int_eq(response.requests, 1);
        weir_response_release(&response);
    }
    struct weir_pool_stats stats;
    weir_pool_stats(weir_client_pool(rig.client), &stats);
    ck_assert_uint_eq(stats.set_aside_connections, 2);
    rig_close();
}
END_TEST

START_TEST(when_nobody_can_log_in_the_reason_is_given)
{
    struct weir_response response;
    start("--users", "1", "--no-limits", NULL);
    rig_users(1);
    rig.connections[0].client_secret = "wrong";
    rig_open();
    ck_assert_int_eq(rig_try("GET", "WhoAmI", NULL, false, &response), WEIR_E_CREDENTIALS);
    ck_assert_msg(strstr(rig.err.message, "AADSTS7000215"), "%s", rig.err.message);
    ck_assert_str_eq(rig.err.connection, "app1");
    ck_assert_int_eq(rig_count("requests"), 0);
    rig_close();
}
END_TEST

/* ---- calling off ---- */

START_TEST(a_request_in_flight_can_be_cancelled)
{
    pthread_t thread;
    struct called_off it = { .tag = 7 };
    struct weir_response response;
    start("--users", "1", "--no-limits", NULL);
    rig_users(1);
    rig_open();
    fault("{\"kind\":\"stall\",\"operation\":\"POST\",\"seconds\":600,\"count\":1}");
    ck_assert_int_eq(pthread_create(&thread, NULL, create_in_a_thread, &it), 0);
    await_requests(1);
    weir_client_cancel(rig.client, 6);
    weir_client_cancel(rig.client, 7);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_int_eq(it.status, WEIR_E_CANCELLED);
    ck_assert(!it.err.outcome_known);
    rig_who(&response);
    weir_response_release(&response);
    rig_close();
}
END_TEST

START_TEST(a_request_that_waits_for_a_throttle_can_be_cancelled)
{
    pthread_t thread;
    struct called_off it = { .tag = 7 };
    start("--users", "1", "--no-limits", NULL);
    rig_users(1);
    rig_open();
    fault("{\"kind\":\"throttle\",\"code\":\"0x80072322\",\"retry_after\":600}");
    ck_assert_int_eq(pthread_create(&thread, NULL, create_in_a_thread, &it), 0);
    await_throttles(1);
    weir_client_cancel(rig.client, 7);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_int_eq(it.status, WEIR_E_CANCELLED);
    ck_assert(it.err.outcome_known);
    rig_close();
}
END_TEST

START_TEST(a_request_that_waits_by_itself_can_be_cancelled)
{
    pthread_t thread;
    struct called_off it = { .tag = 7 };
    start("--users", "1", "--no-limits", NULL);
    rig_users(1);
    rig.options.resilience.enable_throttle_tracking = false;
    rig_open();
    fault("{\"kind\":\"throttle\",\"code\":\"0x80072322\",\"retry_after\":600}");
    ck_assert_int_eq(pthread_create(&thread, NULL, create_in_a_thread, &it), 0);
    await_throttles(1);
    weir_client_cancel(rig.client, 7);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_int_eq(it.status, WEIR_E_CANCELLED);
    ck_assert(it.err.outcome_known);
    rig_close();
}
END_TEST

#define CROWD 12

START_TEST(freeing_the_client_sends_everybody_home)
{
    pthread_t threads[CROWD];
    struct called_off them[CROWD] = { 0 };
    start("--users", "2", "--no-limits", NULL);
    rig_users(2);
    rig_open();
    fault("{\"kind\":\"stall\",\"operation\":\"POST\",\"seconds\":600}");
    for (int i = 0; i < CROWD; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, create_in_a_thread, &them[i]), 0);
    await_inside(CROWD);
    weir_client_free(rig.client);
    rig.client = NULL;
    for (int i = 0; i < CROWD; i++) {
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
        ck_assert_int_eq(them[i].status, WEIR_E_SHUTDOWN);
    }
    rig_close();
}
END_TEST

/* ---- many at once ---- */

#define THREADS 12
#define EACH    60

static void *create_many(void *ctx)
{
    int *requests = ctx;
    struct weir_request request = {
        .method = "POST", .path = "accounts", .body = ACCOUNT, .body_bytes = strlen(ACCOUNT)
    };
    for (int i = 0; i < EACH; i++) {
        struct weir_response response;
        must(weir_execute(rig.client, &request, &response, NULL) == WEIR_OK);
        must(response.status == 204);
        *requests += response.requests;
        weir_response_release(&response);
    }
    return NULL;
}

START_TEST(many_threads_share_a_client_and_every_row_is_written_once)
{
    pthread_t threads[THREADS];
    int requests[THREADS] = { 0 };
    start("--users", "3", "--requests", "150", "--window", "2", "--service-time", "2", "--dop", "8",
          NULL);
    rig_users(3);
    rig.options.resilience.max_throttle_retries = 100;
    rig_open();
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, create_many, &requests[i]), 0);
    long sum = 0;
    for (int i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
        sum += requests[i];
    }
    ck_assert_int_eq(rows(), THREADS * EACH);
    ck_assert_int_eq(rig_count("requests"), sum);
    ck_assert_int_eq(rig_count("accepted"), THREADS * EACH);
    rig_close();
}
END_TEST

int main(void)
{
    struct suite s = suite_new("execute");
    suite_add(&s, a_request_is_answered);
    suite_add(&s, the_service_says_no_in_its_own_words);
    suite_add(&s, headers_of_the_caller_go_along);
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
    suite_add(&s, a_request_whose_outcome_is_unknown_is_not_sent_twice_unless_that_does_no_harm);
    suite_add(&s, a_read_is_repeated_after_failures_of_the_service);
    suite_add(&s, a_service_that_is_not_there_is_said_to_be_so);
    suite_add(&s, a_busy_connection_does_not_hold_up_the_others);
    suite_add(&s, a_login_service_that_is_busy_for_one_does_not_hold_up_the_others);
    suite_add(&s, cancelling_is_not_held_against_the_service);
    suite_add(&s, an_address_that_is_none_is_refused_before_anything_is_sent);
    suite_add(&s, a_spurned_token_is_renewed_once);
    suite_add(&s, a_connection_whose_tokens_are_all_spurned_is_set_aside);
    suite_add(&s, a_connection_that_cannot_log_in_is_set_aside_and_the_others_go_on);
    suite_add(&s, when_nobody_can_log_in_the_reason_is_given);
    suite_add(&s, a_request_in_flight_can_be_cancelled);
    suite_add(&s, a_request_that_waits_for_a_throttle_can_be_cancelled);
    suite_add(&s, a_request_that_waits_by_itself_can_be_cancelled);
    suite_add(&s, freeing_the_client_sends_everybody_home);
    suite_add(&s, many_threads_share_a_client_and_every_row_is_written_once);
    return suite_run(&s);
}
