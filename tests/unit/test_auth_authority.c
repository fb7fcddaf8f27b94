/* SPDX-License-Identifier: MIT */
/* Login services of the clouds, tenants, and what a challenge may make us believe. */
#include <stdio.h>

#include "auth/authority.h"
#include "auth/challenge.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/rng.h"
#include "support/suite.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define PUBLIC_URI   "https://login.microsoftonline.com/contoso.com/oauth2/authorize"

/* --- authorities ------------------------------------------------------------------------------ */

START_TEST(each_cloud_logs_in_at_its_own_host)
{
    static const struct {
        const char *cloud;
        const char *origin;
    } rows[] = {
        { NULL, "https://login.microsoftonline.com" },
        { "Public", "https://login.microsoftonline.com" },
        { "UsGov", "https://login.microsoftonline.com" },
        { "UsGovHigh", "https://login.microsoftonline.us" },
        { "UsGovDod", "https://login.microsoftonline.us" },
        { "China", "https://login.partner.microsoftonline.cn" },
        { "china", "https://login.partner.microsoftonline.cn" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct weir_options options = { .cloud = rows[i].cloud };
        char *origin = NULL;
        ck_assert_int_eq(weir_authority_origin(&options, &origin, NULL), WEIR_OK);
        ck_assert_str_eq(origin, rows[i].origin);
        ck_assert(weir_authority_knows(&options, weir_str_from(origin)));
        free(origin);
    }
    struct weir_options moon = { .cloud = "Moon" };
    struct weir_error err;
    char *origin;
    ck_assert_int_eq(weir_authority_origin(&moon, &origin, &err), WEIR_E_INVALID);
    ck_assert_ptr_nonnull(strstr(err.message, "\"Moon\""));
}
END_TEST

START_TEST(an_authority_is_encrypted_or_on_this_machine)
{
    static const struct {
        const char *authority;
        const char *origin; /* NULL: refused */
    } rows[] = {
        { "https://login.example.com", "https://login.example.com" },
        { "https://login.example.com/", "https://login.example.com" },
        { "https://login.example.com:8443", "https://login.example.com:8443" },
        { "http://127.0.0.1:8080/", "http://127.0.0.1:8080" },
        { "http://localhost:1", "http://localhost:1" },
        { "http://login.example.com", NULL },
        { "https://login.example.com/contoso", NULL },
        { "https://user@login.example.com", NULL },
        { "login.example.com", NULL },
        { "", NULL },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct weir_options options = { .authority = rows[i].authority };
        struct weir_error err;
        char *origin = NULL;
        enum weir_status status = weir_authority_origin(&options, &origin, &err);
        ck_assert_msg(status == (rows[i].origin ? WEIR_OK : WEIR_E_INVALID), "%s",
                      rows[i].authority);
        if (rows[i].origin)
            ck_assert_str_eq(origin, rows[i].origin);
        else
            ck_assert_ptr_nonnull(strstr(err.message, "Dataverse:Authority"));
        free(origin);
    }
}
END_TEST

START_TEST(no_cloud_knows_the_hosts_of_another)
{
    static const char *const hosts[][4] = {
        { "login.microsoftonline.com", "login.windows.net", "login.microsoft.com",
          "sts.windows.net" },
        { "login.microsoftonline.us", "login.usgovcloudapi.net" },
        { "login.partner.microsoftonline.cn", "login.chinacloudapi.cn" },
    };
    static const struct {
        const char *cloud;
        size_t hosts;
    } clouds[] = {
        { "Public", 0 }, { "UsGov", 0 }, { "UsGovHigh", 1 }, { "UsGovDod", 1 }, { "China", 2 }
    };
    static const char *const forms[] = { "https://%s",      "http://%s",      "https://%s.evil.com",
                                         "https://evil-%s", "https://%s:444", "%s" };
    for (size_t c = 0; c < COUNT(clouds); c++) {
        struct weir_options options = { .cloud = clouds[c].cloud };
        for (size_t h = 0; h < COUNT(hosts) * 4; h++) {
            const char *host = hosts[h / 4][h % 4];
            for (size_t f = 0; host && f < COUNT(forms); f++) {
                char origin[128];
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
                snprintf(origin, sizeof(origin), forms[f], host);
                bool right = f == 0 && h / 4 == clouds[c].hosts;
                must(weir_authority_knows(&options, weir_str_from(origin)) == right);
            }
        }
    }
}
END_TEST

START_TEST(a_tenant_is_one_segment_and_one_tenant)
{
    char longest[WEIR_TENANT_BYTES_MAX + 2];
    memset(longest, 'a', sizeof(longest));
    ck_assert(weir_tenant_ok(weir_str(longest, WEIR_TENANT_BYTES_MAX)));
    ck_assert(!weir_tenant_ok(weir_str(longest, WEIR_TENANT_BYTES_MAX + 1)));
    static const char *const good[] = { "contoso", "contoso.onmicrosoft.com",
                                        "c0470500-0000-4000-8000-000000000001", "A-1.b" };
    static const char *const bad[] = { "",      "common", "Organizations", "consumers", ".",
                                       "..",    ".a",     "a..b",          "a/b",       "a%2fb",
                                       "a b",   "a?b",    "a#b",           "a\\b",      "a_b",
                                       "a\r\n", "cönt",   "a@b",           "a:b" };
    for (size_t i = 0; i < COUNT(good); i++)
        ck_assert_msg(weir_tenant_ok(weir_str_from(good[i])), "%s", good[i]);
    for (size_t i = 0; i < COUNT(bad); i++)
        ck_assert_msg(!weir_tenant_ok(weir_str_from(bad[i])), "%s", bad[i]);
}
END_TEST

START_TEST(target_and_scope)
{
    static const struct {
        const char *url;
        const char *scope;
        const char *expected;
    } rows[] = {
        { "https://contoso.crm.dynamics.com", NULL, "https://contoso.crm.dynamics.com/.default" },
        { "https://contoso.crm.dynamics.com/", NULL, "https://contoso.crm.dynamics.com/.default" },
        { "https://contoso.crm.dynamics.com", "api://x/.default", "api://x/.default" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct weir_options options = { .url = rows[i].url, .scope = rows[i].scope };
        struct weir_buf out;
        weir_buf_init(&out, 256);
        weir_authority_add_scope(&out, &options);
        ck_assert_str_eq(weir_buf_text(&out), rows[i].expected);
        weir_buf_reset(&out);
        weir_authority_add_target(&out, "contoso");
        ck_assert_str_eq(weir_buf_text(&out), "/contoso/oauth2/v2.0/token");
        weir_buf_release(&out);
    }
}
END_TEST

/* --- challenges ------------------------------------------------------------------------------- */

static enum weir_status tenant_of(const char *value, const struct weir_options *options, char **ret,
                                  struct weir_error *err)
{
    const struct weir_http_header headers[] = {
        { "Date", "Sun, 06 Nov 1994 08:49:37 GMT" },
        { "www-authenticate", value },
    };
    return weir_challenge_tenant(headers, COUNT(headers), options, ret, err);
}

START_TEST(a_tenant_is_read_off_every_form_of_challenge)
{
    static const char *const rows[] = {
        "Bearer authorization_uri=" PUBLIC_URI ", resource_id=https://contoso.crm.dynamics.com/",
        "Bearer authorization_uri=\"" PUBLIC_URI "\", resource_id=\"https://x/\"",
        "bearer AUTHORIZATION_URI = \"" PUBLIC_URI "\"",
        "Bearer resource_id=https://x/,authorization_uri=" PUBLIC_URI,
        "Negotiate, Bearer authorization_uri=" PUBLIC_URI,
        "Basic realm=\"a, b\", charset=UTF-8, Bearer realm=\"\", authorization_uri=" PUBLIC_URI,
        "Bearer, authorization_uri=" PUBLIC_URI,
        "Digest authorization_uri=https://evil.com/t/, Bearer authorization_uri=" PUBLIC_URI,
        "Bearer authorization_uri=https://LOGIN.microsoftonline.com/contoso.com",
        "Bearer authorization_uri=https://login.windows.net/contoso.com?x=y",
    };
    struct weir_options options = { .cloud = "Public" };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *tenant = NULL;
        struct weir_error err = { 0 };
        enum weir_status status = tenant_of(rows[i], &options, &tenant, &err);
        ck_assert_msg(status == WEIR_OK, "row %zu: %s", i, err.message);
        ck_assert_str_eq(tenant, "contoso.com");
        free(tenant);
    }
}
END_TEST

START_TEST(a_hostile_challenge_is_refused_and_named)
{
    static const struct {
        const char *value;
        const char *named;
    } rows[] = {
        { "Bearer authorization_uri=https://evil.com/contoso/oauth2/authorize",
          "https://evil.com" },
        { "Bearer authorization_uri=https://login.microsoftonline.com.evil.com/t/", "evil.com" },
        { "Bearer authorization_uri=https://login.microsoftonline.com@evil.com/t/", "@evil.com" },
        { "Bearer authorization_uri=http://login.microsoftonline.com/t/", "http://login" },
        { "Bearer authorization_uri=https://login.microsoftonline.com:444/t/", ":444" },
        { "Bearer authorization_uri=https://login.microsoftonline.us/t/", "online.us" },
        { "Bearer authorization_uri=https://login.microsoftonline.com/common/oauth2",
          "\"common\"" },
        { "Bearer authorization_uri=https://login.microsoftonline.com/", "tenant \"\"" },
        { "Bearer authorization_uri=https://login.microsoftonline.com", "tenant \"\"" },
        { "Bearer authorization_uri=https://login.microsoftonline.com/a%2f..%2fb/x", "a%2f" },
        { "Bearer authorization_uri=ftp://x/t", "ftp" },
        { "Bearer authorization_uri=contoso", "contoso" },
        { "Bearer authorization_uri=https:///t", "https" },
    };
    struct weir_options options = { .cloud = "Public" };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *tenant = NULL;
        struct weir_error err = { 0 };
        enum weir_status status = tenant_of(rows[i].value, &options, &tenant, &err);
        ck_assert_msg(status == WEIR_E_REFUSED && !tenant, "row %zu", i);
        ck_assert_msg(strstr(err.message, rows[i].named), "row %zu: %s", i, err.message);
    }
}
END_TEST

START_TEST(no_challenge_is_no_tenant)
{
    static const char *const rows[] = {
        "",
        "Bearer",
        "Negotiate",
        "Bearer realm=x",
        "authorization_uri=" PUBLIC_URI,
        "Basic authorization_uri=" PUBLIC_URI,
        "Bearer authorization_uri=",
        "Bearer =x",
        "Bearer authorization_uri=\"https://login.microsoftonline.com/a b\"",
        "Bearer authorization_uri=\"" PUBLIC_URI,
        ",,,",
        "\"",
        "Bearer x=\", authorization_uri=y",
    };
    struct weir_options options = { .cloud = "Public" };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *tenant = NULL;
        struct weir_error err = { 0 };
        enum weir_status status = tenant_of(rows[i], &options, &tenant, &err);
        ck_assert_msg(status == WEIR_E_NOT_FOUND && !tenant, "row %zu: %s", i, rows[i]);
        ck_assert_ptr_nonnull(strstr(err.message, "TenantId"));
    }
    char *long_one = weir_calloc(1, WEIR_CHALLENGE_BYTES_MAX + 2);
    int len =
        snprintf(long_one, WEIR_CHALLENGE_BYTES_MAX, "Bearer authorization_uri=%s, x=", PUBLIC_URI);
    memset(long_one + len, 'x', WEIR_CHALLENGE_BYTES_MAX - (size_t)len);
    char *tenant = NULL;
    ck_assert_int_eq(tenant_of(long_one, &options, &tenant, NULL), WEIR_OK);
    free(tenant);
    long_one[WEIR_CHALLENGE_BYTES_MAX] = 'x';
    ck_assert_int_eq(tenant_of(long_one, &options, &tenant, NULL), WEIR_E_NOT_FOUND);
    free(long_one);
}
END_TEST

START_TEST(the_configured_authority_may_be_named_by_a_challenge)
{
    struct weir_options options = { .authority = "http://127.0.0.1:8080/" };
    char *tenant = NULL;
    ck_assert_int_eq(tenant_of("Bearer authorization_uri=http://127.0.0.1:8080/contoso/oauth2/"
                               "authorize, resource_id=http://127.0.0.1:8080/",
                               &options, &tenant, NULL),
                     WEIR_OK);
    ck_assert_str_eq(tenant, "contoso");
    free(tenant);
    ck_assert_int_eq(tenant_of("Bearer authorization_uri=http://127.0.0.1:8081/contoso/", &options,
                               &tenant, NULL),
                     WEIR_E_REFUSED);
}
END_TEST

/* Whatever comes: a tenant is given only together with a host of the list. */
START_TEST(no_garbled_challenge_gets_past_the_list)
{
    static const char *const pieces[] = {
        "Bearer ",  "authorization_uri",
        "=",        "\"",
        ",",        " ",
        "https://", "http://",
        "evil.com", "login.microsoftonline.com",
        "/",        "contoso",
        "?",        "#",
        "@",        ":443",
        "\\",       "%",
        "Basic ",   "..",
    };
    struct weir_rng rng;
    struct weir_options options = { .cloud = "Public" };
    weir_rng_init(&rng, 7, 0);
    int good = 0;
    for (int i = 0; i < 300000; i++) {
        char value[512] = "Bearer authorization_uri=https://login.microsoftonline.com/contoso";
        size_t len = weir_rng_below(&rng, 8) ? strlen(value) : weir_rng_below(&rng, strlen(value));
        len = len ? weir_rng_below(&rng, 2) ? len : strlen("Bearer authorization_uri=") : 0;
        for (uint64_t k = weir_rng_below(&rng, 9); k; k--)
            len += (size_t)snprintf(value + len, sizeof(value) - len, "%s",
                                    pieces[weir_rng_below(&rng, COUNT(pieces))]);
        value[len] = '\0';
        char *tenant = NULL;
        if (tenant_of(value, &options, &tenant, NULL) == WEIR_OK) {
            const char *host = strstr(value, "https://login.microsoftonline.com/");
            must(host && weir_tenant_ok(weir_str_from(tenant)));
            must(strncmp(host + strlen("https://login.microsoftonline.com/"), tenant,
                         strlen(tenant)) == 0);
            good++;
        }
        free(tenant);
    }
    ck_assert_int_gt(good, 1000);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("auth_authority");
    suite_add(&s, each_cloud_logs_in_at_its_own_host);
    suite_add(&s, an_authority_is_encrypted_or_on_this_machine);
    suite_add(&s, no_cloud_knows_the_hosts_of_another);
    suite_add(&s, a_tenant_is_one_segment_and_one_tenant);
    suite_add(&s, target_and_scope);
    suite_add(&s, a_tenant_is_read_off_every_form_of_challenge);
    suite_add(&s, a_hostile_challenge_is_refused_and_named);
    suite_add(&s, no_challenge_is_no_tenant);
    suite_add(&s, the_configured_authority_may_be_named_by_a_challenge);
    suite_add(&s, no_garbled_challenge_gets_past_the_list);
    return suite_run(&s);
}
