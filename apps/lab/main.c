/* SPDX-License-Identifier: MIT */
/*
 * weir-lab: compares control policies in virtual time. The production pool and policies run against
 * the simulator's law; an oracle says what could have been reached.
 *
 *     run       a row for each scenario and policy, or JSON for each seed
 *     compare   tables and plots
 *     draw      scenarios at random
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/error.h"
#include "lab/compare.h"
#include "lab/draw.h"
#include "lab/svg.h"
#include "lab/trace.h"
#include "weir/weir.h"

#define DEFAULT_POLICIES "budget,aimd,dop,fixed:4,aimd-seed"
#define DEFAULT_FOLDER   "scenarios"
#define DEFAULT_DRAWN    60
#define TRACED_MAX       6
#define SEED_MAX         1000000
#define EXIT_USAGE       2
#define EXIT_IO          7

static const char usage[] =
    "usage: weir-lab run SCENARIO... [--policy P,...] [--seeds N] [--jobs N] [--json] [--edge]\n"
    "       weir-lab compare [SCENARIO...] --out DIR [--policy P,...] [--seeds N] [--jobs N]\n"
    "                        [--trace NAME] [--edge]\n"
    "       weir-lab draw --out DIR [--seed N] [--count N]\n"
    "\n"
    "Runs the pool with each policy against the simulator's law in virtual time. A SCENARIO is a\n"
    "file, or a folder with .json files. run prints a row for each scenario and policy, the\n"
    "median over the seeds:\n"
    "  items    requests that were done       of oracle  share of what a compliant oracle does\n"
    "  429s     throttles, and their episodes penalty    share of the time in a Retry-After\n"
    "  jain     fairness over connections     foreign    share of the other client's requests "
    "served\n"
    "compare (of " DEFAULT_FOLDER ", if none is named) writes comparison.md, comparison.json,\n"
    "policies.svg, shares.svg and throttles.svg into DIR, and timeline.svg with --trace.\n"
    "draw writes scenarios that are drawn at random into DIR, to judge a policy by worlds that it\n"
    "was not made for: each differs from a plain one in one to three axes of the format.\n"
    "\n"
    "  --policy P,...  aimd, aimd:conservative, aimd:balanced, aimd:aggressive, budget,\n"
    "                  budget:explore, dop, fixed:N, and peers: retry-after, aimd-seed,\n"
    "                  aimd-tuned, gradient2, aws, azcopy, cosmos, token-bucket; all: all of\n"
    "                  them but aimd:balanced\n"
    "                  (" DEFAULT_POLICIES ").\n"
    "                  With a strategy of the pool behind it: aimd@RoundRobin\n"
    "  --seeds N       1 to 10000 (5)\n"
    "  --jobs N        scenarios at a time, 1 to 64 (1); what is found does not depend on it\n"
    "  --json          one JSON object a line for each scenario, policy and seed\n"
    "  --edge          also what an edge rider does, which no compliant client would: for "
    "information\n"
    "  --out DIR       where compare and draw write; it is made if it is not there\n"
    "  --trace NAME    the scenario whose timeline is drawn, with the first six policies\n"
    "  --seed N        what is drawn: the same seed, the same scenarios, 1 to 1000000 (1)\n"
    "  --count N       how many, 1 to 1000 (60)\n"
    "  --help, --version\n"
    "\n"
    "example: weir-lab run scenarios/slow-8s.json --policy aimd,dop --seeds 20\n";

struct arguments {
    struct lab_request request;
    bool json;
    const char *out;
    const char *trace;
    uint32_t seed;  /* 0: not said */
    uint32_t count; /* 0: not said */
};

/* --- arguments -------------------------------------------------------------------------------- */

static int complain(const char *message)
{
    fprintf(stderr, "weir-lab: %s\n", message);
    return EXIT_USAGE;
}

static int read_policies(const char *list, struct lab_request *request)
{
    request->policy_count = 0;
    if (strcmp(list, "all") == 0)
        list = LAB_POLICIES_ALL;
    for (const char *at = list;; at++) {
        size_t len = strcspn(at, ",");
        struct weir_error err;
        if (request->policy_count == LAB_POLICIES_MAX)
            return complain("--policy takes at most 32 names");
        struct lab_policy *policy = &request->policies[request->policy_count++];
        if (lab_policy_find(weir_str(at, len), policy, &err))
            return complain(err.message);
        at += len;
        if (!*at)
            return 0;
    }
}

static int read_number(const char *option, const char *text, int64_t most, uint32_t *ret)
{
    int64_t number;
    if (!weir_str_to_int64(weir_str_from(text), &number) || number < 1 || number > most) {
        fprintf(stderr, "weir-lab: --%s is \"%s\": it takes a number from 1 to %ld\n", option, text,
                (long)most);
        return EXIT_USAGE;
    }
    *ret = (uint32_t)number;
    return 0;
}

static int take_option(int option, struct arguments *arguments)
{
    switch (option) {
    case 'p':
        return read_policies(optarg, &arguments->request);
    case 's':
        return read_number("seeds", optarg, LAB_SEEDS_MAX, &arguments->request.seeds);
    case 'n':
        return read_number("jobs", optarg, LAB_JOBS_MAX, &arguments->request.jobs);
    case 'j':
        arguments->json = true;
        return 0;
    case 'e':
        arguments->request.edge = true;
        return 0;
    case 'o':
        arguments->out = optarg;
        return 0;
    case 't':
        arguments->trace = optarg;
        return 0;
    case 'd':
        return read_number("seed", optarg, SEED_MAX, &arguments->seed);
    case 'c':
        return read_number("count", optarg, LAB_DRAWN_MAX, &arguments->count);
    default:
        return EXIT_USAGE;
    }
}

/* --- run -------------------------------------------------------------------------------------- */

struct listing {
    const struct lab_files *files;
    const struct arguments *arguments;
};

static void print_seconds(const char *key, double seconds)
{
    if (seconds < 0)
        printf(",\"%s\":null", key);
    else
        printf(",\"%s\":%.6f", key, seconds);
}

static void print_json(const char *scenario, const char *policy, uint32_t seed,
                       const struct lab_outcome *outcome, bool edge)
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
           "\"foreign_served\":%.6f",
           (unsigned long)figures->throttles, (unsigned long)figures->episodes,
           figures->penalty_fraction, figures->jain, figures->foreign_served);
    if (edge)
        printf(",\"edge_items\":%lu", (unsigned long)outcome->edge.items);
    puts("}");
    weir_buf_release(&name);
}

static void print_row(const char *scenario, const char *policy, const struct lab_outcome *outcomes,
                      uint32_t count, bool edge)
{
    double m[LAB_COLUMN_COUNT];
    for (int i = 0; i < LAB_COLUMN_COUNT; i++)
        m[i] = lab_outcome_quantile(outcomes, count, (enum lab_column)i, 0.5);
    printf("%-28s %-18s %8.0f %8.1f%% %7.0f %8.0f %7.1f%% %6.3f %7.1f%%", scenario, policy,
           m[LAB_COLUMN_ITEMS], 100 * m[LAB_COLUMN_SHARE], m[LAB_COLUMN_THROTTLES],
           m[LAB_COLUMN_EPISODES], 100 * m[LAB_COLUMN_PENALTY], m[LAB_COLUMN_JAIN],
           100 * m[LAB_COLUMN_FOREIGN]);
    if (edge)
        printf(" %8.1f%%", 100 * m[LAB_COLUMN_EDGE]);
    putchar('\n');
}

static void print_scenario(void *ctx, uint32_t index, const struct lab_outcome *outcomes)
{
    const struct listing *listing = ctx;
    const struct lab_request *request = &listing->arguments->request;
    const char *name = listing->files->scenarios[index].name;
    for (uint32_t p = 0; p < request->policy_count; p++) {
        const struct lab_outcome *of_it = &outcomes[(size_t)p * request->seeds];
        const char *policy = request->policies[p].name;
        for (uint32_t seed = 0; seed < request->seeds && listing->arguments->json; seed++)
            print_json(name, policy, seed + 1, &of_it[seed], request->edge);
        if (!listing->arguments->json)
            print_row(name, policy, of_it, request->seeds, request->edge);
    }
    fflush(stdout);
}

static enum weir_status run(const struct lab_files *files, const struct arguments *arguments,
                            struct weir_error *err)
{
    struct listing listing = { files, arguments };
    if (!arguments->json)
        printf("%-28s %-18s %8s %9s %7s %8s %8s %6s %8s%s\n", "scenario", "policy", "items",
               "of oracle", "429s", "episodes", "penalty", "jain", "foreign",
               arguments->request.edge ? "      edge" : "");
    fflush(stdout);
    return lab_work(files->scenarios, files->count, &arguments->request, err, print_scenario,
                    &listing);
}

/* --- compare ---------------------------------------------------------------------------------- */

static enum weir_status write_part(const struct lab_comparison *comparison, const char *out,
                                   const char *name,
                                   void (*part)(const struct lab_comparison *, struct weir_buf *),
                                   struct weir_error *err)
{
    struct weir_buf text;
    weir_buf_init(&text, LAB_SVG_BYTES_MAX);
    part(comparison, &text);
    enum weir_status status = lab_file_write(out, name, weir_str(text.ptr, text.len), err);
    weir_buf_release(&text);
    return status;
}

static enum weir_status write_timeline(const struct sim_scenario *scenario,
                                       const struct arguments *arguments, struct weir_error *err)
{
    const struct lab_request *request = &arguments->request;
    uint32_t count = request->policy_count < TRACED_MAX ? request->policy_count : TRACED_MAX;
    struct weir_buf text;
    weir_buf_init(&text, LAB_SVG_BYTES_MAX);
    lab_plot_timeline(scenario, request->policies, count, 1, &text);
    enum weir_status status =
        lab_file_write(arguments->out, "timeline.svg", weir_str(text.ptr, text.len), err);
    weir_buf_release(&text);
    return status;
}

static enum weir_status write_parts(const struct lab_comparison *comparison, const char *out,
                                    struct weir_error *err)
{
    static const struct {
        const char *name;
        void (*part)(const struct lab_comparison *, struct weir_buf *);
    } parts[] = {
        { "comparison.md", lab_comparison_markdown }, { "comparison.json", lab_comparison_json },
        { "policies.svg", lab_plot_policies },        { "shares.svg", lab_plot_shares },
        { "throttles.svg", lab_plot_throttles },
    };
    enum weir_status status = WEIR_OK;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && !status; i++)
        status = write_part(comparison, out, parts[i].name, parts[i].part, err);
    return status;
}

static const struct sim_scenario *find_scenario(const struct lab_files *files, const char *name)
{
    for (uint32_t i = 0; i < files->count; i++) {
        if (strcmp(files->scenarios[i].name, name) == 0)
            return &files->scenarios[i];
    }
    return NULL;
}

static enum weir_status compare(const struct lab_files *files, const struct arguments *arguments,
                                struct weir_error *err)
{
    const struct sim_scenario *traced = NULL;
    if (arguments->trace && !(traced = find_scenario(files, arguments->trace)))
        return weir_fail(err, WEIR_E_INVALID, "--trace is \"%s\": no scenario is called that",
                         arguments->trace);
    if (mkdir(arguments->out, 0777) && errno != EEXIST)
        return weir_fail(err, WEIR_E_IO, "%s cannot be made: %s", arguments->out, strerror(errno));
    struct lab_comparison comparison;
    lab_comparison_init(&comparison, files, &arguments->request);
    enum weir_status status = lab_work(files->scenarios, files->count, &arguments->request, err,
                                       lab_comparison_add, &comparison);
    if (!status)
        status = write_parts(&comparison, arguments->out, err);
    if (!status && traced)
        status = write_timeline(traced, arguments, err);
    lab_comparison_release(&comparison);
    return status;
}

/* --- the command ------------------------------------------------------------------------------ */

static int refuse_verb(const char *verb)
{
    static const char *const verbs[] = { "run", "compare", "draw" };
    const char *nearest = weir_str_nearest(weir_str_from(verb), verbs, 3);
    if (!nearest)
        return complain("say what to do: weir-lab run SCENARIO... (--help shows more)");
    fprintf(stderr, "weir-lab: there is no command \"%s\"; did you mean \"%s\"?\n", verb, nearest);
    return EXIT_USAGE;
}

static int fail(enum weir_status status, const struct weir_error *err)
{
    complain(err->message);
    return status == WEIR_E_INVALID ? EXIT_USAGE : EXIT_IO;
}

static int draw(const struct arguments *arguments)
{
    struct weir_error err;
    if (!arguments->out)
        return complain("draw takes --out DIR, where to write to");
    enum weir_status status =
        lab_draw_files(arguments->seed ? arguments->seed : 1,
                       arguments->count ? arguments->count : DEFAULT_DRAWN, arguments->out, &err);
    return status ? fail(status, &err) : 0;
}

static int act(const char *verb, char **paths, int count, const struct arguments *arguments)
{
    static char *all[] = { (char *)DEFAULT_FOLDER };
    bool comparing = strcmp(verb, "compare") == 0;
    if (strcmp(verb, "draw") == 0)
        return count ? complain("draw takes no scenario file") : draw(arguments);
    if (!comparing && strcmp(verb, "run") != 0)
        return refuse_verb(verb);
    if (arguments->seed || arguments->count)
        return complain("--seed and --count are for draw; --seeds N runs seeds 1 to N");
    if (!comparing && !count)
        return complain("run takes at least one scenario file");
    if (comparing && !arguments->out)
        return complain("compare takes --out DIR, where to write to");
    struct lab_files files;
    struct weir_error err;
    if (lab_files_read(&files, count ? paths : all, count ? count : 1, &err)) {
        lab_files_release(&files);
        return complain(err.message);
    }
    enum weir_status status = (comparing ? compare : run)(&files, arguments, &err);
    lab_files_release(&files);
    return status ? fail(status, &err) : 0;
}

static const struct option options[] = {
    { "policy", required_argument, NULL, 'p' }, { "seeds", required_argument, NULL, 's' },
    { "jobs", required_argument, NULL, 'n' },   { "json", no_argument, NULL, 'j' },
    { "edge", no_argument, NULL, 'e' },         { "out", required_argument, NULL, 'o' },
    { "trace", required_argument, NULL, 't' },  { "seed", required_argument, NULL, 'd' },
    { "count", required_argument, NULL, 'c' },  { "help", no_argument, NULL, 'h' },
    { "version", no_argument, NULL, 'v' },      { NULL, 0, NULL, 0 },
};

#define OPTION_COUNT (sizeof(options) / sizeof(options[0]) - 1)

/* `option` is what getopt_long() says of the word before argv[optind]. */
static int refuse_option(int option, const char *word)
{
    const char *names[OPTION_COUNT];
    struct weir_str name = weir_str(word, strcspn(word, "="));
    while (name.len > 0 && name.ptr[0] == '-')
        name = weir_str(name.ptr + 1, name.len - 1);
    for (size_t i = 0; i < OPTION_COUNT; i++)
        names[i] = options[i].name;
    const char *nearest = weir_str_nearest(name, names, OPTION_COUNT);
    if (option == ':')
        fprintf(stderr, "weir-lab: %s lacks its value\n", word);
    else if (nearest && weir_str_equal(weir_str_from(nearest), name))
        fprintf(stderr, "weir-lab: --%s takes no value\n", nearest);
    else if (nearest)
        fprintf(stderr, "weir-lab: there is no option \"%s\"; did you mean --%s?\n", word, nearest);
    else
        fprintf(stderr, "weir-lab: there is no option \"%s\"; --help shows them\n", word);
    return EXIT_USAGE;
}

int main(int argc, char **argv)
{
    struct arguments arguments = { .request = { .seeds = 5, .jobs = 1 } };
    int status = read_policies(DEFAULT_POLICIES, &arguments.request);
    int option;
    while (!status && (option = getopt_long(argc, argv, ":", options, NULL)) != -1) {
        if (option == '?' || option == ':')
            return refuse_option(option, argv[optind - 1]);
        if (option == 'h') {
            fputs(usage, stdout);
            return 0;
        }
        if (option == 'v') {
            printf("weir-lab %s\n", weir_version());
            return 0;
        }
        status = take_option(option, &arguments);
    }
    if (status)
        return status;
    if (optind >= argc)
        return complain("say what to do: weir-lab run SCENARIO... (--help shows more)");
    return act(argv[optind], argv + optind + 1, argc - optind - 1, &arguments);
}
