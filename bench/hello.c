/* SPDX-License-Identifier: MIT */
/*
 * The barest HTTP server that libmicrohttpd makes: one thread, epoll, the same short answer to
 * everything. What the simulator is measured against. Prints `listening URL`, serves until standard
 * input ends.
 */
#include <microhttpd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static enum MHD_Result answer(void *ctx, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *upload_data,
                              size_t *upload_data_size, void **request)
{
    (void)url;
    (void)method;
    (void)version;
    (void)upload_data;
    static int begun;
    if (!*request) { /* the head has come; answering now would end the connection */
        *request = &begun;
        return MHD_YES;
    }
    *upload_data_size = 0;
    return MHD_queue_response(connection, MHD_HTTP_OK, ctx);
}

int main(void)
{
    static char text[] = "hello\n";
    struct MHD_Response *response =
        MHD_create_response_from_buffer(sizeof(text) - 1, text, MHD_RESPMEM_PERSISTENT);
    struct MHD_Daemon *daemon = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_TURBO, 0,
                                                 NULL, NULL, &answer, response, MHD_OPTION_END);
    if (!daemon)
        return 1;
    printf("listening http://127.0.0.1:%u\n",
           MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT)->port);
    fflush(stdout);
    char byte;
    while (read(STDIN_FILENO, &byte, 1) > 0)
        continue;
    MHD_stop_daemon(daemon);
    MHD_destroy_response(response);
    return 0;
}
