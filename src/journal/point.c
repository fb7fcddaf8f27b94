/* SPDX-License-Identifier: MIT */
/* The names of the fault points; see point.h. */
#include "journal/point.h"

static const char *const names[WEIR_POINT_COUNT] = {
    [WEIR_POINT_DIRECTORY_MADE] = "directory-made",
    [WEIR_POINT_FACTS_COMMITTED] = "facts-committed",
    [WEIR_POINT_JOB_SYNCED] = "job-synced",
    [WEIR_POINT_JOB_BEFORE_RENAME] = "job-before-rename",
    [WEIR_POINT_JOB_AFTER_RENAME] = "job-after-rename",
    [WEIR_POINT_JOB_CREATED] = "job-created",
    [WEIR_POINT_VERIFIED] = "verified",
    [WEIR_POINT_OPENED] = "opened",
    [WEIR_POINT_BEFORE_INSERT] = "before-insert",
    [WEIR_POINT_AFTER_INSERT] = "after-insert",
    [WEIR_POINT_BEFORE_COMMIT] = "before-commit",
    [WEIR_POINT_AFTER_COMMIT] = "after-commit",
    [WEIR_POINT_AFTER_SEAL] = "after-seal",
    [WEIR_POINT_BEFORE_CHECKPOINT] = "before-checkpoint",
    [WEIR_POINT_AFTER_CHECKPOINT] = "after-checkpoint",
    [WEIR_POINT_BEFORE_FINISH] = "before-finish",
    [WEIR_POINT_AFTER_FINISH] = "after-finish",
    [WEIR_POINT_CLOSED] = "closed",
    [WEIR_POINT_REJECTS_BEFORE_RENAME] = "rejects-before-rename",
    [WEIR_POINT_REJECTS_AFTER_RENAME] = "rejects-after-rename",
    [WEIR_POINT_ERRORS_BEFORE_RENAME] = "errors-before-rename",
    [WEIR_POINT_ERRORS_AFTER_RENAME] = "errors-after-rename",
    [WEIR_POINT_IDS_BEFORE_RENAME] = "ids-before-rename",
    [WEIR_POINT_IDS_AFTER_RENAME] = "ids-after-rename",
    [WEIR_POINT_SUMMARY_BEFORE_RENAME] = "summary-before-rename",
    [WEIR_POINT_SUMMARY_AFTER_RENAME] = "summary-after-rename",
};

const char *weir_point_name(enum weir_point point)
{
    return (unsigned)point < WEIR_POINT_COUNT ? names[point] : "unknown point";
}
