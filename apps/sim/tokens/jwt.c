/* SPDX-License-Identifier: MIT */
/* Splitting, decoding and verifying a JSON Web Token; see jwt.h. */
#include "sim/tokens/jwt.h"

#include <openssl/err.h>
#include <openssl/rsa.h>

#include "base/error.h"
#include "base/mem.h"
#include "sim/tokens/base64url.h"

#define PARTS 3

/* Exactly three parts between dots. */
static bool split(struct weir_str text, struct weir_str parts[PARTS])
{
    for (int i = 0; i < PARTS; i++) {
        const char *dot = text.len ? memchr(text.ptr, '.', text.len) : NULL;
        if (!dot != (i == PARTS - 1))
            return false;
        parts[i] = dot ? weir_str(text.ptr, (size_t)(dot - text.ptr)) : text;
        if (dot)
            text = weir_str(dot + 1, text.len - parts[i].len - 1);
    }
    return true;
}

static enum weir_status parse_object(struct weir_str text, struct weir_json **ret,
                                     struct weir_error *err)
{
    enum weir_status status = weir_json_parse(text, ret, err);
    if (status == WEIR_OK && weir_json_root(*ret)->type != WEIR_JSON_OBJECT)
        return weir_fail(err, WEIR_E_INVALID, "a part of the token is no object");
    return status;
}

enum weir_status sim_jwt_parse(struct sim_jwt *jwt, struct weir_str text, struct weir_error *err)
{
    *jwt = (struct sim_jwt){ 0 };
    if (text.len > SIM_JWT_BYTES_MAX)
        return weir_fail(err, WEIR_E_TOO_BIG, "the token is longer than %zu bytes",
                         SIM_JWT_BYTES_MAX);
    struct weir_str parts[PARTS];
    if (!split(text, parts))
        return weir_fail(err, WEIR_E_INVALID, "the token is not three parts");

    jwt->signed_part = weir_str(text.ptr, parts[0].len + 1 + parts[1].len);
    jwt->memory = weir_calloc(text.len + 1, 1);
    struct weir_str decoded[PARTS];
    size_t used = 0;
    for (int i = 0; i < PARTS; i++) {
        size_t len;
        if (!sim_base64url_decode(parts[i], jwt->memory + used, text.len - used, &len))
            return weir_fail(err, WEIR_E_INVALID, "part %d of the token is not base64url", i + 1);
        decoded[i] = weir_str((const char *)jwt->memory + used, len);
        used += len;
    }
    jwt->signature = decoded[2];
    enum weir_status status = parse_object(decoded[0], &jwt->header, err);
    return status == WEIR_OK ? parse_object(decoded[1], &jwt->claims, err) : status;
}

void sim_jwt_release(struct sim_jwt *jwt)
{
    weir_json_free(jwt->header);
    weir_json_free(jwt->claims);
    free(jwt->memory);
    *jwt = (struct sim_jwt){ 0 };
}

static struct weir_str member_text(const struct weir_json *json, const char *name)
{
    const struct weir_json_node *node = weir_json_find(weir_json_root(json), name);
    return node && node->type == WEIR_JSON_STRING ? node->text : weir_str(NULL, 0);
}

struct weir_str sim_jwt_header_text(const struct sim_jwt *jwt, const char *name)
{
    return member_text(jwt->header, name);
}

struct weir_str sim_jwt_claim_text(const struct sim_jwt *jwt, const char *name)
{
    return member_text(jwt->claims, name);
}

bool sim_jwt_claim_number(const struct sim_jwt *jwt, const char *name, int64_t *ret)
{
    const struct weir_json_node *node = weir_json_find(weir_json_root(jwt->claims), name);
    return node && node->type == WEIR_JSON_NUMBER && weir_str_to_int64(node->text, ret);
}

/* PS256 is RSASSA-PSS with a salt as long as the hash (RFC 7518, 3.5). */
static bool set_padding(EVP_PKEY_CTX *context, bool pss)
{
    if (!pss)
        return EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) > 0;
    return EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) > 0 &&
           EVP_PKEY_CTX_set_rsa_pss_saltlen(context, RSA_PSS_SALTLEN_DIGEST) > 0 &&
           EVP_PKEY_CTX_set_rsa_mgf1_md(context, EVP_sha256()) > 0;
}

bool sim_jwt_signed_by(const struct sim_jwt *jwt, EVP_PKEY *key)
{
    struct weir_str algorithm = sim_jwt_header_text(jwt, "alg");
    bool pss = weir_str_equal(algorithm, weir_str_from("PS256"));
    if (!pss && !weir_str_equal(algorithm, weir_str_from("RS256")))
        return false;

    EVP_MD_CTX *digest = EVP_MD_CTX_new();
    EVP_PKEY_CTX *context;
    bool good = digest && EVP_DigestVerifyInit(digest, &context, EVP_sha256(), NULL, key) > 0 &&
                set_padding(context, pss) &&
                EVP_DigestVerify(digest, (const uint8_t *)jwt->signature.ptr, jwt->signature.len,
                                 (const uint8_t *)jwt->signed_part.ptr, jwt->signed_part.len) == 1;
    EVP_MD_CTX_free(digest);
    ERR_clear_error();
    return good;
}
