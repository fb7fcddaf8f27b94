#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Eight writers at once against weir-sim, with answers that never come and rows that are there already when they
are sent again: the ledger agrees with what the writers know.

    sim_ledger.py WEIR_SIM
"""
import json
import re
import subprocess
import sys
import threading
import urllib.error
import urllib.parse
import urllib.request
import uuid

WRITERS = 8
CALLS = 25
ROWS = 20


def post(url, body, headers):
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer) if answer.status == 200 else None


def token(url, user):
    form = urllib.parse.urlencode({
        "client_id": user, "client_secret": user + "~simulated.client-secret",
        "grant_type": "client_credentials", "scope": url + "/.default"}).encode()
    with urllib.request.urlopen(url + "/contoso/oauth2/v2.0/token", form) as answer:
        return json.load(answer)["access_token"]


def write(url, number, known, lock):
    """Rows with ids of our own; a call without an answer is sent again, as any careful client would."""
    bearer = token(url, f"app{number % 2 + 1}")
    headers = {"Authorization": "Bearer " + bearer, "Content-Type": "application/json"}
    for call in range(CALLS):
        ids = [str(uuid.uuid4()) for _ in range(ROWS)]
        targets = [{"@odata.type": "Microsoft.Dynamics.CRM.account", "accountid": i,
                    "name": f"row {number}-{call}"} for i in ids]
        sent, refused = 0, False
        while True:
            sent += 1
            try:
                post(url + "/api/data/v9.2/accounts/Microsoft.Dynamics.CRM.CreateMultiple",
                     {"Targets": targets}, headers)
                break
            except urllib.error.HTTPError as error:  # the first attempt had been executed
                assert json.load(error)["error"]["code"] == "0x80040237", error
                refused = True
                break
            except OSError:
                continue
        with lock:
            known["ids"].update(ids)
            known["refused"] += refused
            known["again"] += sent - 1


def main():
    process = subprocess.Popen([sys.argv[1], "--no-limits", "--users", "2", "--service-time", "5"],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        url = re.fullmatch(r"listening (\S+)\n", process.stdout.readline()).group(1)
        post(url + "/sim/faults", {"faults": [
            {"kind": "commit_then_silence", "operation": "CreateMultiple", "probability": 0.2},
            {"kind": "reset_after", "operation": "CreateMultiple", "probability": 0.1}]}, {})
        known, lock = {"ids": set(), "refused": 0, "again": 0}, threading.Lock()
        writers = [threading.Thread(target=write, args=(url, n, known, lock))
                   for n in range(WRITERS)]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        with urllib.request.urlopen(url + "/sim/ledger?table=account") as answer:
            ledger = json.load(answer)
        with urllib.request.urlopen(url + "/sim/ledger?table=account&by=name") as answer:
            by_name = json.load(answer)
    finally:
        process.terminate()
        process.wait(30)
    rows = WRITERS * CALLS * ROWS
    print(ledger, by_name, {"refused": known["refused"], "again": known["again"]})
    assert len(known["ids"]) == rows and ledger["rows"] == rows == ledger["distinct"]
    assert ledger["duplicates"] == 0 and ledger["writes"] == rows
    assert ledger["max_writes_per_row"] == 1
    assert by_name["distinct"] == WRITERS * CALLS
    assert by_name["duplicates"] == rows - WRITERS * CALLS
    assert known["again"] > 0 and known["refused"] > 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
