/* SPDX-License-Identifier: MIT */
/* Addresses of the simulated Web API: tables of what is read how, and of what is refused. */
#include <stdio.h>

#include "base/mem.h"
#include "base/rng.h"
#include "sim/service/url.h"
#include "support/suite.h"

static bool same(struct weir_str text, const char *expected)
{
    return weir_str_equal(text, weir_str_from(expected));
}

/* ---- kinds ---- */

#define ROOT "/api/data/v9.2/"
#define ID   "5d68b37c-aa61-4d35-a3f0-2a4ff5ba0d2a"

static const struct {
    const char *target;
    enum sim_url_kind kind;
    const char *set;
    const char *action;
    const char *rest;
} kinds[] = {
    { ROOT, SIM_URL_ROOT, "", "", "" },
    { "/api/data/v9.2", SIM_URL_ROOT, "", "", "" },
    { ROOT "$metadata", SIM_URL_DOCUMENT, "$metadata", "", "" },
    { ROOT "$batch", SIM_URL_BATCH, "$batch", "", "" },
    { "/api/data/v9.0/%24batch", SIM_URL_BATCH, "$batch", "", "" },
    { "https://org.crm.dynamics.com/api/data/v9.1/$batch", SIM_URL_BATCH, "$batch", "", "" },
    { ROOT "WhoAmI", SIM_URL_WHOAMI, "WhoAmI", "WhoAmI", "" },
    { ROOT "WhoAmI()", SIM_URL_WHOAMI, "WhoAmI", "WhoAmI", "" },
    { ROOT "WhoAmI(x=1)", SIM_URL_FUNCTION, "WhoAmI", "WhoAmI", "" },
    { ROOT "Microsoft.Dynamics.CRM.WhoAmI", SIM_URL_WHOAMI, "Microsoft.Dynamics.CRM.WhoAmI",
      "WhoAmI", "" },
    { ROOT "RetrieveTotalRecordCount(EntityNames=['account'])", SIM_URL_FUNCTION,
      "RetrieveTotalRecordCount", "RetrieveTotalRecordCount", "" },
    { ROOT "accounts", SIM_URL_SET, "accounts", "", "" },
    { ROOT "accounts/", SIM_URL_SET, "accounts", "", "" },
    { "/API/Data/v9.2/accounts", SIM_URL_SET, "accounts", "", "" },
    { "accounts", SIM_URL_SET, "accounts", "", "" },
    { "/accounts", SIM_URL_SET, "accounts", "", "" },
    { ROOT "accounts?$top=1", SIM_URL_SET, "accounts", "", "" },
    { ROOT "accounts/$count", SIM_URL_COUNT, "accounts", "", "$count" },
    { ROOT "accounts(" ID ")", SIM_URL_RECORD, "accounts", "", "" },
    { "accounts(" ID ")", SIM_URL_RECORD, "accounts", "", "" },
    { "http://127.0.0.1:8080/api/data/v9.2/accounts(" ID ")", SIM_URL_RECORD, "accounts", "", "" },
    { ROOT "accounts(" ID ")/name", SIM_URL_PROPERTY, "accounts", "", "name" },
    { ROOT "accounts(" ID ")/primarycontactid/$ref", SIM_URL_PROPERTY, "accounts", "",
      "primarycontactid/$ref" },
    { ROOT "accounts/Microsoft.Dynamics.CRM.CreateMultiple", SIM_URL_ACTION, "accounts",
      "CreateMultiple", "Microsoft.Dynamics.CRM.CreateMultiple" },
    { ROOT "accounts(" ID ")/Microsoft.Dynamics.CRM.Merge()", SIM_URL_ACTION, "accounts", "Merge",
      "Microsoft.Dynamics.CRM.Merge()" },
    { ROOT "EntityDefinitions", SIM_URL_METADATA, "EntityDefinitions", "", "" },
    { ROOT "EntityDefinitions(LogicalName='account')/Attributes", SIM_URL_METADATA,
      "EntityDefinitions", "", "Attributes" },
    { ROOT "GlobalOptionSetDefinitions(Name='x')", SIM_URL_METADATA, "GlobalOptionSetDefinitions",
      "", "" },
    { "$1", SIM_URL_REFERENCE, "$1", "", "" },
    { "/$12/contacts", SIM_URL_REFERENCE, "$12", "", "contacts" },
    { ROOT "$1", SIM_URL_REFERENCE, "$1", "", "" },
    { ROOT "$x", SIM_URL_UNKNOWN, "$x", "", "" },
    { ROOT "$", SIM_URL_UNKNOWN, "$", "", "" },
    { ROOT "$-1", SIM_URL_UNKNOWN, "$-1", "", "" },
    { ROOT "accounts/name", SIM_URL_UNKNOWN, "accounts", "", "name" },
    { ROOT "accounts/CreateMultiple", SIM_URL_UNKNOWN, "accounts", "", "CreateMultiple" },
    { ROOT "accounts/$count/x", SIM_URL_UNKNOWN, "accounts", "", "$count/x" },
    { ROOT "acc.ounts", SIM_URL_UNKNOWN, "acc.ounts", "", "" },
    { "/api/data/v9.3/accounts", SIM_URL_UNKNOWN, "", "", "" },
    { "/api/data/v9.22/accounts", SIM_URL_UNKNOWN, "", "", "" },
    { "/api/data/v8.2/accounts", SIM_URL_UNKNOWN, "", "", "" },
    { "https://org.example/other/accounts", SIM_URL_UNKNOWN, "", "", "" },
    { ROOT "//accounts", SIM_URL_UNKNOWN, "", "", "/accounts" },
};

START_TEST(an_address_is_what_the_table_says)
{
    struct sim_url url;
    ck_assert(sim_url_parse(weir_str_from(kinds[_i].target), &url));
    ck_assert_msg(url.kind == kinds[_i].kind, "%s is %d", kinds[_i].target, url.kind);
    ck_assert(same(url.set, kinds[_i].set));
    ck_assert(same(url.action, kinds[_i].action));
    ck_assert(same(url.rest, kinds[_i].rest));
    sim_url_release(&url);
}
END_TEST

/* ---- keys ---- */

static const struct {
    const char *predicate;
    const char *names;  /* joined by | */
    const char *values; /* likewise, 'x' if it was quoted */
} keys[] = {
    { ID, "", ID },
    { "'x'", "", "'x'" },
    { "name='x'", "name", "'x'" },
    { "name='O''Brien'", "name", "'O'Brien'" },
    { "name=''", "name", "''" },
    { "name=''''", "name", "'''" },
    { "name='a,b=c(d)'", "name", "'a,b=c(d)'" },
    { "name=%27a%27", "name", "'a'" },
    { "name='a%2Fb'", "name", "'a/b'" },
    { "name='a/b'", "name", "'a/b'" },
    { "name='a+b%20c'", "name", "'a+b c'" },
    { "name='%E2%82%AC'", "name", "'\xe2\x82\xac'" },
    { "k1='v',k2=5", "k1|k2", "'v'|5" },
    { "k1='v', k2 = 5 ", "k1|k2", "'v'|5" },
    { "_primarycontactid_value=" ID ",b=true", "_primarycontactid_value|b", ID "|true" },
    { "d=2024-01-01T00:00:00Z", "d", "2024-01-01T00:00:00Z" },
    { "a=1,b=2,c=3,d=4,e=5,f=6,g=7,h=8", "a|b|c|d|e|f|g|h", "1|2|3|4|5|6|7|8" },
};

START_TEST(a_key_is_read_part_by_part)
{
    char target[400];
    snprintf(target, sizeof(target), "%saccounts(%s)", ROOT, keys[_i].predicate);
    struct sim_url url;
    ck_assert(sim_url_parse(weir_str_from(target), &url));
    ck_assert_int_eq(url.kind, SIM_URL_RECORD);
    struct weir_buf names, values;
    weir_buf_init(&names, 1000);
    weir_buf_init(&values, 1000);
    for (uint32_t i = 0; i < url.key_count; i++) {
        const struct sim_url_key *key = &url.keys[i];
        const char *quote = key->quoted ? "'" : "";
        weir_buf_printf(&names, "%s%.*s", i ? "|" : "", (int)key->name.len, key->name.ptr);
        weir_buf_printf(&values, "%s%s%.*s%s", i ? "|" : "", quote, (int)key->value.len,
                        key->value.ptr, quote);
    }
    ck_assert_str_eq(weir_buf_text(&names), keys[_i].names);
    ck_assert_str_eq(weir_buf_text(&values), keys[_i].values);
    weir_buf_release(&names);
    weir_buf_release(&values);
    sim_url_release(&url);
}
END_TEST

static const struct {
    const char *target;
    enum sim_url_problem problem;
} refused[] = {
    { "accounts()", SIM_URL_BAD_KEY },
    { "accounts(", SIM_URL_BAD_KEY },
    { "accounts(x", SIM_URL_BAD_KEY },
    { "accounts(name=)", SIM_URL_BAD_KEY },
    { "accounts(=1)", SIM_URL_BAD_KEY },
    { "accounts(name='x)", SIM_URL_BAD_KEY },
    { "accounts(name='x''y)", SIM_URL_BAD_KEY },
    { "accounts(name='x'y)", SIM_URL_BAD_KEY },
    { "accounts(a=1,)", SIM_URL_BAD_KEY },
    { "accounts(,a=1)", SIM_URL_BAD_KEY },
    { "accounts(1,2)", SIM_URL_BAD_KEY },
    { "accounts(a=1,2)", SIM_URL_BAD_KEY },
    { "accounts(1,a=2)", SIM_URL_BAD_KEY },
    { "accounts(a=@p)", SIM_URL_BAD_KEY },
    { "accounts(a=1 2)", SIM_URL_BAD_KEY },
    { "accounts(a=(1))", SIM_URL_BAD_KEY },
    { "accounts(a=1,b=2,c=3,d=4,e=5,f=6,g=7,h=8,i=9)", SIM_URL_BAD_KEY },
    { "accounts(name='%zz')", SIM_URL_BAD_ENCODING },
    { "accounts%", SIM_URL_BAD_ENCODING },
    { "accounts%2", SIM_URL_BAD_ENCODING },
    { "accounts%00", SIM_URL_BAD_ENCODING },
    { "accounts%0A", SIM_URL_BAD_ENCODING },
    { "accounts\x01", SIM_URL_BAD_ENCODING },
    { "accounts(name='%FF')", SIM_URL_BAD_ENCODING },
    { "accounts(name='%C0%AF')", SIM_URL_BAD_ENCODING },
    { "accounts(name='%ED%A0%80')", SIM_URL_BAD_ENCODING },
    { "accounts(name='%F4%90%80%80')", SIM_URL_BAD_ENCODING },
    { "accounts(name='%E2%82')", SIM_URL_BAD_ENCODING },
    { "accounts?$filter=%", SIM_URL_BAD_ENCODING },
    { "accounts?$top=1&$top=2", SIM_URL_BAD_QUERY },
    { "accounts?@a=1&@a=2", SIM_URL_BAD_QUERY },
    { "accounts?@a=1&@b=2&@c=3&@d=4&@e=5&@f=6&@g=7&@h=8&@i=9", SIM_URL_BAD_QUERY },
};

START_TEST(what_is_no_address_is_refused_with_400)
{
    struct sim_url url;
    struct sim_answer answer;
    sim_answer_init(&answer);
    ck_assert_msg(!sim_url_parse(weir_str_from(refused[_i].target), &url), "%s",
                  refused[_i].target);
    ck_assert_int_eq(url.problem, refused[_i].problem);
    ck_assert(!sim_url_refuse(&url, &answer));
    ck_assert_int_eq(answer.status, 400);
    ck_assert_ptr_nonnull(strstr(weir_buf_text(&answer.body), "0x80060888"));
    sim_answer_release(&answer);
    sim_url_release(&url);
}
END_TEST

/* ---- the query ---- */

START_TEST(options_are_decoded_and_aliases_kept_as_literals)
{
    struct sim_url url;
    ck_assert(sim_url_parse(
        weir_str_from(ROOT "sdkmessagefilters?%24select=a,b&$filter=x%20eq+@message&"
                           "@message='CreateMultiple'&@table=%27account%27&tag=hello%26&"
                           "partitionid=p1&$skiptoken=%3Ccookie%3E&$count=true&$top=5&"
                           "$orderby=a desc&$expand=b($select=c)&other=1&$strange=2"),
        &url));
    ck_assert(same(url.options[SIM_OPTION_SELECT], "a,b"));
    ck_assert(same(url.options[SIM_OPTION_FILTER], "x eq @message"));
    ck_assert(same(url.options[SIM_OPTION_TAG], "hello&"));
    ck_assert(same(url.options[SIM_OPTION_PARTITION_ID], "p1"));
    ck_assert(same(url.options[SIM_OPTION_SKIPTOKEN], "<cookie>"));
    ck_assert(same(url.options[SIM_OPTION_COUNT], "true"));
    ck_assert(same(url.options[SIM_OPTION_TOP], "5"));
    ck_assert(same(url.options[SIM_OPTION_ORDERBY], "a desc"));
    ck_assert(same(url.options[SIM_OPTION_EXPAND], "b($select=c)"));
    ck_assert_ptr_null(url.options[SIM_OPTION_SKIP].ptr);
    ck_assert(same(sim_url_alias(&url, weir_str_from("@message")), "'CreateMultiple'"));
    ck_assert(same(sim_url_alias(&url, weir_str_from("@table")), "'account'"));
    ck_assert_ptr_null(sim_url_alias(&url, weir_str_from("@other")).ptr);
    ck_assert(same(url.unknown_option, "$strange"));
    sim_url_release(&url);
}
END_TEST

START_TEST(an_empty_option_is_there_and_a_missing_one_is_not)
{
    struct sim_url url;
    ck_assert(sim_url_parse(weir_str_from("accounts?$select=&$filter&&"), &url));
    ck_assert_ptr_nonnull(url.options[SIM_OPTION_SELECT].ptr);
    ck_assert_uint_eq(url.options[SIM_OPTION_SELECT].len, 0);
    ck_assert_ptr_nonnull(url.options[SIM_OPTION_FILTER].ptr);
    ck_assert_ptr_null(url.options[SIM_OPTION_TOP].ptr);
    sim_url_release(&url);
}
END_TEST

/* ---- bounds ---- */

/* A set, then `len` bytes of query. */
static char *long_target(size_t len)
{
    static const char start[] = ROOT "accounts?x=";
    char *text = weir_calloc(len + 1, 1);
    memset(text, 'a', len);
    memcpy(text, start, sizeof(start) - 1);
    return text;
}

static bool outer_is_fine(const char *target)
{
    struct sim_url url;
    struct sim_answer answer;
    sim_answer_init(&answer);
    bool ok = sim_url_parse(weir_str_from(target), &url) &&
              sim_url_check_outer(&url, strlen(target), &answer);
    ck_assert(ok || answer.status == 400 || url.problem != SIM_URL_FINE);
    sim_answer_release(&answer);
    sim_url_release(&url);
    return ok;
}

START_TEST(an_address_ends_at_32_kb_and_inside_a_batch_at_64_kb)
{
    static const struct {
        size_t len;
        bool parses;
        bool outer;
    } sizes[] = {
        { SIM_URL_BYTES_MAX, true, true },
        { SIM_URL_BYTES_MAX + 1, true, false },
        { SIM_URL_BATCH_BYTES_MAX, true, false },
        { SIM_URL_BATCH_BYTES_MAX + 1, false, false },
    };
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        char *target = long_target(sizes[i].len);
        struct sim_url url;
        ck_assert(sim_url_parse(weir_str_from(target), &url) == sizes[i].parses);
        ck_assert(sizes[i].parses || url.problem == SIM_URL_TOO_LONG);
        ck_assert(outer_is_fine(target) == sizes[i].outer);
        sim_url_release(&url);
        free(target);
    }
}
END_TEST

START_TEST(a_segment_has_260_characters_but_not_inside_a_batch)
{
    for (int extra = 0; extra < 2; extra++) {
        char target[1200];
        /* Characters count, not bytes. */
        int used = snprintf(target, sizeof(target), ROOT "accounts(name='");
        for (int i = 0; i < 260 + extra - 16 - 2 + 1; i++)
            used += snprintf(target + used, sizeof(target) - (size_t)used, "\xc3\xa4");
        snprintf(target + used, sizeof(target) - (size_t)used, "')");
        struct sim_url url;
        ck_assert(sim_url_parse(weir_str_from(target), &url));
        ck_assert_uint_eq(url.segment_chars, 260 + extra);
        ck_assert(outer_is_fine(target) == (extra == 0));
        sim_url_release(&url);
    }
}
END_TEST

START_TEST(key_values_with_unsafe_characters_fail_in_the_address_only)
{
    static const char *const unsafe[] = { "%2F", "/", "%3C", "%3E", "*",   "%25",
                                          "%26", ":", "%5C", "%3F", "%2B", "+" };
    for (size_t i = 0; i < sizeof(unsafe) / sizeof(*unsafe); i++) {
        char target[100];
        snprintf(target, sizeof(target), ROOT "accounts(name='a%sb')", unsafe[i]);
        ck_assert_msg(!outer_is_fine(target), "%s", target);
    }
    ck_assert(outer_is_fine(ROOT "accounts(name='a b,c;d-e_f.g~h(i)=$@!''')"));
    ck_assert(outer_is_fine(ROOT "accounts?$filter=name eq 'a/b<c>*%25%26:%5C?'"));
}
END_TEST

/* ---- hostile ---- */

START_TEST(random_bytes_never_break_it)
{
    static const char alphabet[] = "aA1_$/()'=,%2?&@ .:+<#\xc3\xa4";
    struct weir_rng rng;
    weir_rng_init(&rng, (uint64_t)_i, 0);
    for (int round = 0; round < 3000; round++) {
        size_t len = weir_rng_below(&rng, 60);
        char *target = weir_calloc(len + 1, 1);
        for (size_t i = 0; i < len; i++)
            target[i] = alphabet[weir_rng_below(&rng, sizeof(alphabet) - 1)];
        struct sim_url url;
        bool ok = sim_url_parse(weir_str(target, len), &url);
        must(ok == (url.problem == SIM_URL_FINE));
        must(url.key_count <= SIM_URL_KEYS_MAX);
        must(!ok || url.kind != SIM_URL_RECORD || url.key_count > 0);
        sim_url_release(&url);
        free(target);
    }
}
END_TEST

#define COUNT(array) ((int)(sizeof(array) / sizeof(*(array))))

int main(void)
{
    struct suite s = suite_new("sim_url");
    suite_add_loop(&s, "an_address_is_what_the_table_says", an_address_is_what_the_table_says,
                   COUNT(kinds));
    suite_add_loop(&s, "a_key_is_read_part_by_part", a_key_is_read_part_by_part, COUNT(keys));
    suite_add_loop(&s, "what_is_no_address_is_refused_with_400",
                   what_is_no_address_is_refused_with_400, COUNT(refused));
    suite_add(&s, options_are_decoded_and_aliases_kept_as_literals);
    suite_add(&s, an_empty_option_is_there_and_a_missing_one_is_not);
    suite_add(&s, an_address_ends_at_32_kb_and_inside_a_batch_at_64_kb);
    suite_add(&s, a_segment_has_260_characters_but_not_inside_a_batch);
    suite_add(&s, key_values_with_unsafe_characters_fail_in_the_address_only);
    suite_add_loop(&s, "random_bytes_never_break_it", random_bytes_never_break_it, 5);
    return suite_run(&s);
}
