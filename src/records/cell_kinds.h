/* SPDX-License-Identifier: MIT */
/*
 * Cells by the type of their column. A rule is what one column asks of its cells: made once, then
 * used for every row, in two steps: measured, so that a row can be refused before there is memory
 * for it, then written.
 *
 *     text       Contoso                    "Contoso"
 *     whole      007                        7
 *     decimal    -12.50                     -12.50
 *     floating   6.02e23                    6.02e23
 *     boolean    yes                        true
 *     choice     Red                        100000001
 *     choices    Red; Blue                  "100000001,100000003"
 *     date       2024-02-29                 "2024-02-29"
 *     clock      2024-02-29 09:30           "2024-02-29T09:30:00Z"      the same in every zone
 *     moment     2024-02-29 09:30 +01:00    "2024-02-29T08:30:00Z"
 *     guid       {0123ABCD-…}               "0123abcd-…"
 *
 * What is sent says exactly what was written; a cell for which that is not certain is refused. Only
 * in texts do blanks around the value count.
 *
 * Rules borrow columns and zones as long as they live. They are constant once they are made, and
 * kinds are constant: any thread. Pure.
 */
#ifndef WEIR_RECORDS_CELL_KINDS_H
#define WEIR_RECORDS_CELL_KINDS_H

#include "base/arena.h"
#include "protocol/guid.h"
#include "records/choice_index.h"
#include "records/decimal.h"
#include "records/zone.h"

/* What becomes of a cell with nothing in it. */
enum weir_cell_empty {
    WEIR_CELL_EMPTY_OMIT = 0, /* the row does not mention the column */
    WEIR_CELL_EMPTY_NULL,     /* the column is cleared */
    WEIR_CELL_EMPTY_REJECT,
};

struct weir_cell_rule;

/* Cells that are not empty. */
struct weir_typed_kind {
    /* How many bytes the value will have. WEIR_E_INVALID: it cannot be right. */
    enum weir_status (*measure)(const struct weir_cell_rule *rule, struct weir_str cell,
                                size_t *ret_bytes, struct weir_error *err);

    /* Write a value that was measured. Returns the byte behind it. */
    char *(*write)(const struct weir_cell_rule *rule, struct weir_str cell, char *to);
};

struct weir_cell_rule {
    const struct weir_column *column;
    const struct weir_typed_kind *kind;
    const struct weir_zone *zone; /* of dates that do not say theirs; NULL: they are refused */
    enum weir_cell_empty empty;

    /* Of numbers: the bounds of the column, or of its type if those are tighter. */
    struct weir_decimal low;
    struct weir_decimal high;
    const char *low_text;
    const char *high_text;

    /* Of choices and booleans. */
    struct weir_choice_index choices;

    int64_t plain_max; /* up to which whole numbers are plain; of booleans: 1 if their words are */
};

/* NULL: cells of such columns are no values of their own but point somewhere, or cannot be written
 * at all. */
const struct weir_typed_kind *weir_typed_kind_of(const struct weir_column *column);

void weir_cell_rule_init(struct weir_cell_rule *rule, const struct weir_column *column,
                         const struct weir_zone *zone, enum weir_cell_empty empty);

/* Fine on zeroes. */
void weir_cell_rule_release(struct weir_cell_rule *rule);

/* The cell is left out of its row; only others may be measured and written. */
bool weir_cell_rule_omits(const struct weir_cell_rule *rule, struct weir_str cell);

enum weir_status weir_cell_rule_measure(const struct weir_cell_rule *rule, struct weir_str cell,
                                        size_t *ret_bytes, struct weir_error *err);
char *weir_cell_rule_write(const struct weir_cell_rule *rule, struct weir_str cell, char *to);

/*
 * Whether a cell is sent as it stands, which takes no measuring: a short cut, which most cells can
 * take. Of a cell that is plain measuring and writing say the same.
 */
enum weir_cell_plain {
    WEIR_CELL_NOT_PLAIN = 0, /* or not obviously so */
    WEIR_CELL_AS_IS,
    WEIR_CELL_QUOTED_AS_IS, /* with quotes around it */
};
enum weir_cell_plain weir_cell_rule_plain(const struct weir_cell_rule *rule, struct weir_str cell);

/*
 * A cell as it stands in the predicate of a key: texts as they are, ids in their canonical form,
 * numbers, choices, booleans and dates as they would be sent, without quotes. What must change is
 * in memory of the arena. Columns without a kind may have a rule for this.
 *   WEIR_E_INVALID  it cannot be right
 *   WEIR_E_TOO_BIG  the arena is full
 */
enum weir_status weir_cell_rule_literal(const struct weir_cell_rule *rule, struct weir_str cell,
                                        struct weir_arena *arena, struct weir_str *ret,
                                        struct weir_error *err);

/* ---- what the files of the kinds share ---- */

extern const struct weir_typed_kind weir_kind_text;     /* cell_text.c */
extern const struct weir_typed_kind weir_kind_whole;    /* cell_number.c */
extern const struct weir_typed_kind weir_kind_decimal;  /* cell_number.c: money, too */
extern const struct weir_typed_kind weir_kind_floating; /* cell_number.c */
extern const struct weir_typed_kind weir_kind_boolean;  /* cell_choice.c */
extern const struct weir_typed_kind weir_kind_choice;  /* cell_choice.c: states and statuses, too */
extern const struct weir_typed_kind weir_kind_choices; /* cell_choice.c */
extern const struct weir_typed_kind weir_kind_date;    /* cell_date.c */
extern const struct weir_typed_kind weir_kind_clock;   /* cell_date.c */
extern const struct weir_typed_kind weir_kind_moment;  /* cell_date.c */
extern const struct weir_typed_kind weir_kind_guid;    /* cell_guid.c */

/* An id in any form in which Windows prints it; blanks around it do not count. */
bool weir_cell_guid(struct weir_str cell, struct weir_guid *ret); /* cell_guid.c */

/* Which choice a cell means that was measured: its value. */
int32_t weir_cell_choice(const struct weir_cell_rule *rule, struct weir_str cell);

/* Measuring and writing a choice, for whoever keeps its value in between: finding it takes longer
 * than both. */
enum weir_status weir_cell_choice_measure(const struct weir_cell_rule *rule, struct weir_str cell,
                                          int32_t *ret, size_t *ret_bytes, struct weir_error *err);
char *weir_cell_choice_write(int32_t value, char *to);

/* Give a rule of numbers its bounds. */
void weir_cell_rule_set_range(struct weir_cell_rule *rule);

/* Give a rule what its plain cells are known by; it has everything else. */
void weir_cell_rule_set_plain(struct weir_cell_rule *rule); /* cell_plain.c */

/* How much of a cell goes into a message. */
#define WEIR_CELL_QUOTED_MAX   60
#define WEIR_CELL_QUOTED(cell) (int)weir_str_cut((cell), WEIR_CELL_QUOTED_MAX).len, (cell).ptr

#endif
