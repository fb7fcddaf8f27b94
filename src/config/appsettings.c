/* SPDX-License-Identifier: MIT */
/*
 * The file: an appsettings.json, flattened into statements.
 *
 * As in .NET, an object is a section, an element of an array is a section named by its number, and
 * a key may hold colons (`"Pool:MaxPoolSize": 8`). Whatever is not below `Dataverse` belongs to
 * somebody else and is not looked at.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"

/* Longer paths than this are none that we know. */
#define PATH_BYTES_MAX 1024

static struct weir_place_name file_name(const char *path)
{
    return weir_place_name((struct weir_layer_place){ WEIR_SOURCE_FILE, path, 0 });
}

struct walk {
    struct weir_config *config;
    struct weir_buf path;
    struct weir_error *err;
};

static enum weir_status walk_node(struct walk *w, const struct weir_json_node *node);

static enum weir_status state(struct walk *w, const struct weir_json_node *node)
{
    struct weir_statement statement = {
        .place = { WEIR_SOURCE_FILE, w->config->file_name, node->line },
        .path = weir_str(w->path.ptr, w->path.len),
        .type = node->type,
        .text = node->text,
    };
    return weir_config_accept(w->config, &statement, w->err);
}

/* Go down into one member or element. */
static enum weir_status walk_child(struct walk *w, const struct weir_json_node *node,
                                   struct weir_str segment)
{
    size_t before = w->path.len;
    weir_buf_add_char(&w->path, ':');
    weir_buf_add(&w->path, segment.ptr, segment.len);
    enum weir_status status = walk_node(w, node);
    w->path.len = before;
    return status;
}

static enum weir_status walk_members(struct walk *w, const struct weir_json_node *object)
{
    enum weir_status status = WEIR_OK;
    for (const struct weir_json_node *node = object->first; node && status == WEIR_OK;
         node = node->next)
        status = walk_child(w, node, node->key);
    return status;
}

static enum weir_status walk_elements(struct walk *w, const struct weir_json_node *array)
{
    enum weir_status status = WEIR_OK;
    size_t count = 0;
    for (const struct weir_json_node *node = array->first; node && status == WEIR_OK;
         node = node->next) {
        char number[24];
        int len = snprintf(number, sizeof(number), "%zu", count++);
        if (node->type != WEIR_JSON_NULL && count <= WEIR_CONNECTIONS_MAX)
            weir_layer_reserve(&w->config->layers[WEIR_SOURCE_FILE], count);
        status = walk_child(w, node, weir_str(number, (size_t)len));
    }
    return status;
}

/* Unknown objects are walked too: the key within them makes the better message. */
static enum weir_status walk_node(struct walk *w, const struct weir_json_node *node)
{
    if (w->path.overflow)
        return weir_fail(w->err, WEIR_E_INVALID, "%s, line %u: a key longer than any that is known",
                         file_name(w->config->file_name).text, node->line);
    struct weir_key_ref ref;
    enum weir_key_shape shape = weir_key_look(weir_str(w->path.ptr, w->path.len), &ref);
    bool section = shape == WEIR_SHAPE_SECTION || (shape == WEIR_SHAPE_UNKNOWN && node->count);
    if (section && node->type == WEIR_JSON_OBJECT)
        return walk_members(w, node);
    if (shape == WEIR_SHAPE_LIST && node->type == WEIR_JSON_ARRAY)
        return walk_elements(w, node);
    bool container = shape == WEIR_SHAPE_SECTION || shape == WEIR_SHAPE_LIST;
    if (container && node->type == WEIR_JSON_NULL)
        return WEIR_OK;
    return state(w, node);
}

static bool is_ours(struct weir_str key)
{
    return weir_str_equal_nocase(key, weir_str_from(WEIR_KEY_ROOT)) ||
           weir_str_starts_nocase(key, WEIR_KEY_ROOT ":");
}

static enum weir_status walk_document(struct weir_config *config, const struct weir_json_node *root,
                                      struct weir_error *err)
{
    if (root->type != WEIR_JSON_OBJECT)
        return weir_fail(err, WEIR_E_INVALID, "%s: the document is %s; it must be an object",
                         file_name(config->file_name).text, weir_json_type_name(root->type));
    struct walk w = { .config = config, .err = err };
    weir_buf_init(&w.path, PATH_BYTES_MAX);
    enum weir_status status = WEIR_OK;
    for (const struct weir_json_node *node = root->first; node && status == WEIR_OK;
         node = node->next) {
        if (!is_ours(node->key))
            continue;
        weir_buf_reset(&w.path);
        weir_buf_add(&w.path, node->key.ptr, node->key.len);
        status = walk_node(&w, node);
    }
    weir_buf_release(&w.path);
    return status;
}

enum weir_status weir_config_read_text(struct weir_config *config, const char *origin,
                                       const char *text, size_t len, struct weir_error *err)
{
    struct weir_place_name name = file_name(origin);
    if (config->finished || config->file_name)
        return weir_fail(err, WEIR_E_INVALID, "%s: only one file can be read, and before the end",
                         name.text);
    if (len > (size_t)WEIR_CONFIG_BYTES_MAX)
        return weir_fail(err, WEIR_E_TOO_BIG, "%s: larger than %d bytes", name.text,
                         WEIR_CONFIG_BYTES_MAX);
    config->file_name = weir_strdup(origin);
    struct weir_json *json;
    struct weir_error cause;
    enum weir_status status = weir_json_parse(weir_str(text, len), &json, &cause);
    if (status != WEIR_OK)
        return weir_fail(err, status, "%s, %s", name.text, cause.message);
    status = walk_document(config, weir_json_root(json), err);
    weir_json_free(json);
    return status;
}

/* Read all there is, up to `bytes_max`; -1: errno says why not. */
static ssize_t read_all(int fd, char *bytes, size_t bytes_max)
{
    size_t len = 0;
    while (len < bytes_max) {
        ssize_t got = read(fd, bytes + len, bytes_max - len);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        len += (size_t)got;
    }
    return (ssize_t)len;
}

static enum weir_status fail_errno(const char *path, int code, struct weir_error *err)
{
    struct weir_place_name name = file_name(path);
    if (code == ENOENT || code == ENOTDIR)
        return weir_fail(err, WEIR_E_NOT_FOUND, "%s: there is no such file", name.text);
    if (code == EISDIR)
        return weir_fail(err, WEIR_E_IO, "%s: it is a directory", name.text);
    if (code == EACCES)
        return weir_fail(err, WEIR_E_IO, "%s: there is no permission to read it", name.text);
    errno = code;
    return weir_fail(err, WEIR_E_IO, "%s: cannot be read: %m", name.text);
}

/* A pipe (`<(command)`) is between the two who hold its ends. */
static bool is_shared(int fd)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return true;
    return S_ISREG(info.st_mode) && ((info.st_mode & 077) || info.st_uid != geteuid());
}

enum weir_status weir_config_read_file(struct weir_config *config, const char *path,
                                       struct weir_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail_errno(path, errno, err);
    /* One byte more than there may be, so that too much is noticed. Secrets: never reallocated. */
    char *text = weir_calloc(WEIR_CONFIG_BYTES_MAX + 1, 1);
    ssize_t len = read_all(fd, text, WEIR_CONFIG_BYTES_MAX + 1);
    config->file_shared = is_shared(fd);
    enum weir_status status = len < 0 ? fail_errno(path, errno, err) /* a directory fails here */
                                      : weir_config_read_text(config, path, text, (size_t)len, err);
    close(fd);
    weir_text_wipe(text, WEIR_CONFIG_BYTES_MAX + 1);
    return status;
}
