/* SPDX-License-Identifier: MIT */
/*
 * The server of null.h as a process. Prints `listening URL`; ends with whoever started it.
 *
 *     bench_null PORT-OF-WEIR-SIM [FILE-FOR-THE-FIRST-BULK-BODY]
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "null.h"

int main(int argc, char **argv)
{
    in_port_t port;
    struct null_options options = { 0 };
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: bench_null PORT [FILE]\n");
        return 2;
    }
    options.upstream_port = (in_port_t)strtoul(argv[1], NULL, 10);
    options.keep_path = argv[2];
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_IGN);
    int listener = null_listen(&port);
    printf("listening http://127.0.0.1:%u\n", port);
    fflush(stdout);
    null_serve(listener, &options);
    return 0;
}
