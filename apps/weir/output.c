/* SPDX-License-Identifier: MIT */
/* The end of standard output; see output.h. */
#include "output.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "exit_code.h"
#include "say.h"

/* A pipe that nobody reads any more: what failed before has failed for that reason. */
static bool has_reader_left(void)
{
    struct pollfd end = { .fd = STDOUT_FILENO, .events = POLLOUT };
    return poll(&end, 1, 0) > 0 && end.revents & POLLERR;
}

int output_end(const struct command *command)
{
    errno = 0;
    bool whole = fflush(stdout) == 0 && !ferror(stdout);
    if (whole)
        return EXIT_DONE;
    if (errno != EPIPE && !has_reader_left())
        say("weir%s%s: standard output cannot be written: %s", command ? " " : "",
            command ? command->name : "", errno ? strerror(errno) : "it failed before");
    return EXIT_LOCAL_IO;
}
