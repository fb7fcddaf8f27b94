/* SPDX-License-Identifier: MIT */
/*
 * Texts as a database compares them: without case, accents and width. Two texts that it takes for
 * the same key should come out the same; that two others do as well only costs a little order, so
 * in doubt letters are put together.
 *
 *     "Müller-LÜDENSCHEIDT ß"  ──▶  "muller-ludenscheidt ss"
 *
 * Known are Latin, Greek, Cyrillic, Armenian and Georgian letters, kana, marks that stand by
 * themselves, and the wide forms of ASCII. What is not known stays as it is: Greek with the accents
 * of antiquity, the halves of wide kana, and ligatures of three letters.
 *
 * Pure. Any thread.
 */
#ifndef WEIR_RECORDS_FOLD_H
#define WEIR_RECORDS_FOLD_H

#include "base/str.h"

#define WEIR_FOLD_BYTES 4

/*
 * Take the first character off `rest`, which must not be empty, and write what it is compared as.
 * Returns its bytes, never more than were taken; 0: it is passed over. Blanks of all kinds are ' '.
 * A byte that is not UTF-8 stays as it is.
 */
static inline size_t weir_fold_next(struct weir_str *rest, char ret[WEIR_FOLD_BYTES]);

/* The same of what does not begin with ASCII. */
size_t weir_fold_other(struct weir_str *rest, char ret[WEIR_FOLD_BYTES]);

/* Here, because most of most texts is ASCII. */
static inline size_t weir_fold_next(struct weir_str *rest, char ret[WEIR_FOLD_BYTES])
{
    char c = rest->ptr[0];
    if ((unsigned char)c >= 0x80)
        return weir_fold_other(rest, ret);
    ret[0] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    *rest = weir_str(rest->ptr + 1, rest->len - 1);
    return 1;
}

#endif
