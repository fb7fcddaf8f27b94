#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""weir-sim answers WhoAmI without limits at least half as fast as the barest libmicrohttpd server.

    sim_speed.py WEIR_SIM HELLO

Both run at the same time and are loaded in turn; the median of five rounds counts. On a shared machine somebody
else may be busy during one of the two: if five rounds do not show it, five more are made, three times at most.
Also: ten thousand connections are held open, and the next request is still answered.
"""
import json
import os
import re
import resource
import socket
import statistics
import subprocess
import sys
import urllib.parse
import urllib.request

ROUNDS = 5
TRIES = 3
SECONDS = 1
HELD = 10_000


def start(arguments):
    # Meson makes malloc fill what it hands out, to find bugs; here it would be measured.
    environment = {key: value for key, value in os.environ.items() if key != "MALLOC_PERTURB_"}
    process = subprocess.Popen(arguments, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                               stderr=subprocess.DEVNULL)
    match = re.fullmatch(r"listening (\S+)\n", process.stdout.readline())
    return process, match.group(1)


def token(url):
    form = urllib.parse.urlencode({
        "client_id": "app1", "client_secret": "app1~simulated.client-secret",
        "grant_type": "client_credentials", "scope": url + "/.default"}).encode()
    with urllib.request.urlopen(url + "/contoso/oauth2/v2.0/token", form) as answer:
        return json.load(answer)["access_token"]


def load(url, *headers):
    arguments = ["wrk", "-t1", "-c16", f"-d{SECONDS}s", *sum((["-H", h] for h in headers), []), url]
    output = subprocess.run(arguments, check=True, text=True, capture_output=True).stdout
    if "Non-2xx" in output or "Socket errors" in output:
        sys.exit(f"errors under load:\n{output}")
    return float(re.search(r"Requests/sec:\s+([\d.]+)", output).group(1))


def measure(sim_url, bearer, hello_url):
    ours = load(sim_url + "/api/data/v9.2/WhoAmI", f"Authorization: {bearer}")
    bare = load(hello_url + "/")
    print(f"WhoAmI {ours:.0f}/s, hello {bare:.0f}/s, ratio {ours / bare:.2f}")
    return ours / bare


def hold_many(url, bearer):
    parts = urllib.parse.urlsplit(url)
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    held = [socket.create_connection((parts.hostname, parts.port))
            for _ in range(min(HELD, limit - 200))]
    request = urllib.request.Request(url + "/api/data/v9.2/WhoAmI",
                                     headers={"Authorization": bearer})
    with urllib.request.urlopen(request, timeout=30) as answer:
        assert answer.status == 200
    for connection in (held[0], held[len(held) // 2], held[-1]):  # every one of them still works
        connection.settimeout(30)
        connection.sendall(b"GET /sim/stats HTTP/1.1\r\nHost: x\r\n\r\n")
        assert connection.recv(12) == b"HTTP/1.1 200"
    for connection in held:
        connection.close()
    return len(held)


def raise_limit():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    wanted = 25_000 if hard == resource.RLIM_INFINITY else min(25_000, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def main():
    raise_limit()
    sim, sim_url = start([sys.argv[1], "--no-limits", "--users", "1", "--connections-max", "12000"])
    hello, hello_url = start([sys.argv[2]])
    try:
        bearer = "Bearer " + token(sim_url)
        for _ in range(TRIES):
            ratio = statistics.median(measure(sim_url, bearer, hello_url) for _ in range(ROUNDS))
            if ratio >= 0.5:
                break
        held = hold_many(sim_url, bearer)
        print(f"held {held} open connections")
    finally:
        sim.terminate()
        hello.stdin.close()
        sim.wait(30)
        hello.wait(30)
    print(f"median ratio {ratio:.2f}")
    return 0 if ratio >= 0.5 and held >= 9_000 else 1


if __name__ == "__main__":
    sys.exit(main())
