/* SPDX-License-Identifier: MIT */
/*
 * Rows of other tables by a value; see references.h. Values are kept as they are compared, one
 * behind the other; a hash of list and value leads to the first entry that has it, entries of the
 * same hash are chained.
 *
 *     "Müller  " ──fold──▶ muller ──hash──▶ entry ──▶ entry ──▶ none
 */
#include "records/references.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/table64.h"
#include "records/cell_kinds.h"
#include "records/fold.h"

#define NONE UINT32_MAX

struct entry {
    struct weir_str value; /* as it is compared */
    uint32_t list;
    uint32_t next; /* of the same hash; NONE: the last */
    bool ambiguous;
    struct weir_guid id;
};

struct weir_references {
    struct entry *entries;
    uint32_t count;
    uint32_t capacity;
    struct weir_table64 first; /* hash -> entry */
    struct weir_arena *texts;
};

struct weir_references *weir_references_new(void)
{
    struct weir_references *references = weir_calloc(1, sizeof(*references));
    weir_table64_init(&references->first);
    references->texts = weir_arena_new(WEIR_REFERENCES_BYTES_MAX);
    return references;
}

void weir_references_free(struct weir_references *references)
{
    if (!references)
        return;
    weir_table64_release(&references->first);
    weir_arena_unref(references->texts);
    free(references->entries);
    free(references);
}

/* ---- values as they are compared ---- */

/* What is left of a text; blanks are held back until something follows them. */
struct folding {
    struct weir_str rest;
    size_t blanks;
    char held[WEIR_FOLD_BYTES]; /* what comes behind the blanks */
    size_t held_len;
};

/* Ids are equal in any form; `canonical` is memory for one. */
static struct folding fold(struct weir_str value, char canonical[WEIR_GUID_TEXT])
{
    struct weir_guid guid;
    if (weir_cell_guid(value, &guid))
        value = weir_str_from(weir_guid_print(&guid, canonical));
    return (struct folding){ .rest = value };
}

/* The next bytes, WEIR_FOLD_BYTES at most; 0: that was all. */
static size_t next(struct folding *folding, char ret[WEIR_FOLD_BYTES])
{
    while (!folding->held_len && folding->rest.len) {
        size_t len = weir_fold_next(&folding->rest, folding->held);
        if (len == 1 && folding->held[0] == ' ')
            folding->blanks++;
        else
            folding->held_len = len;
    }
    if (!folding->held_len)
        return 0;
    if (folding->blanks) {
        folding->blanks--;
        ret[0] = ' ';
        return 1;
    }
    size_t len = folding->held_len;
    memcpy(ret, folding->held, len);
    folding->held_len = 0;
    return len;
}

static uint64_t hash_of(uint32_t list, struct weir_str value, size_t *ret_len)
{
    char canonical[WEIR_GUID_TEXT];
    char bytes[WEIR_FOLD_BYTES];
    struct folding folding = fold(value, canonical);
    uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ list;
    *ret_len = 0;
    for (size_t len; (len = next(&folding, bytes)); *ret_len += len) {
        for (size_t i = 0; i < len; i++)
            hash = (hash ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
    }
    return hash ? hash : 1;
}

static bool is_same(const struct entry *entry, uint32_t list, struct weir_str value)
{
    char canonical[WEIR_GUID_TEXT];
    char bytes[WEIR_FOLD_BYTES];
    struct folding folding = fold(value, canonical);
    size_t at = 0;
    if (entry->list != list)
        return false;
    for (size_t len; (len = next(&folding, bytes)); at += len) {
        if (entry->value.len - at < len || memcmp(entry->value.ptr + at, bytes, len) != 0)
            return false;
    }
    return at == entry->value.len;
}

static struct entry *find(const struct weir_references *references, uint64_t hash, uint32_t list,
                          struct weir_str value)
{
    uint64_t at;
    if (!weir_table64_find(&references->first, hash, &at))
        return NULL;
    for (; at != NONE; at = references->entries[at].next) {
        if (is_same(&references->entries[at], list, value))
            return &references->entries[at];
    }
    return NULL;
}

/* ---- adding ---- */

static struct entry *append(struct weir_references *references, uint64_t hash)
{
    uint64_t first = NONE;
    if (references->count == references->capacity) {
        references->capacity = references->capacity ? references->capacity * 2 : 64;
        references->entries =
            weir_realloc(references->entries, references->capacity, sizeof(*references->entries));
    }
    struct entry *entry = &references->entries[references->count];
    weir_table64_find(&references->first, hash, &first);
    weir_table64_set(&references->first, hash, references->count++);
    *entry = (struct entry){ .next = (uint32_t)first };
    return entry;
}

static struct weir_str keep(struct weir_references *references, struct weir_str value, size_t bytes)
{
    char canonical[WEIR_GUID_TEXT];
    char some[WEIR_FOLD_BYTES];
    struct folding folding = fold(value, canonical);
    char *memory = weir_arena_take(references->texts, bytes);
    char *to = memory;
    for (size_t len; memory && (len = next(&folding, some)); to += len)
        memcpy(to, some, len);
    return weir_str(memory, bytes);
}

enum weir_status weir_references_add(struct weir_references *references, uint32_t list,
                                     struct weir_str value, const struct weir_guid *id,
                                     struct weir_error *err)
{
    size_t bytes;
    uint64_t hash = hash_of(list, value, &bytes);
    if (!bytes)
        return WEIR_OK;
    struct entry *known = find(references, hash, list, value);
    if (known) {
        known->ambiguous = known->ambiguous || !weir_guid_equal(&known->id, id);
        return WEIR_OK;
    }
    if (references->count == WEIR_REFERENCES_MAX || !weir_arena_fits(references->texts, bytes))
        return weir_fail(err, WEIR_E_TOO_BIG,
                         "the tables that lookups refer to by a column have more than %d rows, or "
                         "%zu bytes; refer to them by an alternate key, or by ids",
                         WEIR_REFERENCES_MAX, WEIR_REFERENCES_BYTES_MAX);
    struct entry *entry = append(references, hash);
    entry->value = keep(references, value, bytes);
    entry->list = list;
    entry->id = *id;
    return WEIR_OK;
}

enum weir_reference weir_references_find(const struct weir_references *references, uint32_t list,
                                         struct weir_str value, struct weir_guid *ret)
{
    size_t bytes;
    uint64_t hash = hash_of(list, value, &bytes);
    const struct entry *entry = bytes ? find(references, hash, list, value) : NULL;
    if (!entry)
        return WEIR_REFERENCE_MISSING;
    if (entry->ambiguous)
        return WEIR_REFERENCE_AMBIGUOUS;
    *ret = entry->id;
    return WEIR_REFERENCE_FOUND;
}
