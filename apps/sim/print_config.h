/* SPDX-License-Identifier: MIT */
/* An appsettings.json for clients of the simulator. */
#ifndef SIM_PRINT_CONFIG_H
#define SIM_PRINT_CONFIG_H

#include "base/buf.h"

/* `ca_file` NULL: no TLS. */
void sim_print_config(struct weir_buf *json, const char *url, uint32_t users, const char *ca_file);

#endif
