/* SPDX-License-Identifier: MIT */
/*
 * No name twice in an object; see jsonl_parts.h. A table of slots that is never emptied: every
 * record has a turn of its own, and a slot of another turn is empty. Members of all objects of a
 * record stand in it; the object is part of the key. The table grows with the widest record, up to
 * the bound on members, and stays so.
 */
#include "base/mem.h"
#include "records/hash.h"
#include "records/jsonl_parts.h"

/* Up to this length names are hashed here, two words and a multiplication. */
#define SHORT_BYTES 16

#define FIRST_MEMBERS 64

/* Any odd numbers with about as many ones as zeros will do. */
#define KEY_A UINT64_C(0x9e3779b97f4a7c15)
#define KEY_B UINT64_C(0xd1b54a32d192ed03)

void weir_jsonl_names_release(struct weir_jsonl *jsonl)
{
    free(jsonl->slots);
    free(jsonl->members);
}

void weir_jsonl_names_reset(struct weir_jsonl *jsonl)
{
    jsonl->member_count = 0;
    if (++jsonl->turn)
        return;
    if (jsonl->slots)
        memset(jsonl->slots, 0, 2 * (size_t)jsonl->member_capacity * sizeof(*jsonl->slots));
    jsonl->turn = 1;
}

/* Of 1 to 16 bytes: the first and the last eight, which may overlap. */
static inline uint64_t hash_short(const char *bytes, size_t len)
{
    uint64_t a = 0;
    uint64_t b = 0;
    if (len >= 8) {
        memcpy(&a, bytes, 8);
        memcpy(&b, bytes + len - 8, 8);
    } else if (len >= 4) {
        memcpy(&a, bytes, 4);
        memcpy(&b, bytes + len - 4, 4);
    } else if (len) {
        a = (unsigned char)bytes[0] | (uint64_t)(unsigned char)bytes[len / 2] << 8 |
            (uint64_t)(unsigned char)bytes[len - 1] << 16;
    }
    return (a ^ len) * KEY_A + b * KEY_B;
}

static inline uint32_t hash_of(const char *bytes, size_t len, uint32_t object)
{
    uint64_t hash = len <= SHORT_BYTES ? hash_short(bytes, len) : weir_hash64(bytes, len);
    hash += object * KEY_B;
    hash ^= hash >> 32;
    hash *= KEY_A;
    return (uint32_t)(hash >> 32);
}

static inline bool is_same(const struct weir_jsonl *jsonl, const struct weir_jsonl_member *a,
                           const struct weir_jsonl_member *b)
{
    return a->hash == b->hash && a->object == b->object && a->name.len == b->name.len &&
           !memcmp(weir_jsonl_text_at(jsonl, a->name), weir_jsonl_text_at(jsonl, b->name),
                   a->name.len);
}

/* The slot of a member that has its name already, or the empty one that it goes into. */
static inline struct weir_jsonl_slot *find_slot(struct weir_jsonl *jsonl,
                                                const struct weir_jsonl_member *member)
{
    uint32_t mask = 2 * jsonl->member_capacity - 1;
    uint32_t at = member->hash & mask;
    while (jsonl->slots[at].turn == jsonl->turn &&
           !is_same(jsonl, &jsonl->members[jsonl->slots[at].member], member))
        at = (at + 1) & mask;
    return &jsonl->slots[at];
}

static void grow(struct weir_jsonl *jsonl)
{
    uint32_t capacity = jsonl->member_capacity ? 2 * jsonl->member_capacity : FIRST_MEMBERS;
    jsonl->members = weir_realloc(jsonl->members, capacity, sizeof(*jsonl->members));
    free(jsonl->slots);
    jsonl->slots = weir_calloc(2 * (size_t)capacity, sizeof(*jsonl->slots));
    jsonl->member_capacity = capacity;
    for (uint32_t i = 0; i < jsonl->member_count; i++)
        *find_slot(jsonl, &jsonl->members[i]) = (struct weir_jsonl_slot){ jsonl->turn, i };
}

bool weir_jsonl_names_add(struct weir_jsonl *jsonl, struct weir_jsonl_text name, uint32_t object)
{
    if (jsonl->member_count == jsonl->member_capacity)
        grow(jsonl);
    struct weir_jsonl_member *member = &jsonl->members[jsonl->member_count];
    *member = (struct weir_jsonl_member){
        .name = name,
        .object = object,
        .hash = hash_of(weir_jsonl_text_at(jsonl, name), name.len, object),
    };
    struct weir_jsonl_slot *slot = find_slot(jsonl, member);
    if (slot->turn == jsonl->turn)
        return false;
    *slot = (struct weir_jsonl_slot){ jsonl->turn, jsonl->member_count++ };
    return true;
}
