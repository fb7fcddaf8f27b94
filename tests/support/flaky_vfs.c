/* SPDX-License-Identifier: MIT */
/* A file system that fails when it is told to; see flaky_vfs.h. */
#include "support/flaky_vfs.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

struct file {
    sqlite3_file base;
    sqlite3_file *real; /* behind this struct */
    char *path;
};

/* What stood there before a write that may be taken back. */
struct undo {
    struct undo *next;
    char *path;
    off_t at;
    size_t len;
    off_t file_bytes;
    char bytes[];
};

static sqlite3_vfs *real;
static sqlite3_vfs vfs;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Under the lock. */
static enum flaky_op failing;
static enum flaky_how failing_how;
static uint64_t failing_nth, calls, changes_after, changes_left;
static bool has_failed, lying, watching, without_power;
static struct undo *undos;

static const int errors[FLAKY_OPS] = {
    [FLAKY_OPEN] = SQLITE_CANTOPEN,     [FLAKY_READ] = SQLITE_IOERR_READ,
    [FLAKY_WRITE] = SQLITE_IOERR_WRITE, [FLAKY_TRUNCATE] = SQLITE_IOERR_TRUNCATE,
    [FLAKY_SYNC] = SQLITE_IOERR_FSYNC,  [FLAKY_DELETE] = SQLITE_IOERR_DELETE,
};

const char *flaky_op_name(enum flaky_op op)
{
    static const char *const names[FLAKY_OPS] = { "open",     "read", "write",
                                                  "truncate", "sync", "delete" };
    return names[op];
}

/* --- deciding --------------------------------------------------------------------------------- */

static bool is_change(enum flaky_op op)
{
    return op == FLAKY_WRITE || op == FLAKY_TRUNCATE || op == FLAKY_SYNC || op == FLAKY_DELETE;
}

/* SQLITE_OK, or what this call returns instead. */
static int decide(enum flaky_op op)
{
    int rc = SQLITE_OK;
    pthread_mutex_lock(&lock);
    if (has_failed && is_change(op))
        changes_after++;
    if (changes_left > 0 && is_change(op) && --changes_left == 0)
        without_power = true;
    if (without_power && is_change(op))
        rc = errors[op];
    else if (failing_nth && op == failing && ++calls == failing_nth) {
        has_failed = true;
        errno = failing_how == FLAKY_ERROR ? EIO : ENOSPC;
        rc = failing_how == FLAKY_ERROR || op == FLAKY_READ ? errors[op] : SQLITE_FULL;
    }
    pthread_mutex_unlock(&lock);
    return rc;
}

static void remember(struct file *file, off_t at, size_t len)
{
    sqlite3_int64 bytes = 0;
    pthread_mutex_lock(&lock);
    if (lying || watching) {
        struct undo *undo = weir_calloc(1, sizeof(*undo) + len);
        file->real->pMethods->xFileSize(file->real, &bytes);
        if (len > 0)
            file->real->pMethods->xRead(file->real, undo->bytes, (int)len, at);
        undo->path = weir_strdup(file->path);
        undo->at = at;
        undo->len = len;
        undo->file_bytes = bytes;
        undo->next = undos;
        undos = undo;
    }
    pthread_mutex_unlock(&lock);
}

/* What was written to the file is safe now. */
static void settle(const char *path)
{
    pthread_mutex_lock(&lock);
    for (struct undo **at = &undos; *at;) {
        struct undo *undo = *at;
        if (strcmp(undo->path, path) != 0) {
            at = &undo->next;
            continue;
        }
        *at = undo->next;
        free(undo->path);
        free(undo);
    }
    pthread_mutex_unlock(&lock);
}

/* --- files ------------------------------------------------------------------------------------ */

static sqlite3_file *behind(sqlite3_file *file)
{
    return ((struct file *)file)->real;
}

static int file_close(sqlite3_file *file)
{
    int rc = behind(file)->pMethods->xClose(behind(file));
    free(((struct file *)file)->path);
    return rc;
}

static int file_read(sqlite3_file *file, void *bytes, int len, sqlite3_int64 at)
{
    int rc = decide(FLAKY_READ);
    return rc ? rc : behind(file)->pMethods->xRead(behind(file), bytes, len, at);
}

static int file_write(sqlite3_file *file, const void *bytes, int len, sqlite3_int64 at)
{
    int rc = decide(FLAKY_WRITE);
    if (rc && failing_how == FLAKY_SHORT && !without_power)
        behind(file)->pMethods->xWrite(behind(file), bytes, len / 2, at);
    if (rc)
        return rc;
    remember((struct file *)file, at, (size_t)len);
    return behind(file)->pMethods->xWrite(behind(file), bytes, len, at);
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 len)
{
    sqlite3_int64 bytes = len;
    int rc = decide(FLAKY_TRUNCATE);
    if (rc)
        return rc;
    behind(file)->pMethods->xFileSize(behind(file), &bytes);
    if (bytes > len)
        remember((struct file *)file, len, (size_t)(bytes - len));
    return behind(file)->pMethods->xTruncate(behind(file), len);
}

static bool is_lying(void)
{
    pthread_mutex_lock(&lock);
    bool is = lying;
    pthread_mutex_unlock(&lock);
    return is;
}

static int file_sync(sqlite3_file *file, int flags)
{
    int rc = decide(FLAKY_SYNC);
    if (rc || is_lying())
        return rc;
    rc = behind(file)->pMethods->xSync(behind(file), flags);
    if (rc == SQLITE_OK)
        settle(((struct file *)file)->path);
    return rc;
}

static int file_size(sqlite3_file *file, sqlite3_int64 *ret)
{
    return behind(file)->pMethods->xFileSize(behind(file), ret);
}

static int file_lock(sqlite3_file *file, int level)
{
    return behind(file)->pMethods->xLock(behind(file), level);
}

static int file_unlock(sqlite3_file *file, int level)
{
    return behind(file)->pMethods->xUnlock(behind(file), level);
}

static int file_reserved(sqlite3_file *file, int *ret)
{
    return behind(file)->pMethods->xCheckReservedLock(behind(file), ret);
}

static int file_control(sqlite3_file *file, int op, void *arg)
{
    return behind(file)->pMethods->xFileControl(behind(file), op, arg);
}

static int file_sector(sqlite3_file *file)
{
    return behind(file)->pMethods->xSectorSize(behind(file));
}

static int file_device(sqlite3_file *file)
{
    return behind(file)->pMethods->xDeviceCharacteristics(behind(file));
}

static int file_shm_map(sqlite3_file *file, int page, int bytes, int extend, void volatile **ret)
{
    return behind(file)->pMethods->xShmMap(behind(file), page, bytes, extend, ret);
}

static int file_shm_lock(sqlite3_file *file, int offset, int n, int flags)
{
    return behind(file)->pMethods->xShmLock(behind(file), offset, n, flags);
}

static void file_shm_barrier(sqlite3_file *file)
{
    behind(file)->pMethods->xShmBarrier(behind(file));
}

static int file_shm_unmap(sqlite3_file *file, int delete_it)
{
    return behind(file)->pMethods->xShmUnmap(behind(file), delete_it);
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_reserved,
    .xFileControl = file_control,
    .xSectorSize = file_sector,
    .xDeviceCharacteristics = file_device,
    .xShmMap = file_shm_map,
    .xShmLock = file_shm_lock,
    .xShmBarrier = file_shm_barrier,
    .xShmUnmap = file_shm_unmap,
};

static sqlite3_io_methods unshared; /* the same, of the first version: without shared memory */
static bool is_unshared;

/* --- the file system -------------------------------------------------------------------------- */

static int vfs_open(sqlite3_vfs *self, const char *path, sqlite3_file *opened, int flags, int *ret)
{
    struct file *file = (struct file *)opened;
    (void)self;
    *file = (struct file){ .real = (sqlite3_file *)(file + 1) };
    int rc = decide(FLAKY_OPEN);
    if (rc == SQLITE_OK)
        rc = real->xOpen(real, path, file->real, flags, ret);
    if (rc)
        return rc == SQLITE_FULL ? SQLITE_CANTOPEN : rc;
    file->path = weir_strdup(path ? path : "");
    file->base.pMethods = is_unshared ? &unshared : &methods;
    return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *self, const char *path, int sync)
{
    (void)self;
    int rc = decide(FLAKY_DELETE);
    return rc ? rc : real->xDelete(real, path, sync);
}

void flaky_register(void)
{
    if (real)
        return;
    real = sqlite3_vfs_find(NULL);
    vfs = *real;
    vfs.pNext = NULL;
    vfs.zName = FLAKY_VFS;
    vfs.szOsFile = (int)sizeof(struct file) + real->szOsFile;
    vfs.xOpen = vfs_open;
    vfs.xDelete = vfs_delete;
    sqlite3_vfs_register(&vfs, 0);
}

void flaky_share(bool shared)
{
    unshared = methods;
    unshared.iVersion = 1;
    is_unshared = !shared;
}

void flaky_fail(enum flaky_op op, enum flaky_how how, uint64_t nth)
{
    pthread_mutex_lock(&lock);
    failing = op;
    failing_how = how;
    failing_nth = nth;
    calls = changes_after = changes_left = 0;
    has_failed = lying = watching = without_power = false;
    pthread_mutex_unlock(&lock);
}

bool flaky_has_failed(void)
{
    pthread_mutex_lock(&lock);
    bool failed = has_failed;
    pthread_mutex_unlock(&lock);
    return failed;
}

uint64_t flaky_changes_after(void)
{
    pthread_mutex_lock(&lock);
    uint64_t changes = changes_after;
    pthread_mutex_unlock(&lock);
    return changes;
}

void flaky_lie(void)
{
    pthread_mutex_lock(&lock);
    lying = true;
    pthread_mutex_unlock(&lock);
}

void flaky_watch_power(uint64_t nth)
{
    pthread_mutex_lock(&lock);
    watching = true;
    changes_left = nth;
    pthread_mutex_unlock(&lock);
}

void flaky_cut_power(void)
{
    pthread_mutex_lock(&lock);
    without_power = true;
    pthread_mutex_unlock(&lock);
}

/* False: it could not be taken back. */
static bool take_back(const struct undo *undo)
{
    int fd = open(undo->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    bool done = undo->len == 0 || pwrite(fd, undo->bytes, undo->len, undo->at) >= 0;
    done = ftruncate(fd, undo->file_bytes) == 0 && done;
    close(fd);
    return done;
}

void flaky_forget(void)
{
    while (undos) {
        struct undo *undo = undos;
        undos = undo->next;
        if (!take_back(undo))
            abort();
        free(undo->path);
        free(undo);
    }
    lying = watching = without_power = false;
    changes_left = 0;
}
