/* SPDX-License-Identifier: MIT */
/* The directory of a job; see place.h. */
#include "journal/place.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/str.h"

static enum weir_status fail(struct weir_error *err, const char *what, const char *path)
{
    return weir_fail(err, WEIR_E_IO, "%s \"%.300s\": %s", what, path, weir_hooks_reason(errno));
}

/* --- paths ------------------------------------------------------------------------------------ */

struct weir_path weir_path_join(const char *directory, const char *name)
{
    struct weir_path path;
    snprintf(path.text, sizeof(path.text), "%s/%s", directory, name);
    return path;
}

struct weir_path weir_place_path(const struct weir_job_place *place, const char *name)
{
    return weir_path_join(place->temporary ? place->temporary : place->directory, name);
}

/* Without slashes at the end; false: empty, or too long to append a name. */
static bool tidy(const char *directory, char text[WEIR_JOURNAL_PATH_MAX])
{
    size_t len = strlen(directory);
    while (len > 1 && directory[len - 1] == '/')
        len--;
    if (len == 0 || len > WEIR_JOURNAL_PATH_MAX - 300)
        return false;
    memcpy(text, directory, len);
    text[len] = '\0';
    return true;
}

static enum weir_status make_parents(char *path, struct weir_error *err)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        int result = mkdir(path, 0700);
        if (result && errno != EEXIST)
            return fail(err, "cannot make the directory", path);
        *slash = '/';
    }
    return WEIR_OK;
}

/* Split a path: its parent, resolved, and its last name. */
static enum weir_status resolve(char *path, char **ret_parent, const char **ret_name,
                                struct weir_error *err)
{
    char *slash = strrchr(path, '/');
    const char *parent = slash ? path : ".";
    *ret_name = slash ? slash + 1 : path;
    if (slash == path)
        parent = "/";
    else if (slash)
        *slash = '\0';
    *ret_parent = realpath(parent, NULL);
    return *ret_parent ? WEIR_OK : fail(err, "cannot enter the directory", parent);
}

/* parent/name between two texts; NULL: too long. */
static char *join(const char *parent, const char *before, const char *name, const char *after)
{
    struct weir_buf path;
    weir_buf_init(&path, WEIR_JOURNAL_PATH_MAX - 64); /* names of files are still to come */
    weir_buf_printf(&path, "%s/%s%s%s", strcmp(parent, "/") == 0 ? "" : parent, before, name,
                    after);
    if (!path.overflow)
        return weir_buf_take(&path);
    weir_buf_release(&path);
    return NULL;
}

/* --- the lock --------------------------------------------------------------------------------- */

static int64_t read_holder(int fd)
{
    char text[32] = "";
    int64_t pid = 0;
    ssize_t len = pread(fd, text, sizeof(text) - 1, 0);
    if (len <= 0 || !weir_str_to_int64(weir_str_trim(weir_str(text, (size_t)len)), &pid))
        return 0;
    return pid > 0 ? pid : 0;
}

static enum weir_status refuse(struct weir_job_place *place, struct weir_error *err)
{
    int64_t pid = read_holder(place->lock_fd);
    if (pid > 0)
        return weir_fail(err, WEIR_E_INVALID,
                         "the job in \"%s\" is in use by process %lld: wait until it has ended",
                         place->directory, (long long)pid);
    return weir_fail(err, WEIR_E_INVALID,
                     "the job in \"%s\" is in use by another process: wait until it has ended",
                     place->directory);
}

/* The number of the process is for people: without it the lock is as good. */
static void sign(struct weir_job_place *place)
{
    char text[32];
    int len = snprintf(text, sizeof(text), "%lld\n", (long long)getpid());
    if (weir_hooks_ftruncate(place->hooks, place->lock_fd, 0) == 0)
        (void)weir_hooks_pwrite(place->hooks, place->lock_fd, text, (size_t)len, 0);
}

static enum weir_status take_lock(struct weir_job_place *place, struct weir_error *err)
{
    struct weir_path path = weir_place_path(place, WEIR_PLACE_LOCK);
    place->lock_fd = weir_hooks_open(place->hooks, path.text, O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
    if (place->lock_fd < 0)
        return fail(err, "cannot open the lock", path.text);
    if (flock(place->lock_fd, LOCK_EX | LOCK_NB)) {
        if (errno != EWOULDBLOCK)
            return fail(err, "cannot lock", path.text);
        enum weir_status status = refuse(place, err);
        close(place->lock_fd);
        place->lock_fd = -1; /* its text is not ours to clear */
        return status;
    }
    sign(place);
    return WEIR_OK;
}

int64_t weir_place_holder(const char *directory)
{
    struct weir_path path = weir_path_join(directory, WEIR_PLACE_LOCK);
    int fd = open(path.text, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    int64_t pid = read_holder(fd);
    close(fd);
    return pid > 0 && kill((pid_t)pid, 0) && errno == ESRCH ? 0 : pid;
}

/* --- making ----------------------------------------------------------------------------------- */

static enum weir_status refuse_existing(const char *directory, struct weir_error *err)
{
    struct weir_path journal = weir_path_join(directory, WEIR_PLACE_DATABASE);
    if (access(journal.text, F_OK) == 0)
        return weir_fail(err, WEIR_E_INVALID,
                         "there is a job in \"%s\": resume it, or choose another directory",
                         directory);
    return weir_fail(err, WEIR_E_INVALID,
                     "\"%s\" is not empty: choose a directory that is, or one that is not there",
                     directory);
}

static enum weir_status name_place(struct weir_job_place *place, char *path, struct weir_error *err)
{
    char *parent;
    const char *name;
    enum weir_status status = make_parents(path, err);
    if (status == WEIR_OK)
        status = resolve(path, &parent, &name, err);
    if (status)
        return status;
    place->directory = join(parent, "", name, "");
    place->temporary = join(parent, ".", name, ".new-XXXXXX");
    free(parent);
    if (place->directory && place->temporary)
        return WEIR_OK;
    free(place->temporary);
    place->temporary = NULL;
    return weir_fail(err, WEIR_E_TOO_BIG, "the path of the job's directory is too long");
}

/* Somebody else's file is no place for a job; neither is a directory that has something in it, but
 * that is for rename() to say, which cannot be overtaken. Here: say so before the work is done. */
static enum weir_status check_vacant(const struct weir_job_place *place, struct weir_error *err)
{
    struct weir_path journal = weir_path_join(place->directory, WEIR_PLACE_DATABASE);
    return access(journal.text, F_OK) == 0 ? refuse_existing(place->directory, err) : WEIR_OK;
}

static enum weir_status make_directory(struct weir_job_place *place, struct weir_error *err)
{
    if (mkdtemp(place->temporary))
        return WEIR_OK;
    enum weir_status status = fail(err, "cannot make the directory", place->temporary);
    free(place->temporary);
    place->temporary = NULL;
    return status;
}

enum weir_status weir_place_make(struct weir_job_place *place, const char *directory,
                                 const struct weir_journal_hooks *hooks, struct weir_error *err)
{
    char path[WEIR_JOURNAL_PATH_MAX];
    *place = (struct weir_job_place){ .lock_fd = -1, .hooks = hooks };
    if (!tidy(directory, path))
        return weir_fail(err, WEIR_E_INVALID, "\"%.200s\" is no path for a job's directory",
                         directory);
    enum weir_status status = name_place(place, path, err);
    if (status == WEIR_OK) {
        status = check_vacant(place, err);
        if (status) {
            free(place->temporary);
            place->temporary = NULL;
        }
    }
    if (status == WEIR_OK)
        status = make_directory(place, err);
    if (status == WEIR_OK) {
        weir_hooks_at(hooks, WEIR_POINT_DIRECTORY_MADE);
        status = take_lock(place, err);
    }
    if (status)
        weir_place_release(place);
    return status;
}

static enum weir_status move(struct weir_job_place *place, struct weir_error *err)
{
    weir_hooks_at(place->hooks, WEIR_POINT_JOB_BEFORE_RENAME);
    if (weir_hooks_rename(place->hooks, place->temporary, place->directory)) {
        if (errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR)
            return refuse_existing(place->directory, err);
        return fail(err, "cannot put the job into", place->directory);
    }
    free(place->temporary);
    place->temporary = NULL;
    weir_hooks_at(place->hooks, WEIR_POINT_JOB_AFTER_RENAME);
    return WEIR_OK;
}

static enum weir_status sync_directory(struct weir_job_place *place, const char *path,
                                       struct weir_error *err)
{
    if (weir_hooks_fsync_directory(place->hooks, path))
        return fail(err, "cannot make durable the directory", path);
    return WEIR_OK;
}

enum weir_status weir_place_settle(struct weir_job_place *place, struct weir_error *err)
{
    enum weir_status status = sync_directory(place, place->temporary, err);
    if (status)
        return status;
    weir_hooks_at(place->hooks, WEIR_POINT_JOB_SYNCED);
    status = move(place, err);
    if (status)
        return status;
    struct weir_path parent = weir_path_join(place->directory, "..");
    return sync_directory(place, parent.text, err);
}

/* --- an existing one -------------------------------------------------------------------------- */

enum weir_status weir_place_init(struct weir_job_place *place, const char *directory,
                                 const struct weir_journal_hooks *hooks, struct weir_error *err)
{
    char path[WEIR_JOURNAL_PATH_MAX];
    *place = (struct weir_job_place){ .lock_fd = -1, .hooks = hooks };
    if (!tidy(directory, path) || !(place->directory = realpath(path, NULL)))
        return weir_fail(err, WEIR_E_NOT_FOUND, "there is no job in \"%.300s\"", directory);
    struct weir_path journal = weir_path_join(place->directory, WEIR_PLACE_DATABASE);
    enum weir_status status = WEIR_OK;
    if (access(journal.text, F_OK))
        status = weir_fail(err, WEIR_E_NOT_FOUND, "there is no job in \"%.300s\"", directory);
    if (status == WEIR_OK)
        status = take_lock(place, err);
    if (status)
        weir_place_release(place);
    return status;
}

static void remove_temporary(const char *directory)
{
    static const char *const names[] = { WEIR_PLACE_DATABASE,
                                         WEIR_PLACE_DATABASE "-journal",
                                         WEIR_PLACE_DATABASE "-wal",
                                         WEIR_PLACE_DATABASE "-shm",
                                         WEIR_PLACE_SEAL,
                                         WEIR_PLACE_LOCK };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        unlink(weir_path_join(directory, names[i]).text);
    rmdir(directory);
}

void weir_place_release(struct weir_job_place *place)
{
    if (place->temporary)
        remove_temporary(place->temporary);
    if (place->hooks && place->lock_fd >= 0) {
        (void)weir_hooks_ftruncate(place->hooks, place->lock_fd, 0);
        close(place->lock_fd);
    }
    free(place->temporary);
    free(place->directory);
    *place = (struct weir_job_place){ .lock_fd = -1 };
}
