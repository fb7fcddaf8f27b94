/* SPDX-License-Identifier: MIT */
/*
 * The folder of weir demo and what stands in it before anything runs: the rows, and the scenario of
 * the simulator. One thread.
 */
#ifndef WEIR_APP_DEMO_WORLD_H
#define WEIR_APP_DEMO_WORLD_H

#include "weir/error.h"

#define DEMO_ROWS     20000
#define DEMO_REQUESTS 120 /* of a user in the window */
#define DEMO_WINDOW_S 20

/* Files in the folder. */
#define DEMO_SCENARIO "world.json"
#define DEMO_INPUT    "accounts.csv"
#define DEMO_SETTINGS "appsettings.json" /* of the three users … */
#define DEMO_OTHER    "neighbour.json"   /* … and of app1 alone */
#define DEMO_SIM_LOG  "weir-sim.log"
#define DEMO_JOB      "job"
#define DEMO_FIRST    "report-load.html"
#define DEMO_SECOND   "report-resume.html"

/*
 * A new folder for temporary files (`keep` is NULL), or `keep` itself, which is made and must be
 * empty. *ret is absolute; the caller frees it.
 */
enum weir_status demo_world_make(const char *keep, char **ret, struct weir_error *err);

enum weir_status demo_world_write(const char *folder, struct weir_error *err);

/* All but the reports, or the whole of it. What cannot be removed stays. */
void demo_world_clear(const char *folder);
void demo_world_remove(const char *folder);

#endif
