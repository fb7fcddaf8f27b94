/* SPDX-License-Identifier: MIT */
/* Which web server's cookie a link knows: against a list that keeps everything in order. */
#include "client/servers.h"

#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "support/suite.h"

#define IDS   40
#define STEPS 20000

/* Ids by the time they were heard or asked for last, the latest first. */
struct model {
    uint64_t ids[IDS];
    unsigned versions[IDS + 1]; /* of the cookie of an id */
    size_t count;
};

static bool model_knows(const struct model *model, uint64_t id)
{
    for (size_t i = 0; i < model->count && i < WEIR_LANES_MAX; i++) {
        if (model->ids[i] == id)
            return true;
    }
    return false;
}

static void model_touch(struct model *model, uint64_t id)
{
    size_t at = 0;
    while (at < model->count && model->ids[at] != id)
        at++;
    model->count += at == model->count;
    memmove(&model->ids[1], &model->ids[0], at * sizeof(model->ids[0]));
    model->ids[0] = id;
}

static void hear(struct weir_servers *servers, struct model *model, uint64_t id)
{
    char cookie[32];
    snprintf(cookie, sizeof(cookie), "c%u-%u", (unsigned)id, ++model->versions[id]);
    weir_servers_hear(servers, id, weir_str_from(cookie));
    model_touch(model, id);
}

static void look(struct weir_servers *servers, struct model *model, uint64_t id)
{
    char cookie[32];
    const char *got = weir_servers_cookie(servers, id);
    ck_assert_int_eq(got != NULL, model_knows(model, id));
    if (!got)
        return;
    snprintf(cookie, sizeof(cookie), "c%u-%u", (unsigned)id, model->versions[id]);
    ck_assert_str_eq(got, cookie);
    model_touch(model, id);
}

START_TEST(the_latest_are_known_by_their_newest_cookie)
{
    struct weir_servers servers = { 0 };
    struct model model = { 0 };
    struct weir_rng rng;
    weir_rng_init(&rng, (uint64_t)_i, 1);
    for (int step = 0; step < STEPS; step++) {
        uint64_t id = 1 + weir_rng_below(&rng, step % 100 < 50 ? WEIR_LANES_MAX : IDS);
        if (weir_rng_below(&rng, 2))
            hear(&servers, &model, id);
        else
            look(&servers, &model, id);
    }
}
END_TEST

START_TEST(a_cookie_of_other_bytes_or_too_long_is_not_kept)
{
    for (int byte = 0; byte < 256; byte++) {
        struct weir_servers servers = { 0 };
        char text[3] = { 'a', (char)byte, 'b' };
        weir_servers_hear(&servers, 7, weir_str(text, 3));
        bool fine = byte > ' ' && byte < 0x7f && !strchr("\",;\\", byte);
        ck_assert_int_eq(weir_servers_cookie(&servers, 7) != NULL, fine);
    }
    struct weir_servers servers = { 0 };
    char longest[WEIR_COOKIE_BYTES_MAX + 1];
    memset(longest, 'x', sizeof(longest));
    weir_servers_hear(&servers, 1, weir_str(longest, WEIR_COOKIE_BYTES_MAX));
    weir_servers_hear(&servers, 2, weir_str(longest, WEIR_COOKIE_BYTES_MAX + 1));
    weir_servers_hear(&servers, 3, weir_str("", 0));
    ck_assert_uint_eq(strlen(weir_servers_cookie(&servers, 1)), WEIR_COOKIE_BYTES_MAX);
    ck_assert_ptr_null(weir_servers_cookie(&servers, 2));
    ck_assert_ptr_null(weir_servers_cookie(&servers, 3));
}
END_TEST

START_TEST(no_server_is_nobody)
{
    struct weir_servers servers = { 0 };
    ck_assert_ptr_null(weir_servers_cookie(&servers, 0));
    weir_servers_hear(&servers, 0, weir_str("abc", 3));
    ck_assert_ptr_null(weir_servers_cookie(&servers, 0));
}
END_TEST

int main(void)
{
    struct suite s = suite_new("servers");
    suite_add_loop(&s, "the_latest_are_known_by_their_newest_cookie",
                   the_latest_are_known_by_their_newest_cookie, 5);
    suite_add(&s, a_cookie_of_other_bytes_or_too_long_is_not_kept);
    suite_add(&s, no_server_is_nobody);
    return suite_run(&s);
}
