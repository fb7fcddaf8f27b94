/* SPDX-License-Identifier: MIT */
/*
 * CreateMultiple of 100 rows through the simulator's Web API, parsed, checked and stored, beside
 * json-c parsing the same bodies in the same run. Prints both in MB/s and their ratio; with an
 * argument, fails if the ratio is below it.
 *
 *     build/release/bench/bench_sim_parse [0.6]
 */
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "sim/service/api.h"

#define ROWS   100
#define BODIES 400
#define ROUNDS 5

static void make_body(struct weir_buf *body, int number)
{
    weir_buf_add_text(body, "{\"Targets\":[");
    for (int row = 0; row < ROWS; row++)
        weir_buf_printf(body,
                        "%s{\"@odata.type\":\"Microsoft.Dynamics.CRM.account\",\"name\":\"Account "
                        "%d of %d\",\"accountnumber\":\"A-%06d-%03d\",\"telephone1\":\"+49 30 "
                        "%07d\",\"description\":\"a line of text that says something\","
                        "\"revenue\":%d.50,\"numberofemployees\":%d,\"donotemail\":%s}",
                        row ? "," : "", row, number, number, row, row * 37, row * 1000, row,
                        row % 2 ? "true" : "false");
    weir_buf_add_text(body, "]}");
}

static double api_s(const struct weir_buf *bodies)
{
    struct sim_api_options options = { .users = 1, .base_url = "http://127.0.0.1", .seed = 1 };
    options.switches.duplicate_status = 412;
    struct sim_api *api;
    struct weir_error err;
    if (sim_api_new(&options, &api, &err)) {
        fprintf(stderr, "%s\n", err.message);
        exit(1);
    }
    struct sim_answer answer;
    sim_answer_init(&answer);
    struct sim_header headers[] = { { weir_str_from("Content-Type"),
                                      weir_str_from("application/json") } };
    int64_t begun_us = weir_clock_now_us();
    for (int i = 0; i < BODIES; i++) {
        struct sim_call call = {
            .method = weir_str_from("POST"),
            .target =
                weir_str_from("/api/data/v9.2/accounts/Microsoft.Dynamics.CRM.CreateMultiple"),
            .headers = headers,
            .header_count = 1,
            .body = weir_str(bodies[i].ptr, bodies[i].len),
            .wall_us = INT64_C(1790000000) * 1000000,
        };
        sim_answer_reset(&answer);
        sim_api_execute(api, &call, NULL, NULL, &answer);
        if (answer.status != 200) {
            fprintf(stderr, "%d %s\n", answer.status, weir_buf_text(&answer.body));
            exit(1);
        }
    }
    double seconds = (double)(weir_clock_now_us() - begun_us) / 1e6;
    sim_answer_release(&answer);
    sim_api_free(api);
    return seconds;
}

static double json_c_s(const struct weir_buf *bodies)
{
    int64_t begun_us = weir_clock_now_us();
    for (int i = 0; i < BODIES; i++)
        json_object_put(json_tokener_parse(bodies[i].ptr));
    return (double)(weir_clock_now_us() - begun_us) / 1e6;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    static struct weir_buf bodies[BODIES];
    double megabytes = 0;
    for (int i = 0; i < BODIES; i++) {
        weir_buf_init(&bodies[i], 1 << 20);
        make_body(&bodies[i], i);
        megabytes += (double)bodies[i].len / 1e6;
    }
    double ratios[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) { /* side by side, so that noise hits both */
        double ours = api_s(bodies);
        double theirs = json_c_s(bodies);
        ratios[i] = theirs / ours;
        printf("parsed and stored %6.1f MB/s   json-c alone %6.1f MB/s   ratio %.2f\n",
               megabytes / ours, megabytes / theirs, ratios[i]);
    }
    qsort(ratios, ROUNDS, sizeof(ratios[0]), by_value);
    printf("median ratio %.2f\n", ratios[ROUNDS / 2]);
    for (int i = 0; i < BODIES; i++)
        weir_buf_release(&bodies[i]);
    return argc > 1 && ratios[ROUNDS / 2] < strtod(argv[1], NULL);
}
