/* SPDX-License-Identifier: MIT */
/* What is known of the kinds of requests that a job sends; see sizes.h. */
#include "bulk/sizes.h"

#include <stdio.h>
#include <string.h>

static const char *const ways[WEIR_SIZES_WAYS] = { "bulk", "singles" };

void weir_sizes_print(const struct weir_sizes *sizes, char ret[WEIR_SIZES_TEXT_MAX])
{
    size_t used = 0;
    ret[0] = '\0';
    for (int operation = 0; operation < WEIR_SIZES_OPERATIONS; operation++) {
        for (int way = 0; way < WEIR_SIZES_WAYS; way++) {
            char line[WEIR_SIZING_TEXT_MAX];
            if (!weir_sizing_print(&sizes->of[operation][way], line))
                continue;
            used += (size_t)snprintf(ret + used, WEIR_SIZES_TEXT_MAX - used, "%s %s %s\n",
                                     weir_operation_name((enum weir_operation)operation), ways[way],
                                     line);
        }
    }
}

/* Behind "create bulk "; NULL: it is of another kind. */
static const char *rest_of(const char *line, int operation, int way)
{
    char head[32];
    int length = snprintf(head, sizeof(head), "%s %s ",
                          weir_operation_name((enum weir_operation)operation), ways[way]);
    return strncmp(line, head, (size_t)length) == 0 ? line + length : NULL;
}

static void parse_line(struct weir_sizes *sizes, const char *line)
{
    for (int operation = 0; operation < WEIR_SIZES_OPERATIONS; operation++) {
        for (int way = 0; way < WEIR_SIZES_WAYS; way++) {
            const char *rest = rest_of(line, operation, way);
            if (rest)
                weir_sizing_parse(&sizes->of[operation][way], rest);
        }
    }
}

void weir_sizes_parse(struct weir_sizes *sizes, const char *text)
{
    for (const char *line = text; line && *line;) {
        parse_line(sizes, line);
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
}
