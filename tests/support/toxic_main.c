/* SPDX-License-Identifier: MIT */
/*
 * The proxy of toxic.h as a program, for campaigns that are not written in C: toxic SERVER_PORT
 *
 * It says "listening PORT", then does what the lines of its standard input say, answers each of
 * them with a line, and ends with its input.
 *
 *     next WORDS    a script for one connection …
 *     go            … those of them to come get the scripts said since the last `go`, one each
 *     set WORDS     one for all others, open ones too
 *     end HOW       every open connection, now
 *     refuse        nobody listens             accept     somebody does again
 *     count         answered by "CONNECTIONS OPEN BYTES_UP BYTES_DOWN"
 *
 * WORDS, none or some of (`up` is towards the server, `down` back):
 *
 *     up-reset=40   up-close=40   up-stall=40     so many bytes pass, then it ends like that
 *     up-rate=1     bytes a second                up-slice=7     bytes of a write at most
 *
 * HOW is reset, close or stall. Whatever is not understood ends it with 99.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "support/toxic.h"

#define LINE_MAX_BYTES 512
#define SCRIPTS_MAX    256

static struct toxic_script scripts[SCRIPTS_MAX];
static size_t script_count;

static void misunderstood(const char *text)
{
    fprintf(stderr, "toxic: \"%s\" is not understood\n", text);
    exit(99);
}

static enum toxic_end end_of(const char *word)
{
    if (strcmp(word, "reset") == 0)
        return TOXIC_RESET;
    if (strcmp(word, "close") == 0)
        return TOXIC_CLOSE;
    if (strcmp(word, "stall") == 0)
        return TOXIC_STALL;
    misunderstood(word);
    return TOXIC_PASS;
}

/* "reset=40" of one way. */
static void read_word(const char *word, struct toxic_way *way)
{
    char name[16] = "";
    const char *value = strchr(word, '=');
    int64_t number = 0;
    if (!value || (size_t)(value - word) >= sizeof(name) ||
        !weir_str_to_int64(weir_str_from(value + 1), &number) || number < 0)
        misunderstood(word);
    memcpy(name, word, (size_t)(value - word));
    if (strcmp(name, "rate") == 0) {
        way->bytes_per_s = (uint32_t)number;
    } else if (strcmp(name, "slice") == 0) {
        way->slice_bytes = (size_t)number;
    } else {
        way->end = end_of(name);
        way->end_at = (uint64_t)number;
    }
}

static struct toxic_script read_script(char *rest)
{
    struct toxic_script script = { 0 };
    for (char *word = strtok(rest, " "); word; word = strtok(NULL, " ")) {
        if (strncmp(word, "up-", 3) == 0)
            read_word(word + 3, &script.up);
        else if (strncmp(word, "down-", 5) == 0)
            read_word(word + 5, &script.down);
        else
            misunderstood(word);
    }
    return script;
}

static void add_script(char *rest)
{
    if (script_count == SCRIPTS_MAX)
        misunderstood("one script more");
    scripts[script_count++] = read_script(rest);
}

static void hand_over(struct toxic *toxic)
{
    toxic_set_list(toxic, scripts, script_count);
    script_count = 0;
}

static void say_counts(struct toxic *toxic)
{
    struct toxic_counts counts = toxic_counts(toxic);
    printf("%llu %llu %llu %llu\n", (unsigned long long)counts.connections,
           (unsigned long long)counts.open, (unsigned long long)counts.bytes_up,
           (unsigned long long)counts.bytes_down);
}

static void obey(struct toxic *toxic, char *line)
{
    char *rest = line + strcspn(line, " ");
    if (*rest)
        *rest++ = '\0';
    if (strcmp(line, "count") == 0) {
        say_counts(toxic);
        return;
    }
    if (strcmp(line, "next") == 0)
        add_script(rest);
    else if (strcmp(line, "go") == 0)
        hand_over(toxic);
    else if (strcmp(line, "set") == 0)
        toxic_set(toxic, read_script(rest));
    else if (strcmp(line, "end") == 0)
        toxic_end(toxic, end_of(rest));
    else if (strcmp(line, "refuse") == 0 || strcmp(line, "accept") == 0)
        toxic_refuse(toxic, *line == 'r');
    else
        misunderstood(line);
    puts("ok");
}

int main(int argc, char **argv)
{
    char line[LINE_MAX_BYTES];
    int64_t port = 0;
    if (argc != 2 || !weir_str_to_int64(weir_str_from(argv[1]), &port) || port < 1 || port > 65535)
        misunderstood(argc > 1 ? argv[1] : "");
    struct toxic *toxic = toxic_new((uint16_t)port);
    printf("listening %u\n", (unsigned)toxic_port(toxic));
    fflush(stdout);
    while (fgets(line, sizeof(line), stdin)) {
        line[strcspn(line, "\n")] = '\0';
        obey(toxic, line);
        fflush(stdout);
    }
    toxic_free(toxic);
    return 0;
}
