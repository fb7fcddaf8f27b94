/* SPDX-License-Identifier: MIT */
/*
 * Tokens over real sockets: every credential against weir-sim, every refusal that it can give, a
 * login service that misbehaves in every way, and many who want a token at once.
 *
 * All secrets and tokens of a case are canaries: whatever the library says (log records at trace
 * level, error texts) is kept, and at the end of each case none of them may stand in it.
 */
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <sys/stat.h>

#include "auth/credential.h"
#include "auth/tokens.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "net/loop.h"
#include "support/scripted_server.h"
#include "support/sim_process.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define S            WEIR_US_PER_S
#define MS           WEIR_US_PER_MS
#define HANG_US      (60 * S) /* nothing takes as long */
#define SECRET       "app1~simulated.client-secret"
#define CANARY       "CANARY~secret+1"

#define GOOD_BODY "{\"token_type\":\"Bearer\",\"expires_in\":3599,\"access_token\":\"CANARYtoken\"}"

static struct weir_loop *loop;
static struct scripted_server server; /* listener 0: not started */
static struct weir_options options;
static struct weir_connection_options connections[2];
static struct weir_tokens *tokens;
static struct weir_buf said; /* log records and error texts */
static char folder[64];
static char path[128];

/* --- one case --------------------------------------------------------------------------------- */

static void write_log(void *ctx, const struct weir_log_record *record)
{
    char line[WEIR_LOG_LINE_MAX];
    (void)ctx;
    weir_log_format_json(record, line, sizeof(line));
    weir_buf_printf(&said, "%s\n", line);
}

static const struct weir_log_sink sink = { .level = WEIR_LOG_TRACE, .write = write_log };

static void begin(const char *url)
{
    ck_assert_int_eq(weir_loop_new(&loop, NULL), WEIR_OK);
    weir_buf_init(&said, 16 * 1024 * 1024);
    weir_options_defaults(&options);
    options.url = url;
    options.authority = url;
    options.tenant_id = "contoso";
    connections[0] = (struct weir_connection_options){ .name = "app1", .client_id = "app1" };
    connections[1] = (struct weir_connection_options){ .name = "app2", .client_id = "app2" };
    options.connections = connections;
    options.connection_count = 2;
    snprintf(folder, sizeof(folder), "/tmp/weir-tokens-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/file", folder);
}

static void begin_scripted(void)
{
    scripted_start(&server);
    begin(server.url);
    connections[0].client_secret = CANARY;
}

/* What must never be said. */
static void check_silence(void)
{
    static const char *const secrets[] = {
        "CANARY",         "simulated.client-secret", "eyJ",
        "client_secret=", "client_assertion=",       "PRIVATE KEY"
    };
    for (size_t i = 0; i < COUNT(secrets); i++)
        ck_assert_msg(!strstr(weir_buf_text(&said), secrets[i]), "\"%s\" stands in: %s", secrets[i],
                      weir_buf_text(&said));
}

static void finish(void)
{
    weir_tokens_free(tokens);
    tokens = NULL;
    weir_loop_free(loop);
    check_silence();
    weir_buf_release(&said);
    unlink(path);
    rmdir(folder);
    if (server.listener)
        scripted_stop(&server);
    server.listener = 0;
    weir_buf_release(&bytes);
}

static void open_tokens(void)
{
    struct weir_error err = { 0 };
    enum weir_status status = weir_tokens_new(loop, &options, 0, &sink, &tokens, &err);
    ck_assert_msg(status == WEIR_OK, "%s", err.message);
}

static void turn(void)
{
    weir_loop_turn(loop, 5 * MS);
    if (server.listener)
        scripted_turn(&server);
}

static void turn_for(int64_t span_us)
{
    int64_t end = weir_clock_now_us() + span_us;
    while (weir_clock_now_us() < end)
        turn();
}

/* --- those who ask ---------------------------------------------------------------------------- */

struct asker {
    struct weir_token_ask ask;
    int told;
    enum weir_status status;
    uint64_t serial;
    char text[2048];
    struct weir_error err;
    void (*then)(struct asker *asker);
};

static void on_token(void *ctx, enum weir_status status, const struct weir_token *token,
                     const struct weir_error *err)
{
    struct asker *asker = ctx;
    must(!asker->ask.waiting);
    must((status == WEIR_OK) == (token != NULL) && (status == WEIR_OK) == (err == NULL));
    asker->told++;
    asker->status = status;
    if (token) {
        asker->serial = token->serial;
        must(token->expires_us > 0);
        must(strlen(token->text) < sizeof(asker->text));
        memcpy(asker->text, token->text, strlen(token->text) + 1);
    } else {
        must(err->status == status && err->message[0]);
        must(strcmp(err->connection, "app1") == 0);
        asker->err = *err;
        weir_buf_printf(&said, "%s\n", err->message);
    }
    if (asker->then)
        asker->then(asker);
}

static void want(struct asker *asker)
{
    *asker = (struct asker){ .ask = { .done = on_token, .ctx = asker }, .then = asker->then };
    weir_tokens_want(tokens, &asker->ask);
    must(asker->told == 0);
}

static void wait_for(struct asker *asker)
{
    int64_t end = weir_clock_now_us() + HANG_US;
    while (!asker->told) {
        ck_assert_msg(weir_clock_now_us() < end, "nothing came");
        turn();
    }
    ck_assert_int_eq(asker->told, 1);
}

/* One question, one answer. */
static struct asker *get(void)
{
    static struct asker asker;
    asker.then = NULL;
    want(&asker);
    wait_for(&asker);
    return &asker;
}

static uint64_t fetches(void)
{
    struct weir_tokens_stats stats;
    weir_tokens_stats(tokens, &stats);
    return stats.fetches;
}

/* The simulator is the judge of a token. */
static void check_opens(const struct asker *asker)
{
    ck_assert_msg(asker->status == WEIR_OK, "%s", asker->err.message);
    snprintf(sim.token, sizeof(sim.token), "%s", asker->text);
    ck_assert_int_eq(ask("GET", API "WhoAmI", NULL), 200);
}

static void check_works(const char *kind)
{
    open_tokens();
    check_opens(get());
    ck_assert_str_eq(weir_credential_kind_name(&options.connections[0]), kind);
    ck_assert_uint_eq(fetches(), 1);
    ck_assert_uint_eq(get()->serial, 1);
    ck_assert_uint_eq(fetches(), 1);
    ck_assert_ptr_nonnull(strstr(weir_buf_text(&said), "\"token\""));
    weir_tokens_free(tokens);
    tokens = NULL;
}

static void put(const char *text, mode_t mode)
{
    FILE *file = fopen(path, "we");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
    ck_assert_int_eq(chmod(path, mode), 0);
}

/* --- credentials against the simulator -------------------------------------------------------- */

START_TEST(a_client_secret_from_anywhere_opens_the_door)
{
    start("--no-limits", NULL);
    begin(sim.url);
    connections[0].client_secret = SECRET;
    check_works("client secret");
    connections[0].client_secret = NULL;

    put(SECRET "\n", 0600);
    connections[0].client_secret_file = path;
    check_works("client secret");
    connections[0].client_secret_file = NULL;

    setenv("WEIR_TEST_SECRET", SECRET, 1);
    connections[0].client_secret_env = "WEIR_TEST_SECRET";
    check_works("client secret");
    connections[0].client_secret_env = NULL;

    connections[0].client_secret_command = "printf 'app1~simulated.%s\\n' client-secret";
    check_works("client secret");
    finish();
    stop();
}
END_TEST

/* A certificate with its key, in `path`; the certificate alone in `public_path`. */
static void make_certificate(const char *public_path)
{
    EVP_PKEY *key = EVP_RSA_gen(2048);
    X509 *x509 = X509_new();
    ASN1_INTEGER_set(X509_get_serialNumber(x509), 1);
    X509_gmtime_adj(X509_getm_notBefore(x509), -3600);
    X509_gmtime_adj(X509_getm_notAfter(x509), 86400);
    must(X509_set_pubkey(x509, key));
    must(X509_sign(x509, key, EVP_sha256()));
    FILE *file = fopen(public_path, "we");
    must(PEM_write_X509(file, x509));
    fclose(file);
    put("", 0600);
    file = fopen(path, "we");
    must(PEM_write_X509(file, x509));
    must(PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL));
    fclose(file);
    X509_free(x509);
    EVP_PKEY_free(key);
}

static char public_path[128];
static char flag[160];

/* A simulator that knows the certificate of app1. */
static void begin_with_certificate(void)
{
    begin(NULL);
    snprintf(public_path, sizeof(public_path), "%s/public", folder);
    snprintf(flag, sizeof(flag), "app1=%s", public_path);
    make_certificate(public_path);
    start("--no-limits", "--certificate", flag, NULL);
    options.url = sim.url;
    options.authority = sim.url;
}

static void finish_with_certificate(void)
{
    unlink(public_path);
    finish();
    stop();
}

START_TEST(a_certificate_opens_the_door_by_either_algorithm)
{
    begin_with_certificate();
    connections[0].certificate_file = path;
    check_works("certificate");
    connections[0].certificate_algorithm = "RS256";
    check_works("certificate");
    connections[0].certificate_algorithm = "PS256";
    check_works("certificate");
    finish_with_certificate();
}
END_TEST

/* An assertion as an orchestrator would put it into a file; NULL: the endpoint's own audience. */
static void put_assertion(const char *client_id, const char *audience, int64_t wall_us)
{
    struct weir_connection_options it = { .client_id = client_id, .certificate_file = path };
    struct weir_secret assertion = { 0 };
    char endpoint[128];
    snprintf(endpoint, sizeof(endpoint), "%s/contoso/oauth2/v2.0/token", sim.url);
    struct weir_error err;
    enum weir_status status = weir_credential_assert(&it, audience ? audience : endpoint, wall_us,
                                                     (const uint64_t[]){ 1, 2 }, &assertion, &err);
    ck_assert_msg(status == WEIR_OK, "%s", err.message);
    char name[160];
    snprintf(name, sizeof(name), "%s/federated", folder);
    FILE *file = fopen(name, "we");
    fputs(assertion.text, file);
    fclose(file);
    chmod(name, 0644);
    weir_secret_release(&assertion);
}

static char *federated_path(void)
{
    static char name[160];
    snprintf(name, sizeof(name), "%s/federated", folder);
    return name;
}

START_TEST(a_federated_token_is_read_again_for_every_fetch)
{
    begin_with_certificate();
    put_assertion("app1", NULL, weir_clock_wall_us());
    connections[0].federated_token_file = federated_path();
    check_works("federated token");

    open_tokens();
    struct asker *asker = get();
    check_opens(asker);
    put_assertion("app9", NULL, weir_clock_wall_us());
    weir_tokens_spurned(tokens, asker->serial);
    asker = get();
    ck_assert_int_eq(asker->status, WEIR_E_CREDENTIALS);
    ck_assert_ptr_nonnull(strstr(asker->err.message, "AADSTS700021"));
    unlink(federated_path());
    finish_with_certificate();
}
END_TEST

START_TEST(a_managed_identity_opens_the_door)
{
    start("--no-limits", NULL);
    begin(sim.url);
    char url[80];
    snprintf(url, sizeof(url), "%s/", sim.url);
    options.managed_identity_endpoint = sim.url;
    options.tenant_id = NULL;
    connections[0].managed_identity = true;
    connections[0].client_id = NULL;
    check_works("managed identity");
    connections[0].client_id = "app2";
    options.url = url; /* with the slash that people leave behind it */
    check_works("managed identity");
    connections[0].client_id = "app77";
    open_tokens();
    struct asker *asker = get();
    ck_assert_int_eq(asker->status, WEIR_E_CREDENTIALS);
    ck_assert_ptr_nonnull(strstr(asker->err.message, "Identity not found"));
    finish();
    stop();
}
END_TEST

START_TEST(a_command_or_a_file_may_bring_the_token)
{
    start("--no-limits", NULL);
    begin(sim.url);
    char text[sizeof(sim.token) + 128];
    char command[160];
    connections[0].client_id = NULL;
    options.tenant_id = NULL;
    snprintf(command, sizeof(command), "cat %s", path);
    put(sim.token, 0600);
    connections[0].token_command = command;
    check_works("token command");
    snprintf(text, sizeof(text),
             "{\"accessToken\": \"%s\", \"expiresOn\": \"2099-01-01 00:00:00.000000\", "
             "\"expires_on\": 4070908800, \"tokenType\": \"Bearer\"}\n",
             sim.token);
    put(text, 0600);
    check_works("token command");
    connections[0].token_command = NULL;
    connections[0].access_token_file = path;
    put(sim.token, 0600);
    check_works("static token");
    connections[0].access_token_file = NULL;
    snprintf(text, sizeof(text), "%s", sim.token);
    connections[0].access_token = text;
    check_works("static token");
    finish();
    stop();
}
END_TEST

START_TEST(everything_works_over_tls_and_nothing_without_its_authority)
{
    char home[] = "/tmp/weir-tokens-tls-XXXXXX";
    char ca[64];
    ck_assert_ptr_nonnull(mkdtemp(home));
    snprintf(ca, sizeof(ca), "%s/ca.pem", home);
    start("--no-limits", "--tls", "--tls-dir", home, NULL);
    begin(sim.url);
    connections[0].client_secret = SECRET;
    options.ca_file = ca;
    open_tokens();
    struct asker *asker = get();
    ck_assert_msg(asker->status == WEIR_OK, "%s", asker->err.message);
    weir_tokens_free(tokens);
    options.ca_file = NULL;
    open_tokens();
    asker = get();
    ck_assert_int_eq(asker->status, WEIR_E_UNAVAILABLE);
    ck_assert_msg(strstr(asker->err.message, "tls"), "%s", asker->err.message);
    finish();
    stop();
    char command[64];
    snprintf(command, sizeof(command), "rm -rf %s", home);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

/* --- refusals --------------------------------------------------------------------------------- */

static void check_refused(const char *reason)
{
    open_tokens();
    struct asker *asker = get();
    ck_assert_msg(asker->status == WEIR_E_CREDENTIALS, "%s: %s", reason, asker->err.message);
    ck_assert_msg(strstr(asker->err.message, reason), "%s is not in: %s", reason,
                  asker->err.message);
    ck_assert(!asker->err.retryable);
    ck_assert_ptr_nonnull(strstr(asker->err.message, "connection \"app1\": the login service"));
    ck_assert_ptr_nonnull(strstr(weir_buf_text(&said), "\"token_failed\""));
    for (int i = 0; i < 10; i++)
        ck_assert_int_eq(get()->status, WEIR_E_CREDENTIALS);
    ck_assert_uint_eq(fetches(), 1);
    weir_tokens_free(tokens);
    tokens = NULL;
}

START_TEST(every_refusal_of_the_simulator_is_reported_with_its_reason)
{
    start("--no-limits", NULL);
    begin(sim.url);
    char scope[128];
    connections[0].client_secret = "CANARY-wrong";
    check_refused("AADSTS7000215 (invalid_client), the client secret is wrong");
    connections[0].client_secret = "app1~expired.client-secret";
    check_refused("AADSTS7000222 (invalid_client), the client secret has expired");
    connections[0].client_secret = SECRET;
    connections[0].client_id = "app99";
    check_refused("AADSTS700016 (unauthorized_client), the tenant does not know this application");
    connections[0].client_id = "app1";
    options.tenant_id = "fabrikam";
    check_refused("AADSTS90002 (invalid_tenant), there is no such tenant");
    options.tenant_id = "contoso.onmicrosoft.com";
    options.scope = "https://fabrikam.crm.dynamics.com/.default";
    check_refused("AADSTS500011 (invalid_resource), the tenant does not know this environment");
    snprintf(scope, sizeof(scope), "%s/user_impersonation", sim.url);
    options.scope = scope;
    check_refused("AADSTS1002012 (invalid_scope), the scope is wrong");
    options.scope = "a b";
    check_refused("AADSTS70011 (invalid_scope), the scope is wrong");
    options.scope = "";
    check_refused("AADSTS90014 (invalid_request), a field is missing");
    finish();
    stop();
}
END_TEST

START_TEST(every_refusal_of_an_assertion_is_reported_with_its_reason)
{
    begin_with_certificate();
    int64_t now = weir_clock_wall_us();
    connections[0].federated_token_file = federated_path();
    put_assertion("app2", NULL, now);
    check_refused("AADSTS700021");
    put_assertion("app1", "https://login.example.com/contoso/oauth2/v2.0/token", now);
    check_refused("AADSTS700023 (invalid_client), the assertion is for another token endpoint");
    put_assertion("app1", NULL, now - 1500 * S);
    check_refused("AADSTS700024 (invalid_client), the assertion is not valid at this time");
    char *name = federated_path();
    FILE *file = fopen(name, "we");
    fputs("CANARY.CANARY.CANARY", file);
    fclose(file);
    check_refused("AADSTS50027");
    unlink(name);
    connections[0].federated_token_file = NULL;
    connections[0].certificate_file = path;
    char unknown[160];
    snprintf(unknown, sizeof(unknown), "%s/unknown", folder);
    make_certificate(unknown); /* another one, which the simulator does not know */
    unlink(unknown);
    check_refused("AADSTS700027 (invalid_client), the certificate is not the one");
    finish_with_certificate();
}
END_TEST

START_TEST(a_revoked_application_and_a_busy_login_are_told_apart)
{
    start("--no-limits", NULL);
    begin(sim.url);
    connections[0].client_secret = SECRET;
    fault("{\"kind\":\"throttle\",\"operation\":\"token\",\"retry_after\":17}");
    open_tokens();
    struct asker *asker = get();
    ck_assert_int_eq(asker->status, WEIR_E_UNAVAILABLE);
    ck_assert_int_eq(asker->err.http_status, 429);
    ck_assert_int_gt(asker->err.retry_after_us, 10 * S);
    ck_assert_int_le(asker->err.retry_after_us, 17 * S);
    ck_assert_ptr_nonnull(strstr(asker->err.message, "AADSTS90055"));
    weir_tokens_free(tokens);
    fault("{\"kind\":\"unauthorized\",\"operation\":\"token\"}");
    open_tokens();
    asker = get();
    ck_assert_int_eq(asker->status, WEIR_E_CREDENTIALS);
    finish();
    stop();
}
END_TEST

START_TEST(faults_of_the_simulator_pass)
{
    static const char *const kinds[] = { "reset_before", "reset_within", "reset_after",
                                         "cut",          "server_error", "html_error" };
    start("--no-limits", NULL);
    begin(sim.url);
    connections[0].client_secret = SECRET;
    for (size_t i = 0; i < COUNT(kinds); i++) {
        char text[128];
        snprintf(text, sizeof(text), "{\"kind\":\"%s\",\"operation\":\"token\",\"count\":1}",
                 kinds[i]);
        fault(text);
        open_tokens();
        struct asker *asker = get();
        ck_assert_msg(asker->status == WEIR_E_UNAVAILABLE && asker->err.retryable, "%s: %d",
                      kinds[i], asker->status);
        ck_assert_int_le(asker->err.retry_after_us, S);
        ck_assert_int_ge(asker->err.retry_after_us, 0);
        turn_for(asker->err.retry_after_us + 10 * MS);
        check_opens(get());
        ck_assert_uint_eq(fetches(), 2);
        weir_tokens_free(tokens);
        tokens = NULL;
    }
    finish();
    stop();
}
END_TEST

/* --- a login service that misbehaves ---------------------------------------------------------- */

/* The bytes of an answer, for the scripted server. */
static void say(const char *status, const char *headers, const char *body)
{
    static struct weir_buf raw;
    if (!raw.bytes_max)
        weir_buf_init(&raw, SCRIPTED_BYTES_MAX);
    weir_buf_reset(&raw);
    weir_buf_printf(&raw, "HTTP/1.1 %s\r\n%sContent-Length: %zu\r\n\r\n%s", status, headers,
                    strlen(body), body);
    server.answer = raw.ptr;
    server.answer_len = 0;
}

/* Not available: one request at most, and all who come later get the same answer without one. */
static struct asker *check_unavailable(const char *reason)
{
    int before = server.requests;
    open_tokens();
    struct asker *asker = get();
    int64_t end = weir_clock_now_us() + asker->err.retry_after_us;
    ck_assert_msg(asker->status == WEIR_E_UNAVAILABLE, "%s: %d %s", reason, asker->status,
                  asker->err.message);
    ck_assert_msg(strstr(asker->err.message, reason), "\"%s\" is not in: %s", reason,
                  asker->err.message);
    ck_assert(asker->err.retryable && asker->err.retry_after_us > 0);
    ck_assert_int_le(server.requests, before + 1);
    int after = server.requests;
    struct asker *again = get();
    ck_assert_int_eq(again->status, WEIR_E_UNAVAILABLE);
    if (weir_clock_now_us() < end) { /* else the machine was too slow for it to be the same one */
        ck_assert_uint_eq(fetches(), 1);
        ck_assert_int_eq(server.requests, after);
    }
    weir_tokens_free(tokens);
    tokens = NULL;
    return again;
}

START_TEST(a_good_answer_is_good)
{
    begin_scripted();
    say("200 OK", "", GOOD_BODY);
    open_tokens();
    struct asker *asker = get();
    ck_assert_str_eq(asker->text, "CANARYtoken");
    const char *heard = weir_buf_text(&server.heard);
    ck_assert_ptr_nonnull(strstr(heard, "POST /contoso/oauth2/v2.0/token HTTP/1.1\r\n"));
    ck_assert_ptr_nonnull(strstr(heard, "client_id=app1&scope=http%3A%2F%2F127.0.0.1%3A"));
    ck_assert_ptr_nonnull(
        strstr(heard, "%2F.default&grant_type=client_credentials&client_secret=CANARY~secret%2B1"));
    finish();
}
END_TEST

START_TEST(answers_of_no_use_will_pass)
{
    begin_scripted();
    say("500 Oops", "", "");
    check_unavailable("answered 500 without a token");
    say("503 Busy", "Retry-After: 40\r\n", "<html>busy</html>");
    struct asker *asker = check_unavailable("answered 503");
    ck_assert_int_gt(asker->err.retry_after_us, 30 * S);
    say("429 Slow", "Retry-After: 86400\r\n", "");
    asker = check_unavailable("answered 429");
    ck_assert_int_le(asker->err.retry_after_us, WEIR_US_PER_HOUR);
    ck_assert_int_gt(asker->err.retry_after_us, WEIR_US_PER_HOUR - 60 * S);
    say("200 OK", "", "<!DOCTYPE html><html>Welcome to the airport, CANARY</html>");
    check_unavailable("it is not JSON");
    say("200 OK", "", "{\"access_token\":\"CANARY with blanks\"}");
    check_unavailable("not printable ASCII");
    say("200 OK", "", "{\"access_token\":\"CANARY\",\"expires_in\":0}");
    check_unavailable("expired already");
    say("407 Proxy", "", "<html>who are you</html>");
    check_unavailable("answered 407");
    server.answer = "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{\"access_token\":\"CANARY";
    check_unavailable("gave no answer: broken");
    server.answer = "HTTP/1.1 200 OK\r\n";
    check_unavailable("gave no answer: broken");
    server.answer = "CANARY is no HTTP\r\n\r\n";
    check_unavailable("gave no answer");
    finish();
}
END_TEST

START_TEST(an_answer_that_does_not_end_has_a_bound)
{
    begin_scripted();
    char *huge = weir_calloc(1, 4 * WEIR_TOKEN_ANSWER_BYTES_MAX + 1);
    memset(huge, 'x', 4 * WEIR_TOKEN_ANSWER_BYTES_MAX);
    say("200 OK", "", huge);
    check_unavailable("too big");
    free(huge);
    finish();
}
END_TEST

START_TEST(a_silent_login_service_is_given_up)
{
    begin_scripted();
    options.http.request_timeout_us = 300 * MS;
    server.answer = NULL;
    int64_t begun = weir_clock_now_us();
    check_unavailable("timed out");
    ck_assert_int_lt(weir_clock_now_us() - begun, 20 * S); /* and not after half a minute */
    ck_assert_int_eq(server.requests, 1);
    finish();
}
END_TEST

START_TEST(a_login_service_that_is_not_there_is_said_to_be)
{
    begin_scripted();
    char url[64];
    snprintf(url, sizeof(url), "%s", server.url);
    scripted_stop(&server);
    server.listener = 0;
    options.authority = url;
    check_unavailable("no connection");
    finish();
}
END_TEST

START_TEST(no_redirect_is_ever_followed)
{
    static const char *const statuses[] = { "301 x", "302 x", "303 x", "307 x", "308 x", "300 x" };
    struct scripted_server elsewhere;
    begin_scripted();
    scripted_start(&elsewhere);
    elsewhere.answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
    for (size_t i = 0; i < COUNT(statuses); i++) {
        char location[128];
        snprintf(location, sizeof(location), "Location: %s/contoso/oauth2/v2.0/token\r\n",
                 elsewhere.url);
        say(statuses[i], location, GOOD_BODY);
        check_unavailable("a redirect, which is never followed");
        scripted_turn(&elsewhere);
    }
    ck_assert_int_eq(elsewhere.connections, 0);
    ck_assert_int_eq(server.requests, (int)COUNT(statuses));
    scripted_stop(&elsewhere);
    finish();
}
END_TEST

START_TEST(a_login_service_that_echoes_the_secret_is_not_quoted)
{
    begin_scripted();
    server.echo = true;
    open_tokens();
    struct asker *asker = get();
    ck_assert_int_eq(asker->status, WEIR_E_CREDENTIALS);
    ck_assert_ptr_nonnull(strstr(asker->err.message, "no reason that can be shown"));
    finish();
}
END_TEST

/* --- discovery -------------------------------------------------------------------------------- */

START_TEST(the_tenant_is_discovered_once_and_remembered)
{
    start("--no-limits", NULL);
    begin(sim.url);
    options.tenant_id = NULL;
    connections[0].client_secret = SECRET;
    open_tokens();
    struct asker *asker = get();
    check_opens(asker);
    weir_tokens_spurned(tokens, asker->serial);
    weir_buf_reset(&said);
    check_opens(get());
    ck_assert_ptr_null(strstr(weir_buf_text(&said), "WhoAmI"));
    ck_assert_ptr_nonnull(strstr(weir_buf_text(&said), "/contoso/oauth2/v2.0/token"));
    finish();
    stop();
}
END_TEST

/* The service and the login service are two servers here: what the first says decides. */
static void check_discovery(const char *challenge, enum weir_status status, const char *reason)
{
    struct scripted_server login;
    char header[512];
    begin_scripted();
    scripted_start(&login);
    options.tenant_id = NULL;
    options.authority = login.url;
    snprintf(header, sizeof(header), "WWW-Authenticate: %s\r\n", challenge);
    say("401 Unauthorized", header, "");
    open_tokens();
    struct asker *asker = get();
    scripted_turn(&login);
    ck_assert_int_eq(asker->status, status);
    ck_assert_msg(strstr(asker->err.message, reason), "%s", asker->err.message);
    ck_assert_int_eq(login.connections, 0);
    ck_assert_int_eq(server.requests, 1);
    ck_assert_ptr_null(strstr(weir_buf_text(&server.heard), "CANARY"));
    ck_assert_ptr_null(strstr(weir_buf_text(&server.heard), "Authorization"));
    scripted_stop(&login);
    finish();
}

START_TEST(a_hostile_challenge_gets_no_secret)
{
    check_discovery("Bearer authorization_uri=https://login.evil.example/contoso/oauth2/authorize",
                    WEIR_E_CREDENTIALS, "\"https://login.evil.example\"");
}
END_TEST

START_TEST(a_challenge_to_another_port_of_this_machine_gets_no_secret)
{
    check_discovery("Bearer authorization_uri=http://127.0.0.1:1/contoso/oauth2/authorize",
                    WEIR_E_CREDENTIALS, "\"http://127.0.0.1:1\"");
}
END_TEST

START_TEST(a_challenge_without_a_tenant_asks_for_the_setting)
{
    check_discovery("Bearer realm=\"x\"", WEIR_E_CREDENTIALS, "give \"Dataverse:TenantId\"");
}
END_TEST

START_TEST(a_service_that_does_not_challenge_is_reported)
{
    begin_scripted();
    options.tenant_id = NULL;
    say("200 OK", "", "{}");
    open_tokens();
    struct asker *asker = get();
    ck_assert_int_eq(asker->status, WEIR_E_CREDENTIALS);
    ck_assert_ptr_nonnull(strstr(asker->err.message, "instead of naming its tenant"));
    weir_tokens_free(tokens);
    tokens = NULL;
    say("503 Busy", "Retry-After: 9\r\n", "");
    asker = check_unavailable("the service");
    ck_assert_int_le(asker->err.retry_after_us, 9 * S);
    finish();
}
END_TEST

/* --- many who ask ----------------------------------------------------------------------------- */

enum {
    CROWD = 500
};
static struct asker crowd[CROWD];

static void want_all(void)
{
    for (int i = 0; i < CROWD; i++)
        want(&crowd[i]);
}

static void wait_for_all(enum weir_status status)
{
    for (int i = 0; i < CROWD; i++) {
        wait_for(&crowd[i]);
        must(crowd[i].status == status);
    }
}

START_TEST(expiry_in_mid_run_is_one_refresh_however_many_wait)
{
    start("--no-limits", "--token-lifetime", "4", NULL);
    begin(sim.url);
    connections[0].client_secret = SECRET;
    open_tokens();
    want_all();
    wait_for_all(WEIR_OK);
    ck_assert_uint_eq(fetches(), 1);
    turn_for(4 * S); /* it is over */
    want_all();
    wait_for_all(WEIR_OK);
    ck_assert_uint_eq(fetches(), 2);
    for (int i = 0; i < CROWD; i++)
        must(crowd[i].serial == 2 && strcmp(crowd[i].text, crowd[0].text) == 0);
    check_opens(&crowd[0]);
    finish();
    stop();
}
END_TEST

START_TEST(renewal_happens_behind_the_backs_of_those_who_ask)
{
    begin_scripted();
    say("200 OK", "", "{\"access_token\":\"CANARY-a\",\"expires_in\":3600,\"refresh_in\":1}");
    open_tokens();
    ck_assert_str_eq(get()->text, "CANARY-a");
    server.answer = NULL; /* the next answer takes its time */
    turn_for(S + 20 * MS);
    want_all();
    wait_for_all(WEIR_OK);
    turn_for(50 * MS);
    ck_assert_int_eq(server.requests, 2);
    ck_assert_uint_eq(fetches(), 2);
    for (int i = 0; i < CROWD; i++)
        must(crowd[i].serial == 1);
    say("200 OK", "", "{\"access_token\":\"CANARY-b\",\"expires_in\":3600}");
    for (int i = 0; i < SCRIPTED_CONNECTIONS_MAX; i++)
        server.all[i].answered = false; /* now it may speak */
    int64_t end = weir_clock_now_us() + HANG_US;
    while (get()->serial == 1)
        ck_assert(weir_clock_now_us() < end);
    ck_assert_str_eq(get()->text, "CANARY-b");
    ck_assert_uint_eq(fetches(), 2);
    finish();
}
END_TEST

START_TEST(spurned_by_all_is_fetched_once)
{
    start("--no-limits", NULL);
    begin(sim.url);
    connections[0].client_secret = SECRET;
    open_tokens();
    want_all();
    wait_for_all(WEIR_OK);
    for (int i = 0; i < CROWD; i++) {
        weir_tokens_spurned(tokens, crowd[i].serial);
        want(&crowd[i]);
        if (i % 50 == 0)
            turn(); /* some of them late, when the fetch is under way or over */
    }
    wait_for_all(WEIR_OK);
    ck_assert_uint_eq(fetches(), 2);
    for (int i = 0; i < CROWD; i++)
        must(crowd[i].serial == 2);
    finish();
    stop();
}
END_TEST

START_TEST(all_who_wait_share_a_failure)
{
    begin_scripted();
    say("500 Oops", "", "");
    open_tokens();
    want_all();
    wait_for_all(WEIR_E_UNAVAILABLE);
    ck_assert_int_eq(server.requests, 1);
    ck_assert_uint_eq(fetches(), 1);
    finish();
}
END_TEST

START_TEST(whoever_cancels_is_told_so_and_the_others_are_served)
{
    begin_scripted();
    open_tokens();
    want_all();
    for (int i = 0; i < CROWD; i += 3) /* before anything was decided */
        weir_tokens_cancel(tokens, &crowd[i].ask);
    must(crowd[0].told == 0);
    turn();
    turn();
    for (int i = 1; i < CROWD; i += 3) /* while they wait for the fetch */
        weir_tokens_cancel(tokens, &crowd[i].ask);
    turn();
    for (int i = 0; i < CROWD; i++)
        must(crowd[i].told == (i % 3 != 2) && (i % 3 == 2 || crowd[i].status == WEIR_E_CANCELLED));
    say("200 OK", "", GOOD_BODY);
    for (int i = 0; i < SCRIPTED_CONNECTIONS_MAX; i++)
        server.all[i].answered = false;
    for (int i = 2; i < CROWD; i += 3) {
        wait_for(&crowd[i]);
        must(crowd[i].status == WEIR_OK);
        weir_tokens_cancel(tokens, &crowd[i].ask); /* too late: nothing happens */
    }
    turn_for(20 * MS);
    for (int i = 0; i < CROWD; i++)
        must(crowd[i].told == 1);
    finish();
}
END_TEST

START_TEST(whoever_waits_when_it_ends_is_told_before_it_has)
{
    for (int turns = 0; turns < 5; turns++) {
        begin_scripted();
        open_tokens();
        want_all();
        for (int i = 0; i < turns; i++)
            turn();
        weir_tokens_cancel(tokens, &crowd[7].ask);
        weir_tokens_free(tokens);
        tokens = NULL;
        for (int i = 0; i < CROWD; i++)
            must(crowd[i].told == 1 &&
                 crowd[i].status == (i == 7 ? WEIR_E_CANCELLED : WEIR_E_SHUTDOWN));
        turn_for(10 * MS);
        finish();
    }
}
END_TEST

static struct asker late;

static void free_tokens(struct asker *asker)
{
    (void)asker;
    weir_tokens_free(tokens);
    tokens = NULL;
}

static void upset(struct asker *asker)
{
    weir_tokens_spurned(tokens, asker->serial);
    weir_tokens_cancel(tokens, &crowd[1].ask);
    late.then = NULL;
    want(&late);
}

START_TEST(whoever_is_told_may_turn_everything_over)
{
    begin_scripted();
    say("200 OK", "", GOOD_BODY);
    open_tokens();
    crowd[0].then = upset;
    want_all();
    wait_for(&crowd[0]);
    wait_for(&late);
    for (int i = 1; i < CROWD; i++) {
        wait_for(&crowd[i]);
        must(crowd[i].status == (i == 1 ? WEIR_E_CANCELLED : WEIR_OK));
        must(i == 1 || crowd[i].serial == 2); /* the first one was spurned before they saw it */
    }
    ck_assert_uint_eq(crowd[0].serial, 1);
    ck_assert_uint_eq(late.serial, 2);
    ck_assert_uint_eq(fetches(), 2);
    crowd[0].then = NULL;
    finish();
}
END_TEST

START_TEST(whoever_is_told_may_free_it)
{
    for (int when = 0; when < 2; when++) { /* after a fetch; with a token that is there */
        begin_scripted();
        say("200 OK", "", GOOD_BODY);
        open_tokens();
        if (when)
            ck_assert_int_eq(get()->status, WEIR_OK);
        crowd[3].then = free_tokens;
        want_all();
        int64_t end = weir_clock_now_us() + HANG_US;
        while (tokens) {
            ck_assert(weir_clock_now_us() < end);
            turn();
        }
        for (int i = 0; i < CROWD; i++)
            must(crowd[i].told == 1 && crowd[i].status == (i <= 3 ? WEIR_OK : WEIR_E_SHUTDOWN));
        crowd[3].then = NULL;
        finish();
    }
}
END_TEST

/* --- our side of the wire --------------------------------------------------------------------- */

static void check_unusable(const char *reason)
{
    struct weir_error err = { 0 };
    enum weir_status status = weir_tokens_new(loop, &options, 0, &sink, &tokens, &err);
    ck_assert_msg(status != WEIR_OK, "%s", reason);
    ck_assert_msg(strstr(err.message, reason), "\"%s\" is not in: %s", reason, err.message);
    ck_assert_int_eq(strncmp(err.message, "connection \"app1\"", 17), 0);
    ck_assert_str_eq(err.connection, "app1");
    weir_buf_printf(&said, "%s\n", err.message);
}

START_TEST(what_can_be_judged_at_once_is)
{
    begin("https://contoso.crm.dynamics.com");
    struct weir_connection_options *it = &connections[0];
    options.authority = NULL;
    check_unusable("no credential: give one of ClientSecretFile");
    it->client_secret = CANARY;
    it->managed_identity = true;
    check_unusable("more than one credential");
    it->managed_identity = false;
    it->client_id = NULL;
    check_unusable("ClientId");
    it->client_id = "app1";
    options.tenant_id = "a/b";
    check_unusable("\"a/b\"");
    options.tenant_id = "common";
    check_unusable("\"common\"");
    options.tenant_id = NULL;
    options.url = NULL;
    check_unusable("neither \"Dataverse:TenantId\" nor");
    options.url = "http://contoso.crm.dynamics.com";
    check_unusable("not encrypted");
    options.url = "https://contoso.crm.dynamics.com";
    options.authority = "http://login.example.com";
    check_unusable("Authority");
    options.authority = NULL;
    it->client_secret = NULL;

    it->client_secret_file = path;
    check_unusable("cannot be opened");
    put(CANARY, 0640);
    check_unusable("chmod 600 /tmp/");
    put("", 0600);
    check_unusable("is empty");
    it->client_secret_file = NULL;
    it->client_secret_env = "WEIR_NO_SUCH_VARIABLE";
    check_unusable("WEIR_NO_SUCH_VARIABLE");
    it->client_secret_env = NULL;
    it->certificate_file = path;
    put(CANARY, 0600);
    check_unusable("no private key");
    it->certificate_file = NULL;
    it->access_token_file = path;
    put("CANARY CANARY", 0600);
    check_unusable("not printable ASCII");
    put("e30.eyJleHAiOjF9.CANARY", 0600);
    check_unusable("expired already");
    it->access_token_file = NULL;
    it->federated_token_file = "/nonexistent/CAN";
    check_unusable("cannot be opened");
    it->federated_token_file = NULL;
    it->managed_identity = true;
    options.managed_identity_endpoint = "https://identity.example.com";
    check_unusable("169.254.0.0/16");
    options.managed_identity_endpoint = NULL;
    check_unusable("ManagedIdentityEndpoint");
    finish();
}
END_TEST

START_TEST(a_managed_identity_is_asked_on_this_machine_only)
{
    begin("https://contoso.crm.dynamics.com");
    connections[0].managed_identity = true;
    options.managed_identity_endpoint = "http://10.1.2.3";
    open_tokens();
    struct asker *asker = get();
    ck_assert_int_eq(asker->status, WEIR_E_CREDENTIALS);
    ck_assert_msg(strstr(asker->err.message, "10.1.2.3"), "%s", asker->err.message);
    finish();
}
END_TEST

START_TEST(a_secret_that_spoils_later_is_an_unusable_credential)
{
    begin_scripted();
    say("200 OK", "", GOOD_BODY);
    connections[0].client_secret = NULL;
    connections[0].client_secret_file = path;
    put(CANARY, 0600);
    open_tokens();
    struct asker *asker = get();
    ck_assert_int_eq(asker->status, WEIR_OK);
    ck_assert_int_eq(chmod(path, 0644), 0);
    weir_tokens_spurned(tokens, asker->serial);
    asker = get();
    ck_assert_int_eq(asker->status, WEIR_E_CREDENTIALS);
    ck_assert_ptr_nonnull(strstr(asker->err.message, "chmod 600"));
    ck_assert_int_eq(server.requests, 1);
    finish();
}
END_TEST

START_TEST(commands_that_fail_are_reported)
{
    static const struct {
        const char *command;
        const char *reason;
    } rows[] = {
        { "exit 3", "3" },
        { "kill -9 $$", "9" },
        { "sleep 60", "ClientSecretCommand failed" },
        { "head -c 100000 /dev/zero", "ClientSecretCommand failed" },
    };
    begin_scripted();
    options.http.request_timeout_us = 400 * MS;
    connections[0].client_secret = NULL;
    for (size_t i = 0; i < COUNT(rows); i++) {
        connections[0].client_secret_command = rows[i].command;
        check_unavailable(rows[i].reason);
    }
    connections[0].client_secret_command = "printf ''";
    open_tokens();
    struct asker *asker = get();
    ck_assert_int_eq(asker->status, WEIR_E_CREDENTIALS);
    ck_assert_ptr_nonnull(strstr(asker->err.message, "is empty"));
    weir_tokens_free(tokens);
    connections[0].client_secret_command = NULL;
    connections[0].token_command = "echo CANARY two words";
    check_unavailable("TokenCommand failed: the access token is");
    ck_assert_int_eq(server.connections, 0);
    finish();
}
END_TEST

START_TEST(a_command_sees_no_secret_in_its_environment_or_arguments)
{
    begin_scripted();
    char command[512];
    say("200 OK", "", GOOD_BODY);
    setenv("Dataverse__Connections__0__ClientSecret", CANARY, 1);
    setenv("WEIR_TEST_SECRET", CANARY, 1);
    setenv("WEIR_TEST_HARMLESS", "harmless", 1);
    connections[0].client_secret = NULL;
    connections[1].client_secret_env = "WEIR_TEST_SECRET";
    snprintf(command, sizeof(command),
             "{ tr '\\0' '\\n' < /proc/$$/environ; env; tr '\\0' '\\n' < /proc/$$/cmdline; } > %s; "
             "printf 'CAN%%s' ARY",
             path);
    connections[0].client_secret_command = command;
    open_tokens();
    ck_assert_int_eq(get()->status, WEIR_OK);
    ck_assert_ptr_nonnull(strstr(weir_buf_text(&server.heard), "client_secret=CANARY"));
    struct weir_buf seen;
    char chunk[4096];
    weir_buf_init(&seen, 1024 * 1024);
    FILE *file = fopen(path, "re");
    for (size_t len; (len = fread(chunk, 1, sizeof(chunk), file)) > 0;)
        weir_buf_add(&seen, chunk, len);
    fclose(file);
    ck_assert_ptr_nonnull(strstr(weir_buf_text(&seen), "WEIR_TEST_HARMLESS=harmless"));
    ck_assert_ptr_nonnull(strstr(weir_buf_text(&seen), "/proc/$$/cmdline"));
    ck_assert_ptr_null(strstr(weir_buf_text(&seen), "CANARY"));
    weir_buf_release(&seen);
    finish();
}
END_TEST

int main(void)
{
    struct suite s = suite_new("tokens");
    suite_add(&s, a_client_secret_from_anywhere_opens_the_door);
    suite_add(&s, a_certificate_opens_the_door_by_either_algorithm);
    suite_add(&s, a_federated_token_is_read_again_for_every_fetch);
    suite_add(&s, a_managed_identity_opens_the_door);
    suite_add(&s, a_command_or_a_file_may_bring_the_token);
    suite_add(&s, everything_works_over_tls_and_nothing_without_its_authority);
    suite_add(&s, every_refusal_of_the_simulator_is_reported_with_its_reason);
    suite_add(&s, every_refusal_of_an_assertion_is_reported_with_its_reason);
    suite_add(&s, a_revoked_application_and_a_busy_login_are_told_apart);
    suite_add(&s, faults_of_the_simulator_pass);
    suite_add(&s, a_good_answer_is_good);
    suite_add(&s, answers_of_no_use_will_pass);
    suite_add(&s, an_answer_that_does_not_end_has_a_bound);
    suite_add(&s, a_silent_login_service_is_given_up);
    suite_add(&s, a_login_service_that_is_not_there_is_said_to_be);
    suite_add(&s, no_redirect_is_ever_followed);
    suite_add(&s, a_login_service_that_echoes_the_secret_is_not_quoted);
    suite_add(&s, the_tenant_is_discovered_once_and_remembered);
    suite_add(&s, a_hostile_challenge_gets_no_secret);
    suite_add(&s, a_challenge_to_another_port_of_this_machine_gets_no_secret);
    suite_add(&s, a_challenge_without_a_tenant_asks_for_the_setting);
    suite_add(&s, a_service_that_does_not_challenge_is_reported);
    suite_add(&s, expiry_in_mid_run_is_one_refresh_however_many_wait);
    suite_add(&s, renewal_happens_behind_the_backs_of_those_who_ask);
    suite_add(&s, spurned_by_all_is_fetched_once);
    suite_add(&s, all_who_wait_share_a_failure);
    suite_add(&s, whoever_cancels_is_told_so_and_the_others_are_served);
    suite_add(&s, whoever_waits_when_it_ends_is_told_before_it_has);
    suite_add(&s, whoever_is_told_may_turn_everything_over);
    suite_add(&s, whoever_is_told_may_free_it);
    suite_add(&s, what_can_be_judged_at_once_is);
    suite_add(&s, a_managed_identity_is_asked_on_this_machine_only);
    suite_add(&s, a_secret_that_spoils_later_is_an_unusable_credential);
    suite_add(&s, commands_that_fail_are_reported);
    suite_add(&s, a_command_sees_no_secret_in_its_environment_or_arguments);
    return suite_run(&s);
}
