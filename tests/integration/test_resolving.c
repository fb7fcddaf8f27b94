/* SPDX-License-Identifier: MIT */
/*
 * A name that nobody finds, for as long as one likes: whoever gives up on it goes on at once, and
 * does not wait for the thread that is still looking.
 */
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <semaphore.h>

#include "net/transport_parts.h"
#include "support/exchange.h"

#define LOOKING_S 30 /* only what waits for it takes as long */

static sem_t may_end;
static uint32_t looking;
static uint32_t ended;

/* In the place of the C library's: libcurl calls it in a thread of its own. */
int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
                struct addrinfo **ret)
{
    struct timespec until;
    (void)name, (void)service, (void)hints, (void)ret;
    __atomic_fetch_add(&looking, 1, __ATOMIC_SEQ_CST);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += LOOKING_S;
    while (sem_timedwait(&may_end, &until) && errno == EINTR)
        ;
    __atomic_fetch_add(&ended, 1, __ATOMIC_SEQ_CST);
    return EAI_AGAIN;
}

static uint32_t count_of(const uint32_t *count)
{
    return __atomic_load_n(count, __ATOMIC_SEQ_CST);
}

enum give_up {
    BY_TIME_OUT,
    BY_CANCELLING,
    BY_FREEING,
    GIVE_UPS,
};

START_TEST(nobody_waits_for_a_name_that_is_still_looked_for)
{
    struct client client;
    struct got got = { 0 };
    struct weir_exchange_request request = { .method = "POST", .target = "/" };
    sem_init(&may_end, 0, 0);
    looking = ended = 0; /* without a process for each test */
    client_init(&client, "https://weir.invalid");
    request.http.connect_timeout_us = _i == BY_TIME_OUT ? MS(100) : 0;
    struct weir_exchange *exchange =
        weir_transport_send(client.transport, &request, copy_answer, &got);
    client_until(&client, count_of(&looking) == 1);
    if (_i == BY_CANCELLING)
        weir_exchange_cancel(exchange);
    if (_i == BY_FREEING) {
        weir_transport_free(client.transport);
        client.transport = NULL;
    }
    client_until(&client, got.done);
    ck_assert_uint_eq(count_of(&ended), 0);
    assert_ending(got, _i == BY_TIME_OUT ? WEIR_ENDING_TIMED_OUT : WEIR_ENDING_CANCELLED);
    ck_assert(!got.sent);
    client_release(&client);
    ck_assert_uint_eq(count_of(&ended), 0);
    sem_post(&may_end);
    while (count_of(&ended) == 0)
        poll(NULL, 0, 1);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("resolving");
    suite_add_loop(&s, "nobody_waits_for_a_name_that_is_still_looked_for",
                   nobody_waits_for_a_name_that_is_still_looked_for, GIVE_UPS);
    return suite_run(&s);
}
