/* SPDX-License-Identifier: MIT */
/* Whether an input is still the one that a job began with; see identity.h. */
#include "records/identity.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "records/hash.h"

#define CHANGED "input \"%s\" has changed since the job began: "

/* ---- files on disk ---- */

/* `len` bytes at `offset`; fewer only if the file ends. -1: errno. */
static ssize_t read_at(int fd, char *to, size_t len, uint64_t offset)
{
    size_t have = 0;
    while (have < len) {
        ssize_t got = pread(fd, to + have, len - have, (off_t)(offset + have));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        have += (size_t)got;
    }
    return (ssize_t)have;
}

static bool hash_edge(int fd, uint64_t offset, char *room, uint64_t *ret)
{
    ssize_t got = read_at(fd, room, WEIR_INPUT_EDGE_BYTES, offset);
    if (got < 0)
        return false;
    *ret = weir_hash64(room, (size_t)got);
    return true;
}

enum weir_status weir_file_identity_read(int fd, const char *name, struct weir_file_identity *ret,
                                         struct weir_error *err)
{
    struct stat about;
    if (fstat(fd, &about))
        return weir_fail(err, WEIR_E_IO, "input \"%s\" cannot be read: %s", name, strerror(errno));
    struct weir_file_identity identity = { .on_disk = S_ISREG(about.st_mode) };
    if (!identity.on_disk) {
        *ret = identity;
        return WEIR_OK;
    }
    identity.bytes = (uint64_t)about.st_size;
    uint64_t tail_at =
        identity.bytes > WEIR_INPUT_EDGE_BYTES ? identity.bytes - WEIR_INPUT_EDGE_BYTES : 0;
    char *room = weir_realloc(NULL, WEIR_INPUT_EDGE_BYTES, 1);
    bool ok =
        hash_edge(fd, 0, room, &identity.head) && hash_edge(fd, tail_at, room, &identity.tail);
    int error = errno;
    free(room);
    if (!ok)
        return weir_fail(err, WEIR_E_IO, "input \"%s\" cannot be read: %s", name, strerror(error));
    *ret = identity;
    return WEIR_OK;
}

enum weir_status weir_file_identity_compare(const char *name, const struct weir_file_identity *then,
                                            const struct weir_file_identity *now,
                                            struct weir_error *err)
{
    if (then->on_disk != now->on_disk)
        return weir_fail(err, WEIR_E_INVALID, CHANGED "it was %s and is %s now", name,
                         then->on_disk ? "a file" : "a stream",
                         now->on_disk ? "a file" : "a stream");
    if (then->bytes != now->bytes)
        return weir_fail(err, WEIR_E_INVALID,
                         CHANGED "it had %" PRIu64 " bytes and has %" PRIu64 " now", name,
                         then->bytes, now->bytes);
    if (then->head != now->head)
        return weir_fail(err, WEIR_E_INVALID, CHANGED "its first MiB differs", name);
    if (then->tail != now->tail)
        return weir_fail(err, WEIR_E_INVALID, CHANGED "its last MiB differs", name);
    return WEIR_OK;
}

/* ---- blocks ---- */

struct weir_block weir_block_grow(uint32_t file, uint64_t index, struct weir_str bytes, bool last,
                                  struct weir_hash_run *run)
{
    return (struct weir_block){ .file = file,
                                .index = index,
                                .bytes = (uint32_t)bytes.len,
                                .last = last,
                                .hash = weir_hash_run_to(run, bytes.ptr, bytes.len) };
}

struct weir_block weir_block_make(uint32_t file, uint64_t index, struct weir_str bytes, bool last)
{
    struct weir_hash_run run;
    weir_hash_run_init(&run);
    return weir_block_grow(file, index, bytes, last, &run);
}

enum weir_status weir_block_compare(const char *name, const struct weir_block *then,
                                    struct weir_str bytes, bool last, struct weir_error *err)
{
    uint64_t begin = then->index * WEIR_INPUT_BLOCK_BYTES;
    uint64_t end = begin + then->bytes;
    if (bytes.len < then->bytes)
        return weir_fail(err, WEIR_E_INVALID,
                         CHANGED "it ends at byte %" PRIu64 " and reached byte %" PRIu64 " before",
                         name, begin + bytes.len, end);
    if (then->bytes && weir_hash64(bytes.ptr, then->bytes) != then->hash)
        return weir_fail(err, WEIR_E_INVALID,
                         CHANGED "block %" PRIu64 " (bytes %" PRIu64 " to %" PRIu64 ") differs",
                         name, then->index, begin, end - 1);
    if (then->last && (bytes.len > then->bytes || !last))
        return weir_fail(err, WEIR_E_INVALID,
                         CHANGED "it goes on behind byte %" PRIu64 ", where it ended before", name,
                         end);
    return WEIR_OK;
}
