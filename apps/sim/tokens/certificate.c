/* SPDX-License-Identifier: MIT */
/*
 * Certificates and the assertions made with them; see certificate.h. The checks come in the order
 * in which the real service complains: form, application, key, signature, time, audience.
 */
#include "sim/tokens/certificate.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <time.h>

#include "base/error.h"
#include "sim/tokens/base64url.h"
#include "sim/tokens/jwt.h"

#define RSA_BITS_MIN 2048

static bool thumbprint(const X509 *x509, const EVP_MD *hash, char *text, size_t bytes)
{
    uint8_t digest[EVP_MAX_MD_SIZE];
    unsigned len = 0;
    if (!X509_digest(x509, hash, digest, &len))
        return false;
    struct weir_buf out;
    weir_buf_init(&out, bytes);
    sim_base64url_add(&out, digest, len);
    bool fits = !out.overflow && out.len < bytes;
    if (fits)
        memcpy(text, weir_buf_text(&out), out.len + 1);
    weir_buf_release(&out);
    return fits;
}

static bool moment(const ASN1_TIME *from, int64_t *ret_s)
{
    struct tm tm;
    if (!ASN1_TIME_to_tm(from, &tm))
        return false;
    *ret_s = timegm(&tm);
    return true;
}

static enum weir_status fill(struct sim_certificate *certificate, const X509 *x509,
                             struct weir_error *err)
{
    EVP_PKEY *key = X509_get0_pubkey(x509);
    if (!key || EVP_PKEY_get_base_id(key) != EVP_PKEY_RSA || EVP_PKEY_get_bits(key) < RSA_BITS_MIN)
        return weir_fail(err, WEIR_E_INVALID, "the certificate has no RSA key of %d bits or more",
                         RSA_BITS_MIN);
    if (!moment(X509_get0_notBefore(x509), &certificate->not_before_s) ||
        !moment(X509_get0_notAfter(x509), &certificate->not_after_s) ||
        !thumbprint(x509, EVP_sha1(), certificate->x5t, sizeof certificate->x5t) ||
        !thumbprint(x509, EVP_sha256(), certificate->x5t_s256, sizeof certificate->x5t_s256))
        return weir_fail(err, WEIR_E_INVALID, "the certificate cannot be read");
    EVP_PKEY_up_ref(key);
    certificate->key = key;
    return WEIR_OK;
}

enum weir_status sim_certificate_init(struct sim_certificate *certificate, const char *pem,
                                      struct weir_error *err)
{
    *certificate = (struct sim_certificate){ 0 };
    size_t len = strlen(pem);
    if (len > SIM_CERTIFICATE_BYTES_MAX)
        return weir_fail(err, WEIR_E_TOO_BIG, "the certificate is longer than %zu bytes",
                         SIM_CERTIFICATE_BYTES_MAX);
    BIO *text = BIO_new_mem_buf(pem, (int)len);
    X509 *x509 = text ? PEM_read_bio_X509(text, NULL, NULL, NULL) : NULL;
    enum weir_status status =
        x509 ? fill(certificate, x509, err)
             : weir_fail(err, WEIR_E_INVALID, "no certificate in the PEM text");
    X509_free(x509);
    BIO_free(text);
    ERR_clear_error();
    return status;
}

void sim_certificate_release(struct sim_certificate *certificate)
{
    EVP_PKEY_free(certificate->key);
    *certificate = (struct sim_certificate){ 0 };
}

static bool same(struct weir_str text, const char *expected)
{
    return weir_str_equal(text, weir_str_from(expected));
}

/* One thumbprint at least; if the header has both, both. */
static bool names(const struct sim_jwt *jwt, const struct sim_certificate *certificate)
{
    struct weir_str x5t = sim_jwt_header_text(jwt, "x5t");
    struct weir_str x5t_s256 = sim_jwt_header_text(jwt, "x5t#S256");
    return (x5t.ptr || x5t_s256.ptr) && (!x5t.ptr || same(x5t, certificate->x5t)) &&
           (!x5t_s256.ptr || same(x5t_s256, certificate->x5t_s256));
}

static const struct sim_certificate *find(const struct sim_assertion_ask *ask,
                                          const struct sim_jwt *jwt)
{
    for (size_t i = 0; i < ask->certificate_count; i++) {
        const struct sim_certificate *certificate = &ask->certificates[i];
        if (certificate->user == ask->user && names(jwt, certificate))
            return certificate;
    }
    return NULL;
}

static bool well_formed(const struct sim_jwt *jwt)
{
    struct weir_str algorithm = sim_jwt_header_text(jwt, "alg");
    int64_t expiry_s;
    return (same(algorithm, "PS256") || same(algorithm, "RS256")) &&
           weir_str_equal_nocase(sim_jwt_header_text(jwt, "typ"), weir_str_from("JWT")) &&
           (sim_jwt_header_text(jwt, "x5t").ptr || sim_jwt_header_text(jwt, "x5t#S256").ptr) &&
           sim_jwt_claim_text(jwt, "jti").len && sim_jwt_claim_text(jwt, "aud").len &&
           sim_jwt_claim_number(jwt, "exp", &expiry_s);
}

static bool is_client(const struct sim_jwt *jwt, struct weir_str client_id)
{
    return weir_str_equal_nocase(sim_jwt_claim_text(jwt, "iss"), client_id) &&
           weir_str_equal_nocase(sim_jwt_claim_text(jwt, "sub"), client_id);
}

/* Written so that no claim, however large, overflows. */
static bool in_time(const struct sim_jwt *jwt, int64_t now_s)
{
    int64_t expiry_s = 0;
    int64_t not_before_s;
    if (!sim_jwt_claim_number(jwt, "exp", &expiry_s) || expiry_s <= now_s - SIM_ASSERTION_SKEW_S)
        return false;
    return !sim_jwt_claim_number(jwt, "nbf", &not_before_s) ||
           not_before_s <= now_s + SIM_ASSERTION_SKEW_S;
}

static enum sim_assertion_verdict judge(const struct sim_assertion_ask *ask,
                                        const struct sim_jwt *jwt)
{
    if (!well_formed(jwt))
        return SIM_ASSERTION_MALFORMED;
    if (!is_client(jwt, ask->client_id))
        return SIM_ASSERTION_WRONG_CLIENT;
    const struct sim_certificate *certificate = find(ask, jwt);
    if (!certificate)
        return SIM_ASSERTION_UNKNOWN_KEY;
    if (ask->now_s < certificate->not_before_s || ask->now_s > certificate->not_after_s)
        return SIM_ASSERTION_KEY_EXPIRED;
    if (!sim_jwt_signed_by(jwt, certificate->key))
        return SIM_ASSERTION_BAD_SIGNATURE;
    if (!in_time(jwt, ask->now_s))
        return SIM_ASSERTION_OUTSIDE_TIME;
    if (!ask->is_us(ask->ctx, sim_jwt_claim_text(jwt, "aud")))
        return SIM_ASSERTION_WRONG_AUDIENCE;
    return SIM_ASSERTION_GOOD;
}

enum sim_assertion_verdict sim_assertion_check(const struct sim_assertion_ask *ask,
                                               struct weir_str assertion)
{
    struct sim_jwt jwt;
    enum sim_assertion_verdict verdict = SIM_ASSERTION_MALFORMED;
    if (sim_jwt_parse(&jwt, assertion, NULL) == WEIR_OK)
        verdict = judge(ask, &jwt);
    sim_jwt_release(&jwt);
    return verdict;
}
