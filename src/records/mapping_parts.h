/* SPDX-License-Identifier: MIT */
/*
 * What the files of a mapping share: mapping.c (making one), mapping_columns.c (what each column of
 * the input is for), mapping_said.c (what is said beside it), mapping_refusal.c (columns that
 * cannot go anywhere), mapping_member.c (those that are written), mapping_key.c (by what rows are
 * named), mapping_row.c (rows of cells), mapping_straight.c (those that are simple), mapping_item.c
 * (their cells), mapping_state.c (their states), mapping_tables.c (what must be known before),
 * naming.c (naming a row) and object.c (rows that are JSON objects).
 *
 *     record ──▶ slots ──▶ its name as texts ──▶ id, key, partition, hash     naming.c
 *                    └───▶ items             ──▶ members, shape               mapping_row.c
 *
 * A slot is what a column of the input, a name of a member, or a constant is for. Records with
 * names of their own find their slots by them; a name that comes for the first time gets one.
 */
#ifndef WEIR_RECORDS_MAPPING_PARTS_H
#define WEIR_RECORDS_MAPPING_PARTS_H

#include "base/limits.h"
#include "records/lookup.h"
#include "records/mapping.h"
#include "records/source.h"

#define WEIR_NO_PLACE UINT32_MAX

/* How much of a value goes into a message. */
#define WEIR_QUOTED_MAX   60
#define WEIR_QUOTED(text) (int)weir_str_cut((text), WEIR_QUOTED_MAX).len, (text).ptr

/* A column that is written. */
struct weir_member {
    const struct weir_column *column;
    struct weir_cell_rule rule;
    struct weir_lookup *lookup; /* NULL: cells are values */
    struct weir_str opening;    /* `,"name":` of values; owned */
    uint64_t shape;             /* what it adds to that of a row */
    enum weir_pass pass;        /* of values */
};

/* A column whose cells go straight through, with an opening that is copied whole, however long. */
#define WEIR_OPENING_BYTES 32
struct weir_straight {
    const struct weir_member *member; /* NULL: it is passed over */
    char opening[WEIR_OPENING_BYTES];
    size_t opening_len; /* more: it is only in the member */
};

enum weir_use {
    WEIR_USE_NONE = 0, /* passed over */
    WEIR_USE_MEMBER,
    WEIR_USE_ID,
    WEIR_USE_PARTITION,
    WEIR_USE_KEY,
    WEIR_USE_REFUSED, /* a row that has it is refused */
};

struct weir_slot {
    char *name; /* in the input; of a constant, its column */
    enum weir_use use;
    uint32_t key;                        /* which part of it */
    uint32_t id_part;                    /* of those that ids are derived from; WEIR_NO_PLACE */
    const struct weir_column *column;    /* NULL: none */
    struct weir_member *member;          /* owned */
    const struct weir_spec_column *said; /* NULL: nothing */
    struct weir_map values;              /* cell -> place in said->values … */
    bool trims;                          /* … also without the blanks around it */
    bool tells_table; /* the row says beside it to which table it points: Dataverse's own format */
    uint32_t table_place; /* … of cells: in this column of the input; WEIR_NO_PLACE: it does not */
    bool redirected;      /* it is createdon, which goes to another column */
    bool unwritable;      /* its column cannot be written: `refusal` says why */
    char *refusal;
    const struct weir_spec_with *with; /* of a constant; NULL: it is of the input */
};

struct weir_slots {
    struct weir_slot **list;
    uint32_t count;
    uint32_t capacity;
};

/* What changes while rows are mapped. */
struct weir_mapping_memory {
    struct weir_slots names; /* of members; `map` leads to them */
    struct weir_map map;
    uint64_t turn;   /* counts rows */
    uint64_t *turns; /* of each column of the table: the last row that has it */
};

struct weir_mapping {
    const struct weir_table *table;
    struct weir_table_names names;
    enum weir_operation operation;
    struct weir_row_ids ids;
    const struct weir_spec *spec;
    const char *input; /* NULL: it has no name */
    enum weir_cell_empty empty;
    const struct weir_zone *zone;
    bool objects;
    bool named;
    bool elastic;
    bool passes; /* more than one */
    bool closes; /* states of its rows are closed by actions */
    struct weir_lookup_world *world;
    struct weir_mapping_memory *memory;

    /* By what rows are named: the primary id, or these, in the order of the table's key. */
    bool by_key;
    bool by_partition; /* no row without one */
    const struct weir_column *key[WEIR_KEY_PARTS_MAX];
    struct weir_cell_rule key_rules[WEIR_KEY_PARTS_MAX];
    uint32_t key_count;

    /* From what ids are derived. */
    char *id_text;
    struct weir_str id_names[WEIR_KEY_PARTS_MAX];
    const struct weir_column *id_columns[WEIR_KEY_PARTS_MAX]; /* NULL: the table has none */
    uint32_t id_count;

    /* Rows of cells. */
    struct weir_slots slots; /* of each column; none if rows have names */
    struct weir_slots constants;
    struct weir_slot **takers; /* of each column of the table: what fills it */
    bool has_id;
    bool has_status;  /* there may be one, in whichever pass */
    bool has_lookups; /* for their pass */
    bool has_states;
    uint32_t member_count;
    const struct weir_column *owner_column; /* NULL: the input has none */
    const struct weir_column *state_column; /* NULL: the table has none */

    /* Rows that go straight through: of each column of the input what its cells become (NULL: it is
     * passed over), and how much longer than the input they are at most. NULL: none can. */
    struct weir_straight *straight;
    size_t straight_bytes;

    char *owner_text; /* `,"ownerid@odata.bind":"/…"`; NULL: none is added */
    struct weir_str owner;
    bool owner_needed; /* a row whose owner is nowhere said is refused */
};

/* "a create", "an update" and so on. */
const char *weir_mapping_verb(const struct weir_mapping *mapping);

bool weir_mapping_may_create(const struct weir_mapping *mapping);

/* ---- mapping_columns.c ---- */

/* Look at the columns of the input and the constants; key and ids are known. */
enum weir_status weir_mapping_choose_columns(struct weir_mapping *mapping,
                                             struct weir_columns columns, struct weir_error *err);

/* The slot of a member of that name. NULL: the row has more names than are remembered. */
const struct weir_slot *weir_mapping_slot(const struct weir_mapping *mapping, struct weir_str name);

struct weir_slot *weir_slots_add(struct weir_slots *slots, struct weir_str name);
void weir_slots_release(struct weir_slots *slots);

/* Where the slot goes, as column_target.h writes it. What ids are derived from need not be a column
 * of the table. */
enum weir_status weir_mapping_resolve(const struct weir_mapping *mapping, struct weir_slot *slot,
                                      struct weir_str text, struct weir_error *err);

/* It fills its column, which no other does; and what the mapping has to know of it. */
enum weir_status weir_mapping_take_column(struct weir_mapping *mapping, struct weir_slot *slot,
                                          struct weir_error *err);
void weir_mapping_note(struct weir_mapping *mapping, const struct weir_slot *slot);

/* ---- mapping_said.c ---- */

enum weir_status weir_mapping_choose_constants(struct weir_mapping *mapping,
                                               struct weir_error *err);

/* What is wrong, behind the place of the mapping file where it was said. */
enum weir_status weir_mapping_fail_place(const struct weir_spec *spec, struct weir_spec_place place,
                                         const struct weir_error *why, struct weir_error *err);

/* ---- mapping_refusal.c ---- */

/* "no column of that name", with the nearest that there is; of a column of the input with the
 * option that passes over it. */
enum weir_status weir_mapping_fail_unknown(const struct weir_table *table, struct weir_str name,
                                           struct weir_error *err);
enum weir_status weir_mapping_fail_slot(const struct weir_mapping *mapping,
                                        const struct weir_slot *slot, struct weir_str name,
                                        struct weir_error *err);

/* Why rows with this member are refused. The caller frees it. */
char *weir_mapping_explain(const struct weir_mapping *mapping, const struct weir_slot *slot,
                           const struct weir_error *why);

/* `input "a.csv"`, or `the input`: how a sentence calls it. */
struct weir_source_title weir_mapping_input(const struct weir_mapping *mapping);

/* What is wrong with a column of the input, behind the file that has it. */
enum weir_status weir_mapping_fail_input(const struct weir_mapping *mapping,
                                         const struct weir_error *why, struct weir_error *err);

/* All slots that cannot be written, in one sentence. WEIR_OK: there is none. */
enum weir_status weir_mapping_fail_unwritable(const struct weir_mapping *mapping,
                                              const struct weir_slots *slots,
                                              struct weir_error *err);

/* The row is refused for what its reader has found. False: the arena is full. */
bool weir_mapping_refuse_problem(const struct weir_mapping *mapping,
                                 const struct weir_record *record, struct weir_arena *arena,
                                 struct weir_draft *draft);

/* ---- mapping_member.c ---- */

/* Make the slot a member: its column is written as `target` says. */
enum weir_status weir_mapping_add_member(const struct weir_mapping *mapping, struct weir_slot *slot,
                                         const struct weir_column_target *target,
                                         struct weir_error *err);
void weir_member_free(struct weir_member *member); /* NULL is fine */

/* Where createdon goes: what may be written instead. */
const struct weir_column *weir_mapping_redirect(const struct weir_mapping *mapping,
                                                const struct weir_column *column);

/* ---- mapping_key.c ---- */

/* `key` as in the options; NULL: by the primary id. */
enum weir_status weir_mapping_choose_key(struct weir_mapping *mapping, const char *key,
                                         struct weir_error *err);

/* `id_from` as in the options; NULL: ids are not derived. */
enum weir_status weir_mapping_choose_ids(struct weir_mapping *mapping, const char *id_from,
                                         struct weir_error *err);

/* ---- mapping_straight.c ---- */

/* Can rows go straight through? All else is known. */
void weir_mapping_choose_straight(struct weir_mapping *mapping);

/* The members of a row, and its name. False: it takes the long way, and the draft is as it was. */
bool weir_mapping_straight(const struct weir_mapping *mapping, const struct weir_record *record,
                           struct weir_arena *arena, struct weir_draft *draft);

/* ---- mapping_item.c ---- */

/* A copy of few bytes, without the call: in pieces of a fixed size that may overlap. */
static inline char *weir_put_short(char *to, struct weir_str text)
{
    size_t len = text.len;
    if (len > 32) {
        memcpy(to, text.ptr, len);
    } else if (len >= 16) {
        memcpy(to, text.ptr, 16);
        memcpy(to + len - 16, text.ptr + len - 16, 16);
    } else if (len >= 8) {
        memcpy(to, text.ptr, 8);
        memcpy(to + len - 8, text.ptr + len - 8, 8);
    } else if (len >= 4) {
        memcpy(to, text.ptr, 4);
        memcpy(to + len - 4, text.ptr + len - 4, 4);
    } else {
        for (size_t i = 0; i < len; i++)
            to[i] = text.ptr[i];
    }
    return to + len;
}

/* A cell on its way into a row. */
struct weir_item {
    const struct weir_member *member;
    struct weir_str cell;
    struct weir_str table;       /* to which it points, if the row says it beside it */
    bool null;                   /* the column is cleared … */
    bool empty;                  /* … by a cell with nothing in it */
    bool redirected;             /* it is createdon, which goes to another column */
    enum weir_cell_plain plain;  /* of a value */
    int32_t choice;              /* of a choice that is not plain: its value */
    enum weir_pass pass;         /* in which it is written */
    size_t bytes;                /* with its name and a comma */
    struct weir_binding binding; /* of a lookup */
};

/* What the cell becomes. WEIR_E_INVALID: it cannot be right; WEIR_E_TOO_BIG: the arena is full. */
enum weir_status weir_item_read(const struct weir_mapping *mapping, struct weir_item *item,
                                struct weir_arena *arena, struct weir_error *err);

/* Of just as many bytes as item->bytes says. Returns where it ends. */
char *weir_item_write(const struct weir_item *item, char *to);

/*
 * An array of choices as the text that cells have, `1;3`: commas may stand in labels. *ret is empty
 * if the array is, its ptr NULL if it has anything but texts and numbers. False: the arena is full.
 */
bool weir_item_join_choices(struct weir_str array, struct weir_arena *arena, struct weir_str *ret);

/* Clearing the column says nothing: it is left out. */
bool weir_mapping_is_nothing(const struct weir_mapping *mapping, const struct weir_member *member);

/* Whether rows may clear the column, or leave it out for that. WEIR_E_INVALID: they may not. */
enum weir_status weir_mapping_check_clearing(const struct weir_mapping *mapping,
                                             const struct weir_member *member,
                                             struct weir_error *err);

/* ---- mapping_state.c ---- */

/* States of rows of this table are closed by actions. */
bool weir_mapping_table_closes(const struct weir_table *table);

/* A status that was measured can be set. */
enum weir_status weir_mapping_check_status(const struct weir_mapping *mapping,
                                           const struct weir_item *status, struct weir_error *err);

/*
 * State and status of a row, either of which may be NULL, fit together. *ret_implied: the state
 * that the status implies if there is none; -1: none.
 */
enum weir_status weir_mapping_check_states(const struct weir_item *state,
                                           const struct weir_item *status, int32_t *ret_implied,
                                           struct weir_error *err);

/* ---- naming.c ---- */

/* What names a row, as it was found; empty: no value. */
struct weir_row_name {
    bool has_id; /* the id has its place in the row, filled or not */
    struct weir_str id;
    struct weir_str partition;
    struct weir_str key[WEIR_KEY_PARTS_MAX];
    struct weir_str id_parts[WEIR_KEY_PARTS_MAX];
};

/* Give the draft its id, key, partition and hash, or a refusal. False: the arena is full. */
bool weir_mapping_name(const struct weir_mapping *mapping, const struct weir_row_name *name,
                       struct weir_arena *arena, struct weir_draft *draft);

/* A cell can name rows, as a part of what does. WEIR_E_INVALID: it can not. */
enum weir_status weir_mapping_check_name(const struct weir_mapping *mapping,
                                         const struct weir_slot *slot, struct weir_str cell,
                                         struct weir_arena *arena, struct weir_error *err);

/*
 * Memory for the members with a comma before each, of that many bytes and not none; target.members
 * is all of it but the first comma. Or a refusal: that is more than one row may weigh. False: the
 * arena is full.
 */
bool weir_mapping_reserve(const struct weir_mapping *mapping, size_t bytes,
                          struct weir_arena *arena, struct weir_draft *draft, char **ret);

/* The same without memory of its own: the members stay where they are. */
bool weir_mapping_weigh(const struct weir_mapping *mapping, struct weir_str members,
                        struct weir_arena *arena, struct weir_draft *draft);

#endif
