/* SPDX-License-Identifier: MIT */
/*
 * A mapping file to edit; see spec.h. Whatever comes from elsewhere is a JSON string or stands in a
 * comment, where line ends become blanks.
 */
#include <stdlib.h>

#include "base/json_text.h"
#include "records/cell_kinds.h"
#include "records/column_target.h"
#include "records/mapping_parts.h"
#include "records/read_format.h"
#include "records/spec_parts.h"

#define CHOICES_SHOWN 12
#define LABEL_SHOWN   40
#define TARGETS_SHOWN 6

/* ---- comments ---- */

/* A text inside a comment, which must not end it. */
static void add_plain(struct weir_buf *buf, struct weir_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        weir_buf_add_char(buf, c < 0x20 || c == 0x7f ? ' ' : (char)c);
    }
}

/* A label, and a mark if it is not all of it. */
static void add_cut(struct weir_buf *buf, struct weir_str label)
{
    struct weir_str shown = weir_str_cut(label, LABEL_SHOWN);
    add_plain(buf, shown);
    weir_buf_add_text(buf, shown.len < label.len ? "…" : "");
}

static void add_choices(struct weir_buf *buf, const struct weir_column *column)
{
    for (uint32_t i = 0; i < column->choice_count && i < CHOICES_SHOWN; i++) {
        struct weir_str label = weir_str_from(column->choices[i].label);
        weir_buf_printf(buf, "%s%d", i ? ", " : ": ", (int)column->choices[i].value);
        if (!label.len)
            continue;
        weir_buf_add_text(buf, " (");
        add_cut(buf, label);
        weir_buf_add_text(buf, ")");
    }
    if (column->choice_count > CHOICES_SHOWN)
        weir_buf_printf(buf, " and %u more", column->choice_count - CHOICES_SHOWN);
}

static const struct weir_table *find_table(const char *name, const struct weir_table *const *tables,
                                           size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(tables[i]->name, name) == 0)
            return tables[i];
    }
    return NULL;
}

/* `account(accountnumber)` for each key that can be used. */
static void add_keys(struct weir_buf *buf, const struct weir_table *table)
{
    for (uint32_t i = 0; i < table->key_count; i++) {
        if (table->keys[i].status != WEIR_KEY_STATUS_ACTIVE)
            continue;
        weir_buf_printf(buf, ", by its key :%s(", table->name);
        for (uint32_t k = 0; k < table->keys[i].column_count; k++)
            weir_buf_printf(buf, "%s%s", k ? "," : "", table->keys[i].columns[k]);
        weir_buf_add_text(buf, ")");
    }
}

static void add_targets(struct weir_buf *buf, const struct weir_column *column,
                        const struct weir_table *own, const struct weir_table *const *others,
                        size_t other_count)
{
    for (uint32_t i = 0; i < column->target_count && i < TARGETS_SHOWN; i++) {
        const char *name = column->targets[i].table;
        const struct weir_table *table =
            strcmp(name, own->name) == 0 ? own : find_table(name, others, other_count);
        weir_buf_printf(buf, "%s%s", i ? "; " : " to ", name);
        if (table)
            add_keys(buf, table);
    }
    if (column->target_count > TARGETS_SHOWN)
        weir_buf_printf(buf, " and %u more", column->target_count - TARGETS_SHOWN);
}

static void add_date(struct weir_buf *buf, const struct weir_column *column)
{
    static const char *const forms[] = {
        [WEIR_DATE_USER_LOCAL] = ", with an offset, or in the zone of --timezone",
        [WEIR_DATE_ONLY] = ", YYYY-MM-DD",
        [WEIR_DATE_ZONE_INDEPENDENT] = ", the same in every zone",
    };
    weir_buf_add_text(buf, forms[column->behavior]);
}

static void add_range(struct weir_buf *buf, const struct weir_column *column)
{
    if (column->length_max)
        weir_buf_printf(buf, ", up to %u characters", column->length_max);
    if (column->min && column->max)
        weir_buf_printf(buf, ", %s to %s", column->min, column->max);
    if (column->precision >= 0 && column->type != WEIR_COLUMN_DOUBLE)
        weir_buf_printf(buf, ", up to %d digits behind the point", column->precision);
}

static bool is_number(const struct weir_column *column)
{
    return column->type >= WEIR_COLUMN_INTEGER && column->type <= WEIR_COLUMN_MONEY;
}

static void describe(struct weir_buf *buf, const struct weir_column *column,
                     const struct weir_table *own, const struct weir_table *const *others,
                     size_t other_count)
{
    weir_buf_printf(buf, "    // %s", weir_column_type_name(column->type));
    if (column->type == WEIR_COLUMN_DATETIME)
        add_date(buf, column);
    else if (weir_column_is_lookup(column))
        add_targets(buf, column, own, others, other_count);
    else if (is_number(column) || column->length_max)
        add_range(buf, column);
    add_choices(buf, column);
    if (column->required == WEIR_REQUIRED_APPLICATION)
        weir_buf_add_text(buf, "; forms insist on it");
    weir_buf_add_text(buf, "\n");
}

/* ---- guessing ---- */

static bool can_be_written(const struct weir_table *table, const struct weir_column *column)
{
    bool known = weir_typed_kind_of(column) || weir_column_is_lookup(column);
    bool naming = strcmp(column->name, table->primary_id) == 0;
    if (column->type == WEIR_COLUMN_STATE && weir_mapping_table_closes(table))
        return false;
    bool created = strcmp(column->name, "createdon") == 0; /* it goes to overriddencreatedon */
    return naming || created || (known && (column->for_create || column->for_update));
}

/* ---- entries ---- */

static void add_entry(struct weir_buf *buf, struct weir_str source, struct weir_str target)
{
    weir_buf_add_text(buf, "    ");
    weir_json_text_add(buf, source);
    weir_buf_add_text(buf, ": ");
    if (target.ptr)
        weir_json_text_add(buf, target);
    else
        weir_buf_add_text(buf, "null");
    weir_buf_add_text(buf, ",\n");
}

/* A member as Dataverse itself writes it needs no entry, unless its column cannot be written. */
static bool is_understood(const struct weir_table *table, struct weir_str name)
{
    struct weir_str inner;
    enum weir_read_member member = weir_read_member_of(name, &inner);
    const struct weir_column *column = weir_table_column(table, inner);
    if (member == WEIR_READ_LOOKUP)
        return column && can_be_written(table, column);
    return member == WEIR_READ_LOOKUP_TABLE || member == WEIR_READ_LOOKUP_NAVIGATION ||
           member == WEIR_READ_ETAG || member == WEIR_READ_ANNOTATION;
}

static void add_understood(struct weir_buf *buf, struct weir_str name)
{
    weir_buf_add_text(buf, "    // understood as it is: ");
    add_plain(buf, name);
    weir_buf_add_text(buf, "\n");
}

/* It may point to several tables, and no column beside it says to which: a header has all of them.
 */
static bool is_vague(const struct weir_table *table, struct weir_columns columns,
                     struct weir_str name)
{
    const struct weir_str term = weir_str_from(WEIR_READ_TABLE_TERM);
    struct weir_str inner;
    if (weir_read_member_of(name, &inner) != WEIR_READ_LOOKUP)
        return false;
    const struct weir_column *column = weir_table_column(table, inner);
    for (uint32_t i = 0; i < columns.count; i++) {
        struct weir_str it = columns.names[i];
        if (it.len == name.len + term.len && memcmp(it.ptr, name.ptr, name.len) == 0 &&
            memcmp(it.ptr + name.len, term.ptr, term.len) == 0)
            return false;
    }
    return column && (column->target_count > 1 || column->type == WEIR_COLUMN_OWNER);
}

static void add_vague(struct weir_buf *buf, const struct weir_table *table, struct weir_str name)
{
    struct weir_str inner;
    weir_read_member_of(name, &inner);
    const struct weir_column *column = weir_table_column(table, inner);
    weir_buf_printf(buf,
                    "    // %s to one of several tables, and nothing says to which: ignored, until "
                    "you say it,\n    // as \"%s:%s\"\n",
                    weir_column_type_name(column->type), column->name,
                    column->type == WEIR_COLUMN_OWNER ? "systemuser" : column->targets[0].table);
    add_entry(buf, name, weir_str(NULL, 0));
}

/* `accountnumber ("Account Number")` */
static void add_suggestion(struct weir_buf *buf, const struct weir_column *column)
{
    weir_buf_add_text(buf, column->name);
    if (!column->label)
        return;
    weir_buf_add_text(buf, " (\"");
    add_cut(buf, weir_str_from(column->label));
    weir_buf_add_text(buf, "\")");
}

/* Why nothing goes there by itself. */
static void add_unsure(struct weir_buf *buf, const struct weir_guess *guess)
{
    if (guess->kind == WEIR_GUESS_TAKEN)
        weir_buf_printf(
            buf, "    // \"%s\" has another column of the input already: ", guess->column->name);
    else
        weir_buf_add_text(buf, "    // no column is called like this: ");
    if (guess->kind == WEIR_GUESS_NEAR) {
        weir_buf_add_text(buf, "perhaps ");
        add_suggestion(buf, guess->column);
        if (guess->other) {
            weir_buf_add_text(buf, ", or ");
            add_suggestion(buf, guess->other);
        }
        weir_buf_add_text(buf, "? ");
    }
    weir_buf_add_text(buf, "ignored, until you say where it goes\n");
}

/* Why a name that is not the column's own is taken for it. */
static void add_reason(struct weir_buf *buf, const struct weir_guess *guess)
{
    if (guess->kind == WEIR_GUESS_SPELLING)
        weir_buf_add_text(buf, "    // by its name, written otherwise\n");
    else if (guess->kind == WEIR_GUESS_LABEL)
        weir_buf_add_text(buf, "    // by its label\n");
    else if (guess->kind == WEIR_GUESS_PREFIX)
        weir_buf_add_text(buf, "    // by its name without the prefix\n");
}

/* Names that say themselves where they go, "column:table" and Dataverse's own, are not guessed. */
static struct weir_guess said_guess(const struct weir_table *table, struct weir_str column)
{
    const struct weir_column *found = weir_table_column(table, column);
    return (struct weir_guess){ found ? WEIR_GUESS_NAME : WEIR_GUESS_NONE, found, NULL };
}

static void add_column(struct weir_buf *buf, const struct weir_table *table, struct weir_str name,
                       struct weir_guess guess, const struct weir_table *const *others,
                       size_t other_count)
{
    struct weir_column_target target;
    struct weir_str inner;
    bool said = weir_column_target_parse(name, &target, NULL) == WEIR_OK && target.table.ptr;
    bool lookup = weir_read_member_of(name, &inner) == WEIR_READ_LOOKUP;
    if (said || lookup)
        guess = said_guess(table, said ? target.column : inner);
    if (guess.kind >= WEIR_GUESS_TAKEN) {
        add_unsure(buf, &guess);
        add_entry(buf, name, weir_str(NULL, 0));
        return;
    }
    if (!can_be_written(table, guess.column)) {
        weir_buf_printf(buf, "    // \"%s\" cannot be written: ignored\n", guess.column->name);
        add_entry(buf, name, weir_str(NULL, 0));
        return;
    }
    add_reason(buf, &guess);
    describe(buf, guess.column, table, others, other_count);
    add_entry(buf, name, said ? name : weir_str_from(guess.column->name));
}

static void add_columns(struct weir_buf *buf, const struct weir_table *table,
                        struct weir_columns columns, const struct weir_table *const *others,
                        size_t other_count, bool named)
{
    struct weir_guess *guesses = weir_spec_guess_all(table, columns);
    for (uint32_t i = 0; i < columns.count; i++) {
        if (!named && is_vague(table, columns, columns.names[i]))
            add_vague(buf, table, columns.names[i]);
        else if (is_understood(table, columns.names[i]))
            add_understood(buf, columns.names[i]);
        else
            add_column(buf, table, columns.names[i], guesses[i], others, other_count);
    }
    free(guesses);
}

void weir_spec_template(struct weir_buf *buf, const struct weir_table *table,
                        struct weir_columns columns, const struct weir_table *const *others,
                        size_t other_count, bool named)
{
    weir_buf_printf(
        buf,
        "// How columns of the input become columns of \"%s\": left the name in the\n"
        "// input, right the column, or null to ignore it. A lookup may say by what it\n"
        "// points: \"column:table(key)\". More than a name is written\n"
        "//     { \"to\": \"column\", \"values\": { \"IT\": \"7\" }, \"empty\": "
        "\"null\" }\n"
        "// docs/mapping.md has the rest.\n{\n  \"table\": ",
        table->name);
    weir_json_text_add(buf, weir_str_from(table->name));
    weir_buf_add_text(buf, ",\n  \"columns\": {\n");
    add_columns(buf, table, columns, others, other_count, named);
    weir_buf_add_text(buf, "  },\n  // the same in every row, such as \"donotemail\": true\n"
                           "  \"with\": {}\n}\n");
}
