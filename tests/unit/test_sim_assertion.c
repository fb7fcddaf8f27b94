/* SPDX-License-Identifier: MIT */
/* Logging in by certificate: assertions made here with OpenSSL, then bent in every way. */
#include <inttypes.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "sim/tokens/base64url.h"
#include "sim/tokens/jwt.h"
#include "sim/tokens/tokens.h"
#include "support/suite.h"

#define BASE     "https://127.0.0.1:4433"
#define NOW_S    INT64_C(1767225600)
#define AUDIENCE BASE "/contoso/oauth2/v2.0/token"

/* A key, its certificate as PEM text, and the two thumbprints. */
struct identity {
    EVP_PKEY *key;
    char *pem;
    char *x5t;
    char *x5t_s256;
};

/* Made once, before the cases are forked off: app1's own, one that nobody knows, and an expired
 * one. */
static struct identity known, stranger, expired;

static char *thumbprint(const X509 *x509, const EVP_MD *hash)
{
    uint8_t digest[EVP_MAX_MD_SIZE];
    unsigned len;
    must(X509_digest(x509, hash, digest, &len));
    struct weir_buf text;
    weir_buf_init(&text, 128);
    sim_base64url_add(&text, digest, len);
    return weir_buf_take(&text);
}

static char *pem_of(X509 *x509)
{
    BIO *bio = BIO_new(BIO_s_mem());
    must(PEM_write_bio_X509(bio, x509));
    char *text;
    long len = BIO_get_mem_data(bio, &text);
    char *pem = weir_strndup(text, (size_t)len);
    BIO_free(bio);
    return pem;
}

static struct identity identity_new(EVP_PKEY *key, int64_t not_before_s, int64_t not_after_s)
{
    X509 *x509 = X509_new();
    ASN1_INTEGER_set(X509_get_serialNumber(x509), 1);
    must(ASN1_TIME_set(X509_getm_notBefore(x509), (time_t)not_before_s));
    must(ASN1_TIME_set(X509_getm_notAfter(x509), (time_t)not_after_s));
    must(X509_set_pubkey(x509, key));
    must(X509_sign(x509, key, EVP_sha256()));
    struct identity id = { key, pem_of(x509), thumbprint(x509, EVP_sha1()),
                           thumbprint(x509, EVP_sha256()) };
    X509_free(x509);
    return id;
}

static void identity_release(struct identity *id)
{
    EVP_PKEY_free(id->key);
    free(id->pem);
    free(id->x5t);
    free(id->x5t_s256);
}

static void sign(const char *algorithm, EVP_PKEY *key, struct weir_buf *text)
{
    uint8_t signature[1024];
    size_t len = sizeof signature;
    EVP_MD_CTX *digest = EVP_MD_CTX_new();
    EVP_PKEY_CTX *context;
    must(EVP_DigestSignInit(digest, &context, EVP_sha256(), NULL, key) > 0);
    if (algorithm[0] == 'P') {
        must(EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) > 0);
        must(EVP_PKEY_CTX_set_rsa_pss_saltlen(context, RSA_PSS_SALTLEN_DIGEST) > 0);
    }
    must(EVP_DigestSign(digest, signature, &len, (const uint8_t *)text->ptr, text->len) > 0);
    EVP_MD_CTX_free(digest);
    weir_buf_add_char(text, '.');
    sim_base64url_add(text, signature, len);
}

/* An assertion of these two JSON texts; the caller frees it. */
static char *assertion(const char *header, const char *claims, const char *algorithm, EVP_PKEY *key)
{
    struct weir_buf text;
    weir_buf_init(&text, 1 << 20);
    sim_base64url_add(&text, header, strlen(header));
    weir_buf_add_char(&text, '.');
    sim_base64url_add(&text, claims, strlen(claims));
    sign(algorithm, key, &text);
    return weir_buf_take(&text);
}

static char *header_of(const char *algorithm, const struct identity *id)
{
    struct weir_buf text;
    weir_buf_init(&text, 1024);
    bool pss = algorithm[0] == 'P';
    weir_buf_printf(&text, "{\"alg\":\"%s\",\"typ\":\"JWT\",\"%s\":\"%s\"}", algorithm,
                    pss ? "x5t#S256" : "x5t", pss ? id->x5t_s256 : id->x5t);
    return weir_buf_take(&text);
}

static char *claims_of(const char *audience, const char *issuer, const char *subject,
                       int64_t not_before_s, int64_t expiry_s)
{
    struct weir_buf text;
    weir_buf_init(&text, 1024);
    weir_buf_printf(
        &text,
        "{\"aud\":\"%s\",\"iss\":\"%s\",\"sub\":\"%s\",\"jti\":\"1-2-3\",\"nbf\":%" PRId64
        ",\"iat\":%" PRId64 ",\"exp\":%" PRId64 "}",
        audience, issuer, subject, not_before_s, not_before_s, expiry_s);
    return weir_buf_take(&text);
}

static struct sim_tokens *make(void)
{
    struct sim_tokens_options options = { 2, BASE, 3599, 1 };
    struct sim_tokens *tokens = sim_tokens_new(&options);
    must(sim_tokens_add_certificate(tokens, 0, expired.pem, NULL) == WEIR_OK);
    must(sim_tokens_add_certificate(tokens, 0, known.pem, NULL) == WEIR_OK);
    return tokens;
}

/* Log in; 0 if that went well, or the AADSTS code. */
static int login_as(struct sim_tokens *tokens, const char *client_id, const char *jwt)
{
    struct weir_buf form;
    weir_buf_init(&form, 1 << 20);
    weir_buf_printf(&form,
                    "grant_type=client_credentials&client_id=%s&scope=" BASE "/.default"
                    "&client_assertion_type=urn%%3Aietf%%3Aparams%%3Aoauth%%3Aclient-assertion-type"
                    "%%3Ajwt-bearer&client_assertion=%s",
                    client_id, jwt);
    struct sim_header header = { weir_str_from("Content-Type"),
                                 weir_str_from("application/x-www-form-urlencoded") };
    struct sim_http_request request = { weir_str_from("POST"),
                                        weir_str_from("/contoso/oauth2/v2.0/token"), &header, 1,
                                        weir_str(form.ptr, form.len) };
    struct sim_answer answer;
    sim_answer_init(&answer);
    must(sim_tokens_answer(tokens, &request, NOW_S * WEIR_US_PER_S, &answer));
    int code = 0;
    const char *at = strstr(weir_buf_text(&answer.body), "AADSTS");
    must(!at == (answer.status == 200));
    if (at)
        must(sscanf(at, "AADSTS%d", &code) == 1);
    sim_answer_release(&answer);
    weir_buf_release(&form);
    return code;
}

static int login(struct sim_tokens *tokens, const char *jwt)
{
    return login_as(tokens, "app1", jwt);
}

/* Build, log in, clean up. */
static int try(const char *header, const char *claims, const char *algorithm, EVP_PKEY *key)
{
    struct sim_tokens *tokens = make();
    char *jwt = assertion(header, claims, algorithm, key);
    int code = login(tokens, jwt);
    free(jwt);
    sim_tokens_free(tokens);
    return code;
}

static int try_claims(char *claims)
{
    char *header = header_of("PS256", &known);
    int code = try(header, claims, "PS256", known.key);
    free(header);
    free(claims);
    return code;
}

static char *good_claims(void)
{
    return claims_of(AUDIENCE, "app1", "app1", NOW_S, NOW_S + 600);
}

START_TEST(both_algorithms_and_both_thumbprints_open_the_door)
{
    static const char *const algorithms[] = { "PS256", "RS256" };
    for (int i = 0; i < 2; i++) {
        char *header = header_of(algorithms[i], &known);
        char *claims = good_claims();
        ck_assert_int_eq(try(header, claims, algorithms[i], known.key), 0);
        free(claims);
        free(header);
    }
}
END_TEST

START_TEST(a_letter_changed_anywhere_is_refused)
{
    const char *algorithm = _i ? "PS256" : "RS256";
    struct sim_tokens *tokens = make();
    char *header = header_of(algorithm, &known);
    char *claims = good_claims();
    char *jwt = assertion(header, claims, algorithm, known.key);
    for (size_t i = 0; jwt[i]; i++) {
        char kept = jwt[i];
        jwt[i] = kept == 'A' ? 'B' : 'A';
        int code = login(tokens, jwt);
        must(code == 50027 || code == 700021 || code == 700027);
        jwt[i] = kept;
    }
    must(login(tokens, jwt) == 0);
    free(jwt);
    free(claims);
    free(header);
    sim_tokens_free(tokens);
}
END_TEST

START_TEST(a_fourth_part_is_refused)
{
    struct sim_tokens *tokens = make();
    char *header = header_of("PS256", &known);
    char *claims = good_claims();
    char *jwt = assertion(header, claims, "PS256", known.key);
    struct weir_buf more;
    weir_buf_init(&more, 8192);
    weir_buf_printf(&more, "%s.e30", jwt);
    ck_assert_int_eq(login(tokens, weir_buf_text(&more)), 50027);
    weir_buf_release(&more);
    free(jwt);
    free(claims);
    free(header);
    sim_tokens_free(tokens);
}
END_TEST

START_TEST(claims_that_were_exchanged_fail_the_signature)
{
    struct sim_tokens *tokens = make();
    char *header = header_of("PS256", &known);
    char *claims = good_claims();
    char *later = claims_of(AUDIENCE, "app1", "app1", NOW_S, NOW_S + 60000);
    char *one = assertion(header, claims, "PS256", known.key);
    char *two = assertion(header, later, "PS256", known.key);
    size_t head = (size_t)(strrchr(two, '.') - two);
    struct weir_buf mixed;
    weir_buf_init(&mixed, 8192);
    weir_buf_add(&mixed, two, head);
    weir_buf_add_text(&mixed, strrchr(one, '.'));
    ck_assert_int_eq(login(tokens, weir_buf_text(&mixed)), 700027);
    weir_buf_release(&mixed);
    free(two);
    free(one);
    free(later);
    free(claims);
    free(header);
    sim_tokens_free(tokens);
}
END_TEST

START_TEST(a_wrong_key_is_refused_by_thumbprint_or_by_signature)
{
    char *claims = good_claims();
    char *honest = header_of("PS256", &stranger);
    char *lying = header_of("PS256", &known);
    char *old = header_of("PS256", &expired);
    ck_assert_int_eq(try(honest, claims, "PS256", stranger.key), 700027);
    ck_assert_int_eq(try(lying, claims, "PS256", stranger.key), 700027);
    ck_assert_int_eq(try(old, claims, "PS256", expired.key), 700027);
    ck_assert_int_eq(try(lying, claims, "PS256", known.key), 0);
    free(old);
    free(lying);
    free(honest);
    free(claims);
}
END_TEST

START_TEST(the_algorithm_that_is_named_must_be_the_one_that_was_used)
{
    char *claims = good_claims();
    char *pss = header_of("PS256", &known);
    char *pkcs = header_of("RS256", &known);
    ck_assert_int_eq(try(pss, claims, "RS256", known.key), 700027);
    ck_assert_int_eq(try(pkcs, claims, "PS256", known.key), 700027);
    free(pkcs);
    free(pss);
    free(claims);
}
END_TEST

START_TEST(a_certificate_is_its_owners_only)
{
    struct sim_tokens *tokens = make();
    char *header = header_of("PS256", &known);
    char *claims = claims_of(AUDIENCE, "app2", "app2", NOW_S, NOW_S + 600);
    char *jwt = assertion(header, claims, "PS256", known.key);
    ck_assert_int_eq(login_as(tokens, "app2", jwt), 700027);
    ck_assert_int_eq(sim_tokens_add_certificate(tokens, 1, known.pem, NULL), WEIR_OK);
    ck_assert_int_eq(login_as(tokens, "app2", jwt), 0);
    ck_assert_int_eq(login_as(tokens, "app1", jwt), 700021);
    free(jwt);
    free(claims);
    free(header);
    sim_tokens_free(tokens);
}
END_TEST

START_TEST(claims_are_judged_one_by_one)
{
    static const struct {
        const char *audience;
        const char *issuer;
        const char *subject;
        int64_t not_before_s; /* from now */
        int64_t expiry_s;
        int code;
    } cases[] = {
        { AUDIENCE, "app1", "app1", 0, 600, 0 },
        { AUDIENCE "/", "app1", "APP1", 0, 600, 0 },
        { BASE "/c0470500-0000-4000-8000-000000000001/oauth2/v2.0/token", "app1", "app1", 0, 600,
          0 },
        { BASE "/contoso.onmicrosoft.com/oauth2/token", "app1", "app1", 0, 600, 0 },
        { BASE "/contoso/v2.0", "app1", "app1", 0, 600, 0 },
        { BASE "/contoso/", "app1", "app1", 0, 600, 0 },
        { BASE "/fabrikam/oauth2/v2.0/token", "app1", "app1", 0, 600, 700023 },
        { "https://login.microsoftonline.com/contoso/oauth2/v2.0/token", "app1", "app1", 0, 600,
          700023 },
        { BASE, "app1", "app1", 0, 600, 700023 },
        { BASE "/", "app1", "app1", 0, 600, 700023 },
        { BASE "0/contoso/oauth2/v2.0/token", "app1", "app1", 0, 600, 700023 },
        { BASE "xcontoso/oauth2/v2.0/token", "app1", "app1", 0, 600, 700023 },
        { BASE "/contoso/oauth2/v2.0/tokenx", "app1", "app1", 0, 600, 700023 },
        { "", "app1", "app1", 0, 600, 50027 },
        { AUDIENCE, "app2", "app1", 0, 600, 700021 },
        { AUDIENCE, "app1", "app2", 0, 600, 700021 },
        { AUDIENCE, "", "", 0, 600, 700021 },
        { AUDIENCE, "app1", "app1", -600, -299, 0 },
        { AUDIENCE, "app1", "app1", -600, -300, 700024 },
        { AUDIENCE, "app1", "app1", 300, 900, 0 },
        { AUDIENCE, "app1", "app1", 301, 900, 700024 },
        { AUDIENCE, "app1", "app1", 0, INT64_MAX - NOW_S, 0 },
        { AUDIENCE, "app1", "app1", INT64_MAX - NOW_S, INT64_MAX - NOW_S, 700024 },
        { AUDIENCE, "app1", "app1", 0, INT64_MIN, 700024 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int code = try_claims(claims_of(cases[i].audience, cases[i].issuer, cases[i].subject,
                                        NOW_S + cases[i].not_before_s, NOW_S + cases[i].expiry_s));
        ck_assert_msg(code == cases[i].code, "case %zu (%s): %d", i, cases[i].audience, code);
    }
}
END_TEST

START_TEST(a_claim_that_is_missing_or_of_another_kind_is_malformed)
{
#define WHO   "\"iss\":\"app1\",\"sub\":\"app1\""
#define AUD   "\"aud\":\"" AUDIENCE "\""
#define LATER "\"exp\":1767226000"
    static const struct {
        const char *claims;
        int code;
    } cases[] = {
        { "{" AUD "," WHO "," LATER ",\"jti\":\"1\"}", 0 },
        { "{" AUD "," WHO "," LATER "}", 50027 },
        { "{" AUD "," WHO "," LATER ",\"jti\":\"\"}", 50027 },
        { "{" AUD "," WHO "," LATER ",\"jti\":7}", 50027 },
        { "{" AUD "," WHO ",\"jti\":\"1\"}", 50027 },
        { "{" AUD "," WHO ",\"exp\":\"1767226000\",\"jti\":\"1\"}", 50027 },
        { "{" AUD "," WHO ",\"exp\":1e12,\"jti\":\"1\"}", 50027 },
        { "{" AUD "," WHO ",\"exp\":99999999999999999999,\"jti\":\"1\"}", 50027 },
        { "{" WHO "," LATER ",\"jti\":\"1\"}", 50027 },
        { "{\"aud\":[\"" AUDIENCE "\"]," WHO "," LATER ",\"jti\":\"1\"}", 50027 },
        { "{" AUD "," LATER ",\"jti\":\"1\"}", 700021 },
        { "{" AUD "," WHO "," LATER ",\"jti\":\"1\",\"jti\":\"1\"}", 50027 },
        { "[]", 50027 },
        { "", 50027 },
        { "null", 50027 },
        { "{\"x\":\"\xff\"}", 50027 },
        { "{" AUD "," WHO "," LATER ",\"jti\":\"1\"} x", 50027 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int code = try_claims(weir_strdup(cases[i].claims));
        ck_assert_msg(code == cases[i].code, "%s: %d", cases[i].claims, code);
    }
}
END_TEST

START_TEST(a_header_must_name_type_algorithm_and_key)
{
    static const struct {
        const char *format; /* %1$s: x5t#S256, %2$s: x5t */
        int code;
    } cases[] = {
        { "{\"alg\":\"PS256\",\"typ\":\"jwt\",\"x5t#S256\":\"%1$s\",\"x5t\":\"%2$s\"}", 0 },
        { "{\"alg\":\"PS256\",\"typ\":\"JWT\",\"x5t\":\"%2$s\"}", 0 },
        { "{\"alg\":\"PS256\",\"typ\":\"JWT\",\"x5t#S256\":\"%1$s\",\"x5t\":\"%1$s\"}", 700027 },
        { "{\"alg\":\"PS256\",\"typ\":\"JWT\",\"x5t#S256\":\"%2$s\",\"x5t\":\"%2$s\"}", 700027 },
        { "{\"alg\":\"PS256\",\"typ\":\"JWT\",\"x5t#S256\":\"\"}", 700027 },
        { "{\"alg\":\"PS256\",\"typ\":\"JWT\"}", 50027 },
        { "{\"alg\":\"PS256\",\"x5t#S256\":\"%1$s\"}", 50027 },
        { "{\"alg\":\"PS256\",\"typ\":\"at+jwt\",\"x5t#S256\":\"%1$s\"}", 50027 },
        { "{\"typ\":\"JWT\",\"x5t#S256\":\"%1$s\"}", 50027 },
        { "{\"alg\":\"none\",\"typ\":\"JWT\",\"x5t#S256\":\"%1$s\"}", 50027 },
        { "{\"alg\":\"HS256\",\"typ\":\"JWT\",\"x5t#S256\":\"%1$s\"}", 50027 },
        { "{\"alg\":\"ps256\",\"typ\":\"JWT\",\"x5t#S256\":\"%1$s\"}", 50027 },
        { "{\"alg\":[\"PS256\"],\"typ\":\"JWT\",\"x5t#S256\":\"%1$s\"}", 50027 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char header[512];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(header, sizeof header, cases[i].format, known.x5t_s256, known.x5t);
#pragma GCC diagnostic pop
        char *claims = good_claims();
        int code = try(header, claims, "PS256", known.key);
        ck_assert_msg(code == cases[i].code, "%s: %d", header, code);
        free(claims);
    }
}
END_TEST

START_TEST(hostile_assertions_are_malformed)
{
    static const char *const texts[] = { ".",
                                         "..",
                                         "...",
                                         "a.b.c",
                                         "e30.e30.",
                                         ".e30.e30",
                                         "e30.e30.e30.e30",
                                         "e30.e30.e30",
                                         "%2e%2e",
                                         "bnVsbA.bnVsbA.AA",
                                         "e30=.e30=.e30=" };
    struct sim_tokens *tokens = make();
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        ck_assert_msg(login(tokens, texts[i]) == 50027, "%s", texts[i]);
    sim_tokens_free(tokens);
}
END_TEST

START_TEST(an_assertion_ends_at_its_length_and_its_depth)
{
    char *header = header_of("PS256", &known);
    struct weir_buf claims;
    weir_buf_init(&claims, 1 << 20);
    for (int deep = 0; deep < 2; deep++) {
        size_t filling = deep ? 10000 : SIM_JWT_BYTES_MAX * 3 / 4;
        weir_buf_reset(&claims);
        weir_buf_add_text(&claims, "{" AUD "," WHO "," LATER ",\"jti\":\"1\",\"x\":");
        weir_buf_add_text(&claims, deep ? "" : "\"");
        for (size_t i = 0; i < filling; i++)
            weir_buf_add_char(&claims, deep ? '[' : 'x');
        weir_buf_add_text(&claims, deep ? "}" : "\"}");
        ck_assert_int_eq(try(header, weir_buf_text(&claims), "PS256", known.key), 50027);
    }
    weir_buf_release(&claims);
    free(header);
}
END_TEST

START_TEST(a_long_assertion_within_the_bound_is_taken)
{
    struct weir_buf claims;
    weir_buf_init(&claims, 1 << 20);
    weir_buf_add_text(&claims, "{" AUD "," WHO "," LATER ",\"jti\":\"1\",\"x\":\"");
    while (claims.len < SIM_JWT_BYTES_MAX * 3 / 4 - 600)
        weir_buf_add_char(&claims, 'x');
    weir_buf_add_text(&claims, "\"}");
    ck_assert_int_eq(try_claims(weir_buf_take(&claims)), 0);
}
END_TEST

START_TEST(certificates_that_are_none_are_refused)
{
    static const char *const texts[] = {
        "", "x", "-----BEGIN CERTIFICATE-----\n",
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
    };
    struct sim_tokens *tokens = make();
    struct weir_error err;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        ck_assert_int_eq(sim_tokens_add_certificate(tokens, 0, texts[i], &err), WEIR_E_INVALID);
    ck_assert_int_eq(sim_tokens_add_certificate(tokens, 2, known.pem, &err), WEIR_E_NOT_FOUND);
    ck_assert_str_eq(err.message, "there is no user 'app3'");

    struct identity small = identity_new(EVP_RSA_gen(1024), NOW_S, NOW_S + 1);
    struct identity curve = identity_new(EVP_EC_gen("P-256"), NOW_S, NOW_S + 1);
    ck_assert_int_eq(sim_tokens_add_certificate(tokens, 0, small.pem, &err), WEIR_E_INVALID);
    ck_assert_int_eq(sim_tokens_add_certificate(tokens, 0, curve.pem, &err), WEIR_E_INVALID);
    identity_release(&curve);
    identity_release(&small);

    char *huge = weir_calloc(1, 65 * 1024 + 1);
    memset(huge, 'x', 65 * 1024);
    ck_assert_int_eq(sim_tokens_add_certificate(tokens, 0, huge, &err), WEIR_E_TOO_BIG);
    free(huge);
    sim_tokens_free(tokens);
}
END_TEST

int main(void)
{
    known = identity_new(EVP_RSA_gen(2048), NOW_S - 1000, NOW_S + 1000);
    stranger = identity_new(EVP_RSA_gen(2048), NOW_S - 1000, NOW_S + 1000);
    expired = identity_new(EVP_RSA_gen(2048), NOW_S - 1000, NOW_S - 1);
    struct suite s = suite_new("sim_assertion");
    suite_add(&s, both_algorithms_and_both_thumbprints_open_the_door);
    suite_add_loop(&s, "a_letter_changed_anywhere_is_refused", a_letter_changed_anywhere_is_refused,
                   2);
    suite_add(&s, a_fourth_part_is_refused);
    suite_add(&s, claims_that_were_exchanged_fail_the_signature);
    suite_add(&s, a_wrong_key_is_refused_by_thumbprint_or_by_signature);
    suite_add(&s, the_algorithm_that_is_named_must_be_the_one_that_was_used);
    suite_add(&s, a_certificate_is_its_owners_only);
    suite_add(&s, claims_are_judged_one_by_one);
    suite_add(&s, a_claim_that_is_missing_or_of_another_kind_is_malformed);
    suite_add(&s, a_header_must_name_type_algorithm_and_key);
    suite_add(&s, hostile_assertions_are_malformed);
    suite_add(&s, an_assertion_ends_at_its_length_and_its_depth);
    suite_add(&s, a_long_assertion_within_the_bound_is_taken);
    suite_add(&s, certificates_that_are_none_are_refused);
    int result = suite_run(&s);
    identity_release(&known);
    identity_release(&stranger);
    identity_release(&expired);
    return result;
}
