/* SPDX-License-Identifier: MIT */
/* Certificates and client assertions; see assertion.h. */
#include "auth/assertion.h"

#include <inttypes.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <time.h>

#include "base/base64url.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "config/quote.h"

#define RSA_BITS_MIN        2048
#define SIGNATURE_BYTES_MAX 2048 /* a key of 16384 bits */
#define CERTIFICATES_MAX    16   /* that are looked at in one file */

/* --- certificates ----------------------------------------------------------------------------- */

/* Nobody is asked for a password; that one would be needed is noted. */
static int no_password(char *text, int bytes, int writing, void *asked)
{
    (void)text;
    (void)bytes;
    (void)writing;
    *(bool *)asked = true;
    return -1;
}

static EVP_PKEY *read_key(struct weir_str pem, bool *ret_encrypted)
{
    BIO *text = BIO_new_mem_buf(pem.ptr, (int)pem.len);
    EVP_PKEY *key = PEM_read_bio_PrivateKey(text, NULL, no_password, ret_encrypted);
    BIO_free(text);
    return key;
}

/* The first certificate that the key belongs to. */
static X509 *find_certificate(struct weir_str pem, EVP_PKEY *key, bool *ret_any)
{
    BIO *text = BIO_new_mem_buf(pem.ptr, (int)pem.len);
    X509 *found = NULL;
    for (int i = 0; i < CERTIFICATES_MAX && !found; i++) {
        X509 *next = PEM_read_bio_X509(text, NULL, NULL, NULL);
        if (!next)
            break;
        *ret_any = true;
        if (X509_check_private_key(next, key))
            found = next;
        else
            X509_free(next);
    }
    BIO_free(text);
    return found;
}

static enum weir_status load_key(struct weir_certificate *certificate, const char *what,
                                 struct weir_str pem, struct weir_error *err)
{
    bool encrypted = false;
    certificate->key = read_key(pem, &encrypted);
    if (encrypted)
        return weir_fail(err, WEIR_E_INVALID,
                         "the private key in %s is encrypted, and nobody is there to type its "
                         "password; store it unencrypted in a file of mode 600",
                         what);
    if (!certificate->key)
        return weir_fail(
            err, WEIR_E_INVALID,
            "%s holds no private key; it must be PEM with a certificate and its RSA key", what);
    if (EVP_PKEY_get_base_id(certificate->key) != EVP_PKEY_RSA ||
        EVP_PKEY_get_bits(certificate->key) < RSA_BITS_MIN)
        return weir_fail(err, WEIR_E_INVALID,
                         "the private key in %s is not an RSA key of %d bits or more", what,
                         RSA_BITS_MIN);
    return WEIR_OK;
}

/* -1: before its time, 1: after it. */
static int place_in_time(const X509 *x509, int64_t wall_us)
{
    time_t now = (time_t)(wall_us / WEIR_US_PER_S);
    if (X509_cmp_time(X509_get0_notBefore(x509), &now) > 0)
        return -1;
    return X509_cmp_time(X509_get0_notAfter(x509), &now) < 0;
}

static enum weir_status check_time(const X509 *x509, const char *what, int64_t wall_us,
                                   struct weir_error *err)
{
    int place = place_in_time(x509, wall_us);
    if (!place)
        return WEIR_OK;
    const ASN1_TIME *bound = place < 0 ? X509_get0_notBefore(x509) : X509_get0_notAfter(x509);
    struct tm tm = { 0 };
    char date[32] = "";
    if (ASN1_TIME_to_tm(bound, &tm))
        strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%SZ", &tm);
    return weir_fail(err, WEIR_E_INVALID, "the certificate in %s is %s %s", what,
                     place < 0 ? "not valid before" : "expired since", date);
}

static enum weir_status load(struct weir_certificate *certificate, const char *what,
                             struct weir_str pem, int64_t wall_us, struct weir_error *err)
{
    enum weir_status status = load_key(certificate, what, pem, err);
    if (status)
        return status;
    bool any = false;
    certificate->x509 = find_certificate(pem, certificate->key, &any);
    if (!any)
        return weir_fail(
            err, WEIR_E_INVALID,
            "%s holds no certificate; it must be PEM with a certificate and its RSA key", what);
    if (!certificate->x509)
        return weir_fail(err, WEIR_E_INVALID,
                         "the certificate and the private key in %s do not belong together", what);
    return check_time(certificate->x509, what, wall_us, err);
}

enum weir_status weir_certificate_init(struct weir_certificate *certificate, const char *what,
                                       struct weir_str pem, int64_t wall_us, struct weir_error *err)
{
    *certificate = (struct weir_certificate){ 0 };
    enum weir_status status = load(certificate, what, pem, wall_us, err);
    if (status)
        weir_certificate_release(certificate);
    ERR_clear_error();
    return status;
}

void weir_certificate_release(struct weir_certificate *certificate)
{
    X509_free(certificate->x509);
    EVP_PKEY_free(certificate->key);
    *certificate = (struct weir_certificate){ 0 };
}

/* --- assertions ------------------------------------------------------------------------------- */

/* A part of the JWT: the JSON text, encoded. Nothing in it is secret before it is signed. */
static void add_part(struct weir_buf *out, struct weir_buf *json)
{
    weir_base64url_add(out, weir_buf_text(json), json->len);
    out->overflow |= json->overflow;
    weir_buf_release(json);
}

static void add_header(struct weir_buf *out, const X509 *x509, bool pss)
{
    struct weir_buf json;
    uint8_t digest[EVP_MAX_MD_SIZE] = { 0 };
    unsigned len = 0;
    X509_digest(x509, pss ? EVP_sha256() : EVP_sha1(), digest, &len);
    weir_buf_init(&json, 1024);
    weir_buf_printf(&json, "{\"alg\":\"%s\",\"typ\":\"JWT\",\"%s\":\"", pss ? "PS256" : "RS256",
                    pss ? "x5t#S256" : "x5t");
    weir_base64url_add(&json, digest, len);
    weir_buf_add_text(&json, "\"}");
    add_part(out, &json);
}

/* Version 4: random but for the two places that say so. */
static void add_guid(struct weir_buf *out, const uint64_t chance[2])
{
    weir_buf_printf(out, "%08" PRIx64 "-%04" PRIx64 "-4%03" PRIx64 "-%04" PRIx64 "-%012" PRIx64,
                    chance[0] >> 32, chance[0] >> 16 & 0xffff, chance[0] & 0xfff,
                    (chance[1] >> 48 & 0x3fff) | 0x8000, chance[1] & 0xffffffffffff);
}

static void add_claims(struct weir_buf *out, const struct weir_assertion_ask *ask)
{
    struct weir_buf json;
    int64_t now_s = ask->wall_us / WEIR_US_PER_S;
    weir_buf_init(&json, WEIR_ASSERTION_BYTES_MAX / 2);
    weir_buf_add_text(&json, "{\"aud\":");
    weir_buf_add_json_string(&json, weir_str_from(ask->audience));
    weir_buf_add_text(&json, ",\"iss\":");
    weir_buf_add_json_string(&json, weir_str_from(ask->client_id));
    weir_buf_add_text(&json, ",\"sub\":");
    weir_buf_add_json_string(&json, weir_str_from(ask->client_id));
    weir_buf_add_text(&json, ",\"jti\":\"");
    add_guid(&json, ask->chance);
    weir_buf_printf(&json, "\",\"nbf\":%" PRId64 ",\"iat\":%" PRId64 ",\"exp\":%" PRId64 "}", now_s,
                    now_s, now_s + WEIR_ASSERTION_LIFE_S);
    add_part(out, &json);
}

static bool sign(EVP_MD_CTX *context, EVP_PKEY *key, bool pss, struct weir_buf *text)
{
    uint8_t signature[SIGNATURE_BYTES_MAX];
    size_t len = sizeof(signature);
    EVP_PKEY_CTX *parameters;
    if (EVP_DigestSignInit(context, &parameters, EVP_sha256(), NULL, key) <= 0)
        return false;
    if (pss && (EVP_PKEY_CTX_set_rsa_padding(parameters, RSA_PKCS1_PSS_PADDING) <= 0 ||
                EVP_PKEY_CTX_set_rsa_pss_saltlen(parameters, RSA_PSS_SALTLEN_DIGEST) <= 0))
        return false;
    if (EVP_DigestSign(context, signature, &len, (const uint8_t *)text->ptr, text->len) <= 0)
        return false;
    weir_buf_add_char(text, '.');
    weir_base64url_add(text, signature, len);
    return true;
}

enum weir_status weir_assertion_make(const struct weir_certificate *certificate,
                                     const struct weir_assertion_ask *ask, struct weir_secret *ret,
                                     struct weir_error *err)
{
    bool pss = !ask->algorithm ||
               weir_str_equal_nocase(weir_str_from(ask->algorithm), weir_str_from("PS256"));
    struct weir_buf text;
    weir_secret_buf_init(&text, WEIR_ASSERTION_BYTES_MAX);
    add_header(&text, certificate->x509, pss);
    weir_buf_add_char(&text, '.');
    add_claims(&text, ask);

    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool made = context && sign(context, certificate->key, pss, &text) && !text.overflow;
    EVP_MD_CTX_free(context);
    ERR_clear_error();
    if (made)
        weir_secret_set(ret, weir_str(text.ptr, text.len));
    weir_secret_buf_release(&text);
    return made ? WEIR_OK
                : weir_fail(err, WEIR_E_INVALID,
                            "the private key cannot sign an assertion of this length");
}
