/* SPDX-License-Identifier: MIT */
/*
 * CRC-32C; see crc32c.h. Processors with SSE 4.2 have an instruction for it, eight bytes at a time;
 * for the others there is a table for half a byte, small enough to be written down.
 */
#include "base/crc32c.h"

#include <stdbool.h>
#include <string.h>

/* What each value of four bits adds; made from the reversed polynomial 0x82f63b78. */
static const uint32_t nibbles[16] = {
    0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
    0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9, 0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
};

uint32_t weir_crc32c_by_table(uint32_t crc, const void *bytes, size_t len)
{
    const uint8_t *at = bytes;
    crc = ~crc;
    for (size_t i = 0; i < len; i++) {
        crc ^= at[i];
        crc = (crc >> 4) ^ nibbles[crc & 15];
        crc = (crc >> 4) ^ nibbles[crc & 15];
    }
    return ~crc;
}

#if defined(__x86_64__) && defined(__GNUC__)

__attribute__((target("sse4.2"))) static uint32_t by_instruction(uint32_t crc, const uint8_t *at,
                                                                 size_t len)
{
    uint64_t sum = ~crc;
    for (; len >= 8; at += 8, len -= 8) {
        uint64_t word;
        memcpy(&word, at, sizeof(word));
        sum = __builtin_ia32_crc32di(sum, word);
    }
    uint32_t rest = (uint32_t)sum;
    for (; len > 0; at++, len--)
        rest = __builtin_ia32_crc32qi(rest, *at);
    return ~rest;
}

uint32_t weir_crc32c(uint32_t crc, const void *bytes, size_t len)
{
    if (__builtin_cpu_supports("sse4.2"))
        return by_instruction(crc, bytes, len);
    return weir_crc32c_by_table(crc, bytes, len);
}

#else

uint32_t weir_crc32c(uint32_t crc, const void *bytes, size_t len)
{
    return weir_crc32c_by_table(crc, bytes, len);
}

#endif
