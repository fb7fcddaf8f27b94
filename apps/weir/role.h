/* SPDX-License-Identifier: MIT */
/* The security roles of a user, by name, and what one set lacks of another. */
#ifndef WEIR_APP_ROLE_H
#define WEIR_APP_ROLE_H

#include "base/str.h"
#include "weir/error.h"

#define ROLES_MAX 256

struct role_set {
    char **names;
    size_t count;
};

/* From the answer to `systemusers(…)/systemuserroles_association`. Release it in any case. */
enum weir_status role_set_read(struct role_set *set, struct weir_str body);
void role_set_release(struct role_set *set);

/* The first role of `other`, from the *at-th on, that `set` lacks; *at is its place. NULL: none. */
const char *role_set_lacking(const struct role_set *set, const struct role_set *other, size_t *at);

#endif
