/* SPDX-License-Identifier: MIT */
/*
 * Rows that are JSON objects; see mapping.h. What names the row is taken out of the object, and all
 * else stays byte for byte:
 *
 *     { "accountid": "0F…", "name": "Contoso", "revenue": 5 }
 *       ╰──── id ────────╯  ╰────────── members ──────────╯
 *
 * The object is walked once to see what it has. If nothing is to be taken out of it or added, its
 * inside is borrowed as a whole; otherwise it is walked again and the members are copied.
 */
#include "protocol/scan.h"
#include "records/hash.h"
#include "records/mapping_parts.h"
#include "records/utf8.h"

/* A name that is looked for, written with escapes: no more than this. */
#define NAME_BYTES 1024

#define OWNER_MEMBER "ownerid@odata.bind"

enum role {
    ROLE_MEMBER, /* none of the others */
    ROLE_OWNER,  /* a member, too */
    ROLE_ID,
    ROLE_PARTITION,
    ROLE_RESERVED, /* what every request has already */
    ROLE_KEY,      /* and those behind it: its parts */
};

#define ROLES (ROLE_KEY + WEIR_KEY_PARTS_MAX)

struct walk {
    const struct weir_mapping *mapping;
    struct weir_arena *arena;
    struct weir_draft *draft;
    struct weir_row_name name;
    bool seen[ROLES];
    size_t bytes; /* of the members, a comma each */
    uint64_t shape;
};

/* ---- names ---- */

/* The text of a key, in `memory` if it has escapes. Too long for that: as it is written. */
static struct weir_str name_of(struct weir_str key, char memory[NAME_BYTES])
{
    struct weir_str inside = weir_str(key.ptr + 1, key.len - 2);
    if (!memchr(key.ptr, '\\', key.len) || key.len > NAME_BYTES)
        return inside;
    return weir_str(memory, weir_scan_text(key, memory, NAME_BYTES));
}

static bool is(struct weir_str name, const char *wanted)
{
    return weir_str_equal(name, weir_str_from(wanted));
}

static int role_of(const struct weir_mapping *mapping, struct weir_str name)
{
    for (uint32_t i = 0; i < mapping->key_count; i++) {
        if (is(name, mapping->key[i]->name))
            return ROLE_KEY + (int)i;
    }
    if (weir_str_equal(name, mapping->names.primary_id))
        return ROLE_ID;
    if (mapping->elastic && is(name, WEIR_PARTITION_COLUMN))
        return ROLE_PARTITION;
    if (is(name, "@odata.type") || is(name, "@odata.id"))
        return ROLE_RESERVED;
    return is(name, OWNER_MEMBER) ? ROLE_OWNER : ROLE_MEMBER;
}

static bool is_member(int role)
{
    return role == ROLE_MEMBER || role == ROLE_OWNER;
}

/* The name of a role that names the row, as long as the table lives. */
static struct weir_str role_name(const struct weir_mapping *mapping, int role)
{
    if (role >= ROLE_KEY)
        return weir_str_from(mapping->key[role - ROLE_KEY]->name);
    return role == ROLE_ID ? mapping->names.primary_id : weir_str_from(WEIR_PARTITION_COLUMN);
}

/* ---- values that name the row ---- */

static bool is_null(struct weir_str value)
{
    return value.ptr[0] == 'n';
}

static bool is_plain(struct weir_str value)
{
    return !weir_scan_is_object(value) && !weir_scan_is_array(value);
}

/* The text of a string, borrowed if it can be. False: the arena is full. */
static bool take_text(struct weir_str value, struct weir_arena *arena, struct weir_str *ret)
{
    *ret = weir_str(value.ptr + 1, value.len - 2);
    if (!ret->len || !memchr(ret->ptr, '\\', ret->len))
        return true;
    char *memory = weir_arena_take(arena, value.len);
    if (!memory)
        return false;
    *ret = weir_str(memory, weir_scan_text(value, memory, value.len));
    return true;
}

/* A value that names the row, or null for none. Ids and partitions are strings. */
static bool take_value(struct walk *walk, int role, struct weir_str value, struct weir_str *ret)
{
    struct weir_str name = role_name(walk->mapping, role);
    *ret = value;
    if (weir_scan_is_string(value)) {
        if (!weir_scan_is_clean(value))
            return weir_draft_refuse(walk->draft, walk->arena, name,
                                     "the value of \"%.*s\" has half a character or a NUL in it, "
                                     "which no text may have",
                                     (int)name.len, name.ptr);
        return take_text(value, walk->arena, ret);
    }
    if (is_null(value))
        *ret = weir_str("", 0);
    else if (role < ROLE_KEY || !is_plain(value))
        return weir_draft_refuse(walk->draft, walk->arena, name,
                                 "the value of \"%.*s\" is no string, which it must be to name "
                                 "the row",
                                 (int)name.len, name.ptr);
    return true;
}

/* ---- the first walk ---- */

/* A delete passes over whatever does not name its rows. */
static bool is_ignored(const struct weir_mapping *mapping, int role)
{
    bool naming = mapping->by_key ? role >= ROLE_KEY : role == ROLE_ID || role == ROLE_PARTITION;
    return mapping->operation == WEIR_OPERATION_DELETE && !naming;
}

static bool refuse_twice(struct walk *walk, struct weir_str name)
{
    return weir_draft_refuse(walk->draft, walk->arena, name,
                             "the row has \"%.*s\" twice, which names it", (int)name.len, name.ptr);
}

static bool refuse_both(struct walk *walk, struct weir_str name)
{
    return weir_draft_refuse(walk->draft, walk->arena, name,
                             "the row has \"%.*s\", and rows go by a key; leave one of them out",
                             (int)name.len, name.ptr);
}

static bool refuse_reserved(struct walk *walk, struct weir_str name)
{
    return weir_draft_refuse(walk->draft, walk->arena, weir_str("", 0),
                             "the row has the member \"%.*s\", which every request has already; "
                             "leave it out",
                             (int)name.len, name.ptr);
}

static bool take_naming(struct walk *walk, int role, struct weir_str value)
{
    struct weir_str name = role_name(walk->mapping, role);
    if (walk->seen[role])
        return refuse_twice(walk, name);
    walk->seen[role] = true;
    if (walk->mapping->by_key && role < ROLE_KEY)
        return refuse_both(walk, name);
    struct weir_str *to = &walk->name.partition;
    if (role >= ROLE_KEY)
        to = &walk->name.key[role - ROLE_KEY];
    else if (role == ROLE_ID)
        to = &walk->name.id;
    return take_value(walk, role, value, to);
}

/* From the first quote of the key to the end of the value. */
static struct weir_str whole(struct weir_str key, struct weir_str value)
{
    return weir_str(key.ptr, (size_t)(value.ptr + value.len - key.ptr));
}

static bool look_at(struct walk *walk, struct weir_str key, struct weir_str value)
{
    char memory[NAME_BYTES];
    struct weir_str name = name_of(key, memory);
    int role = role_of(walk->mapping, name);
    if (is_ignored(walk->mapping, role))
        return true;
    if (role == ROLE_RESERVED)
        return refuse_reserved(walk, name);
    if (!is_member(role))
        return take_naming(walk, role, value);
    walk->seen[role] = true;
    walk->bytes += 1 + whole(key, value).len;
    if (walk->mapping->operation != WEIR_OPERATION_CREATE)
        walk->shape += weir_hash64(name.ptr, name.len);
    return true;
}

/* ---- the second walk ---- */

/* Nothing of the object is left out. */
static bool is_whole(const struct walk *walk)
{
    for (int role = 0; role < ROLES; role++) {
        if (walk->seen[role] && !is_member(role))
            return false;
    }
    return walk->mapping->operation != WEIR_OPERATION_DELETE;
}

static void copy(const struct walk *walk, struct weir_str object, struct weir_str owner, char *to)
{
    struct weir_scan scan = weir_scan_open(object);
    struct weir_str key, value;
    while (weir_scan_next(&scan, &key, &value)) {
        char memory[NAME_BYTES];
        if (!is_member(role_of(walk->mapping, name_of(key, memory))))
            continue;
        *to++ = ',';
        struct weir_str member = whole(key, value);
        memcpy(to, member.ptr, member.len);
        to += member.len;
    }
    if (owner.len)
        memcpy(to, owner.ptr, owner.len);
}

static bool add_members(struct walk *walk, struct weir_str object)
{
    const struct weir_mapping *mapping = walk->mapping;
    struct weir_str owner = walk->seen[ROLE_OWNER] ? weir_str("", 0) : mapping->owner;
    if (!owner.len && is_whole(walk)) {
        struct weir_str inside = weir_str_trim(weir_str(object.ptr + 1, object.len - 2));
        return weir_mapping_weigh(mapping, inside, walk->arena, walk->draft);
    }
    size_t bytes = walk->bytes + owner.len;
    char *memory;
    if (!bytes)
        return true;
    if (!weir_mapping_reserve(mapping, bytes, walk->arena, walk->draft, &memory))
        return false;
    if (memory)
        copy(walk, object, owner, memory);
    return true;
}

/* ---- all of it ---- */

static bool is_empty(const struct walk *walk)
{
    for (int role = 0; role < ROLES; role++) {
        if (walk->seen[role])
            return false;
    }
    return true;
}

static bool draft_object(struct walk *walk, struct weir_str object)
{
    struct weir_scan scan = weir_scan_open(object);
    struct weir_str key, value;
    while (weir_scan_next(&scan, &key, &value)) {
        if (!look_at(walk, key, value))
            return false;
        if (walk->draft->refusal.len)
            return true;
    }
    if (is_empty(walk) && weir_mapping_may_create(walk->mapping))
        return weir_draft_refuse(walk->draft, walk->arena, weir_str("", 0),
                                 "the row is an object without members");
    walk->name.has_id = walk->seen[ROLE_ID];
    walk->draft->shape = walk->shape;
    if (!weir_mapping_name(walk->mapping, &walk->name, walk->arena, walk->draft))
        return false;
    return walk->draft->refusal.len || add_members(walk, object);
}

bool weir_mapping_object(const struct weir_mapping *mapping, struct weir_str json,
                         struct weir_arena *arena, struct weir_draft *ret)
{
    struct weir_str object;
    ret->target = (struct weir_target){ 0 };
    ret->key_hash = ret->shape = 0;
    ret->idle = false;
    ret->refusal = ret->column = weir_str("", 0);
    size_t bad = weir_utf8_check(json);
    if (bad < json.len)
        return weir_draft_refuse(ret, arena, weir_str("", 0),
                                 "the row is not UTF-8: the byte \"0x%02X\" at offset %zu does not "
                                 "belong there",
                                 (unsigned)(unsigned char)json.ptr[bad], bad);
    if (!weir_scan_document(json, &object) || !weir_scan_is_object(object))
        return weir_draft_refuse(ret, arena, weir_str("", 0), "the row is no JSON object");
    struct walk walk = { .mapping = mapping, .arena = arena, .draft = ret };
    return draft_object(&walk, object);
}
