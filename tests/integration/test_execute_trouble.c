/* SPDX-License-Identifier: MIT */
/*
 * weir_execute() in trouble: a service that fails, tokens that are refused, callers who change
 * their minds, and many at once. Over real sockets against weir-sim.
 */
#include "support/client_rig.h"

/* ---- other failures ---- */

START_TEST(a_request_whose_outcome_is_unknown_is_not_sent_twice_unless_that_does_no_harm)
{
    struct weir_response response;
    rig_start(1);
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
    rig_start(1);
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

/* Refused, given up, without a connection. */
START_TEST(whoever_wants_no_reason_gets_the_status_alone)
{
    struct weir_response response;
    struct weir_request request = { .method = "GET", .path = "nothings" };
    rig_start(1);
    ck_assert_int_eq(weir_execute(rig.client, &request, &response, NULL), WEIR_E_REFUSED);
    fault("{\"kind\":\"server_error\",\"status\":500,\"operation\":\"GET\",\"every\":1}");
    ck_assert_int_eq(weir_execute(rig.client, &request, &response, NULL), WEIR_E_UNAVAILABLE);
    fault("{\"kind\":\"unauthorized\",\"operation\":\"GET\",\"every\":1}");
    for (int i = 0; i < 2; i++) /* by its tokens, and because none is left */
        ck_assert_int_eq(weir_execute(rig.client, &request, &response, NULL), WEIR_E_CREDENTIALS);
    rig_close();
}
END_TEST

/* By somebody else: there is no reason that this client knows of. */
START_TEST(when_all_connections_were_set_aside_there_is_none)
{
    struct weir_response response;
    rig_start(1);
    ck_assert_int_eq(weir_pool_set_aside(weir_client_pool(rig.client), "app1"), WEIR_OK);
    ck_assert_int_eq(rig_try("GET", "WhoAmI", NULL, false, &response), WEIR_E_NO_CONNECTION);
    ck_assert_int_eq(rig_count("requests"), 0);
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
    rig_start(2);
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
    rig_start(2);
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
    rig_start(1);
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
    rig_start(1);
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

START_TEST(a_user_whom_the_service_does_not_know_is_set_aside_at_once)
{
    struct weir_response response;
    rig_start(2);
    fault("{\"kind\":\"plugin_error\",\"code\":\"0x80072560\",\"operation\":\"GET\",\"count\":1}");
    rig_who(&response);
    ck_assert_str_eq(response.connection, "app2");
    ck_assert_int_eq(response.requests, 2); /* no new token was tried */
    weir_response_release(&response);
    struct weir_pool_stats stats;
    weir_pool_stats(weir_client_pool(rig.client), &stats);
    ck_assert_uint_eq(stats.set_aside_connections, 1);
    rig_close();
}
END_TEST

/* It may be the owner whom a row names: that is no reason to give up connection after connection.
 */
START_TEST(a_disabled_user_in_a_row_takes_no_connection_out)
{
    struct weir_response response;
    rig_start(3);
    fault("{\"kind\":\"plugin_error\",\"code\":\"0x80040225\",\"operation\":\"POST\",\"every\":1}");
    ck_assert_int_eq(rig_try("POST", "accounts", ACCOUNT, false, &response), WEIR_E_CREDENTIALS);
    ck_assert_uint_eq(rig.err.service_code, 0x80040225);
    struct weir_pool_stats stats;
    weir_pool_stats(weir_client_pool(rig.client), &stats);
    ck_assert_uint_eq(stats.set_aside_connections, 0);
    rig_who(&response);
    weir_response_release(&response);
    rig_close();
}
END_TEST

/* ---- what is left behind ---- */

/* In two halves, so that this program never has the whole of it in its own memory. */
static const char *const halves[] = { "canary-in-a-coal-", "mine-4f2a91c07be3" };

static void write_secret(const char *path)
{
    char command[400];
    snprintf(command, sizeof(command), "umask 077; printf '%%s%%s' '%s' '%s' > '%s'", halves[0],
             halves[1], path);
    ck_assert_int_eq(system(command), 0);
}

static size_t count_in(const char *from, const char *to)
{
    size_t len[] = { strlen(halves[0]), strlen(halves[1]) };
    size_t count = 0;
    for (const char *at = from; at + len[0] + len[1] <= to; at++) {
        at = memchr(at, halves[0][0], (size_t)(to - at) - len[0] - len[1] + 1);
        if (!at)
            break;
        count += memcmp(at, halves[0], len[0]) == 0 && memcmp(at + len[0], halves[1], len[1]) == 0;
    }
    return count;
}

/* Read by the kernel, because sanitizers object to reading what has been freed. */
static size_t count_between(int memory, uint64_t from, uint64_t to)
{
    static char chunk[1 << 20];
    size_t overlap = strlen(halves[0]) + strlen(halves[1]) - 1;
    size_t count = 0;
    while (from + overlap < to) {
        size_t wanted = to - from < sizeof(chunk) ? to - from : sizeof(chunk);
        ssize_t len = pread(memory, chunk, wanted, (off_t)from);
        if (len <= (ssize_t)overlap)
            break;
        count += count_in(chunk, chunk + len);
        from += (uint64_t)len - overlap;
    }
    memset(chunk, 0, sizeof(chunk));
    return count;
}

/* Copies of the secret in the memory that this process may write to; not in a sanitizer's shadow.
 */
static size_t count_copies(void)
{
    char line[512], rights[8];
    size_t count = 0;
    uint64_t from, to;
    FILE *maps = fopen("/proc/self/maps", "r");
    int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    ck_assert(maps && memory >= 0);
    while (fgets(line, sizeof(line), maps)) {
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s", &from, &to, rights) == 3 &&
            strncmp(rights, "rw", 2) == 0 && to - from < UINT64_C(1) << 30)
            count += count_between(memory, from, to);
    }
    fclose(maps);
    close(memory);
    return count;
}

START_TEST(no_secret_and_no_token_is_left_in_memory)
{
    struct weir_response response;
    char secret[] = "/tmp/weir-secret-XXXXXX", token[] = "/tmp/weir-token-XXXXXX";
    close(mkstemp(secret));
    close(mkstemp(token));
    write_secret(secret);
    write_secret(token);
    start("--users", "2", "--no-limits", NULL);
    rig_users(2);
    rig.connections[0].client_secret = NULL;
    rig.connections[0].client_secret_file = secret; /* which the login service refuses */
    rig.connections[1].client_secret = NULL;
    rig.connections[1].access_token_file = token; /* which the service refuses */
    rig_open();
    ck_assert_int_eq(rig_try("GET", "WhoAmI", NULL, false, &response), WEIR_E_CREDENTIALS);
    ck_assert_int_ge(rig_count("requests"), 0);
    weir_client_free(rig.client);
    rig.client = NULL;
    ck_assert_uint_eq(count_copies(), 0);
    char *planted = weir_calloc(64, 1); /* it would be found */
    snprintf(planted, 64, "%s%s", halves[0], halves[1]);
    ck_assert_uint_ge(count_copies(), 1);
    free(planted);
    unlink(secret);
    unlink(token);
    rig_close();
}
END_TEST

/* ---- calling off ---- */

START_TEST(a_request_in_flight_can_be_cancelled)
{
    pthread_t thread;
    struct called_off it = { .tag = 7 };
    struct weir_response response;
    rig_start(1);
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
    rig_start(1);
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

START_TEST(a_request_that_waits_for_its_token_can_be_cancelled)
{
    pthread_t thread;
    struct called_off it = { .tag = 7 };
    rig_start(1);
    fault("{\"kind\":\"stall\",\"operation\":\"token\",\"seconds\":600}");
    ck_assert_int_eq(pthread_create(&thread, NULL, create_in_a_thread, &it), 0);
    await_inside(1);
    weir_client_cancel(rig.client, 7);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_int_eq(it.status, WEIR_E_CANCELLED);
    ck_assert(it.err.outcome_known);
    ck_assert_int_eq(rows(), 0);
    rig_close();
}
END_TEST

START_TEST(a_request_that_waits_after_a_failure_can_be_cancelled)
{
    pthread_t thread;
    struct called_off it = { .tag = 7 };
    rig_start(1);
    fault("{\"kind\":\"server_error\",\"status\":503,\"retry_after\":600,\"operation\":\"POST\"}");
    ck_assert_int_eq(pthread_create(&thread, NULL, create_in_a_thread, &it), 0);
    await_requests(1);
    weir_client_cancel(rig.client, 7); /* it waits ten minutes, or is about to */
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_int_eq(it.status, WEIR_E_CANCELLED);
    ck_assert(!it.err.outcome_known); /* of a 503 it never is */
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
    rig_start(2);
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
    struct suite s = suite_new("execute_trouble");
    suite_add(&s, a_request_whose_outcome_is_unknown_is_not_sent_twice_unless_that_does_no_harm);
    suite_add(&s, a_read_is_repeated_after_failures_of_the_service);
    suite_add(&s, whoever_wants_no_reason_gets_the_status_alone);
    suite_add(&s, when_all_connections_were_set_aside_there_is_none);
    suite_add(&s, a_service_that_is_not_there_is_said_to_be_so);
    suite_add(&s, a_busy_connection_does_not_hold_up_the_others);
    suite_add(&s, a_login_service_that_is_busy_for_one_does_not_hold_up_the_others);
    suite_add(&s, cancelling_is_not_held_against_the_service);
    suite_add(&s, an_address_that_is_none_is_refused_before_anything_is_sent);
    suite_add(&s, a_spurned_token_is_renewed_once);
    suite_add(&s, a_connection_whose_tokens_are_all_spurned_is_set_aside);
    suite_add(&s, a_connection_that_cannot_log_in_is_set_aside_and_the_others_go_on);
    suite_add(&s, when_nobody_can_log_in_the_reason_is_given);
    suite_add(&s, a_user_whom_the_service_does_not_know_is_set_aside_at_once);
    suite_add(&s, a_disabled_user_in_a_row_takes_no_connection_out);
    suite_add(&s, no_secret_and_no_token_is_left_in_memory);
    suite_add(&s, a_request_that_waits_for_its_token_can_be_cancelled);
    suite_add(&s, a_request_that_waits_after_a_failure_can_be_cancelled);
    suite_add(&s, a_request_in_flight_can_be_cancelled);
    suite_add(&s, a_request_that_waits_for_a_throttle_can_be_cancelled);
    suite_add(&s, a_request_that_waits_by_itself_can_be_cancelled);
    suite_add(&s, freeing_the_client_sends_everybody_home);
    suite_add(&s, many_threads_share_a_client_and_every_row_is_written_once);
    return suite_run(&s);
}
