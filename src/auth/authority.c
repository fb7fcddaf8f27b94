/* SPDX-License-Identifier: MIT */
/* Where tokens come from; see authority.h. */
#include "auth/authority.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/quote.h"
#include "config/url.h"

#define HOSTS_MAX 4

static const struct cloud {
    const char *name;
    const char *hosts[HOSTS_MAX]; /* the one that is asked first, then its other names */
} clouds[] = {
    { "Public",
      { "login.microsoftonline.com", "login.windows.net", "login.microsoft.com",
        "sts.windows.net" } },
    { "UsGov",
      { "login.microsoftonline.com", "login.windows.net", "login.microsoft.com",
        "sts.windows.net" } },
    { "UsGovHigh", { "login.microsoftonline.us", "login.usgovcloudapi.net" } },
    { "UsGovDod", { "login.microsoftonline.us", "login.usgovcloudapi.net" } },
    { "China", { "login.partner.microsoftonline.cn", "login.chinacloudapi.cn" } },
};

static const struct cloud *find_cloud(const char *name)
{
    struct weir_str wanted = weir_str_from(name ? name : "Public");
    for (size_t i = 0; i < sizeof(clouds) / sizeof(clouds[0]); i++) {
        if (weir_str_equal_nocase(wanted, weir_str_from(clouds[i].name)))
            return &clouds[i];
    }
    return NULL;
}

static struct weir_str without_slash(struct weir_str url)
{
    return weir_str(url.ptr, url.len - (url.len && url.ptr[url.len - 1] == '/'));
}

enum weir_status weir_authority_origin(const struct weir_options *options, char **ret,
                                       struct weir_error *err)
{
    struct weir_buf origin;
    weir_buf_init(&origin, WEIR_CONFIG_TEXT_MAX);
    if (options->authority) {
        struct weir_str authority = weir_str_from(options->authority);
        const char *problem = weir_url_problem(authority);
        if (problem)
            return weir_fail(err, WEIR_E_INVALID,
                             "\"Dataverse:Authority\" is %s%s; it must be " WEIR_URL_RIGHT
                             ", the tenant being \"Dataverse:TenantId\"",
                             weir_quote(authority).text, problem);
        authority = without_slash(authority);
        weir_buf_add(&origin, authority.ptr, authority.len);
    } else {
        const struct cloud *cloud = find_cloud(options->cloud);
        if (!cloud)
            return weir_fail(err, WEIR_E_INVALID,
                             "\"Dataverse:Cloud\" is %s; it must be Public, UsGov, UsGovHigh, "
                             "UsGovDod or China",
                             weir_quote(weir_str_from(options->cloud)).text);
        weir_buf_printf(&origin, "https://%s", cloud->hosts[0]);
    }
    *ret = weir_buf_take(&origin);
    return WEIR_OK;
}

bool weir_authority_knows(const struct weir_options *options, struct weir_str origin)
{
    struct weir_str authority = without_slash(weir_str_from(options->authority));
    if (authority.len && weir_str_equal_nocase(origin, authority))
        return true;
    const struct cloud *cloud = find_cloud(options->cloud);
    if (!cloud || !weir_str_starts_nocase(origin, "https://"))
        return false;
    struct weir_str host = weir_str(origin.ptr + 8, origin.len - 8);
    for (size_t i = 0; i < HOSTS_MAX && cloud->hosts[i]; i++) {
        if (weir_str_equal_nocase(host, weir_str_from(cloud->hosts[i])))
            return true;
    }
    return false;
}

static bool is_tenant_char(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '.';
}

bool weir_tenant_ok(struct weir_str tenant)
{
    static const char *const nobody[] = { "common", "organizations", "consumers" };
    for (size_t i = 0; i < sizeof(nobody) / sizeof(nobody[0]); i++) {
        if (weir_str_equal_nocase(tenant, weir_str_from(nobody[i])))
            return false;
    }
    for (size_t i = 0; i < tenant.len; i++) {
        bool dots = tenant.ptr[i] == '.' && (i == 0 || tenant.ptr[i - 1] == '.');
        if (dots || !is_tenant_char(tenant.ptr[i]))
            return false;
    }
    return tenant.len && tenant.len <= WEIR_TENANT_BYTES_MAX;
}

void weir_authority_add_target(struct weir_buf *out, const char *tenant)
{
    weir_buf_printf(out, "/%s/oauth2/v2.0/token", tenant);
}

void weir_authority_add_scope(struct weir_buf *out, const struct weir_options *options)
{
    if (options->scope) {
        weir_buf_add_text(out, options->scope);
        return;
    }
    struct weir_str url = without_slash(weir_str_from(options->url));
    weir_buf_add(out, url.ptr, url.len);
    weir_buf_add_text(out, "/.default");
}
