/* SPDX-License-Identifier: MIT */
/* Why rows would be rejected, counted; see reasons.h. */
#include "reasons.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "protocol/guid.h"

#define KEY_BYTES_MAX (WEIR_MESSAGE_MAX + WEIR_FIELD_BYTES_MAX)

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* How long a value in quotes is: up to the first that ends a word. A value that has such a one
 * itself is at worst counted apart. 1: the quote is not closed. */
static size_t quoted_bytes(struct weir_str text)
{
    for (size_t i = 1; i < text.len; i++) {
        if (text.ptr[i] == text.ptr[0] &&
            (i + 1 == text.len || memchr(" ,;:.)", text.ptr[i + 1], 6)))
            return i + 1;
    }
    return 1;
}

/* Within a word it is an apostrophe. */
static bool opens_quote(struct weir_str text, size_t at)
{
    return text.ptr[at] == '"' || (text.ptr[at] == '\'' && (at == 0 || text.ptr[at - 1] == ' '));
}

/* 36 if an id begins here, otherwise 0. */
static size_t id_bytes(struct weir_str text)
{
    struct weir_guid id;
    if (text.len < WEIR_GUID_TEXT - 1 || weir_str_hex_digit(text.ptr[0]) < 0)
        return 0;
    return weir_guid_parse(weir_str(text.ptr, WEIR_GUID_TEXT - 1), &id) ? WEIR_GUID_TEXT - 1 : 0;
}

static size_t digit_count(struct weir_str text)
{
    size_t count = 0;
    while (count < text.len && is_digit(text.ptr[count]))
        count++;
    return count;
}

/* One character, or what stands for whatever is there; returns how far that goes. */
static size_t add_common(struct weir_buf *key, struct weir_str text, size_t at)
{
    struct weir_str rest = weir_str(text.ptr + at, text.len - at);
    size_t id = id_bytes(rest);
    if (id || is_digit(rest.ptr[0])) {
        weir_buf_add_char(key, '0');
        return id ? id : digit_count(rest);
    }
    weir_buf_add_char(key, rest.ptr[0]);
    return opens_quote(text, at) ? quoted_bytes(rest) : 1;
}

char *reasons_key(struct weir_str column, struct weir_str message)
{
    static const char guess[] = "; did you mean ";
    struct weir_buf key;
    weir_buf_init(&key, KEY_BYTES_MAX);
    weir_buf_add(&key, column.ptr, column.len);
    weir_buf_add_char(&key, '\n');
    for (size_t at = 0; at < message.len;) {
        if (weir_str_starts_nocase(weir_str(message.ptr + at, message.len - at), guess))
            break;
        at += add_common(&key, message, at);
    }
    return weir_buf_take(&key);
}

static void add(struct reasons *reasons, const struct weir_check_refusal *refusal)
{
    char *key = reasons_key(weir_str_from(refusal->column), weir_str_from(refusal->message));
    for (size_t i = 0; i < reasons->count; i++) {
        if (strcmp(reasons->list[i].key, key) == 0) {
            reasons->list[i].rows++;
            free(key);
            return;
        }
    }
    if (reasons->count == REASONS_MAX) {
        reasons->others++;
        free(key);
        return;
    }
    reasons->list[reasons->count++] = (struct reason){ refusal, 1, key };
}

static int compare(const void *a, const void *b)
{
    const struct reason *left = a, *right = b;
    if (left->rows != right->rows)
        return left->rows < right->rows ? 1 : -1;
    return left->first->row < right->first->row ? -1 : 1;
}

void reasons_init(struct reasons *reasons, const struct weir_check_refusal *refusals, size_t count)
{
    *reasons = (struct reasons){ 0 };
    for (size_t i = 0; i < count; i++)
        add(reasons, &refusals[i]);
    qsort(reasons->list, reasons->count, sizeof(reasons->list[0]), compare);
}

void reasons_release(struct reasons *reasons)
{
    for (size_t i = 0; i < reasons->count; i++)
        free(reasons->list[i].key);
    *reasons = (struct reasons){ 0 };
}
