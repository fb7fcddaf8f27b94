/* SPDX-License-Identifier: MIT */
/* The end of standard output; see output.h. */
#include "output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "exit_code.h"
#include "say.h"

int output_end(const struct command *command)
{
    errno = 0;
    bool whole = fflush(stdout) == 0 && !ferror(stdout);
    if (whole)
        return EXIT_DONE;
    if (errno != EPIPE)
        say("weir%s%s: standard output cannot be written: %s", command ? " " : "",
            command ? command->name : "", errno ? strerror(errno) : "it failed before");
    return EXIT_LOCAL_IO;
}
