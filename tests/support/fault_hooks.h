/* SPDX-License-Identifier: MIT */
/* What the hooks of weir-fault have done; see fault_hooks.c. Any thread. */
#ifndef WEIR_TESTS_FAULT_HOOKS_H
#define WEIR_TESTS_FAULT_HOOKS_H

#include <stdbool.h>

/* Whether a call of the journal, or of SQLite, has failed as the environment says. */
bool fault_hooks_met(void);

#endif
