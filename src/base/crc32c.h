/* SPDX-License-Identifier: MIT */
/*
 * CRC-32C (Castagnoli): finds every burst of up to 32 bits, so every flipped bit and every torn
 * record. It is no protection against somebody who means harm. Pure. Any thread.
 */
#ifndef WEIR_BASE_CRC32C_H
#define WEIR_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/*
 * The checksum of what gave `crc` (0: nothing yet) followed by the `len` bytes, so that a checksum
 * can be taken in pieces.
 */
uint32_t weir_crc32c(uint32_t crc, const void *bytes, size_t len);

/* The same without the processor's instruction; for tests. */
uint32_t weir_crc32c_by_table(uint32_t crc, const void *bytes, size_t len);

#endif
