/* SPDX-License-Identifier: MIT */
/* What a dry run sees in the members of rows; see check_row.h. */
#include "bulk/check_row.h"

#include "base/mem.h"
#include "protocol/scan.h"
#include "protocol/target.h"
#include "records/row_key.h"

#define BIND       "@odata.bind"
#define NAME_BYTES (WEIR_NAME_BYTES_MAX + sizeof(BIND))

/* A column of a key, and what the row at hand has there. */
struct weir_check_part {
    const struct weir_column *column;
    uint32_t key;
    struct weir_str value; /* empty: none, or null */
};

/* --- the keys --------------------------------------------------------------------------------- */

static void add_key(struct weir_check_view *view, const struct weir_table *table,
                    const struct weir_alternate_key *key)
{
    view->keys = weir_realloc(view->keys, view->key_count + 1, sizeof(*view->keys));
    view->parts =
        weir_realloc(view->parts, view->part_count + key->column_count, sizeof(*view->parts));
    for (uint32_t i = 0; i < key->column_count; i++)
        view->parts[view->part_count++] = (struct weir_check_part){
            .column = weir_table_column(table, weir_str_from(key->columns[i])),
            .key = view->key_count,
        };
    view->keys[view->key_count++] = key;
}

void weir_check_view_init(struct weir_check_view *view, const struct weir_table *table,
                          bool with_keys)
{
    *view = (struct weir_check_view){ 0 };
    for (uint32_t i = 0; with_keys && i < table->key_count; i++) {
        if (table->keys[i].status == WEIR_KEY_STATUS_ACTIVE)
            add_key(view, table, &table->keys[i]);
    }
    view->hashes = weir_calloc(view->key_count + 1, sizeof(*view->hashes));
}

void weir_check_view_release(struct weir_check_view *view)
{
    for (uint32_t i = 0; i < view->link_count; i++) {
        free(view->links[i].member);
        free(view->links[i].set);
    }
    free(view->keys);
    free(view->hashes);
    free(view->parts);
    *view = (struct weir_check_view){ 0 };
}

/* Of a lookup, any of the names that it is bound by. */
static bool is_part(const struct weir_column *column, struct weir_str name, bool bound)
{
    if (!bound)
        return weir_str_equal(name, weir_str_from(column->name));
    for (uint32_t i = 0; i < column->target_count; i++) {
        const char *navigation = column->targets[i].navigation;
        if (navigation && weir_str_equal(name, weir_str_from(navigation)))
            return true;
    }
    return false;
}

static void note_part(struct weir_check_view *view, struct weir_str name, bool bound,
                      struct weir_str value)
{
    for (uint32_t i = 0; i < view->part_count; i++) {
        struct weir_check_part *part = &view->parts[i];
        if (part->column && is_part(part->column, name, bound))
            part->value = value;
    }
}

/* Two keys may have the same values: they are no repeats of each other. */
static uint64_t hash_key(const struct weir_check_view *view, uint32_t key)
{
    struct weir_row_key row;
    weir_row_key_init(&row);
    weir_row_key_add_exact(&row, weir_str_from(view->keys[key]->name));
    for (uint32_t i = 0; i < view->part_count; i++) {
        const struct weir_check_part *part = &view->parts[i];
        if (part->key != key)
            continue;
        if (!part->value.len)
            return 0;
        weir_row_key_add(
            &row, weir_column_is_lookup(part->column) ? WEIR_COLUMN_STRING : part->column->type,
            part->value);
    }
    return weir_row_key_hash(&row);
}

/* --- links ------------------------------------------------------------------------------------ */

/* "contacts" of "/contacts(…)" and of "https://…/v9.2/contacts(…)"; empty: none. */
static struct weir_str set_of(struct weir_str address)
{
    const char *open = address.len ? memchr(address.ptr, '(', address.len) : NULL;
    size_t end = open ? (size_t)(open - address.ptr) : 0;
    size_t begin = end;
    while (begin > 0 && address.ptr[begin - 1] != '/')
        begin--;
    return weir_str(address.ptr + begin, end - begin);
}

static void note_link(struct weir_check_view *view, struct weir_str member, struct weir_str address)
{
    struct weir_str set = set_of(address);
    if (!set.len || set.len > WEIR_NAME_BYTES_MAX || !weir_odata_is_name(set))
        return;
    for (uint32_t i = 0; i < view->link_count; i++) {
        if (weir_str_equal(set, weir_str_from(view->links[i].set)) &&
            weir_str_equal(member, weir_str_from(view->links[i].member)))
            return;
    }
    if (view->link_count == WEIR_CHECK_LINKS_MAX) {
        view->links_forgotten = true;
        return;
    }
    view->links[view->link_count++] =
        (struct weir_check_link){ .member = weir_strndup(member.ptr, member.len),
                                  .set = weir_strndup(set.ptr, set.len) };
}

/* --- rows ------------------------------------------------------------------------------------- */

/* The text of a value; empty: null, no plain value, or one for which there is no room. */
static struct weir_str text_of(struct weir_str value, struct weir_arena *arena)
{
    if (!weir_scan_is_string(value))
        return value.ptr[0] == 'n' || value.ptr[0] == '{' || value.ptr[0] == '[' ? weir_str("", 0)
                                                                                 : value;
    struct weir_str inside = weir_str(value.ptr + 1, value.len - 2);
    if (!inside.len || !memchr(inside.ptr, '\\', inside.len))
        return inside;
    char *memory = weir_arena_take(arena, 3 * value.len + 1);
    return memory ? weir_str(memory, weir_scan_text(value, memory, 3 * value.len + 1))
                  : weir_str("", 0);
}

static void note_member(struct weir_check_view *view, struct weir_str key, struct weir_str value,
                        struct weir_arena *arena)
{
    char text[NAME_BYTES];
    size_t suffix = sizeof(BIND) - 1;
    struct weir_str name = weir_str(text, weir_scan_text(key, text, sizeof(text)));
    bool bound = name.len > suffix && memcmp(name.ptr + name.len - suffix, BIND, suffix) == 0;
    name.len -= bound ? suffix : 0;
    if (!bound && !view->part_count && view->overrides)
        return;
    struct weir_str content = text_of(value, arena);
    if (bound)
        note_link(view, name, content);
    else if (content.len && weir_str_equal(name, weir_str_from(WEIR_OVERRIDDEN_COLUMN)))
        view->overrides = true;
    note_part(view, name, bound, content);
}

void weir_check_view_row(struct weir_check_view *view, struct weir_str members,
                         struct weir_arena *arena)
{
    struct weir_scan scan = { .rest = members, .object = true };
    struct weir_str key, value;
    for (uint32_t i = 0; i < view->part_count; i++)
        view->parts[i].value = weir_str("", 0);
    while (weir_scan_next(&scan, &key, &value))
        note_member(view, key, value, arena);
    for (uint32_t i = 0; i < view->key_count; i++)
        view->hashes[i] = hash_key(view, i);
}
