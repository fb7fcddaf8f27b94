/* SPDX-License-Identifier: MIT */
/*
 * Standard error with something that stays at its bottom, if it is a terminal. Lines scroll above
 * it; what stands is written again only where it changed.
 *
 *     lines that were said
 *     what stands          ◀─ screen_show() redraws it in place
 *     _                    ◀─ the cursor rests here, at the left
 *
 * Everything is one write that leaves the terminal as others expect it: the cursor is hidden only
 * within. Whatever ends the process, nothing has to be put right. Whoever finds the lock taken for
 * a second writes all the same: somebody who leaves in a hurry is not held up. Any thread.
 */
#ifndef WEIR_APP_SCREEN_H
#define WEIR_APP_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

/* Standard error is a terminal that can move its cursor. */
bool screen_is_possible(void);

/* Of the terminal, now; 80 and 24 if it does not say. */
void screen_size(unsigned *ret_columns, unsigned *ret_lines);

/* Before anything stands: what has been stopped and goes on draws below what others wrote. */
void screen_begin(void);

/* Whole lines, at once, above whatever stands. */
void screen_write(const char *text, size_t len);

/* What is to stand at the bottom: whole lines, none wider than the terminal of `columns`. */
void screen_show(const char *lines, size_t len, unsigned columns);

/* What stands is left where it is, lines come after it from now on, and nothing stands again. */
void screen_end(void);

/* Whether something can be written now without waiting. */
bool screen_has_room(void);

#endif
