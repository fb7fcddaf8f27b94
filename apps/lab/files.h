/* SPDX-License-Identifier: MIT */
/* The scenarios that the command line names: files, and folders with all their .json files. */
#ifndef LAB_FILES_H
#define LAB_FILES_H

#include "sim/law/scenario.h"

struct lab_files {
    struct sim_scenario *scenarios;
    uint32_t count;
    uint32_t capacity;
};

/* Read what `paths` name, in their order, those of a folder by name. Release it in any case. */
enum weir_status lab_files_read(struct lab_files *ret, char **paths, int path_count,
                                struct weir_error *err);
void lab_files_release(struct lab_files *files);

/* Write a file whole. */
enum weir_status lab_file_write(const char *folder, const char *name, struct weir_str text,
                                struct weir_error *err);

#endif
