/* SPDX-License-Identifier: MIT */
/* base64url, both ways; see base64url.h. */
#include "sim/tokens/base64url.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

void sim_base64url_add(struct weir_buf *out, const void *bytes, size_t len)
{
    const uint8_t *from = bytes;
    uint32_t bits = 0;
    unsigned held = 0;
    for (size_t i = 0; i < len; i++) {
        bits = (bits << 8 | from[i]) & 0xffff;
        for (held += 8; held >= 6; held -= 6)
            weir_buf_add_char(out, alphabet[(bits >> (held - 6)) & 63]);
    }
    if (held)
        weir_buf_add_char(out, alphabet[(bits << (6 - held)) & 63]);
}

/* The six bits of a letter; -1: none of the alphabet. */
static int letter(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '-' ? 62 : c == '_' ? 63 : -1;
}

bool sim_base64url_decode(struct weir_str text, uint8_t *bytes, size_t bytes_max, size_t *ret_len)
{
    uint32_t bits = 0;
    unsigned held = 0;
    size_t len = 0;
    for (size_t i = 0; i < text.len; i++) {
        int value = letter(text.ptr[i]);
        if (value < 0)
            return false;
        bits = (bits << 6 | (uint32_t)value) & 0xffff;
        held += 6;
        if (held < 8)
            continue;
        held -= 8;
        if (len == bytes_max)
            return false;
        bytes[len++] = (uint8_t)(bits >> held);
    }
    *ret_len = len;
    return text.len % 4 != 1 && (bits & ((1u << held) - 1)) == 0;
}
