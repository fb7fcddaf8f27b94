/* SPDX-License-Identifier: MIT */
/* How this program is found again; see program_path.h. */
#include "program_path.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

static const char name[] = "weir";

static bool is_program(const char *path, struct stat *ret)
{
    return stat(path, ret) == 0 && S_ISREG(ret->st_mode) && access(path, X_OK) == 0;
}

/* The first of that name in the search path, as a shell looks for it; an empty part is here. */
static bool search_finds(const char *search, const struct stat *wanted)
{
    char path[PATH_MAX];
    struct stat found;
    for (const char *at = search; at; at = strchr(at, ':') ? strchr(at, ':') + 1 : NULL) {
        int len = (int)strcspn(at, ":");
        if (at[0] != '/' || snprintf(path, sizeof(path), "%.*s/%s", len, at, name) >= PATH_MAX)
            continue; /* where the shell will stand nobody knows */
        if (is_program(path, &found))
            return found.st_dev == wanted->st_dev && found.st_ino == wanted->st_ino;
    }
    return false;
}

/* As it was called, wherever the shell stands by then. */
static char *make_absolute(const char *called)
{
    char here[PATH_MAX], path[2 * PATH_MAX];
    if (called[0] == '/')
        return weir_strdup(called);
    if (!strchr(called, '/') || !getcwd(here, sizeof(here)))
        return NULL;
    while (strncmp(called, "./", 2) == 0)
        called += 2;
    snprintf(path, sizeof(path), "%s/%s", strcmp(here, "/") ? here : "", called);
    return weir_strdup(path);
}

char *program_path_of(const char *called, const char *search, const char *itself)
{
    struct stat wanted, found;
    char resolved[PATH_MAX];
    if (stat(itself, &wanted) || search_finds(search, &wanted))
        return weir_strdup(name);
    char *path = make_absolute(called);
    if (path && is_program(path, &found))
        return path;
    free(path);
    return weir_strdup(realpath(itself, resolved) ? resolved : name);
}

char *program_path(void)
{
    return program_path_of(program_invocation_name, getenv("PATH"), "/proc/self/exe");
}
