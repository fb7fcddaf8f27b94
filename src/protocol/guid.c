/* SPDX-License-Identifier: MIT */
/* GUIDs; see guid.h. */
#include "protocol/guid.h"

/* Is there a hyphen in front of byte i? */
static bool is_group_start(size_t i)
{
    return i == 4 || i == 6 || i == 8 || i == 10;
}

bool weir_guid_parse(struct weir_str text, struct weir_guid *ret)
{
    if (text.len == WEIR_GUID_CHARS + 2 && text.ptr[0] == '{' && text.ptr[text.len - 1] == '}')
        text = weir_str(text.ptr + 1, text.len - 2);
    if (text.len != WEIR_GUID_CHARS)
        return false;
    struct weir_guid guid;
    const char *at = text.ptr;
    for (size_t i = 0; i < sizeof(guid.bytes); i++) {
        if (is_group_start(i) && *at++ != '-')
            return false;
        int high = weir_str_hex_digit(*at++);
        int low = weir_str_hex_digit(*at++);
        if (high < 0 || low < 0)
            return false;
        guid.bytes[i] = (uint8_t)(high << 4 | low);
    }
    *ret = guid;
    return true;
}

const char *weir_guid_print(const struct weir_guid *guid, char text[WEIR_GUID_TEXT])
{
    static const char digits[] = "0123456789abcdef";
    char *at = text;
    for (size_t i = 0; i < sizeof(guid->bytes); i++) {
        if (is_group_start(i))
            *at++ = '-';
        *at++ = digits[guid->bytes[i] >> 4];
        *at++ = digits[guid->bytes[i] & 15];
    }
    *at = '\0';
    return text;
}

bool weir_guid_is_canonical(struct weir_str text)
{
    struct weir_guid guid;
    if (text.len != WEIR_GUID_CHARS || !weir_guid_parse(text, &guid))
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] >= 'A' && text.ptr[i] <= 'F')
            return false;
    }
    return true;
}

bool weir_guid_equal(const struct weir_guid *a, const struct weir_guid *b)
{
    return memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}
