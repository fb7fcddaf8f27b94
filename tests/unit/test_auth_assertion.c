/* SPDX-License-Identifier: MIT */
/*
 * Certificates and assertions: what the simulator's verifier, which shares no code with them,
 * thinks of them; what becomes of an assertion of which one letter is another; and PEM files as
 * people have them.
 */
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <stdio.h>

#include "auth/assertion.h"
#include "base/base64url.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "sim/tokens/certificate.h"
#include "support/suite.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define NOW_S        INT64_C(1767225600)
#define NOW_US       (NOW_S * WEIR_US_PER_S)
#define DAY_S        INT64_C(86400)
#define AUDIENCE     "https://login.microsoftonline.com/contoso/oauth2/v2.0/token"

/* Made once, before the cases are forked off. */
static EVP_PKEY *rsa, *other_rsa, *short_rsa, *curve;
static char *certificate_pem, *key_pem, *both_pem;

static char *take_text(BIO *bio)
{
    char *text;
    long len = BIO_get_mem_data(bio, &text);
    char *copy = weir_strndup(text, (size_t)len);
    BIO_free(bio);
    return copy;
}

static char *make_certificate(EVP_PKEY *key, int64_t from_s, int64_t to_s)
{
    X509 *x509 = X509_new();
    ASN1_INTEGER_set(X509_get_serialNumber(x509), 1);
    must(ASN1_TIME_set(X509_getm_notBefore(x509), (time_t)from_s));
    must(ASN1_TIME_set(X509_getm_notAfter(x509), (time_t)to_s));
    must(X509_set_pubkey(x509, key));
    must(X509_sign(x509, key, EVP_sha256()));
    BIO *bio = BIO_new(BIO_s_mem());
    must(PEM_write_bio_X509(bio, x509));
    X509_free(x509);
    return take_text(bio);
}

static char *make_key(EVP_PKEY *key, const char *password)
{
    BIO *bio = BIO_new(BIO_s_mem());
    must(PEM_write_bio_PKCS8PrivateKey(bio, key, password ? EVP_aes_256_cbc() : NULL, NULL, 0, NULL,
                                       (void *)(uintptr_t)password));
    return take_text(bio);
}

static char *joined(const char *a, const char *b)
{
    struct weir_buf text;
    weir_buf_init(&text, 1 << 20);
    weir_buf_printf(&text, "%s%s", a, b);
    return weir_buf_take(&text);
}

static void make_keys(void)
{
    rsa = EVP_RSA_gen(2048);
    other_rsa = EVP_RSA_gen(2048);
    short_rsa = EVP_RSA_gen(1024);
    curve = EVP_EC_gen("P-256");
    certificate_pem = make_certificate(rsa, NOW_S - DAY_S, NOW_S + DAY_S);
    key_pem = make_key(rsa, NULL);
    both_pem = joined(certificate_pem, key_pem);
}

static void free_keys(void)
{
    EVP_PKEY_free(rsa);
    EVP_PKEY_free(other_rsa);
    EVP_PKEY_free(short_rsa);
    EVP_PKEY_free(curve);
    free(certificate_pem);
    free(key_pem);
    free(both_pem);
}

static enum weir_status load(struct weir_certificate *certificate, const char *pem,
                             struct weir_error *err)
{
    return weir_certificate_init(certificate, "\"app.pem\"", weir_str_from(pem), NOW_US, err);
}

static struct weir_secret make(const char *algorithm, uint64_t chance)
{
    struct weir_certificate certificate;
    struct weir_secret assertion = { 0 };
    must(load(&certificate, both_pem, NULL) == WEIR_OK);
    const struct weir_assertion_ask ask = {
        .audience = AUDIENCE,
        .client_id = "app1",
        .algorithm = algorithm,
        .wall_us = NOW_US,
        .chance = { chance * 0x9e3779b97f4a7c15, chance },
    };
    must(weir_assertion_make(&certificate, &ask, &assertion, NULL) == WEIR_OK);
    weir_certificate_release(&certificate);
    return assertion;
}

/* --- the simulator as the judge --------------------------------------------------------------- */

static bool is_us(const void *ctx, struct weir_str audience)
{
    (void)ctx;
    return weir_str_equal(audience, weir_str_from(AUDIENCE));
}

static enum sim_assertion_verdict judge(struct weir_str assertion, int64_t now_s)
{
    struct sim_certificate known;
    must(sim_certificate_init(&known, certificate_pem, NULL) == WEIR_OK);
    const struct sim_assertion_ask ask = {
        .client_id = weir_str_from("app1"),
        .certificates = &known,
        .certificate_count = 1,
        .now_s = now_s,
        .is_us = is_us,
    };
    enum sim_assertion_verdict verdict = sim_assertion_check(&ask, assertion);
    sim_certificate_release(&known);
    return verdict;
}

START_TEST(both_algorithms_are_accepted_by_the_simulator)
{
    static const char *const algorithms[] = { NULL, "PS256", "RS256" };
    for (size_t i = 0; i < COUNT(algorithms); i++) {
        struct weir_secret assertion = make(algorithms[i], i);
        struct weir_str text = weir_secret_str(&assertion);
        ck_assert_int_eq(judge(text, NOW_S), SIM_ASSERTION_GOOD);
        ck_assert_int_eq(judge(text, NOW_S + WEIR_ASSERTION_LIFE_S + SIM_ASSERTION_SKEW_S + 1),
                         SIM_ASSERTION_OUTSIDE_TIME);
        ck_assert_int_eq(judge(text, NOW_S - SIM_ASSERTION_SKEW_S - 1), SIM_ASSERTION_OUTSIDE_TIME);
        weir_secret_release(&assertion);
    }
}
END_TEST

START_TEST(an_assertion_with_another_letter_is_refused)
{
    static const char *const algorithms[] = { "PS256", "RS256" };
    for (size_t a = 0; a < COUNT(algorithms); a++) {
        struct weir_secret assertion = make(algorithms[a], 5);
        for (size_t i = 0; i < assertion.len; i++) {
            char kept = assertion.text[i];
            assertion.text[i] = kept == 'A' ? 'B' : 'A';
            must(judge(weir_secret_str(&assertion), NOW_S) != SIM_ASSERTION_GOOD);
            assertion.text[i] = kept;
        }
        must(judge(weir_secret_str(&assertion), NOW_S) == SIM_ASSERTION_GOOD);
        weir_secret_release(&assertion);
    }
}
END_TEST

/* --- what it says ----------------------------------------------------------------------------- */

static struct weir_json *part(const struct weir_secret *assertion, int which, struct weir_buf *text)
{
    struct weir_str rest = weir_secret_str(assertion);
    struct weir_json *json;
    for (; which; which--) {
        const char *point = memchr(rest.ptr, '.', rest.len);
        rest = weir_str(point + 1, rest.len - (size_t)(point - rest.ptr) - 1);
    }
    weir_buf_init(text, 65536);
    must(weir_base64url_decode(
        text, weir_str(rest.ptr, (size_t)((char *)memchr(rest.ptr, '.', rest.len) - rest.ptr))));
    must(weir_json_parse(weir_str(text->ptr, text->len), &json, NULL) == WEIR_OK);
    return json;
}

static struct weir_str member(const struct weir_json *json, const char *name)
{
    const struct weir_json_node *node = weir_json_find(weir_json_root(json), name);
    return node ? node->text : weir_str("", 0);
}

static bool is(struct weir_str text, const char *expected)
{
    return weir_str_equal(text, weir_str_from(expected));
}

START_TEST(header_and_claims_are_those_that_entra_wants)
{
    struct sim_certificate known;
    must(sim_certificate_init(&known, certificate_pem, NULL) == WEIR_OK);
    for (int pss = 0; pss < 2; pss++) {
        struct weir_secret assertion = make(pss ? "PS256" : "RS256", 77);
        struct weir_buf text;
        struct weir_json *header = part(&assertion, 0, &text);
        ck_assert(is(member(header, "alg"), pss ? "PS256" : "RS256"));
        ck_assert(is(member(header, "typ"), "JWT"));
        ck_assert(is(member(header, "x5t#S256"), pss ? known.x5t_s256 : ""));
        ck_assert(is(member(header, "x5t"), pss ? "" : known.x5t));
        ck_assert_uint_eq(weir_json_root(header)->count, 3);
        weir_json_free(header);
        weir_buf_release(&text);

        struct weir_json *claims = part(&assertion, 1, &text);
        ck_assert(is(member(claims, "aud"), AUDIENCE));
        ck_assert(is(member(claims, "iss"), "app1"));
        ck_assert(is(member(claims, "sub"), "app1"));
        ck_assert(is(member(claims, "nbf"), "1767225600"));
        ck_assert(is(member(claims, "iat"), "1767225600"));
        ck_assert(is(member(claims, "exp"), "1767226200"));
        ck_assert_uint_eq(member(claims, "jti").len, 36);
        ck_assert_uint_eq(weir_json_root(claims)->count, 7);
        weir_json_free(claims);
        weir_buf_release(&text);
        weir_secret_release(&assertion);
    }
    sim_certificate_release(&known);
}
END_TEST

START_TEST(no_two_assertions_have_the_same_id)
{
    enum {
        ASSERTIONS = 50
    };
    char ids[ASSERTIONS][37];
    for (int i = 0; i < ASSERTIONS; i++) {
        struct weir_secret assertion = make("RS256", (uint64_t)i + 1);
        struct weir_buf text;
        struct weir_json *claims = part(&assertion, 1, &text);
        memcpy(ids[i], member(claims, "jti").ptr, 37);
        must(ids[i][14] == '4' && strchr("89ab", ids[i][19]));
        for (int k = 0; k < i; k++)
            must(strcmp(ids[i], ids[k]) != 0);
        weir_json_free(claims);
        weir_buf_release(&text);
        weir_secret_release(&assertion);
    }
}
END_TEST

START_TEST(texts_with_quotes_cannot_add_claims)
{
    struct weir_certificate certificate;
    struct weir_secret assertion = { 0 };
    struct weir_buf text;
    const char *odd = "a\",\"exp\":9999999999,\"x\":\"\\";
    must(load(&certificate, both_pem, NULL) == WEIR_OK);
    const struct weir_assertion_ask ask = { .audience = odd, .client_id = odd, .wall_us = NOW_US };
    must(weir_assertion_make(&certificate, &ask, &assertion, NULL) == WEIR_OK);
    struct weir_json *claims = part(&assertion, 1, &text);
    ck_assert(is(member(claims, "sub"), odd));
    ck_assert(is(member(claims, "exp"), "1767226200"));
    weir_json_free(claims);
    weir_buf_release(&text);
    weir_secret_release(&assertion);
    weir_certificate_release(&certificate);
}
END_TEST

START_TEST(an_assertion_has_a_bound)
{
    struct weir_certificate certificate;
    struct weir_secret assertion = { 0 };
    struct weir_error err;
    char *huge = weir_calloc(1, 40000);
    memset(huge, 'x', 39999);
    must(load(&certificate, both_pem, NULL) == WEIR_OK);
    const struct weir_assertion_ask ask = { .audience = huge, .client_id = "a", .wall_us = NOW_US };
    ck_assert_int_eq(weir_assertion_make(&certificate, &ask, &assertion, &err), WEIR_E_INVALID);
    ck_assert_ptr_null(assertion.text);
    weir_certificate_release(&certificate);
    free(huge);
}
END_TEST

/* --- PEM files -------------------------------------------------------------------------------- */

START_TEST(certificate_and_key_may_stand_in_any_order_and_company)
{
    char *foreign = make_certificate(other_rsa, NOW_S - DAY_S, NOW_S + DAY_S);
    char *texts[] = {
        joined(key_pem, certificate_pem),
        joined(foreign, both_pem), /* a chain whose own certificate is not the first */
        joined(both_pem, foreign),
        joined("Bag Attributes\n    friendlyName: app\n", both_pem),
    };
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct weir_certificate certificate;
        struct weir_error err = { 0 };
        ck_assert_msg(load(&certificate, texts[i], &err) == WEIR_OK, "%zu: %s", i, err.message);
        ck_assert(X509_check_private_key(certificate.x509, rsa));
        weir_certificate_release(&certificate);
        free(texts[i]);
    }
    free(foreign);
}
END_TEST

static void check_refused(char *pem, const char *reason)
{
    struct weir_certificate certificate;
    struct weir_error err = { 0 };
    ck_assert_msg(load(&certificate, pem, &err) == WEIR_E_INVALID, "%s", reason);
    ck_assert_msg(strstr(err.message, reason), "\"%s\" is not in: %s", reason, err.message);
    ck_assert_ptr_nonnull(strstr(err.message, "\"app.pem\""));
    ck_assert(!certificate.key && !certificate.x509);
    free(pem);
}

START_TEST(files_that_will_not_do_are_refused_with_the_reason)
{
    char *encrypted = make_key(rsa, "secret");
    char *other_key = make_key(other_rsa, NULL);
    char *short_key = make_key(short_rsa, NULL);
    char *curve_key = make_key(curve, NULL);
    char *short_certificate = make_certificate(short_rsa, NOW_S - DAY_S, NOW_S + DAY_S);
    char *curve_certificate = make_certificate(curve, NOW_S - DAY_S, NOW_S + DAY_S);
    char *old = make_certificate(rsa, NOW_S - 2 * DAY_S, NOW_S - DAY_S);
    char *future = make_certificate(rsa, NOW_S + DAY_S, NOW_S + 2 * DAY_S);
    check_refused(joined(certificate_pem, encrypted), "encrypted");
    check_refused(joined(certificate_pem, ""), "no private key");
    check_refused(joined(key_pem, ""), "no certificate");
    check_refused(joined("", ""), "no private key");
    check_refused(joined("hello", "world"), "no private key");
    check_refused(joined(certificate_pem, other_key), "do not belong together");
    check_refused(joined(short_certificate, short_key), "2048 bits");
    check_refused(joined(curve_certificate, curve_key), "not an RSA key");
    check_refused(joined(old, key_pem), "expired since 2025-12-31");
    check_refused(joined(future, key_pem), "not valid before 2026-01-02");
    free(encrypted);
    free(other_key);
    free(short_key);
    free(curve_key);
    free(short_certificate);
    free(curve_certificate);
    free(old);
    free(future);
}
END_TEST

START_TEST(a_torn_file_is_refused_at_every_line)
{
    for (size_t len = 0; len < strlen(both_pem); len += 65) {
        char *torn = weir_strndup(both_pem, len);
        struct weir_certificate certificate;
        must(load(&certificate, torn, NULL) != WEIR_OK);
        must(!certificate.key && !certificate.x509);
        free(torn);
    }
}
END_TEST

int main(void)
{
    struct suite s = suite_new("auth_assertion");
    make_keys();
    suite_add(&s, both_algorithms_are_accepted_by_the_simulator);
    suite_add(&s, an_assertion_with_another_letter_is_refused);
    suite_add(&s, header_and_claims_are_those_that_entra_wants);
    suite_add(&s, no_two_assertions_have_the_same_id);
    suite_add(&s, texts_with_quotes_cannot_add_claims);
    suite_add(&s, an_assertion_has_a_bound);
    suite_add(&s, certificate_and_key_may_stand_in_any_order_and_company);
    suite_add(&s, files_that_will_not_do_are_refused_with_the_reason);
    suite_add(&s, a_torn_file_is_refused_at_every_line);
    int code = suite_run(&s);
    free_keys();
    return code;
}
