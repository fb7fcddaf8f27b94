#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
A graph of rows: graph.py WEIR WEIR_SIM

Accounts and contacts that refer to each other and to themselves, in random order, with owners and states, in two files.
Their ids are derived from their numbers (--id-from), so that each file can name rows of the other without having seen
it. Each load is killed twice while it runs. Afterwards the simulator holds exactly the graph of the files. It is done
as CSV with the same seed in every run, and as JSON Lines with one that no run had before (WEIR_SEED=N has it again).
"""
import csv
import json
import pathlib
import random
import signal
import sys
import uuid

from campaign import ACCOUNT, Table, fresh_seed, run_tests, seed_of, wait_until, world
from loads import Load, judge_creates, judge_load, judge_rows

CONTACT = Table("contact", "contacts", "contactid", "lastname", "description", None, True)
COUNT = 2500  # of each
KILLS = 2
ACTIVE, INACTIVE = ("0", "1"), ("1", "2")  # state and status
ACCOUNT_COLUMNS = ["accountnumber", "name", "parentaccountid:account(#accountnumber)",
                   "primarycontactid:contact(#externaluseridentifier)", "ownerid", "statecode", "statuscode"]
CONTACT_COLUMNS = ["externaluseridentifier", "lastname", "parentcustomerid:account(#accountnumber)",
                   "weir_reportsto:contact(#externaluseridentifier)", "ownerid", "statecode"]
CONTACT_OF_ACCOUNT = ACCOUNT_COLUMNS[3]


def owners(sim):
    """As cells name them, and as the Web API does."""
    users, teams = (sim.api("GET", f"{name}s?$select={name}id")["value"] for name in ("systemuser", "team"))
    assert users and teams, (users, teams)
    return [("systemuser", row["systemuserid"]) for row in users] + [("team", row["teamid"]) for row in teams]


def make_accounts(chance, people):
    names = [f"A{number:05d}" for number in range(COUNT)]
    rows = []
    for name in names:
        state = chance.choice((ACTIVE, ACTIVE, INACTIVE))
        owner = chance.choice(people)
        parent = chance.choice(names) if chance.random() < 0.8 else ""
        contact = f"C{chance.randrange(COUNT):05d}" if chance.random() < 0.7 else ""
        rows.append([name, f"account {name}", parent, contact, f"{owner[0]}:{owner[1]}", *state])
    chance.shuffle(rows)
    return rows


def make_contacts(chance, people):
    names = [f"C{number:05d}" for number in range(COUNT)]
    rows = []
    for name in names:
        owner = chance.choice(people)
        account = f"A{chance.randrange(COUNT):05d}" if chance.random() < 0.8 else ""
        boss = chance.choice(names) if chance.random() < 0.6 else ""
        rows.append([name, f"contact {name}", account, boss, f"{owner[0]}:{owner[1]}",
                     chance.choice(("0", "0", "1"))])
    chance.shuffle(rows)
    return rows


def write(path, columns, rows):
    with path.open("w", newline="") as file:
        if path.suffix == ".csv":
            csv.writer(file).writerows([columns, *rows])
        else:
            file.writelines(json.dumps(dict(zip(columns, row))) + "\n" for row in rows)


def run_killed(load, chance, path, *more):
    """Begun, killed somewhere while it runs, and once more if it is not over by then, resumed to its end."""
    arguments = [path, "--batch-size", "20", *more]
    for kill in range(KILLS):
        before = load.world.requests()
        run = load.start(*arguments)
        target = before + chance.randint(5, 35)
        wait_until(lambda: load.world.requests() >= target or run.is_over(), "so much has been sent")
        run.kill()
        code = load.finish(run).code
        if kill > 0 and code == 0:
            return  # what the first kill left was done before the next one came
        assert code == -signal.SIGKILL, f"it ended with {code} before kill {kill + 1}"
    result = load.finish(load.start(*arguments))
    assert result.code == 0, result


def ids_of(sim, table, key):
    return {name: row_id for row_id, name in sim.rows(table, [table.id, key])}


def check_contacts(sim, rows, accounts, contacts):
    expected = [(name, last, accounts.get(account), contacts.get(boss), owner.split(":")[1], int(state))
                for name, last, account, boss, owner, state in rows]
    judge_rows(expected, sim.rows(CONTACT, ["externaluseridentifier", "lastname", "_parentcustomerid_value",
                                            "_weir_reportsto_value", "_ownerid_value", "statecode"]))


def check_accounts(sim, rows, accounts, contacts):
    expected = [(number, name, accounts.get(parent), contacts.get(contact), owner.split(":")[1], int(state),
                 int(status)) for number, name, parent, contact, owner, state, status in rows]
    judge_rows(expected, sim.rows(ACCOUNT, ["accountnumber", "name", "_parentaccountid_value",
                                            "_primarycontactid_value", "_ownerid_value", "statecode", "statuscode"]))


def test_rows_with_ids_and_dates_of_their_own_survive_lost_answers(folder):
    """What an answer did not come home for is found again, however old the file says that it is."""
    chance = random.Random(seed_of("dates"))
    path = pathlib.Path(folder) / "accounts.csv"
    rows = [[str(uuid.UUID(int=chance.getrandbits(128), version=4)), f"A{number:05d}", "2019-01-01T00:00:00Z", "1"]
            for number in range(600)]
    write(path, ["accountid", "accountnumber", "createdon", "statecode"], rows)
    with world(connections=3) as sim:
        sim.faults({"kind": "commit_then_silence", "operation": "CreateMultiple", "probability": 0.3})
        load = Load(sim, folder, "job", "create", ACCOUNT)
        load.finish(load.start(path, "--owner", "caller", "--batch-size", "20"))
        assert sim.stats()["faults"]["commit_then_silence"] > 0
        judge_rows([(row_id, number, date, int(state)) for row_id, number, date, state in rows],
                   sim.rows(ACCOUNT, ["accountid", "accountnumber", "createdon", "statecode"]))
        judge_creates(sim, ACCOUNT, len(rows))
        judge_load(load, len(rows), [row[0] for row in rows])


def load_graph(folder, seed, form):
    chance = random.Random(seed)
    accounts, contacts = (pathlib.Path(folder) / f"{name}.{form}" for name in ("accounts", "contacts"))
    with world(connections=3, service_ms=5) as sim:
        people = owners(sim)
        account_rows, contact_rows = make_accounts(chance, people), make_contacts(chance, people)
        write(accounts, ACCOUNT_COLUMNS, account_rows)
        write(contacts, CONTACT_COLUMNS, contact_rows)
        loads = [Load(sim, folder, *words) for words in (
            ("first", "create", ACCOUNT), ("second", "create", CONTACT), ("third", "update", ACCOUNT))]
        run_killed(loads[0], chance, accounts, "--id-from", "accountnumber", "--ignore-columns", CONTACT_OF_ACCOUNT)
        run_killed(loads[1], chance, contacts, "--id-from", "externaluseridentifier")
        others = [c for c in ACCOUNT_COLUMNS if c not in ("accountnumber", CONTACT_OF_ACCOUNT)]
        run_killed(loads[2], chance, accounts, "--id-from", "accountnumber", "--ignore-columns", ",".join(others))
        numbers = ids_of(sim, ACCOUNT, "accountnumber"), ids_of(sim, CONTACT, "externaluseridentifier")
        check_accounts(sim, account_rows, *numbers)
        check_contacts(sim, contact_rows, *numbers)
        judge_creates(sim, ACCOUNT, COUNT)
        judge_creates(sim, CONTACT, COUNT)
        judge_load(loads[0], COUNT, [numbers[0][row[0]] for row in account_rows])
        judge_load(loads[1], COUNT, [numbers[1][row[0]] for row in contact_rows])
        judge_load(loads[2], COUNT)


def test_two_files_that_refer_to_each_other_and_to_themselves(folder):
    load_graph(folder, seed_of("graph"), "csv")


def test_two_files_of_json_lines_that_refer_to_each_other(folder):
    with fresh_seed("json_lines") as seed:
        load_graph(folder, seed, "jsonl")


if __name__ == "__main__":
    run_tests(sys.modules["__main__"], at_once=1)
