/* SPDX-License-Identifier: MIT */
/*
 * The word by which a shell finds this very program again: "weir" if that is what its search path
 * has first, else a path that does not depend on where the shell stands.
 */
#ifndef WEIR_APP_PROGRAM_PATH_H
#define WEIR_APP_PROGRAM_PATH_H

/* The caller frees it. */
char *program_path(void);

/* The same of a program that was called so, with that search path; `itself` is a link to it. */
char *program_path_of(const char *called, const char *search, const char *itself);

#endif
