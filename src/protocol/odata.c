/* SPDX-License-Identifier: MIT */
/* Addresses of the Web API; see odata.h. */
#include "protocol/odata.h"

#include "base/error.h"
#include "base/limits.h"

/* How much of a value goes into a message. */
#define QUOTED_MAX 60

static bool is_letter_or_digit(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool is_unreserved(char c)
{
    return is_letter_or_digit(c) || c == '-' || c == '.' || c == '_' || c == '~';
}

void weir_odata_add_encoded(struct weir_buf *buf, struct weir_str text)
{
    size_t start = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (is_unreserved(text.ptr[i]))
            continue;
        weir_buf_add(buf, text.ptr + start, i - start);
        weir_buf_printf(buf, "%%%02X", (unsigned)(unsigned char)text.ptr[i]);
        start = i + 1;
    }
    if (start < text.len)
        weir_buf_add(buf, text.ptr + start, text.len - start);
}

size_t weir_odata_encoded_bytes(struct weir_str text)
{
    size_t bytes = text.len;
    for (size_t i = 0; i < text.len; i++)
        bytes += is_unreserved(text.ptr[i]) ? 0 : 2;
    return bytes;
}

void weir_odata_add_query(struct weir_buf *buf, const char *name, struct weir_str value)
{
    bool first = buf->len == 0 || !memchr(buf->ptr, '?', buf->len);
    weir_buf_add_char(buf, first ? '?' : '&');
    weir_buf_add_text(buf, name);
    weir_buf_add_char(buf, '=');
    weir_odata_add_encoded(buf, value);
}

/* ---- keys ---- */

static bool is_control(char c)
{
    return (unsigned char)c < 0x20 || c == 0x7f;
}

size_t weir_odata_key_obstacle(struct weir_str value)
{
    static const char refused[] = "/<>*%&:\\?+";
    size_t at = 0;
    while (at < value.len && !is_control(value.ptr[at]) && !strchr(refused, value.ptr[at]))
        at++;
    return at;
}

/* What a message shows of a value: its beginning. */
static int quoted_bytes(struct weir_str value)
{
    return (int)weir_str_cut(value, QUOTED_MAX).len;
}

static enum weir_status fail_obstacle(const struct weir_key_part *part, size_t at,
                                      struct weir_error *err)
{
    char c = part->value.ptr[at];
    if (is_control(c))
        return weir_fail(
            err, WEIR_E_INVALID,
            "the value of the key \"%.*s\" has a control character, which cannot stand "
            "in a key; use the row's id",
            (int)part->name.len, part->name.ptr);
    return weir_fail(err, WEIR_E_INVALID,
                     "the value \"%.*s\" of the key \"%.*s\" has a \"%c\", which cannot stand in a "
                     "key; use the row's id",
                     quoted_bytes(part->value), part->value.ptr, (int)part->name.len,
                     part->name.ptr, c);
}

/* Numbers, true and false, GUIDs and dates need no more; anything else could be a part of its own.
 */
static bool is_literal(struct weir_str value)
{
    for (size_t i = 0; i < value.len; i++) {
        if (!is_unreserved(value.ptr[i]) || value.ptr[i] == '~')
            return false;
    }
    return true;
}

static enum weir_status check_part(const struct weir_key_part *part, struct weir_error *err)
{
    if (!weir_odata_is_name(part->name))
        return weir_fail(err, WEIR_E_INVALID,
                         "a key needs names of letters, digits and underscores");
    if (part->value.len == 0)
        return weir_fail(err, WEIR_E_INVALID, "the key \"%.*s\" has no value", (int)part->name.len,
                         part->name.ptr);
    size_t obstacle = weir_odata_key_obstacle(part->value);
    if (obstacle < part->value.len)
        return fail_obstacle(part, obstacle, err);
    if (part->type == WEIR_KEY_PART_LITERAL && !is_literal(part->value))
        return weir_fail(err, WEIR_E_INVALID,
                         "the value \"%.*s\" of the key \"%.*s\" is no number, date or id: only "
                         "letters, digits and . _ - make one",
                         quoted_bytes(part->value), part->value.ptr, (int)part->name.len,
                         part->name.ptr);
    return WEIR_OK;
}

/* In quotes; a quote inside is written twice. */
static void add_text(struct weir_buf *buf, struct weir_str text)
{
    weir_buf_add_char(buf, '\'');
    while (text.len) {
        const char *quote = memchr(text.ptr, '\'', text.len);
        size_t len = quote ? (size_t)(quote - text.ptr) : text.len;
        weir_odata_add_encoded(buf, weir_str(text.ptr, len));
        if (quote) {
            weir_buf_add_text(buf, "''");
            len++;
        }
        text = weir_str(text.ptr + len, text.len - len);
    }
    weir_buf_add_char(buf, '\'');
}

static void add_part(struct weir_buf *buf, const struct weir_key_part *part)
{
    weir_buf_add(buf, part->name.ptr, part->name.len);
    weir_buf_add_char(buf, '=');
    if (part->type == WEIR_KEY_PART_TEXT)
        add_text(buf, part->value);
    else
        weir_odata_add_encoded(buf, part->value);
}

enum weir_status weir_odata_add_predicate(struct weir_buf *buf, const struct weir_key_part *parts,
                                          size_t count, struct weir_error *err)
{
    if (count == 0 || count > WEIR_KEY_PARTS_MAX)
        return weir_fail(err, WEIR_E_INVALID, "a key has 1 to %d columns, not %zu",
                         WEIR_KEY_PARTS_MAX, count);
    for (size_t i = 0; i < count; i++) {
        enum weir_status status = check_part(&parts[i], err);
        if (status != WEIR_OK)
            return status;
    }
    for (size_t i = 0; i < count; i++) {
        if (i)
            weir_buf_add_char(buf, ',');
        add_part(buf, &parts[i]);
    }
    return WEIR_OK;
}

/* ---- characters ---- */

bool weir_odata_is_name(struct weir_str name)
{
    for (size_t i = 0; i < name.len; i++) {
        if (!is_letter_or_digit(name.ptr[i]) && name.ptr[i] != '_')
            return false;
    }
    return name.len > 0;
}

bool weir_odata_is_address(struct weir_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (c <= ' ' || c >= 0x7f)
            return false;
    }
    return text.len > 0;
}
