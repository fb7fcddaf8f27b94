/* SPDX-License-Identifier: MIT */
/* weir-sim from outside, over raw sockets: HTTP, bounds, limits, the command line. */
#include "support/sim_process.h"

/* HTTP. */

START_TEST(a_connection_is_kept_alive_and_requests_may_be_pipelined)
{
    start("--no-limits", NULL);
    int fd = dial();
    for (int i = 0; i < 20; i++) {
        send_request(fd, "GET", API "WhoAmI", NULL);
        ck_assert_int_eq(receive_answer(fd, &bytes), 200);
    }
    struct weir_buf text;
    weir_buf_init(&text, BYTES_MAX);
    for (int i = 0; i < 3; i++)
        print_request(&text, "GET", "/sim/stats", NULL);
    send_bytes(fd, text.ptr, text.len);
    weir_buf_reset(&bytes);
    for (int found = 0; found < 3;) {
        ck_assert_int_eq(receive(fd, &bytes), OPEN);
        found = 0;
        for (const char *at = bytes.ptr; (at = strstr(at, "HTTP/1.1 200 OK")); at++)
            found++;
    }
    close(fd);
    stop();
}
END_TEST

START_TEST(bodies_come_whole_in_chunks_or_byte_by_byte)
{
    static const char body[] = "{\"name\":\"in pieces\"}";
    char head[3000];
    start("--no-limits", NULL);
    int fd = dial();
    snprintf(head, sizeof(head),
             "POST " API "accounts HTTP/1.1\r\nHost: sim\r\nAuthorization: Bearer %s\r\n"
             "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
             sim.token);
    send_text(fd, head);
    for (size_t i = 0; i < strlen(body); i++) {
        char chunk[16];
        snprintf(chunk, sizeof(chunk), "1\r\n%c\r\n", body[i]);
        send_text(fd, chunk);
    }
    send_text(fd, "0\r\n\r\n");
    ck_assert_int_eq(receive_answer(fd, &bytes), 204);
    struct weir_buf text;
    weir_buf_init(&text, BYTES_MAX);
    print_request(&text, "POST", API "accounts", body);
    for (size_t i = 0; i < text.len; i++)
        send_bytes(fd, text.ptr + i, 1);
    ck_assert_int_eq(receive_answer(fd, &bytes), 204);
    close(fd);
    ck_assert_int_eq(rows(), 2);
    stop();
}
END_TEST

START_TEST(headers_arrive_once_or_twice_as_the_real_ones_do)
{
    static const struct {
        const char *line;
        int count;
    } lines[] = { { "\r\nx-ms-service-request-id: ", 2 },
                  { "\r\nREQ_ID: ", 1 },
                  { "\r\nX-Source: ", 2 },
                  { "\r\nSet-Cookie: ARRAffinity=", 2 },
                  { "\r\nSet-Cookie: orgId=", 1 },
                  { "\r\nDate: ", 1 },
                  { "\r\nOData-Version: 4.0\r\n", 1 },
                  { "\r\nx-ms-dop-hint: 5\r\n", 1 },
                  { "\r\nContent-Length: ", 1 },
                  { "\r\nCRM.ServiceId: framework\r\n", 1 },
                  { "\r\nx-ms-ratelimit-time-remaining-xrm-requests: 1,", 1 } };
    start("--service-time", "0", NULL);
    ck_assert_int_eq(ask("GET", API "WhoAmI", NULL), 200);
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        int count = 0;
        for (const char *at = bytes.ptr; (at = strcasestr(at, lines[i].line)); at++)
            count++;
        ck_assert_msg(count == lines[i].count, "%s: %d", lines[i].line, count);
    }
    stop();
}
END_TEST

START_TEST(hostile_requests_get_a_clear_4xx)
{
    static const struct {
        const char *text;
        int status;
    } cases[] = {
        { "GET /sim/stats\r\n\r\n", 400 },
        { "GET /sim/stats HTTP/1.1\r\nno header\r\n\r\n", 400 },
        { "POST /sim/stats HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400 },
        { "POST /sim/stats HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", 405 },
        { "BREW /sim/stats HTTP/1.1\r\nHost: x\r\n\r\n", 405 },
        { "GET /%00%ff/../x HTTP/1.1\r\nHost: x\r\n\r\n", 404 },
        { "POST /sim/faults HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n[[[[", 400 },
        { "POST /sim/faults HTTP/1.1\r\nHost: x\r\nContent-Length: 134217729\r\n\r\n", 413 },
        { "POST /sim/faults HTTP/1.1\r\nHost: x\r\nContent-Length: 999999999999999\r\n\r\n", 413 },
    };
    start("--no-limits", NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int fd = dial();
        send_text(fd, cases[i].text);
        int status = receive_answer(fd, &bytes);
        ck_assert_msg(status == cases[i].status, "%s: %d", cases[i].text, status);
        close(fd);
    }
    int fd = dial();
    send_text(fd, "NONSENSE\r\n\r\n"); /* not even a request line: nobody to answer to */
    weir_buf_reset(&bytes);
    ck_assert_int_ne(receive_all(fd, &bytes), OPEN);
    close(fd);
    ck_assert_int_eq(create(), 204);
    stop();
}
END_TEST

START_TEST(headers_beyond_the_bound_are_refused)
{
    struct weir_buf text;
    start("--no-limits", NULL);
    weir_buf_init(&text, BYTES_MAX);
    for (int form = 0; form < 3; form++) {
        weir_buf_reset(&text);
        weir_buf_add_text(&text, "GET /sim/stats");
        for (int i = 0; form == 2 && i < 80000; i++)
            weir_buf_add_char(&text, 'u');
        weir_buf_add_text(&text, " HTTP/1.1\r\nHost: x\r\n");
        for (int i = 0; form == 0 && i < 4000; i++)
            weir_buf_printf(&text, "X-Header-%d: 0123456789\r\n", i);
        if (form == 1)
            weir_buf_add_text(&text, "X-Long: ");
        for (int i = 0; form == 1 && i < 80000; i++)
            weir_buf_add_char(&text, 'v');
        weir_buf_add_text(&text, "\r\n\r\n");
        int fd = dial();
        send_bytes(fd, text.ptr, text.len);
        int status = receive_answer(fd, &bytes);
        ck_assert_msg(status == 431 || (form == 2 && status == 414), "%d: %d", form, status);
        close(fd);
    }
    weir_buf_release(&text);
    ck_assert_int_eq(create(), 204);
    stop();
}
END_TEST

START_TEST(a_body_that_grows_beyond_the_bound_is_refused)
{
    static char chunk[1024 * 1024];
    struct weir_buf text;
    start("--no-limits", NULL);
    weir_buf_init(&text, BYTES_MAX);
    int fd = dial();
    send_text(fd, "POST /sim/faults HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
    memset(chunk, ' ', sizeof(chunk));
    for (int i = 0; i < 130; i++) {
        if (!send_text(fd, "100000\r\n") || !send_bytes(fd, chunk, sizeof(chunk)) ||
            !send_text(fd, "\r\n"))
            break;
    }
    receive_all(fd, &text);
    ck_assert_int_eq(strncmp(weir_buf_text(&text), "HTTP/1.1 413 ", 13), 0);
    weir_buf_release(&text);
    close(fd);
    ck_assert_int_eq(create(), 204);
    stop();
}
END_TEST

START_TEST(a_hundred_requests_wait_for_their_time_together)
{
    int fds[100];
    start("--service-time", "100", "--concurrent", "0", NULL);
    int64_t begun_us = weir_clock_now_us();
    for (int i = 0; i < 100; i++) {
        fds[i] = dial();
        send_request(fds[i], "GET", API "WhoAmI", NULL);
    }
    for (int i = 0; i < 100; i++) {
        ck_assert_int_eq(receive_answer(fds[i], &bytes), 200);
        ck_assert_int_ge(weir_clock_now_us() - begun_us, 100000);
        close(fds[i]);
    }
    stop();
}
END_TEST

START_TEST(a_client_that_leaves_changes_nothing)
{
    start("--service-time", "50", NULL);
    int fd = dial();
    send_request(fd, "POST", API "accounts", "{\"name\":\"a\"}");
    while (true) { /* until it is inside */
        ck_assert_int_eq(ask("GET", "/sim/stats", NULL), 200);
        if (has(&bytes, "\"accepted\":1"))
            break;
    }
    close(fd);
    int64_t begun_us = weir_clock_now_us();
    while (rows() == 0)
        ck_assert_int_lt(weir_clock_now_us() - begun_us, 10 * WEIR_US_PER_S);
    stop();
}
END_TEST

START_TEST(limits_refuse_and_open_again)
{
    start("--requests", "3", "--window", "1", "--service-time", "1", NULL);
    int fd = dial();
    for (int i = 0; i < 3; i++) {
        send_request(fd, "GET", API "WhoAmI", NULL);
        ck_assert_int_eq(receive_answer(fd, &bytes), 200);
    }
    send_request(fd, "GET", API "WhoAmI", NULL);
    ck_assert_int_eq(receive_answer(fd, &bytes), 429);
    ck_assert_str_eq(body_of(&bytes), "{\"error\":{\"code\":\"0x80072322\",\"message\":\"Number of "
                                      "requests exceeded the limit of 3 over time window of 1 "
                                      "seconds.\"}}");
    ck_assert(has(&bytes, "\r\nRetry-After: 1\r\n"));
    send_request(fd, "GET", API "WhoAmI", NULL);
    ck_assert_int_eq(receive_answer(fd, &bytes), 429);
    ck_assert(has(&bytes, "\r\nRetry-After: 2\r\n"));
    ck_assert(!readable(fd, 2100)); /* and meanwhile nobody closes the connection */
    send_request(fd, "GET", API "WhoAmI", NULL);
    ck_assert_int_eq(receive_answer(fd, &bytes), 200);
    ck_assert_int_eq(ask("GET", "/sim/stats", NULL), 200);
    ck_assert(has(&bytes, "\"name\":\"app1\",\"requests\":6,\"accepted\":4,\"throttled\":"
                          "{\"requests\":2,"));
    close(fd);
    stop();
}
END_TEST

/* The command line. */

static int run(struct weir_buf *out, struct weir_buf *err, const char *const *args)
{
    spawn(args);
    read_text(sim.out, NULL, out);
    read_text(sim.err, NULL, err);
    return reap();
}

START_TEST(a_wrong_command_line_is_exit_2_and_names_what_is_allowed)
{
    static const struct {
        const char *args[3];
        const char *text;
    } cases[] = {
        { { "--port", "70000", NULL }, "--port is \"70000\", must be an integer from 0 to 65535" },
        { { "--users", "0", NULL }, "--users is \"0\", must be an integer from 1 to 10000" },
        { { "--window=x", NULL, NULL }, "--window is \"x\", must be a number from 0.001 to 86400" },
        { { "--affinity", "sticky", NULL }, "must be none, soft or pinned" },
        { { "--duplicate-status", "409", NULL }, "must be 412 or 500" },
        { { "--careless", "maybe", NULL }, "--careless is \"maybe\", must be refuse or accept" },
        { { "--log-level", "loud", NULL }, "--log-level is \"loud\", must be error, warning" },
        { { "--seed", NULL, NULL }, "--seed has no value" },
        { { "--tls=yes", NULL, NULL }, "--tls is \"yes\", must be given without a value" },
        { { "--prot", "1", NULL }, "unknown option \"--prot\"" },
        { { "stray", NULL, NULL }, "unknown option \"stray\"" },
        { { "--scenario", "/nowhere/at/all", NULL }, "--scenario is \"/nowhere/at/all\"" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct weir_buf out, err;
        weir_buf_init(&out, BYTES_MAX);
        weir_buf_init(&err, BYTES_MAX);
        ck_assert_int_eq(run(&out, &err, cases[i].args), 2);
        ck_assert_msg(strstr(weir_buf_text(&err), cases[i].text), "%s", weir_buf_text(&err));
        ck_assert_uint_eq(out.len, 0);
        weir_buf_release(&out);
        weir_buf_release(&err);
    }
}
END_TEST

START_TEST(print_config_help_and_version_go_to_standard_output)
{
    static const char *const config[] = {
        "--print-config", "--port", "8080", "--users", "2", NULL
    };
    static const char *const help[] = { "--help", NULL };
    static const char *const version[] = { "--version", NULL };
    struct weir_buf out, err;
    weir_buf_init(&out, BYTES_MAX);
    weir_buf_init(&err, BYTES_MAX);
    ck_assert_int_eq(run(&out, &err, config), 0);
    ck_assert_str_eq(weir_buf_text(&out),
                     "{\n  \"Dataverse\": {\n    \"Url\": \"http://127.0.0.1:8080\",\n"
                     "    \"TenantId\": \"contoso\",\n"
                     "    \"Authority\": \"http://127.0.0.1:8080\",\n"
                     "    \"Connections\": [\n"
                     "      { \"Name\": \"app1\", \"ClientId\": \"app1\", \"ClientSecret\": "
                     "\"app1~simulated.client-secret\" },\n"
                     "      { \"Name\": \"app2\", \"ClientId\": \"app2\", \"ClientSecret\": "
                     "\"app2~simulated.client-secret\" }\n    ]\n  }\n}\n");
    weir_buf_reset(&out);
    ck_assert_int_eq(run(&out, &err, help), 0);
    ck_assert_ptr_nonnull(strstr(weir_buf_text(&out), "example:"));
    int lines = 0;
    for (const char *at = out.ptr; (at = strchr(at, '\n')); at++)
        lines++;
    ck_assert_int_le(lines, 45);
    weir_buf_reset(&out);
    ck_assert_int_eq(run(&out, &err, version), 0);
    ck_assert_int_eq(strncmp(weir_buf_text(&out), "weir-sim ", 9), 0);
    ck_assert_uint_eq(err.len, 0);
    weir_buf_release(&out);
    weir_buf_release(&err);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("sim_http");
    suite_add(&s, a_connection_is_kept_alive_and_requests_may_be_pipelined);
    suite_add(&s, bodies_come_whole_in_chunks_or_byte_by_byte);
    suite_add(&s, headers_arrive_once_or_twice_as_the_real_ones_do);
    suite_add(&s, hostile_requests_get_a_clear_4xx);
    suite_add(&s, headers_beyond_the_bound_are_refused);
    suite_add(&s, a_body_that_grows_beyond_the_bound_is_refused);
    suite_add(&s, a_hundred_requests_wait_for_their_time_together);
    suite_add(&s, a_client_that_leaves_changes_nothing);
    suite_add(&s, limits_refuse_and_open_again);
    suite_add(&s, a_wrong_command_line_is_exit_2_and_names_what_is_allowed);
    suite_add(&s, print_config_help_and_version_go_to_standard_output);
    return suite_run(&s);
}
