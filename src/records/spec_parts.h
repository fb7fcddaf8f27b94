/* SPDX-License-Identifier: MIT */
/* What the files of a spec share: spec.c (what it holds) and spec_file.c (reading it). */
#ifndef WEIR_RECORDS_SPEC_PARTS_H
#define WEIR_RECORDS_SPEC_PARTS_H

#include "records/spec.h"

/* A new column of that name, ignored until it has a target. It is there until the next one comes.
 */
struct weir_spec_column *weir_spec_append(struct weir_spec *spec, struct weir_str source);

enum weir_status weir_spec_set_constant(struct weir_spec *spec, struct weir_str target,
                                        struct weir_str value, struct weir_error *err);

#endif
