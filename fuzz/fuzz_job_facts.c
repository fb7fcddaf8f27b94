/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as the options of a job in a journal: a line with the operation, then the JSON. It must
 * not crash; what is not as weir writes it is refused with a message; and what was understood is
 * written, and understood again, as the same.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "bulk/job_parts.h"

#define TEXTS_MAX ((size_t)8 * 1024 * 1024)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(bool truth)
{
    if (!truth)
        abort();
}

static void check_options(const struct weir_job_options *options)
{
    need(options->batch_size == WEIR_BATCH_SIZE_AUTO ||
         (options->batch_size >= 1 && options->batch_size <= WEIR_TARGETS_MAX));
    need(options->empty <= WEIR_EMPTY_REJECT && options->operation <= WEIR_OPERATION_DELETE);
    need(options->with_count <= WEIR_SPEC_WITH_MAX);
    for (size_t i = 0; i < options->with_count; i++)
        need(options->with[i] != NULL);
}

/* The options as weir writes them, of those that were read; NULL: they were refused. */
static char *rewrite(const char *operation, const char *text)
{
    struct weir_job job = { .texts = weir_arena_new(TEXTS_MAX) };
    struct weir_job_input input = { .path = "rows.csv", .on_disk = true };
    struct weir_job_facts facts = { .job = "j",
                                    .operation = operation,
                                    .table = "account",
                                    .url = "https://x",
                                    .organisation = "o",
                                    .options = text,
                                    .suffix = "csv",
                                    .inputs = &input,
                                    .input_count = 1 };
    struct weir_error err = { .status = WEIR_OK };
    char *printed = NULL;
    if (weir_job_facts_parse(&job, &facts, &err) == WEIR_OK) {
        check_options(&job.options);
        need(weir_job_facts_print(&job, &printed, &err) == WEIR_OK);
    } else {
        need(err.message[0]);
    }
    free(job.paths);
    weir_arena_unref(job.texts);
    return printed;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *bytes = weir_strndup((const char *)data, size);
    char *end = bytes + strcspn(bytes, "\n");
    const char *text = *end ? end + 1 : end;
    *end = '\0';
    char *once = rewrite(bytes, text);
    if (once) {
        char *twice = rewrite(bytes, once);
        need(twice && strcmp(once, twice) == 0);
        free(twice);
    }
    free(once);
    free(bytes);
    return 0;
}
