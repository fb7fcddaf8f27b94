/* SPDX-License-Identifier: MIT */
/* Reading many rows: filters, order, pages, counts, annotations, and who sees what. */
#include <stdio.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/rng.h"
#include "sim/service/api.h"
#include "sim/service/filter.h"
#include "support/suite.h"

#define ROOT "/api/data/v9.2/"

static struct sim_api *api;
static struct sim_answer answer;
static uint32_t caller;

static void setup_with(const char *scenario)
{
    struct weir_json *json = NULL;
    if (scenario)
        ck_assert_int_eq(weir_json_parse(weir_str_from(scenario), &json, NULL), WEIR_OK);
    struct sim_api_options options = {
        .users = 2, .base_url = "http://sim", .seed = 1, .scenario = json
    };
    ck_assert_int_eq(sim_api_new(&options, &api, NULL), WEIR_OK);
    weir_json_free(json);
    sim_answer_init(&answer);
    caller = 0;
}

static void setup(void)
{
    setup_with(NULL);
}

static void teardown(void)
{
    sim_answer_release(&answer);
    sim_api_free(api);
}

static const char *send_call(const char *method, const char *target, const char *prefer,
                             const char *body)
{
    struct sim_header headers[] = {
        { weir_str_from("Content-Type"), weir_str_from("application/json") },
        { weir_str_from("Prefer"), weir_str_from(prefer) },
    };
    struct sim_call call = { .method = weir_str_from(method),
                             .target = weir_str_from(target),
                             .headers = headers,
                             .header_count = prefer ? 2 : 1,
                             .body = weir_str_from(body),
                             .user = caller };
    sim_answer_reset(&answer);
    sim_api_execute(api, &call, NULL, NULL, &answer);
    return weir_buf_text(&answer.body);
}

/* ROOT and an address in which blanks are escaped; with the preference that is given. */
static const char *get_with(const char *address, const char *prefer)
{
    struct weir_buf target;
    weir_buf_init(&target, 100000);
    if (strncmp(address, "http", 4) != 0)
        weir_buf_add_text(&target, ROOT);
    for (const char *c = address; *c; c++) {
        if (*c == ' ')
            weir_buf_add_text(&target, "%20");
        else
            weir_buf_add_char(&target, *c);
    }
    const char *text = send_call("GET", weir_buf_text(&target), prefer, NULL);
    weir_buf_release(&target);
    return text;
}

static const char *get(const char *address)
{
    return get_with(address, NULL);
}

static void create(const char *set, const char *body)
{
    char target[200];
    snprintf(target, sizeof(target), ROOT "%s", set);
    send_call("POST", target, NULL, body);
    ck_assert_msg(answer.status == 204, "%s", weir_buf_text(&answer.body));
}

static uint32_t occurrences(const char *text, const char *needle)
{
    uint32_t count = 0;
    for (const char *at = text; (at = strstr(at, needle)); at++)
        count++;
    return count;
}

/* Accounts with accountnumber "first" … and a name that repeats. */
static void create_accounts(uint32_t first, uint32_t count)
{
    while (count) {
        uint32_t batch = count < 1000 ? count : 1000;
        struct weir_buf body;
        weir_buf_init(&body, 1 << 20);
        weir_buf_add_text(&body, "{\"Targets\":[");
        for (uint32_t i = 0; i < batch; i++)
            weir_buf_printf(&body,
                            "%s{\"@odata.type\":\"Microsoft.Dynamics.CRM.account\","
                            "\"accountnumber\":\"%u\",\"name\":\"n%u\"}",
                            i ? "," : "", first + i, (first + i) * 7919 % 100);
        weir_buf_add_text(&body, "]}");
        send_call("POST", ROOT "accounts/Microsoft.Dynamics.CRM.CreateMultiple", NULL,
                  weir_buf_text(&body));
        ck_assert_int_eq(answer.status, 200);
        weir_buf_release(&body);
        first += batch;
        count -= batch;
    }
}

/* Count each "accountnumber":"n" of an answer. Returns how many there are. */
static uint32_t mark(const char *text, uint8_t *seen, uint32_t max)
{
    static const char member[] = "\"accountnumber\":\"";
    uint32_t count = 0;
    for (const char *at = text; (at = strstr(at, member)); count++) {
        at += sizeof(member) - 1;
        unsigned long number = strtoul(at, NULL, 10);
        must(number < max);
        seen[number]++;
    }
    return count;
}

/* The next link of an answer, copied; NULL: it is the last page. */
static char *next_link(const char *text)
{
    static const char member[] = "\"@odata.nextLink\":\"";
    const char *at = strstr(text, member);
    if (!at)
        return NULL;
    at += sizeof(member) - 1;
    return weir_strndup(at, (size_t)(strchr(at, '"') - at));
}

/* ---- pages ---- */

#define ROWS 12345

static void page_through(const char *address, const char *prefer, uint32_t page_rows)
{
    uint8_t seen[ROWS] = { 0 };
    uint32_t pages = 0, rows = 0;
    char *link = weir_strdup(address);
    while (link) {
        const char *text = get_with(link, prefer);
        ck_assert_msg(answer.status == 200, "%s", text);
        uint32_t count = mark(text, seen, ROWS);
        free(link);
        link = next_link(text);
        ck_assert(link ? count == page_rows : count <= page_rows);
        rows += count;
        pages++;
    }
    ck_assert_uint_eq(rows, ROWS);
    ck_assert_uint_eq(pages, (ROWS + page_rows - 1) / page_rows);
    for (uint32_t i = 0; i < ROWS; i++)
        must(seen[i] == 1);
}

START_TEST(pages_of_any_size_yield_each_row_once)
{
    create_accounts(0, ROWS);
    page_through("accounts?$select=accountnumber", NULL, 5000);
    page_through("accounts?$select=accountnumber", "odata.maxpagesize=1234", 1234);
    page_through("accounts?$select=accountnumber", "odata.maxpagesize=999999", 5000);
    page_through("accounts?$select=accountnumber&$orderby=name desc,accountnumber",
                 "odata.maxpagesize=1000", 1000);
    page_through("accounts?$select=accountnumber&$orderby=name", "odata.maxpagesize=3000", 3000);
    page_through("accounts?$select=accountnumber&$filter=name ne null&$top=3",
                 "odata.maxpagesize=4000", 4000);
}
END_TEST

/* Between the pages rows are added, and one of the first ones is deleted. */
static void write_between(uint32_t next, bool *deleted)
{
    char target[200];
    uint32_t victim = next - 2000;
    create_accounts(next, 17);
    snprintf(target, sizeof(target), ROOT "accounts(accountnumber='%u')", victim);
    send_call("DELETE", target, NULL, NULL);
    must(answer.status == 204);
    deleted[victim] = true;
}

static void page_through_writes(const char *address)
{
    uint8_t seen[3000] = { 0 };
    bool deleted[3000] = { false };
    uint32_t next = 2000;
    create_accounts(0, 2000);
    char *link = weir_strdup(address);
    while (link) {
        const char *text = get_with(link, "odata.maxpagesize=150");
        ck_assert_int_eq(answer.status, 200);
        mark(text, seen, 3000);
        free(link);
        link = next_link(text);
        write_between(next, deleted);
        next += 17;
        must(next < 2983);
    }
    for (uint32_t i = 0; i < 3000; i++)
        must(seen[i] == 1 || (seen[i] == 0 && (deleted[i] || i >= 2000)));
}

START_TEST(paging_is_not_disturbed_by_writes_between_the_pages)
{
    page_through_writes(_i ? "accounts?$select=accountnumber&$orderby=name desc"
                           : "accounts?$select=accountnumber");
}
END_TEST

START_TEST(a_next_link_is_absolute_and_keeps_the_options)
{
    create_accounts(0, 10);
    const char *text =
        get_with("accounts?$select=accountnumber&$filter=name ne 'x'&tag=t", "odata.maxpagesize=3");
    char *link = next_link(text);
    ck_assert_ptr_nonnull(link);
    ck_assert_ptr_eq(strstr(link, "http://sim/api/data/v9.2/accounts?$select=accountnumber&"),
                     link);
    ck_assert_ptr_nonnull(strstr(link, "$filter=name%20ne%20'x'&tag=t&$skiptoken=%3Ccookie"));
    ck_assert_ptr_nonnull(
        strstr(weir_buf_text(&answer.headers), "Preference-Applied: odata.maxpagesize=3\r\n"));
    text = get_with(link, "odata.maxpagesize=3");
    ck_assert_uint_eq(occurrences(text, "\"accountnumber\""), 3);
    char *second = next_link(text);
    ck_assert_ptr_nonnull(strstr(second, "pagenumber=%223%22"));
    ck_assert_uint_eq(occurrences(second, "skiptoken"), 1);
    free(link);
    free(second);
}
END_TEST

START_TEST(top_ends_the_answer_unless_pages_are_asked_for)
{
    create_accounts(0, 20);
    const char *text = get("accounts?$top=7");
    ck_assert_uint_eq(occurrences(text, "\"accountid\""), 7);
    ck_assert_ptr_null(strstr(text, "nextLink"));
    text = get("accounts?$top=0");
    ck_assert_uint_eq(occurrences(text, "\"accountid\""), 0);
    text = get_with("accounts?$top=7", "odata.maxpagesize=10");
    ck_assert_uint_eq(occurrences(text, "\"accountid\""), 10);
    ck_assert_ptr_nonnull(strstr(text, "nextLink"));
    /* Exactly full: there is no page behind it. */
    text = get_with("accounts", "odata.maxpagesize=20");
    ck_assert_ptr_null(strstr(text, "nextLink"));
}
END_TEST

START_TEST(rows_come_in_the_order_that_is_asked_for)
{
    static const char *const names[] = { "b", "A", "c", "a" };
    for (size_t i = 0; i < 4; i++) {
        char body[100];
        snprintf(body, sizeof(body), "{\"name\":\"%s\",\"numberofemployees\":%zu}", names[i], i);
        create("accounts", body);
    }
    create("accounts", "{\"numberofemployees\":9}");
    static const struct {
        const char *order;
        const char *expected;
    } orders[] = {
        { "numberofemployees", "01239" },
        { "numberofemployees desc", "93210" },
        { "name asc", "91302" },
        { "name desc", "20139" },
        { "name,numberofemployees desc", "93102" },
    };
    for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++) {
        char address[200], found[10] = "";
        snprintf(address, sizeof(address), "accounts?$select=numberofemployees&$orderby=%s",
                 orders[i].order);
        const char *at = get(address);
        for (size_t j = 0; (at = strstr(at, "\"numberofemployees\":")); j++) {
            at += strlen("\"numberofemployees\":");
            found[j] = *at;
        }
        ck_assert_str_eq(found, orders[i].expected);
    }
}
END_TEST

/* ---- counts ---- */

START_TEST(a_count_saturates_at_5000_and_says_so_if_asked)
{
    create_accounts(0, 5000);
    ck_assert_str_eq(get("accounts/$count"), "5000");
    ck_assert_ptr_nonnull(strstr(weir_buf_text(&answer.headers), "Content-Type: text/plain"));
    const char *text = get_with("accounts?$count=true&$top=1", "odata.include-annotations=\"*\"");
    ck_assert_ptr_nonnull(strstr(text, "\"@odata.count\":5000,"));
    ck_assert_ptr_nonnull(
        strstr(text, "\"@Microsoft.Dynamics.CRM.totalrecordcountlimitexceeded\":false"));
    create_accounts(5000, 1);
    ck_assert_str_eq(get("accounts/$count"), "5000");
    text = get_with("accounts?$count=true&$top=1",
                    "odata.include-annotations=\"Microsoft.Dynamics.CRM.totalrecordcount,"
                    "Microsoft.Dynamics.CRM.totalrecordcountlimitexceeded\"");
    ck_assert_ptr_nonnull(strstr(text, "\"@odata.count\":5000,"));
    ck_assert_ptr_nonnull(strstr(text, "\"@Microsoft.Dynamics.CRM.totalrecordcount\":5000"));
    ck_assert_ptr_nonnull(
        strstr(text, "\"@Microsoft.Dynamics.CRM.totalrecordcountlimitexceeded\":true"));
    text = get("accounts?$count=true&$top=1&$filter=accountnumber eq '17'");
    ck_assert_ptr_nonnull(strstr(text, "\"@odata.count\":1,"));
    ck_assert_ptr_null(strstr(text, "totalrecordcount"));
    text = get("RetrieveTotalRecordCount(EntityNames=['account','contact'])");
    ck_assert_ptr_nonnull(strstr(text, "\"Keys\":[\"account\",\"contact\"],\"Values\":[5001,0]"));
}
END_TEST

START_TEST(a_count_of_an_elastic_table_saturates_at_500)
{
    for (uint32_t i = 0; i < 501; i++)
        create("sensorreadings", i % 2 ? "{\"partitionid\":\"p\"}" : "{}");
    ck_assert_str_eq(get("sensorreadings/$count"), "500");
    ck_assert_str_eq(get("sensorreadings/$count?partitionId=p"), "250");
    ck_assert_uint_eq(occurrences(get("sensorreadings"), "\"sensorreadingid\""), 500);
    ck_assert_ptr_nonnull(strstr(weir_buf_text(&answer.body), "nextLink"));
}
END_TEST

/* ---- filters ---- */

static void create_filter_rows(void)
{
    create("accounts", "{\"accountnumber\":\"1\",\"name\":\"Contoso\",\"revenue\":10.5,"
                       "\"numberofemployees\":5,\"donotemail\":true,\"industrycode\":1,"
                       "\"accountid\":\"00000000-0000-0000-0000-00000000000a\"}");
    create("accounts", "{\"accountnumber\":\"2\",\"name\":\"O'Brien \",\"revenue\":20,"
                       "\"numberofemployees\":-0,\"donotemail\":false,\"industrycode\":2,"
                       "\"address1_latitude\":1.5,\"weir_founded\":\"2001-02-03\","
                       "\"accountid\":\"00000000-0000-0000-0000-00000000000b\","
                       "\"parentaccountid@odata.bind\":\"/accounts(accountnumber='1')\"}");
    create("accounts", "{\"accountnumber\":\"3\",\"name\":\"\xc3\x84rger & (S\xc3\xb6hne)\","
                       "\"lastonholdtime\":\"2024-01-02T03:04:05Z\",\"industrycode\":1}");
    create("accounts", "{\"description\":\"no number\"}");
}

static const struct {
    const char *filter;
    const char *expected; /* account numbers; 'n' for the row without */
} filters[] = {
    { "accountnumber eq '1'", "1" },
    { "accountnumber eq '9'", "" },
    { "accountnumber ne '1'", "23n" },
    { "accountnumber eq null", "n" },
    { "accountnumber ne null", "123" },
    { "name eq 'CONTOSO'", "1" },
    { "name eq 'O''Brien'", "2" },
    { "name eq '\xc3\x84rger %26 (S\xc3\xb6hne)'", "3" },
    { "numberofemployees eq 5", "1" },
    { "numberofemployees eq 0", "2" },
    { "numberofemployees gt 0", "1" },
    { "numberofemployees ge 0", "12" },
    { "numberofemployees lt 5", "2" },
    { "numberofemployees le 5", "12" },
    { "revenue eq 10.5", "1" },
    { "revenue eq 10.50", "1" },
    { "revenue gt 10.5", "2" },
    { "address1_latitude eq 1.5", "2" },
    { "donotemail eq true", "1" },
    { "industrycode eq 1", "13" },
    { "statecode eq 0", "123n" },
    { "weir_founded eq 2001-02-03", "2" },
    { "lastonholdtime eq 2024-01-02T03:04:05Z", "3" },
    { "lastonholdtime lt 2024-01-02T03:04:05Z", "" },
    { "accountid eq 00000000-0000-0000-0000-00000000000a", "1" },
    { "accountid eq '00000000-0000-0000-0000-00000000000A'", "1" },
    { "_parentaccountid_value eq 00000000-0000-0000-0000-00000000000a", "2" },
    { "parentaccountid/name eq 'contoso'", "2" },
    { "parentaccountid/name eq null", "13n" },
    { "contains(name,'TOS')", "1" },
    { "startswith(name,'o')", "2" },
    { "endswith(name,'hne)')", "3" },
    { "not contains(name,'o')", "3n" },
    { "accountnumber eq '1' or accountnumber eq '2'", "12" },
    { "accountnumber eq '1' and industrycode eq 1", "1" },
    { "accountnumber eq '1' and industrycode eq 2", "" },
    { "industrycode eq 1 and accountnumber eq '3'", "3" },
    { "accountnumber eq '1' or accountnumber eq '2' and industrycode eq 1", "1" },
    { "(accountnumber eq '1' or accountnumber eq '2') and industrycode eq 2", "2" },
    { "not (accountnumber eq '1' or industrycode eq 2)", "3n" },
    { "not not accountnumber eq '1'", "1" },
    { "((((accountnumber eq '1'))))", "1" },
    { "Microsoft.Dynamics.CRM.In(PropertyName='accountnumber',PropertyValues=['2','3','9','2'])",
      "23" },
    { "Microsoft.Dynamics.CRM.In(PropertyName='name',PropertyValues=['contoso'])", "1" },
    { "Microsoft.Dynamics.CRM.In(PropertyName=@p1,PropertyValues=[\"1\", "
      "\"3\"])&@p1='accountnumber'",
      "13" },
    { "Microsoft.Dynamics.CRM.In(PropertyName='industrycode',PropertyValues=['1'])", "13" },
    { "Microsoft.Dynamics.CRM.In(PropertyName='accountid',"
      "PropertyValues=['00000000-0000-0000-0000-00000000000b','00000000-0000-0000-0000-"
      "00000000000a'])",
      "12" },
    { "Microsoft.Dynamics.CRM.NotIn(PropertyName='accountnumber',PropertyValues=['2','3'])", "1n" },
    { "accountnumber eq @x&@x='2'", "2" },
    { "accountnumber eq @x or accountnumber eq @x or name eq @x&@x='2'", "2" },
    { "accountnumber eq @x&@x=null", "n" },
    { "", "123n" },
};

/* Which rows an answer holds, as characters. */
static void found_rows(const char *text, char *found)
{
    static const char member[] = "\"accountnumber\":";
    for (const char *at = text; (at = strstr(at, member)); found++) {
        at += sizeof(member) - 1;
        *found = *at == '"' ? at[1] : 'n';
    }
    *found = '\0';
}

START_TEST(filters_find_what_the_table_says)
{
    create_filter_rows();
    for (size_t i = 0; i < sizeof(filters) / sizeof(*filters); i++) {
        char address[500], found[20];
        snprintf(address, sizeof(address), "accounts?$select=accountnumber&$filter=%s",
                 filters[i].filter);
        const char *text = get(address);
        ck_assert_msg(answer.status == 200, "%s: %s", filters[i].filter, text);
        found_rows(text, found);
        ck_assert_msg(strcmp(found, filters[i].expected) == 0, "%s: %s", filters[i].filter, found);
    }
}
END_TEST

START_TEST(a_query_that_makes_no_sense_is_400)
{
    static const char *const queries[] = {
        "$filter=nosuch eq 1",
        "$filter=Name eq 'x'",
        "$filter=name",
        "$filter=name eq",
        "$filter=name eq x",
        "$filter=name eq 5",
        "$filter=name eq 'x",
        "$filter=name is 'x'",
        "$filter=numberofemployees eq 'five'",
        "$filter=numberofemployees eq '5'",
        "$filter=numberofemployees eq five",
        "$filter=donotemail eq 2",
        "$filter=accountid eq 5",
        "$filter=lastonholdtime eq 2024-13-01T00:00:00Z",
        "$filter=revenue eq 1.2.3",
        "$filter=parentaccountid eq null",
        "$filter=parentaccountid/nosuch eq null",
        "$filter=nosuch/name eq null",
        "$filter=name eq 'x' and",
        "$filter=name eq 'x' xor name eq 'y'",
        "$filter=(name eq 'x'",
        "$filter=name eq 'x')",
        "$filter=()",
        "$filter=not",
        "$filter=frobnicate(name,'x')",
        "$filter=contains(name)",
        "$filter=contains(name,5)",
        "$filter=contains(numberofemployees,'5')",
        "$filter=name eq @nosuch",
        "$filter=name eq @x&@x=5",
        "$filter=name eq @x&@x='a'b'",
        "$filter=Microsoft.Dynamics.CRM.In(PropertyName='nosuch',PropertyValues=['1'])",
        "$filter=Microsoft.Dynamics.CRM.In(PropertyName='name')",
        "$filter=Microsoft.Dynamics.CRM.In(PropertyName='name',PropertyValues=[])",
        "$filter=Microsoft.Dynamics.CRM.In(PropertyName='name',PropertyValues=['1'",
        "$filter=Microsoft.Dynamics.CRM.In(PropertyName='numberofemployees',PropertyValues=['x'])",
        "$select=nosuch",
        "$orderby=nosuch",
        "$orderby=name sideways",
        "$orderby=name,name,name",
        "$top=-1",
        "$top=x",
        "$top=5001",
        "$count=maybe",
        "$skip=5",
        "$apply=aggregate(revenue with sum as total)",
        "$skiptoken=garbage",
        "$skiptoken=%3Ccookie pagenumber=%222%22 pagingcookie=%22-1%22 /%3E",
        "$skiptoken=%3Ccookie pagenumber=%222%22 pagingcookie=%221%3Bi5%22 /%3E",
        "$orderby=name&$skiptoken=%3Ccookie pagenumber=%222%22 pagingcookie=%221%22 /%3E",
        "$orderby=name&$skiptoken=%3Ccookie pagenumber=%222%22 pagingcookie=%221%3Bt4%22 /%3E",
        "$strange=1",
        "fetchXml=%3Cfetch/%3E",
    };
    create_filter_rows();
    for (size_t i = 0; i < sizeof(queries) / sizeof(*queries); i++) {
        char address[500];
        snprintf(address, sizeof(address), "accounts?%s", queries[i]);
        const char *text = get(address);
        ck_assert_msg(answer.status == 400, "%s: %d", queries[i], answer.status);
        ck_assert_ptr_eq(strstr(text, "{\"error\":{\"code\":\"0x"), text);
    }
    get("accounts?$filter=Name eq 'x'");
    ck_assert_ptr_nonnull(strstr(weir_buf_text(&answer.body),
                                 "\"0x0\",\"message\":\"Could not find a property named 'Name' on "
                                 "type 'Microsoft.Dynamics.CRM.account'.\""));
}
END_TEST

/* A cookie of the right form may still have a value of the wrong kind, or a place that never was.
 */
START_TEST(a_forged_cookie_does_no_harm)
{
    create_filter_rows();
    static const char *const cookies[] = { "0;i5", "4000000000;t",
                                           "2;g00000000-0000-0000-0000-000000000000", "1;n",
                                           "1;r9218868437227405312" };
    for (size_t i = 0; i < sizeof(cookies) / sizeof(*cookies); i++) {
        char address[300];
        snprintf(address, sizeof(address),
                 "accounts?$orderby=name&$skiptoken=%%3Ccookie pagenumber=%%222%%22 "
                 "pagingcookie=%%22%s%%22 /%%3E",
                 cookies[i]);
        get(address);
        ck_assert_int_eq(answer.status, 200);
    }
    get("accounts?$skiptoken=%3Ccookie pagenumber=%222%22 pagingcookie=%224294967294%22 /%3E");
    ck_assert_int_eq(answer.status, 200);
}
END_TEST

START_TEST(nesting_and_length_of_a_filter_have_an_end)
{
    struct weir_buf address;
    weir_buf_init(&address, 1 << 20);
    for (uint32_t extra = 0; extra < 2; extra++) {
        weir_buf_reset(&address);
        weir_buf_add_text(&address, "accounts?$filter=");
        /* The condition itself is a level, too. */
        for (uint32_t i = 1; i < SIM_FILTER_DEPTH_MAX + extra; i++)
            weir_buf_add_char(&address, '(');
        weir_buf_add_text(&address, "revenue eq 1");
        for (uint32_t i = 1; i < SIM_FILTER_DEPTH_MAX + extra; i++)
            weir_buf_add_char(&address, ')');
        get(weir_buf_text(&address));
        ck_assert_int_eq(answer.status, extra ? 400 : 200);
    }
    for (uint32_t extra = 0; extra < 2; extra++) {
        weir_buf_reset(&address);
        weir_buf_add_text(&address, "accounts?$filter=revenue eq 1");
        for (uint32_t i = 1; i < SIM_FILTER_CONDITIONS_MAX + extra; i++)
            weir_buf_add_text(&address, " or revenue eq 1");
        get(weir_buf_text(&address));
        ck_assert_int_eq(answer.status, extra ? 400 : 200);
    }
    weir_buf_release(&address);
}
END_TEST

/* What an index finds is what a search finds: `or` is never answered by one. */
START_TEST(an_index_finds_what_a_search_finds)
{
    struct weir_rng rng;
    weir_rng_init(&rng, (uint64_t)_i, 0);
    create_accounts(0, 300);
    for (int round = 0; round < 30; round++) {
        struct weir_buf in, search;
        weir_buf_init(&in, 10000);
        weir_buf_init(&search, 10000);
        weir_buf_add_text(&in, "accounts?$select=accountnumber&$filter=name ne 'n5' and "
                               "Microsoft.Dynamics.CRM.In(PropertyName='accountnumber',"
                               "PropertyValues=[");
        weir_buf_add_text(&search, "accounts?$select=accountnumber&$filter=name ne 'n5' and (");
        uint64_t count = 1 + weir_rng_below(&rng, 20);
        for (uint64_t i = 0; i < count; i++) {
            unsigned number = (unsigned)weir_rng_below(&rng, 400);
            weir_buf_printf(&in, "%s'%u'", i ? "," : "", number);
            weir_buf_printf(&search, "%saccountnumber eq '%u'", i ? " or " : "", number);
        }
        weir_buf_add_text(&in, "])");
        weir_buf_add_text(&search, ")");
        char *first = weir_strdup(get(weir_buf_text(&in)));
        ck_assert_int_eq(answer.status, 200);
        ck_assert_str_eq(first, get(weir_buf_text(&search)));
        free(first);
        weir_buf_release(&in);
        weir_buf_release(&search);
    }
}
END_TEST

/* ---- the form of rows ---- */

START_TEST(rows_have_etags_lookups_as_values_and_annotations_on_request)
{
    create_filter_rows();
    const char *address = "accounts?$select=name,industrycode,_parentaccountid_value&"
                          "$filter=accountnumber eq '2'";
    const char *text = get(address);
    ck_assert_ptr_eq(strstr(text,
                            "{\"@odata.context\":\"http://sim/api/data/v9.2/$metadata#accounts("
                            "name,industrycode,_parentaccountid_value)\",\"value\":[{"
                            "\"@odata.etag\":\"W/\\\""),
                     text);
    ck_assert_ptr_nonnull(strstr(text, "\"_parentaccountid_value\":"
                                       "\"00000000-0000-0000-0000-00000000000a\""));
    ck_assert_ptr_null(strstr(text, "FormattedValue"));
    ck_assert_ptr_null(strstr(text, "\"revenue\""));
    text = get_with(address, "odata.include-annotations=\"*\",odata.maxpagesize=2");
    ck_assert_ptr_nonnull(strstr(text, "\"_parentaccountid_value@Microsoft.Dynamics.CRM."
                                       "lookuplogicalname\":\"account\""));
    ck_assert_ptr_nonnull(
        strstr(text, "\"industrycode@OData.Community.Display.V1.FormattedValue\":\""));
    ck_assert_ptr_nonnull(strstr(weir_buf_text(&answer.headers),
                                 "Preference-Applied: odata.include-annotations=\"*\","
                                 "odata.maxpagesize=2\r\n"));
    struct weir_json *json;
    ck_assert_int_eq(weir_json_parse(weir_str(answer.body.ptr, answer.body.len), &json, NULL),
                     WEIR_OK);
    weir_json_free(json);
}
END_TEST

START_TEST(a_malformed_annotation_preference_is_the_flat_400)
{
    const char *text = get_with("accounts", "odata.include-annotations=\"*");
    ck_assert_int_eq(answer.status, 400);
    ck_assert_ptr_nonnull(strstr(text, "\"ErrorCode\":\"0x80097303\""));
    ck_assert_ptr_eq(strstr(text, "{\"Message\":"), text);
}
END_TEST

START_TEST(an_unknown_set_is_404)
{
    const char *text = get("Account");
    ck_assert_int_eq(answer.status, 404);
    text = get("accountz");
    ck_assert_int_eq(answer.status, 404);
    ck_assert_ptr_nonnull(strstr(text, "0x8006088a"));
    ck_assert_ptr_nonnull(strstr(text, "Resource not found for the segment 'accountz'."));
}
END_TEST

/* ---- who sees what ---- */

START_TEST(a_user_without_depth_sees_its_own_rows_only)
{
    teardown();
    setup_with("{\"users\":[{\"name\":\"app2\",\"read\":\"own\","
               "\"privileges\":{\"contact\":\"none\"}}]}");
    create("accounts", "{\"accountnumber\":\"1\"}");
    caller = 1;
    create("accounts", "{\"accountnumber\":\"2\"}");
    char found[20];
    found_rows(get("accounts?$select=accountnumber"), found);
    ck_assert_str_eq(found, "2");
    found_rows(get("accounts?$select=accountnumber&$filter=accountnumber eq '1'"), found);
    ck_assert_str_eq(found, "");
    ck_assert_str_eq(get("accounts/$count"), "1");
    get("contacts");
    ck_assert_int_eq(answer.status, 403);
    caller = 0;
    found_rows(get("accounts?$select=accountnumber"), found);
    ck_assert_str_eq(found, "12");
    get("contacts");
    ck_assert_int_eq(answer.status, 200);
}
END_TEST

/* ---- messages ---- */

static bool supports(const char *message, const char *table)
{
    char address[400];
    snprintf(address, sizeof(address),
             "sdkmessagefilters?$select=sdkmessagefilterid&$filter=sdkmessageid/name eq @message "
             "and primaryobjecttypecode eq @table&@message='%s'&@table='%s'",
             message, table);
    const char *text = get(address);
    ck_assert_int_eq(answer.status, 200);
    uint32_t rows = occurrences(text, "\"sdkmessagefilterid\"");
    ck_assert_uint_le(rows, 1);
    return rows == 1;
}

START_TEST(messages_of_a_table_are_found_by_the_documented_query)
{
    ck_assert(supports("CreateMultiple", "account"));
    ck_assert(supports("UpdateMultiple", "contact"));
    ck_assert(!supports("DeleteMultiple", "account"));
    ck_assert(supports("DeleteMultiple", "sensorreading"));
    ck_assert(!supports("CreateMultiple", "annotation"));
    ck_assert(supports("Create", "annotation"));
    ck_assert(!supports("CreateMultiple", "nosuch"));
    ck_assert(!supports("NoSuchMessage", "account"));
    get("sdkmessagefilters?$filter=nosuch eq 1");
    ck_assert_int_eq(answer.status, 400);
}
END_TEST

/* ---- hostile ---- */

START_TEST(random_filters_never_break_it)
{
    static const char *const words[] = {
        "name",
        "eq",
        "ne",
        "and",
        "or",
        "not",
        "(",
        ")",
        "'x'",
        "'",
        "5",
        "@a",
        ",",
        "null",
        "[",
        "]",
        "accountid",
        "contains(",
        "gt",
        "/",
        "Microsoft.Dynamics.CRM.In(PropertyName='name',PropertyValues=",
        "00000000-0000-0000-0000-00000000000a",
        "%C3%A4"
    };
    struct weir_rng rng;
    weir_rng_init(&rng, (uint64_t)_i, 0);
    create_filter_rows();
    for (int round = 0; round < 2000; round++) {
        struct weir_buf address;
        weir_buf_init(&address, 10000);
        weir_buf_add_text(&address, "accounts?@a='x'&$filter=");
        for (uint64_t i = weir_rng_below(&rng, 12); i; i--)
            weir_buf_printf(&address, "%s%s",
                            words[weir_rng_below(&rng, sizeof(words) / sizeof(*words))],
                            weir_rng_below(&rng, 4) ? " " : "");
        get(weir_buf_text(&address));
        must(answer.status == 200 || answer.status == 400);
        weir_buf_release(&address);
    }
}
END_TEST

struct named_test {
    const char *name;
    const TTest *const *test;
    int count;
};

int main(void)
{
    struct suite s = suite_new("sim_query");
#define T(function)                                                                                \
    {                                                                                              \
#function, &function, 1                                                                    \
    }
    const struct named_test tests[] = {
        T(pages_of_any_size_yield_each_row_once),
        { "paging_is_not_disturbed_by_writes_between_the_pages",
          &paging_is_not_disturbed_by_writes_between_the_pages, 2 },
        T(a_next_link_is_absolute_and_keeps_the_options),
        T(top_ends_the_answer_unless_pages_are_asked_for),
        T(rows_come_in_the_order_that_is_asked_for),
        T(a_count_saturates_at_5000_and_says_so_if_asked),
        T(a_count_of_an_elastic_table_saturates_at_500),
        T(filters_find_what_the_table_says),
        T(a_query_that_makes_no_sense_is_400),
        T(a_forged_cookie_does_no_harm),
        T(nesting_and_length_of_a_filter_have_an_end),
        { "an_index_finds_what_a_search_finds", &an_index_finds_what_a_search_finds, 5 },
        T(rows_have_etags_lookups_as_values_and_annotations_on_request),
        T(a_malformed_annotation_preference_is_the_flat_400),
        T(an_unknown_set_is_404),
        T(a_user_without_depth_sees_its_own_rows_only),
        T(messages_of_a_table_are_found_by_the_documented_query),
        { "random_filters_never_break_it", &random_filters_never_break_it, 3 },
    };
    for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
        TCase *tcase = tcase_create(tests[i].name);
        tcase_set_timeout(tcase, 0);
        tcase_add_checked_fixture(tcase, setup, teardown);
        tcase_add_loop_test(tcase, *tests[i].test, 0, tests[i].count);
        suite_add_tcase(s.suite, tcase);
    }
    return suite_run(&s);
}
