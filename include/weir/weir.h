/* SPDX-License-Identifier: MIT */
/*
 * libweir: bulk work against Microsoft Dataverse at the service's own speed limit.
 *
 * This header pulls in the whole public face. The library never prints, never exits and keeps no
 * state that its objects share; but when memory is out, it says so on standard error and aborts: a
 * job that was cut off is resumed. Of the environment it reads only what it is told to, and the
 * variables that name a proxy, unless the options name one.
 *
 * Before version 1.0 structs may grow and functions may change from one release to the next:
 * compile with the headers of the library that is linked.
 */
#ifndef WEIR_WEIR_H
#define WEIR_WEIR_H

#include "weir/bulk.h"
#include "weir/config.h"
#include "weir/error.h"
#include "weir/execute.h"
#include "weir/log.h"
#include "weir/pool.h"
#include "weir/stats.h"
#include "weir/verdict.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of these headers. */
#define WEIR_VERSION_MAJOR 0
#define WEIR_VERSION_MINOR 1
#define WEIR_VERSION_PATCH 0

/* Of the library: "0.1.0". Any thread. */
WEIR_API const char *weir_version(void);

#ifdef __cplusplus
}
#endif

#endif
