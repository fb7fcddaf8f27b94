/* SPDX-License-Identifier: MIT */
/* How far the journal has come; see seal.h. */
#include "journal/seal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/error.h"

#define SLOT_BYTES 512
#define TEXT_BYTES 96

/* What a slot says: text, so that people can read it too. */
struct slot {
    uint64_t opened;
    uint64_t serial;
    uint32_t state; /* its checksum */
    uint32_t facts;
};

static enum weir_status fail(struct weir_error *err)
{
    return weir_fail(err, WEIR_E_IO, "the journal's seal cannot be read or written: %s",
                     weir_hooks_reason(errno));
}

static void print(const struct weir_state *state, char text[TEXT_BYTES])
{
    memset(text, 0, TEXT_BYTES);
    int len =
        snprintf(text, TEXT_BYTES, "%016llx %016llx %08x %08x", (unsigned long long)state->opened,
                 (unsigned long long)state->serial, weir_state_crc(state), state->facts);
    snprintf(text + len, TEXT_BYTES - (size_t)len, " %08x\n", weir_crc32c(0, text, (size_t)len));
}

/* Exactly as it is printed, or not at all. */
static bool parse(const char text[TEXT_BYTES], struct slot *ret)
{
    unsigned long long opened, serial;
    unsigned state, facts, crc;
    char copy[TEXT_BYTES + 1] = "";
    memcpy(copy, text, TEXT_BYTES);
    if (sscanf(copy, "%16llx %16llx %8x %8x %8x\n", &opened, &serial, &state, &facts, &crc) != 5)
        return false;
    int len =
        snprintf(copy, sizeof(copy), "%016llx %016llx %08x %08x", opened, serial, state, facts);
    if (memcmp(copy, text, (size_t)len) != 0 || weir_crc32c(0, text, (size_t)len) != crc)
        return false;
    *ret = (struct slot){ opened, serial, state, facts };
    return true;
}

enum weir_status weir_seal_write(struct weir_seal *seal, const struct weir_state *state,
                                 struct weir_error *err)
{
    char text[TEXT_BYTES];
    print(state, text);
    off_t at = (off_t)(seal->turn++ % 2) * SLOT_BYTES;
    return weir_hooks_pwrite(seal->hooks, seal->fd, text, sizeof(text), at) ? fail(err) : WEIR_OK;
}

enum weir_status weir_seal_make(struct weir_seal *seal, const char *path,
                                const struct weir_state *state,
                                const struct weir_journal_hooks *hooks, struct weir_error *err)
{
    *seal = (struct weir_seal){ .hooks = hooks };
    seal->fd = weir_hooks_open(hooks, path, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (seal->fd < 0)
        return fail(err);
    enum weir_status status = weir_seal_write(seal, state, err);
    if (status == WEIR_OK)
        status = weir_seal_write(seal, state, err);
    if (status)
        weir_seal_release(seal);
    return status;
}

enum weir_status weir_seal_init(struct weir_seal *seal, const char *path,
                                const struct weir_journal_hooks *hooks, struct weir_error *err)
{
    *seal = (struct weir_seal){ .hooks = hooks };
    seal->fd = weir_hooks_open(hooks, path, O_RDWR, 0);
    if (seal->fd < 0 && errno == ENOENT)
        return weir_sql_damaged(err, "journal.seal is missing");
    if (seal->fd < 0)
        return fail(err);
    if (flock(seal->fd, LOCK_EX | LOCK_NB) == 0)
        return WEIR_OK;
    weir_seal_release(seal);
    return weir_fail(err, WEIR_E_INVALID,
                     "another process works on the job: its file \"lock\" must not be removed");
}

static bool newer(const struct slot *a, const struct slot *b)
{
    return a->opened > b->opened || (a->opened == b->opened && a->serial > b->serial);
}

/* The better of the two slots; the next one written will be the other. */
static enum weir_status read_slots(struct weir_seal *seal, struct slot *ret, struct weir_error *err)
{
    bool found = false;
    for (uint64_t i = 0; i < 2; i++) {
        char text[TEXT_BYTES] = "";
        struct slot slot;
        if (pread(seal->fd, text, sizeof(text), (off_t)i * SLOT_BYTES) < 0)
            return fail(err);
        if (!parse(text, &slot) || (found && !newer(&slot, ret)))
            continue;
        *ret = slot;
        seal->turn = i + 1;
        found = true;
    }
    return found ? WEIR_OK : weir_sql_damaged(err, "journal.seal cannot be read");
}

enum weir_status weir_seal_check(struct weir_seal *seal, const struct weir_state *state,
                                 struct weir_error *err)
{
    struct slot slot = { 0 };
    enum weir_status status = read_slots(seal, &slot, err);
    if (status)
        return status;
    struct slot now = { state->opened, state->serial, weir_state_crc(state), state->facts };
    if (slot.facts != now.facts)
        return weir_sql_damaged(err, "journal.seal is another job's");
    if (newer(&slot, &now))
        return weir_sql_damaged(err, "its last records are gone: it is behind its seal");
    if (!newer(&now, &slot) && slot.state != now.state)
        return weir_sql_damaged(err, "it is not what was sealed");
    return WEIR_OK;
}

enum weir_status weir_seal_sync(struct weir_seal *seal, struct weir_error *err)
{
    return weir_hooks_fsync(seal->hooks, seal->fd) ? fail(err) : WEIR_OK;
}

void weir_seal_release(struct weir_seal *seal)
{
    if (seal->hooks && seal->fd >= 0)
        close(seal->fd);
    *seal = (struct weir_seal){ .fd = -1 };
}
