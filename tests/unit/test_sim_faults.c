/* SPDX-License-Identifier: MIT */
/* Faults: what is read, what is refused, and which requests are hit. */
#include "sim/service/faults.h"

#include <stdio.h>

#include "base/clock.h"
#include "support/suite.h"

#define API "/api/data/v9.2/"

static struct sim_faults faults;

static enum weir_status load(const char *list, struct weir_error *err)
{
    struct weir_json *json;
    enum weir_status status = weir_json_parse(weir_str_from(list), &json, err);
    if (status != WEIR_OK)
        return status;
    status = sim_faults_read(&faults, weir_json_root(json), "test", err);
    weir_json_free(json);
    return status;
}

static void must_load(const char *list)
{
    struct weir_error err;
    if (load(list, &err) != WEIR_OK)
        ck_abort_msg("%s: %s", list, err.message);
}

static struct sim_http_request request_of(const char *method, const char *target)
{
    return (struct sim_http_request){ .method = weir_str_from(method),
                                      .target = weir_str_from(target) };
}

static const struct sim_fault_effect *meet(enum sim_fault_stage stage, const char *method,
                                           const char *target, const char *connection)
{
    struct sim_http_request request = request_of(method, target);
    struct sim_occasion occasion = { .request = &request, .connection = connection };
    return sim_faults_decide(&faults, stage, &occasion);
}

static bool hits(const char *method, const char *target)
{
    return meet(SIM_STAGE_INSIDE, method, target, "app1") != NULL;
}

static bool hits_token(enum sim_fault_stage stage)
{
    struct sim_http_request request = request_of("POST", "/contoso/oauth2/v2.0/token");
    struct sim_occasion occasion = { .request = &request, .token = true, .connection = "" };
    return sim_faults_decide(&faults, stage, &occasion) != NULL;
}

/* Which of the first `count` requests are hit, as "..X". */
static const char *pattern(const char *list, int count)
{
    static char text[128];
    must_load(list);
    for (int i = 0; i < count; i++)
        text[i] = hits("GET", API "accounts") ? 'X' : '.';
    text[count] = '\0';
    return text;
}

START_TEST(nth_every_and_count_choose_the_requests_that_they_name)
{
    ck_assert_str_eq(pattern("[{\"kind\":\"stall\"}]", 4), "XXXX");
    ck_assert_str_eq(pattern("[{\"kind\":\"stall\",\"nth\":3}]", 8), "..X.....");
    ck_assert_str_eq(pattern("[{\"kind\":\"stall\",\"every\":3}]", 8), "..X..X..");
    ck_assert_str_eq(pattern("[{\"kind\":\"stall\",\"count\":3}]", 8), "XXX.....");
    ck_assert_str_eq(pattern("[{\"kind\":\"stall\",\"every\":2,\"count\":2}]", 8), ".X.X....");
    ck_assert_str_eq(pattern("[{\"kind\":\"stall\",\"after\":3}]", 8), "...XXXXX");
    ck_assert_str_eq(pattern("[{\"kind\":\"stall\",\"after\":3,\"nth\":2}]", 8), "....X...");
    ck_assert_str_eq(pattern("[{\"kind\":\"stall\",\"after\":1,\"every\":3}]", 8), "...X..X.");
    ck_assert_str_eq(pattern("[{\"kind\":\"stall\",\"probability\":0}]", 8), "........");
    ck_assert_str_eq(pattern("[]", 4), "....");
}
END_TEST

START_TEST(a_probability_is_kept_and_the_same_seed_hits_the_same_requests)
{
    char first[1001];
    char again[1001];
    int hit = 0;
    for (int run = 0; run < 2; run++) {
        sim_faults_init(&faults, 7);
        must_load("[{\"kind\":\"stall\",\"probability\":0.2}]");
        for (int i = 0; i < 1000; i++)
            (run ? again : first)[i] = hits("GET", API "accounts") ? 'X' : '.';
        sim_faults_release(&faults);
    }
    first[1000] = again[1000] = '\0';
    ck_assert_str_eq(first, again);
    for (int i = 0; i < 1000; i++)
        hit += first[i] == 'X';
    ck_assert_int_ge(hit, 150);
    ck_assert_int_le(hit, 250);
}
END_TEST

START_TEST(another_fault_does_not_shift_the_draws_of_the_first)
{
    char alone[201];
    char together[201];
    for (int run = 0; run < 2; run++) {
        sim_faults_init(&faults, 11);
        must_load(run ? "[{\"kind\":\"stall\",\"probability\":0.3},{\"kind\":\"cut\",\"every\":2}]"
                      : "[{\"kind\":\"stall\",\"probability\":0.3}]");
        for (int i = 0; i < 200; i++) {
            const struct sim_fault_effect *effect =
                meet(SIM_STAGE_INSIDE, "GET", API "accounts", "app1");
            (run ? together : alone)[i] = effect && effect->kind == SIM_FAULT_STALL ? 'X' : '.';
        }
        sim_faults_release(&faults);
    }
    alone[200] = together[200] = '\0';
    ck_assert_str_eq(alone, together);
}
END_TEST

START_TEST(the_first_ripe_fault_of_the_list_happens_and_all_look)
{
    must_load("[{\"kind\":\"stall\",\"nth\":2},{\"kind\":\"cut\",\"nth\":2},"
              "{\"kind\":\"deadlock\",\"nth\":3}]");
    ck_assert(!hits("GET", API "accounts"));
    ck_assert_int_eq(meet(SIM_STAGE_INSIDE, "GET", API "accounts", "app1")->kind, SIM_FAULT_STALL);
    ck_assert_int_eq(meet(SIM_STAGE_INSIDE, "GET", API "accounts", "app1")->kind,
                     SIM_FAULT_DEADLOCK);
    ck_assert_uint_eq(faults.counts[SIM_FAULT_STALL], 1);
    ck_assert_uint_eq(faults.counts[SIM_FAULT_CUT], 0);
    ck_assert_uint_eq(faults.counts[SIM_FAULT_DEADLOCK], 1);
}
END_TEST

struct operation_case {
    const char *operation;
    const char *method;
    const char *target;
    bool hit;
};

static const struct operation_case operation_cases[] = {
    { "CreateMultiple", "POST", API "accounts/Microsoft.Dynamics.CRM.CreateMultiple", true },
    { "CreateMultiple", "POST", API "accounts/Microsoft.Dynamics.CRM.UpdateMultiple", false },
    { "CreateMultiple", "POST", API "accounts", false },
    { "WhoAmI", "GET", API "WhoAmI", true },
    { "WhoAmI", "GET", API "WhoAmI()", true },
    { "WhoAmI", "GET", API "WhoAmI?$x=/b", true },
    { "$batch", "POST", API "$batch", true },
    { "$batch", "POST", API "accounts", false },
    { "POST", "POST", API "accounts", true },
    { "POST", "POST", API "$batch", true },
    { "POST", "GET", API "accounts", false },
    { "GET", "GET", API "WhoAmI", true },
    { "DELETE", "DELETE", API "accounts(1)", true },
    { "Create", "POST", API "accounts", true },
    { "Create", "POST", API "accounts/Microsoft.Dynamics.CRM.CreateMultiple", false },
    { "Create", "POST", API "$batch", false },
    { "Upsert", "PATCH", API "accounts(accountnumber='a/b')", true },
    { "Update", "PATCH", API "accounts(1)", false }, /* no If-Match */
    { "Delete", "DELETE", API "accounts(1)", true },
    { "Retrieve", "GET", API "accounts(1)", true },
    { "Retrieve", "GET", API "accounts?$filter=f(x)", false },
    { "RetrieveMultiple", "GET", API "accounts?$filter=f(x)", true },
    { "RetrieveMultiple", "GET", API "WhoAmI", false },
    { "RetrieveMultiple", "GET", API "EntityDefinitions", false },
    { "token", "POST", API "accounts", false },
};

START_TEST(an_operation_is_a_message_a_batch_or_a_method)
{
    const struct operation_case *c = &operation_cases[_i];
    char list[256];
    snprintf(list, sizeof(list), "[{\"kind\":\"stall\",\"operation\":\"%s\"}]", c->operation);
    must_load(list);
    ck_assert_msg(hits(c->method, c->target) == c->hit, "%s %s %s", c->operation, c->method,
                  c->target);
}
END_TEST

START_TEST(an_if_match_makes_a_patch_an_update)
{
    must_load("[{\"kind\":\"stall\",\"operation\":\"Update\"}]");
    struct sim_header header = { weir_str_from("if-match"), weir_str_from("*") };
    struct sim_http_request request = request_of("PATCH", API "accounts(1)");
    request.headers = &header;
    request.header_count = 1;
    struct sim_occasion occasion = { .request = &request, .connection = "app1" };
    ck_assert_ptr_nonnull(sim_faults_decide(&faults, SIM_STAGE_INSIDE, &occasion));
}
END_TEST

START_TEST(a_connection_confines_a_fault_to_one_user)
{
    must_load("[{\"kind\":\"stall\",\"connection\":\"app2\",\"count\":1}]");
    ck_assert_ptr_null(meet(SIM_STAGE_INSIDE, "GET", API "accounts", "app1"));
    ck_assert_ptr_null(meet(SIM_STAGE_INSIDE, "GET", API "accounts", ""));
    ck_assert_ptr_nonnull(meet(SIM_STAGE_INSIDE, "GET", API "accounts", "app2"));
    ck_assert_ptr_null(meet(SIM_STAGE_INSIDE, "GET", API "accounts", "app2"));
}
END_TEST

START_TEST(tokens_are_hit_by_what_can_happen_to_any_transfer_and_by_what_names_them)
{
    must_load("[{\"kind\":\"cut\"}]");
    ck_assert(hits_token(SIM_STAGE_INSIDE));
    must_load("[{\"kind\":\"cut\",\"operation\":\"POST\"}]");
    ck_assert(!hits_token(SIM_STAGE_INSIDE));
    must_load("[{\"kind\":\"deadlock\"}]");
    ck_assert(!hits_token(SIM_STAGE_INSIDE));
    must_load("[{\"kind\":\"unauthorized\"}]");
    ck_assert(!hits_token(SIM_STAGE_DOOR));
    must_load("[{\"kind\":\"unauthorized\",\"operation\":\"token\"}]");
    ck_assert(hits_token(SIM_STAGE_DOOR));
}
END_TEST

START_TEST(each_kind_hits_at_its_own_stage_only)
{
    for (int kind = 0; kind < SIM_FAULT_KINDS; kind++) {
        struct sim_fault_effect effect = { .kind = (enum sim_fault_kind)kind };
        enum sim_fault_stage stage = sim_fault_stage_of(&effect);
        bool head = kind == SIM_FAULT_RESET_BEFORE || kind == SIM_FAULT_RESET_WITHIN;
        bool door = kind == SIM_FAULT_UNAUTHORIZED || kind == SIM_FAULT_THROTTLE;
        ck_assert_int_eq(stage, head ? SIM_STAGE_HEAD : door ? SIM_STAGE_DOOR : SIM_STAGE_INSIDE);
    }
    must_load("[{\"kind\":\"reset_before\"}]");
    ck_assert(!hits("GET", API "accounts"));
    ck_assert_ptr_nonnull(meet(SIM_STAGE_HEAD, "GET", API "accounts", ""));
}
END_TEST

START_TEST(a_throttle_of_a_part_needs_a_batch_and_one_of_a_detail_an_elastic_table)
{
    must_load("[{\"kind\":\"throttle\",\"where\":\"part\",\"index\":1}]");
    ck_assert(!hits("GET", API "accounts"));
    ck_assert(hits("POST", API "$batch"));
    must_load("[{\"kind\":\"throttle\",\"where\":\"detail\"}]");
    ck_assert(sim_faults_ask_elastic(&faults));
    ck_assert(!hits("POST", API "accounts/Microsoft.Dynamics.CRM.CreateMultiple"));
    struct sim_http_request request =
        request_of("POST", API "sensorreadings/Microsoft.Dynamics.CRM.CreateMultiple");
    struct sim_occasion occasion = { &request, false, "app1", true };
    ck_assert_ptr_nonnull(sim_faults_decide(&faults, SIM_STAGE_INSIDE, &occasion));
}
END_TEST

START_TEST(a_bad_row_hits_only_bodies_that_may_hold_it)
{
    must_load("[{\"kind\":\"bad_row\",\"column\":\"name\",\"value\":\"Evil 7\"}]");
    struct sim_http_request request = request_of("POST", API "accounts");
    struct sim_occasion occasion = { .request = &request, .connection = "app1" };
    request.body = weir_str_from("{\"name\":\"Good\"}");
    ck_assert_ptr_null(sim_faults_decide(&faults, SIM_STAGE_INSIDE, &occasion));
    request.body = weir_str_from("{\"name\":\"Evil 7\"}");
    ck_assert_ptr_nonnull(sim_faults_decide(&faults, SIM_STAGE_INSIDE, &occasion));
}
END_TEST

START_TEST(all_parameters_arrive)
{
    must_load(
        "[{\"kind\":\"cut\",\"byte\":17},{\"kind\":\"stall\",\"seconds\":1.5},"
        "{\"kind\":\"server_error\",\"status\":503},"
        "{\"kind\":\"throttle\",\"code\":\"0x80072321\",\"retry_after\":12.5,"
        "\"where\":\"part\",\"index\":4},"
        "{\"kind\":\"throttle\",\"retry_after\":\"date\"},"
        "{\"kind\":\"throttle\",\"retry_after\":\"missing\"},"
        "{\"kind\":\"throttle\",\"retry_after\":\"soon\"},"
        "{\"kind\":\"partial_failure\",\"rows\":[0,5],\"status\":404,\"code\":\"0x80040217\"},"
        "{\"kind\":\"partial_failure\",\"rows\":3},"
        "{\"kind\":\"latency_collapse\"},"
        "{\"kind\":\"latency_collapse\",\"seconds\":2},"
        "{\"kind\":\"plugin_error\",\"code\":\"0x80040265\"},"
        "{\"kind\":\"bad_row\",\"column\":\"revenue\",\"value\":5}]");
    const struct sim_fault *f = faults.list;
    ck_assert_uint_eq(faults.fault_count, 13);
    ck_assert_uint_eq(f[0].effect.byte, 17);
    ck_assert_int_eq(f[1].effect.stall_us, 1500000);
    ck_assert_int_eq(f[2].effect.status, 503);
    ck_assert_str_eq(f[3].effect.code, "0x80072321");
    ck_assert_int_eq(f[3].effect.retry_after_us, 12500000);
    ck_assert_int_eq(f[3].effect.where, SIM_FAULT_IN_PART);
    ck_assert_uint_eq(f[3].effect.index, 4);
    ck_assert_int_eq(f[4].effect.retry, SIM_FAULT_RETRY_DATE);
    ck_assert_int_eq(f[5].effect.retry, SIM_FAULT_RETRY_MISSING);
    ck_assert_int_eq(f[6].effect.retry, SIM_FAULT_RETRY_TEXT);
    ck_assert_str_eq(f[6].effect.retry_text, "soon");
    ck_assert_uint_eq(f[7].effect.row_count, 2);
    ck_assert_uint_eq(f[7].effect.rows[1], 5);
    ck_assert_int_eq(f[7].effect.status, 404);
    ck_assert_uint_eq(f[8].effect.row_count, 3);
    ck_assert_uint_eq(f[8].effect.rows[2], 2);
    ck_assert(f[9].effect.factor == 10);
    ck_assert(f[10].effect.factor == 1);
    ck_assert_str_eq(f[12].effect.value, "5");
}
END_TEST

/* A list, and what its refusal must name. */
static const char *const wrong[][2] = {
    { "{}", "must be an array" },
    { "[5]", "must be an object" },
    { "[{}]", "faults[0].kind is missing" },
    { "[{\"kind\":\"explode\"}]", "faults[0].kind is \"explode\", must be \"reset_before\"" },
    { "[{\"kind\":\"cut\",\"seconds\":1}]", "unknown key \"faults[0].seconds\"" },
    { "[{\"kind\":\"stall\"},{\"kind\":\"cut\",\"bite\":1}]", "unknown key \"faults[1].bite\"" },
    { "[{\"kind\":\"cut\",\"byte\":-1}]", "faults[0].byte is \"-1\", must be an integer from 0" },
    { "[{\"kind\":\"cut\",\"byte\":1.5}]", "faults[0].byte is \"1.5\"" },
    { "[{\"kind\":\"cut\",\"byte\":\"9\"}]", "faults[0].byte is \"9\"" },
    { "[{\"kind\":\"stall\",\"seconds\":90000}]", "must be a number from 0 to 86400" },
    { "[{\"kind\":\"stall\",\"probability\":1.1}]", "must be a number from 0 to 1" },
    { "[{\"kind\":\"stall\",\"nth\":0}]", "faults[0].nth is \"0\", must be an integer from 1" },
    { "[{\"kind\":\"stall\",\"nth\":1,\"every\":2}]", "has both nth and every" },
    { "[{\"kind\":\"stall\",\"after\":0}]", "faults[0].after is \"0\", must be an integer from 1" },
    { "[{\"kind\":\"stall\",\"operation\":\"CreateMany\"}]",
      "faults[0].operation is \"CreateMany\"" },
    { "[{\"kind\":\"stall\",\"connection\":\"\"}]", "faults[0].connection is \"\"" },
    { "[{\"kind\":\"server_error\",\"status\":404}]", "must be an integer from 500 to 599" },
    { "[{\"kind\":\"html_error\",\"status\":500}]", "unknown key \"faults[0].status\"" },
    { "[{\"kind\":\"throttle\",\"code\":\"80072322\"}]", "faults[0].code is \"80072322\"" },
    { "[{\"kind\":\"throttle\",\"code\":\"0x8007232g\"}]", "faults[0].code" },
    { "[{\"kind\":\"throttle\",\"retry_after\":\"a\\nb\"}]", "faults[0].retry_after" },
    { "[{\"kind\":\"throttle\",\"where\":\"there\"}]", "\"answer\", \"part\" or \"detail\"" },
    { "[{\"kind\":\"bad_row\",\"value\":\"x\"}]", "faults[0].column is missing" },
    { "[{\"kind\":\"bad_row\",\"column\":\"x\"}]", "faults[0].value is missing" },
    { "[{\"kind\":\"partial_failure\",\"rows\":[]}]", "faults[0].rows" },
    { "[{\"kind\":\"partial_failure\",\"rows\":[2,1]}]", "faults[0].rows" },
    { "[{\"kind\":\"partial_failure\",\"rows\":1001}]", "faults[0].rows is \"1001\"" },
};

#define WRONG ((int)(sizeof(wrong) / sizeof(wrong[0])))

START_TEST(what_is_wrong_is_named_and_changes_nothing)
{
    struct weir_error err = { .message = "" };
    must_load("[{\"kind\":\"deadlock\"}]");
    ck_assert_int_eq(load(wrong[_i][0], &err), WEIR_E_INVALID);
    ck_assert_msg(strstr(err.message, wrong[_i][1]), "%s\n%s", wrong[_i][0], err.message);
    ck_assert_uint_eq(faults.fault_count, 1);
    ck_assert(hits("GET", API "accounts"));
}
END_TEST

START_TEST(more_faults_than_the_bound_are_refused)
{
    static char list[SIM_FAULTS_MAX * 24 + 64] = "[";
    struct weir_error err;
    for (int i = 0; i < SIM_FAULTS_MAX; i++)
        snprintf(list + strlen(list), 24, "{\"kind\":\"stall\"}%s",
                 i + 1 < SIM_FAULTS_MAX ? "," : "");
    size_t len = strlen(list);
    snprintf(list + len, 8, "]");
    must_load(list);
    snprintf(list + len, 24, ",{\"kind\":\"stall\"}]");
    ck_assert_int_eq(load(list, &err), WEIR_E_INVALID);
}
END_TEST

START_TEST(a_reset_goes_back_to_what_was_kept)
{
    must_load("[{\"kind\":\"stall\",\"nth\":1}]");
    sim_faults_keep(&faults);
    ck_assert(hits("GET", API "accounts"));
    ck_assert(!hits("GET", API "accounts"));
    must_load("[]");
    sim_faults_reset(&faults);
    ck_assert_uint_eq(faults.counts[SIM_FAULT_STALL], 0);
    ck_assert(hits("GET", API "accounts"));
    sim_faults_release(&faults);
    sim_faults_reset(&faults);
    ck_assert(!hits("GET", API "accounts"));
    sim_faults_release(&faults);
}
END_TEST

START_TEST(counts_are_told_for_every_kind)
{
    struct weir_buf json;
    weir_buf_init(&json, 4096);
    must_load("[{\"kind\":\"stall\"}]");
    hits("GET", API "accounts");
    sim_faults_counts_json(&faults, &json);
    ck_assert_ptr_nonnull(strstr(weir_buf_text(&json), "\"stall\":1,"));
    ck_assert_ptr_nonnull(strstr(weir_buf_text(&json), "{\"reset_before\":0,"));
    ck_assert_ptr_nonnull(strstr(weir_buf_text(&json), "\"plugin_error\":0}"));
    weir_buf_release(&json);
    sim_faults_release(&faults);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("sim_faults");
    suite_add(&s, nth_every_and_count_choose_the_requests_that_they_name);
    suite_add(&s, a_probability_is_kept_and_the_same_seed_hits_the_same_requests);
    suite_add(&s, another_fault_does_not_shift_the_draws_of_the_first);
    suite_add(&s, the_first_ripe_fault_of_the_list_happens_and_all_look);
    suite_add_loop(&s, "an_operation_is_a_message_a_batch_or_a_method",
                   an_operation_is_a_message_a_batch_or_a_method,
                   (int)(sizeof(operation_cases) / sizeof(operation_cases[0])));
    suite_add(&s, an_if_match_makes_a_patch_an_update);
    suite_add(&s, a_connection_confines_a_fault_to_one_user);
    suite_add(&s, tokens_are_hit_by_what_can_happen_to_any_transfer_and_by_what_names_them);
    suite_add(&s, each_kind_hits_at_its_own_stage_only);
    suite_add(&s, a_throttle_of_a_part_needs_a_batch_and_one_of_a_detail_an_elastic_table);
    suite_add(&s, a_bad_row_hits_only_bodies_that_may_hold_it);
    suite_add(&s, all_parameters_arrive);
    suite_add_loop(&s, "what_is_wrong_is_named_and_changes_nothing",
                   what_is_wrong_is_named_and_changes_nothing, WRONG);
    suite_add(&s, more_faults_than_the_bound_are_refused);
    suite_add(&s, a_reset_goes_back_to_what_was_kept);
    suite_add(&s, counts_are_told_for_every_kind);
    return suite_run(&s);
}
