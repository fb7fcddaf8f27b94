/* SPDX-License-Identifier: MIT */
/* What a job does to rows that are there already; see job_warning.h. */
#include "job_warning.h"

#include <string.h>

#include "printable.h"

void job_warning_owner(const struct weir_job_options *options, struct weir_buf *text)
{
    if (options->operation != WEIR_OPERATION_UPSERT || !options->owner ||
        strcasecmp(options->owner, "caller") == 0)
        return;
    weir_buf_add_text(text, "every row will belong to ");
    printable_add(text, weir_str_from(options->owner));
    weir_buf_add_text(text, ", also rows that are there, unless its own ownerid says otherwise");
}

const char *job_warning_elastic(const struct weir_job_options *options,
                                const struct weir_table *table)
{
    if (table->type != WEIR_TABLE_ELASTIC)
        return NULL;
    if (options->operation == WEIR_OPERATION_UPSERT)
        return "whole rows are replaced: columns that the file does not have are cleared in rows "
               "that are there";
    if (options->operation == WEIR_OPERATION_CREATE)
        return "a row whose id is there already is replaced, without an error";
    return NULL;
}
