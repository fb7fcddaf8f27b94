/* SPDX-License-Identifier: MIT */
/*
 * Every bound in one place. Whatever a file, a server or a caller can make large stops here; each
 * bound has a test that hits it.
 */
#ifndef WEIR_BASE_LIMITS_H
#define WEIR_BASE_LIMITS_H

#include "base/clock.h"

/* Configuration. */
#define WEIR_CONFIG_BYTES_MAX (1024 * 1024) /* of an appsettings.json */
#define WEIR_CONFIG_TEXT_MAX  4096          /* of one value */
#define WEIR_JSON_DEPTH_MAX   32
#define WEIR_CONNECTIONS_MAX  10000

/* An access token. */
#define WEIR_TOKEN_BYTES_MAX 16384

/* Parallelism of one connection: the service's published limit on concurrent requests. */
#define WEIR_PARALLELISM_MAX 52

/* Before the server has said how many (x-ms-dop-hint). */
#define WEIR_PARALLELISM_UNHINTED 4

/* Lanes (web servers) that one connection may be split into. */
#define WEIR_LANES_MAX 16

/* The value of the cookie that leads to a web server; a longer one is not kept. */
#define WEIR_COOKIE_BYTES_MAX 256

/* What a policy keeps over a restart: bytes of a connection; bytes of the notes of all of them (of
 * those that come behind nothing is kept); and how old it is taken for at most. */
#define WEIR_LESSON_BYTES_MAX  ((size_t)128 * 1024)
#define WEIR_LESSONS_BYTES_MAX ((size_t)4 * 1024 * 1024)
#define WEIR_LESSON_AGE_MAX_US (3650 * WEIR_US_PER_DAY)

/* Callers waiting for a lease at the same time. */
#define WEIR_WAITERS_MAX (1024 * 1024)

/* Retry-After: what is asked for stays within these. */
#define WEIR_RETRY_AFTER_MIN_US (1 * WEIR_US_PER_S)
#define WEIR_RETRY_AFTER_MAX_US (1 * WEIR_US_PER_HOUR)

/* Jitter after a throttle: this, or 5 % of Retry-After if that is less. */
#define WEIR_REOPEN_JITTER_MAX_US (1 * WEIR_US_PER_S)

/* Timers: none is armed for longer, so that a suspended machine is noticed. */
#define WEIR_TIMER_MAX_US (1 * WEIR_US_PER_S)

/* A loop that awaits so many answers begins no turn sooner than this after the last one. */
#define WEIR_LOOP_REST_US   (1 * WEIR_US_PER_MS)
#define WEIR_LOOP_REST_FROM 8

/* The head of a request: lines, and bytes of those that the caller gives. */
#define WEIR_REQUEST_HEADERS_MAX     64
#define WEIR_REQUEST_OWN_HEADERS_MAX 40 /* of the caller's; the rest is ours */
#define WEIR_REQUEST_HEAD_BYTES_MAX  65536
#define WEIR_REQUEST_OWN_BYTES_MAX   (WEIR_REQUEST_HEAD_BYTES_MAX - 2 * WEIR_TOKEN_BYTES_MAX)
#define WEIR_REQUEST_FRAME_BYTES_MAX                                                               \
    1024 /* of what stands around lines and target, and the host                                   \
          */

/* The Web API's bytes: what may be sent … */
#define WEIR_BODY_BYTES_MAX        ((size_t)4 * 1024 * 1024) /* of a request of weir's own */
#define WEIR_TARGETS_MAX           1000                      /* rows of one bulk message */
#define WEIR_BATCH_PARTS_MAX       1000                      /* requests of one $batch */
#define WEIR_URL_BYTES_MAX         ((size_t)32 * 1024)       /* of a request's own address */
#define WEIR_PART_URL_BYTES_MAX    ((size_t)64 * 1024)       /* of one inside a $batch */
#define WEIR_BOUNDARY_BYTES_MAX    70                        /* RFC 2046 */
#define WEIR_KEY_PARTS_MAX         16                        /* columns of an alternate key */
#define WEIR_GATHER_SLICES_MAX     65536
#define WEIR_REQUEST_TEXT_MAX      4096 /* a tag, a list of step ids, a session token */
#define WEIR_REQUEST_HEADERS_BYTES (4 * WEIR_REQUEST_TEXT_MAX)

/* … and what an answer may hold. */
#define WEIR_SCAN_DEPTH_MAX         64
#define WEIR_PART_HEADERS_MAX       64
#define WEIR_PART_HEADERS_BYTES_MAX ((size_t)16 * 1024)
#define WEIR_FAULT_CODE_MAX         64   /* terminator included; a longer one is cut */
#define WEIR_FAULT_MESSAGE_MAX      1024 /* likewise, in its middle, at characters */
#define WEIR_FAULT_TAIL_BYTES       256  /* of its end then */
#define WEIR_FAULT_DETAILS_MAX      ((size_t)1024 * 1024) /* of the list of rows that failed */

/* Sockets and answers. */
#define WEIR_ANSWER_BYTES_MAX       ((size_t)16 * 1024 * 1024) /* of a body */
#define WEIR_ANSWER_LINE_MAX        ((size_t)32 * 1024)        /* of one header */
#define WEIR_ANSWER_HEAD_BYTES_MAX  ((size_t)128 * 1024) /* of all of them, 1xx and trailers too */
#define WEIR_ANSWER_HEADERS_MAX     256
#define WEIR_WIRES_IDLE_MAX         64                    /* of a transport */
#define WEIR_WIRE_IDLE_US           (110 * WEIR_US_PER_S) /* for so long; then it is not used again */
#define WEIR_INBOX_BYTES            ((size_t)32 * 1024)   /* that are read at once */
#define WEIR_PIECES_MAX             64 /* of a request that are handed out at once */
#define WEIR_EXCHANGES_KEPT_MAX     32 /* finished ones that the next request reuses */
#define WEIR_EXCHANGE_BODY_KEPT_MAX ((size_t)16 * 1024) /* of the memory of such a one */
#define WEIR_DETAIL_MAX             320 /* why an exchange failed, terminator included */

/* What the service may say of a table. */
#define WEIR_NAME_BYTES_MAX     128                        /* of a table, as weir asks for it */
#define WEIR_METADATA_BYTES_MAX ((size_t)16 * 1024 * 1024) /* of one part */
#define WEIR_COLUMNS_MAX        4096
#define WEIR_CHOICES_MAX        16384 /* of one column */
#define WEIR_LOOKUP_TARGETS_MAX 4096  /* likewise */
#define WEIR_ALTERNATE_KEYS_MAX 64
#define WEIR_TABLE_TEXT_MAX     ((size_t)16 * 1024 * 1024) /* of all of it, as it is kept */

/* Rows of a table that are listed, to be looked up. */
#define WEIR_LISTING_PAGE_ROWS   5000 /* asked for at once: the most that the service gives */
#define WEIR_LISTING_PAGES_MAX   10000
#define WEIR_LISTING_COLUMNS_MAX 16

/* Log lines. */
#define WEIR_LOG_LINE_MAX 4096

/* Tokens. */
#define WEIR_SECRET_BYTES_MAX       (64 * 1024) /* of a file or of what a command prints */
#define WEIR_TOKEN_ANSWER_BYTES_MAX (64 * 1024)
#define WEIR_TOKEN_LIFE_MAX_US      (7 * WEIR_US_PER_DAY)
#define WEIR_TOKEN_FETCH_MAX_US     (30 * WEIR_US_PER_S) /* from asking to having */
#define WEIR_ASSERTION_BYTES_MAX    (32 * 1024)
#define WEIR_CHALLENGE_BYTES_MAX    4096 /* of one WWW-Authenticate header */
#define WEIR_TENANT_BYTES_MAX       253  /* a domain name */

/* Files of records. */
#define WEIR_FIELD_BYTES_MAX    ((size_t)1024 * 1024)     /* of one cell */
#define WEIR_RECORD_BYTES_MAX   ((size_t)4 * 1024 * 1024) /* of one record as it stands */
#define WEIR_FIELDS_MAX         10000                     /* cells of one record */
#define WEIR_RECORD_CUT_BYTES   ((size_t)1024)            /* kept of a line that no record can be */
#define WEIR_RECORD_DEPTH_MAX   64                        /* of objects and arrays in a record */
#define WEIR_INPUT_FILES_MAX    10000
#define WEIR_INPUT_BLOCK_BYTES  ((size_t)4 * 1024 * 1024) /* of decoded input, hashed as one */
#define WEIR_INPUT_EDGE_BYTES   ((size_t)1024 * 1024)     /* of either end of a file, likewise */
#define WEIR_INPUT_READ_BYTES   ((size_t)256 * 1024)      /* asked of the system at once */
#define WEIR_ARENA_BLOCK_BYTES  ((size_t)64 * 1024)
#define WEIR_BATCH_BYTES_ENOUGH ((size_t)9 * 1024 * 1024) /* an arena in which any record fits */

/* The journal. */
#define WEIR_JOURNAL_GROUP_RECORDS   64                    /* these, or … */
#define WEIR_JOURNAL_GROUP_US        (50 * WEIR_US_PER_MS) /* … so long after the first: commit */
#define WEIR_JOURNAL_QUEUE_BYTES_MAX ((size_t)16 * 1024 * 1024) /* not yet committed */
#define WEIR_JOURNAL_RECORD_MAX      ((size_t)8 * 1024 * 1024)  /* one record */
#define WEIR_JOURNAL_TEXT_MAX        ((size_t)4096)             /* one text of a rejected row */
#define WEIR_JOURNAL_NAME_MAX        ((size_t)256)              /* of a note */
#define WEIR_JOURNAL_FACT_MAX        ((size_t)1024 * 1024)      /* options, header, a path, … */
#define WEIR_JOURNAL_INPUTS_MAX      10000
#define WEIR_JOURNAL_ROW_MAX         (INT64_C(1) << 62)
#define WEIR_JOURNAL_PASSES          3
#define WEIR_JOURNAL_PATH_MAX        4096
#define WEIR_JOBS_MAX                100000 /* below one root */

/* Reports. */
#define WEIR_JOB_MEMORY_MIN    ((size_t)1024 * 1024)      /* of rows on their way */
#define WEIR_SUMMARY_BYTES_MAX ((size_t)32 * 1024 * 1024) /* of summary.json */

/* Rows on their way into requests. */
#define WEIR_PACKER_OPEN_MAX       8                         /* batches that still take rows */
#define WEIR_PACKER_OPEN_BYTES_MAX ((size_t)8 * 1024 * 1024) /* of all of them */
#define WEIR_PACKER_AGE_ROWS_MAX   65536  /* that are read while a batch is open */
#define WEIR_PACKER_FRAME_BYTES    128    /* of a request around its rows, at most … */
#define WEIR_PACKER_PART_BYTES     640    /* … and of a part of a $batch around its row */
#define WEIR_INTAKE_BLOCKS_MAX     1024   /* hashes of blocks that wait to be taken */
#define WEIR_SUPERSEDED_MAX        65536  /* keys of rejected rows, and of offered ones */
#define WEIR_FIRST_ROWS_MAX        131072 /* keys of rows that were sent as the job began */
#define WEIR_CHECK_LINKS_MAX       32 /* tables that rows of a dry run point to, by each lookup */
#define WEIR_CHECK_KEYS_MAX        (2 * 1024 * 1024) /* of a dry run, to see repeats: 64 MiB */

/* Records on their way to rows. */
#define WEIR_ROW_NAME_BYTES_MAX ((size_t)16 * 1024) /* of a key or a partition in an address */
#define WEIR_ROW_BYTES_MAX      (WEIR_BODY_BYTES_MAX - (size_t)64 * 1024) /* alone in a request */
#define WEIR_DRAFT_BYTES_ENOUGH ((size_t)24 * 1024 * 1024) /* an arena in which any draft fits */
#define WEIR_MEMBER_NAMES_MAX   10000 /* different ones in all objects of an input */
#define WEIR_LOOKUP_TABLES_MAX  32    /* that are described because lookups point there */

/* How the input is to be understood. */
#define WEIR_SPEC_BYTES_MAX  (1024 * 1024) /* of a mapping file */
#define WEIR_SPEC_VALUES_MAX 16384         /* texts of one column that stand for others */
#define WEIR_SPEC_WITH_MAX   4096          /* constants */

/* Rows of tables that lookups refer to by a column. */
#define WEIR_REFERENCES_MAX       1000000
#define WEIR_REFERENCES_BYTES_MAX ((size_t)128 * 1024 * 1024) /* of their values */

/* Cells. */
#define WEIR_MULTI_CHOICES_MAX 150                 /* of one cell, by the service's documentation */
#define WEIR_ZONE_BYTES_MAX    ((size_t)64 * 1024) /* of the file of a time zone */
#define WEIR_ZONE_NAME_MAX     64

#endif
