/* SPDX-License-Identifier: MIT */
/* A record as the row that it is to become; see draft.h. */
#include "records/draft.h"

#include <stdarg.h>
#include <stdio.h>

bool weir_draft_refuse(struct weir_draft *draft, struct weir_arena *arena, struct weir_str column,
                       const char *format, ...)
{
    char text[WEIR_MESSAGE_MAX];
    va_list args;
    va_start(args, format);
    int wanted = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    size_t len = wanted < 0 ? 0 : (size_t)wanted;
    struct weir_str reason = weir_str(text, len < sizeof(text) ? len : sizeof(text) - 1);
    char *copy = weir_arena_take(arena, reason.len);
    if (!copy)
        return false;
    memcpy(copy, reason.ptr, reason.len);
    draft->refusal = weir_str(copy, reason.len);
    draft->column = column;
    return true;
}
