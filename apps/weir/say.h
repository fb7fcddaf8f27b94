/* SPDX-License-Identifier: MIT */
/*
 * Lines for people, on standard error. A line is one write, so that threads do not tear each
 * other's; a standard error that is closed or broken loses the line and nothing else. No lock is
 * waited for longer than a second (screen.h): whoever leaves in a hurry can still say so. Any
 * thread.
 */
#ifndef WEIR_APP_SAY_H
#define WEIR_APP_SAY_H

#include <stdbool.h>

#include "weir/error.h"

/* The longest line; what is longer is cut. */
#define SAY_LINE_MAX 16384

/* One line; its end is added. */
void say(const char *format, ...) WEIR_PRINTF(1, 2);

/* The same, for a sentence: a terminal gets it broken between words, behind its first blanks. */
void say_wrapped(const char *format, ...) WEIR_PRINTF(1, 2);

/* One line without its end. */
void say_part(const char *format, ...) WEIR_PRINTF(1, 2);

/*
 * From now on each line is an object, for programs: {"message":"…"}. Parts are kept until the line
 * that they belong to. Before there are other threads that say something.
 */
void say_as_json(void);

/* Whether a line can be said now without waiting: somebody who does not read holds nobody up. */
bool say_has_room(void);

#endif
