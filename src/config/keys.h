/* SPDX-License-Identifier: MIT */
/*
 * Every setting there is: one table, one row a key.
 *
 * A row says how the key is called, what it may hold, what holds when nothing was said, and where
 * in the options the value goes. Defaults and bounds are written like values, and read by the same
 * code; messages show them as they stand. To add a key, add a row.
 *
 * A *path* is the full name of a key, its segments joined by colons: `Dataverse:Pool:MaxPoolSize`,
 * `Dataverse:Connections:0:Name`. Any thread.
 */
#ifndef WEIR_CONFIG_KEYS_H
#define WEIR_CONFIG_KEYS_H

#include "base/str.h"

/* What the first segment of every path is. */
#define WEIR_KEY_ROOT "Dataverse"

/* Longest name of a key, terminator included. */
#define WEIR_KEY_NAME_MAX 96

enum weir_key_type {
    WEIR_KEY_BOOL,     /* bool */
    WEIR_KEY_INT,      /* int; 0: not set */
    WEIR_KEY_REAL,     /* double */
    WEIR_KEY_DURATION, /* int64_t, microseconds; -1: not set */
    WEIR_KEY_CHOICE,   /* const char *, one of a list */
    WEIR_KEY_TEXT,     /* const char *; NULL: not set */
};

/* What people may see of a value. */
enum weir_key_sight {
    WEIR_SIGHT_ALL = 0,
    WEIR_SIGHT_NO_PASSWORD, /* a URL may have one */
    WEIR_SIGHT_NOTHING,
};

struct weir_key {
    const char *path; /* below the root; `#` stands for the number of a connection */
    enum weir_key_type type;
    size_t offset;              /* in struct weir_options or struct weir_connection_options */
    const char *value;          /* that holds when nothing was said; NULL: none */
    const char *min;            /* of numbers and durations */
    const char *max;            /* the same; of texts the bytes, NULL: WEIR_CONFIG_TEXT_MAX */
    const char *const *choices; /* ends with NULL */
    const char *alias;          /* another name for the last segment; NULL: none */
    enum weir_key_sight sight;
    bool is_name;       /* a text without control characters */
    bool is_credential; /* a connection has at most one */
    bool is_file;    /* the name of one: in a configuration file relative to that file's folder */
    bool is_of_aimd; /* no other policy knows it: whoever sets it and names no policy means Aimd */
};

/* The keys of connections are the last ones of the table. */
#define WEIR_CONNECTION_KEY_COUNT 13
extern const struct weir_key weir_keys[];
extern const size_t weir_key_count;

/* One setting: a key, and for the keys of connections, which connection. */
struct weir_key_ref {
    const struct weir_key *key;
    size_t connection; /* 0 for other keys */
    bool by_alias;     /* the alias was used */
};

/* What stands at a path. */
enum weir_key_shape {
    WEIR_SHAPE_UNKNOWN = 0, /* nothing */
    WEIR_SHAPE_VALUE,       /* a key */
    WEIR_SHAPE_SECTION,     /* an object with keys below it */
    WEIR_SHAPE_LIST,        /* an array: the connections */
    WEIR_SHAPE_TOO_MANY,    /* a connection beyond WEIR_CONNECTIONS_MAX, or below it */
};

/* Case does not matter. *ret is set for WEIR_SHAPE_VALUE only. */
enum weir_key_shape weir_key_look(struct weir_str path, struct weir_key_ref *ret);

/* The key that an unknown path was most probably meant to be; false: none is close. */
bool weir_key_nearest(struct weir_str path, struct weir_key_ref *ret);

/* The path of a setting, by value: `weir_key_name(ref).text`. */
struct weir_key_name {
    char text[WEIR_KEY_NAME_MAX];
};
struct weir_key_name weir_key_name(struct weir_key_ref ref);

/* The key of that path below the root, spelled as in the table; it must be there. */
const struct weir_key *weir_key_named(const char *path);

static inline size_t weir_plain_key_count(void)
{
    return weir_key_count - WEIR_CONNECTION_KEY_COUNT;
}

/* False: the key stands for itself, there is one of it. */
static inline bool weir_key_of_connection(const struct weir_key *key)
{
    return (size_t)(key - weir_keys) >= weir_plain_key_count();
}

#endif
