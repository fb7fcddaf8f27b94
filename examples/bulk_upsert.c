/* SPDX-License-Identifier: MIT */
/*
 * A bulk job from memory: upserts accounts by their number, as many at a time as the service
 * allows, over all application users of the settings. Interrupt it, or pull the plug, and run it
 * again with the same directory: it goes on where it stood.
 *
 *     cc bulk_upsert.c $(pkg-config --cflags --libs weir)
 *     ./a.out appsettings.json job-directory 10000
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weir/weir.h>

static int fail(const char *what, const struct weir_error *err)
{
    fprintf(stderr, "%s: %s\n", what, err->message);
    return 1;
}

/* A new job, or the one that is there already. */
static enum weir_status open_job(struct weir_client *client, const char *directory,
                                 struct weir_job **job, struct weir_error *err)
{
    struct weir_job_options options;
    weir_job_options_defaults(&options);
    options.operation = WEIR_OPERATION_UPSERT;
    options.table = "account";
    options.key = "accountnumber";
    options.owner = "caller";
    options.directory = directory;
    enum weir_status status = weir_job_resume(client, &options, job, err);
    return status == WEIR_E_NOT_FOUND ? weir_job_new(client, &options, job, err) : status;
}

/* The same rows in the same order, whichever run it is. */
static enum weir_status add_rows(struct weir_job *job, long count, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;
    for (long i = 0; i < count && status == WEIR_OK; i++) {
        char row[128];
        int len = snprintf(row, sizeof(row),
                           "{\"accountnumber\":\"A%06ld\",\"name\":\"Account %ld\"}", i, i);
        status = weir_job_add(job, row, (size_t)len, err);
    }
    return status;
}

static void print_reject(void *ctx, const struct weir_job_reject *reject)
{
    (void)ctx;
    fprintf(stderr, "row %llu: %s: %s\n", (unsigned long long)reject->row, reject->message,
            reject->json);
}

/* What became of the rows, and why it ended if that is worth a word. */
static void print_result(struct weir_job *job, const struct weir_job_result *result)
{
    struct weir_error err;
    printf("read %llu = done %llu + rejected %llu + skipped %llu + unknown %llu + not sent %llu\n",
           (unsigned long long)result->read, (unsigned long long)result->done,
           (unsigned long long)result->rejected, (unsigned long long)result->skipped,
           (unsigned long long)result->unknown, (unsigned long long)result->not_sent);
    if (weir_job_each_reject(job, print_reject, NULL, &err) != WEIR_OK)
        fail("rejects", &err);
    if (weir_job_trouble(job)[0])
        fprintf(stderr, "%s\n", weir_job_trouble(job));
    if (weir_job_result_can_resume(result))
        fprintf(stderr, "not finished: run it again\n");
}

/* A row that could not be handed in is none of the job's: its result does not know of it. */
static int run(struct weir_client *client, const char *directory, long count)
{
    struct weir_job *job;
    struct weir_job_result result;
    struct weir_error err;
    int code = WEIR_EXIT_DONE;
    if (open_job(client, directory, &job, &err) != WEIR_OK)
        return fail("job", &err);
    enum weir_status status = add_rows(job, count, &err);
    if (status != WEIR_OK && status != WEIR_E_CANCELLED)
        code = fail("row", &err);
    if (weir_job_finish(job, &result, &err) != WEIR_OK)
        fail("files", &err);
    print_result(job, &result);
    weir_job_free(job);
    return result.exit_code != WEIR_EXIT_DONE ? result.exit_code : code;
}

int main(int argc, char **argv)
{
    struct weir_config *config = weir_config_new();
    const struct weir_options *options;
    struct weir_client *client = NULL;
    struct weir_error err;
    int code = 1;

    if (argc != 4)
        fprintf(stderr, "usage: %s appsettings.json job-directory rows\n", argv[0]);
    else if (weir_config_read_file(config, argv[1], &err) != WEIR_OK ||
             weir_config_finish(config, &options, &err) != WEIR_OK ||
             weir_client_new(options, NULL, &client, &err) != WEIR_OK)
        fail("settings", &err);
    else
        code = run(client, argv[2], strtol(argv[3], NULL, 10));

    weir_client_free(client);
    weir_config_free(config);
    return code;
}
