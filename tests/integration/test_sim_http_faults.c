/* SPDX-License-Identifier: MIT */
/*
 * Faults of weir-sim as they arrive at a raw socket: what was promised is what arrives, byte for
 * byte; resets are resets; and the same through TLS.
 */
#include <openssl/err.h>
#include <openssl/ssl.h>

#include "support/sim_process.h"

START_TEST(resets_are_resets)
{
    static const struct {
        const char *fault;
        long rows;
    } cases[] = {
        { "{\"kind\":\"reset_before\"}", 0 },
        { "{\"kind\":\"reset_within\"}", 0 },
        { "{\"kind\":\"reset_after\"}", 1 },
        { "{\"kind\":\"late_commit\",\"seconds\":60}", 0 },
    };
    start("--no-limits", NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        fault(cases[i].fault);
        ck_assert_msg(create_until_end() == RESET, "%s", cases[i].fault);
        ck_assert_uint_eq(bytes.len, 0);
        ck_assert_msg(rows() == cases[i].rows, "%s", cases[i].fault);
        ask("POST", "/sim/reset", "");
    }
    fault("{\"kind\":\"reset_within\"}");
    ck_assert_int_eq(ask_until_end("GET", API "WhoAmI", NULL), RESET);
    stop();
}
END_TEST

START_TEST(a_reset_before_the_body_comes_without_reading_it)
{
    char head[3000];
    start("--no-limits", NULL);
    for (int within = 0; within < 2; within++) {
        fault(within ? "{\"kind\":\"reset_within\"}" : "{\"kind\":\"reset_before\"}");
        int fd = dial();
        snprintf(head, sizeof(head),
                 "POST " API "accounts HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n"
                 "Content-Length: 100\r\n\r\n",
                 sim.token);
        send_text(fd, head);
        weir_buf_reset(&bytes);
        if (within) {
            ck_assert(!readable(fd, SHORT_MS));
            send_text(fd, "{\"name\":");
        }
        ck_assert_int_eq(receive_all(fd, &bytes), RESET);
        ck_assert_uint_eq(bytes.len, 0);
        close(fd);
    }
    stop();
}
END_TEST

START_TEST(a_late_commit_arrives_late)
{
    start("--no-limits", NULL);
    fault("{\"kind\":\"late_commit\",\"seconds\":0.3,\"count\":1}");
    int64_t begun_us = weir_clock_now_us();
    ck_assert_int_eq(create_until_end(), RESET);
    while (rows() == 0)
        ck_assert_int_lt(weir_clock_now_us() - begun_us, 10 * WEIR_US_PER_S);
    ck_assert_int_ge(weir_clock_now_us() - begun_us, 300000);
    stop();
}
END_TEST

/* The time in a Date header, which no two runs share. */
static void mask_date(struct weir_buf *text)
{
    char *date = text->len ? strstr(text->ptr, "\r\nDate: ") : NULL;
    for (size_t i = 8; date && i < 37 && date + i < text->ptr + text->len; i++)
        date[i] = '#';
}

/* The same request in the same world gets the same bytes: cut after `byte`. */
static void ask_cut(struct weir_buf *text, size_t byte)
{
    char list[64];
    ask("POST", "/sim/reset", "");
    snprintf(list, sizeof(list), "{\"kind\":\"cut\",\"byte\":%zu}", byte);
    fault(list);
    ck_assert_int_eq(ask_until_end("GET", API "nowhere", NULL), CLOSED);
    weir_buf_reset(text);
    weir_buf_add(text, bytes.ptr, bytes.len);
    mask_date(text);
}

/* Everything but what is drawn anew for every request. */
static bool same_prefix(const struct weir_buf *part, const struct weir_buf *whole)
{
    const char *drawn = strstr(whole->ptr, "x-ms-service-request-id");
    size_t sure = (size_t)(drawn - whole->ptr);
    return memcmp(weir_buf_text(part), whole->ptr, part->len < sure ? part->len : sure) == 0;
}

START_TEST(a_cut_answer_has_exactly_the_bytes_that_were_promised)
{
    static const size_t cuts[] = { 0, 1, 8, 15, 16, 17, 40, 200, 500 };
    struct weir_buf whole, part;
    weir_buf_init(&whole, BYTES_MAX);
    weir_buf_init(&part, BYTES_MAX);
    start("--no-limits", NULL);
    ask_cut(&whole, 1000000000);
    ck_assert_uint_eq(answer_len(&whole), whole.len); /* all of it, and a valid answer */
    ck_assert_int_eq(strncmp(whole.ptr, "HTTP/1.1 404 Not Found\r\n", 24), 0);
    for (size_t i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
        ask_cut(&part, cuts[i]);
        ck_assert_uint_eq(part.len, cuts[i]);
        ck_assert(same_prefix(&part, &whole));
    }
    ask_cut(&part, whole.len - 1);
    ck_assert_uint_eq(part.len, whole.len - 1);
    ck_assert_int_eq(memcmp(part.ptr + part.len - 20, whole.ptr + whole.len - 21, 20), 0);
    weir_buf_release(&whole);
    weir_buf_release(&part);
    stop();
}
END_TEST

START_TEST(a_large_answer_is_cut_where_it_should_though_the_client_reads_slowly)
{
    struct weir_buf body;
    start("--no-limits", NULL);
    weir_buf_init(&body, BYTES_MAX);
    weir_buf_add_text(&body, "{\"Targets\":[");
    for (int i = 0; i < 1000; i++) {
        weir_buf_printf(&body, "%s{\"@odata.type\":\"Microsoft.Dynamics.CRM.account\",\"name\":\"",
                        i ? "," : "");
        weir_buf_printf(&body, "%0150d\",\"description\":\"%01900d\"}", i, i);
    }
    weir_buf_add_text(&body, "]}");
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(
            ask("POST", API "accounts/Microsoft.Dynamics.CRM.CreateMultiple", body.ptr), 200);
    fault("{\"kind\":\"cut\",\"byte\":7000000}");
    int fd = dial();
    send_request(fd, "GET", API "accounts", NULL);
    ck_assert_int_eq(ask("GET", "/sim/stats", NULL), 200); /* the others are served meanwhile */
    weir_buf_reset(&bytes);
    ck_assert_int_eq(receive_all(fd, &bytes), CLOSED);
    ck_assert_uint_eq(bytes.len, 7000000);
    close(fd);
    weir_buf_release(&body);
    stop();
}
END_TEST

START_TEST(a_stall_holds_the_answer_back_and_then_sends_it)
{
    start("--no-limits", NULL);
    fault("{\"kind\":\"stall\",\"seconds\":0.3,\"nth\":1},{\"kind\":\"latency_collapse\","
          "\"seconds\":0.3}");
    int fd = dial();
    for (int i = 0; i < 2; i++) {
        send_request(fd, "POST", API "accounts", "{\"name\":\"a\"}");
        ck_assert(!readable(fd, SHORT_MS));
        ck_assert_int_eq(rows(), i + 1); /* it has been executed */
        ck_assert_int_eq(receive_answer(fd, &bytes), 204);
    }
    close(fd);
    stop();
}
END_TEST

START_TEST(commit_then_silence_closes_without_a_byte)
{
    start("--no-limits", NULL);
    fault("{\"kind\":\"commit_then_silence\"}");
    ck_assert_int_eq(create_until_end(), CLOSED);
    ck_assert_uint_eq(bytes.len, 0);
    ck_assert_int_eq(rows(), 1);
    fault("{\"kind\":\"commit_then_silence\",\"seconds\":0.3}");
    int fd = dial();
    send_request(fd, "POST", API "accounts", "{\"name\":\"a\"}");
    ck_assert(!readable(fd, SHORT_MS));
    ck_assert_int_eq(rows(), 2);
    weir_buf_reset(&bytes);
    ck_assert_int_eq(receive_all(fd, &bytes), CLOSED);
    ck_assert_uint_eq(bytes.len, 0);
    close(fd);
    stop();
}
END_TEST

START_TEST(faults_of_the_answer_arrive_as_they_were_ordered)
{
    static const struct {
        const char *fault;
        int status;
        const char *text;
    } cases[] = {
        { "{\"kind\":\"unauthorized\"}", 401, "\r\nWWW-Authenticate: Bearer authorization_uri=" },
        { "{\"kind\":\"server_error\",\"status\":503}", 503, "\"0x80040216\"" },
        { "{\"kind\":\"html_error\"}", 502, "\r\nContent-Type: text/html" },
        { "{\"kind\":\"throttle\",\"retry_after\":7}", 429, "\r\nRetry-After: 7\r\n" },
        { "{\"kind\":\"throttle\",\"retry_after\":\"date\"}", 429, " GMT\r\n" },
        { "{\"kind\":\"throttle\",\"retry_after\":\"garbage\"}", 429,
          "\r\nRetry-After: garbage\r\n" },
        { "{\"kind\":\"throttle\",\"code\":\"0x80072326\"}", 429, "\"code\":\"0x80072326\"" },
        { "{\"kind\":\"deadlock\"}", 400, "Sql Number: 1205" },
        { "{\"kind\":\"plugin_error\",\"code\":\"0x80048d02\"}", 400, "0x80048d02" },
        { "{\"kind\":\"bad_row\",\"column\":\"name\",\"value\":\"a\"}", 400, "\"error\"" },
    };
    start("--requests", "1000", "--service-time", "0", NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        fault(cases[i].fault);
        int status = create();
        ck_assert_msg(status == cases[i].status && has(&bytes, cases[i].text), "%s: %s",
                      cases[i].fault, weir_buf_text(&bytes));
        int dates = 0;
        for (const char *at = bytes.ptr; (at = strstr(at, "\r\nDate: ")); at++)
            dates++;
        ck_assert_msg(dates == 1, "%s: %d dates", cases[i].fault, dates);
    }
    ck_assert_int_eq(rows(), 0);
    fault("{\"kind\":\"throttle\",\"retry_after\":\"missing\"}");
    ck_assert_int_eq(create(), 429);
    ck_assert(!has(&bytes, "Retry-After"));
    ck_assert_int_eq(ask("GET", "/sim/stats", NULL), 200);
    ck_assert(has(&bytes, "\"throttle\":5") && has(&bytes, "\"deadlock\":1"));
    stop();
}
END_TEST

/* TLS. */

static SSL *dial_tls(SSL_CTX *context, int *ret_fd)
{
    SSL *tls = SSL_new(context);
    *ret_fd = dial();
    struct timeval limit = { WAIT_MS / 1000, 0 };
    setsockopt(*ret_fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    SSL_set_fd(tls, *ret_fd);
    SSL_set1_host(tls, "127.0.0.1");
    SSL_set_verify(tls, SSL_VERIFY_PEER, NULL);
    ck_assert_msg(SSL_connect(tls) == 1, "%s", ERR_error_string(ERR_get_error(), NULL));
    return tls;
}

/* One request; all that comes back. Returns SSL_get_error() of the end. */
static int ask_tls(SSL_CTX *context, const char *text, struct weir_buf *ret, int *ret_errno)
{
    int fd;
    char chunk[4096];
    int len;
    SSL *tls = dial_tls(context, &fd);
    ck_assert_int_gt(SSL_write(tls, text, (int)strlen(text)), 0);
    weir_buf_reset(ret);
    errno = 0;
    while ((len = SSL_read(tls, chunk, sizeof(chunk))) > 0) {
        weir_buf_add(ret, chunk, (size_t)len);
        if (answer_len(ret))
            break;
    }
    *ret_errno = errno;
    int ending = SSL_get_error(tls, len);
    SSL_free(tls);
    close(fd);
    return ending;
}

START_TEST(tls_has_a_certificate_of_the_kept_authority_and_faults_reach_through_it)
{
    static const char faults[] =
        "{\"faults\":[{\"kind\":\"cut\",\"operation\":\"token\",\"byte\":9,\"nth\":1},"
        "{\"kind\":\"reset_after\"}]}";
    static const char who[] = "GET /api/data/v9.2/WhoAmI HTTP/1.1\r\nHost: x\r\n\r\n";
    char dir[] = "/tmp/weir-sim-test-XXXXXX";
    char path[128];
    char text[512];
    struct weir_buf got;
    int cause;
    ck_assert_ptr_nonnull(mkdtemp(dir));
    weir_buf_init(&got, BYTES_MAX);
    for (int run = 0; run < 2; run++) { /* the second run finds the authority of the first */
        start("--no-limits", "--tls", "--tls-dir", dir, NULL);
        snprintf(path, sizeof(path), "%s/ca.pem", dir);
        SSL_CTX *context = SSL_CTX_new(TLS_client_method());
        ck_assert_int_eq(SSL_CTX_load_verify_locations(context, path, NULL), 1);
        ck_assert_int_eq(ask_tls(context, who, &got, &cause), SSL_ERROR_NONE);
        ck_assert_int_eq(strncmp(got.ptr, "HTTP/1.1 401", 12), 0);
        snprintf(text, sizeof(text),
                 "POST /sim/faults HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n%s",
                 sizeof(faults) - 1, faults);
        ck_assert_int_eq(ask_tls(context, text, &got, &cause), SSL_ERROR_NONE);
        ck_assert_msg(strncmp(got.ptr, "HTTP/1.1 200", 12) == 0, "%s", got.ptr);
        static const char token[] = "POST /contoso/oauth2/v2.0/token HTTP/1.1\r\nHost: x\r\n"
                                    "Content-Length: 0\r\n\r\n";
        /* An end without a farewell: a truncation, not a clean end. */
        ck_assert_int_eq(ask_tls(context, token, &got, &cause), SSL_ERROR_SSL);
        ck_assert_str_eq(weir_buf_text(&got), "HTTP/1.1 ");
        ck_assert_int_eq(ask_tls(context, token, &got, &cause), SSL_ERROR_SYSCALL);
        ck_assert_int_eq(cause, ECONNRESET);
        ck_assert_uint_eq(got.len, 0);
        SSL_CTX_free(context);
        stop();
    }
    weir_buf_release(&got);
    unlink(path);
    snprintf(path, sizeof(path), "%s/authority.pem", dir);
    unlink(path);
    rmdir(dir);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("sim_http_faults");
    suite_add(&s, resets_are_resets);
    suite_add(&s, a_reset_before_the_body_comes_without_reading_it);
    suite_add(&s, a_late_commit_arrives_late);
    suite_add(&s, a_cut_answer_has_exactly_the_bytes_that_were_promised);
    suite_add(&s, a_large_answer_is_cut_where_it_should_though_the_client_reads_slowly);
    suite_add(&s, a_stall_holds_the_answer_back_and_then_sends_it);
    suite_add(&s, commit_then_silence_closes_without_a_byte);
    suite_add(&s, faults_of_the_answer_arrive_as_they_were_ordered);
    suite_add(&s, tls_has_a_certificate_of_the_kept_authority_and_faults_reach_through_it);
    return suite_run(&s);
}
