/* SPDX-License-Identifier: MIT */
/*
 * What weir demo shows, in five scenes: a world, a neighbour that uses up most of app1's requests,
 * a load until it is interrupted, its resume, and the proof by the simulator's own books. All of it
 * goes to standard output; the commands that are run write there, too, and on a terminal that is
 * their live view. One thread.
 */
#ifndef WEIR_APP_DEMO_SHOW_H
#define WEIR_APP_DEMO_SHOW_H

#include "demo_books.h"
#include "demo_process.h"

struct demo_show {
    const char *weir; /* the programs */
    const char *sim;
    const char *folder; /* of demo_world.h; everything stands in it */
    bool kept;          /* all that stands there is left */
    struct demo_process simulator;
    struct demo_process command; /* that runs now */
    struct demo_books books;
};

/*
 * From the first scene to the last. Something that is not as it should be is WEIR_E_INVALID, an end
 * that somebody wanted WEIR_E_CANCELLED. What runs is ended by demo_show_release().
 */
enum weir_status demo_show_run(struct demo_show *show, struct weir_error *err);

/* No process is left. A zeroed one is fine. `at_once`: nothing more is said by any of them. */
void demo_show_release(struct demo_show *show, bool at_once);

#endif
