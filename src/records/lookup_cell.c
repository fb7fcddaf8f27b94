/* SPDX-License-Identifier: MIT */
/* What cells of lookups point to; see lookup.h. */
#include "base/error.h"
#include "records/lookup.h"

#define BIND     "@odata.bind\":"
#define LIST_MAX 4 /* tables in a message */

/* The values that a cell holds if there are several: a line of CSV. */
struct parts {
    struct weir_str values[WEIR_KEY_PARTS_MAX];
    uint32_t count;
};

/* ---- ids ---- */

/* `account:0F…` or without the table. */
static struct weir_str split_table(struct weir_str text, struct weir_str *ret_table)
{
    const char *colon = memchr(text.ptr, ':', text.len);
    if (!colon)
        return text;
    size_t len = (size_t)(colon - text.ptr);
    *ret_table = weir_str_trim(weir_str(text.ptr, len));
    return weir_str_trim(weir_str(colon + 1, text.len - len - 1));
}

/* "account:ID or contact:ID", some of them. */
static void list_forms(const struct weir_lookup *lookup, char *text, size_t text_bytes)
{
    struct weir_buf list;
    uint32_t count = lookup->end_count;
    weir_buf_init(&list, text_bytes - 1);
    for (uint32_t i = 0; i < count && i < LIST_MAX; i++) {
        struct weir_str table = weir_str_cut(lookup->ends[i].table, 40);
        const char *between = i + 1 == count ? " or " : ", ";
        weir_buf_printf(&list, "%s%.*s:ID", i ? between : "", (int)table.len, table.ptr);
    }
    if (count > LIST_MAX)
        weir_buf_add_text(&list, " and so on");
    weir_buf_hand_over(&list, text, text_bytes);
}

static const char *noun_of(const struct weir_lookup *lookup)
{
    return lookup->column->type == WEIR_COLUMN_OWNER ? "owner" : "reference";
}

static enum weir_status fail_form(const struct weir_lookup *lookup, struct weir_str cell,
                                  struct weir_error *err)
{
    char forms[240];
    if (lookup->only)
        return weir_fail(err, WEIR_E_INVALID,
                         "\"%.*s\" is no id; \"%s\" takes 32 hexadecimal digits in groups of "
                         "8-4-4-4-12, not all of them 0",
                         WEIR_CELL_QUOTED(cell), lookup->column->name);
    list_forms(lookup, forms, sizeof(forms));
    return weir_fail(err, WEIR_E_INVALID, "\"%.*s\" is no %s; \"%s\" takes %s",
                     WEIR_CELL_QUOTED(cell), noun_of(lookup), lookup->column->name, forms);
}

/* To which the row says that it points. */
static enum weir_status fail_table(const struct weir_lookup *lookup, struct weir_str table,
                                   struct weir_error *err)
{
    if (!lookup->only) {
        char forms[240];
        list_forms(lookup, forms, sizeof(forms));
        return weir_fail(
            err, WEIR_E_INVALID,
            "the row points to the table \"%.*s\", to which \"%s\" cannot; it takes %s",
            WEIR_CELL_QUOTED(table), lookup->column->name, forms);
    }
    struct weir_str only = lookup->only->table;
    return weir_fail(err, WEIR_E_INVALID,
                     "the row points to the table \"%.*s\"; \"%s\" takes ids of \"%.*s\" here",
                     WEIR_CELL_QUOTED(table), lookup->column->name, (int)only.len, only.ptr);
}

/* Where the cell points to, of those that it may. */
static const struct weir_lookup_end *find_end(const struct weir_lookup *lookup,
                                              struct weir_str table)
{
    if (!table.len)
        return lookup->only;
    for (uint32_t i = 0; i < lookup->end_count; i++) {
        if (weir_str_equal(lookup->ends[i].table, table))
            return lookup->only && lookup->only != &lookup->ends[i] ? NULL : &lookup->ends[i];
    }
    return NULL;
}

static enum weir_status check_end(const struct weir_lookup *lookup,
                                  const struct weir_lookup_end *end, struct weir_error *err)
{
    if (end->set.len && end->navigation.len)
        return WEIR_OK;
    return weir_fail(err, WEIR_E_INVALID,
                     "what \"%s\" needs to point to the table \"%.*s\" is not known; name it in "
                     "the header, as \"%s:%.*s\"",
                     lookup->column->name, (int)end->table.len, end->table.ptr,
                     lookup->column->name, (int)end->table.len, end->table.ptr);
}

static enum weir_status set_id(const struct weir_guid *id, struct weir_arena *arena,
                               struct weir_binding *binding, struct weir_error *err)
{
    char *text = weir_arena_take(arena, WEIR_GUID_TEXT);
    if (!text)
        return weir_fail(err, WEIR_E_TOO_BIG, "the row is too big");
    weir_guid_print(id, text);
    binding->inside = weir_str(text, WEIR_GUID_CHARS);
    return WEIR_OK;
}

static enum weir_status read_id(const struct weir_lookup *lookup, struct weir_str cell,
                                struct weir_str table, struct weir_arena *arena,
                                struct weir_binding *binding, struct weir_error *err)
{
    static const struct weir_guid nil;
    struct weir_guid id;
    struct weir_str beside = table;
    struct weir_str text = split_table(weir_str_trim(cell), &table);
    binding->end = find_end(lookup, table);
    if (!weir_cell_guid(text, &id) || weir_guid_equal(&id, &nil))
        return fail_form(lookup, cell, err);
    if (!binding->end)
        return lookup->only || (beside.len && table.ptr == beside.ptr)
                   ? fail_table(lookup, table, err)
                   : fail_form(lookup, cell, err);
    enum weir_status status = check_end(lookup, binding->end, err);
    return status ? status : set_id(&id, arena, binding, err);
}

/* ---- values of several columns ---- */

static enum weir_status fail_parts(const struct weir_lookup *lookup, struct weir_str cell,
                                   struct weir_error *err)
{
    return weir_fail(err, WEIR_E_INVALID,
                     "\"%.*s\" does not have %u values with commas between them, none of them "
                     "empty, as \"%s\" takes them",
                     WEIR_CELL_QUOTED(cell), lookup->key_count, lookup->column->name);
}

/* A value in quotes, its own quotes doubled: into `memory`, which it fits. */
static bool take_quoted(struct weir_str *rest, char **memory, struct weir_str *ret)
{
    char *begin = *memory, *to = begin;
    size_t at = 1;
    for (;; at++) {
        if (at == rest->len)
            return false;
        if (rest->ptr[at] == '"' && (++at == rest->len || rest->ptr[at] != '"'))
            break;
        *to++ = rest->ptr[at];
    }
    *memory = to;
    *ret = weir_str(begin, (size_t)(to - begin));
    *rest = weir_str_trim(weir_str(rest->ptr + at, rest->len - at));
    return true;
}

static bool take_value(struct weir_str *rest, char **memory, struct weir_str *ret)
{
    *rest = weir_str_trim(*rest);
    if (rest->len && rest->ptr[0] == '"')
        return take_quoted(rest, memory, ret);
    const char *comma = rest->len ? memchr(rest->ptr, ',', rest->len) : NULL;
    size_t len = comma ? (size_t)(comma - rest->ptr) : rest->len;
    *ret = weir_str_trim(weir_str(rest->ptr, len));
    *rest = weir_str(rest->ptr + len, rest->len - len);
    return true;
}

static bool split_all(struct weir_str rest, char *memory, struct parts *ret)
{
    for (;;) {
        if (ret->count == WEIR_KEY_PARTS_MAX ||
            !take_value(&rest, &memory, &ret->values[ret->count]) ||
            !weir_str_trim(ret->values[ret->count++]).len)
            return false;
        if (!rest.len)
            return true;
        if (rest.ptr[0] != ',')
            return false;
        rest = weir_str(rest.ptr + 1, rest.len - 1);
    }
}

static enum weir_status read_parts(const struct weir_lookup *lookup, struct weir_str cell,
                                   struct weir_arena *arena, struct parts *ret,
                                   struct weir_error *err)
{
    ret->count = 1;
    ret->values[0] = cell;
    if (lookup->key_count == 1)
        return weir_str_trim(cell).len ? WEIR_OK : fail_parts(lookup, cell, err);
    char *memory = weir_arena_take(arena, cell.len);
    if (!memory)
        return weir_fail(err, WEIR_E_TOO_BIG, "the row is too big");
    ret->count = 0;
    bool fine = split_all(cell, memory, ret) && ret->count == lookup->key_count;
    return fine ? WEIR_OK : fail_parts(lookup, cell, err);
}

/* ---- by keys ---- */

static enum weir_status add_key(const struct weir_lookup *lookup, uint32_t i, struct weir_str value,
                                struct weir_arena *arena, struct weir_buf *predicate,
                                struct weir_error *err)
{
    struct weir_key_part part;
    enum weir_status status = weir_cell_rule_literal(&lookup->rules[i], value, arena, &value, err);
    if (status)
        return status;
    if (i)
        weir_buf_add_char(predicate, ',');
    weir_column_key_part(lookup->keys[i], value, &part);
    status = weir_odata_add_predicate(predicate, &part, 1, err);
    if (!status && predicate->overflow)
        status = weir_fail(err, WEIR_E_INVALID,
                           "what \"%s\" points to has a key of more than %zu bytes, which no "
                           "address can hold",
                           lookup->column->name, WEIR_ROW_NAME_BYTES_MAX);
    return status;
}

static enum weir_status read_key(const struct weir_lookup *lookup, struct weir_str cell,
                                 struct weir_arena *arena, struct weir_binding *binding,
                                 struct weir_error *err)
{
    char text[WEIR_ROW_NAME_BYTES_MAX + 1];
    struct weir_buf predicate = { .ptr = text,
                                  .capacity = sizeof(text),
                                  .bytes_max = WEIR_ROW_NAME_BYTES_MAX };
    struct parts parts;
    enum weir_status status = read_parts(lookup, cell, arena, &parts, err);
    for (uint32_t i = 0; i < lookup->key_count && !status; i++)
        status = add_key(lookup, i, parts.values[i], arena, &predicate, err);
    if (status)
        return status;
    char *memory = weir_arena_take(arena, predicate.len);
    if (!memory)
        return weir_fail(err, WEIR_E_TOO_BIG, "the row is too big");
    memcpy(memory, predicate.ptr, predicate.len);
    binding->inside = weir_str(memory, predicate.len);
    return WEIR_OK;
}

/* ---- by lists ---- */

static enum weir_status read_reference(const struct weir_lookup *lookup,
                                       const struct weir_lookup_world *world, struct weir_str cell,
                                       struct weir_arena *arena, struct weir_binding *binding,
                                       struct weir_error *err)
{
    struct weir_guid id;
    const struct weir_lookup_list *list = &world->lists[lookup->list];
    enum weir_reference found = WEIR_REFERENCE_MISSING;
    if (world->references)
        found = weir_references_find(world->references, lookup->list, cell, &id);
    if (found == WEIR_REFERENCE_FOUND)
        return set_id(&id, arena, binding, err);
    if (found == WEIR_REFERENCE_AMBIGUOUS)
        return weir_fail(err, WEIR_E_INVALID,
                         "several rows of the table \"%s\" have \"%.*s\" as \"%s\"; \"%s\" takes "
                         "what only one has",
                         list->table->name, WEIR_CELL_QUOTED(cell), list->column->name,
                         lookup->column->name);
    return weir_fail(err, WEIR_E_INVALID,
                     "no row of the table \"%s\" has \"%.*s\" as \"%s\", to which \"%s\" would "
                     "point",
                     list->table->name, WEIR_CELL_QUOTED(cell), list->column->name,
                     lookup->column->name);
}

/* ---- derived ---- */

static enum weir_status read_derived(const struct weir_lookup *lookup,
                                     const struct weir_lookup_world *world, struct weir_str cell,
                                     struct weir_arena *arena, struct weir_binding *binding,
                                     struct weir_error *err)
{
    struct parts parts;
    enum weir_status status = read_parts(lookup, cell, arena, &parts, err);
    if (status)
        return status;
    weir_derived_ids_begin(world->derived, lookup->table->name);
    for (uint32_t i = 0; i < lookup->key_count; i++)
        weir_derived_ids_add(world->derived, lookup->keys[i], parts.values[i]);
    struct weir_guid id = weir_derived_ids_end(world->derived);
    return set_id(&id, arena, binding, err);
}

/* ---- all of them ---- */

enum weir_status weir_lookup_read(const struct weir_lookup *lookup,
                                  const struct weir_lookup_world *world, struct weir_str cell,
                                  struct weir_str table, struct weir_arena *arena,
                                  struct weir_binding *ret, struct weir_error *err)
{
    ret->end = lookup->only;
    switch (lookup->way) {
    case WEIR_LOOKUP_KEY:
        return read_key(lookup, cell, arena, ret, err);
    case WEIR_LOOKUP_REFERENCE:
        return read_reference(lookup, world, cell, arena, ret, err);
    case WEIR_LOOKUP_DERIVED:
        return read_derived(lookup, world, cell, arena, ret, err);
    default:
        return read_id(lookup, cell, table, arena, ret, err);
    }
}

struct weir_binding weir_lookup_null(const struct weir_lookup *lookup)
{
    const struct weir_lookup_end *end = lookup->only ? lookup->only : lookup->ends;
    while (!end->navigation.len)
        end++; /* one of them has one */
    return (struct weir_binding){ end, weir_str("", 0) };
}

/* ---- writing ---- */

size_t weir_binding_bytes(const struct weir_binding *binding)
{
    size_t bytes = strlen(",\"") + binding->end->navigation.len + strlen(BIND);
    if (!binding->inside.len)
        return bytes + strlen("null");
    return bytes + strlen("\"/()\"") + binding->end->set.len + binding->inside.len;
}

static char *add(char *to, struct weir_str text)
{
    memcpy(to, text.ptr, text.len);
    return to + text.len;
}

char *weir_binding_write(const struct weir_binding *binding, char *to)
{
    to = add(to, weir_str_from(",\""));
    to = add(to, binding->end->navigation);
    to = add(to, weir_str_from(BIND));
    if (!binding->inside.len)
        return add(to, weir_str_from("null"));
    to = add(to, weir_str_from("\"/"));
    to = add(to, binding->end->set);
    to = add(to, weir_str_from("("));
    to = add(to, binding->inside);
    return add(to, weir_str_from(")\""));
}
