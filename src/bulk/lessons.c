/* SPDX-License-Identifier: MIT */
/* What policies have learned, as notes; see lessons.h. */
#include "bulk/lessons.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/base64url.h"
#include "base/limits.h"
#include "base/mem.h"

#define NAME_MAX_BYTES (sizeof("policy ") + WEIR_CONNECTION_NAME_MAX)

static void name_note(const struct weir_core *core, uint32_t connection, char ret[NAME_MAX_BYTES])
{
    snprintf(ret, NAME_MAX_BYTES, "policy %s", core->connections[connection].name);
}

/* Quotas belong to a user, however a connection is called. */
static uint64_t who(const struct weir_options *settings, uint32_t connection)
{
    const char *id = settings->connections[connection].client_id;
    return id ? weir_str_hash(weir_str_from(id)) : 0;
}

/* --- one -------------------------------------------------------------------------------------- */

bool weir_lesson_print(const struct weir_core *core, const struct weir_options *settings,
                       uint32_t connection, int64_t now_us, int64_t wall_us, struct weir_buf *ret)
{
    unsigned char *bytes = weir_calloc(1, WEIR_LESSON_BYTES_MAX);
    size_t len = weir_core_save(core, connection, now_us, bytes, WEIR_LESSON_BYTES_MAX);
    if (len) {
        weir_buf_printf(ret, "%s %" PRId64 " %016" PRIx64 " ", core->policy->name, wall_us,
                        who(settings, connection));
        weir_base64url_add(ret, bytes, len);
    }
    free(bytes);
    return len > 0;
}

static int64_t age_of(int64_t written_us, int64_t wall_us)
{
    if (written_us <= 0)
        return WEIR_LESSON_AGE_MAX_US;
    int64_t age_us = wall_us > written_us ? wall_us - written_us : 0;
    return age_us < WEIR_LESSON_AGE_MAX_US ? age_us : WEIR_LESSON_AGE_MAX_US;
}

bool weir_lesson_parse(struct weir_core *core, const struct weir_options *settings,
                       uint32_t connection, const char *text, int64_t now_us, int64_t wall_us)
{
    char policy[32];
    int64_t written_us;
    uint64_t id;
    int at = 0;
    if (sscanf(text, "%31s %" SCNd64 " %" SCNx64 " %n", policy, &written_us, &id, &at) != 3 || !at)
        return false;
    if (strcmp(policy, core->policy->name) != 0 || id != who(settings, connection))
        return false;
    struct weir_buf bytes;
    weir_buf_init(&bytes, WEIR_LESSON_BYTES_MAX);
    bool good =
        weir_base64url_decode(&bytes, weir_str_from(text + at)) && !bytes.overflow &&
        weir_core_load(core, connection, bytes.ptr, bytes.len, age_of(written_us, wall_us), now_us);
    weir_buf_release(&bytes);
    return good;
}

/* --- all -------------------------------------------------------------------------------------- */

void weir_lessons_note(const struct weir_core *core, const struct weir_options *settings,
                       struct weir_journal *journal, int64_t now_us, int64_t wall_us)
{
    size_t bytes = 0;
    enum weir_status status = WEIR_OK;
    for (uint32_t i = 0; i < core->count && !status; i++) {
        char name[NAME_MAX_BYTES];
        struct weir_buf text;
        weir_buf_init(&text, 2 * WEIR_LESSON_BYTES_MAX);
        bool some = weir_lesson_print(core, settings, i, now_us, wall_us, &text);
        bytes += text.len;
        name_note(core, i, name);
        struct weir_note note = { weir_str_from(name), weir_str(text.ptr, text.len) };
        if (bytes > WEIR_LESSONS_BYTES_MAX)
            status = WEIR_E_TOO_BIG;
        else if (some)
            status = weir_journal_add_note(journal, &note, NULL, NULL);
        weir_buf_release(&text);
    }
}

void weir_lessons_recall(struct weir_core *core, const struct weir_options *settings,
                         struct weir_journal *journal, int64_t now_us, int64_t wall_us)
{
    if (!core->policy->load)
        return;
    for (uint32_t i = 0; i < core->count; i++) {
        char name[NAME_MAX_BYTES];
        char *text = NULL;
        name_note(core, i, name);
        if (weir_journal_note(journal, name, &text, NULL) == WEIR_OK)
            weir_lesson_parse(core, settings, i, text, now_us, wall_us);
        free(text);
    }
}
