/* SPDX-License-Identifier: MIT */
/*
 * libweir: bulk work against Microsoft Dataverse at the service's own speed limit.
 *
 * This header pulls in the whole public face. The library never prints, never exits and keeps no
 * state that its objects share. Of the environment it reads only what it is told to, and the
 * variables that name a proxy, unless the options name one.
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

/* "0.1.0". Any thread. */
WEIR_API const char *weir_version(void);

#ifdef __cplusplus
}
#endif

#endif
