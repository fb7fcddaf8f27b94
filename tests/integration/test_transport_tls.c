/* SPDX-License-Identifier: MIT */
/*
 * TLS: who is believed, which versions are spoken, and that nobody else ever sees a byte of a
 * request. The certificates are made here: an authority, a stranger that is one too, and what they
 * sign.
 */
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/mman.h>

#include "support/exchange.h"
#include "support/loopback.h"
#include "support/origin.h"
#include "support/toxic.h"

#define DAY        (24 * 60 * 60)
#define NO_CONTENT "HTTP/1.1 204 No Content\r\n\r\n"
#define IP         "IP:127.0.0.1"
#define CANARY     "Authorization: Bearer canary"

static const char *const no_content[] = { NO_CONTENT };
static const char *const canary[] = { CANARY };

/* ---- certificates ---- */

struct authority {
    EVP_PKEY *key;
    X509 *certificate;
};

struct wish {
    const char *names; /* subjectAltName; NULL: an authority */
    const char *usage; /* extendedKeyUsage; NULL: not said */
    long not_before_s; /* from now */
    long not_after_s;
};

static struct authority ours, strangers;
static EVP_PKEY *server_key;
static char ca_path[64];

static void add_extension(X509 *certificate, int nid, const char *value)
{
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, NULL, nid, value);
    must(extension != NULL);
    must(X509_add_ext(certificate, extension, -1) == 1);
    X509_EXTENSION_free(extension);
}

/* Signed by `issuer`, or by itself if that is NULL. */
static X509 *make_certificate(EVP_PKEY *key, const char *name, const struct authority *issuer,
                              struct wish wish)
{
    static long serial = 1;
    X509 *certificate = X509_new();
    X509_NAME *subject = X509_get_subject_name(certificate);
    X509_set_version(certificate, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial++);
    X509_gmtime_adj(X509_getm_notBefore(certificate), wish.not_before_s);
    X509_gmtime_adj(X509_getm_notAfter(certificate), wish.not_after_s);
    X509_set_pubkey(certificate, key);
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, (const unsigned char *)name, -1, -1, 0);
    X509_set_issuer_name(certificate,
                         issuer ? X509_get_subject_name(issuer->certificate) : subject);
    add_extension(certificate, NID_basic_constraints,
                  wish.names ? "critical,CA:FALSE" : "critical,CA:TRUE");
    if (wish.names)
        add_extension(certificate, NID_subject_alt_name, wish.names);
    if (wish.usage)
        add_extension(certificate, NID_ext_key_usage, wish.usage);
    must(X509_sign(certificate, issuer ? issuer->key : key, EVP_sha256()) > 0);
    return certificate;
}

static struct authority make_authority(const char *name)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    must(key != NULL);
    return (struct authority){
        key,
        make_certificate(key, name, NULL, (struct wish){ .not_before_s = -DAY, .not_after_s = DAY })
    };
}

static X509 *good_certificate(void)
{
    return make_certificate(
        server_key, "server", &ours,
        (struct wish){ .names = IP ",DNS:localhost", .not_before_s = -DAY, .not_after_s = DAY });
}

/* A file that is gone when the process is. */
static void write_ca_file(void)
{
    int fd = memfd_create("ca", 0);
    must(fd >= 0);
    FILE *file = fdopen(dup(fd), "w");
    must(PEM_write_X509(file, ours.certificate) == 1);
    fclose(file);
    snprintf(ca_path, sizeof(ca_path), "/proc/self/fd/%d", fd);
}

static void setup(void)
{
    ours = make_authority("our authority");
    strangers = make_authority("a stranger");
    server_key = EVP_EC_gen("P-256");
    write_ca_file();
}

static void teardown(void)
{
    X509_free(ours.certificate);
    X509_free(strangers.certificate);
    EVP_PKEY_free(ours.key);
    EVP_PKEY_free(strangers.key);
    EVP_PKEY_free(server_key);
    int fd = (int)strtol(strrchr(ca_path, '/') + 1, NULL, 10);
    close(fd);
}

/* ---- servers and clients ---- */

static struct origin *server_new(X509 *certificate, int version_min, int version_max,
                                 origin_script *script)
{
    struct origin_tls tls = { .certificate = certificate,
                              .key = server_key,
                              .version_min = version_min,
                              .version_max = version_max };
    return origin_new(&(struct origin_options){
        .answers = no_content, .answer_count = 1, .script = script, .record_max = 4, .tls = &tls });
}

static struct got ask_once(const char *url, const char *ca_file)
{
    struct client client;
    client_init_with(&client, (struct weir_transport_options){ .origin = url, .ca_file = ca_file });
    client.headers = canary;
    client.header_count = 1;
    struct got got = client_ask(&client, "POST", "/", "{}");
    client_release(&client);
    return got;
}

/* Nothing was sent, nothing was seen. */
static void assert_refused(const char *name, struct origin *origin, struct got got)
{
    struct origin_counts counts = origin_counts(origin);
    ck_assert_msg(got.ending == WEIR_ENDING_TLS, "%s: %s: %s", name, weir_ending_name(got.ending),
                  got.detail);
    ck_assert_msg(!got.sent && !got.sent_us, "%s", name);
    ck_assert_int_eq(got.verdict.outcome, WEIR_OUTCOME_NOT_EXECUTED);
    ck_assert_msg(counts.bytes == 0 && counts.requests == 0, "%s", name);
    ck_assert_uint_ge(counts.connections, 1);
}

START_TEST(the_right_certificate_is_accepted)
{
    char by_name[64];
    setup();
    X509 *certificate = good_certificate();
    struct origin *origin = server_new(certificate, 0, 0, NULL);
    assert_complete(ask_once(origin_url(origin), ca_path), 204);
    snprintf(by_name, sizeof(by_name), "https://localhost:%u", origin_port(origin));
    assert_complete(ask_once(by_name, ca_path), 204);
    ck_assert_uint_eq(origin_counts(origin).requests, 2);
    origin_free(origin);
    X509_free(certificate);
    teardown();
}
END_TEST

START_TEST(wrong_certificates_are_refused_before_a_byte_is_sent)
{
    setup();
    EVP_PKEY *leaf_key = server_key;
    X509 *leaf = good_certificate();
    struct authority no_authority = { leaf_key, leaf };
    const struct {
        const char *name;
        const struct authority *issuer; /* NULL: itself */
        struct wish wish;
    } rows[] = {
        { "expired", &ours, { IP, NULL, -2 * DAY, -DAY } },
        { "expired a minute ago", &ours, { IP, NULL, -DAY, -60 } },
        { "not yet valid", &ours, { IP, NULL, DAY, 2 * DAY } },
        { "another host", &ours, { "DNS:contoso.example", NULL, -DAY, DAY } },
        { "another address", &ours, { "IP:127.0.0.2", NULL, -DAY, DAY } },
        { "a name that looks like the address", &ours, { "DNS:127.0.0.1", NULL, -DAY, DAY } },
        { "localhost, when the address was asked for",
          &ours,
          { "DNS:localhost", NULL, -DAY, DAY } },
        { "a wildcard", &ours, { "DNS:*.0.0.1", NULL, -DAY, DAY } },
        { "self-signed", NULL, { IP, NULL, -DAY, DAY } },
        { "an unknown authority", &strangers, { IP, NULL, -DAY, DAY } },
        { "signed by one that is no authority", &no_authority, { IP, NULL, -DAY, DAY } },
        { "for clients only", &ours, { IP, "clientAuth", -DAY, DAY } },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        X509 *certificate = make_certificate(server_key, "server", rows[i].issuer, rows[i].wish);
        struct origin *origin = server_new(certificate, 0, 0, NULL);
        assert_refused(rows[i].name, origin, ask_once(origin_url(origin), ca_path));
        origin_free(origin);
        X509_free(certificate);
    }
    X509_free(leaf);
    teardown();
}
END_TEST

/* The right certificate by the wrong trust. */
START_TEST(an_authority_is_believed_only_if_it_was_named)
{
    setup();
    X509 *certificate = good_certificate();
    struct origin *origin = server_new(certificate, 0, 0, NULL);
    assert_refused("the system's", origin, ask_once(origin_url(origin), NULL));
    assert_refused("no such file", origin, ask_once(origin_url(origin), "/nowhere/ca.pem"));
    origin_free(origin);
    X509_free(certificate);
    teardown();
}
END_TEST

/* ---- versions ---- */

/* A client that speaks anything: does the server really speak this version? */
static bool speaks(uint16_t port, int version)
{
    struct sockaddr_in address = loopback_address(port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    must(connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0);
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_cipher_list(context, "DEFAULT:@SECLEVEL=0");
    SSL_CTX_set_min_proto_version(context, version);
    SSL_CTX_set_max_proto_version(context, version);
    SSL *ssl = SSL_new(context);
    SSL_set_fd(ssl, fd);
    bool spoke = SSL_connect(ssl) == 1 && SSL_version(ssl) == version;
    ERR_clear_error();
    SSL_free(ssl);
    SSL_CTX_free(context);
    close(fd);
    return spoke;
}

START_TEST(tls_1_2_is_the_least_that_is_spoken)
{
    static const struct {
        const char *name;
        int min;
        int max;
        bool good;
    } rows[] = {
        { "1.0", TLS1_VERSION, TLS1_VERSION, false },
        { "1.1", TLS1_1_VERSION, TLS1_1_VERSION, false },
        { "1.0 and 1.1", TLS1_VERSION, TLS1_1_VERSION, false },
        { "1.2", TLS1_2_VERSION, TLS1_2_VERSION, true },
        { "1.3", TLS1_3_VERSION, TLS1_3_VERSION, true },
        { "1.0 to 1.2", TLS1_VERSION, TLS1_2_VERSION, true },
        { "any", 0, 0, true },
    };
    setup();
    X509 *certificate = good_certificate();
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct origin *origin = server_new(certificate, rows[i].min, rows[i].max, NULL);
        struct got got = ask_once(origin_url(origin), ca_path);
        if (rows[i].good)
            ck_assert_msg(got.ending == WEIR_ENDING_COMPLETE, "%s: %s", rows[i].name, got.detail);
        else
            assert_refused(rows[i].name, origin, got);
        if (rows[i].max) /* that it was not the server's inability */
            ck_assert_msg(speaks(origin_port(origin), rows[i].max), "%s", rows[i].name);
        origin_free(origin);
    }
    X509_free(certificate);
    teardown();
}
END_TEST

/* ---- reuse ---- */

static void leave_each_time(void *ctx, const struct origin_request *request,
                            struct origin_answer *answer)
{
    (void)ctx;
    (void)request;
    weir_buf_add_text(&answer->bytes, "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
    answer->then = ORIGIN_CLOSE;
}

/* Connections are kept; where they cannot be, sessions are. */
START_TEST(connections_and_sessions_are_reused)
{
    setup();
    X509 *certificate = good_certificate();
    for (int version = TLS1_2_VERSION; version <= TLS1_3_VERSION; version++) {
        for (int leaves = 0; leaves < 2; leaves++) {
            struct client client;
            struct origin *origin =
                server_new(certificate, version, version, leaves ? leave_each_time : NULL);
            client_init_with(&client, (struct weir_transport_options){ .origin = origin_url(origin),
                                                                       .ca_file = ca_path });
            for (int i = 0; i < 20; i++) {
                struct got got = client_ask(&client, "POST", "/", "{}");
                assert_complete(got, 204);
                ck_assert_int_eq(got.reused, !leaves && i > 0);
            }
            struct origin_counts counts = origin_counts(origin);
            struct weir_transport_stats stats = client_stats(&client);
            ck_assert_uint_eq(counts.requests, 20);
            ck_assert_uint_eq(counts.handshakes, leaves ? 20 : 1);
            ck_assert_uint_eq(stats.handshakes, counts.handshakes);
            ck_assert_uint_eq(stats.connections, counts.connections);
            ck_assert_uint_eq(stats.reused, leaves ? 0 : 19);
            ck_assert_uint_ge(counts.resumed, leaves ? 10 : 0);
            client_release(&client);
            origin_free(origin);
        }
    }
    X509_free(certificate);
    teardown();
}
END_TEST

/* ---- large bodies ---- */

#define LARGE_BYTES ((size_t)3 * 1024 * 1024 + 7)

static void answer_hash(void *ctx, const struct origin_request *request,
                        struct origin_answer *answer)
{
    (void)ctx;
    char hash[32];
    int len =
        snprintf(hash, sizeof(hash), "%016llx",
                 (unsigned long long)weir_str_hash(weir_str(request->body, request->body_len)));
    weir_buf_printf(&answer->bytes, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len, hash);
}

/* Through a narrow place: each record has to wait for room, and goes on as it was. */
START_TEST(a_large_body_arrives_whole)
{
    static char bytes[LARGE_BYTES];
    char url[64];
    char hash[32];
    struct client client;
    setup();
    X509 *certificate = good_certificate();
    struct origin *origin = server_new(certificate, 0, 0, answer_hash);
    struct toxic *toxic = toxic_new(origin_port(origin));
    struct got got = { 0 };
    for (size_t i = 0; i < LARGE_BYTES; i++)
        bytes[i] = (char)(i * 7 + i / 251);
    struct weir_str slices[] = { { bytes, 5 },
                                 { bytes + 5, 0 },
                                 { bytes + 5, 100000 },
                                 { bytes + 100005, LARGE_BYTES - 100005 } };
    struct weir_exchange_request request = {
        .method = "POST", .target = "/", .body = slices, .body_count = COUNT(slices)
    };
    snprintf(url, sizeof(url), "https://127.0.0.1:%u", toxic_port(toxic));
    snprintf(hash, sizeof(hash), "%016llx",
             (unsigned long long)weir_str_hash(weir_str(bytes, LARGE_BYTES)));
    client_init_with(&client, (struct weir_transport_options){ .origin = url, .ca_file = ca_path });
    assert_complete(client_ask(&client, "POST", "/", "{}"), 200); /* on which it is reused */
    toxic_set(toxic, (struct toxic_script){ .up = { .end = TOXIC_STALL, .end_at = 300000 } });
    weir_transport_send(client.transport, &request, copy_answer, &got);
    client_idle(&client, MS(100));
    int64_t stalled_us = weir_clock_now_us();
    toxic_set(toxic, (struct toxic_script){ 0 });
    client_until(&client, got.done);
    assert_complete(got, 200);
    ck_assert_str_eq(got.body, hash);
    ck_assert(got.reused);
    ck_assert_int_lt(got.begun_us, stalled_us);
    client_release(&client);
    toxic_free(toxic);
    origin_free(origin);
    X509_free(certificate);
    teardown();
}
END_TEST

/* ---- lives of exchanges ---- */

#define CROWD 12

static void answer_unevenly(void *ctx, const struct origin_request *request,
                            struct origin_answer *answer)
{
    (void)ctx;
    if (request->target[1] == 's')
        answer->then = ORIGIN_STALL;
    else if (request->target[1] == 'p') {
        weir_buf_add_text(&answer->bytes, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n1234");
        answer->then = ORIGIN_STALL;
    } else
        weir_buf_add_text(&answer->bytes, NO_CONTENT);
}

/* After any number of turns, so in any phase; then all of it is freed. */
static void cancel_and_free_after(const char *url, int turns)
{
    static const char *const targets[] = { "/stalled", "/part", "/at-once" };
    static struct got gots[CROWD];
    struct weir_exchange *exchanges[CROWD];
    struct client client;
    client_init_with(&client, (struct weir_transport_options){ .origin = url, .ca_file = ca_path });
    for (int i = 0; i < CROWD; i++) {
        struct weir_exchange_request request = { .method = "POST", .target = targets[i % 3] };
        gots[i] = (struct got){ 0 };
        exchanges[i] = weir_transport_send(client.transport, &request, copy_answer, &gots[i]);
    }
    for (int i = 0; i < turns; i++)
        weir_loop_turn(client.loop, MS(1));
    for (int i = 0; i < CROWD / 2; i++) {
        if (!gots[i].done)
            weir_exchange_cancel(exchanges[i]);
    }
    weir_loop_turn(client.loop, 0);
    weir_transport_free(client.transport);
    client.transport = NULL;
    for (int i = 0; i < CROWD; i++)
        ck_assert(gots[i].done && (gots[i].ending == WEIR_ENDING_CANCELLED ||
                                   (i % 3 == 2 && gots[i].ending == WEIR_ENDING_COMPLETE)));
    weir_loop_turn(client.loop, 0);
    client_release(&client);
}

START_TEST(an_exchange_may_be_cancelled_and_freed_in_any_phase)
{
    setup();
    X509 *certificate = good_certificate();
    struct origin *origin = server_new(certificate, 0, 0, answer_unevenly);
    for (int turns = 0; turns < 40; turns += 1 + turns / 8)
        cancel_and_free_after(origin_url(origin), turns);
    origin_free(origin);
    X509_free(certificate);
    teardown();
}
END_TEST

/* ---- what is said too much ---- */

#define FORGED "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"

static void answer_too_much(void *ctx, const struct origin_request *request,
                            struct origin_answer *answer)
{
    (void)ctx;
    weir_buf_add_text(&answer->bytes, NO_CONTENT);
    if (request->target[1] == 'l') {
        answer->pause_at = answer->bytes.len;
        answer->pause_us = MS(20);
    }
    if (request->target[1])
        weir_buf_add_text(&answer->bytes, FORGED);
}

START_TEST(what_is_left_over_is_not_the_next_answer)
{
    static const char *const targets[] = { "/at-once", "/later" };
    struct client client;
    setup();
    X509 *certificate = good_certificate();
    struct origin *origin = server_new(certificate, 0, 0, answer_too_much);
    client_init_with(&client, (struct weir_transport_options){ .origin = origin_url(origin),
                                                               .ca_file = ca_path });
    for (uint64_t i = 0; i < 6; i++) {
        assert_complete(client_ask(&client, "GET", targets[i % 2], NULL), 204);
        uint64_t said = (i + 1) * strlen(FORGED);
        client_until(&client, origin_counts(origin).said >= said);
        client_idle(&client, MS(30));
        assert_complete(client_ask(&client, "GET", "/", NULL), 204);
        ck_assert_uint_eq(origin_counts(origin).connections, i + 2);
    }
    client_release(&client);
    origin_free(origin);
    X509_free(certificate);
    teardown();
}
END_TEST

/* ---- losses and cuts below TLS ---- */

static void drop_third(void *ctx, const struct origin_request *request,
                       struct origin_answer *answer)
{
    uint32_t *drops = ctx;
    if (request->before == 2) {
        ++*drops;
        answer->then = *drops % 2 ? ORIGIN_CLOSE : ORIGIN_RESET;
        return;
    }
    weir_buf_add_text(&answer->bytes, NO_CONTENT);
}

static void count_broken(void *ctx, uint32_t index, const struct weir_exchange_answer *answer)
{
    (void)index;
    if (answer->ending == WEIR_ENDING_COMPLETE)
        return;
    if (answer->ending != WEIR_ENDING_BROKEN)
        ck_abort_msg("%s: %s", weir_ending_name(answer->ending), answer->detail);
    must(answer->sent && answer->reused);
    ++*(uint32_t *)ctx;
}

START_TEST(nothing_is_sent_again_under_tls_either)
{
    static const char *const methods[] = { "POST", "GET", "DELETE" };
    setup();
    X509 *certificate = good_certificate();
    for (size_t i = 0; i < COUNT(methods); i++) {
        struct client client;
        uint32_t drops = 0, broken = 0;
        struct origin_tls tls = { .certificate = certificate, .key = server_key };
        struct origin *origin = origin_new(
            &(struct origin_options){ .script = drop_third, .ctx = &drops, .tls = &tls });
        client_init_with(&client, (struct weir_transport_options){ .origin = origin_url(origin),
                                                                   .ca_file = ca_path });
        crowd_run(&(struct crowd){ .client = &client,
                                   .count = 600,
                                   .in_flight_max = 8,
                                   .method = methods[i],
                                   .body = i == 0 ? "{}" : NULL,
                                   .heard = count_broken,
                                   .ctx = &broken });
        uint64_t requests = origin_counts(origin).requests;
        client_release(&client);
        origin_free(origin);
        ck_assert_uint_eq(requests, 600);
        ck_assert_uint_eq(broken, drops);
        ck_assert_uint_gt(drops, 100);
    }
    X509_free(certificate);
    teardown();
}
END_TEST

/*
 * The stream of the server cut at any place, inside the handshake or behind it. A request that was
 * heard was sent; one that was not sent was not heard; none is complete.
 */
static void cut_everywhere(int version, enum toxic_end end)
{
    char url[64];
    X509 *certificate = good_certificate();
    struct origin *origin = server_new(certificate, version, version, NULL);
    struct toxic *toxic = toxic_new(origin_port(origin));
    snprintf(url, sizeof(url), "https://127.0.0.1:%u", toxic_port(toxic));
    assert_complete(ask_once(url, ca_path), 204);
    uint64_t whole = toxic_counts(toxic).bytes_down, unsent = 0, sent = 0;
    for (uint64_t at = 0; at + 8 < whole; at += 11) { /* signatures differ in length by a few */
        uint64_t heard = origin_counts(origin).whole;
        toxic_set(toxic, (struct toxic_script){ .down = { .end = end, .end_at = at } });
        struct got got = ask_once(url, ca_path);
        bool was_heard = origin_counts(origin).whole > heard;
        ck_assert_msg(got.ending != WEIR_ENDING_COMPLETE && got.ending != WEIR_ENDING_TIMED_OUT,
                      "%u bytes: %s: %s", (unsigned)at, weir_ending_name(got.ending), got.detail);
        ck_assert_msg(got.sent || !was_heard, "%u bytes: heard, not sent", (unsigned)at);
        ck_assert(!got.sent || got.ending == WEIR_ENDING_BROKEN);
        sent += got.sent;
        unsent += !got.sent;
    }
    ck_assert_uint_gt(sent, 0);
    ck_assert_uint_gt(unsent, 10);
    toxic_free(toxic);
    origin_free(origin);
    X509_free(certificate);
}

START_TEST(a_stream_cut_anywhere_is_never_complete)
{
    setup();
    for (int version = TLS1_2_VERSION; version <= TLS1_3_VERSION; version++) {
        cut_everywhere(version, TOXIC_CLOSE);
        cut_everywhere(version, TOXIC_RESET);
    }
    teardown();
}
END_TEST

START_TEST(a_handshake_that_stalls_is_left_in_time)
{
    char url[64];
    setup();
    X509 *certificate = good_certificate();
    struct origin *origin = server_new(certificate, 0, 0, NULL);
    struct toxic *toxic = toxic_new(origin_port(origin));
    snprintf(url, sizeof(url), "https://127.0.0.1:%u", toxic_port(toxic));
    for (uint64_t at = 0; at < 500; at += 100) {
        struct client client;
        toxic_set(toxic, (struct toxic_script){ .down = { .end = TOXIC_STALL, .end_at = at } });
        client_init_with(&client, (struct weir_transport_options){
                                      .origin = url,
                                      .ca_file = ca_path,
                                      .http = { .connect_timeout_us = MS(200),
                                                .first_byte_timeout_us = 2 * GUARD_US,
                                                .request_timeout_us = 2 * GUARD_US } });
        struct got got = client_ask(&client, "POST", "/", "{}");
        assert_ending(got, WEIR_ENDING_TIMED_OUT);
        ck_assert(!got.sent);
        ck_assert_int_eq(got.verdict.outcome, WEIR_OUTCOME_NOT_EXECUTED);
        client_release(&client);
    }
    ck_assert_uint_eq(origin_counts(origin).bytes, 0);
    toxic_free(toxic);
    origin_free(origin);
    X509_free(certificate);
    teardown();
}
END_TEST

/* ---- no way down to plain http ---- */

static void send_down(void *ctx, const struct origin_request *request, struct origin_answer *answer)
{
    unsigned status;
    must(sscanf(request->target, "/%u", &status) == 1);
    weir_buf_printf(&answer->bytes,
                    "HTTP/1.1 %u Elsewhere\r\nLocation: http://127.0.0.1:%u/\r\n"
                    "Content-Length: 0\r\n\r\n",
                    status, *(uint16_t *)ctx);
}

START_TEST(a_redirect_to_plain_http_is_an_answer_and_carries_no_token)
{
    struct client client;
    setup();
    X509 *certificate = good_certificate();
    struct origin *plain =
        origin_new(&(struct origin_options){ .answers = no_content, .answer_count = 1 });
    uint16_t port = origin_port(plain);
    struct origin_tls tls = { .certificate = certificate, .key = server_key };
    struct origin *origin =
        origin_new(&(struct origin_options){ .script = send_down, .ctx = &port, .tls = &tls });
    client_init_with(&client, (struct weir_transport_options){ .origin = origin_url(origin),
                                                               .ca_file = ca_path });
    client.headers = canary;
    client.header_count = 1;
    for (int status = 300; status <= 308; status++) {
        char target[16];
        snprintf(target, sizeof(target), "/%d", status);
        assert_complete(client_ask(&client, "GET", target, NULL), status);
        assert_complete(client_ask(&client, "POST", target, "{}"), status);
    }
    ck_assert_uint_eq(origin_counts(plain).connections, 0);
    client_release(&client);
    origin_free(origin);
    origin_free(plain);
    X509_free(certificate);
    teardown();
}
END_TEST

/* The two kinds of server, each asked in the other's language. */
START_TEST(a_server_that_speaks_no_tls_gets_no_request)
{
    char url[64];
    setup();
    struct origin *plain =
        origin_new(&(struct origin_options){ .answers = no_content, .answer_count = 1 });
    snprintf(url, sizeof(url), "https://127.0.0.1:%u", origin_port(plain));
    struct client client;
    client_init_with(&client,
                     (struct weir_transport_options){ .origin = url,
                                                      .ca_file = ca_path,
                                                      .http = { .connect_timeout_us = MS(300) } });
    struct got got = client_ask(&client, "POST", "/", "{}");
    ck_assert_msg(got.ending == WEIR_ENDING_TLS || got.ending == WEIR_ENDING_TIMED_OUT, "%s",
                  got.detail);
    ck_assert(!got.sent);
    ck_assert_uint_eq(origin_counts(plain).requests, 0);
    client_release(&client);
    origin_free(plain);

    X509 *certificate = good_certificate();
    struct origin *origin = server_new(certificate, 0, 0, NULL);
    snprintf(url, sizeof(url), "http://127.0.0.1:%u", origin_port(origin));
    got = ask_once(url, NULL);
    assert_ending(got, WEIR_ENDING_BROKEN);
    ck_assert_uint_eq(origin_counts(origin).bytes, 0);
    origin_free(origin);
    X509_free(certificate);
    teardown();
}
END_TEST

int main(void)
{
    struct suite s = suite_new("transport_tls");
    suite_add(&s, the_right_certificate_is_accepted);
    suite_add(&s, wrong_certificates_are_refused_before_a_byte_is_sent);
    suite_add(&s, an_authority_is_believed_only_if_it_was_named);
    suite_add(&s, tls_1_2_is_the_least_that_is_spoken);
    suite_add(&s, connections_and_sessions_are_reused);
    suite_add(&s, a_large_body_arrives_whole);
    suite_add(&s, an_exchange_may_be_cancelled_and_freed_in_any_phase);
    suite_add(&s, what_is_left_over_is_not_the_next_answer);
    suite_add(&s, nothing_is_sent_again_under_tls_either);
    suite_add(&s, a_stream_cut_anywhere_is_never_complete);
    suite_add(&s, a_handshake_that_stalls_is_left_in_time);
    suite_add(&s, a_redirect_to_plain_http_is_an_answer_and_carries_no_token);
    suite_add(&s, a_server_that_speaks_no_tls_gets_no_request);
    return suite_run(&s);
}
