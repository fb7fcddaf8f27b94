/* SPDX-License-Identifier: MIT */
/*
 * What only columns of one kind have: lengths, ranges, choices, dates, targets. Each kind is one
 * row of the table of casts: what is selected, what is expanded, and who reads it.
 *
 * A column has a set of choices of its own (OptionSet) or shares one (GlobalOptionSet); the other
 * is null, or repeats it.
 */
#include "base/error.h"
#include "base/limits.h"
#include "protocol/metadata_parts.h"

/* ---- texts and numbers ---- */

static enum weir_status read_length(struct weir_metadata_reader *reader, struct weir_column *column,
                                    const struct weir_json_node *node)
{
    int64_t length;
    enum weir_status status =
        weir_metadata_get_int(reader, node, "MaxLength", 0, UINT32_MAX, 0, &length);
    if (status == WEIR_OK)
        column->length_max = (uint32_t)length;
    return status;
}

/* A number as it was written: 922337203685477.0 must not become something near it. */
static enum weir_status read_bound(struct weir_metadata_reader *reader,
                                   const struct weir_json_node *node, const char *key,
                                   const char **ret)
{
    const struct weir_json_node *number;
    enum weir_status status =
        weir_metadata_get(reader, node, key, WEIR_JSON_NUMBER, false, &number);
    if (status == WEIR_OK)
        *ret = number ? weir_table_text(reader->table, number->text) : NULL;
    return status;
}

static enum weir_status read_range(struct weir_metadata_reader *reader, struct weir_column *column,
                                   const struct weir_json_node *node)
{
    int64_t precision = -1;
    enum weir_status status = read_bound(reader, node, "MinValue", &column->min);
    if (status == WEIR_OK)
        status = read_bound(reader, node, "MaxValue", &column->max);
    if (status == WEIR_OK)
        status = weir_metadata_get_int(reader, node, "Precision", 0, 100, -1, &precision);
    if (status == WEIR_OK)
        column->precision = (int)precision;
    return status;
}

/* ---- dates ---- */

static enum weir_status read_date(struct weir_metadata_reader *reader, struct weir_column *column,
                                  const struct weir_json_node *node)
{
    static const char *const words[] = { "UserLocal", "DateOnly", "TimeZoneIndependent", NULL };
    const struct weir_json_node *format;
    struct weir_str behavior;
    enum weir_status status = weir_metadata_get_value(reader, node, "DateTimeBehavior", &behavior);
    if (status == WEIR_OK)
        status = weir_metadata_get(reader, node, "Format", WEIR_JSON_STRING, false, &format);
    if (status != WEIR_OK)
        return status;
    int word = weir_metadata_word(behavior, words, behavior.len ? -1 : WEIR_DATE_USER_LOCAL);
    if (word < 0)
        return weir_fail(reader->err, WEIR_E_INVALID,
                         "column \"%s\" of \"%s\" has dates of an unknown behaviour \"%.*s\"",
                         column->name, reader->name, (int)(behavior.len < 40 ? behavior.len : 40),
                         behavior.ptr);
    column->behavior = (enum weir_date_behavior)word;
    column->shows_date_only = format && weir_str_equal(format->text, weir_str_from("DateOnly"));
    return WEIR_OK;
}

/* ---- lookups ---- */

/*
 * What the relationships say of a lookup, by table. A map, because both lists are long only if
 * somebody means ill, and then one is looked through for every entry of the other.
 */
static void map_targets(const struct weir_column *column, struct weir_map *map)
{
    weir_map_init(map);
    for (uint32_t i = 0; i < column->target_count; i++)
        weir_map_add(map, weir_str_from(column->targets[i].table), i);
}

/* Users and teams are owners, and the relationship is to the owner. */
static const char *find_navigation(const struct weir_column *column, const struct weir_map *map,
                                   struct weir_str table)
{
    uint32_t place;
    if (weir_map_find(map, table, &place) ||
        (column->type == WEIR_COLUMN_OWNER && weir_map_find(map, weir_str_from("owner"), &place)))
        return column->targets[place].navigation;
    return NULL;
}

static enum weir_status make_targets(struct weir_metadata_reader *reader,
                                     const struct weir_column *column,
                                     const struct weir_json_node *list,
                                     struct weir_lookup_target *targets)
{
    struct weir_map map;
    enum weir_status status = WEIR_OK;
    map_targets(column, &map);
    for (const struct weir_json_node *node = list->first; node && status == WEIR_OK;
         node = node->next, targets++) {
        status = weir_metadata_own_text(reader, node, "Targets", &targets->table);
        targets->navigation = find_navigation(column, &map, node->text);
    }
    weir_map_release(&map);
    return status;
}

static enum weir_status read_targets(struct weir_metadata_reader *reader,
                                     struct weir_column *column, const struct weir_json_node *node)
{
    const struct weir_json_node *list;
    enum weir_status status =
        weir_metadata_get(reader, node, "Targets", WEIR_JSON_ARRAY, false, &list);
    if (status != WEIR_OK || !list || !list->count)
        return status;
    if (list->count > WEIR_LOOKUP_TARGETS_MAX)
        return weir_fail(reader->err, WEIR_E_TOO_BIG, "column \"%s\" of \"%s\" has more than %d %s",
                         column->name, reader->name, WEIR_LOOKUP_TARGETS_MAX, "targets");
    struct weir_lookup_target *targets =
        weir_table_alloc(reader->table, list->count, sizeof(*targets));
    status = make_targets(reader, column, list, targets);
    if (status != WEIR_OK)
        return status;
    column->targets = targets;
    column->target_count = list->count;
    return WEIR_OK;
}

/* ---- choices ---- */

static enum weir_status read_choice(struct weir_metadata_reader *reader,
                                    const struct weir_json_node *node, struct weir_choice *choice)
{
    const struct weir_json_node *needed;
    int64_t value, state;
    enum weir_status status =
        weir_metadata_get(reader, node, "Value", WEIR_JSON_NUMBER, true, &needed);
    if (status == WEIR_OK)
        status = weir_metadata_get_int(reader, node, "Value", INT32_MIN, INT32_MAX, 0, &value);
    if (status == WEIR_OK)
        status = weir_metadata_get_int(reader, node, "State", INT32_MIN, INT32_MAX, -1, &state);
    if (status == WEIR_OK)
        status = weir_metadata_get_label(reader, node, "Label", &choice->label);
    if (status != WEIR_OK)
        return status;
    choice->value = (int32_t)value;
    choice->state = (int32_t)state;
    return WEIR_OK;
}

/* The set of its own, or else the shared one; *ret NULL: neither is told. */
static enum weir_status find_set(struct weir_metadata_reader *reader,
                                 const struct weir_json_node *node,
                                 const struct weir_json_node **ret)
{
    enum weir_status status =
        weir_metadata_get(reader, node, "OptionSet", WEIR_JSON_OBJECT, false, ret);
    if (status == WEIR_OK && !*ret)
        status = weir_metadata_get(reader, node, "GlobalOptionSet", WEIR_JSON_OBJECT, false, ret);
    return status;
}

static enum weir_status read_choices(struct weir_metadata_reader *reader,
                                     struct weir_column *column, const struct weir_json_node *node)
{
    const struct weir_json_node *set, *list = NULL;
    enum weir_status status = find_set(reader, node, &set);
    if (status == WEIR_OK && set)
        status = weir_metadata_get(reader, set, "Options", WEIR_JSON_ARRAY, true, &list);
    if (status != WEIR_OK || !list)
        return status;
    if (list->count > WEIR_CHOICES_MAX)
        return weir_fail(reader->err, WEIR_E_TOO_BIG, "column \"%s\" of \"%s\" has more than %d %s",
                         column->name, reader->name, WEIR_CHOICES_MAX, "choices");
    column->choices = weir_table_alloc(reader->table, list->count, sizeof(*column->choices));
    column->choice_count = 0; /* another cast may have told of the column */
    for (node = list->first; node && status == WEIR_OK; node = node->next)
        status = read_choice(reader, node, &column->choices[column->choice_count++]);
    return status;
}

/* Of a boolean: "no" first, so that the place is the value. */
static enum weir_status read_yes_or_no(struct weir_metadata_reader *reader,
                                       struct weir_column *column,
                                       const struct weir_json_node *node)
{
    static const char *const names[] = { "FalseOption", "TrueOption" };
    const struct weir_json_node *set, *choice;
    enum weir_status status = find_set(reader, node, &set);
    if (status != WEIR_OK || !set)
        return status;
    column->choices = weir_table_alloc(reader->table, 2, sizeof(*column->choices));
    column->choice_count = 2;
    for (int i = 0; i < 2; i++) {
        column->choices[i] = (struct weir_choice){ .value = i, .state = -1 };
        status = weir_metadata_get(reader, set, names[i], WEIR_JSON_OBJECT, false, &choice);
        if (status == WEIR_OK && choice)
            status = weir_metadata_get_label(reader, choice, "Label", &column->choices[i].label);
        if (status != WEIR_OK)
            return status;
    }
    return WEIR_OK;
}

/* ---- casts ---- */

#define CHOICES "OptionSet($select=Options),GlobalOptionSet($select=Options)"
#define YES_OR_NO                                                                                  \
    "OptionSet($select=TrueOption,FalseOption),GlobalOptionSet($select=TrueOption,FalseOption)"

const struct weir_metadata_cast weir_metadata_casts[WEIR_METADATA_CAST_COUNT] = {
    { "String", "MaxLength", NULL, read_length },
    { "Memo", "MaxLength", NULL, read_length },
    { "Integer", "MinValue,MaxValue", NULL, read_range },
    { "BigInt", "MinValue,MaxValue", NULL, read_range },
    { "Decimal", "MinValue,MaxValue,Precision", NULL, read_range },
    { "Double", "MinValue,MaxValue,Precision", NULL, read_range },
    { "Money", "MinValue,MaxValue,Precision", NULL, read_range },
    { "DateTime", "DateTimeBehavior,Format", NULL, read_date },
    { "Lookup", "Targets", NULL, read_targets },
    { "Boolean", "", YES_OR_NO, read_yes_or_no },
    { "Picklist", "", CHOICES, read_choices },
    { "MultiSelectPicklist", "", CHOICES, read_choices },
    { "State", "", CHOICES, read_choices },
    { "Status", "", CHOICES, read_choices },
};

/* Read one column unless there is none of that name; `seen`: which ones have come. */
static enum weir_status read_one(struct weir_metadata_reader *reader,
                                 const struct weir_metadata_cast *cast,
                                 const struct weir_json_node *node, bool *seen)
{
    const struct weir_json_node *name;
    uint32_t place;
    enum weir_status status =
        weir_metadata_get(reader, node, "LogicalName", WEIR_JSON_STRING, true, &name);
    if (status != WEIR_OK || !weir_map_find(&reader->table->column_map, name->text, &place))
        return status;
    struct weir_column *column = &reader->table->columns[place];
    if (seen[place])
        return weir_fail(reader->err, WEIR_E_INVALID,
                         "the metadata of \"%s\" makes no sense: column \"%s\" comes twice",
                         reader->name, column->name);
    seen[place] = true;
    return cast->read(reader, column, node);
}

enum weir_status weir_metadata_read_cast(struct weir_metadata_reader *reader,
                                         const struct weir_metadata_cast *cast,
                                         const struct weir_json_node *value)
{
    bool seen[WEIR_COLUMNS_MAX] = { false };
    enum weir_status status = WEIR_OK;
    for (const struct weir_json_node *node = value->first; node && status == WEIR_OK;
         node = node->next)
        status = read_one(reader, cast, node, seen);
    return status;
}
