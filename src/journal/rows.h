/* SPDX-License-Identifier: MIT */
/* Records as rows of the database: how each kind is written and read back. */
#ifndef WEIR_JOURNAL_ROWS_H
#define WEIR_JOURNAL_ROWS_H

#include "journal/entry.h"
#include "journal/sql.h"

/* The columns that weir_row_read() wants, in its order: what a SELECT begins with. */
#define WEIR_ROW_RANGE                                                                             \
    "serial,crc,pass,first_row,last_row,file,byte_offset,byte_behind,outcome,connection,ids"
#define WEIR_ROW_REJECT                                                                            \
    "serial,crc,pass,row,file,byte_offset,key_hash,superseded,http_status,service_code,attempts,"  \
    "column_name,class,message,request_id,connection,bytes"
#define WEIR_ROW_BLOCK "serial,crc,file,number,bytes,last,hash"
#define WEIR_ROW_NOTE  "serial,crc,name,text"

/* The statement that adds one, for weir_row_bind(). One that changes nothing was not wanted. */
extern const char *const weir_row_inserts[WEIR_ENTRY_KINDS];

/* Parameters of the insert; they borrow from the record until the reset. */
void weir_row_bind(sqlite3_stmt *statement, const struct weir_entry *record);

/*
 * The record in the statement's present row; its texts live until the next step.
 *   WEIR_E_INVALID  its checksum is wrong, or a field is impossible
 */
enum weir_status weir_row_read(sqlite3_stmt *statement, enum weir_entry_kind kind,
                               struct weir_entry *ret, struct weir_error *err);

#endif
