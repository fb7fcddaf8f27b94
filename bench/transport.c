/* SPDX-License-Identifier: MIT */
/*
 * What a request costs: processor time (user and system, of this process) per POST of 17 KB, eight
 * in flight, by weir_transport and by the barest loop of libuv and libcurl that a careful person
 * would write, against the same server, which is a process of its own. Rounds alternate; medians
 * are compared.
 *
 *     build/release/bench/bench_transport [ratio-max]     1: the median ratio is above ratio-max
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bare.h"
#include "net/transport.h"
#include "null.h"

#define BODY_BYTES  17000
#define IN_FLIGHT   8
#define REQUESTS    2000
#define ROUNDS      41
#define TARGET      "/api/data/v9.2/accounts/Microsoft.Dynamics.CRM.CreateMultiple"
#define HEADER_LINE "Content-Type: application/json"

static char body[BODY_BYTES];
static char origin[64];

/* --- the barest loop and its server ----------------------------------------------------------- */

static pid_t start_server(void)
{
    in_port_t port;
    int listener = null_listen(&port);
    snprintf(origin, sizeof(origin), "http://127.0.0.1:%u", port);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        null_serve(listener, &(struct null_options){ 0 });
    }
    close(listener);
    return pid;
}

static void run_bare(long requests)
{
    static const char *const lines[] = { HEADER_LINE, NULL };
    char url[256];
    snprintf(url, sizeof(url), "%s%s", origin, TARGET);
    bare_run(&(struct bare_work){ url, lines, body, BODY_BYTES, IN_FLIGHT, requests });
}

/* --- weir_transport --------------------------------------------------------------------------- */

static struct {
    struct weir_loop *loop;
    struct weir_transport *transport;
    long left;
    long good;
    long wanted;
} ours;

static void ours_done(void *ctx, const struct weir_exchange_answer *got);

static void ours_send(void)
{
    static const char *const headers[] = { HEADER_LINE };
    static const struct weir_str slices[] = { { body, BODY_BYTES } };
    const struct weir_exchange_request request = {
        .method = "POST",
        .target = TARGET,
        .headers = headers,
        .header_count = 1,
        .body = slices,
        .body_count = 1,
    };
    weir_transport_send(ours.transport, &request, ours_done, NULL);
}

static void ours_done(void *ctx, const struct weir_exchange_answer *got)
{
    (void)ctx;
    ours.good += got->ending == WEIR_ENDING_COMPLETE && got->status == 200;
    if (ours.left > 0) {
        ours.left--;
        ours_send();
    }
    if (ours.good == ours.wanted)
        weir_loop_stop(ours.loop);
}

static void run_ours(long requests)
{
    ours.left = requests - IN_FLIGHT;
    ours.good = 0;
    ours.wanted = requests;
    if (weir_loop_new(&ours.loop, NULL) ||
        weir_transport_new(ours.loop, &(struct weir_transport_options){ .origin = origin },
                           &ours.transport, NULL))
        abort();
    for (int i = 0; i < IN_FLIGHT; i++)
        ours_send();
    weir_loop_run(ours.loop);
    weir_transport_free(ours.transport);
    weir_loop_free(ours.loop);
}

/* --- comparing -------------------------------------------------------------------------------- */

static double cpu_us(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static double measure(void (*run)(long requests))
{
    double before_us = cpu_us();
    run(REQUESTS);
    return (cpu_us() - before_us) / REQUESTS;
}

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return left < right ? -1 : left > right;
}

static double median(double *values)
{
    qsort(values, ROUNDS, sizeof(*values), compare);
    return values[ROUNDS / 2];
}

int main(int argc, char **argv)
{
    double bare_us[ROUNDS], ours_us[ROUNDS], ratios[ROUNDS];
    memset(body, 'x', sizeof(body));
    signal(SIGPIPE, SIG_IGN);
    pid_t server = start_server();
    measure(run_bare);
    measure(run_ours);
    for (int i = 0; i < ROUNDS; i++) {
        bare_us[i] = measure(run_bare);
        ours_us[i] = measure(run_ours);
        ratios[i] = ours_us[i] / bare_us[i];
    }
    kill(server, SIGKILL);
    double ratio = median(ratios);
    printf("POST of %d bytes, %d in flight, processor time per request, medians of %d rounds\n",
           BODY_BYTES, IN_FLIGHT, ROUNDS);
    printf("bare libcurl loop  %6.2f us\n", median(bare_us));
    printf("weir_transport     %6.2f us\n", median(ours_us));
    printf("ratio              %6.2f\n", ratio);
    return argc > 1 && ratio > strtod(argv[1], NULL);
}
