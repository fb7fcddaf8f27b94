/* SPDX-License-Identifier: MIT */
/* Warnings that repeat themselves; see log_echo.h. */
#include "log_echo.h"

#include <string.h>

#include "base/str.h"

static uint64_t hash_of(const struct weir_log_record *record)
{
    uint64_t hash = weir_str_hash(weir_str_from(record->event));
    for (size_t i = 0; i < record->field_count; i++) {
        const struct weir_log_field *field = &record->fields[i];
        if (field->type == WEIR_LOG_TEXT && field->text && strcmp(field->name, "Connection") == 0)
            hash = hash * 31 + weir_str_hash(weir_str_from(field->text));
    }
    return hash ? hash : 1;
}

/* The place of that hash, or else the one that has been quiet for longest. */
static struct log_echo_news *find(struct log_echo *echo, uint64_t hash)
{
    struct log_echo_news *oldest = &echo->news[0];
    for (size_t i = 0; i < LOG_ECHO_MAX; i++) {
        struct log_echo_news *it = &echo->news[i];
        if (it->hash == hash)
            return it;
        if (!it->hash || (oldest->hash && it->said_us < oldest->said_us))
            oldest = it;
    }
    return oldest;
}

bool log_echo_hears(struct log_echo *echo, const struct weir_log_record *record, int64_t now_us)
{
    uint64_t hash = hash_of(record);
    struct log_echo_news *it = find(echo, hash);
    if (it->hash == hash && now_us - it->said_us < LOG_ECHO_US)
        return true;
    *it = (struct log_echo_news){ hash, now_us };
    return false;
}
