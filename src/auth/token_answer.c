/* SPDX-License-Identifier: MIT */
/* Reading tokens; see token_answer.h. */
#include "auth/token_answer.h"

#include "base/base64url.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/moment.h"

#define LIFE_UNKNOWN_US WEIR_US_PER_HOUR

void weir_token_grant_release(struct weir_token_grant *grant)
{
    weir_secret_release(&grant->text);
}

/* The parser keeps copies of all strings; they are its own memory, so they can be wiped. */
static void wipe(const struct weir_json_node *node)
{
    for (; node; node = node->next) {
        if (node->type == WEIR_JSON_STRING)
            explicit_bzero((char *)(uintptr_t)node->text.ptr, node->text.len);
        wipe(node->first);
    }
}

static void free_wiped(struct weir_json *json)
{
    if (json)
        wipe(weir_json_root(json)->first);
    weir_json_free(json);
}

/* --- how long ------------------------------------------------------------------------------------
 */

static int64_t seconds_to_us(int64_t seconds)
{
    int64_t most_s = WEIR_TOKEN_LIFE_MAX_US / WEIR_US_PER_S;
    return (seconds > most_s ? most_s : seconds < 0 ? 0 : seconds) * WEIR_US_PER_S;
}

/* From a moment by the wall clock to a span; 0: it has come already. */
static int64_t until_us(int64_t moment_s, int64_t wall_us)
{
    int64_t wall_s = wall_us / WEIR_US_PER_S;
    return moment_s <= wall_s ? 0 : seconds_to_us(moment_s - wall_s);
}

/* Digits, as a number or as a text; a fraction is dropped. */
static bool to_seconds(const struct weir_json_node *node, int64_t *ret)
{
    if (!node || (node->type != WEIR_JSON_NUMBER && node->type != WEIR_JSON_STRING))
        return false;
    struct weir_str text = weir_str_trim(node->text);
    const char *point = text.len ? memchr(text.ptr, '.', text.len) : NULL;
    if (point)
        text.len = (size_t)(point - text.ptr);
    return weir_str_to_int64(text, ret);
}

static bool to_moment(const struct weir_json_node *node, int64_t *ret_s)
{
    if (!node)
        return false;
    return to_seconds(node, ret_s) ||
           (node->type == WEIR_JSON_STRING && weir_moment_parse(node->text, ret_s));
}

bool weir_token_expiry(struct weir_str token, int64_t *ret_s)
{
    const char *first = token.len ? memchr(token.ptr, '.', token.len) : NULL;
    const char *last = first ? memrchr(token.ptr, '.', token.len) : NULL;
    if (!first || first == last)
        return false;
    struct weir_buf claims;
    struct weir_json *json = NULL;
    weir_secret_buf_init(&claims, WEIR_TOKEN_BYTES_MAX);
    bool found = weir_base64url_decode(&claims, weir_str(first + 1, (size_t)(last - first) - 1)) &&
                 !claims.overflow &&
                 weir_json_parse(weir_str(claims.ptr, claims.len), &json, NULL) == WEIR_OK &&
                 to_seconds(weir_json_find(weir_json_root(json), "exp"), ret_s);
    free_wiped(json);
    weir_secret_buf_release(&claims);
    return found;
}

static int64_t life_of(const struct weir_json_node *root, struct weir_str token, int64_t wall_us)
{
    int64_t seconds;
    if (to_seconds(weir_json_find(root, "expires_in"), &seconds))
        return seconds_to_us(seconds);
    if (to_moment(weir_json_find(root, "expires_on"), &seconds) ||
        to_moment(weir_json_find(root, "expiresOn"), &seconds) ||
        weir_token_expiry(token, &seconds))
        return until_us(seconds, wall_us);
    return LIFE_UNKNOWN_US;
}

/* --- what ----------------------------------------------------------------------------------------
 */

static bool is_token(struct weir_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] <= ' ' || text.ptr[i] > '~')
            return false;
    }
    return text.len && text.len <= WEIR_TOKEN_BYTES_MAX;
}

/* `root` NULL: the token stands by itself. */
static enum weir_status grant(struct weir_str token, const struct weir_json_node *root,
                              int64_t wall_us, struct weir_token_grant *ret, struct weir_error *err)
{
    int64_t refresh_s;
    if (!is_token(token))
        return weir_fail(err, WEIR_E_INVALID,
                         "the access token is empty, longer than %d bytes, or not printable ASCII "
                         "without blanks",
                         WEIR_TOKEN_BYTES_MAX);
    int64_t life_us = life_of(root, token, wall_us);
    if (!life_us)
        return weir_fail(err, WEIR_E_INVALID, "the access token has expired already");
    *ret = (struct weir_token_grant){ .life_us = life_us, .refresh_us = -1 };
    if (to_seconds(weir_json_find(root, "refresh_in"), &refresh_s) && refresh_s > 0)
        ret->refresh_us = seconds_to_us(refresh_s);
    weir_secret_set(&ret->text, token);
    return WEIR_OK;
}

static const struct weir_json_node *either(const struct weir_json_node *root, const char *name,
                                           const char *other)
{
    const struct weir_json_node *node = weir_json_find(root, name);
    return node ? node : weir_json_find(root, other);
}

static enum weir_status read_root(const struct weir_json_node *root, int64_t wall_us,
                                  struct weir_token_grant *ret, struct weir_error *err)
{
    const struct weir_json_node *token = either(root, "access_token", "accessToken");
    const struct weir_json_node *type = either(root, "token_type", "tokenType");
    if (!token || token->type != WEIR_JSON_STRING)
        return weir_fail(err, WEIR_E_INVALID, "there is no access token in it");
    if (type && !weir_str_equal_nocase(type->text, weir_str_from("Bearer")))
        return weir_fail(err, WEIR_E_INVALID, "its token is not of the type Bearer");
    return grant(token->text, root, wall_us, ret, err);
}

enum weir_status weir_token_answer_read(struct weir_str body, int64_t wall_us,
                                        struct weir_token_grant *ret, struct weir_error *err)
{
    struct weir_json *json = NULL;
    if (body.len > WEIR_TOKEN_ANSWER_BYTES_MAX)
        return weir_fail(err, WEIR_E_TOO_BIG, "it is longer than %d bytes",
                         WEIR_TOKEN_ANSWER_BYTES_MAX);
    if (weir_json_parse(body, &json, NULL) != WEIR_OK)
        return weir_fail(err, WEIR_E_INVALID, "it is not JSON");
    enum weir_status status = read_root(weir_json_root(json), wall_us, ret, err);
    free_wiped(json);
    return status;
}

enum weir_status weir_token_text_read(struct weir_str text, int64_t wall_us,
                                      struct weir_token_grant *ret, struct weir_error *err)
{
    text = weir_str_trim(text);
    if (text.len && text.ptr[0] == '{')
        return weir_token_answer_read(text, wall_us, ret, err);
    return grant(text, NULL, wall_us, ret, err);
}
