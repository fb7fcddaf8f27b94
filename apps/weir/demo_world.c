/* SPDX-License-Identifier: MIT */
/* The folder of weir demo; see demo_world.h. */
#include "demo_world.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "journal/place.h"

#define FOLDERS_OPEN_MAX 8

/* A window so short that a limit is met, waited for and left behind within a minute. */
#define TEXT_OF(number) #number
#define TEXT(number)    TEXT_OF(number)
static const char scenario[] =
    "// The small world of weir demo.\n"
    "{ \"name\": \"demo\", \"connections\": 3, \"dop_hint\": 4,\n"
    "  \"limits\": { \"requests\": " TEXT(DEMO_REQUESTS) ", \"execution_s\": 240, "
                                                         "\"window_s\": " TEXT(
                                                             DEMO_WINDOW_S) " },\n"
                                                                            "  \"service\": [ { "
                                                                            "\"operation\": "
                                                                            "\"CreateMultiple\", "
                                                                            "\"median_s\": 0.8, "
                                                                            "\"sigma\": 0.2 },\n"
                                                                            "               { "
                                                                            "\"operation\": null, "
                                                                            "\"rows\": 1, "
                                                                            "\"median_s\": 0.01 } "
                                                                            "] }\n";

/* --- the folder ------------------------------------------------------------------------------- */

static enum weir_status fail(struct weir_error *err, const char *path)
{
    return weir_fail(err, WEIR_E_IO, "\"%.300s\" cannot be written: %s", path, strerror(errno));
}

static bool is_empty(const char *folder)
{
    DIR *list = opendir(folder);
    size_t count = 0;
    while (list && readdir(list))
        count++;
    if (list)
        closedir(list);
    return count == 2; /* itself and the one above */
}

static enum weir_status make_kept(const char *keep, char **ret, struct weir_error *err)
{
    if (mkdir(keep, 0700) && errno != EEXIST)
        return fail(err, keep);
    if (!is_empty(keep))
        return weir_fail(err, WEIR_E_INVALID,
                         "--keep is \"%.300s\"; it must be a folder that is empty or not there",
                         keep);
    *ret = realpath(keep, NULL);
    return *ret ? WEIR_OK : fail(err, keep);
}

enum weir_status demo_world_make(const char *keep, char **ret, struct weir_error *err)
{
    const char *place = getenv("TMPDIR");
    if (keep)
        return make_kept(keep, ret, err);
    struct weir_path path = weir_path_join(place && *place ? place : "/tmp", "weir-demo-XXXXXX");
    if (!mkdtemp(path.text))
        return fail(err, path.text);
    *ret = realpath(path.text, NULL);
    return *ret ? WEIR_OK : fail(err, path.text);
}

/* --- its files -------------------------------------------------------------------------------- */

static void write_row(FILE *file, unsigned i)
{
    static const char *const trades[] = { "Accounting", "Brokers", "Business Services",
                                          "Consulting" };
    static const char *const currencies[] = { "EUR", "USD", "GBP" };
    fprintf(file, "Company %u,D%05u,%u.%02u,%u,%s,%s,%u-%02u-%02u,%s\n", i, i, i * 7919 % 1000000,
            i % 100, i % 5000, trades[i % 4], i % 3 ? "true" : "false", 1950 + i % 70, i % 12 + 1,
            i % 28 + 1, currencies[i % 3]);
}

static void write_rows(FILE *file)
{
    fputs("name,accountnumber,revenue,numberofemployees,industrycode,donotemail,weir_founded,"
          "transactioncurrencyid:transactioncurrency(isocurrencycode)\n",
          file);
    for (unsigned i = 0; i < DEMO_ROWS; i++)
        write_row(file, i);
}

static void write_scenario(FILE *file)
{
    fputs(scenario, file);
}

static enum weir_status write_file(const char *folder, const char *name, void (*fill)(FILE *file),
                                   struct weir_error *err)
{
    struct weir_path path = weir_path_join(folder, name);
    FILE *file = fopen(path.text, "wxe");
    if (!file)
        return fail(err, path.text);
    fill(file);
    bool whole = fflush(file) == 0 && !ferror(file);
    enum weir_status status = whole ? WEIR_OK : fail(err, path.text);
    fclose(file);
    return status;
}

enum weir_status demo_world_write(const char *folder, struct weir_error *err)
{
    enum weir_status status = write_file(folder, DEMO_SCENARIO, write_scenario, err);
    return status ? status : write_file(folder, DEMO_INPUT, write_rows, err);
}

/* --- removing --------------------------------------------------------------------------------- */

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *at)
{
    (void)status, (void)kind, (void)at;
    remove(path);
    return 0;
}

void demo_world_remove(const char *folder)
{
    nftw(folder, remove_one, FOLDERS_OPEN_MAX, FTW_DEPTH | FTW_PHYS);
}

void demo_world_clear(const char *folder)
{
    static const char *const names[] = { DEMO_SCENARIO, DEMO_INPUT,   DEMO_SETTINGS,
                                         DEMO_OTHER,    DEMO_SIM_LOG, DEMO_JOB };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        demo_world_remove(weir_path_join(folder, names[i]).text);
}
