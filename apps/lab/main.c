/* SPDX-License-Identifier: MIT */
/*
 * weir-lab: compares control policies in virtual time. The production pool and policies run against
 * the simulator's law; an oracle says what could have been reached.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "lab/oracle.h"
#include "lab/policies.h"
#include "lab/run.h"
#include "weir/weir.h"

#define POLICIES_MAX     32
#define SEEDS_MAX        10000
#define SCENARIO_BYTES   (1024 * 1024)
#define DEFAULT_POLICIES "aimd,dop,fixed:4,aimd-seed"
#define EXIT_USAGE       2

static const char usage[] =
    "usage: weir-lab run SCENARIO.json... [--policy P,...] [--seeds N] [--json]\n"
    "\n"
    "Runs the pool with each policy against the simulator's law in virtual time and prints a row "
    "for\n"
    "each scenario and policy, the median over the seeds:\n"
    "  items    requests that were done       of oracle  share of what a compliant oracle does\n"
    "  429s     throttles, and their episodes penalty    share of the time in a Retry-After\n"
    "  jain     fairness over connections     foreign    share of the other client's requests "
    "served\n"
    "\n"
    "  --policy P,...  aimd, aimd:conservative, aimd:balanced, aimd:aggressive, dop, fixed:N,\n"
    "                  aimd-seed (" DEFAULT_POLICIES "); with a strategy of the\n"
    "                  pool behind it: aimd@RoundRobin, aimd@LeastConnections\n"
    "  --seeds N       1 to 10000 (5)\n"
    "  --json          one JSON object a line for each scenario, policy and seed\n"
    "  --help, --version\n"
    "\n"
    "example: weir-lab run scenarios/slow-8s.json --policy aimd,dop --seeds 20\n";

struct request {
    struct lab_policy policies[POLICIES_MAX];
    uint32_t policy_count;
    uint32_t seeds;
    bool json;
};

/* --- arguments -------------------------------------------------------------------------------- */

static int complain(const char *message)
{
    fprintf(stderr, "weir-lab: %s\n", message);
    return EXIT_USAGE;
}

static int read_policies(const char *list, struct request *request)
{
    request->policy_count = 0;
    for (const char *at = list;; at++) {
        size_t len = strcspn(at, ",");
        struct weir_error err;
        if (request->policy_count == POLICIES_MAX)
            return complain("--policy takes at most 32 names");
        struct lab_policy *policy = &request->policies[request->policy_count++];
        if (lab_policy_find(weir_str(at, len), policy, &err))
            return complain(err.message);
        at += len;
        if (!*at)
            return 0;
    }
}

static int read_seeds(const char *text, struct request *request)
{
    int64_t seeds;
    if (!weir_str_to_int64(weir_str_from(text), &seeds) || seeds < 1 || seeds > SEEDS_MAX) {
        fprintf(stderr, "weir-lab: --seeds is \"%s\": it takes a number from 1 to %d\n", text,
                SEEDS_MAX);
        return EXIT_USAGE;
    }
    request->seeds = (uint32_t)seeds;
    return 0;
}

static enum weir_status read_scenario(const char *path, struct sim_scenario *ret,
                                      struct weir_error *err)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return weir_fail(err, WEIR_E_IO, "%s cannot be opened: %s", path, strerror(errno));
    char *text = weir_calloc(SCENARIO_BYTES + 1, 1);
    size_t len = fread(text, 1, SCENARIO_BYTES + 1, file);
    bool failed = ferror(file) != 0;
    fclose(file);
    enum weir_status status;
    if (failed)
        status = weir_fail(err, WEIR_E_IO, "%s cannot be read", path);
    else if (len > SCENARIO_BYTES)
        status = weir_fail(err, WEIR_E_TOO_BIG, "%s is larger than 1 MiB", path);
    else
        status = sim_scenario_read(ret, weir_str(text, len), path, err);
    free(text);
    return status;
}

/* --- output ----------------------------------------------------------------------------------- */

struct outcome {
    struct lab_figures figures;
    struct lab_oracle oracle;
};

static void print_seconds(const char *key, double seconds)
{
    if (seconds < 0)
        printf(",\"%s\":null", key);
    else
        printf(",\"%s\":%.6f", key, seconds);
}

static void print_json(const char *scenario, const char *policy, uint32_t seed,
                       const struct outcome *outcome)
{
    const struct lab_figures *figures = &outcome->figures;
    struct weir_buf name;
    weir_buf_init(&name, 1024);
    weir_buf_add_json_string(&name, weir_str_from(scenario));
    printf("{\"scenario\":%s,\"policy\":\"%s\",\"seed\":%u,\"items\":%lu,\"oracle_items\":%lu",
           weir_buf_text(&name), policy, seed, (unsigned long)figures->items,
           (unsigned long)outcome->oracle.items);
    print_seconds("makespan_s", figures->makespan_s);
    print_seconds("oracle_makespan_s", outcome->oracle.makespan_s);
    printf(",\"throttles\":%lu,\"episodes\":%lu,\"penalty_fraction\":%.6f,\"jain\":%.6f,"
           "\"foreign_served\":%.6f}\n",
           (unsigned long)figures->throttles, (unsigned long)figures->episodes,
           figures->penalty_fraction, figures->jain, figures->foreign_served);
    weir_buf_release(&name);
}

/* Of a finite job what counts is how long it took, of an endless one how much was done. */
static double share_of_oracle(const struct outcome *outcome)
{
    if (outcome->figures.makespan_s >= 0)
        return outcome->oracle.makespan_s / outcome->figures.makespan_s;
    return outcome->oracle.items ? (double)outcome->figures.items / (double)outcome->oracle.items
                                 : 1;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

enum column {
    COLUMN_ITEMS,
    COLUMN_SHARE,
    COLUMN_THROTTLES,
    COLUMN_EPISODES,
    COLUMN_PENALTY,
    COLUMN_JAIN,
    COLUMN_FOREIGN,
    COLUMN_COUNT
};

static double cell(const struct outcome *outcome, enum column column)
{
    const struct lab_figures *figures = &outcome->figures;
    const double cells[COLUMN_COUNT] = {
        [COLUMN_ITEMS] = (double)figures->items,
        [COLUMN_SHARE] = share_of_oracle(outcome),
        [COLUMN_THROTTLES] = (double)figures->throttles,
        [COLUMN_EPISODES] = (double)figures->episodes,
        [COLUMN_PENALTY] = figures->penalty_fraction,
        [COLUMN_JAIN] = figures->jain,
        [COLUMN_FOREIGN] = figures->foreign_served,
    };
    return cells[column];
}

static double median(const struct outcome *outcomes, uint32_t count, enum column column)
{
    double *values = weir_calloc(count, sizeof(*values));
    for (uint32_t i = 0; i < count; i++)
        values[i] = cell(&outcomes[i], column);
    qsort(values, count, sizeof(*values), by_value);
    double middle = count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
    free(values);
    return middle;
}

static void print_row(const char *scenario, const char *policy, const struct outcome *outcomes,
                      uint32_t count)
{
    double m[COLUMN_COUNT];
    for (int i = 0; i < COLUMN_COUNT; i++)
        m[i] = median(outcomes, count, (enum column)i);
    printf("%-24s %-18s %8.0f %8.1f%% %7.0f %8.0f %7.1f%% %6.3f %7.1f%%\n", scenario, policy,
           m[COLUMN_ITEMS], 100 * m[COLUMN_SHARE], m[COLUMN_THROTTLES], m[COLUMN_EPISODES],
           100 * m[COLUMN_PENALTY], m[COLUMN_JAIN], 100 * m[COLUMN_FOREIGN]);
}

/* --- running ---------------------------------------------------------------------------------- */

static void run_scenario(const struct sim_scenario *scenario, const struct request *request)
{
    struct outcome *outcomes = weir_calloc(request->seeds, sizeof(*outcomes));
    for (uint32_t seed = 0; seed < request->seeds; seed++)
        lab_oracle(scenario, seed + 1, LAB_ORACLE_COMPLIANT, &outcomes[seed].oracle, NULL);
    for (uint32_t p = 0; p < request->policy_count; p++) {
        const struct lab_policy *policy = &request->policies[p];
        for (uint32_t seed = 0; seed < request->seeds; seed++) {
            lab_run(scenario, policy, seed + 1, &outcomes[seed].figures);
            if (request->json)
                print_json(scenario->name, policy->name, seed + 1, &outcomes[seed]);
        }
        if (!request->json)
            print_row(scenario->name, policy->name, outcomes, request->seeds);
    }
    free(outcomes);
}

static int run_files(char **paths, int count, const struct request *request)
{
    struct sim_scenario *scenarios = weir_calloc((size_t)count, sizeof(*scenarios));
    int status = 0;
    for (int i = 0; i < count && !status; i++) { /* all are read before any is run */
        struct weir_error err;
        if (read_scenario(paths[i], &scenarios[i], &err))
            status = complain(err.message);
    }
    if (!status && !request->json)
        printf("%-24s %-18s %8s %9s %7s %8s %8s %6s %8s\n", "scenario", "policy", "items",
               "of oracle", "429s", "episodes", "penalty", "jain", "foreign");
    for (int i = 0; i < count && !status; i++)
        run_scenario(&scenarios[i], request);
    free(scenarios);
    return status;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        { "policy", required_argument, NULL, 'p' }, { "seeds", required_argument, NULL, 's' },
        { "json", no_argument, NULL, 'j' },         { "help", no_argument, NULL, 'h' },
        { "version", no_argument, NULL, 'v' },      { NULL, 0, NULL, 0 },
    };
    struct request request = { .seeds = 5 };
    int status = read_policies(DEFAULT_POLICIES, &request);
    int option;
    while (!status && (option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (option == 'h') {
            fputs(usage, stdout);
            return 0;
        }
        if (option == 'v') {
            printf("weir-lab %s\n", weir_version());
            return 0;
        }
        if (option == 'p')
            status = read_policies(optarg, &request);
        else if (option == 's')
            status = read_seeds(optarg, &request);
        else if (option == 'j')
            request.json = true;
        else
            status = EXIT_USAGE;
    }
    if (status)
        return status;
    if (optind >= argc || strcmp(argv[optind], "run") != 0)
        return complain("say what to do: weir-lab run SCENARIO.json... (--help shows more)");
    if (optind + 1 == argc)
        return complain("run takes at least one scenario file");
    return run_files(argv + optind + 1, argc - optind - 1, &request);
}
