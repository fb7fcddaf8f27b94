/* SPDX-License-Identifier: MIT */
/*
 * The paging cookie inside a $skiptoken: where the page before ended. It holds the place of the
 * last row and the values that it was sorted by, so that neither inserts nor deletes nor updates
 * move the position.
 *
 *     <cookie pagenumber="2" pagingcookie="4999;tcontoso-as-hex;i5" istracking="False" />
 */
#ifndef SIM_SERVICE_COOKIE_H
#define SIM_SERVICE_COOKIE_H

#include "base/buf.h"
#include "sim/service/value.h"

#define SIM_ORDER_COLUMNS_MAX 2

struct sim_cookie {
    uint32_t page; /* that comes next */
    uint32_t place;
    struct sim_value values[SIM_ORDER_COLUMNS_MAX];
    uint32_t value_count;
};

/* Append it, percent-encoded for a URL. */
void sim_cookie_print(const struct sim_cookie *cookie, struct weir_buf *out);

/* From a decoded $skiptoken. Texts are written to `text` (token.len bytes). False: it is none. */
bool sim_cookie_parse(struct weir_str token, char *text, struct sim_cookie *ret);

#endif
