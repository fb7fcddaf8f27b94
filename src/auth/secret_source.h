/* SPDX-License-Identifier: MIT */
/*
 * Where secrets are read from: files and the environment. Line ends behind the text are cut off; an
 * empty one is an error, and so is one with a 0 byte in it. Messages name the place, never the
 * contents. Any thread; a file is read with as many system calls as it takes, which is few.
 */
#ifndef WEIR_AUTH_SECRET_SOURCE_H
#define WEIR_AUTH_SECRET_SOURCE_H

#include "auth/secret.h"
#include "weir/error.h"

enum weir_file_guard {
    WEIR_FILE_OURS_ALONE, /* refused unless it is our own and nobody else may touch it */
    WEIR_FILE_ANYBODYS,   /* what an orchestrator puts there, with rights of its choosing */
};

/*
 * Both must be regular files of WEIR_SECRET_BYTES_MAX at most.
 *   WEIR_E_NOT_FOUND, WEIR_E_IO   it cannot be read
 *   WEIR_E_INVALID                others may read it, it is not a file, it is empty
 *   WEIR_E_TOO_BIG
 */
enum weir_status weir_secret_read_file(const char *path, enum weir_file_guard guard,
                                       struct weir_secret *ret, struct weir_error *err);

/* WEIR_E_NOT_FOUND: the variable is not set, or empty. */
enum weir_status weir_secret_read_environment(const char *name, struct weir_secret *ret,
                                              struct weir_error *err);

/* What a command printed. `what` names it in messages. */
enum weir_status weir_secret_read_text(const char *what, struct weir_str text,
                                       struct weir_secret *ret, struct weir_error *err);

#endif
