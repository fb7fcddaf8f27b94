/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as the body of a successful answer, read as each kind there is. It must not crash; what
 * is cut says nothing; a list has one number of ids; a link that is followed leads to where the
 * answer came from.
 *
 *     clang -fsanitize=fuzzer,address,undefined …     with libFuzzer
 *     replay.c                                        without: the files named on the command line
 */
#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "protocol/answer.h"
#include "protocol/odata.h"
#include "protocol/readback.h"
#include "protocol/same_origin.h"

#define IDS_MAX 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(bool truth)
{
    if (!truth)
        abort();
}

/* How many of the readers understand it. */
static size_t count_readers(struct weir_str body, size_t *ret_ids)
{
    const struct weir_table_names table = { weir_str_from("account"), weir_str_from("accounts"),
                                            weir_str_from("accountid"), false };
    struct weir_guid ids[IDS_MAX];
    struct weir_whoami who;
    struct weir_readback row;
    char link[256];
    size_t ids_of = 0;
    for (size_t count = 0; count <= IDS_MAX; count++)
        ids_of += weir_answer_ids(body, count, ids, NULL) == WEIR_OK;
    *ret_ids = ids_of;
    return ids_of + (weir_answer_whoami(body, &who, NULL) == WEIR_OK) +
           (weir_readback_read(body, &table, &row, NULL) == WEIR_OK) +
           (weir_answer_next_link(body, link, sizeof(link), NULL) == WEIR_OK);
}

/* A reader that is strict about UTF-8 takes it as a JSON string. */
static void check_text(struct weir_str text)
{
    struct weir_buf buf;
    struct weir_json *json;
    weir_buf_init(&buf, 8 * (text.len + 1));
    weir_buf_add_json_string(&buf, text);
    need(weir_json_parse(weir_str(buf.ptr, buf.len), &json, NULL) == WEIR_OK);
    weir_json_free(json);
    weir_buf_release(&buf);
}

static void check_link(struct weir_str link)
{
    static const char origin[] = "https://org.crm.dynamics.com";
    struct weir_str path;
    if (!weir_same_origin_path(origin, link, &path))
        return;
    need(weir_odata_is_address(path) && path.ptr[0] == '/');
    need(path.len == 1 || path.ptr[1] != '/');
    need(path.ptr >= link.ptr && path.ptr + path.len == link.ptr + link.len);
    struct weir_str front = weir_str(link.ptr, link.len - path.len);
    if (!front.len)
        return;
    need(weir_str_starts_nocase(front, origin));
    struct weir_str port =
        weir_str(front.ptr + sizeof(origin) - 1, front.len - (sizeof(origin) - 1));
    size_t digits = 0;
    while (digits < port.len && strchr(":0", port.ptr[digits]))
        digits++;
    need(!port.len ||
         weir_str_equal(weir_str(port.ptr + digits, port.len - digits), weir_str_from("443")));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* A copy of just this size, so that reading beyond its end is noticed. */
    char *bytes = weir_calloc(size ? size : 1, 1);
    if (size)
        memcpy(bytes, data, size);
    struct weir_str body = weir_str(bytes, size);
    size_t ids, none;
    size_t readers = count_readers(body, &ids);
    need(ids <= 1);
    const char *bracket = size ? memrchr(bytes, '}', size) : NULL;
    if (readers) {
        need(bracket);
        need(count_readers(weir_str(bytes, (size_t)(bracket - bytes)), &none) == 0);
    }
    char link[256];
    if (weir_answer_next_link(body, link, sizeof(link), NULL) == WEIR_OK) {
        check_text(weir_str_from(link));
        check_link(weir_str_from(link));
    }
    check_link(body); /* as if it were one itself */
    free(bytes);
    return 0;
}
