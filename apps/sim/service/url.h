/* SPDX-License-Identifier: MIT */
/*
 * The address of a Web API request, taken apart. Three forms are read:
 *
 *     https://host/api/data/v9.2/accounts(…)?…      absolute
 *     /api/data/v9.2/accounts(…)?…                  as it stands in a request line (9.0 to 9.2)
 *     accounts(…)?…   /accounts(…)   $1/…           relative, in $batch, @odata.id and @odata.bind
 *
 * Texts are percent-decoded and point either into the target that was parsed, which must outlive
 * the struct, or into memory of the struct, which sim_url_release() gives back. Doubled quotes of
 * key values are single here. What entity sets and columns there are is not known here: only their
 * form.
 *
 *     sim_url_parse(target, &url) || sim_url_refuse(&url, answer)  …  sim_url_release(&url)
 */
#ifndef SIM_SERVICE_URL_H
#define SIM_SERVICE_URL_H

#include "base/str.h"
#include "sim/service/http.h"

#define SIM_URL_BYTES_MAX       ((size_t)32 * 1024) /* of a request's own address */
#define SIM_URL_BATCH_BYTES_MAX ((size_t)64 * 1024) /* of one inside a $batch */
#define SIM_URL_SEGMENT_MAX     260                 /* characters between two slashes, likewise */
#define SIM_URL_KEYS_MAX        8
#define SIM_URL_ALIASES_MAX     8

enum sim_url_kind {
    SIM_URL_UNKNOWN = 0, /* nothing that the service has */
    SIM_URL_ROOT,        /* /api/data/v9.2/ */
    SIM_URL_DOCUMENT,    /* $metadata */
    SIM_URL_BATCH,       /* $batch */
    SIM_URL_WHOAMI,      /* WhoAmI, WhoAmI() */
    SIM_URL_FUNCTION,    /* any other unbound function or action: `action`, `arguments` */
    SIM_URL_SET,         /* accounts */
    SIM_URL_COUNT,       /* accounts/$count */
    SIM_URL_RECORD,      /* accounts(key) */
    SIM_URL_PROPERTY, /* accounts(key)/name, …/name/$value, …/primarycontactid/$ref: `rest` */
    SIM_URL_ACTION, /* accounts/Microsoft.Dynamics.CRM.X, accounts(key)/…: `action`, `arguments` */
    SIM_URL_METADATA, /* EntityDefinitions…, GlobalOptionSetDefinitions…: `set`, `keys`, `rest` */
    SIM_URL_REFERENCE, /* $1, $1/primarycontactid: `set` is "$1", `rest` what follows */
};

enum sim_url_problem {
    SIM_URL_FINE = 0,
    SIM_URL_TOO_LONG,     /* longer than even a $batch allows */
    SIM_URL_BAD_ENCODING, /* %zz, control characters, not UTF-8 */
    SIM_URL_BAD_KEY,      /* what stands in parentheses */
    SIM_URL_BAD_QUERY,    /* an option twice, too many aliases */
};

enum sim_url_option {
    SIM_OPTION_SELECT,
    SIM_OPTION_FILTER,
    SIM_OPTION_TOP,
    SIM_OPTION_COUNT,
    SIM_OPTION_EXPAND,
    SIM_OPTION_ORDERBY,
    SIM_OPTION_SKIPTOKEN,
    SIM_OPTION_SKIP,
    SIM_OPTION_APPLY,
    SIM_OPTION_FORMAT,
    SIM_OPTION_FETCHXML, /* fetchXml, savedQuery, userQuery */
    SIM_OPTION_TAG,
    SIM_OPTION_PARTITION_ID,
    SIM_OPTIONS,
};

struct sim_url_key {
    struct weir_str name;  /* empty: the primary key, accounts(00000000-…) */
    struct weir_str value; /* without quotes */
    bool quoted;
};

struct sim_url_alias {
    struct weir_str name;  /* "@message" */
    struct weir_str value; /* the literal as it was written: "'CreateMultiple'" */
};

struct sim_url {
    enum sim_url_kind kind;
    enum sim_url_problem problem;
    bool rooted;               /* it began with /api/data/v9.x */
    bool unsafe_path;          /* its path has a character that the service's front refuses */
    uint32_t segment_chars;    /* of its longest segment, decoded */
    struct weir_str version;   /* "v9.2", also if it was relative */
    struct weir_str path;      /* behind the service root, without query, as it came */
    struct weir_str query;     /* without the question mark, as it came; ptr NULL: none */
    struct weir_str set;       /* "accounts", "EntityDefinitions", "$1" */
    struct weir_str action;    /* "CreateMultiple", without its namespace */
    struct weir_str arguments; /* of a function, between its parentheses */
    struct weir_str rest;      /* path behind set and key, without the first slash */
    struct sim_url_key keys[SIM_URL_KEYS_MAX];
    uint32_t key_count;
    struct weir_str options[SIM_OPTIONS]; /* decoded; ptr NULL: not given */
    struct weir_str unknown_option; /* the first `$…` that is none of these; ptr NULL: none */
    struct sim_url_alias aliases[SIM_URL_ALIASES_MAX];
    uint32_t alias_count;
    char *text; /* decoded bytes; owned */
    size_t text_len;
    size_t text_capacity;
};

/*
 * False: it is no address at all, and `problem` says why. An address that is well-formed but none
 * of the service's own is true with SIM_URL_UNKNOWN. Release it in either case.
 */
bool sim_url_parse(struct weir_str target, struct sim_url *ret);
void sim_url_release(struct sim_url *url);

/* Fill the answer for an address with a problem. Always false, so that refusing is one line. */
bool sim_url_refuse(const struct sim_url *url, struct sim_answer *answer);

/*
 * What only a request's own address is held to, not one inside a $batch or a body: 32 KB, 260
 * characters a segment, and no character in its path that the web server in front takes for an
 * attack
 * (< > * % & : \ ? and, within quotes, / and +; encoded or not). False: the answer is filled.
 */
bool sim_url_check_outer(const struct sim_url *url, size_t target_bytes, struct sim_answer *answer);

/* The literal of a parameter alias ("@message"); ptr NULL: not given. */
struct weir_str sim_url_alias(const struct sim_url *url, struct weir_str name);

/*
 * One key predicate, without its parentheses: "name='O''Brien',_ownerid_value=…" or a bare value.
 * Decoded texts go to `text`, which has room for raw.len bytes. False: malformed, or more than
 * `max`.
 */
bool sim_url_keys_parse(struct weir_str raw, char *text, struct sim_url_key *keys, uint32_t max,
                        uint32_t *ret_count);

#endif
