/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as what a login service answers: the body of a success, of a refusal, a bare token, the
 * value of a WWW-Authenticate header. It must not crash; a token can stand in a header and lives
 * for a while; a message never repeats a secret; a tenant is taken from hosts that we know only.
 */
#include <stdlib.h>

#include "auth/authority.h"
#include "auth/challenge.h"
#include "auth/token_answer.h"
#include "auth/token_refusal.h"
#include "base/limits.h"
#include "base/mem.h"

#define WALL_US INT64_C(1700000000000000)
#define SECRET  "canary-of-the-secret"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(bool truth)
{
    if (!truth)
        abort();
}

static void check_grant(struct weir_token_grant *grant)
{
    need(grant->text.len > 0 && grant->text.len <= WEIR_TOKEN_BYTES_MAX);
    for (size_t i = 0; i < grant->text.len; i++)
        need(grant->text.text[i] > ' ' && grant->text.text[i] <= '~');
    need(grant->life_us > 0 && grant->life_us <= WEIR_TOKEN_LIFE_MAX_US);
    need(grant->refresh_us >= -1);
    weir_token_grant_release(grant);
}

static void check_tokens(struct weir_str text)
{
    struct weir_token_grant grant;
    struct weir_error err = { .status = WEIR_OK };
    if (weir_token_answer_read(text, WALL_US, &grant, &err) == WEIR_OK)
        check_grant(&grant);
    else
        need(err.message[0] && !strstr(err.message, SECRET));
    err = (struct weir_error){ .status = WEIR_OK };
    if (weir_token_text_read(text, WALL_US, &grant, &err) == WEIR_OK)
        check_grant(&grant);
    else
        need(err.message[0] && !strstr(err.message, SECRET));
}

static void check_refusal(struct weir_str body)
{
    struct weir_token_refusal refusal;
    if (!weir_token_refusal_read(body, weir_str_from(SECRET), &refusal))
        return;
    need(strnlen(refusal.error, sizeof(refusal.error)) < sizeof(refusal.error));
    need(strnlen(refusal.words, sizeof(refusal.words)) < sizeof(refusal.words));
    need(strnlen(refusal.trace_id, sizeof(refusal.trace_id)) < sizeof(refusal.trace_id));
    need(!strstr(refusal.words, SECRET) && !strstr(refusal.error, SECRET));
    for (const char *c = refusal.words; *c; c++)
        need((unsigned char)*c >= ' ' && *c != 0x7f);
}

static void check_challenge(struct weir_str value)
{
    char *text = weir_strndup(value.ptr, value.len);
    struct weir_http_header header = { "WWW-Authenticate", text };
    struct weir_options options;
    struct weir_error err = { .status = WEIR_OK };
    char *tenant = NULL;
    weir_options_defaults(&options);
    enum weir_status status = weir_challenge_tenant(&header, 1, &options, &tenant, &err);
    need((status == WEIR_OK) == (tenant != NULL));
    if (tenant) {
        need(weir_tenant_ok(weir_str_from(tenant)));
        need(strcasestr(text, "login.microsoftonline.com") ||
             strcasestr(text, "login.windows.net") || strcasestr(text, "login.microsoft.com") ||
             strcasestr(text, "sts.windows.net"));
    }
    free(tenant);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* A copy of just this size, so that reading beyond its end is noticed. */
    char *bytes = weir_calloc(size ? size : 1, 1);
    memcpy(bytes, data ? (const void *)data : "", size);
    struct weir_str text = weir_str(bytes, size);
    check_tokens(text);
    check_refusal(text);
    check_challenge(text);
    free(bytes);
    return 0;
}
