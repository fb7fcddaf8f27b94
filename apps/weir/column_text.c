/* SPDX-License-Identifier: MIT */
/* What a column holds, in words; see column_text.h. */
#include "column_text.h"

#include <inttypes.h>
#include <string.h>

#include "printable.h"

/* A bound as the service writes it; ".0" behind a whole number says nothing. */
static void add_bound(struct weir_buf *buf, const char *number)
{
    size_t len = strlen(number);
    if (len > 2 && strcmp(number + len - 2, ".0") == 0)
        len -= 2;
    weir_buf_add(buf, number, len);
}

static void add_range(struct weir_buf *buf, const struct weir_column *column)
{
    if (column->min && column->max) {
        weir_buf_add_text(buf, ", ");
        add_bound(buf, column->min);
        weir_buf_add_text(buf, " to ");
        add_bound(buf, column->max);
    }
    if (column->precision >= 0)
        weir_buf_printf(buf, ", %d decimal%s", column->precision,
                        column->precision == 1 ? "" : "s");
}

static void add_date(struct weir_buf *buf, const struct weir_column *column)
{
    switch (column->behavior) {
    case WEIR_DATE_ONLY:
        weir_buf_add_text(buf, "date, YYYY-MM-DD");
        return;
    case WEIR_DATE_ZONE_INDEPENDENT:
        weir_buf_add_text(buf, "date and time as written, of no time zone");
        return;
    default:
        weir_buf_printf(buf, "date and time, with an offset or --timezone%s",
                        column->shows_date_only ? ", shown as a date" : "");
    }
}

void column_text_type(struct weir_buf *buf, const struct weir_column *column)
{
    if (column->type == WEIR_COLUMN_DATETIME) {
        add_date(buf, column);
        return;
    }
    weir_buf_add_text(buf, weir_column_type_name(column->type));
    if (column->length_max > 0)
        weir_buf_printf(buf, ", %" PRIu32 " character%s", column->length_max,
                        column->length_max == 1 ? "" : "s");
    add_range(buf, column);
}

void column_text_choice(struct weir_buf *buf, const struct weir_choice *choice)
{
    weir_buf_printf(buf, "%" PRId32, choice->value);
    if (choice->label) {
        weir_buf_add_text(buf, " = ");
        printable_add(buf, weir_str_from(choice->label));
    }
    if (choice->state >= 0)
        weir_buf_printf(buf, " (state %" PRId32 ")", choice->state);
}

void column_text_target(struct weir_buf *buf, const struct weir_lookup_target *target)
{
    weir_buf_add_text(buf, target->table);
    if (target->navigation)
        weir_buf_printf(buf, " (%s)", target->navigation);
}
