/* SPDX-License-Identifier: MIT */
/*
 * A table as a text and back; see metadata_text.h.
 *
 * Each struct has a *shape*: the list of its members, with their names in the text. Writing and
 * reading walk the same shapes, so there is nothing that one of them knows and the other does not.
 * What can be worked out of the rest is in none: the names of columns in keys, the map of columns.
 */
#include "protocol/metadata_text.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "protocol/metadata_parts.h"

/* ---- shapes ---- */

enum kind {
    NAME,     /* const char *, always there */
    TEXT,     /* const char *; NULL: left out */
    NUMBER,   /* const char *, a number as it was written; NULL: left out */
    FLAG,     /* bool; false: left out */
    SIGNED,   /* int32_t */
    UNSIGNED, /* uint32_t */
    WORD,     /* an enum */
    LIST,     /* a pointer, and a uint32_t elsewhere; none: left out */
};

struct member {
    const char *name;
    enum kind kind;
    size_t at;                /* in its struct */
    int64_t absent;           /* of SIGNED, UNSIGNED and WORD: the value that is left out … */
    int64_t min, max;         /* … and the bounds */
    const char *const *words; /* of WORD, by value; NULL behind the last */
    const struct shape *of;   /* of LIST: an element */
    size_t count_at;
    uint32_t count_max;
};

#define NEVER INT64_MIN /* is it left out */

struct shape {
    const char *noun;
    size_t size;
    const struct member *members; /* NULL: it is no struct but a text */
    size_t member_count;
};

static const char *const table_types[] = { "standard", "elastic", "virtual", "other", NULL };
static const char *const ownerships[] = { "none", "user", "organization", NULL };
static const char *const statuses[] = {
    "other", "pending", "in progress", "active", "failed", NULL
};
static const char *const levels[] = { "none", "recommended", "application", "system", NULL };
static const char *const behaviors[] = { "user local", "date only", "zone independent", NULL };
static const char *const column_types[] = {
    [WEIR_COLUMN_OTHER] = "other",
    [WEIR_COLUMN_STRING] = "string",
    [WEIR_COLUMN_MEMO] = "memo",
    [WEIR_COLUMN_INTEGER] = "integer",
    [WEIR_COLUMN_BIGINT] = "bigint",
    [WEIR_COLUMN_DECIMAL] = "decimal",
    [WEIR_COLUMN_DOUBLE] = "double",
    [WEIR_COLUMN_MONEY] = "money",
    [WEIR_COLUMN_BOOLEAN] = "boolean",
    [WEIR_COLUMN_PICKLIST] = "choice",
    [WEIR_COLUMN_MULTI_PICKLIST] = "choices",
    [WEIR_COLUMN_STATE] = "state",
    [WEIR_COLUMN_STATUS] = "status",
    [WEIR_COLUMN_DATETIME] = "date",
    [WEIR_COLUMN_ID] = "id",
    [WEIR_COLUMN_LOOKUP] = "lookup",
    [WEIR_COLUMN_CUSTOMER] = "customer",
    [WEIR_COLUMN_OWNER] = "owner",
    [WEIR_COLUMN_PARTY_LIST] = "party list",
    [WEIR_COLUMN_ENTITY_NAME] = "table name",
    [WEIR_COLUMN_FILE] = "file",
    [WEIR_COLUMN_IMAGE] = "image",
    [WEIR_COLUMN_TYPES] = NULL,
};

_Static_assert(sizeof(enum weir_column_type) == sizeof(uint32_t), "enums are read as numbers");

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define SHAPE(noun, s, all)                                                                        \
    {                                                                                              \
        noun, sizeof(struct s), all, COUNT(all)                                                    \
    }

#define AT(s, field)         .at = offsetof(struct s, field)
#define BULK(message)        .at = offsetof(struct weir_table, bulk) + (message) * sizeof(bool)
#define LEFT_OUT(value)      .absent = (value)
#define RANGE(least, most)   .min = (least), .max = (most)
#define MANY(s, field, most) .count_at = offsetof(struct s, field), .count_max = (most)

static const struct member choice_members[] = {
    { "value", SIGNED, AT(weir_choice, value), LEFT_OUT(NEVER), RANGE(INT32_MIN, INT32_MAX) },
    { "state", SIGNED, AT(weir_choice, state), LEFT_OUT(-1), RANGE(INT32_MIN, INT32_MAX) },
    { "label", TEXT, AT(weir_choice, label) },
};
static const struct shape choice = SHAPE("a choice", weir_choice, choice_members);

static const struct member target_members[] = {
    { "table", NAME, AT(weir_lookup_target, table) },
    { "navigation", TEXT, AT(weir_lookup_target, navigation) },
};
static const struct shape target = SHAPE("a target", weir_lookup_target, target_members);

static const struct member column_members[] = {
    { "name", NAME, AT(weir_column, name) },
    { "label", TEXT, AT(weir_column, label) },
    { "type", WORD, AT(weir_column, type), .words = column_types },
    { "create", FLAG, AT(weir_column, for_create) },
    { "update", FLAG, AT(weir_column, for_update) },
    { "read", FLAG, AT(weir_column, for_read) },
    { "required", WORD, AT(weir_column, required), .words = levels },
    { "part of", TEXT, AT(weir_column, part_of) },
    { "length", UNSIGNED, AT(weir_column, length_max), RANGE(0, UINT32_MAX) },
    { "min", NUMBER, AT(weir_column, min) },
    { "max", NUMBER, AT(weir_column, max) },
    { "precision", SIGNED, AT(weir_column, precision), LEFT_OUT(-1), RANGE(0, 100) },
    { "shows date only", FLAG, AT(weir_column, shows_date_only) },
    { "behavior", WORD, AT(weir_column, behavior), .words = behaviors },
    { "choices", LIST, AT(weir_column, choices), .of = &choice,
      MANY(weir_column, choice_count, WEIR_CHOICES_MAX) },
    { "targets", LIST, AT(weir_column, targets), .of = &target,
      MANY(weir_column, target_count, WEIR_LOOKUP_TARGETS_MAX) },
};
static const struct shape column = SHAPE("a column", weir_column, column_members);

static const struct shape key_column = { "a column of a key", sizeof(const char *), NULL, 0 };
static const struct member key_members[] = {
    { "name", NAME, AT(weir_alternate_key, name) },
    { "columns", LIST, AT(weir_alternate_key, columns), .of = &key_column,
      MANY(weir_alternate_key, column_count, WEIR_KEY_PARTS_MAX) },
    { "status", WORD, AT(weir_alternate_key, status), .words = statuses },
};
static const struct shape key = SHAPE("a key", weir_alternate_key, key_members);

static const struct member table_members[] = {
    { "name", NAME, AT(weir_table, name) },
    { "set", NAME, AT(weir_table, set_name) },
    { "id", NAME, AT(weir_table, primary_id) },
    { "primary name", TEXT, AT(weir_table, primary_name) },
    { "type", WORD, AT(weir_table, type), .words = table_types },
    { "ownership", WORD, AT(weir_table, ownership), .words = ownerships },
    { "bulk known", FLAG, AT(weir_table, bulk_known) },
    { "create multiple", FLAG, BULK(WEIR_BULK_CREATE) },
    { "update multiple", FLAG, BULK(WEIR_BULK_UPDATE) },
    { "upsert multiple", FLAG, BULK(WEIR_BULK_UPSERT) },
    { "delete multiple", FLAG, BULK(WEIR_BULK_DELETE) },
    { "columns", LIST, AT(weir_table, columns), .of = &column,
      MANY(weir_table, column_count, WEIR_COLUMNS_MAX) },
    { "keys", LIST, AT(weir_table, keys), .of = &key,
      MANY(weir_table, key_count, WEIR_ALTERNATE_KEYS_MAX) },
};
static const struct shape table_shape = SHAPE("the table", weir_table, table_members);

/* ---- writing ---- */

static int64_t load(const struct member *member, const void *object)
{
    const void *field = (const char *)object + member->at;
    switch (member->kind) {
    case FLAG:
        return *(const bool *)field;
    case SIGNED:
        return *(const int32_t *)field;
    default:
        return *(const uint32_t *)field;
    }
}

static const char *load_text(const struct member *member, const void *object)
{
    return *(const char *const *)(const void *)((const char *)object + member->at);
}

static uint32_t load_count(const struct member *member, const void *object)
{
    return *(const uint32_t *)(const void *)((const char *)object + member->count_at);
}

static bool is_left_out(const struct member *member, const void *object)
{
    switch (member->kind) {
    case NAME:
        return false;
    case TEXT:
    case NUMBER:
        return !load_text(member, object);
    case LIST:
        return !load_count(member, object);
    default:
        return load(member, object) == member->absent;
    }
}

static void add_object(struct weir_buf *buf, const struct shape *shape, const void *object);

static void add_list(struct weir_buf *buf, const struct member *member, const void *object)
{
    const char *element = *(const char *const *)(const void *)((const char *)object + member->at);
    for (uint32_t i = 0; i < load_count(member, object); i++, element += member->of->size) {
        weir_buf_add_char(buf, i ? ',' : '[');
        add_object(buf, member->of, element);
    }
    weir_buf_add_char(buf, ']');
}

static void add_value(struct weir_buf *buf, const struct member *member, const void *object)
{
    switch (member->kind) {
    case NAME:
    case TEXT:
        weir_buf_add_json_string(buf, weir_str_from(load_text(member, object)));
        return;
    case NUMBER:
        weir_buf_add_text(buf, load_text(member, object));
        return;
    case FLAG:
        weir_buf_add_text(buf, "true");
        return;
    case SIGNED:
    case UNSIGNED:
        weir_buf_printf(buf, "%lld", (long long)load(member, object));
        return;
    case WORD:
        weir_buf_add_json_string(buf, weir_str_from(member->words[load(member, object)]));
        return;
    case LIST:
        add_list(buf, member, object);
        return;
    }
}

static void add_object(struct weir_buf *buf, const struct shape *shape, const void *object)
{
    if (!shape->members) {
        weir_buf_add_json_string(buf, weir_str_from(*(const char *const *)object));
        return;
    }
    char before = '{';
    for (size_t i = 0; i < shape->member_count; i++) {
        const struct member *member = &shape->members[i];
        if (is_left_out(member, object))
            continue;
        weir_buf_add_char(buf, before);
        weir_buf_add_json_string(buf, weir_str_from(member->name));
        weir_buf_add_char(buf, ':');
        add_value(buf, member, object);
        before = ',';
    }
    weir_buf_add_char(buf, '}');
}

char *weir_table_print(const struct weir_table *table)
{
    struct weir_buf buf;
    weir_buf_init(&buf, WEIR_TABLE_TEXT_MAX);
    add_object(&buf, &table_shape, table);
    if (!buf.overflow)
        return weir_buf_take(&buf);
    weir_buf_release(&buf);
    return NULL;
}

/* ---- reading ---- */

struct reader {
    struct weir_table *table;
    struct weir_error *err;
};

#define CANNOT "the description of a table cannot be used: "

static enum weir_status refuse_type(const struct reader *reader, const struct shape *shape,
                                    const char *member, const struct weir_json_node *node,
                                    enum weir_json_type right)
{
    return weir_fail(reader->err, WEIR_E_INVALID, CANNOT "%s%s%s%s is %s where %s is right",
                     shape->noun, member ? " whose \"" : "", member ? member : "",
                     member ? "\"" : "", node ? weir_json_type_name(node->type) : "missing",
                     weir_json_type_name(right));
}

static enum weir_status refuse_value(const struct reader *reader, const struct shape *shape,
                                     const char *member, struct weir_str text)
{
    text = weir_str_cut(text, 40);
    return weir_fail(reader->err, WEIR_E_INVALID, CANNOT "%s cannot have \"%.*s\" as its \"%s\"",
                     shape->noun, (int)text.len, text.ptr, member);
}

static enum weir_json_type type_of(enum kind kind)
{
    static const enum weir_json_type types[] = {
        [NAME] = WEIR_JSON_STRING, [TEXT] = WEIR_JSON_STRING,   [NUMBER] = WEIR_JSON_NUMBER,
        [FLAG] = WEIR_JSON_BOOL,   [SIGNED] = WEIR_JSON_NUMBER, [UNSIGNED] = WEIR_JSON_NUMBER,
        [WORD] = WEIR_JSON_STRING, [LIST] = WEIR_JSON_ARRAY,
    };
    return types[kind];
}

static void store(const struct member *member, void *object, int64_t value)
{
    void *field = (char *)object + member->at;
    switch (member->kind) {
    case FLAG:
        *(bool *)field = value != 0;
        return;
    case SIGNED:
        *(int32_t *)field = (int32_t)value;
        return;
    default:
        *(uint32_t *)field = (uint32_t)value;
        return;
    }
}

/* In place of what a C string cannot hold, NULL. */
static const char *own(struct reader *reader, struct weir_str text)
{
    return memchr(text.ptr, '\0', text.len) ? NULL : weir_table_text(reader->table, text);
}

static bool read_number(const struct member *member, struct weir_str text, void *object)
{
    int64_t value;
    if (!weir_str_to_int64(text, &value) || value < member->min || value > member->max)
        return false;
    store(member, object, value);
    return true;
}

static bool read_word(const struct member *member, struct weir_str text, void *object)
{
    int word = weir_metadata_word(text, member->words, -1);
    if (word >= 0)
        store(member, object, word);
    return word >= 0;
}

static enum weir_status read_object(struct reader *reader, const struct shape *shape,
                                    const struct weir_json_node *node, void *object);

static enum weir_status read_list(struct reader *reader, const struct member *member,
                                  const struct weir_json_node *list, void *object)
{
    if (list->count > member->count_max)
        return weir_fail(reader->err, WEIR_E_TOO_BIG, CANNOT "it has more than %u \"%s\" in a list",
                         member->count_max, member->name);
    char *element = weir_table_alloc(reader->table, list->count, member->of->size);
    *(void **)(void *)((char *)object + member->at) = element;
    *(uint32_t *)(void *)((char *)object + member->count_at) = list->count;
    enum weir_status status = WEIR_OK;
    for (const struct weir_json_node *node = list->first; node && !status; node = node->next) {
        status = read_object(reader, member->of, node, element);
        element += member->of->size;
    }
    return status;
}

static enum weir_status read_value(struct reader *reader, const struct shape *shape,
                                   const struct member *member, const struct weir_json_node *node,
                                   void *object)
{
    bool fine = true;
    const char **text = (const char **)(void *)((char *)object + member->at);
    if (node->type != type_of(member->kind))
        return refuse_type(reader, shape, member->name, node, type_of(member->kind));
    switch (member->kind) {
    case NAME:
    case TEXT:
    case NUMBER:
        fine = (*text = own(reader, node->text)) != NULL;
        break;
    case FLAG:
        store(member, object, weir_str_equal(node->text, weir_str_from("true")));
        break;
    case SIGNED:
    case UNSIGNED:
        fine = read_number(member, node->text, object);
        break;
    case WORD:
        fine = read_word(member, node->text, object);
        break;
    case LIST:
        return read_list(reader, member, node, object);
    }
    return fine ? WEIR_OK : refuse_value(reader, shape, member->name, node->text);
}

static const struct member *find_member(const struct shape *shape, struct weir_str name)
{
    for (size_t i = 0; i < shape->member_count; i++) {
        if (weir_str_equal(name, weir_str_from(shape->members[i].name)))
            return &shape->members[i];
    }
    return NULL;
}

/* What is as it is when it is left out, and what may not be. */
static enum weir_status read_absent(const struct reader *reader, const struct shape *shape,
                                    const struct weir_json_node *node, void *object)
{
    for (size_t i = 0; i < shape->member_count; i++) {
        const struct member *member = &shape->members[i];
        bool number = member->kind == SIGNED || member->kind == UNSIGNED;
        bool needed = member->kind == NAME || (number && member->absent == NEVER);
        if (weir_json_find(node, member->name))
            continue;
        if (needed)
            return refuse_type(reader, shape, member->name, NULL, type_of(member->kind));
        if (number)
            store(member, object, member->absent);
    }
    return WEIR_OK;
}

static enum weir_status read_object(struct reader *reader, const struct shape *shape,
                                    const struct weir_json_node *node, void *object)
{
    if (!shape->members) {
        static const struct member name = { "name", NAME, .at = 0 };
        return read_value(reader, shape, &name, node, object);
    }
    if (node->type != WEIR_JSON_OBJECT)
        return refuse_type(reader, shape, NULL, node, WEIR_JSON_OBJECT);
    enum weir_status status = read_absent(reader, shape, node, object);
    for (node = node->first; node && !status; node = node->next) {
        const struct member *member = find_member(shape, node->key);
        struct weir_str name = weir_str_cut(node->key, 40);
        status = member ? read_value(reader, shape, member, node, object)
                        : weir_fail(reader->err, WEIR_E_INVALID,
                                    CANNOT "%s has a member \"%.*s\", which is none of its own",
                                    shape->noun, (int)name.len, name.ptr);
    }
    return status;
}

/* ---- what follows from it ---- */

static enum weir_status finish(const struct reader *reader)
{
    struct weir_table *table = reader->table;
    for (uint32_t i = 0; i < table->column_count; i++) {
        struct weir_column *it = &table->columns[i];
        it->key_name = weir_table_key_name(table, it);
        if (!weir_map_add(&table->column_map, weir_str_from(it->name), i))
            return weir_fail(reader->err, WEIR_E_INVALID, CANNOT "column \"%.40s\" comes twice",
                             it->name);
    }
    for (size_t i = 0; i < WEIR_BULK_MESSAGES; i++) {
        if (table->bulk[i] && !table->bulk_known)
            return weir_fail(reader->err, WEIR_E_INVALID,
                             CANNOT "it has bulk messages and does not know them");
    }
    return WEIR_OK;
}

/* Numbers, escapes, blanks, the order of members: all of it is as it is written, or not ours. */
static enum weir_status compare(const struct reader *reader, struct weir_str text)
{
    char *again = weir_table_print(reader->table);
    bool same = again && weir_str_equal(weir_str_from(again), text);
    free(again);
    return same ? WEIR_OK
                : weir_fail(reader->err, WEIR_E_INVALID,
                            CANNOT "it says what a table may say, but is not written as they are");
}

static enum weir_status read_table(struct reader *reader, struct weir_str text)
{
    struct weir_json *json;
    struct weir_error why;
    enum weir_status status = weir_json_parse(text, &json, &why);
    if (status)
        return weir_fail(reader->err, status, CANNOT "%s", why.message);
    status = read_object(reader, &table_shape, weir_json_root(json), reader->table);
    weir_json_free(json);
    if (!status)
        status = finish(reader);
    return status ? status : compare(reader, text);
}

enum weir_status weir_table_parse(struct weir_str text, struct weir_table **ret,
                                  struct weir_error *err)
{
    if (text.len > WEIR_TABLE_TEXT_MAX)
        return weir_fail(err, WEIR_E_TOO_BIG, CANNOT "it is longer than %zu bytes",
                         WEIR_TABLE_TEXT_MAX);
    struct reader reader = { weir_calloc(1, sizeof(struct weir_table)), err };
    weir_map_init(&reader.table->column_map);
    enum weir_status status = read_table(&reader, text);
    if (status)
        weir_table_free(reader.table);
    else
        *ret = reader.table;
    return status;
}
