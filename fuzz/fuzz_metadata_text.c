/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as the text of a table. It must not crash, there is a table or an error and never half
 * of one, and a table prints to the bytes that it was read from.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "protocol/metadata_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(bool truth)
{
    if (!truth)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* A copy of just this size, so that reading beyond its end is noticed. */
    char *bytes = weir_calloc(size ? size : 1, 1);
    struct weir_table *table = NULL;
    struct weir_error err = { .status = WEIR_OK };
    if (size)
        memcpy(bytes, data, size);
    enum weir_status status = weir_table_parse(weir_str(bytes, size), &table, &err);
    free(bytes); /* nothing is borrowed */
    need((status == WEIR_OK) == (table != NULL));
    need(status == WEIR_OK || (err.status == status && err.message[0]));
    if (table) {
        char *text = weir_table_print(table);
        need(text && strlen(text) == size && !memcmp(text, data, size));
        free(text);
    }
    weir_table_free(table);
    return 0;
}
