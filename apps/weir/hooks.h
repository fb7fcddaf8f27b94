/* SPDX-License-Identifier: MIT */
/*
 * Where a test reaches into the journal of a running command. hooks.c is production; a second
 * program, weir-fault, is linked with tests/support/fault_hooks.c instead.
 */
#ifndef WEIR_APP_HOOKS_H
#define WEIR_APP_HOOKS_H

#include "journal/hooks.h"

/* NULL: nobody reaches in. Lives as long as the process. */
const struct weir_journal_hooks *job_hooks(void);

#endif
