/* SPDX-License-Identifier: MIT */
/* Options on a command line; see args.h. */
#include "args.h"

#include <string.h>

#include "base/error.h"
#include "base/str.h"

const char *args_nearest(const char *typed, const char *const *names, size_t count)
{
    return weir_str_nearest(weir_str_from(typed), names, count);
}

bool arg_is_given(const struct arg *arg)
{
    return (arg->flag && *arg->flag) || (arg->text && *arg->text) ||
           (arg->texts && arg->texts->count > 0);
}

enum weir_status args_refuse(const char *name, const char *text, const char *right,
                             struct weir_error *err)
{
    return weir_fail(err, WEIR_E_INVALID, "%s is \"%.100s\"; it must be %s", name, text, right);
}

static enum weir_status refuse_unknown(const struct arg *args, size_t arg_count,
                                       struct weir_str typed, struct weir_error *err)
{
    const char *names[ARGS_MAX];
    char text[WEIR_STR_WORD_MAX + 1];
    size_t count = arg_count < ARGS_MAX ? arg_count : ARGS_MAX;
    for (size_t i = 0; i < count; i++)
        names[i] = args[i].name;
    size_t len = typed.len < WEIR_STR_WORD_MAX ? typed.len : WEIR_STR_WORD_MAX;
    memcpy(text, typed.ptr, len);
    text[len] = '\0';
    const char *nearest = args_nearest(text, names, count);
    if (nearest)
        return weir_fail(err, WEIR_E_INVALID, "there is no option \"%s\"; did you mean %s?", text,
                         nearest);
    return weir_fail(err, WEIR_E_INVALID, "there is no option \"%s\"", text);
}

static const struct arg *find(const struct arg *args, size_t arg_count, struct weir_str name)
{
    for (size_t i = 0; i < arg_count; i++) {
        if (weir_str_equal(weir_str_from(args[i].name), name))
            return &args[i];
    }
    return NULL;
}

static enum weir_status store(const struct arg *arg, const char *value, struct weir_error *err)
{
    if (arg->texts) {
        if (arg->texts->count == ARG_VALUES_MAX)
            return weir_fail(err, WEIR_E_TOO_BIG, "%s is given more than %d times", arg->name,
                             ARG_VALUES_MAX);
        arg->texts->texts[arg->texts->count++] = value;
        return WEIR_OK;
    }
    bool again = arg->flag ? *arg->flag : *arg->text != NULL;
    if (again)
        return weir_fail(err, WEIR_E_INVALID, "%s is given twice", arg->name);
    if (arg->flag)
        *arg->flag = true;
    else
        *arg->text = value;
    return WEIR_OK;
}

/* One option at argv[*at]; *at moves on to its last word. */
static enum weir_status take(const struct arg *args, size_t arg_count, int argc, char **argv,
                             int *at, struct weir_error *err)
{
    const char *word = argv[*at];
    const char *equals = strchr(word, '=');
    struct weir_str name = weir_str(word, equals ? (size_t)(equals - word) : strlen(word));
    const struct arg *arg = find(args, arg_count, name);
    if (!arg)
        return refuse_unknown(args, arg_count, name, err);
    if (arg->flag) {
        if (equals)
            return weir_fail(err, WEIR_E_INVALID, "%s takes no value", arg->name);
        return store(arg, NULL, err);
    }
    if (equals)
        return store(arg, equals + 1, err);
    if (*at + 1 == argc)
        return weir_fail(err, WEIR_E_INVALID, "%s lacks its value", arg->name);
    return store(arg, argv[++*at], err);
}

enum weir_status args_parse(const struct arg *args, size_t arg_count, int argc, char **argv,
                            int *ret_operands, struct weir_error *err)
{
    int operands = 0;
    bool over = false;
    for (int i = 0; i < argc; i++) {
        bool option = !over && argv[i][0] == '-' && argv[i][1] != '\0';
        if (option && strcmp(argv[i], "--") == 0) {
            over = true;
            continue;
        }
        if (!option) {
            argv[operands++] = argv[i];
            continue;
        }
        enum weir_status status = take(args, arg_count, argc, argv, &i, err);
        if (status)
            return status;
    }
    *ret_operands = operands;
    return WEIR_OK;
}
