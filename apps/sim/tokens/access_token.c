/* SPDX-License-Identifier: MIT */
/*
 * Making and reading access tokens; see access_token.h. Reading happens on every request, so it
 * neither allocates nor parses JSON: once the signature has shown that the text is our own, `exp`
 * and `appid` stand where they were put, at its beginning.
 */
#include "sim/tokens/access_token.h"

#include <inttypes.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "sim/tokens/base64url.h"

#define MAC_BYTES     32
#define CLIENT_ID_MAX 64
#define TEXT_BYTES    ((size_t)2048) /* of the claims */

static const char header[] = "{\"typ\":\"JWT\",\"alg\":\"HS256\",\"kid\":\"weir-sim\"}";

static bool mac(const uint8_t *key, const void *text, size_t len, uint8_t out[MAC_BYTES])
{
    unsigned bytes = 0;
    return HMAC(EVP_sha256(), key, SIM_ACCESS_TOKEN_KEY_BYTES, text, len, out, &bytes) &&
           bytes == MAC_BYTES;
}

void sim_access_token_key_init(struct sim_access_token_key *key, uint64_t seed)
{
    static const char purpose[] = "weir-sim access token";
    uint8_t base[SIM_ACCESS_TOKEN_KEY_BYTES] = { 0 };
    for (int i = 0; i < 8; i++)
        base[i] = (uint8_t)(seed >> (8 * i));
    if (!mac(base, purpose, sizeof purpose - 1, key->bytes))
        memcpy(key->bytes, base, sizeof key->bytes);
}

static void add_claims(struct weir_buf *out, const struct sim_access_token *token)
{
    weir_buf_printf(out, "{\"exp\":%" PRId64 ",\"appid\":\"%.*s\",\"aud\":", token->expires_s,
                    (int)token->client_id.len, token->client_id.ptr);
    weir_buf_add_json_string(out, weir_str_from(token->audience));
    weir_buf_printf(out,
                    ",\"iss\":\"https://sts.windows.net/%s/\",\"iat\":%" PRId64 ",\"nbf\":%" PRId64
                    ",\"appidacr\":\"1\",\"idtyp\":\"app\",\"oid\":\"%.*s\",\"tid\":\"%s\""
                    ",\"uti\":\"%016" PRIx64 "\",\"ver\":\"1.0\"}",
                    token->tenant_id, token->issued_s, token->issued_s, (int)token->client_id.len,
                    token->client_id.ptr, token->tenant_id, token->serial);
}

void sim_access_token_add(struct weir_buf *out, const struct sim_access_token_key *key,
                          const struct sim_access_token *token)
{
    struct weir_buf claims;
    struct weir_buf text;
    weir_buf_init(&claims, TEXT_BYTES);
    weir_buf_init(&text, SIM_ACCESS_TOKEN_BYTES_MAX);
    add_claims(&claims, token);
    sim_base64url_add(&text, header, sizeof header - 1);
    weir_buf_add_char(&text, '.');
    sim_base64url_add(&text, weir_buf_text(&claims), claims.len);

    uint8_t signature[MAC_BYTES];
    if (mac(key->bytes, weir_buf_text(&text), text.len, signature)) {
        weir_buf_add_char(&text, '.');
        sim_base64url_add(&text, signature, sizeof signature);
    }
    weir_buf_add(out, weir_buf_text(&text), text.len);
    weir_buf_release(&text);
    weir_buf_release(&claims);
}

/* The claims, still encoded, of a text that the key has signed; ptr NULL: it did not. */
static struct weir_str signed_claims(const struct sim_access_token_key *key, struct weir_str text)
{
    const char *last = text.len ? memrchr(text.ptr, '.', text.len) : NULL;
    if (!last)
        return weir_str(NULL, 0);
    size_t head = (size_t)(last - text.ptr);
    uint8_t given[MAC_BYTES];
    uint8_t expected[MAC_BYTES];
    size_t len;
    if (!sim_base64url_decode(weir_str(last + 1, text.len - head - 1), given, MAC_BYTES, &len) ||
        len != MAC_BYTES || !mac(key->bytes, text.ptr, head, expected) ||
        CRYPTO_memcmp(given, expected, MAC_BYTES) != 0)
        return weir_str(NULL, 0);
    const char *first = memchr(text.ptr, '.', head);
    return first ? weir_str(first + 1, (size_t)(last - first) - 1) : weir_str(NULL, 0);
}

/* Take `prefix` and what follows it up to `end` off the front. */
static bool take(struct weir_str *text, const char *prefix, char end, struct weir_str *ret)
{
    size_t skip = strlen(prefix);
    if (text->len < skip || memcmp(text->ptr, prefix, skip) != 0)
        return false;
    const char *stop = memchr(text->ptr + skip, end, text->len - skip);
    if (!stop)
        return false;
    *ret = weir_str(text->ptr + skip, (size_t)(stop - text->ptr) - skip);
    *text = weir_str(stop, text->len - skip - ret->len);
    return true;
}

bool sim_access_token_read(const struct sim_access_token_key *key, struct weir_str text,
                           uint8_t memory[SIM_ACCESS_TOKEN_BYTES_MAX], struct sim_access_token *ret)
{
    if (text.len > SIM_ACCESS_TOKEN_BYTES_MAX)
        return false;
    struct weir_str encoded = signed_claims(key, text);
    size_t len;
    if (!encoded.ptr || !sim_base64url_decode(encoded, memory, SIM_ACCESS_TOKEN_BYTES_MAX, &len))
        return false;
    struct weir_str claims = weir_str((const char *)memory, len);
    struct weir_str expires;
    struct weir_str client_id;
    int64_t expires_s;
    if (!take(&claims, "{\"exp\":", ',', &expires) || !weir_str_to_int64(expires, &expires_s) ||
        !take(&claims, ",\"appid\":\"", '"', &client_id) || client_id.len > CLIENT_ID_MAX)
        return false;
    *ret = (struct sim_access_token){ .client_id = client_id, .expires_s = expires_s };
    return true;
}
