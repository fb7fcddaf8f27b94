/* SPDX-License-Identifier: MIT */
/* --certificate appN=FILE: which application may log in with which certificate. */
#ifndef SIM_CERTIFICATES_H
#define SIM_CERTIFICATES_H

#include "sim/tokens/tokens.h"

#define SIM_CERTIFICATES_MAX 64

/* Whether the text has that form; "app1=known.pem". */
bool sim_certificates_well_formed(const char *text);

/* Read the files (PEM) and register them. Errors name flag, value and what is allowed. */
enum weir_status sim_certificates_load(struct sim_tokens *tokens, const char *const *texts,
                                       size_t count, struct weir_error *err);

#endif
