/* SPDX-License-Identifier: MIT */
/*
 * States of rows; see mapping_parts.h. A status belongs to a state, so a status alone says the
 * state, too: the service would refuse it otherwise when the state changes.
 *
 * Rows of some tables are closed by actions, which do more than set a state (an opportunity that is
 * won gets a closing activity). A state there, other than the one they begin in, is refused.
 */
#include "base/error.h"
#include "records/mapping_parts.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define FIRST_STATE  0

bool weir_mapping_table_closes(const struct weir_table *table)
{
    static const char *const names[] = { "opportunity", "quote", "salesorder", "invoice",
                                         "incident",    "lead",  "contract" };
    for (size_t i = 0; i < COUNT(names); i++) {
        if (strcmp(table->name, names[i]) == 0)
            return true;
    }
    return false;
}

static const struct weir_choice *choice_of(const struct weir_item *item)
{
    int32_t value = weir_cell_choice(&item->member->rule, item->cell);
    return weir_choice_index_value(&item->member->rule.choices, value);
}

enum weir_status weir_mapping_check_status(const struct weir_mapping *mapping,
                                           const struct weir_item *status, struct weir_error *err)
{
    const struct weir_choice *choice = choice_of(status);
    if (!mapping->closes || !choice || choice->state < 0 || choice->state == FIRST_STATE)
        return WEIR_OK;
    return weir_fail(
        err, WEIR_E_INVALID,
        "\"%.*s\" is a status of state %d, and a row of the table \"%s\" gets there by "
        "an action that is not offered here; \"%s\" takes those of state %d",
        WEIR_QUOTED(status->cell), (int)choice->state, mapping->table->name,
        status->member->column->name, FIRST_STATE);
}

enum weir_status weir_mapping_check_states(const struct weir_item *state,
                                           const struct weir_item *status, int32_t *ret_implied,
                                           struct weir_error *err)
{
    const struct weir_choice *choice = status ? choice_of(status) : NULL;
    *ret_implied = -1;
    if (!choice || choice->state < 0)
        return WEIR_OK;
    if (!state) {
        *ret_implied = choice->state;
        return WEIR_OK;
    }
    int32_t said = weir_cell_choice(&state->member->rule, state->cell);
    if (said == choice->state)
        return WEIR_OK;
    return weir_fail(err, WEIR_E_INVALID,
                     "the status \"%.*s\" belongs to state %d, and the row has state \"%.*s\"",
                     WEIR_QUOTED(status->cell), (int)choice->state, WEIR_QUOTED(state->cell));
}
