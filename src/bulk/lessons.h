/* SPDX-License-Identifier: MIT */
/*
 * What the policies have learned of the connections, for a later run: one note of the journal for
 * each connection, "policy NAME":
 *
 *     POLICY WALL ID BYTES
 *
 * the policy's name, when it was written (microseconds since 1970), the hash of who the connection
 * is, and what the policy wants to keep, in base64url. Only the policy knows what that means, and
 * judges it again: a journal may have been damaged, or written by somebody else.
 *
 * A note of another policy, or of another user under the same name, is passed over. The wall clock
 * says how old one is; one from the future is taken as written now, so that what it has booked
 * counts for as long as it can.
 *
 * One thread at a time.
 */
#ifndef WEIR_BULK_LESSONS_H
#define WEIR_BULK_LESSONS_H

#include "base/buf.h"
#include "journal/journal.h"
#include "pool/core.h"

/* The note of one connection. False: there is nothing to keep. */
bool weir_lesson_print(const struct weir_core *core, const struct weir_options *settings,
                       uint32_t connection, int64_t now_us, int64_t wall_us, struct weir_buf *ret);

/* Back. False: it is not this connection's, not this policy's or not a note; nothing has changed.
 */
bool weir_lesson_parse(struct weir_core *core, const struct weir_options *settings,
                       uint32_t connection, const char *text, int64_t now_us, int64_t wall_us);

/* Of all connections, as far as WEIR_LESSONS_BYTES_MAX allows. A failure is latched by the journal;
 * if that has no room just now, what it has from before stays. */
void weir_lessons_note(const struct weir_core *core, const struct weir_options *settings,
                       struct weir_journal *journal, int64_t now_us, int64_t wall_us);

/* Of all connections that the journal knows. */
void weir_lessons_recall(struct weir_core *core, const struct weir_options *settings,
                         struct weir_journal *journal, int64_t now_us, int64_t wall_us);

#endif
