/* SPDX-License-Identifier: MIT */
/* The end of what a command has for standard output. */
#ifndef WEIR_APP_OUTPUT_H
#define WEIR_APP_OUTPUT_H

#include "command.h"

/*
 * Whatever is still held goes out. EXIT_DONE, or EXIT_LOCAL_IO with one sentence; without it if the
 * reader has left, who knows. `command` NULL: weir itself.
 */
int output_end(const struct command *command);

#endif
