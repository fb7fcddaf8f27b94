/* SPDX-License-Identifier: MIT */
/*
 * A table of accounts with a column of each usual kind, and rows for it as CSV and as JSON Lines:
 * for what is counted or measured over very many rows. The table is a text (metadata_text.h), so
 * that no service is needed.
 */
#ifndef WEIR_TESTS_LEDGER_H
#define WEIR_TESTS_LEDGER_H

#include "base/buf.h"
#include "protocol/metadata_text.h"

#define LEDGER_WRITABLE "\"create\":true,\"update\":true,\"read\":true"

static const char ledger_account[] =
    "{\"name\":\"account\",\"set\":\"accounts\",\"id\":\"accountid\",\"primary name\":\"name\","
    "\"ownership\":\"user\",\"bulk known\":true,\"create multiple\":true,\"columns\":["
    "{\"name\":\"accountid\",\"type\":\"id\",\"create\":true,\"read\":true},"
    "{\"name\":\"name\",\"type\":\"string\"," LEDGER_WRITABLE ",\"length\":160},"
    "{\"name\":\"accountnumber\",\"type\":\"string\"," LEDGER_WRITABLE ",\"length\":20},"
    "{\"name\":\"telephone1\",\"type\":\"string\"," LEDGER_WRITABLE ",\"length\":50},"
    "{\"name\":\"revenue\",\"type\":\"money\"," LEDGER_WRITABLE ",\"min\":0.0,"
    "\"max\":922337203685477.0,\"precision\":2},"
    "{\"name\":\"numberofemployees\",\"type\":\"integer\"," LEDGER_WRITABLE
    ",\"min\":0,\"max\":1000000000},"
    "{\"name\":\"donotphone\",\"type\":\"boolean\"," LEDGER_WRITABLE
    ",\"choices\":[{\"value\":0,\"label\":\"Allow\"},{\"value\":1,\"label\":\"Do Not Allow\"}]},"
    "{\"name\":\"founded\",\"type\":\"date\"," LEDGER_WRITABLE
    ",\"shows date only\":true,\"behavior\":\"date only\"},"
    "{\"name\":\"industrycode\",\"type\":\"choice\"," LEDGER_WRITABLE
    ",\"choices\":[{\"value\":1,\"label\":\"Accounting\"},{\"value\":2,\"label\":\"Agriculture\"},"
    "{\"value\":7,\"label\":\"Consulting\"},{\"value\":12,\"label\":\"Financial\"}]},"
    "{\"name\":\"primarycontactid\",\"type\":\"lookup\"," LEDGER_WRITABLE
    ",\"targets\":[{\"table\":\"contact\",\"navigation\":\"primarycontactid\"}]}"
    "],\"keys\":[{\"name\":\"bynumber\",\"columns\":[\"accountnumber\"],\"status\":\"active\"}]}";

static const char ledger_contact[] =
    "{\"name\":\"contact\",\"set\":\"contacts\",\"id\":\"contactid\",\"ownership\":\"user\","
    "\"columns\":[{\"name\":\"contactid\",\"type\":\"id\",\"create\":true,\"read\":true}]}";

static const char *const ledger_industries[] = { "Accounting", "Agriculture", "Consulting",
                                                 "Financial" };

#define LEDGER_COLUMNS 9

static inline void ledger_add_header(struct weir_buf *text, char separator)
{
    static const char *const names[LEDGER_COLUMNS] = {
        "name",       "accountnumber", "telephone1",   "revenue",         "numberofemployees",
        "donotphone", "founded",       "industrycode", "primarycontactid"
    };
    for (int i = 0; i < LEDGER_COLUMNS; i++)
        weir_buf_printf(text, "%s%c", names[i], i + 1 < LEDGER_COLUMNS ? separator : '\n');
}

static inline void ledger_add_cells(struct weir_buf *text, char separator, unsigned i)
{
    const char c = separator;
    weir_buf_printf(text, "Account %u%cA-%06u%c+49 30 %07u%c%u.50%c%u%c", i, c, i % 1000000, c,
                    i * 37 % 9999999, c, i % 5000, c, i % 100, c);
    weir_buf_printf(text, "%s%c2024-01-%02u%c%s%c00000000-0000-0000-0000-%012u\n",
                    i % 3 ? "true" : "false", c, 1 + i % 28, c, ledger_industries[i % 4], c, i);
}

static inline void ledger_add_object(struct weir_buf *text, unsigned i)
{
    weir_buf_printf(text,
                    "{\"name\":\"Account %u\",\"accountnumber\":\"A-%06u\","
                    "\"telephone1\":\"+49 30 %07u\",\"revenue\":%u.50,\"numberofemployees\":%u,",
                    i, i % 1000000, i * 37 % 9999999, i % 5000, i % 100);
    weir_buf_printf(text,
                    "\"donotphone\":%s,\"founded\":\"2024-01-%02u\",\"industrycode\":\"%s\","
                    "\"primarycontactid\":\"00000000-0000-0000-0000-%012u\"}\n",
                    i % 3 ? "true" : "false", 1 + i % 28, ledger_industries[i % 4], i);
}

#endif
