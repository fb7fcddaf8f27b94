/* SPDX-License-Identifier: MIT */
/*
 * The environment, in the .NET form: `Dataverse__Pool__MaxPoolSize=8`. Two underscores stand for a
 * colon, case does not matter, and everything is a string.
 */
#include "base/mem.h"
#include "config/config.h"

/* The path of a variable's name. */
static void path_of(struct weir_str name, struct weir_buf *path)
{
    for (size_t i = 0; i < name.len; i++) {
        bool separator = weir_str_starts_nocase(weir_str(name.ptr + i, name.len - i), "__");
        if (separator)
            weir_buf_add_char(path, ':');
        else
            weir_buf_add_char(path, name.ptr[i]);
        i += separator;
    }
}

static enum weir_status read_variable(struct weir_config *config, const char *name,
                                      const char *value, struct weir_error *err)
{
    struct weir_buf path;
    weir_buf_init(&path, strlen(name));
    path_of(weir_str_from(name), &path);
    struct weir_statement statement = {
        .place = { .source = WEIR_SOURCE_ENVIRONMENT, .name = name },
        .path = weir_str(path.ptr, path.len),
        .type = WEIR_JSON_STRING,
        .text = weir_str_from(value),
    };
    enum weir_status status = weir_config_accept(config, &statement, err);
    weir_buf_release(&path);
    return status;
}

enum weir_status weir_config_read_environment(struct weir_config *config,
                                              const char *const *variables, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;
    for (; *variables && status == WEIR_OK; variables++) {
        const char *equals = strchr(*variables, '=');
        if (!equals || !weir_str_starts_nocase(weir_str_from(*variables), WEIR_KEY_ROOT "__"))
            continue;
        char *name = weir_strndup(*variables, (size_t)(equals - *variables));
        status = read_variable(config, name, equals + 1, err);
        free(name);
    }
    return status;
}
