/* SPDX-License-Identifier: MIT */
/* The login service: its errors, discovery, IMDS, and the tokens themselves. */
#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/rng.h"
#include "sim/tokens/form.h"
#include "sim/tokens/tokens.h"
#include "support/suite.h"

#define BASE       "https://127.0.0.1:4433"
#define NOW_S      INT64_C(1767225600)
#define NOW_US     (NOW_S * WEIR_US_PER_S)
#define LIFETIME_S 3599
#define TOKEN_PATH "/contoso/oauth2/v2.0/token"
#define SECRET     "&client_secret=app1~simulated.client-secret"
#define SCOPE      "&scope=https%3A%2F%2F127.0.0.1%3A4433%2F.default"
#define GRANT      "grant_type=client_credentials"
#define GOOD       GRANT "&client_id=app1" SCOPE SECRET

static struct sim_tokens *make(uint64_t seed)
{
    struct sim_tokens_options options = {
        .users = 3, .base_url = BASE, .lifetime_s = LIFETIME_S, .seed = seed
    };
    return sim_tokens_new(&options);
}

static bool ask(struct sim_tokens *tokens, const char *method, struct weir_str target,
                struct weir_str body, struct sim_answer *answer)
{
    struct sim_header headers[] = {
        { weir_str_from("content-type"),
          weir_str_from("application/x-www-form-urlencoded;charset=utf-8") },
        { weir_str_from("metadata"), weir_str_from("true") },
    };
    struct sim_http_request request = {
        weir_str_from(method), target, headers, 2, body,
    };
    sim_answer_init(answer);
    return sim_tokens_answer(tokens, &request, NOW_US, answer);
}

static bool post(struct sim_tokens *tokens, const char *form, struct sim_answer *answer)
{
    return ask(tokens, "POST", weir_str_from(TOKEN_PATH), weir_str_from(form), answer);
}

static bool get(struct sim_tokens *tokens, const char *target, struct sim_answer *answer)
{
    return ask(tokens, "GET", weir_str_from(target), weir_str("", 0), answer);
}

/* The text or number of a member; the test's memory. */
static char *member(const struct sim_answer *answer, const char *name)
{
    struct weir_json *json;
    struct weir_error err;
    struct weir_str body = weir_str(weir_buf_text(&answer->body), answer->body.len);
    if (weir_json_parse(body, &json, &err) != WEIR_OK)
        ck_abort_msg("%s in %s", err.message, body.ptr);
    const struct weir_json_node *node = weir_json_find(weir_json_root(json), name);
    char *text = node ? weir_strndup(node->text.ptr, node->text.len) : NULL;
    weir_json_free(json);
    return text;
}

/* 0: no error. */
static int code_of(const struct sim_answer *answer)
{
    char *text = member(answer, "error_description");
    int code = 0;
    if (text)
        must(sscanf(text, "AADSTS%d:", &code) == 1);
    free(text);
    return code;
}

static char *token_of(struct sim_tokens *tokens, const char *form)
{
    struct sim_answer answer;
    must(post(tokens, form, &answer));
    must(answer.status == 200);
    char *token = member(&answer, "access_token");
    sim_answer_release(&answer);
    return token;
}

static enum weir_status check(const struct sim_tokens *tokens, const char *token, int64_t wall_us,
                              uint32_t *ret_user)
{
    char text[8192];
    snprintf(text, sizeof text, "Bearer %s", token);
    return sim_tokens_check(tokens, weir_str_from(text), wall_us, ret_user);
}

START_TEST(the_token_endpoint_answers_each_form_by_its_own_code)
{
    static const struct {
        const char *form;
        int status;
        int code;
        const char *error;
    } cases[] = {
        { GOOD, 200, 0, NULL },
        { "x=y&" GOOD "&z=", 200, 0, NULL },
        { GRANT "&client_id=APP3" SCOPE "&client_secret=app3%7Esimulated.client-secret", 200, 0,
          NULL },
        { GRANT "&client_id=app1&scope=https://127.0.0.1:4433//.default" SECRET, 200, 0, NULL },
        { "", 400, 90014, "invalid_request" },
        { "grant_type=&client_id=app1", 400, 90014, "invalid_request" },
        { "grant_type=password&client_id=app1", 400, 70003, "unsupported_grant_type" },
        { GRANT SCOPE SECRET, 400, 90014, "invalid_request" },
        { GRANT "&client_id=app1" SECRET, 400, 90014, "invalid_request" },
        { GRANT "&client_id=app0" SCOPE SECRET, 400, 700016, "unauthorized_client" },
        { GRANT "&client_id=app4" SCOPE SECRET, 400, 700016, "unauthorized_client" },
        { GRANT "&client_id=app01" SCOPE SECRET, 400, 700016, "unauthorized_client" },
        { GRANT "&client_id=app%2b1" SCOPE SECRET, 400, 700016, "unauthorized_client" },
        { GRANT "&client_id=app1x" SCOPE SECRET, 400, 700016, "unauthorized_client" },
        { GRANT "&client_id=app4294967297" SCOPE SECRET, 400, 700016, "unauthorized_client" },
        { GRANT "&client_id=%ff%22%0a" SCOPE SECRET, 400, 700016, "unauthorized_client" },
        { GRANT "&client_id=app1&scope=https://127.0.0.1:4433/user_impersonation" SECRET, 400,
          1002012, "invalid_scope" },
        { GRANT "&client_id=app1&scope=https://127.0.0.1:4433/.default+openid" SECRET, 400, 70011,
          "invalid_scope" },
        { GRANT "&client_id=app1&scope=https://127.0.0.1:4434/.default" SECRET, 400, 500011,
          "invalid_resource" },
        { GRANT "&client_id=app1&scope=/.default" SECRET, 400, 500011, "invalid_resource" },
        { GRANT "&client_id=app1&scope=https://127.0.0.1:4433///.default" SECRET, 400, 500011,
          "invalid_resource" },
        { GRANT "&client_id=app1" SCOPE, 401, 7000218, "invalid_client" },
        { GRANT "&client_id=app1" SCOPE "&client_secret=", 401, 7000218, "invalid_client" },
        { GRANT "&client_id=app1" SCOPE "&client_secret=wrong", 401, 7000215, "invalid_client" },
        { GRANT "&client_id=app2" SCOPE SECRET, 401, 7000215, "invalid_client" },
        { GRANT "&client_id=app1" SCOPE SECRET "x", 401, 7000215, "invalid_client" },
        { GRANT "&client_id=app1" SCOPE "&client_secret=app1~simulated.client-secre", 401, 7000215,
          "invalid_client" },
        { GRANT "&client_id=app1" SCOPE "&client_secret=app1~expired.client-secret", 401, 7000222,
          "invalid_client" },
        { GRANT "&client_id=app1" SCOPE "&client_assertion=a.b.c", 400, 90014, "invalid_request" },
        { GOOD "&client_id=app1", 400, 9000411, "invalid_request" },
        { GOOD "&x=%", 400, 9002313, "invalid_request" },
    };
    struct sim_tokens *tokens = make(1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sim_answer answer;
        ck_assert(post(tokens, cases[i].form, &answer));
        ck_assert_msg(answer.status == cases[i].status && code_of(&answer) == cases[i].code,
                      "%s: %d %s", cases[i].form, answer.status, weir_buf_text(&answer.body));
        char *error = member(&answer, "error");
        ck_assert_pstr_eq(error, cases[i].error);
        free(error);
        sim_answer_release(&answer);
    }
    sim_tokens_free(tokens);
}
END_TEST

START_TEST(an_error_has_every_member_of_the_real_one)
{
    struct sim_tokens *tokens = make(1);
    struct sim_header headers[] = {
        { weir_str_from("Content-Type"), weir_str_from("application/x-www-form-urlencoded") },
        { weir_str_from("Client-Request-Id"),
          weir_str_from("12345678-1234-abcd-ABCD-123456789012") },
    };
    struct sim_http_request request = { weir_str_from("POST"), weir_str_from(TOKEN_PATH), headers,
                                        2, weir_str_from("grant_type=client_credentials") };
    struct sim_answer answer;
    sim_answer_init(&answer);
    ck_assert(sim_tokens_answer(tokens, &request, NOW_US, &answer));
    const char *body = weir_buf_text(&answer.body);
    ck_assert_ptr_nonnull(strstr(body, "\"error_codes\":[90014]"));
    ck_assert_ptr_nonnull(strstr(body, "\"timestamp\":\"2026-01-01 00:00:00Z\""));
    ck_assert_ptr_nonnull(
        strstr(body, "\"correlation_id\":\"12345678-1234-abcd-ABCD-123456789012\""));
    ck_assert_ptr_nonnull(strstr(
        body,
        "Correlation ID: 12345678-1234-abcd-ABCD-123456789012 Timestamp: 2026-01-01 00:00:00Z\""));
    ck_assert_ptr_nonnull(strstr(body, "\"error_uri\":\"" BASE "/error?code=90014\""));
    char *trace = member(&answer, "trace_id");
    ck_assert_uint_eq(strlen(trace), 36);
    free(trace);
    const char *head = weir_buf_text(&answer.headers);
    ck_assert_ptr_nonnull(strstr(head, "Content-Type: application/json; charset=utf-8\r\n"));
    ck_assert_ptr_nonnull(strstr(head, "Cache-Control: no-store, no-cache\r\n"));
    sim_answer_release(&answer);
    sim_tokens_free(tokens);
}
END_TEST

START_TEST(a_body_that_is_no_form_is_as_an_empty_one)
{
    static const char *const types[] = { "application/json", "application/x-www-form-urlencodedx",
                                         "" };
    struct sim_tokens *tokens = make(1);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct sim_header header = { weir_str_from("Content-Type"), weir_str_from(types[i]) };
        struct sim_http_request request = { weir_str_from("POST"), weir_str_from(TOKEN_PATH),
                                            &header, 1, weir_str_from(GOOD) };
        struct sim_answer answer;
        sim_answer_init(&answer);
        ck_assert(sim_tokens_answer(tokens, &request, NOW_US, &answer));
        ck_assert_int_eq(code_of(&answer), 90014);
        sim_answer_release(&answer);
    }
    sim_tokens_free(tokens);
}
END_TEST

START_TEST(paths_methods_and_tenants_are_told_apart)
{
    static const struct {
        const char *method;
        const char *target;
        int status; /* 0: not ours */
        int code;
    } cases[] = {
        { "POST", "/c0470500-0000-4000-8000-000000000001/oauth2/v2.0/token", 400, 90014 },
        { "POST", "/Contoso.OnMicrosoft.com/oauth2/v2.0/token?a=b", 400, 90014 },
        { "POST", "/fabrikam/oauth2/v2.0/token", 400, 90002 },
        { "POST", "/c0470500-0000-4000-8000-000000000002/oauth2/v2.0/token", 400, 90002 },
        { "POST", "/%ff\"/oauth2/v2.0/token", 400, 90002 },
        { "GET", "/contoso/oauth2/v2.0/token", 405, 900561 },
        { "PATCH", "/contoso/v2.0/.well-known/openid-configuration", 405, 900561 },
        { "GET", "/contoso/v2.0/.well-known/openid-configuration", 200, 0 },
        { "GET", "/fabrikam/v2.0/.well-known/openid-configuration", 400, 90002 },
        { "GET", "/contoso/discovery/v2.0/keys", 200, 0 },
        { "GET", "/common/discovery/instance?api-version=1.1&authorization_endpoint=x", 200, 0 },
        { "GET", "/common/discovery/instance?api-version=1.1", 400, 90014 },
        { "GET", "", 0, 0 },
        { "GET", "/", 0, 0 },
        { "GET", "//oauth2/v2.0/token", 0, 0 },
        { "GET", "contoso/oauth2/v2.0/token", 0, 0 },
        { "GET", "/contoso", 0, 0 },
        { "GET", "/contoso/oauth2/v2.0/token/", 0, 0 },
        { "GET", "/api/data/v9.2/WhoAmI", 0, 0 },
        { "GET", "?/contoso/oauth2/v2.0/token", 0, 0 },
        { "GET", "/a/contoso/oauth2/v2.0/token", 0, 0 },
    };
    struct sim_tokens *tokens = make(1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sim_answer answer;
        bool ours =
            ask(tokens, cases[i].method, weir_str_from(cases[i].target), weir_str("", 0), &answer);
        ck_assert_msg(ours == !!cases[i].status, "%s", cases[i].target);
        if (ours) {
            ck_assert_msg(answer.status == cases[i].status, "%s", cases[i].target);
            ck_assert_int_eq(code_of(&answer), cases[i].code);
        }
        sim_answer_release(&answer);
    }
    sim_tokens_free(tokens);
}
END_TEST

START_TEST(the_discovery_document_leads_to_the_token_endpoint)
{
    struct sim_tokens *tokens = make(1);
    struct sim_answer document;
    ck_assert(get(tokens, "/contoso/v2.0/.well-known/openid-configuration", &document));
    char *endpoint = member(&document, "token_endpoint");
    char *issuer = member(&document, "issuer");
    ck_assert_int_eq(strncmp(endpoint, BASE "/", sizeof BASE), 0);
    ck_assert_int_eq(strncmp(issuer, BASE "/", sizeof BASE), 0);
    struct sim_answer answer;
    ck_assert(ask(tokens, "POST", weir_str_from(endpoint + sizeof BASE - 1), weir_str_from(GOOD),
                  &answer));
    ck_assert_int_eq(answer.status, 200);
    sim_answer_release(&answer);
    sim_answer_release(&document);
    free(endpoint);
    free(issuer);
    sim_tokens_free(tokens);
}
END_TEST

START_TEST(imds_needs_its_header_and_its_query)
{
    static const struct {
        const char *header;
        const char *query;
        int status;
        const char *client_id;
    } cases[] = {
        { "true", "?api-version=2018-02-01&resource=" BASE "/", 200, "app1" },
        { "TRUE", "?api-version=2018-02-01&resource=" BASE "&client_id=app2", 200, "app2" },
        { "false", "?api-version=2018-02-01&resource=" BASE "/", 400, NULL },
        { "", "?api-version=2018-02-01&resource=" BASE "/", 400, NULL },
        { "true", "?resource=" BASE "/", 400, NULL },
        { "true", "?api-version=2018-02-01", 400, NULL },
        { "true", "", 400, NULL },
        { "true", "?api-version=2018-02-01&resource=https://management.azure.com/", 400, NULL },
        { "true", "?api-version=2018-02-01&resource=" BASE "/&client_id=app9", 400, NULL },
        { "true", "?api-version=2018-02-01&resource=" BASE "/%", 400, NULL },
    };
    struct sim_tokens *tokens = make(1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char target[256];
        snprintf(target, sizeof target, "/metadata/identity/oauth2/token%s", cases[i].query);
        struct sim_header header = { weir_str_from("Metadata"), weir_str_from(cases[i].header) };
        struct sim_http_request request = { weir_str_from("GET"), weir_str_from(target), &header, 1,
                                            weir_str("", 0) };
        struct sim_answer answer;
        sim_answer_init(&answer);
        ck_assert(sim_tokens_answer(tokens, &request, NOW_US, &answer));
        ck_assert_msg(answer.status == cases[i].status, "%s", target);
        char *client_id = member(&answer, "client_id");
        ck_assert_pstr_eq(client_id, cases[i].client_id);
        free(client_id);
        if (answer.status == 200) {
            char *token = member(&answer, "access_token");
            char *expires_on = member(&answer, "expires_on");
            uint32_t user = 9;
            ck_assert_int_eq(check(tokens, token, NOW_US, &user), WEIR_OK);
            ck_assert_uint_eq(user, (uint32_t)(cases[i].client_id[3] - '1'));
            ck_assert_int_eq(strtoll(expires_on, NULL, 10), NOW_S + LIFETIME_S);
            ck_assert_ptr_nonnull(strstr(weir_buf_text(&answer.body), "\"expires_on\":\""));
            free(expires_on);
            free(token);
        }
        sim_answer_release(&answer);
    }
    sim_tokens_free(tokens);
}
END_TEST

START_TEST(a_token_is_good_until_it_expires)
{
    struct sim_tokens *tokens = make(1);
    char *token = token_of(tokens, GRANT "&client_id=app3" SCOPE
                                         "&client_secret=app3~simulated.client-secret");
    uint32_t user = 9;
    ck_assert_int_eq(check(tokens, token, NOW_US, &user), WEIR_OK);
    ck_assert_uint_eq(user, 2);
    int64_t last_us = NOW_US + LIFETIME_S * WEIR_US_PER_S - 1;
    ck_assert_int_eq(check(tokens, token, last_us, &user), WEIR_OK);
    ck_assert_int_eq(check(tokens, token, last_us + 1, &user), WEIR_E_INVALID);
    free(token);
    sim_tokens_free(tokens);
}
END_TEST

START_TEST(tokens_of_one_user_are_never_the_same)
{
    struct sim_tokens *tokens = make(1);
    char *one = token_of(tokens, GOOD);
    char *two = token_of(tokens, GOOD);
    ck_assert_str_ne(one, two);
    ck_assert_int_eq(strncmp(one, "eyJ", 3), 0);
    free(one);
    free(two);
    sim_tokens_free(tokens);
}
END_TEST

START_TEST(a_token_with_any_letter_changed_is_forged)
{
    struct sim_tokens *tokens = make(1);
    char *token = token_of(tokens, GOOD);
    uint32_t user;
    for (size_t i = 0; token[i]; i++) {
        char kept = token[i];
        token[i] = kept == 'A' ? 'B' : 'A';
        must(check(tokens, token, NOW_US, &user) == WEIR_E_INVALID);
        token[i] = kept;
    }
    for (size_t len = strlen(token); len > 0; len--) {
        char *cut = weir_strndup(token, len - 1);
        must(check(tokens, cut, NOW_US, &user) == WEIR_E_INVALID);
        free(cut);
    }
    must(check(tokens, token, NOW_US, &user) == WEIR_OK);
    free(token);
    sim_tokens_free(tokens);
}
END_TEST

START_TEST(a_token_of_another_seed_is_forged)
{
    struct sim_tokens *ours = make(1);
    struct sim_tokens *theirs = make(2);
    char *token = token_of(theirs, GOOD);
    uint32_t user;
    ck_assert_int_eq(check(theirs, token, NOW_US, &user), WEIR_OK);
    ck_assert_int_eq(check(ours, token, NOW_US, &user), WEIR_E_INVALID);
    struct sim_tokens *again = make(2);
    ck_assert_int_eq(check(again, token, NOW_US, &user), WEIR_OK);
    free(token);
    sim_tokens_free(again);
    sim_tokens_free(theirs);
    sim_tokens_free(ours);
}
END_TEST

START_TEST(a_revoked_user_is_shut_out_until_it_is_let_in_again)
{
    struct sim_tokens *tokens = make(1);
    char *token = token_of(tokens, GOOD);
    uint32_t user;
    sim_tokens_revoke(tokens, 99, true);
    sim_tokens_revoke(tokens, 1, true);
    ck_assert_int_eq(check(tokens, token, NOW_US, &user), WEIR_OK);
    sim_tokens_revoke(tokens, 0, true);
    ck_assert_int_eq(check(tokens, token, NOW_US, &user), WEIR_E_INVALID);
    struct sim_answer answer;
    ck_assert(post(tokens, GOOD, &answer));
    ck_assert_int_eq(code_of(&answer), 7000112);
    sim_answer_release(&answer);
    ck_assert(get(tokens, "/metadata/identity/oauth2/token?api-version=1&resource=" BASE, &answer));
    ck_assert_int_eq(answer.status, 400);
    sim_answer_release(&answer);
    sim_tokens_revoke(tokens, 0, false);
    ck_assert_int_eq(check(tokens, token, NOW_US, &user), WEIR_OK);
    free(token);
    sim_tokens_free(tokens);
}
END_TEST

START_TEST(an_authorization_that_is_no_bearer_token_is_refused)
{
    static const char *const wrong[] = {
        "",
        "Bearer",
        "Bearer ",
        "Basic YTpi",
        "Bearer .",
        "Bearer ..",
        "Bearer a.b.c",
        "Bearer eyJ",
        "Bearer ....................................................................",
        "bearer  x.y.",
    };
    struct sim_tokens *tokens = make(1);
    uint32_t user = 9;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ck_assert_int_eq(sim_tokens_check(tokens, weir_str_from(wrong[i]), NOW_US, &user),
                         WEIR_E_INVALID);
    ck_assert_int_eq(sim_tokens_check(tokens, weir_str(NULL, 0), NOW_US, &user), WEIR_E_INVALID);
    char *huge = weir_calloc(1, 100000);
    memset(huge, 'A', 99999);
    memcpy(huge, "Bearer ", 7);
    ck_assert_int_eq(sim_tokens_check(tokens, weir_str_from(huge), NOW_US, &user), WEIR_E_INVALID);
    ck_assert_uint_eq(user, 9);
    free(huge);
    sim_tokens_free(tokens);
}
END_TEST

START_TEST(a_form_that_is_too_long_is_413)
{
    struct sim_tokens *tokens = make(1);
    struct weir_buf body;
    weir_buf_init(&body, 1 << 20);
    weir_buf_add_text(&body, GOOD "&x=");
    while (body.len <= SIM_FORM_BYTES_MAX)
        weir_buf_add_char(&body, 'x');
    struct sim_answer answer;
    ck_assert(
        ask(tokens, "POST", weir_str_from(TOKEN_PATH), weir_str(body.ptr, body.len), &answer));
    ck_assert_int_eq(answer.status, 413);
    ck_assert_int_eq(code_of(&answer), 9002313);
    sim_answer_release(&answer);
    body.len = SIM_FORM_BYTES_MAX;
    ck_assert(
        ask(tokens, "POST", weir_str_from(TOKEN_PATH), weir_str(body.ptr, body.len), &answer));
    ck_assert_int_eq(answer.status, 200);
    sim_answer_release(&answer);
    weir_buf_release(&body);
    sim_tokens_free(tokens);
}
END_TEST

/* Pieces that matter to the parser, and noise. */
static void add_noise(struct weir_buf *text, struct weir_rng *rng)
{
    static const char *const pieces[] = {
        GRANT,
        "&client_id=app1",
        SCOPE,
        SECRET,
        "&",
        "=",
        "%",
        "%00",
        "+",
        "&client_assertion=",
        "a.b.c",
        "eyJ9",
        "&client_assertion_type=urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        "\xff",
        "\"",
        "\n",
    };
    size_t count = weir_rng_below(rng, 12);
    for (size_t i = 0; i < count; i++) {
        weir_buf_add_text(text, pieces[weir_rng_below(rng, sizeof pieces / sizeof *pieces)]);
        if (!weir_rng_below(rng, 4))
            weir_buf_add_char(text, (char)weir_rng_u64(rng));
    }
}

START_TEST(noise_is_always_answered_with_json)
{
    struct sim_tokens *tokens = make(1);
    struct weir_rng rng;
    weir_rng_init(&rng, (uint64_t)_i, 0);
    for (int turn = 0; turn < 2000; turn++) {
        struct weir_buf body;
        struct weir_buf target;
        weir_buf_init(&body, 65536);
        weir_buf_init(&target, 65536);
        add_noise(&body, &rng);
        weir_buf_add_text(&target, turn % 2 ? TOKEN_PATH : "/metadata/identity/oauth2/token?");
        if (turn % 2 == 0)
            add_noise(&target, &rng);
        struct sim_answer answer;
        must(ask(tokens, turn % 2 ? "POST" : "GET", weir_str(target.ptr, target.len),
                 weir_str(body.ptr, body.len), &answer));
        must(answer.status >= 200 && answer.status < 500);
        free(member(&answer, "error"));
        sim_answer_release(&answer);
        weir_buf_release(&body);
        weir_buf_release(&target);
    }
    sim_tokens_free(tokens);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("sim_tokens");
    suite_add(&s, the_token_endpoint_answers_each_form_by_its_own_code);
    suite_add(&s, an_error_has_every_member_of_the_real_one);
    suite_add(&s, a_body_that_is_no_form_is_as_an_empty_one);
    suite_add(&s, paths_methods_and_tenants_are_told_apart);
    suite_add(&s, the_discovery_document_leads_to_the_token_endpoint);
    suite_add(&s, imds_needs_its_header_and_its_query);
    suite_add(&s, a_token_is_good_until_it_expires);
    suite_add(&s, tokens_of_one_user_are_never_the_same);
    suite_add(&s, a_token_with_any_letter_changed_is_forged);
    suite_add(&s, a_token_of_another_seed_is_forged);
    suite_add(&s, a_revoked_user_is_shut_out_until_it_is_let_in_again);
    suite_add(&s, an_authorization_that_is_no_bearer_token_is_refused);
    suite_add(&s, a_form_that_is_too_long_is_413);
    suite_add_loop(&s, "noise_is_always_answered_with_json", noise_is_always_answered_with_json, 4);
    return suite_run(&s);
}
