/* SPDX-License-Identifier: MIT */
/*
 * A link over real sockets: what stands in the head of its requests, and what a server that notes
 * every connection sees of two of them.
 */
#include "client/link.h"
#include "support/exchange.h"
#include "support/origin.h"

#define GOOD "HTTP/1.1 204 No Content\r\n\r\n"
#define BY(cookie)                                                                                 \
    "HTTP/1.1 204 No Content\r\nSet-Cookie: ARRAffinity=" cookie ";Path=/;HttpOnly\r\n\r\n"

static struct origin *origin;
static struct weir_loop *loop;
static struct weir_options options;
static struct weir_connection_options connections[] = {
    { .name = "app1", .access_token = "token-of-app1" },
    { .name = "app2", .access_token = "token-of-app2" },
};
static struct weir_link links[2];

static void setup_with(const char *const *answers, size_t count)
{
    struct origin_options scripted = { .answers = answers,
                                       .answer_count = count,
                                       .record_max = 256 };
    origin = origin_new(&scripted);
    weir_options_defaults(&options);
    options.url = origin_url(origin);
    options.connections = connections;
    options.connection_count = 2;
    ck_assert_int_eq(weir_loop_new(&loop, NULL), WEIR_OK);
    for (size_t i = 0; i < 2; i++)
        ck_assert_int_eq(weir_link_init(&links[i], loop, &options, i, NULL, NULL), WEIR_OK);
}

static void setup(void)
{
    static const char *const answers[] = { GOOD };
    setup_with(answers, 1);
}

static void teardown(void)
{
    for (size_t i = 0; i < 2; i++)
        weir_link_release(&links[i]);
    weir_loop_free(loop);
    origin_free(origin);
}

/* One request of a link, from the token to the answer. */
struct visit {
    struct weir_link *link;
    struct weir_call_request request;
    struct weir_token_ask ask;
    bool done;
    enum weir_class class_;
    uint64_t server_id; /* that has answered */
};

static void on_answer(void *ctx, const struct weir_call_answer *answer)
{
    struct visit *visit = ctx;
    visit->class_ = answer->answer.verdict.class_;
    visit->server_id = answer->answer.budget.server_id;
    visit->done = true;
}

static void on_token(void *ctx, enum weir_status status, const struct weir_token *token,
                     const struct weir_error *err)
{
    struct visit *visit = ctx;
    must(status == WEIR_OK && !err);
    weir_link_send(visit->link, token, &visit->request, on_answer, visit);
}

static void begin(struct visit *visit, struct weir_link *link, uint64_t server_id)
{
    *visit = (struct visit){
        .link = link,
        .request = { .method = "GET", .target = "/x", .server_id = server_id },
        .ask = { .done = on_token, .ctx = visit },
    };
    weir_tokens_want(link->tokens, &visit->ask);
}

static void await(struct visit *visit)
{
    int64_t until_us = weir_clock_now_us() + GUARD_US;
    while (!visit->done) {
        must(weir_clock_now_us() < until_us);
        weir_loop_turn(loop, WEIR_US_PER_S);
    }
    ck_assert_int_eq(visit->class_, WEIR_CLASS_OK);
}

static void assert_header(uint64_t index, const char *name, const char *value)
{
    struct origin_record record;
    ck_assert(origin_record(origin, index, &record));
    struct weir_str got = origin_header(record.head, name);
    ck_assert_msg(weir_str_equal(got, weir_str_from(value)), "%s: %.*s", name, (int)got.len,
                  got.ptr ? got.ptr : "");
}

/* One request that is meant for a server, by its id; the server that answered. */
static uint64_t visit_server(struct weir_link *link, uint64_t server_id)
{
    struct visit visit;
    begin(&visit, link, server_id);
    await(&visit);
    return visit.server_id;
}

START_TEST(the_affinity_cookie_is_sent_if_a_web_server_was_chosen_and_never_by_itself)
{
    static const char *const answers[] = { BY("server-a"), BY("server-b"), GOOD };
    setup_with(answers, 3);
    uint64_t a = visit_server(&links[0], 0);
    uint64_t b = visit_server(&links[0], 0);
    ck_assert(a && b && a != b);
    const uint64_t wishes[] = { a, b, 0, a, a ^ b };
    static const char *const cookies[] = {
        "", "", "ARRAffinity=server-a", "ARRAffinity=server-b", "", "ARRAffinity=server-a", "",
    };
    for (int i = 0; i < 5; i++)
        visit_server(&links[0], wishes[i]);
    for (uint64_t i = 0; i < 7; i++) {
        assert_header(i, "Cookie", cookies[i]);
        assert_header(i, "Authorization", "Bearer token-of-app1");
    }
    teardown();
}
END_TEST

START_TEST(what_one_link_has_heard_another_does_not_know)
{
    static const char *const answers[] = { BY("server-a") };
    setup_with(answers, 1);
    uint64_t a = visit_server(&links[0], 0);
    visit_server(&links[1], a);
    visit_server(&links[1], a);
    assert_header(1, "Cookie", "");
    assert_header(2, "Cookie", "ARRAffinity=server-a");
    teardown();
}
END_TEST

START_TEST(a_cookie_that_cannot_stand_in_a_header_is_not_sent)
{
    static const char *const answers[] = { BY("a b"), BY("a\"b"), BY("a,b"), BY("a\\b") };
    setup_with(answers, 4);
    for (int i = 0; i < 4; i++) {
        uint64_t id = visit_server(&links[0], 0);
        ck_assert_uint_ne(id, 0);
        ck_assert_ptr_null(weir_servers_cookie(&links[0].servers, id));
    }
    teardown();
}
END_TEST

#define CROWD 40

START_TEST(no_token_travels_on_the_connection_of_another_user)
{
    struct visit visits[CROWD];
    uint64_t owners[256] = { 0 }; /* of a TCP connection: 1 or 2; 0: nobody yet */
    setup();
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < CROWD; i++)
            begin(&visits[i], &links[i % 2], 0);
        for (int i = 0; i < CROWD; i++)
            await(&visits[i]);
    }
    for (uint64_t i = 0; i < 5 * CROWD; i++) {
        struct origin_record record;
        ck_assert(origin_record(origin, i, &record));
        ck_assert_uint_lt(record.connection, 256);
        struct weir_str token = origin_header(record.head, "Authorization");
        uint64_t user = weir_str_equal(token, weir_str_from("Bearer token-of-app1")) ? 1 : 2;
        ck_assert(user == 1 || weir_str_equal(token, weir_str_from("Bearer token-of-app2")));
        ck_assert(!owners[record.connection] || owners[record.connection] == user);
        owners[record.connection] = user;
    }
    ck_assert_uint_lt(origin_counts(origin).connections, 5 * CROWD); /* they were reused */
    teardown();
}
END_TEST

int main(void)
{
    struct suite s = suite_new("link");
    suite_add(&s, the_affinity_cookie_is_sent_if_a_web_server_was_chosen_and_never_by_itself);
    suite_add(&s, what_one_link_has_heard_another_does_not_know);
    suite_add(&s, a_cookie_that_cannot_stand_in_a_header_is_not_sent);
    suite_add(&s, no_token_travels_on_the_connection_of_another_user);
    return suite_run(&s);
}
