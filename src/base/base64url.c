/* SPDX-License-Identifier: MIT */
/* base64url; see base64url.h. Three bytes are four letters; one or two are two or three. */
#include "base/base64url.h"

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

void weir_base64url_add(struct weir_buf *out, const void *bytes, size_t len)
{
    const uint8_t *at = bytes;
    for (; len; at += len < 3 ? len : 3, len -= len < 3 ? len : 3) {
        uint32_t group = (uint32_t)at[0] << 16;
        group |= len > 1 ? (uint32_t)at[1] << 8 : 0;
        group |= len > 2 ? at[2] : 0;
        char four[4];
        for (int i = 0; i < 4; i++)
            four[i] = letters[group >> (18 - 6 * i) & 63];
        weir_buf_add(out, four, len < 3 ? len + 1 : 4);
    }
}

bool weir_base64url_decode(struct weir_buf *out, struct weir_str text)
{
    while (text.len) {
        size_t count = text.len < 4 ? text.len : 4;
        uint32_t group = 0;
        for (size_t i = 0; i < count; i++) {
            const char *letter = text.ptr[i] ? strchr(letters, text.ptr[i]) : NULL;
            if (!letter)
                return false;
            group |= (uint32_t)(letter - letters) << (18 - 6 * i);
        }
        if (count == 1)
            return false;
        const char three[3] = { (char)(group >> 16), (char)(group >> 8), (char)group };
        weir_buf_add(out, three, count - 1);
        text = weir_str(text.ptr + count, text.len - count);
    }
    return true;
}
