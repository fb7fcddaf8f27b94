/* SPDX-License-Identifier: MIT */
/*
 * What the files of a spec share: spec.c (what it holds), spec_file.c (reading it), spec_guess.c
 * (which column a name means) and spec_template.c (writing one to edit).
 */
#ifndef WEIR_RECORDS_SPEC_PARTS_H
#define WEIR_RECORDS_SPEC_PARTS_H

#include "records/spec.h"

/* A new column of that name, ignored until it has a target. It is there until the next one comes.
 */
struct weir_spec_column *weir_spec_append(struct weir_spec *spec, struct weir_str source);

enum weir_status weir_spec_set_constant(struct weir_spec *spec, struct weir_str target,
                                        struct weir_str value, struct weir_error *err);

/* ---- spec_guess.c ---- */

/* Why a column is the one that a name means, from the best reason on. */
enum weir_guess_kind {
    WEIR_GUESS_NAME = 0, /* it is its logical name */
    WEIR_GUESS_SPELLING, /* … but for case, blanks and signs */
    WEIR_GUESS_LABEL,    /* it is what people call it … */
    WEIR_GUESS_PREFIX,   /* … or its logical name without the publisher's prefix */
    WEIR_GUESS_TAKEN,    /* another column of the input has it with better reason */
    WEIR_GUESS_NEAR,     /* it is not, but may have been meant */
    WEIR_GUESS_NONE,
};

struct weir_guess {
    enum weir_guess_kind kind;
    const struct weir_column *column; /* NULL: none */
    const struct weir_column *other;  /* of one that is as good; NULL: there is none */
};

struct weir_guess weir_spec_guess(const struct weir_table *table, struct weir_str name);

/* One for each column of the input, none of them twice. The caller frees them. */
struct weir_guess *weir_spec_guess_all(const struct weir_table *table, struct weir_columns columns);

#endif
