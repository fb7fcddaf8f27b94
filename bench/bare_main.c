/* SPDX-License-Identifier: MIT */
/*
 * Post one finished body again and again by the barest loop (bare.h).
 *
 *     bench_bare URL BODY-FILE IN-FLIGHT REQUESTS [HEADER-LINE…]
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "bare.h"
#include "base/buf.h"

#define BODY_BYTES_MAX ((size_t)16 * 1024 * 1024)
#define LINES_MAX      16

static void read_body(const char *path, struct weir_buf *ret)
{
    char piece[65536];
    size_t len;
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        exit(EXIT_FAILURE);
    }
    while ((len = fread(piece, 1, sizeof(piece), file)) > 0)
        weir_buf_add(ret, piece, len);
    fclose(file);
}

int main(int argc, char **argv)
{
    const char *lines[LINES_MAX + 1] = { NULL };
    struct weir_buf body;
    if (argc < 5 || argc > 5 + LINES_MAX) {
        fprintf(stderr, "usage: bench_bare URL BODY-FILE IN-FLIGHT REQUESTS [HEADER-LINE...]\n");
        return 2;
    }
    for (int i = 5; i < argc; i++)
        lines[i - 5] = argv[i];
    weir_buf_init(&body, BODY_BYTES_MAX);
    read_body(argv[2], &body);
    signal(SIGPIPE, SIG_IGN);
    bare_run(&(struct bare_work){ argv[1], lines, body.ptr, body.len,
                                  (int)strtol(argv[3], NULL, 10), strtol(argv[4], NULL, 10) });
    weir_buf_release(&body);
    return 0;
}
