/* SPDX-License-Identifier: MIT */
/*
 * The choices of a column, to be found by value or by label without looking at all of them.
 *
 * A label is meant by its exact spelling; if no choice has it, by one that differs only in case,
 * accents or width (fold.h). Blanks around it do not count. Labels of several choices are possible,
 * those of statuses for example.
 *
 * Borrows the choices. Constant once it is made: any thread.
 */
#ifndef WEIR_RECORDS_CHOICE_INDEX_H
#define WEIR_RECORDS_CHOICE_INDEX_H

#include "protocol/metadata.h"

struct weir_label_entry {
    uint64_t hash;         /* of the label as it is compared */
    struct weir_str label; /* as it is written, without blanks around it */
    const struct weir_choice *choice;
};

struct weir_choice_index {
    const struct weir_choice **by_value;
    struct weir_label_entry *by_label;
    uint32_t value_count;
    uint32_t label_count;
};

void weir_choice_index_init(struct weir_choice_index *index, const struct weir_choice *choices,
                            uint32_t count);

/* Fine on zeroes. */
void weir_choice_index_release(struct weir_choice_index *index);

/* NULL: there is none. */
const struct weir_choice *weir_choice_index_value(const struct weir_choice_index *index,
                                                  int64_t value);

/* How many choices the label may mean: 0, 1 or 2 for more; *ret is set to the first of them. */
int weir_choice_index_label(const struct weir_choice_index *index, struct weir_str label,
                            const struct weir_choice **ret);

#endif
