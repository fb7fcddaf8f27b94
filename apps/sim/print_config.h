/* SPDX-License-Identifier: MIT */
/* An appsettings.json for clients of the simulator. */
#ifndef SIM_PRINT_CONFIG_H
#define SIM_PRINT_CONFIG_H

#include "base/buf.h"

struct sim_config {
    const char *url;
    uint32_t users;
    const char *ca_file; /* NULL: no TLS */
    int64_t window_us;   /* of the limits; clients expect five minutes unless they are told */
};

void sim_print_config(struct weir_buf *json, const struct sim_config *client);

#endif
