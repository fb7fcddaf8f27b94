/* SPDX-License-Identifier: MIT */
/*
 * No block that the transport gives back still has a token in it: of a request, or of an answer
 * that comes in any pieces. The linker leads our calls of free() to here.
 */
#include <malloc.h>

#include "support/exchange.h"
#include "support/origin.h"
#include "support/toxic.h"

#define CANARY "c4n4ry-t0ken"

void __real_free(void *memory);
void __wrap_free(void *memory);

static __thread bool watching; /* the origin's thread has it too, and may */
static uint64_t looked_at;
static uint64_t found;

void __wrap_free(void *memory)
{
    if (memory && watching) {
        looked_at++;
        found += memmem(memory, malloc_usable_size(memory), CANARY, strlen(CANARY)) != NULL;
    }
    __real_free(memory);
}

/* A token in a body, with a length or in chunks, long enough to be moved while it grows. */
static void answer_token(void *ctx, const struct origin_request *request,
                         struct origin_answer *answer)
{
    char body[6000];
    (void)ctx;
    memset(body, 'x', sizeof(body));
    for (size_t at = 0; at + 100 < sizeof(body); at += 100)
        memcpy(body + at, CANARY, strlen(CANARY));
    bool chunked = strcmp(request->target, "/chunked") == 0;
    if (chunked)
        weir_buf_printf(&answer->bytes,
                        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%zx\r\n",
                        sizeof(body));
    else
        weir_buf_printf(&answer->bytes,
                        "HTTP/1.1 200 OK\r\nSet-Cookie: " CANARY "\r\nContent-Length: %zu\r\n\r\n",
                        sizeof(body));
    weir_buf_add(&answer->bytes, body, sizeof(body));
    if (chunked)
        weir_buf_add_text(&answer->bytes, "\r\n0\r\n\r\n");
}

START_TEST(no_block_is_given_back_with_a_token_in_it)
{
    static char line[4000] = "Authorization: Bearer ";
    static const char *const headers[] = { "A: b", line, "C: d" };
    static const char *const targets[] = { "/", "/chunked" };
    struct client client;
    char url[64];
    for (size_t len = strlen(line); len + strlen(CANARY) < sizeof(line); len = strlen(line))
        strcat(line, CANARY);
    struct origin *origin = origin_new(&(struct origin_options){ .script = answer_token });
    struct toxic *toxic = toxic_new(origin_port(origin));
    toxic_set(toxic, (struct toxic_script){ .down = { .slice_bytes = 700, .slice_gap_us = 100 } });
    snprintf(url, sizeof(url), "http://127.0.0.1:%u", toxic_port(toxic));
    watching = true;
    client_init(&client, url);
    client.headers = headers;
    client.header_count = COUNT(headers);
    for (size_t i = 0; i < 6; i++)
        assert_complete(client_ask(&client, "POST", targets[i % 2], "{}"), 200);
    toxic_set(toxic, (struct toxic_script){ .down = { .end = TOXIC_RESET, .end_at = 50000 } });
    for (size_t i = 0; i < 10; i++)
        client_ask(&client, "POST", targets[i % 2], "{}");
    client_release(&client);
    watching = false;
    ck_assert_uint_gt(looked_at, 20);
    ck_assert_uint_eq(found, 0);
    toxic_free(toxic);
    origin_free(origin);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("wiped");
    suite_add(&s, no_block_is_given_back_with_a_token_in_it);
    return suite_run(&s);
}
