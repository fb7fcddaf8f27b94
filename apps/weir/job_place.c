/* SPDX-License-Identifier: MIT */
/* Where jobs live; see job_place.h. */
#include "job_place.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/rng.h"
#include "journal/place.h"

#define ID_TABLE_MAX   64  /* of a table's name in an id; a longer one is cut */
#define NAME_CHARS_MAX 100 /* of a name that somebody gives */

/* By the rules of XDG a relative path is as good as none. The caller frees it; NULL: no home. */
static char *find_root(void)
{
    struct weir_buf path;
    const char *state = getenv("XDG_STATE_HOME");
    const char *home = getenv("HOME");
    weir_buf_init(&path, WEIR_JOURNAL_PATH_MAX);
    if (state && state[0] == '/')
        weir_buf_printf(&path, "%s/weir/jobs", state);
    else if (home && home[0] == '/')
        weir_buf_printf(&path, "%s/.local/state/weir/jobs", home);
    if (path.len > 0 && !path.overflow)
        return weir_buf_take(&path);
    weir_buf_release(&path);
    return NULL;
}

static bool is_directory(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

static char *join(const char *directory, const char *name)
{
    struct weir_buf path;
    weir_buf_init(&path, 2 * WEIR_JOURNAL_PATH_MAX);
    weir_buf_printf(&path, "%s/%s", directory, name);
    return weir_buf_take(&path);
}

/* A table's name comes from the command line: nothing of it may lead elsewhere. */
static void add_table(struct weir_buf *id, const char *table)
{
    for (size_t i = 0; i < ID_TABLE_MAX && table[i]; i++) {
        char c = table[i];
        bool plain =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        weir_buf_add_char(id, plain ? c : '_');
    }
}

static char *make_id(const char *table, const char *operation)
{
    char moment[32];
    struct tm parts;
    struct weir_buf id;
    time_t now = weir_clock_wall_us() / WEIR_US_PER_S;
    gmtime_r(&now, &parts);
    strftime(moment, sizeof(moment), "%Y%m%d-%H%M%S", &parts);
    weir_buf_init(&id, WEIR_JOURNAL_NAME_MAX);
    weir_buf_printf(&id, "%s-", moment);
    add_table(&id, table);
    weir_buf_printf(&id, "-%s-%04x", operation, (unsigned)(weir_rng_system_seed() & 0xffff));
    return weir_buf_take(&id);
}

enum weir_status job_place_root(char **ret, struct weir_error *err)
{
    *ret = find_root();
    if (*ret)
        return WEIR_OK;
    return weir_fail(err, WEIR_E_INVALID,
                     "no place for jobs: neither XDG_STATE_HOME nor HOME is an absolute path");
}

enum weir_status job_place_new(const char *table, const char *operation, char **ret,
                               struct weir_error *err)
{
    char *root = find_root();
    if (!root)
        return weir_fail(err, WEIR_E_INVALID,
                         "no place for the job: neither XDG_STATE_HOME nor HOME is an absolute "
                         "path; give --job-dir");
    char *id = make_id(table, operation);
    *ret = join(root, id);
    free(id);
    free(root);
    return WEIR_OK;
}

/* The working directory may be another one when the job is resumed. */
static char *make_absolute(const char *path)
{
    char here[WEIR_JOURNAL_PATH_MAX];
    while (path[0] == '.' && path[1] == '/') /* as in ./job: it says nothing */
        path += 1 + strspn(path + 1, "/");
    if (path[0] == '/' || !getcwd(here, sizeof(here)))
        return weir_strdup(path);
    return join(here, path);
}

enum weir_status job_place_given(const char *directory, char **ret, struct weir_error *err)
{
    if (!directory[0])
        return weir_fail(err, WEIR_E_INVALID, "--job-dir is \"\"; it must be a directory");
    *ret = make_absolute(directory);
    return WEIR_OK;
}

/* What can be typed without quotes and is neither hidden nor an option. */
static bool is_name(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "._-";
    size_t len = strlen(name);
    return len > 0 && len <= NAME_CHARS_MAX && name[0] != '.' && name[0] != '-' &&
           strspn(name, letters) == len;
}

enum weir_status job_place_named(const char *name, char **ret, struct weir_error *err)
{
    char *root;
    if (!is_name(name))
        return weir_fail(err, WEIR_E_INVALID,
                         "--job is \"%.100s\"; it must be up to %d letters, digits, dots, dashes "
                         "and underscores, and begin with a letter, a digit or an underscore",
                         name, NAME_CHARS_MAX);
    enum weir_status status = job_place_root(&root, err);
    if (status)
        return status;
    *ret = join(root, name);
    free(root);
    return WEIR_OK;
}

enum weir_status job_place_find(const char *job, char **ret, struct weir_error *err)
{
    char *root = find_root();
    char *below = root && job[0] && !strchr(job, '/') && job[0] != '.' ? join(root, job) : NULL;
    enum weir_status status = WEIR_OK;
    if (below && is_directory(below))
        *ret = weir_strdup(below);
    else if (is_directory(job))
        *ret = make_absolute(job);
    else
        status = weir_fail(err, WEIR_E_NOT_FOUND,
                           "there is no job \"%.200s\" in \"%.200s\", and no such directory", job,
                           root ? root : "~/.local/state/weir/jobs");
    free(below);
    free(root);
    return status;
}

/* An id that begins with a dot or a dash would be read as something else. */
char *job_place_name(const char *directory)
{
    char *root = find_root();
    size_t len = root ? strlen(root) : 0;
    const char *name = directory;
    if (root && strncmp(directory, root, len) == 0 && directory[len] == '/')
        name = directory + len + 1;
    if (!name[0] || name[0] == '.' || name[0] == '-' || strchr(name, '/'))
        name = directory;
    free(root);
    return weir_strdup(name);
}

/* XDG_STATE_HOME is often set for one command and not for the next. */
char *job_place_word(const char *directory)
{
    const char *state = getenv("XDG_STATE_HOME");
    return state && state[0] ? weir_strdup(directory) : job_place_name(directory);
}

bool job_place_has_job(const char *directory)
{
    char *journal = join(directory, WEIR_PLACE_DATABASE);
    bool there = access(journal, F_OK) == 0;
    free(journal);
    return there;
}

char *job_place_rejects(const char *directory)
{
    static const char *const names[] = { "rejects.csv", "rejects.tsv", "rejects.jsonl" };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char *path = join(directory, names[i]);
        if (access(path, F_OK) == 0)
            return path;
        free(path);
    }
    return NULL;
}
