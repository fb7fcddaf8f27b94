/* SPDX-License-Identifier: MIT */
/*
 * What is said of columns that the table has not or that cannot be written, before anything is
 * sent; see mapping_parts.h. Whoever meant to leave them out is told the words that do it:
 *
 *     … cannot be written by a create; pass over them with --ignore-columns
 * versionnumber,modifiedon
 *
 * Columns that are ignored already stand there, too: the option is given once. A name that cannot
 * stand in it, or a list that is too long, leads to a mapping file.
 *
 * A column that refuses the whole job is one of a file, which stands in front:
 *
 *     input "a.csv": the table "account" has no column "nmae"; …
 */
#include "base/error.h"
#include "base/mem.h"
#include "records/mapping_parts.h"
#include "records/spec_parts.h"

/* Of the words in a message, together with the name of the input. */
#define HINT_BYTES 700
_Static_assert(HINT_BYTES > 2 * sizeof(struct weir_source_title), "a few names find room");

/* ---- the input ---- */

struct weir_source_title weir_mapping_input(const struct weir_mapping *mapping)
{
    return weir_source_title(mapping->input);
}

/* Names that are known before the rows are those of the first. */
enum weir_status weir_mapping_fail_input(const struct weir_mapping *mapping,
                                         const struct weir_error *why, struct weir_error *err)
{
    if (!mapping->input)
        return weir_fail(err, why->status, "%s", why->message);
    return weir_fail(err, why->status, "%s%s: %s", weir_mapping_input(mapping).text,
                     mapping->named ? ", row 1" : "", why->message);
}

/* ---- the words ---- */

struct hint {
    struct weir_buf names; /* with commas between them */
    bool fits;             /* all of them can stand there */
    bool plain;            /* … without quotes, in any shell */
};

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           strchr("_.@:-", c);
}

static void hint_add(struct hint *hint, struct weir_str name)
{
    if (hint->names.len)
        weir_buf_add_char(&hint->names, ',');
    weir_buf_add(&hint->names, name.ptr, name.len);
    hint->fits = hint->fits && name.len && weir_str_trim(name).len == name.len;
    for (size_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.ptr[i];
        hint->fits = hint->fits && c >= 0x20 && c != 0x7f && c != ',' && c != '\'';
        hint->plain = hint->plain && c && is_plain((char)c);
    }
}

static void hint_init(struct hint *hint, const struct weir_mapping *mapping)
{
    const struct weir_spec *spec = mapping->spec;
    const size_t taken = strlen(weir_mapping_input(mapping).text) + sizeof("--ignore-columns ''");
    *hint = (struct hint){ .fits = true, .plain = true };
    weir_buf_init(&hint->names, HINT_BYTES - taken);
    for (uint32_t i = 0; spec && i < spec->column_count; i++) {
        const struct weir_spec_column *column = &spec->columns[i];
        if (!column->target && !column->place.line)
            hint_add(hint, weir_str_from(column->source));
    }
}

/* `--ignore-columns a,b`, or what does the same; releases the hint. */
static void hint_print(struct hint *hint, const struct weir_mapping *mapping, char text[HINT_BYTES])
{
    const char *quote = hint->plain ? "" : "'";
    struct weir_buf words;
    weir_buf_init(&words, HINT_BYTES - 1);
    if (hint->fits && !hint->names.overflow)
        weir_buf_printf(&words, "--ignore-columns %s%.*s%s", quote, (int)hint->names.len,
                        hint->names.ptr, quote);
    else
        weir_buf_printf(&words, "a mapping file, which \"weir map %s FILE\" writes",
                        mapping->table->name);
    weir_buf_hand_over(&words, text, HINT_BYTES);
    weir_buf_release(&hint->names);
}

static void hint_of(const struct weir_mapping *mapping, const char *name, char text[HINT_BYTES])
{
    struct hint hint;
    hint_init(&hint, mapping);
    hint_add(&hint, weir_str_from(name));
    hint_print(&hint, mapping, text);
}

/* ---- columns that are not there ---- */

/* The nearest column; NULL: none is near. */
static const char *nearest(const struct weir_table *table, struct weir_str name)
{
    size_t best = weir_str_tolerance(name) + 1;
    const char *found = NULL;
    for (uint32_t i = 0; i < table->column_count && best; i++) {
        size_t distance = weir_str_distance(name, weir_str_from(table->columns[i].name));
        if (distance < best) {
            best = distance;
            found = table->columns[i].name;
        }
    }
    return found;
}

/* The column that people call so; NULL: none, or several. */
static const char *labelled(const struct weir_table *table, struct weir_str name)
{
    struct weir_guess guess = weir_spec_guess(table, name);
    return guess.kind == WEIR_GUESS_LABEL ? guess.column->name : NULL;
}

static enum weir_status fail_label(const struct weir_table *table, struct weir_str name,
                                   const char *column, struct weir_error *err)
{
    return weir_fail(err, WEIR_E_INVALID,
                     "the table \"%s\" has no column \"%.*s\"; that is the label of \"%s\": name "
                     "the column so, or map it in a file that \"weir map %s FILE\" writes",
                     table->name, WEIR_QUOTED(name), column, table->name);
}

enum weir_status weir_mapping_fail_unknown(const struct weir_table *table, struct weir_str name,
                                           struct weir_error *err)
{
    const char *near = nearest(table, name);
    const char *label = labelled(table, name);
    if (label)
        return fail_label(table, name, label, err);
    if (near)
        return weir_fail(err, WEIR_E_INVALID,
                         "the table \"%s\" has no column \"%.*s\"; did you mean \"%s\"?",
                         table->name, WEIR_QUOTED(name), near);
    return weir_fail(err, WEIR_E_INVALID,
                     "the table \"%s\" has no column \"%.*s\"; columns go by their logical names",
                     table->name, WEIR_QUOTED(name));
}

enum weir_status weir_mapping_fail_slot(const struct weir_mapping *mapping,
                                        const struct weir_slot *slot, struct weir_str name,
                                        struct weir_error *err)
{
    const struct weir_table *table = mapping->table;
    const char *near = nearest(table, name);
    char hint[HINT_BYTES];
    if (slot->said || slot->with || labelled(table, name))
        return weir_mapping_fail_unknown(table, name, err);
    if (memchr(name.ptr, ';', name.len) || memchr(name.ptr, '\t', name.len))
        return weir_fail(
            err, WEIR_E_INVALID,
            "the table \"%s\" has no column \"%.*s\"; cells are separated by commas, or "
            "by tabs with --format tsv",
            table->name, WEIR_QUOTED(name));
    hint_of(mapping, slot->name, hint);
    if (near)
        return weir_fail(err, WEIR_E_INVALID,
                         "the table \"%s\" has no column \"%.*s\"; did you mean \"%s\", or is it "
                         "to be passed over with %s?",
                         table->name, WEIR_QUOTED(name), near, hint);
    return weir_fail(err, WEIR_E_INVALID,
                     "the table \"%s\" has no column \"%.*s\"; columns go by their logical names, "
                     "or are passed over with %s",
                     table->name, WEIR_QUOTED(name), hint);
}

/* ---- columns that cannot be written ---- */

char *weir_mapping_explain(const struct weir_mapping *mapping, const struct weir_slot *slot,
                           const struct weir_error *why)
{
    char hint[HINT_BYTES];
    struct weir_error whole;
    if (!slot->unwritable)
        return weir_strdup(why->message);
    hint_of(mapping, slot->name, hint);
    weir_fail(&whole, WEIR_E_INVALID, "%s; pass over it with %s", why->message, hint);
    return weir_strdup(whole.message);
}

/* Nobody can write it, by whatever operation. */
static bool is_kept_by_service(const struct weir_column *column)
{
    return !column->for_create && !column->for_update;
}

static enum weir_status fail_several(const struct weir_mapping *mapping, struct hint *hint,
                                     uint32_t count, bool kept, struct weir_error *err)
{
    char text[HINT_BYTES];
    hint_print(hint, mapping, text);
    return weir_fail(err, WEIR_E_INVALID,
                     "%u columns of %s cannot be written by %s%s; pass over them with %s", count,
                     weir_mapping_input(mapping).text, weir_mapping_verb(mapping),
                     kept ? ", because the service keeps them itself" : "", text);
}

/* What a mapping file has said of it has its place there. */
static enum weir_status fail_one(const struct weir_mapping *mapping, const struct weir_slot *slot,
                                 struct weir_error *err)
{
    char text[HINT_BYTES];
    struct weir_error why;
    hint_of(mapping, slot->name, text);
    weir_fail(&why, WEIR_E_INVALID, "%s; pass over it with %s", slot->refusal, text);
    return slot->said ? weir_fail(err, why.status, "%s", why.message)
                      : weir_mapping_fail_input(mapping, &why, err);
}

enum weir_status weir_mapping_fail_unwritable(const struct weir_mapping *mapping,
                                              const struct weir_slots *slots,
                                              struct weir_error *err)
{
    struct hint hint;
    const struct weir_slot *last = NULL;
    uint32_t count = 0;
    bool kept = true;
    hint_init(&hint, mapping);
    for (uint32_t i = 0; i < slots->count; i++) {
        if (!slots->list[i]->unwritable)
            continue;
        last = slots->list[i];
        kept = kept && is_kept_by_service(last->column);
        hint_add(&hint, weir_str_from(last->name));
        count++;
    }
    if (count > 1)
        return fail_several(mapping, &hint, count, kept, err);
    weir_buf_release(&hint.names);
    if (!last)
        return WEIR_OK;
    return fail_one(mapping, last, err);
}

/* ---- records that could not be read ---- */

/* What is wrong with the row as a whole is said without a subject. */
static bool is_of_row(const struct weir_record *record)
{
    switch (record->problem) {
    case WEIR_RECORD_RAGGED:
    case WEIR_RECORD_TOO_BIG:
    case WEIR_RECORD_TOO_MANY_CELLS:
    case WEIR_RECORD_TOO_MANY_MEMBERS:
    case WEIR_RECORD_TOO_DEEP:
        return true;
    default:
        return !record->member.ptr && !record->column;
    }
}

bool weir_mapping_refuse_problem(const struct weir_mapping *mapping,
                                 const struct weir_record *record, struct weir_arena *arena,
                                 struct weir_draft *draft)
{
    const struct weir_slots *slots = &mapping->slots;
    struct weir_str column = weir_str("", 0);
    if (record->column > 0 && record->column <= slots->count) {
        const struct weir_slot *slot = slots->list[record->column - 1];
        column = weir_str_from(slot->column ? slot->column->name : slot->name);
    }
    char text[WEIR_MESSAGE_MAX];
    weir_record_explain(record, column, text, sizeof(text));
    if (record->member.ptr)
        column = record->member;
    return weir_draft_refuse(draft, arena, column, "%s%s", is_of_row(record) ? "the row " : "",
                             text);
}
