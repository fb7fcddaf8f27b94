/* SPDX-License-Identifier: MIT */
/* Certificates of the command line; see certificates.h. */
#include "sim/certificates.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"

#define FILE_BYTES_MAX ((size_t)64 * 1024)
#define VALUE_SHOWN    60

/* Cut "app1=FILE" in two. */
static bool parse(const char *text, uint32_t *ret_user, const char **ret_file)
{
    const char *equals = strchr(text, '=');
    int64_t number;
    if (!equals || !equals[1] || strncmp(text, "app", 3) != 0 ||
        !weir_str_to_int64(weir_str(text + 3, (size_t)(equals - text) - 3), &number) ||
        number < 1 || number > WEIR_CONNECTIONS_MAX)
        return false;
    *ret_user = (uint32_t)(number - 1);
    *ret_file = equals + 1;
    return true;
}

bool sim_certificates_well_formed(const char *text)
{
    uint32_t user;
    const char *file;
    return parse(text, &user, &file);
}

static bool read_file(const char *file, struct weir_buf *text)
{
    char chunk[4096];
    ssize_t len;
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    while ((len = read(fd, chunk, sizeof chunk)) > 0 && !text->overflow)
        weir_buf_add(text, chunk, (size_t)len);
    int cause = errno;
    close(fd);
    errno = text->overflow ? EFBIG : cause;
    return len == 0 && !text->overflow;
}

static enum weir_status load(struct sim_tokens *tokens, const char *text, struct weir_error *err)
{
    uint32_t user = 0;
    const char *file = "";
    struct weir_error cause;
    struct weir_buf pem;
    if (!parse(text, &user, &file))
        return weir_fail(err, WEIR_E_INVALID, "--certificate is \"%.*s\", must be appN=FILE",
                         VALUE_SHOWN, text);
    weir_buf_init(&pem, FILE_BYTES_MAX);
    enum weir_status status = WEIR_OK;
    if (!read_file(file, &pem))
        status = weir_fail(&cause, WEIR_E_INVALID, "%s", strerror(errno));
    else
        status = sim_tokens_add_certificate(tokens, user, weir_buf_text(&pem), &cause);
    weir_buf_release(&pem);
    if (status == WEIR_OK)
        return WEIR_OK;
    return weir_fail(err, status, "--certificate is \"%.*s\": %s", VALUE_SHOWN, text,
                     cause.message);
}

enum weir_status sim_certificates_load(struct sim_tokens *tokens, const char *const *texts,
                                       size_t count, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;
    for (size_t i = 0; status == WEIR_OK && i < count; i++)
        status = load(tokens, texts[i], err);
    return status;
}
