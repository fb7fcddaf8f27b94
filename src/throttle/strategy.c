/* SPDX-License-Identifier: MIT */
/* The strategies by name; see strategy.h. */
#include "throttle/strategy.h"

#include <stddef.h>

#include "base/str.h"

static const struct weir_strategy *const strategies[] = {
    &weir_strategy_throttle_aware,
    &weir_strategy_round_robin,
    &weir_strategy_least_connections,
    &weir_strategy_headroom,
};

const struct weir_strategy *weir_strategy_find(const char *name)
{
    for (size_t i = 0; i < sizeof(strategies) / sizeof(strategies[0]); i++) {
        if (weir_str_equal_nocase(weir_str_from(name), weir_str_from(strategies[i]->name)))
            return strategies[i];
    }
    return NULL;
}
