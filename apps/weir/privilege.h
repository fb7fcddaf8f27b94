/* SPDX-License-Identifier: MIT */
/*
 * Which privileges a job needs, by their names in the environment, and which of them a user has.
 *
 *     operation   of the table                                of tables that rows are bound to
 *     create      Create, Read (to read back); Write for
 *                 states and lookups within the table         AppendTo, and Append of the table
 *     update      Write                                       likewise
 *     upsert      Create, Write, Read                         likewise
 *     delete      Delete
 *     owners      Assign
 *
 * and prvActOnBehalfOfAnotherUser for --as, prvOverrideCreatedOnCreatedBy for rows that say when
 * they were created, prvBypassCustomBusinessLogic for --bypass-logic. A table need not have a
 * privilege of each kind, and its names are its own (prvCreateNote of annotation): they come from
 * the definition of the table. Pure.
 */
#ifndef WEIR_APP_PRIVILEGE_H
#define WEIR_APP_PRIVILEGE_H

#include "base/buf.h"
#include "base/limits.h"
#include "bulk/job_check.h"

#define PRIVILEGE_NAME_MAX  160
#define PRIVILEGE_NEEDS_MAX (WEIR_CHECK_LINKS_MAX + 16)

#define PRIVILEGE_ACT "prvActOnBehalfOfAnotherUser"

struct privilege_need {
    char name[PRIVILEGE_NAME_MAX + 1];   /* "prvCreateAccount" */
    char what[WEIR_NAME_BYTES_MAX + 64]; /* who lacks it may not "create account rows" */
    bool of_caller;                      /* who is acted for need not have it */
};

struct privilege_needs {
    struct privilege_need list[PRIVILEGE_NEEDS_MAX];
    size_t count;
};

/* The question for the definitions of all tables that the rows have to do with. */
void privilege_needs_path(const struct weir_table *table, const struct weir_job_check *check,
                          struct weir_buf *path);

/*
 * Its answer, and what follows from it. WEIR_E_INVALID: it is not what was asked for, or the table
 * is not in it.
 */
enum weir_status privilege_needs_read(struct privilege_needs *needs, struct weir_str body,
                                      const struct weir_job_options *options,
                                      const struct weir_table *table,
                                      const struct weir_job_check *check, struct weir_error *err);

/* How far a privilege reaches; which way is not compared where a new one comes up. */
enum privilege_depth {
    PRIVILEGE_LACKING = 0,
    PRIVILEGE_OTHER, /* a depth that is newer than this program */
    PRIVILEGE_BASIC,
    PRIVILEGE_LOCAL,
    PRIVILEGE_DEEP,
    PRIVILEGE_GLOBAL,
};

const char *privilege_depth_name(enum privilege_depth depth);

/* What one user has of the needs: a depth for each. */
struct privilege_set {
    enum privilege_depth depths[PRIVILEGE_NEEDS_MAX];
};

/* The question which of them a user has: by name, with what teams give at its real depth. */
void privilege_set_path(const struct privilege_needs *needs, const struct weir_guid *user,
                        struct weir_buf *path);

/* Its answer. WEIR_E_INVALID: it is none. */
enum weir_status privilege_set_read(struct privilege_set *set, const struct privilege_needs *needs,
                                    struct weir_str body, struct weir_error *err);

#endif
