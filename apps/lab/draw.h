/* SPDX-License-Identifier: MIT */
/*
 * Scenarios drawn at random, to judge policies by worlds that nobody has chosen.
 *
 * Each differs from a plain world (two connections, batches of half a second to three) in one to
 * three *axes* of the format; which ones, and how far, is drawn. Axes that a service is likely to
 * differ in have more weight. A scenario depends on the seed and on its number, not on how many
 * are drawn.
 */
#ifndef LAB_DRAW_H
#define LAB_DRAW_H

#include "base/buf.h"
#include "sim/law/scenario.h"

#define LAB_DRAWN_MAX 1000 /* of one seed */

/* Scenario `number` of a seed. Its name says which axes were drawn. */
void lab_draw(uint64_t seed, uint32_t number, struct sim_scenario *ret);

/* A scenario as a file: every key. In scenario_write.c. */
void lab_scenario_write(const struct sim_scenario *scenario, struct weir_buf *json);

/* Draw scenarios 0 to count − 1 of a seed into a folder, as NNN.json. WEIR_E_IO. */
enum weir_status lab_draw_files(uint64_t seed, uint32_t count, const char *folder,
                                struct weir_error *err);

#endif
