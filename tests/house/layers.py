#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which folder may include which, and where the fences of the libraries stand.

    layers.py ROOT         check the tree
    layers.py --self-test  plant each kind of violation in a small tree and see that it is found
"""
import pathlib
import re
import sys
import tempfile

# folder -> the folders it may include, besides itself and the public headers
LAYERS = {
    "src/base": set(),
    "src/throttle": {"base"},
    "src/protocol": {"base"},
    "src/metrics": {"base"},
    "src/config": {"base"},
    "src/records": {"base", "throttle", "protocol", "metrics", "config"},
    "src/pool": {"base", "throttle", "protocol", "metrics", "config"},
    "src/journal": {"base", "throttle", "protocol", "metrics", "config"},
    "src/net": {"base", "throttle", "protocol", "metrics", "config"},
    "src/auth": {"base", "throttle", "protocol", "metrics", "config", "net"},
    "src/client": {"base", "throttle", "protocol", "metrics", "config", "pool", "net", "auth"},
    "src/bulk": {"base", "throttle", "protocol", "metrics", "config", "records", "pool", "journal",
                 "net", "auth", "client"},
    "apps/weir": {"base", "throttle", "protocol", "metrics", "config", "records", "pool", "journal",
                  "net", "auth", "client", "bulk"},
    # The judge shares neither throttle code nor parser with the judged.
    "apps/sim": {"base"},
    "apps/lab": {"base", "metrics", "config", "throttle", "pool", "sim/law"},
}

# header -> where it may be included
FENCES = {
    r"uv\.h": ("src/net/",),
    r"curl/.*": ("src/net/",),
    r"sqlite3\.h": ("src/journal/",),
    r"json-c/.*|json\.h": ("src/base/json.c",),
    r"microhttpd\.h": ("apps/sim/http", "apps/weir/metrics_server.c"),
    r"zlib\.h": ("src/records/",),
    r"openssl/.*": ("src/auth/", "src/records/derived_id.c", "apps/sim/"),
    r"pthread\.h": ("src/base/thread.", "src/pool/blocking.c", "src/client/", "src/bulk/",
                    "src/journal/", "src/net/", "apps/"),
}

# call -> the only files that may make it, and why not elsewhere
CALLS = {
    r"\b(clock_gettime|gettimeofday|time\s*\(\s*(NULL|0|&))": ("src/base/clock.c",),
    r"\b(getrandom|random|rand|srand|drand48)\s*\(": ("src/base/rng.c",),
    r"\b(sleep|usleep|nanosleep)\s*\(": (),
    r"\b(strcpy|strcat|sprintf|vsprintf|gets|strtok|atoi|atol|atof|alloca)\s*\(": (),
    r"\b(malloc|calloc|realloc|strdup|strndup)\s*\(": ("src/base/mem.c", "src/base/wiping.c"),
    r"\b(printf|puts|perror|exit)\s*\(": ("apps/",),
}


def folder_of(path):
    """The layer that a file belongs to, or None."""
    parts = path.split("/")
    return "/".join(parts[:2]) if len(parts) > 2 else None


def strip_comments(text):
    text = re.sub(r"/\*.*?\*/", lambda m: "\n" * m.group(0).count("\n"), text, flags=re.S)
    text = re.sub(r"//[^\n]*", "", text)
    return re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', text)


def check_include(path, quoted, name, known):
    layer = folder_of(path)
    if quoted:
        if name.startswith("weir/"):
            return None
        target = name.rsplit("/", 1)[0] if "/" in name else layer.split("/")[1] if layer else ""
        own = layer.split("/")[1] if layer else ""
        if not layer or target == own or target.startswith(own + "/"):
            return None
        if layer not in LAYERS:
            return f"{layer} is not in the list of layers"
        allowed = LAYERS[layer]
        if target not in allowed and not any(target.startswith(a + "/") for a in allowed):
            return f'"{name}" points up or across the layers'
        return None
    for pattern, places in FENCES.items():
        if re.fullmatch(pattern, name) and not path.startswith(places):
            return f"<{name}> stands outside its fence ({', '.join(places)})"
    return None


def check_file(root, path):
    text = (root / path).read_text()
    for number, line in enumerate(text.split("\n"), 1):
        match = re.match(r'\s*#\s*include\s*(["<])([^">]+)[">]', line)
        if match:
            problem = check_include(path, match.group(1) == '"', match.group(2), root)
            if problem:
                yield f"{path}:{number}: {problem}"
    for number, line in enumerate(strip_comments(text).split("\n"), 1):
        for pattern, places in CALLS.items():
            match = re.search(pattern, line)
            if match and not (places and path.startswith(places)):
                yield f"{path}:{number}: {match.group(0).strip()}…) may not be called here"


def check_tree(root):
    problems = []
    for top in ("src", "apps", "include"):
        for path in sorted((root / top).rglob("*.[ch]")):
            problems += check_file(root, path.relative_to(root).as_posix())
    return problems


PLANTED = {
    "src/base/a.c": '#include "throttle/tracker.h"\n',
    "src/throttle/b.c": '#include "pool/core.h"\n',
    "src/config/c.c": '#include "throttle/policy.h"\n',
    "src/pool/d.c": "#include <curl/curl.h>\n",
    "src/pool/e.c": "#include <sqlite3.h>\n",
    "src/config/f.c": "#include <json-c/json.h>\n",
    "src/throttle/g.c": "#include <pthread.h>\n",
    "src/throttle/h.c": "long f(void) { return time(NULL); }\n",
    "src/pool/i.c": "void f(void) { sleep(1); }\n",
    "src/pool/j.c": 'void f(char *t) { sprintf(t, "x"); }\n',
    "apps/sim/k.c": '#include "throttle/signal.h"\n',
    "apps/sim/p.c": '#include "config/url.h"\n',
    "src/nowhere/l.c": '#include "base/str.h"\n',
    "src/pool/m.c": "void *f(void) { return malloc(3); }\n",
    "src/pool/n.c": "int f(void) { return rand(); }\n",
    "src/records/o.c": "#include <openssl/evp.h>\n",
}
FINE = {
    "src/pool/ok.c": '#include <string.h>\n#include "base/str.h"\n#include "pool/core.h"\n'
                     '#include "weir/pool.h"\n/* sleep(1) */\nconst char *s = "rand()";\n',
    "src/records/derived_id.c": "#include <openssl/evp.h>\n",
    "apps/lab/ok.c": '#include "sim/law/law.h"\n#include "throttle/policy.h"\n',
}


def self_test():
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        for path, text in {**PLANTED, **FINE}.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        found = {problem.split(":")[0] for problem in check_tree(root)}
    missed = set(PLANTED) - found
    wrong = found & set(FINE)
    for path in sorted(missed):
        print(f"planted violation not found: {path}")
    for path in sorted(wrong):
        print(f"found a violation where there is none: {path}")
    return 1 if missed or wrong else 0


def main():
    if sys.argv[1] == "--self-test":
        return self_test()
    problems = check_tree(pathlib.Path(sys.argv[1]))
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
