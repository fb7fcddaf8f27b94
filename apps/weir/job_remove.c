/* SPDX-License-Identifier: MIT */
/* Removing a job; see job_remove.h. */
#include "job_remove.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/rng.h"
#include "journal/place.h"

static enum weir_status fail(struct weir_error *err, const char *directory)
{
    return weir_fail(err, WEIR_E_IO, "the job in \"%.300s\" cannot be removed: %s", directory,
                     strerror(errno));
}

/* The directory itself, not what a link leads to. */
static enum weir_status open_directory(const char *directory, int *ret, struct weir_error *err)
{
    *ret = open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (*ret >= 0)
        return WEIR_OK;
    if (errno == ENOTDIR || errno == ELOOP)
        return weir_fail(err, WEIR_E_INVALID, "\"%.300s\" is a link, no directory", directory);
    return fail(err, directory);
}

/* As the job itself does it. */
static enum weir_status take_lock(int folder, const char *directory, int *ret,
                                  struct weir_error *err)
{
    *ret = openat(folder, WEIR_PLACE_LOCK, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (*ret < 0)
        return fail(err, directory);
    if (flock(*ret, LOCK_EX | LOCK_NB) == 0)
        return WEIR_OK;
    bool busy = errno == EWOULDBLOCK;
    enum weir_status status =
        busy ? weir_fail(err, WEIR_E_INVALID, "the job in \"%.300s\" is running", directory)
             : fail(err, directory);
    close(*ret);
    return status;
}

/* Out of sight: names that begin with a dot are no jobs. */
static enum weir_status hide(const char *directory, struct weir_path *ret, struct weir_error *err)
{
    char *parent = weir_strdup(directory);
    char name[64];
    char *slash = strrchr(parent, '/');
    *slash = '\0';
    snprintf(name, sizeof(name), ".removed-%016llx", (unsigned long long)weir_rng_system_seed());
    *ret = weir_path_join(parent, name);
    free(parent);
    return rename(directory, ret->text) ? fail(err, directory) : WEIR_OK;
}

static enum weir_status empty(int folder, const char *path, struct weir_error *err)
{
    int copy = dup(folder);
    DIR *list = copy >= 0 ? fdopendir(copy) : NULL;
    enum weir_status status = list ? WEIR_OK : fail(err, path);
    struct dirent *entry;
    while (!status && (entry = readdir(list))) {
        bool itself = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
        if (!itself && unlinkat(folder, entry->d_name, 0))
            status = fail(err, path);
    }
    if (list)
        closedir(list);
    else if (copy >= 0)
        close(copy);
    return status;
}

static enum weir_status remove_held(int folder, const char *directory, struct weir_error *err)
{
    struct weir_path hidden;
    enum weir_status status = hide(directory, &hidden, err);
    if (!status)
        status = empty(folder, hidden.text, err);
    if (!status && rmdir(hidden.text))
        status = fail(err, hidden.text);
    return status;
}

enum weir_status job_remove(const char *directory, bool (*still)(void *ctx, const char *directory),
                            void *ctx, struct weir_error *err)
{
    int folder, lock;
    enum weir_status status = open_directory(directory, &folder, err);
    if (status)
        return status;
    status = take_lock(folder, directory, &lock, err);
    if (!status) {
        if (still(ctx, directory))
            status = remove_held(folder, directory, err);
        else
            status =
                weir_fail(err, WEIR_E_INVALID,
                          "the job in \"%.300s\" has changed meanwhile: it is kept", directory);
        close(lock);
    }
    close(folder);
    return status;
}
