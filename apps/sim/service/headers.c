/* SPDX-License-Identifier: MIT */
/*
 * What stands above every answer of the Web API, and the cookie that names a web server; see
 * world.h. Some headers come twice, as the real ones do.
 */
#include "base/clock.h"
#include "sim/service/guid.h"
#include "sim/service/world.h"

#define NODE_STREAM      UINT64_C(0x6e6f6465)
#define NODE_HEADERS_MAX 4096
#define COOKIE_TAIL      "; path=/; secure; HttpOnly\r\n"

static const char constant_headers[] =
    "CRM.ServiceId: framework\r\n"
    "Expires: -1\r\n"
    "Cache-Control: no-cache\r\n"
    "Strict-Transport-Security: max-age=31536000; includeSubDomains\r\n"
    "Public: OPTIONS,GET,HEAD,POST\r\n";

static void add(struct weir_buf *buf, const char *name, const char *value)
{
    weir_buf_add_text(buf, name);
    weir_buf_add(buf, ": ", 2);
    weir_buf_add_text(buf, value);
    weir_buf_add(buf, "\r\n", 2);
}

static bool has(const struct sim_answer *answer, const char *name)
{
    size_t name_len = strlen(name);
    struct weir_str rest = weir_str(weir_buf_text(&answer->headers), answer->headers.len);
    while (rest.len > name_len) {
        if (rest.ptr[name_len] == ':' && weir_str_starts_nocase(rest, name))
            return true;
        const char *end = memchr(rest.ptr, '\n', rest.len);
        size_t line = end ? (size_t)(end - rest.ptr) + 1 : rest.len;
        rest = weir_str(rest.ptr + line, rest.len - line);
    }
    return false;
}

static void add_ids(struct sim_world *world, struct weir_buf *buf)
{
    char id[SIM_GUID_TEXT];
    char activity[SIM_GUID_TEXT];
    sim_guid_print(sim_guid_make(&world->rng), id);
    sim_guid_print(sim_guid_make(&world->rng), activity);
    add(buf, "x-ms-service-request-id", id);
    add(buf, "x-ms-service-request-id", id);
    add(buf, "REQ_ID", id);
    add(buf, "AuthActivityId", activity);
}

/* A number of at least `digits` digits, with a comma every three of them if `group`. */
static void add_number(struct weir_buf *buf, int64_t number, int digits, bool group)
{
    char text[32];
    size_t at = sizeof(text);
    for (int i = 0; number || i < digits; i++) {
        if (group && i && i % 3 == 0)
            text[--at] = ',';
        text[--at] = (char)('0' + number % 10);
        number /= 10;
    }
    weir_buf_add(buf, text + at, sizeof(text) - at);
}

/* In hundredths of a second, rounded down: nobody is promised more than there is. */
static void add_time_left(struct weir_buf *buf, int64_t us)
{
    weir_buf_add_text(buf, "x-ms-ratelimit-time-remaining-xrm-requests: ");
    add_number(buf, us / WEIR_US_PER_S, 1, true);
    weir_buf_add_char(buf, '.');
    add_number(buf, us % WEIR_US_PER_S / 10000, 2, false);
    weir_buf_add(buf, "\r\n", 2);
}

static void add_count(struct weir_buf *buf, const char *name, int64_t number)
{
    weir_buf_add_text(buf, name);
    add_number(buf, number, 1, false);
    weir_buf_add(buf, "\r\n", 2);
}

static void add_quota(struct sim_world *world, uint32_t user, uint32_t server, int64_t now_us,
                      struct weir_buf *buf)
{
    int64_t law_us = sim_world_settle(world, now_us);
    struct sim_headers headers = sim_law_headers(&world->law, user, server, law_us);
    if (headers.dop_hint)
        add_count(buf, "x-ms-dop-hint: ", headers.dop_hint);
    if (headers.execution_remaining_us >= 0)
        add_time_left(buf, headers.execution_remaining_us);
    if (headers.requests_remaining >= 0)
        add_count(buf, "x-ms-ratelimit-burst-remaining-xrm-requests: ", headers.requests_remaining);
}

static void add_cookie(struct weir_buf *buf, const char *name, const char *value)
{
    weir_buf_add_text(buf, "Set-Cookie: ");
    weir_buf_add_text(buf, name);
    weir_buf_add_char(buf, '=');
    weir_buf_add_text(buf, value);
    weir_buf_add(buf, COOKIE_TAIL, sizeof(COOKIE_TAIL) - 1);
}

static void add_client(struct sim_world *world, struct weir_buf *buf)
{
    char client[SIM_GUID_TEXT];
    sim_guid_print(sim_guid_make(&world->rng), client);
    add_cookie(buf, "ReqClientId", client);
}

void sim_world_add_headers(struct sim_world *world, uint32_t user, uint32_t server, int64_t now_us,
                           struct sim_answer *answer)
{
    struct weir_buf *buf = &answer->headers;
    if (!has(answer, "OData-Version"))
        add(buf, "OData-Version", "4.0");
    if (!has(answer, "Allow"))
        add(buf, "Allow", "OPTIONS,GET,HEAD,POST");
    weir_buf_add(buf, constant_headers, sizeof(constant_headers) - 1);
    add_ids(world, buf);
    if (user == SIM_NOBODY)
        return;
    add_quota(world, user, server, now_us, buf);
    add_client(world, buf);
    weir_buf_add(buf, world->nodes[server].headers.ptr, world->nodes[server].headers.len);
}

static void make_digits(struct weir_rng *rng, const char *digits, uint64_t base,
                        char text[SIM_NODE_DIGITS + 1])
{
    for (int i = 0; i < SIM_NODE_DIGITS; i++)
        text[i] = digits[weir_rng_below(rng, base)];
    text[SIM_NODE_DIGITS] = '\0';
}

/* The headers that a web server sends with every answer. */
static void make_headers(struct sim_world *world, struct sim_node *node)
{
    struct weir_buf *buf = &node->headers;
    weir_buf_init(buf, NODE_HEADERS_MAX);
    /* The first is the one that took the request in, the last the one that ran it. */
    add(buf, "X-Source", world->nodes[0].source);
    add(buf, "X-Source", node->source);
    add_cookie(buf, "ARRAffinity", node->affinity);
    add_cookie(buf, "ARRAffinity", node->affinity);
    add_cookie(buf, "orgId", world->organization);
}

void sim_world_make_nodes(struct sim_world *world)
{
    for (uint32_t i = 0; i < world->scenario.servers; i++) {
        struct weir_rng rng;
        weir_rng_init(&rng, world->seed, NODE_STREAM + i);
        make_digits(&rng, "0123456789abcdef", 16, world->nodes[i].affinity);
        make_digits(&rng, "0123456789", 10, world->nodes[i].source);
        make_headers(world, &world->nodes[i]);
    }
}

void sim_world_free_nodes(struct sim_world *world)
{
    for (uint32_t i = 0; i < world->scenario.servers; i++)
        weir_buf_release(&world->nodes[i].headers);
}

static uint32_t server_of(const struct sim_world *world, struct weir_str affinity)
{
    for (uint32_t i = 0; i < world->scenario.servers; i++) {
        if (weir_str_equal_nocase(affinity, weir_str_from(world->nodes[i].affinity)))
            return i;
    }
    return SIM_ANY_SERVER;
}

/* The value of ARRAffinity among "a=1; ARRAffinity=…; b=2"; the first one. */
static struct weir_str affinity_of(struct weir_str cookies)
{
    static const char name[] = "ARRAffinity=";
    while (cookies.len) {
        const char *end = memchr(cookies.ptr, ';', cookies.len);
        size_t len = end ? (size_t)(end - cookies.ptr) : cookies.len;
        struct weir_str one = weir_str_trim(weir_str(cookies.ptr, len));
        if (weir_str_starts_nocase(one, name))
            return weir_str(one.ptr + sizeof(name) - 1, one.len - (sizeof(name) - 1));
        len += end != NULL;
        cookies = weir_str(cookies.ptr + len, cookies.len - len);
    }
    return weir_str(NULL, 0);
}

uint32_t sim_world_wanted_server(const struct sim_world *world,
                                 const struct sim_http_request *request)
{
    for (size_t i = 0; i < request->header_count; i++) {
        const struct sim_header *header = &request->headers[i];
        if (!weir_str_equal_nocase(header->name, weir_str("Cookie", 6)))
            continue;
        struct weir_str affinity = affinity_of(header->value);
        if (affinity.ptr)
            return server_of(world, affinity);
    }
    return SIM_ANY_SERVER;
}
