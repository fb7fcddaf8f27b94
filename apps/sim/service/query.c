/* SPDX-License-Identifier: MIT */
/*
 * A query in three steps: read the options, pick the rows of one page, write them.
 *
 *     candidates   all places of the table, or those that an index names
 *     wanted       a candidate that exists, that the user sees and that the filter matches
 *     page         the first wanted ones behind the cookie, by $orderby and then by place
 *
 * Places are never reused and grow, so a page goes on behind the last row of the one before no
 * matter what was written in between.
 */
#include "sim/service/query.h"

#include <inttypes.h>

#include "base/mem.h"
#include "sim/service/api_internal.h"
#include "sim/service/cookie.h"
#include "sim/service/filter.h"
#include "sim/service/messages.h"
#include "sim/service/query_rows.h"
#include "sim/service/render.h"

#define QUERY_ERROR "0x80060888"

struct query {
    const struct sim_call *call;
    const struct sim_url *url;
    const struct sim_api *api;
    struct sim_prefer prefer;
    struct sim_select select;
    struct sim_query_rows rows;
    bool count;        /* $count=true */
    bool pages;        /* a next link is given */
    uint32_t rows_max; /* of the answer */
    char *text;        /* of the cookie */
};

static bool refuse(struct sim_answer *answer, const char *message)
{
    sim_answer_error(answer, 400, QUERY_ERROR, "%s", message);
    return false;
}

static struct weir_str option(const struct query *q, enum sim_url_option option)
{
    return q->url->options[option];
}

/* ---- options ---- */

static bool check_options(const struct query *q, struct sim_answer *answer)
{
    if (option(q, SIM_OPTION_SKIP).ptr)
        return refuse(answer, "Skip Clause is not supported in CRM");
    if (option(q, SIM_OPTION_APPLY).ptr || option(q, SIM_OPTION_FETCHXML).ptr)
        return refuse(answer, "This simulated service supports neither $apply nor FetchXML.");
    if (option(q, SIM_OPTION_EXPAND).ptr)
        return refuse(answer, "This simulated service does not support $expand on rows.");
    if (q->url->unknown_option.ptr) {
        sim_answer_error(answer, 400, QUERY_ERROR, "The query parameter %.*s is not supported",
                         (int)(q->url->unknown_option.len <= 100 ? q->url->unknown_option.len : 0),
                         q->url->unknown_option.ptr);
        return false;
    }
    return true;
}

static bool read_count(struct query *q, struct sim_answer *answer)
{
    struct weir_str text = option(q, SIM_OPTION_COUNT);
    q->count = weir_str_equal(text, weir_str_from("true"));
    if (text.ptr && !q->count && !weir_str_equal(text, weir_str_from("false")))
        return refuse(answer, "Invalid value for $count query option found. Valid values are "
                              "'true' and 'false'.");
    return true;
}

static uint32_t page_rows_max(const struct sim_table *table)
{
    return table->elastic ? SIM_PAGE_ROWS_MAX_ELASTIC : SIM_PAGE_ROWS_MAX;
}

/* A page size that is asked for makes $top meaningless. */
static bool read_sizes(struct query *q, struct sim_answer *answer)
{
    struct weir_str text = option(q, SIM_OPTION_TOP);
    uint32_t most = page_rows_max(q->rows.table);
    int64_t top = most;
    if (text.ptr && (!weir_str_to_int64(text, &top) || top < 0))
        return refuse(answer, "Invalid value for $top query option found. The $top query option "
                              "requires a non-negative integer value.");
    if (top > most)
        return refuse(answer, "The value of $top exceeds the maximum number of rows of a page.");
    q->pages = q->prefer.page_size || !text.ptr;
    q->rows_max = q->prefer.page_size ? q->prefer.page_size : (uint32_t)top;
    if (q->rows_max > most)
        q->rows_max = most;
    return true;
}

static bool read_cookie(struct query *q, struct sim_answer *answer)
{
    struct weir_str token = option(q, SIM_OPTION_SKIPTOKEN);
    if (!token.ptr)
        return true;
    q->text = weir_calloc(token.len + 1, 1);
    if (!sim_cookie_parse(token, q->text, &q->rows.cookie) || !sim_query_rows_cookie(&q->rows))
        return refuse(answer, "Invalid $skiptoken: the paging cookie is malformed.");
    q->rows.has_cookie = true;
    return true;
}

static bool open_query(struct query *q, const struct sim_table *table, struct sim_answer *answer)
{
    const struct sim_call *call = q->call;
    return sim_prefer_parse(call->headers, call->header_count, &q->prefer, answer) &&
           check_options(q, answer) &&
           sim_select_parse(table, option(q, SIM_OPTION_SELECT), &q->select, answer) &&
           sim_query_rows_open(&q->rows, q->api, call, table, q->url, answer) &&
           read_count(q, answer) && read_sizes(q, answer) && read_cookie(q, answer);
}

static void close_query(struct query *q)
{
    sim_query_rows_close(&q->rows);
    free(q->text);
}

/* ---- the answer ---- */

/* Whether odata.include-annotations, a list of names and patterns, asks for `name`. */
static bool wants_annotation(const struct query *q, const char *name)
{
    struct weir_str list = q->prefer.annotations;
    while (list.len) {
        const char *comma = memchr(list.ptr, ',', list.len);
        size_t len = comma ? (size_t)(comma - list.ptr) : list.len;
        struct weir_str item = weir_str_trim(weir_str(list.ptr, len));
        if (item.len && item.ptr[item.len - 1] == '*')
            item.len--;
        else if (item.len != strlen(name))
            item.ptr = NULL;
        if (item.ptr && item.len <= strlen(name) && !memcmp(item.ptr, name, item.len))
            return true;
        len += comma != NULL;
        list = weir_str(list.ptr + len, list.len - len);
    }
    return false;
}

static void put_root(const struct query *q, struct weir_buf *json)
{
    weir_buf_printf(json, "%s/api/data/%.*s/", q->api->base_url, (int)q->url->version.len,
                    q->url->version.ptr);
}

static void put_context(const struct query *q, struct weir_buf *json)
{
    struct weir_str select = option(q, SIM_OPTION_SELECT);
    struct weir_buf text;
    weir_buf_init(&text, 2 * SIM_URL_BATCH_BYTES_MAX);
    put_root(q, &text);
    weir_buf_printf(&text, "$metadata#%s", q->rows.table->set);
    if (select.ptr)
        weir_buf_printf(&text, "(%.*s)", (int)select.len, select.ptr);
    weir_buf_add_text(json, "\"@odata.context\":");
    weir_buf_add_json_string(json, weir_str(text.ptr, text.len));
    weir_buf_release(&text);
}

/* The number of wanted rows, cut at what the service counts up to. */
static uint32_t count_rows(const struct query *q, bool *exceeded)
{
    uint32_t most = page_rows_max(q->rows.table);
    uint32_t count = sim_query_rows_count(&q->rows, most + 1);
    *exceeded = count > most;
    return *exceeded ? most : count;
}

static void put_counts(const struct query *q, struct weir_buf *json)
{
    bool exceeded = false;
    int64_t count = q->count ? (int64_t)count_rows(q, &exceeded) : -1;
    if (q->count)
        weir_buf_printf(json, ",\"@odata.count\":%" PRId64, count);
    if (wants_annotation(q, "Microsoft.Dynamics.CRM.totalrecordcount"))
        weir_buf_printf(json, ",\"@Microsoft.Dynamics.CRM.totalrecordcount\":%" PRId64, count);
    if (wants_annotation(q, "Microsoft.Dynamics.CRM.totalrecordcountlimitexceeded"))
        weir_buf_printf(json, ",\"@Microsoft.Dynamics.CRM.totalrecordcountlimitexceeded\":%s",
                        exceeded ? "true" : "false");
}

/* The options as they came, but for the cookie. */
static void put_query(const struct query *q, struct weir_buf *text)
{
    struct weir_str rest = q->url->query;
    while (rest.len) {
        const char *end = memchr(rest.ptr, '&', rest.len);
        size_t len = end ? (size_t)(end - rest.ptr) : rest.len;
        bool cookie = weir_str_starts_nocase(rest, "$skiptoken=") ||
                      weir_str_starts_nocase(rest, "%24skiptoken=");
        if (len && !cookie)
            weir_buf_printf(text, "%.*s&", (int)len, rest.ptr);
        len += end != NULL;
        rest = weir_str(rest.ptr + len, rest.len - len);
    }
}

static void put_next_link(const struct query *q, struct weir_buf *json)
{
    struct sim_cookie cookie;
    sim_query_rows_last(&q->rows, &cookie);
    struct weir_buf text;
    weir_buf_init(&text, 4 * SIM_URL_BATCH_BYTES_MAX);
    put_root(q, &text);
    weir_buf_printf(&text, "%.*s?", (int)q->url->path.len, q->url->path.ptr);
    put_query(q, &text);
    weir_buf_add_text(&text, "$skiptoken=");
    sim_cookie_print(&cookie, &text);
    weir_buf_add_text(json, ",\"@odata.nextLink\":");
    weir_buf_add_json_string(json, weir_str(text.ptr, text.len));
    weir_buf_release(&text);
}

static void put_rows(const struct query *q, struct weir_buf *json)
{
    weir_buf_add_text(json, ",\"value\":[");
    for (uint32_t i = 0; i < q->rows.page_count; i++) {
        weir_buf_add_text(json, i ? ",{" : "{");
        sim_render_row(q->api, q->rows.table, sim_query_rows_at(&q->rows, i), &q->select,
                       &q->prefer, json);
        weir_buf_add_char(json, '}');
    }
    weir_buf_add_char(json, ']');
}

static void put_preferences(const struct query *q, struct sim_answer *answer)
{
    const struct sim_prefer *prefer = &q->prefer;
    struct weir_buf text;
    weir_buf_init(&text, SIM_URL_BYTES_MAX);
    if (prefer->annotations.ptr)
        weir_buf_printf(&text, "odata.include-annotations=\"%.*s\"", (int)prefer->annotations.len,
                        prefer->annotations.ptr);
    if (prefer->page_size)
        weir_buf_printf(&text, "%sodata.maxpagesize=%" PRIu32, text.len ? "," : "",
                        prefer->page_size);
    if (text.len)
        sim_answer_header(answer, "Preference-Applied", "%s", weir_buf_text(&text));
    weir_buf_release(&text);
}

static void answer_rows(struct query *q, struct sim_answer *answer)
{
    bool more = sim_query_rows_pick(&q->rows, q->rows_max);
    struct weir_buf *json = &answer->body;
    weir_buf_add_char(json, '{');
    put_context(q, json);
    put_counts(q, json);
    put_rows(q, json);
    if (more && q->pages)
        put_next_link(q, json);
    weir_buf_add_char(json, '}');
    if (json->overflow) {
        sim_answer_error(answer, 500, "0x80040216", "An unexpected error occurred.");
        return;
    }
    answer->status = 200;
    sim_answer_header(answer, "Content-Type",
                      "application/json; odata.metadata=minimal; odata.streaming=true");
    put_preferences(q, answer);
}

static void answer_count(struct query *q, struct sim_answer *answer)
{
    bool exceeded;
    answer->status = 200;
    sim_answer_header(answer, "Content-Type", "text/plain");
    weir_buf_printf(&answer->body, "%" PRIu32, count_rows(q, &exceeded));
}

void sim_query_execute(struct sim_api *api, const struct sim_call *call, const struct sim_url *url,
                       struct sim_answer *answer)
{
    if (weir_str_equal(url->set, weir_str_from("sdkmessagefilters"))) {
        sim_messages_query(api, url, answer);
        return;
    }
    const struct sim_table *table = sim_api_set(api, url->set, answer);
    if (!table || !sim_api_may(api, call, table, SIM_RIGHT_READ, "Read", answer))
        return;
    struct query q = { .call = call, .url = url, .api = api };
    if (!open_query(&q, table, answer)) {
        close_query(&q);
        return;
    }
    if (url->kind == SIM_URL_COUNT)
        answer_count(&q, answer);
    else
        answer_rows(&q, answer);
    close_query(&q);
}

/* ---- RetrieveTotalRecordCount ---- */

/* The next 'name' of a list, taken off it; empty: there is none. */
static struct weir_str take_name(struct weir_str *list)
{
    const char *open = list->len ? memchr(list->ptr, '\'', list->len) : NULL;
    size_t left = open ? list->len - (size_t)(open + 1 - list->ptr) : 0;
    const char *close = left ? memchr(open + 1, '\'', left) : NULL;
    if (!close)
        return weir_str("", 0);
    *list = weir_str(close + 1, list->len - (size_t)(close + 1 - list->ptr));
    return weir_str(open + 1, (size_t)(close - open) - 1);
}

/* The tables of "EntityNames=['account','contact']". False: there is no such table, or no list. */
static bool read_names(const struct sim_api *api, const struct sim_url *url,
                       const struct sim_table **tables, uint32_t *count)
{
    static const char member[] = "EntityNames=";
    struct weir_str list = url->arguments;
    if (!weir_str_starts_nocase(list, member))
        return false;
    list = weir_str(list.ptr + sizeof(member) - 1, list.len - (sizeof(member) - 1));
    if (list.len && list.ptr[0] == '@')
        list = sim_url_alias(url, list);
    for (*count = 0; *count < SIM_TABLES_MAX; (*count)++) {
        struct weir_str name = take_name(&list);
        if (!name.len)
            break;
        tables[*count] = sim_schema_table(&api->schema, name);
        if (!tables[*count])
            return false;
    }
    return *count > 0;
}

void sim_query_totals(const struct sim_api *api, const struct sim_url *url,
                      struct sim_answer *answer)
{
    const struct sim_table *tables[SIM_TABLES_MAX];
    uint32_t count;
    struct weir_buf *json = &answer->body;
    if (!read_names(api, url, tables, &count)) {
        sim_answer_error(answer, 404, "0x80040217", "Could not find an entity of EntityNames.");
        return;
    }
    answer->status = 200;
    sim_answer_header(answer, "Content-Type", "application/json; odata.metadata=minimal");
    weir_buf_printf(json, "{\"@odata.context\":\"%s/api/data/%.*s/$metadata#", api->base_url,
                    (int)url->version.len, url->version.ptr);
    weir_buf_printf(json,
                    "Microsoft.Dynamics.CRM.RetrieveTotalRecordCountResponse\","
                    "\"EntityRecordCountCollection\":{\"Count\":%" PRIu32
                    ",\"IsReadOnly\":false,\"Keys\":[",
                    count);
    for (uint32_t i = 0; i < count; i++)
        weir_buf_printf(json, "%s\"%s\"", i ? "," : "", tables[i]->name);
    weir_buf_add_text(json, "],\"Values\":[");
    for (uint32_t i = 0; i < count; i++)
        weir_buf_printf(json, "%s%" PRIu32, i ? "," : "", api->stores[tables[i]->place].row_count);
    weir_buf_add_text(json, "]}}");
}
