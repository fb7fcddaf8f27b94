/* SPDX-License-Identifier: MIT */
/*
 * From an answer to what it says of each row: the ids of a CreateMultiple of a hundred rows, beside
 * json-c that parses the body and finds them in it, and memcpy. Prints MB/s of processor time,
 * counting the bytes of the answers.
 *
 *     build/release/bench/bench_answer
 */
#include <json-c/json.h>

#include "bulk/report.h"
#include "measure.h"
#include "protocol/guid.h"

#define ROWS    100
#define REPEATS 20000

static struct weir_http_header headers[2] = { { "OData-Version", "4.0" },
                                              { "Content-Type", "application/json" } };
static const struct weir_table_names table = { .logical_name = { "account", 7 },
                                               .set_name = { "accounts", 8 },
                                               .primary_id = { "accountid", 9 } };

static struct haul report_all(const struct matter *matter)
{
    struct haul haul = { .bytes = matter->text.len * REPEATS };
    const struct weir_report_exchange exchange = {
        .status = 200,
        .sent = true,
        .headers = headers,
        .header_count = 2,
        .body = weir_str(matter->text.ptr, matter->text.len),
        .duration_us = 1000,
    };
    double begun_s = processor_s();
    for (size_t i = 0; i < REPEATS; i++) {
        struct weir_report report;
        weir_report_read(&exchange, WEIR_LOAD_BULK, &table, true, ROWS, &report);
        haul.rows += report.ids ? ROWS : 0;
        weir_report_release(&report);
    }
    haul.seconds = processor_s() - begun_s;
    return haul;
}

static struct haul json_c(const struct matter *matter)
{
    struct haul haul = { .bytes = matter->text.len * (REPEATS / 10) };
    double begun_s = processor_s();
    for (size_t i = 0; i < REPEATS / 10; i++) {
        struct json_object *ids, *answer = json_tokener_parse(matter->text.ptr);
        for (size_t k = 0; json_object_object_get_ex(answer, "Ids", &ids) && k < ROWS; k++) {
            struct weir_guid id;
            const char *text = json_object_get_string(json_object_array_get_idx(ids, k));
            haul.rows += weir_guid_parse(weir_str_from(text), &id);
        }
        json_object_put(answer);
    }
    haul.seconds = processor_s() - begun_s;
    return haul;
}

static struct matter make_matter(void)
{
    struct matter matter = { .name = "ids" };
    weir_buf_init(&matter.text, BYTES);
    weir_buf_add_text(&matter.text, "{\"@odata.context\":\"https://contoso.example/api/data/v9.2/"
                                    "$metadata#Microsoft.Dynamics.CRM.CreateMultipleResponse\","
                                    "\"Ids\":[");
    for (unsigned i = 0; i < ROWS; i++)
        weir_buf_printf(&matter.text, "%s\"6f4c1d3b-384c-8a18-9cc3-6afbbdce%04x\"", i ? "," : "",
                        i);
    weir_buf_add_text(&matter.text, "]}");
    return matter;
}

int main(void)
{
    static const struct contestant contestants[] = { { "weir", report_all },
                                                     { "json-c", json_c },
                                                     { "memcpy", copy_all } };
    struct matter matter = make_matter();
    struct haul ours, theirs;
    compete(&matter, contestants, 3, &ours, &theirs);
    must_have("weir, rows,", ours.rows, (uint64_t)ROWS * REPEATS);
    must_have("json-c, rows,", theirs.rows, (uint64_t)ROWS * (REPEATS / 10));
    weir_buf_release(&matter.text);
    return 0;
}
