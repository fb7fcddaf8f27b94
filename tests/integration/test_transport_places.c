/* SPDX-License-Identifier: MIT */
/*
 * Where a request may go: to its origin, on a connection of its own user, and nowhere else,
 * whatever redirects, environments and files say.
 */
#include <sys/stat.h>
#include <unistd.h>

#include "support/exchange.h"
#include "support/origin.h"

#define CANARY     "canary-token-5d41402a"
#define BEARER     "Authorization: Bearer " CANARY
#define NO_CONTENT "HTTP/1.1 204 No Content\r\n\r\n"

static const char *const no_content[] = { NO_CONTENT };
static const char *const bearer[] = { BEARER };

/* A server that must not be spoken to. */
static struct origin *stranger_new(void)
{
    return origin_new(
        &(struct origin_options){ .answers = no_content, .answer_count = 1, .record_max = 4 });
}

static void assert_untouched(struct origin *stranger)
{
    struct origin_counts counts = origin_counts(stranger);
    ck_assert_uint_eq(counts.connections, 0);
    ck_assert_uint_eq(counts.bytes, 0);
    origin_free(stranger);
}

/* ---- redirects ---- */

/* "/status/form": the form says where the Location points to. */
struct detour {
    uint16_t port;
};

static const char *const forms[] = {
    "http://127.0.0.1:%u/x",   "http://localhost:%u/x",    "https://127.0.0.1:%u/x",
    "//127.0.0.1:%u/x",        "http://[::1]:%u/x",        "https://login.example.invalid:%u/x",
    "ftp://127.0.0.1:%u/x",    "file:///etc/passwd?%u",    "http://user:pass@127.0.0.1:%u/x",
    "http://127.0.0.1:%u\\@x", "gopher://127.0.0.1:%u/_x",
};

static void redirect(void *ctx, const struct origin_request *request, struct origin_answer *answer)
{
    const struct detour *detour = ctx;
    unsigned status, form;
    char location[128];
    must(sscanf(request->target, "/%u/%u", &status, &form) == 2);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(location, sizeof(location), forms[form], detour->port);
#pragma GCC diagnostic pop
    weir_buf_printf(&answer->bytes,
                    "HTTP/1.1 %u Elsewhere\r\nLocation: %s\r\nRefresh: 0; url=%s\r\n"
                    "Alt-Svc: http/1.1=\"127.0.0.1:%u\"\r\nContent-Length: 0\r\n\r\n",
                    status, location, location, detour->port);
}

START_TEST(a_redirect_is_an_answer_and_is_never_followed)
{
    static const char *const methods[] = { "GET", "POST", "DELETE", "PATCH" };
    struct client client;
    uint64_t asked = 0;
    struct origin *stranger = stranger_new();
    struct detour detour = { origin_port(stranger) };
    struct origin *origin =
        origin_new(&(struct origin_options){ .script = redirect, .ctx = &detour });
    client_init(&client, origin_url(origin));
    client.headers = bearer;
    client.header_count = 1;
    for (unsigned status = 300; status <= 308; status++) {
        for (size_t i = 0; i < COUNT(forms) * COUNT(methods); i++) {
            const char *method = methods[i / COUNT(forms)];
            char target[32], expected[16];
            snprintf(target, sizeof(target), "/%u/%zu", status, i % COUNT(forms));
            struct got got = client_ask(&client, method, target, *method == 'P' ? "{}" : NULL);
            assert_complete(got, (int)status);
            snprintf(expected, sizeof(expected), "%u", detour.port);
            ck_assert_ptr_nonnull(strstr(got.location, expected));
            ck_assert_int_eq(got.verdict.class_, WEIR_CLASS_OTHER); /* an error to all above */
            asked++;
        }
    }
    client_idle(&client, MS(20));
    ck_assert_uint_eq(origin_counts(origin).requests, asked);
    client_release(&client);
    origin_free(origin);
    assert_untouched(stranger);
}
END_TEST

/* A target is a path: no way of writing it leads to another host. */
START_TEST(no_target_leads_to_another_origin)
{
    struct client client;
    struct origin_record record;
    struct origin *stranger = stranger_new();
    struct origin *origin = origin_new(
        &(struct origin_options){ .answers = no_content, .answer_count = 1, .record_max = 64 });
    char own[64];
    snprintf(own, sizeof(own), "127.0.0.1:%u", origin_port(origin));
    static const char *const targets[] = {
        "//127.0.0.1:%u/x",
        "/\\127.0.0.1:%u",
        "@127.0.0.1:%u/",
        "http://127.0.0.1:%u/x",
        ":%u/",
        ".evil.example:%u/",
        "/@127.0.0.1:%u",
        "/..//127.0.0.1:%u/../..",
        "/x?y=http://a:%u/#",
        "/ HTTP/1.1\r\nX: %u",
        "127.0.0.1:%u",
        "",
        "/x y%u",
        "/\t%u",
        "/a\nHost: b:%u\n",
        "*%u",
    };
    client_init(&client, origin_url(origin));
    client.headers = bearer;
    client.header_count = 1;
    for (size_t i = 0; i < COUNT(targets); i++) {
        char target[64];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(target, sizeof(target), targets[i], origin_port(stranger));
#pragma GCC diagnostic pop
        struct got got = client_ask(&client, "GET", target, NULL);
        if (got.ending == WEIR_ENDING_COMPLETE) {
            ck_assert_int_eq(target[0], '/');
            ck_assert_int_eq(got.status, 204);
        } else {
            ck_assert_msg(!got.sent, "'%s' was sent", target);
        }
    }
    struct origin_counts counts = origin_counts(origin);
    ck_assert_uint_eq(counts.malformed, 0);
    ck_assert_uint_ge(counts.requests, 3);
    for (uint64_t i = 0; i < counts.requests; i++) {
        ck_assert(origin_record(origin, i, &record));
        struct weir_str host = origin_header(record.head, "Host");
        ck_assert(weir_str_equal(host, weir_str_from(own)));
        ck_assert_ptr_null(strstr(record.head, "\r\nX:"));
    }
    client_release(&client);
    origin_free(origin);
    assert_untouched(stranger);
}
END_TEST

/* ---- two users ---- */

struct users {
    char owner[ORIGIN_CONNECTIONS_MAX]; /* of a TCP connection: 'a', 'b' or 0 */
    uint32_t mixed;
    uint32_t seen[2];
};

static void note_owner(void *ctx, const struct origin_request *request,
                       struct origin_answer *answer)
{
    struct users *users = ctx;
    static const char name[] = "Authorization: Bearer ";
    const char *at = memmem(request->head, request->head_len, name, strlen(name));
    must(at && request->connection < ORIGIN_CONNECTIONS_MAX);
    char who = at[strlen(name)];
    char *owner = &users->owner[request->connection];
    must(who == 'a' || who == 'b');
    users->mixed += *owner && *owner != who;
    users->seen[who - 'a']++;
    *owner = who;
    weir_buf_add_text(&answer->bytes, NO_CONTENT);
    if (request->index % 37 == 36) /* so that connections come and go */
        answer->then = ORIGIN_CLOSE;
}

static void count_complete(void *ctx, uint32_t index, const struct weir_exchange_answer *answer)
{
    (void)index;
    *(uint32_t *)ctx += answer->ending == WEIR_ENDING_COMPLETE;
}

/* Both on one loop and to one server, at the same time and in turns. */
START_TEST(no_request_travels_on_a_connection_of_another_user)
{
    static const char *const headers[2][1] = { { "Authorization: Bearer a" },
                                               { "Authorization: Bearer b" } };
    struct users users = { 0 };
    struct client clients[2];
    struct weir_error err;
    struct got got[2][8];
    struct origin *origin =
        origin_new(&(struct origin_options){ .script = note_owner, .ctx = &users });
    struct weir_transport_options options = { .origin = origin_url(origin) };
    client_init(&clients[0], origin_url(origin));
    clients[1] = clients[0];
    ck_assert(weir_transport_new(clients[0].loop, &options, &clients[1].transport, &err) ==
              WEIR_OK);
    for (int round = 0; round < 100; round++) {
        for (int i = 0; i < 16; i++) {
            int user = (i + round) % 2;
            got[user][i / 2] = (struct got){ 0 };
            struct weir_exchange_request request = {
                .method = "GET", .target = "/", .headers = headers[user], .header_count = 1
            };
            weir_transport_send(clients[user].transport, &request, copy_answer, &got[user][i / 2]);
        }
        for (int i = 0; i < 16; i++)
            client_until(&clients[0], got[i % 2][i / 2].done);
    }
    struct weir_transport_stats a = client_stats(&clients[0]), b = client_stats(&clients[1]);
    uint64_t connections = origin_counts(origin).connections;
    weir_transport_free(clients[1].transport);
    client_release(&clients[0]);
    origin_free(origin);
    ck_assert_uint_eq(users.mixed, 0);
    ck_assert_uint_gt(users.seen[0], 700);
    ck_assert_uint_gt(users.seen[1], 700);
    ck_assert_uint_eq(a.connections + b.connections, connections);
    ck_assert_uint_gt(a.reused, 0);
    ck_assert_uint_gt(b.reused, 0);
}
END_TEST

/* ---- proxies ---- */

static void set_proxies(const char *url)
{
    static const char *const names[] = { "http_proxy",  "HTTP_PROXY", "https_proxy",
                                         "HTTPS_PROXY", "all_proxy",  "ALL_PROXY" };
    for (size_t i = 0; i < COUNT(names); i++)
        setenv(names[i], url, 1);
    unsetenv("no_proxy");
    unsetenv("NO_PROXY");
}

/* Neither what the environment says nor what the configuration says. */
START_TEST(no_proxy_is_used_for_loopback)
{
    struct origin *proxy = stranger_new();
    struct origin *origin =
        origin_new(&(struct origin_options){ .answers = no_content, .answer_count = 1 });
    char by_name[64];
    snprintf(by_name, sizeof(by_name), "http://localhost:%u", origin_port(origin));
    set_proxies(origin_url(proxy));
    for (int i = 0; i < 4; i++) {
        struct client client;
        client_init_with(&client, (struct weir_transport_options){
                                      .origin = i % 2 ? by_name : origin_url(origin),
                                      .proxy = i / 2 ? origin_url(proxy) : NULL });
        client.headers = bearer;
        client.header_count = 1;
        assert_complete(client_ask(&client, "POST", "/", "{}"), 204);
        client_release(&client);
    }
    ck_assert_uint_eq(origin_counts(origin).requests, 4);
    origin_free(origin);
    assert_untouched(proxy);
}
END_TEST

/* That the proxy would have been seen; and that it never sees a token. */
START_TEST(a_proxy_elsewhere_is_asked_to_connect_and_sees_no_token)
{
    static const char *const refusals[] = {
        "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n"
    };
    for (int i = 0; i < 2; i++) {
        struct client client;
        struct origin_record record;
        struct origin *proxy = origin_new(
            &(struct origin_options){ .answers = refusals, .answer_count = 1, .record_max = 4 });
        if (i)
            set_proxies(origin_url(proxy));
        client_init_with(&client,
                         (struct weir_transport_options){ .origin = "https://weir.invalid",
                                                          .proxy = i ? NULL : origin_url(proxy) });
        client.headers = bearer;
        client.header_count = 1;
        struct got got = client_ask(&client, "POST", "/secret/path", "{}");
        assert_ending(got, WEIR_ENDING_NO_CONNECTION);
        ck_assert(!got.sent);
        ck_assert_int_eq(got.verdict.outcome, WEIR_OUTCOME_NOT_EXECUTED);
        ck_assert_uint_eq(origin_counts(proxy).requests, 1);
        ck_assert(origin_record(proxy, 0, &record));
        ck_assert_int_eq(strncmp(record.head, "CONNECT weir.invalid:443 ", 25), 0);
        ck_assert_ptr_null(strstr(record.head, CANARY));
        ck_assert_ptr_null(strstr(record.head, "secret"));
        client_release(&client);
        origin_free(proxy);
    }
}
END_TEST

/* ---- files and memories ---- */

START_TEST(no_netrc_is_read)
{
    static const char *const names[] = { "/.netrc", "/_netrc", "/.curlrc" };
    char home[] = "/tmp/weir-netrc-XXXXXX", path[64];
    struct client client;
    struct origin_record record;
    ck_assert_ptr_nonnull(mkdtemp(home));
    for (size_t i = 0; i < COUNT(names); i++) {
        snprintf(path, sizeof(path), "%s%s", home, names[i]);
        FILE *file = fopen(path, "w");
        ck_assert_ptr_nonnull(file);
        fputs("machine 127.0.0.1 login somebody password else\ndefault login a password b\n", file);
        fclose(file);
        chmod(path, 0600);
    }
    setenv("HOME", home, 1);
    struct origin *origin = origin_new(
        &(struct origin_options){ .answers = no_content, .answer_count = 1, .record_max = 1 });
    client_init(&client, origin_url(origin));
    assert_complete(client_ask(&client, "GET", "/", NULL), 204);
    ck_assert(origin_record(origin, 0, &record));
    ck_assert_uint_eq(origin_header(record.head, "Authorization").len, 0);
    client_release(&client);
    origin_free(origin);
    for (size_t i = 0; i < COUNT(names); i++) {
        snprintf(path, sizeof(path), "%s%s", home, names[i]);
        unlink(path);
    }
    rmdir(home);
}
END_TEST

/* A cookie is what the caller says, and a challenge is answered by nobody. */
START_TEST(nothing_is_remembered_from_one_answer_to_the_next_request)
{
    static const char *const answers[] = {
        "HTTP/1.1 401 Unauthorized\r\nSet-Cookie: ARRAffinity=abc; path=/\r\nETag: \"1\"\r\n"
        "WWW-Authenticate: Basic realm=x\r\nWWW-Authenticate: Negotiate\r\n"
        "Strict-Transport-Security: max-age=1000\r\nContent-Length: 0\r\n\r\n",
    };
    static const char *const cookie[] = { "Cookie: ARRAffinity=mine" };
    struct client client;
    struct origin_record record;
    struct origin *origin = origin_new(
        &(struct origin_options){ .answers = answers, .answer_count = 1, .record_max = 8 });
    client_init(&client, origin_url(origin));
    for (uint64_t i = 0; i < 4; i++) {
        client.headers = cookie;
        client.header_count = i == 2 ? 1 : 0;
        assert_complete(client_ask(&client, "POST", "/", "{}"), 401);
        ck_assert(origin_record(origin, i, &record));
        struct weir_str sent = origin_header(record.head, "Cookie");
        ck_assert(weir_str_equal(sent, weir_str_from(i == 2 ? "ARRAffinity=mine" : "")));
        ck_assert_uint_eq(origin_header(record.head, "Authorization").len, 0);
        ck_assert_uint_eq(origin_header(record.head, "If-None-Match").len, 0);
        ck_assert_uint_eq(origin_header(record.head, "Referer").len, 0);
    }
    ck_assert_uint_eq(origin_counts(origin).requests, 4);
    ck_assert_uint_eq(origin_counts(origin).connections, 1);
    client_release(&client);
    origin_free(origin);
}
END_TEST

/* The same headers once each, and what the caller has given. */
START_TEST(a_request_has_the_headers_it_should_have)
{
    static const char *const given[] = { BEARER, "Prefer: a", "prefer: b", "X-Empty:  \t" };
    static const char *const once[] = { "\r\nHost:", "\r\nContent-Length:", "\r\nUser-Agent:",
                                        "\r\nAuthorization:" };
    struct client client;
    struct origin_record record;
    uint32_t complete = 0;
    struct origin *origin = origin_new(
        &(struct origin_options){ .answers = no_content, .answer_count = 1, .record_max = 50 });
    client_init(&client, origin_url(origin));
    client.headers = given;
    client.header_count = 3;
    crowd_run(&(struct crowd){ .client = &client,
                               .count = 50,
                               .in_flight_max = 5,
                               .method = "PATCH",
                               .body = "{\"a\":1}",
                               .heard = count_complete,
                               .ctx = &complete });
    ck_assert_uint_eq(complete, 50);
    for (uint64_t i = 0; i < 50; i++) {
        ck_assert(origin_record(origin, i, &record));
        must(strncmp(record.head, "PATCH /", 7) == 0);
        for (size_t n = 0; n < COUNT(once); n++) {
            const char *first = strcasestr(record.head, once[n]);
            ck_assert_msg(first && !strcasestr(first + 2, once[n]), "%s", record.head);
        }
        must(strstr(record.head, "\r\nPrefer: a\r\n") && strstr(record.head, "\r\nprefer: b\r\n"));
        must(!strcasestr(record.head, "\r\nTransfer-Encoding:"));
    }
    client_release(&client);
    origin_free(origin);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("transport_places");
    suite_add(&s, a_redirect_is_an_answer_and_is_never_followed);
    suite_add(&s, no_target_leads_to_another_origin);
    suite_add(&s, no_request_travels_on_a_connection_of_another_user);
    suite_add(&s, no_proxy_is_used_for_loopback);
    suite_add(&s, a_proxy_elsewhere_is_asked_to_connect_and_sees_no_token);
    suite_add(&s, no_netrc_is_read);
    suite_add(&s, nothing_is_remembered_from_one_answer_to_the_next_request);
    suite_add(&s, a_request_has_the_headers_it_should_have);
    return suite_run(&s);
}
