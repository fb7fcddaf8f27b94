/* SPDX-License-Identifier: MIT */
/*
 * Inflating gzip, sans I/O: compressed bytes in, decoded bytes out. A file may consist of several
 * members one behind the other (as `cat a.gz b.gz` makes it) and may be padded with zeros at its
 * end. A member's check sum stands behind its data: of a damaged one, wrong bytes may come out
 * before that is noticed. zlib is included in gzip.c only. One thread at a time.
 */
#ifndef WEIR_RECORDS_GZIP_H
#define WEIR_RECORDS_GZIP_H

#include "base/str.h"
#include "weir/error.h"

struct weir_gunzip;

/* Whether bytes begin as gzip does; text in UTF-8 never does. */
bool weir_gzip_is(struct weir_str bytes);

struct weir_gunzip *weir_gunzip_new(void); /* never NULL */
void weir_gunzip_free(struct weir_gunzip *gunzip);

/*
 * Inflate from *in, which is moved behind what was used, into `out`. *ret_len is how much there is
 * now: 0 with *in used up means that more is needed, or, if `in_last` (nothing comes behind *in),
 * the end. A failure is for good: WEIR_E_INVALID, damaged or cut; the message names the compressed
 * byte and lacks its subject, the file.
 */
enum weir_status weir_gunzip_step(struct weir_gunzip *gunzip, struct weir_str *in, bool in_last,
                                  char *out, size_t out_bytes, size_t *ret_len,
                                  struct weir_error *err);

#endif
