/* SPDX-License-Identifier: MIT */
/* The paging cookie; its form stands in cookie.h. */
#include "sim/service/cookie.h"

#include <inttypes.h>

#define PAGE_MAX 1000000000

static void put_hex(struct weir_str text, struct weir_buf *out)
{
    for (size_t i = 0; i < text.len; i++)
        weir_buf_printf(out, "%02x", (unsigned char)text.ptr[i]);
}

static void put_value(const struct sim_value *value, struct weir_buf *out)
{
    char guid[SIM_GUID_TEXT];
    uint64_t bits;
    switch (value->kind) {
    case SIM_NULL:
        weir_buf_add_char(out, 'n');
        break;
    case SIM_TEXT:
        weir_buf_add_char(out, 't');
        put_hex(value->text, out);
        break;
    case SIM_NUMBER:
        weir_buf_printf(out, "i%" PRId64, value->number);
        break;
    case SIM_DECIMAL:
        weir_buf_printf(out, "d%" PRId64 ":%" PRId64, (int64_t)(value->decimal >> 64),
                        (int64_t)(uint64_t)value->decimal);
        break;
    case SIM_REAL:
        memcpy(&bits, &value->real, sizeof(bits));
        weir_buf_printf(out, "r%" PRId64, (int64_t)bits);
        break;
    case SIM_ID:
        weir_buf_printf(out, "g%s", sim_guid_print(value->id, guid));
        break;
    }
}

void sim_cookie_print(const struct sim_cookie *cookie, struct weir_buf *out)
{
    weir_buf_printf(out, "%%3Ccookie%%20pagenumber=%%22%" PRIu32 "%%22%%20pagingcookie=%%22",
                    cookie->page);
    weir_buf_printf(out, "%" PRIu32, cookie->place);
    for (uint32_t i = 0; i < cookie->value_count; i++) {
        weir_buf_add_text(out, "%3B");
        put_value(&cookie->values[i], out);
    }
    weir_buf_add_text(out, "%22%20istracking=%22False%22%20/%3E");
}

/* The value of an attribute: what stands between name=" and ". */
static bool attribute(struct weir_str token, const char *name, struct weir_str *ret)
{
    size_t at = weir_str_find_nocase(token, name);
    if (at == token.len)
        return false;
    at += strlen(name);
    const char *end = memchr(token.ptr + at, '"', token.len - at);
    if (!end)
        return false;
    *ret = weir_str(token.ptr + at, (size_t)(end - token.ptr) - at);
    return true;
}

/* What stands before the next semicolon, taken off *text. */
static struct weir_str take_field(struct weir_str *text)
{
    const char *end = text->len ? memchr(text->ptr, ';', text->len) : NULL;
    size_t len = end ? (size_t)(end - text->ptr) : text->len;
    struct weir_str field = weir_str(text->ptr, len);
    *text = weir_str(text->ptr + len + (end != NULL), text->len - len - (end != NULL));
    return field;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_hex(struct weir_str hex, char *text, struct sim_value *ret)
{
    for (size_t i = 0; i + 1 < hex.len; i += 2) {
        int high = hex_digit(hex.ptr[i]), low = hex_digit(hex.ptr[i + 1]);
        if (high < 0 || low < 0)
            return false;
        text[i / 2] = (char)(high * 16 + low);
    }
    *ret = (struct sim_value){ .kind = SIM_TEXT, .text = weir_str(text, hex.len / 2) };
    return hex.len % 2 == 0;
}

/* The two halves of a decimal, as "high:low". */
static bool read_decimal(struct weir_str text, struct sim_value *ret)
{
    const char *colon = text.len ? memchr(text.ptr, ':', text.len) : NULL;
    size_t len = colon ? (size_t)(colon - text.ptr) : 0;
    int64_t high;
    int64_t low;
    if (!colon || !weir_str_to_int64(weir_str(text.ptr, len), &high) ||
        !weir_str_to_int64(weir_str(colon + 1, text.len - len - 1), &low))
        return false;
    unsigned __int128 bits = (unsigned __int128)(uint64_t)high << 64 | (uint64_t)low;
    *ret = (struct sim_value){ .kind = SIM_DECIMAL, .decimal = (sim_wide)bits };
    return true;
}

static bool read_value(struct weir_str field, char *text, struct sim_value *ret)
{
    if (!field.len)
        return false;
    struct weir_str rest = weir_str(field.ptr + 1, field.len - 1);
    int64_t bits;
    *ret = (struct sim_value){ .kind = SIM_NULL };
    switch (field.ptr[0]) {
    case 'n':
        return !rest.len;
    case 't':
        return read_hex(rest, text, ret);
    case 'i':
        ret->kind = SIM_NUMBER;
        return weir_str_to_int64(rest, &ret->number);
    case 'd':
        return read_decimal(rest, ret);
    case 'r':
        ret->kind = SIM_REAL;
        if (!weir_str_to_int64(rest, &bits))
            return false;
        memcpy(&ret->real, &bits, sizeof(bits));
        return true;
    case 'g':
        ret->kind = SIM_ID;
        return sim_guid_parse(rest, &ret->id);
    default:
        return false;
    }
}

bool sim_cookie_parse(struct weir_str token, char *text, struct sim_cookie *ret)
{
    struct weir_str page, position;
    int64_t number, place;
    if (!attribute(token, "pagenumber=\"", &page) ||
        !attribute(token, "pagingcookie=\"", &position) || !weir_str_to_int64(page, &number))
        return false;
    if (number < 2 || number > PAGE_MAX || !weir_str_to_int64(take_field(&position), &place) ||
        place < 0 || place >= UINT32_MAX)
        return false;
    *ret = (struct sim_cookie){ .page = (uint32_t)number, .place = (uint32_t)place };
    while (position.len) {
        struct weir_str field = take_field(&position);
        if (ret->value_count == SIM_ORDER_COLUMNS_MAX ||
            !read_value(field, text, &ret->values[ret->value_count++]))
            return false;
        text += field.len / 2;
    }
    return true;
}
