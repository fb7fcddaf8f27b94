/* SPDX-License-Identifier: MIT */
/*
 * What is to be known of the connections before work begins. Each is asked by itself, through a
 * client that has only this connection: a token, WhoAmI, the roles of its user. Nothing is waited
 * for: a throttle is a finding.
 *
 *     struct inspection it;
 *     inspection_init(&it, &settings);      asks them all
 *     inspection_each(&it, visit, ctx);     asks more of those that work
 *     inspection_print_table(&it);          a row for each, on standard output
 *     inspection_say_findings(&it);         what is wrong or differs, on standard error
 *     inspection_release(&it);
 */
#ifndef WEIR_APP_INSPECTION_H
#define WEIR_APP_INSPECTION_H

#include "protocol/answer.h"
#include "role.h"
#include "settings.h"
#include "weir/execute.h"

/* What was found out about one connection. */
struct inspected {
    const char *name;
    enum weir_status status;
    struct weir_error err;
    struct weir_whoami who;
    struct weir_answer answer;
    struct role_set roles;
    bool roles_known;
    bool answered; /* by the service itself, be it with a refusal */
};

struct inspection {
    const struct settings *settings;
    struct inspected *rows; /* in the order of the settings */
    size_t count;
};

void inspection_init(struct inspection *it, const struct settings *settings);
void inspection_release(struct inspection *it);

/*
 * Call `visit` for each connection that works, with a client that has only this one, for several of
 * them at once: each in one thread, which need not be the caller's.
 */
typedef void inspection_visit(void *ctx, struct weir_client *client, size_t row);
void inspection_each(const struct inspection *it, inspection_visit *fn, void *ctx);

/* How many of them work. */
size_t inspection_working(const struct inspection *it);

/* Of those that work. */
enum inspection_roles {
    INSPECTION_ROLES_ALIKE,
    INSPECTION_ROLES_DIFFER,
    INSPECTION_ROLES_UNKNOWN, /* not all could be read */
};
enum inspection_roles inspection_roles(const struct inspection *it);

void inspection_print_table(const struct inspection *it);

/* A line for each connection that does not work, and for each whose roles differ. Returns the exit
 * code. */
int inspection_say_findings(const struct inspection *it);

#endif
