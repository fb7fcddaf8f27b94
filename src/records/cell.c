/* SPDX-License-Identifier: MIT */
/* What a cell becomes in its row; see cell.h. */
#include "records/cell.h"

#include "base/error.h"
#include "records/escape.h"
#include "records/owner.h"

/* How much of a cell goes into a message. */
#define QUOTED_MAX 60

/* ---- texts ---- */

static enum weir_status measure_text(const struct weir_column *column, struct weir_str cell,
                                     size_t *ret_bytes, struct weir_error *err)
{
    (void)column;
    (void)err;
    *ret_bytes = weir_escape_bytes(cell);
    return WEIR_OK;
}

static char *write_text(const struct weir_column *column, struct weir_str cell, char *to)
{
    (void)column;
    return weir_escape_write(cell, to);
}

static const struct weir_cell_kind text = { "", measure_text, write_text };

/* ---- owners ---- */

static enum weir_status measure_owner(const struct weir_column *column, struct weir_str cell,
                                      size_t *ret_bytes, struct weir_error *err)
{
    struct weir_owner owner;
    if (!weir_owner_parse(cell, &owner))
        return weir_fail(err, WEIR_E_INVALID,
                         "\"%.*s\" is no owner; \"%s\" takes systemuser:ID or team:ID",
                         (int)weir_str_cut(cell, QUOTED_MAX).len, cell.ptr, column->name);
    *ret_bytes = weir_owner_bytes(&owner);
    return WEIR_OK;
}

static char *write_owner(const struct weir_column *column, struct weir_str cell, char *to)
{
    (void)column;
    struct weir_owner owner;
    return weir_owner_parse(cell, &owner) ? weir_owner_write(&owner, to) : to;
}

static const struct weir_cell_kind owner_kind = { "@odata.bind", measure_owner, write_owner };

/* ---- choosing ---- */

const struct weir_cell_kind *weir_cell_kind_of(const struct weir_column *column)
{
    return column->type == WEIR_COLUMN_OWNER ? &owner_kind : &text;
}
