/* SPDX-License-Identifier: MIT */
/* Feed the files named on the command line to a fuzz target: its corpus, or an input that broke it.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

#define FILE_BYTES_MAX ((size_t)64 * 1024 * 1024)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return EXIT_FAILURE;
    }
    struct weir_buf bytes;
    weir_buf_init(&bytes, FILE_BYTES_MAX);
    char chunk[4096];
    size_t len;
    while ((len = fread(chunk, 1, sizeof(chunk), file)) > 0)
        weir_buf_add(&bytes, chunk, len);
    int failed = ferror(file) || bytes.overflow;
    fclose(file);
    if (failed)
        fprintf(stderr, "%s: cannot be read, or is too long\n", path);
    else
        LLVMFuzzerTestOneInput((const uint8_t *)weir_buf_text(&bytes), bytes.len);
    weir_buf_release(&bytes);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    int status = argc > 1 ? EXIT_SUCCESS : EXIT_FAILURE;
    if (argc < 2)
        fprintf(stderr, "usage: %s FILE...\n", argv[0]);
    for (int i = 1; i < argc; i++) {
        if (replay(argv[i]) != EXIT_SUCCESS)
            status = EXIT_FAILURE;
    }
    if (status == EXIT_SUCCESS)
        printf("%d inputs replayed\n", argc - 1);
    return status;
}
