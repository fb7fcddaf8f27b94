/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as an HTTP request to the simulated Web API: request line, headers, an empty line,
 * body. It must not crash, must answer with a status, and what looks like JSON must be JSON.
 *
 *     clang -fsanitize=fuzzer,address,undefined …     with libFuzzer
 *     replay.c                                        without: the files named on the command line
 */
#include <stdio.h>

#include "base/json.h"
#include "base/mem.h"
#include "sim/service/api.h"

#define HEADERS_MAX 32

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* One line without its end, taken off *text. */
static struct weir_str take_line(struct weir_str *text)
{
    const char *end = text->len ? memchr(text->ptr, '\n', text->len) : NULL;
    size_t len = end ? (size_t)(end - text->ptr) : text->len;
    struct weir_str line = weir_str(text->ptr, len);
    len += end != NULL;
    *text = weir_str(text->ptr + len, text->len - len);
    if (line.len && line.ptr[line.len - 1] == '\r')
        line.len--;
    return line;
}

static struct weir_str take_until(struct weir_str *text, char c)
{
    const char *end = text->len ? memchr(text->ptr, c, text->len) : NULL;
    size_t len = end ? (size_t)(end - text->ptr) : text->len;
    struct weir_str word = weir_str(text->ptr, len);
    len += end != NULL;
    *text = weir_str(text->ptr + len, text->len - len);
    return word;
}

static size_t take_headers(struct weir_str *text, struct sim_header *headers)
{
    size_t count = 0;
    while (text->len) {
        struct weir_str line = take_line(text);
        if (!line.len)
            break;
        struct weir_str name = take_until(&line, ':');
        if (count < HEADERS_MAX)
            headers[count++] = (struct sim_header){ name, weir_str_trim(line) };
    }
    return count;
}

static void check(const struct sim_answer *answer)
{
    if (answer->status < 200 || answer->status > 599)
        abort();
    if (!answer->body.len || answer->body.ptr[0] != '{')
        return;
    struct weir_json *json;
    struct weir_error err;
    if (weir_json_parse(weir_str(answer->body.ptr, answer->body.len), &json, &err) != WEIR_OK) {
        fprintf(stderr, "the answer is no JSON: %s\n%s\n", err.message, answer->body.ptr);
        abort();
    }
    weir_json_free(json);
}

static void run(struct sim_api *api, const struct sim_call *call)
{
    struct sim_answer answer;
    sim_answer_init(&answer);
    struct sim_measure measure = sim_api_measure(api, call);
    if (!measure.rows)
        abort();
    sim_api_execute(api, call, NULL, NULL, &answer);
    check(&answer);
    sim_answer_release(&answer);
}

/* Something to find, to change and to collide with. */
static void fill(struct sim_api *api)
{
    static const char *const rows[][2] = {
        { "accounts(00000000-0000-0000-0000-00000000000a)",
          "{\"name\":\"Contoso\",\"accountnumber\":\"1\"}" },
        { "accounts(00000000-0000-0000-0000-00000000000b)",
          "{\"name\":\"O'Brien\",\"accountnumber\":\"2\",\"parentaccountid@odata.bind\":"
          "\"/accounts(accountnumber='1')\"}" },
        { "sensorreadings(00000000-0000-0000-0000-00000000000c)", "{\"partitionid\":\"p\"}" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct sim_call call = { .method = weir_str_from("PATCH"),
                                 .target = weir_str_from(rows[i][0]),
                                 .body = weir_str_from(rows[i][1]) };
        run(api, &call);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sim_api_options options = { .users = 1, .base_url = "http://sim", .seed = 1 };
    struct sim_api *api;
    if (sim_api_new(&options, &api, NULL) != WEIR_OK)
        abort();
    fill(api);
    /* A copy of just this size, so that reading beyond its end is noticed. */
    char *bytes = weir_strndup((const char *)data, size);
    struct weir_str rest = weir_str(bytes, size);
    struct weir_str line = take_line(&rest);
    struct sim_header headers[HEADERS_MAX];
    struct sim_call call = { .method = take_until(&line, ' '), .wall_us = 1700000000000000 };
    call.target = take_until(&line, ' ');
    call.header_count = take_headers(&rest, headers);
    call.headers = headers;
    call.body = rest;
    run(api, &call);
    free(bytes);
    sim_api_free(api);
    return 0;
}
