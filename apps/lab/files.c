/* SPDX-License-Identifier: MIT */
/* The scenarios that the command line names; see files.h. */
#include "lab/files.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/mem.h"

#define SCENARIO_BYTES ((size_t)1024 * 1024)
#define SCENARIOS_MAX  10000

static enum weir_status read_one(struct lab_files *files, const char *path, struct weir_error *err)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return weir_fail(err, WEIR_E_IO, "%s cannot be opened: %s", path, strerror(errno));
    char *text = weir_calloc(SCENARIO_BYTES + 1, 1);
    size_t len = fread(text, 1, SCENARIO_BYTES + 1, file);
    bool failed = ferror(file) != 0;
    fclose(file);
    enum weir_status status;
    if (failed)
        status = weir_fail(err, WEIR_E_IO, "%s cannot be read", path);
    else if (len > SCENARIO_BYTES)
        status = weir_fail(err, WEIR_E_TOO_BIG, "%s is larger than 1 MiB", path);
    else
        status = sim_scenario_read(&files->scenarios[files->count], weir_str(text, len), path, err);
    free(text);
    files->count += !status;
    return status;
}

static enum weir_status add(struct lab_files *files, const char *path, struct weir_error *err)
{
    if (files->count == SCENARIOS_MAX)
        return weir_fail(err, WEIR_E_TOO_BIG, "more than %d scenarios", SCENARIOS_MAX);
    if (files->count == files->capacity) {
        files->capacity = files->capacity ? 2 * files->capacity : 16;
        files->scenarios =
            weir_realloc(files->scenarios, files->capacity, sizeof(*files->scenarios));
    }
    return read_one(files, path, err);
}

static int is_scenario(const struct dirent *entry)
{
    size_t len = strlen(entry->d_name);
    return len > 5 && strcmp(entry->d_name + len - 5, ".json") == 0;
}

static enum weir_status add_folder(struct lab_files *files, const char *folder,
                                   struct weir_error *err)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, is_scenario, alphasort);
    if (count < 0)
        return weir_fail(err, WEIR_E_IO, "%s cannot be listed: %s", folder, strerror(errno));
    enum weir_status status = WEIR_OK;
    if (!count)
        status = weir_fail(err, WEIR_E_NOT_FOUND, "there is no .json file in %s", folder);
    for (int i = 0; i < count; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
        if (!status)
            status = add(files, path, err);
        free(entries[i]);
    }
    free(entries);
    return status;
}

enum weir_status lab_files_read(struct lab_files *ret, char **paths, int path_count,
                                struct weir_error *err)
{
    *ret = (struct lab_files){ 0 };
    enum weir_status status = WEIR_OK;
    for (int i = 0; i < path_count && !status; i++) {
        struct stat info;
        bool folder = stat(paths[i], &info) == 0 && S_ISDIR(info.st_mode);
        status = folder ? add_folder(ret, paths[i], err) : add(ret, paths[i], err);
    }
    return status;
}

void lab_files_release(struct lab_files *files)
{
    free(files->scenarios);
    *files = (struct lab_files){ 0 };
}

enum weir_status lab_file_write(const char *folder, const char *name, struct weir_str text,
                                struct weir_error *err)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (!file)
        return weir_fail(err, WEIR_E_IO, "%s cannot be written: %s", path, strerror(errno));
    bool whole = fwrite(text.ptr, 1, text.len, file) == text.len;
    whole &= fclose(file) == 0;
    return whole ? WEIR_OK : weir_fail(err, WEIR_E_IO, "%s cannot be written", path);
}
