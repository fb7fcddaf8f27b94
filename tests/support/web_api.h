/* SPDX-License-Identifier: MIT */
/*
 * The simulated Web API for a test: requests as short texts, answers as they are.
 *
 *     struct web web = web_new(NULL);
 *     web_send(&web, "POST accounts", "If-Match: *\nPrefer: return=representation", "{…}");
 *     ck_assert_int_eq(web.answer.status, 204);
 *     web_free(&web);
 */
#ifndef WEIR_TESTS_WEB_API_H
#define WEIR_TESTS_WEB_API_H

#include <stdio.h>

#include "base/json.h"
#include "sim/service/api_internal.h"
#include "support/suite.h"

#define WEB_HEADERS_MAX 8
#define WEB_WALL_US     INT64_C(1717243200000000) /* 2024-06-01T12:00:00Z */

struct web {
    struct sim_api *api;
    struct sim_answer answer;
    uint32_t user; /* who sends */
    struct sim_switches switches;
};

static inline struct web web_new_with(const char *scenario, struct sim_switches switches)
{
    struct web web = { .switches = switches };
    struct weir_error err;
    struct weir_json *json = NULL;
    if (scenario && weir_json_parse(weir_str_from(scenario), &json, &err) != WEIR_OK)
        ck_abort_msg("%s", err.message);
    struct sim_api_options options = { .users = 3,
                                       .base_url = "http://sim",
                                       .switches = switches,
                                       .seed = 7,
                                       .scenario = json,
                                       .scenario_file = "world.json" };
    if (sim_api_new(&options, &web.api, &err) != WEIR_OK)
        ck_abort_msg("%s", err.message);
    weir_json_free(json);
    sim_answer_init(&web.answer);
    return web;
}

static inline struct web web_new(const char *scenario)
{
    return web_new_with(scenario, (struct sim_switches){ .duplicate_status = 412 });
}

static inline void web_free(struct web *web)
{
    sim_answer_release(&web->answer);
    sim_api_free(web->api);
}

/* Lines "Name: value" into headers[]. */
static inline size_t web_headers(const char *lines, struct sim_header *headers)
{
    size_t count = 0;
    while (lines && *lines && count < WEB_HEADERS_MAX) {
        size_t len = strcspn(lines, "\n");
        const char *colon = memchr(lines, ':', len);
        ck_assert_ptr_nonnull(colon);
        size_t name = (size_t)(colon - lines);
        headers[count].name = weir_str(lines, name);
        headers[count++].value = weir_str_trim(weir_str(colon + 1, len - name - 1));
        lines += len + (lines[len] == '\n');
    }
    return count;
}

/* `request`: method, blank, and what follows /api/data/v9.2/. Returns the status. */
static inline int web_send_bytes(struct web *web, const char *request, const char *headers,
                                 struct weir_str body)
{
    static char target[70000];
    struct sim_header list[WEB_HEADERS_MAX];
    const char *blank = strchr(request, ' ');
    ck_assert_ptr_nonnull(blank);
    snprintf(target, sizeof(target), "/api/data/v9.2/%s", blank + 1);
    struct sim_call call = { .method = weir_str(request, (size_t)(blank - request)),
                             .target = weir_str_from(target),
                             .headers = list,
                             .header_count = web_headers(headers, list),
                             .body = body,
                             .user = web->user,
                             .wall_us = WEB_WALL_US };
    sim_answer_reset(&web->answer);
    sim_api_execute(web->api, &call, NULL, NULL, &web->answer);
    return web->answer.status;
}

static inline int web_send(struct web *web, const char *request, const char *headers,
                           const char *body)
{
    return web_send_bytes(web, request, headers, weir_str_from(body));
}

static inline const char *web_body(const struct web *web)
{
    return weir_buf_text(&web->answer.body);
}

static inline bool web_says(const struct web *web, const char *text)
{
    return strstr(web_body(web), text) != NULL;
}

/* The answer has a header line. */
static inline bool web_has(const struct web *web, const char *line)
{
    return strstr(weir_buf_text(&web->answer.headers), line) != NULL;
}

static inline const struct sim_store *web_store(const struct web *web, const char *table)
{
    return &web->api->stores[sim_schema_table(&web->api->schema, weir_str_from(table))->place];
}

static inline const struct sim_ledger *web_ledger(const struct web *web, const char *table)
{
    return &web->api->ledgers[sim_schema_table(&web->api->schema, weir_str_from(table))->place];
}

/* A request, and what must come back: the status, and a text in the body ("": it is empty). */
struct web_case {
    const char *request;
    const char *headers;
    const char *body;
    int status;
    const char *says;
};

static inline void web_try(struct web *web, const struct web_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct web_case *c = &cases[i];
        web_send(web, c->request, c->headers, c->body);
        bool right = web->answer.status == c->status &&
                     (*c->says ? web_says(web, c->says) : web->answer.body.len == 0);
        if (!right)
            ck_abort_msg("case %zu: %s %s: expected %d %s, got %d %s", i, c->request,
                         c->body ? c->body : "", c->status, c->says, web->answer.status,
                         web_body(web));
    }
}

#endif
