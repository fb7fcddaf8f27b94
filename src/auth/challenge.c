/* SPDX-License-Identifier: MIT */
/*
 * Challenges; see challenge.h.
 *
 *     Negotiate, Bearer authorization_uri="https://a/b", resource_id=c
 *     ────────── ───────────────────────────────────────┬─────────────
 *       item                    item                   ,│    item
 *
 * Items are cut at commas outside of quotes. An item that begins with a word and no equals sign
 * begins a new challenge; what stands behind the word is its first parameter.
 */
#include "auth/challenge.h"

#include "auth/authority.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/quote.h"
#include "config/url.h"

static struct weir_str after(struct weir_str text, size_t len)
{
    return weir_str(text.ptr + len, text.len - len);
}

/* The first item of *rest, which is moved behind its comma. */
static struct weir_str next_item(struct weir_str *rest)
{
    bool quoted = false;
    size_t len = 0;
    for (; len < rest->len && (quoted || rest->ptr[len] != ','); len++) {
        if (rest->ptr[len] == '"')
            quoted = !quoted;
    }
    struct weir_str item = weir_str(rest->ptr, len);
    *rest = after(*rest, len < rest->len ? len + 1 : len);
    return weir_str_trim(item);
}

/* How far the word at the beginning of an item goes. */
static size_t word_len(struct weir_str item)
{
    size_t len = 0;
    while (len < item.len && !strchr(" \t=\"", item.ptr[len]))
        len++;
    return len;
}

/* A scheme is a word that no equals sign follows. */
static bool begins_challenge(struct weir_str item, size_t word)
{
    struct weir_str rest = weir_str_trim(after(item, word));
    return word && (!rest.len || rest.ptr[0] != '=');
}

/* The value of `name=value`; ptr NULL: another name, or nothing that can be an address. */
static struct weir_str value_of(struct weir_str item, const char *name)
{
    size_t word = word_len(item);
    struct weir_str rest = weir_str_trim(after(item, word));
    if (!weir_str_equal_nocase(weir_str(item.ptr, word), weir_str_from(name)) || !rest.len ||
        rest.ptr[0] != '=')
        return weir_str(NULL, 0);
    rest = weir_str_trim(after(rest, 1));
    if (rest.len >= 2 && rest.ptr[0] == '"' && rest.ptr[rest.len - 1] == '"')
        rest = weir_str(rest.ptr + 1, rest.len - 2);
    for (size_t i = 0; i < rest.len; i++) {
        if (rest.ptr[i] <= ' ' || rest.ptr[i] > '~' || strchr("\"\\<>", rest.ptr[i]))
            return weir_str(NULL, 0);
    }
    return rest.len ? rest : weir_str(NULL, 0);
}

struct weir_str weir_challenge_uri(struct weir_str value)
{
    bool bearer = false;
    struct weir_str uri = { NULL, 0 };
    while (value.len && value.len <= WEIR_CHALLENGE_BYTES_MAX && !uri.ptr) {
        struct weir_str item = next_item(&value);
        size_t word = word_len(item);
        if (begins_challenge(item, word)) {
            bearer = weir_str_equal_nocase(weir_str(item.ptr, word), weir_str_from("Bearer"));
            item = weir_str_trim(after(item, word));
        }
        if (bearer)
            uri = value_of(item, "authorization_uri");
    }
    return uri;
}

/* Origin and first segment of the path. */
static void split(struct weir_str uri, struct weir_str *ret_origin, struct weir_str *ret_tenant)
{
    size_t scheme = weir_str_find_nocase(uri, "://");
    size_t host = scheme < uri.len ? scheme + 3 : 0;
    const char *slash = memchr(uri.ptr + host, '/', uri.len - host);
    size_t origin = slash ? (size_t)(slash - uri.ptr) : uri.len;
    *ret_origin = weir_str(uri.ptr, origin);
    struct weir_str path = after(uri, slash ? origin + 1 : origin);
    size_t len = 0;
    while (len < path.len && !strchr("/?#", path.ptr[len]))
        len++;
    *ret_tenant = weir_str(path.ptr, len);
}

static enum weir_status judge(struct weir_str uri, const struct weir_options *options, char **ret,
                              struct weir_error *err)
{
    struct weir_str origin;
    struct weir_str tenant;
    split(uri, &origin, &tenant);
    if (weir_url_problem(origin) || !weir_authority_knows(options, origin))
        return weir_fail(
            err, WEIR_E_REFUSED,
            "the service names the login service %s, which is none of the cloud \"%s\"; "
            "nothing was sent there: check \"Dataverse:Url\" and \"Dataverse:Cloud\", "
            "or give \"Dataverse:TenantId\"",
            weir_quote(origin).text, options->cloud ? options->cloud : "Public");
    if (!weir_tenant_ok(tenant))
        return weir_fail(err, WEIR_E_REFUSED,
                         "the service names the tenant %s, which is none; give "
                         "\"Dataverse:TenantId\"",
                         weir_quote(tenant).text);
    *ret = weir_strndup(tenant.ptr, tenant.len);
    return WEIR_OK;
}

enum weir_status weir_challenge_tenant(const struct weir_http_header *headers, size_t header_count,
                                       const struct weir_options *options, char **ret,
                                       struct weir_error *err)
{
    for (size_t i = 0; i < header_count; i++) {
        struct weir_str name = weir_str_from(headers[i].name);
        if (!weir_str_equal_nocase(name, weir_str_from("WWW-Authenticate")))
            continue;
        struct weir_str uri = weir_challenge_uri(weir_str_from(headers[i].value));
        if (uri.ptr)
            return judge(uri, options, ret, err);
    }
    return weir_fail(err, WEIR_E_NOT_FOUND,
                     "the service does not say which tenant it belongs to; give "
                     "\"Dataverse:TenantId\"");
}
