/* SPDX-License-Identifier: MIT */
/*
 * What weir demo does over HTTP, through the library as any program would: the neighbour, who works
 * as app1 too, and the simulator's own books, which judge the end. One thread.
 */
#ifndef WEIR_APP_DEMO_BOOKS_H
#define WEIR_APP_DEMO_BOOKS_H

#include <stdint.h>

#include "weir/execute.h"

#define DEMO_USERS 3

struct demo_books {
    struct weir_config *config;
    struct weir_client *client; /* as app1 */
};

/* `settings`: an appsettings.json with app1 alone. */
enum weir_status demo_books_init(struct demo_books *books, const char *settings,
                                 struct weir_error *err);
void demo_books_release(struct demo_books *books);

/* Use up requests of app1. */
enum weir_status demo_books_spend(struct demo_books *books, unsigned requests,
                                  struct weir_error *err);

/* The ledger of the table account. */
struct demo_ledger {
    int64_t rows;
    int64_t distinct; /* account numbers */
    int64_t duplicates;
};
enum weir_status demo_books_ledger(struct demo_books *books, struct demo_ledger *ret,
                                   struct weir_error *err);

/* How often each of the users was throttled. */
enum weir_status demo_books_throttles(struct demo_books *books, int64_t ret[DEMO_USERS],
                                      struct weir_error *err);

/* The rows that each of the users has done in the last run of the job, from its summary. */
enum weir_status demo_books_rows(const char *job, int64_t ret[DEMO_USERS], struct weir_error *err);

#endif
