/* SPDX-License-Identifier: MIT */
/*
 * Exchanges that end while their connection is still being made, on a listener whose queue is full:
 * libcurl then closes the socket without a word. Whatever comes next gets its number, and must be
 * watched like any other: nobody waits for libcurl's timers to find out that an answer is there.
 */
#include "support/exchange.h"
#include "support/raw.h"

#define NO_CONTENT  "HTTP/1.1 204 No Content\r\n\r\n"
#define HANGING     3
#define ASKED       10
#define FILLERS_MAX 64

/* Before an answer, so that libcurl does not find it by itself right after it has sent. */
#define ANSWER_MS 20

/* As slow as this, and it was not watched: each takes seconds then, if it is ever heard. */
#define SLOWER_TIMES 5
#define FLOOR_US     SECONDS(2)

/* --- a listener that takes nobody in, and then everybody ------------------------------------- */

struct door {
    int listener;
    uint16_t port;
    char url[64];
    int fillers[FILLERS_MAX];
    int filler_count;
    pthread_t thread;
};

/* Is it made before long? */
static bool gets_in(int fd)
{
    struct pollfd polled = { .fd = fd, .events = POLLOUT };
    return poll(&polled, 1, SHORT_MS) == 1;
}

/* Until one hangs; that one is given up, so that it does not come in later. */
static void fill(struct door *door)
{
    struct sockaddr_in address = loopback_address(door->port);
    int fd;
    for (;;) {
        must(door->filler_count < FILLERS_MAX);
        fd = loopback_socket();
        must(connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 ||
             errno == EINPROGRESS);
        if (!gets_in(fd))
            break;
        door->fillers[door->filler_count++] = fd;
    }
    close(fd);
}

static void door_init(struct door *door)
{
    *door = (struct door){ .listener = loopback_listening(0, 0) };
    door->port = loopback_port(door->listener);
    snprintf(door->url, sizeof(door->url), "http://127.0.0.1:%u", door->port);
    fill(door);
}

static void answer_until_closed(int fd)
{
    struct weir_buf heard;
    weir_buf_init(&heard, BYTES_MAX);
    while (hear(fd, &heard) == OPEN) {
        if (heard.len < 4 || memcmp(heard.ptr + heard.len - 4, "\r\n\r\n", 4) != 0)
            continue;
        must(!readable(fd, ANSWER_MS));
        say(fd, NO_CONTENT, strlen(NO_CONTENT));
        weir_buf_reset(&heard);
    }
    weir_buf_release(&heard);
    close(fd);
}

/* One after the other: each client is gone before the next one comes. */
static void *answer_everybody(void *argument)
{
    struct door *door = argument;
    int fd;
    while (readable(door->listener, -1) && (fd = accept(door->listener, NULL, NULL)) >= 0)
        answer_until_closed(fd);
    return NULL;
}

/* Those that fill it are shown out first; their own ends keep their numbers. */
static void door_open(struct door *door)
{
    for (int i = 0; i < door->filler_count; i++) {
        must(readable(door->listener, WAIT_MS));
        int fd = accept(door->listener, NULL, NULL);
        must(fd >= 0);
        close(fd);
    }
    door->thread = loopback_thread(answer_everybody, door);
}

static void door_release(struct door *door)
{
    shutdown(door->listener, SHUT_RDWR); /* accept() fails from now on */
    pthread_join(door->thread, NULL);
    close(door->listener);
    for (int i = 0; i < door->filler_count; i++)
        close(door->fillers[i]);
}

/* --- numbers of sockets ---------------------------------------------------------------------- */

/* The next socket gets it. */
static int free_number(void)
{
    int fd = dup(STDERR_FILENO);
    must(fd >= 0);
    close(fd);
    return fd;
}

static bool has_state(int fd, int state)
{
    struct tcp_info info = { 0 };
    socklen_t len = sizeof(info);
    return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) == 0 && info.tcpi_state == state;
}

static bool leads_to(int fd, uint16_t port)
{
    struct sockaddr_in peer;
    socklen_t len = sizeof(peer);
    return has_state(fd, TCP_ESTABLISHED) && getpeername(fd, (struct sockaddr *)&peer, &len) == 0 &&
           ntohs(peer.sin_port) == port;
}

/* --- the tests ------------------------------------------------------------------------------- */

enum give_up {
    BY_TIME_OUT,
    BY_CANCELLING,
    GIVE_UPS,
};

static bool all_done(const struct got *gots)
{
    for (int i = 0; i < HANGING; i++) {
        if (!gots[i].done)
            return false;
    }
    return true;
}

/* They hang at the door until they end; the number of the first one's socket. */
static int hang(struct client *client, enum give_up how)
{
    struct got gots[HANGING] = { 0 };
    struct weir_exchange *exchanges[HANGING];
    struct weir_exchange_request request = { .method = "POST", .target = "/" };
    request.http.connect_timeout_us = how == BY_TIME_OUT ? MS(200) : 0;
    int number = free_number();
    for (int i = 0; i < HANGING; i++)
        exchanges[i] = weir_transport_send(client->transport, &request, copy_answer, &gots[i]);
    client_until(client, has_state(number, TCP_SYN_SENT));
    for (int i = 0; how == BY_CANCELLING && i < HANGING; i++)
        weir_exchange_cancel(exchanges[i]);
    client_until(client, all_done(gots));
    for (int i = 0; i < HANGING; i++) {
        assert_ending(gots[i],
                      how == BY_CANCELLING ? WEIR_ENDING_CANCELLED : WEIR_ENDING_TIMED_OUT);
        ck_assert(!gots[i].sent);
    }
    ck_assert_int_eq(free_number(), number);
    return number;
}

/* How long a few of them take, one after the other. */
static int64_t ask_some(struct client *client)
{
    int64_t begun_us = weir_clock_now_us();
    for (int i = 0; i < ASKED; i++)
        assert_complete(client_ask(client, "POST", "/", NULL), 204);
    return weir_clock_now_us() - begun_us;
}

static int64_t ask_some_afresh(const char *url)
{
    struct client client;
    client_init(&client, url);
    int64_t span_us = ask_some(&client);
    client_release(&client);
    return span_us;
}

START_TEST(the_next_socket_of_the_same_number_is_watched)
{
    struct door door;
    struct client client;
    door_init(&door);
    client_init(&client, door.url);
    hang(&client, (enum give_up)_i);
    int number = hang(&client, (enum give_up)_i);
    door_open(&door);
    ck_assert_int_eq(free_number(), number);
    int64_t span_us = ask_some(&client);
    ck_assert(leads_to(number, door.port));
    ck_assert_uint_eq(client_stats(&client).complete, ASKED);
    client_release(&client);
    int64_t fresh_us = ask_some_afresh(door.url);
    ck_assert_int_le(span_us, SLOWER_TIMES * fresh_us + FLOOR_US);
    door_release(&door);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("transport_connecting");
    suite_add_loop(&s, "the_next_socket_of_the_same_number_is_watched",
                   the_next_socket_of_the_same_number_is_watched, GIVE_UPS);
    return suite_run(&s);
}
