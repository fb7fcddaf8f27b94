/* SPDX-License-Identifier: MIT */
/* Why rows would be rejected, counted; see reasons.h. */
#include "reasons.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"

#define KEY_BYTES_MAX (WEIR_MESSAGE_MAX + WEIR_FIELD_BYTES_MAX)

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Behind a value in quotes: up to the first that ends a word. A value that has such a one itself is
 * at worst counted apart. */
static const char *skip_quoted(const char *at)
{
    for (const char *it = at + 1; *it; it++) {
        if (*it == '"' && (it[1] == '\0' || strchr(" ,;:)", it[1])))
            return it + 1;
    }
    return at + 1;
}

/* The column, and the message without what differs from row to row. */
static char *make_key(const struct weir_check_refusal *refusal)
{
    struct weir_buf key;
    weir_buf_init(&key, KEY_BYTES_MAX);
    weir_buf_add_text(&key, refusal->column);
    weir_buf_add_char(&key, '\n');
    for (const char *at = refusal->message; *at;) {
        bool digit = is_digit(*at);
        weir_buf_add_char(&key, digit ? '0' : *at);
        if (*at == '"')
            at = skip_quoted(at);
        else
            at += digit ? strspn(at, "0123456789") : 1;
    }
    return weir_buf_take(&key);
}

static void add(struct reasons *reasons, const struct weir_check_refusal *refusal)
{
    char *key = make_key(refusal);
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
