#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""weir check TABLE FILE as people use it: dry_run.py WEIR WEIR_SIM"""
import json
import os
import pathlib
import random
import re
import sys
import urllib.request

from harness import run, run_tests, simulator, write_config

WEIR, SIM = map(os.path.abspath, sys.argv[1:3])
OWNER = ["--owner", "caller"]


def weir(folder, command, *arguments, **more):
    environment = {"XDG_STATE_HOME": str(pathlib.Path(folder) / "state")}
    return run([WEIR, command, "--config", str(pathlib.Path(folder) / "appsettings.json"),
                *arguments], env=environment, **more)


def write(folder, name, lines):
    path = pathlib.Path(folder) / name
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return str(path)


def numbered(folder, count, name="rows.csv"):
    return write(folder, name, ["name,accountnumber"] + [f"Account {i},A{i}" for i in range(count)])


def writes(url):
    """How many requests were anything but questions."""
    return json.load(urllib.request.urlopen(f"{url}/sim/ledger?table=account"))["writes"]


def field(result, name):
    """What stands behind the name of a line of the report."""
    found = re.findall(rf"^{re.escape(name)} {{2,}}(.*)$", result.stdout, re.M)
    assert len(found) == 1, (name, result)
    return found[0]


def columns(result):
    lines = result.stdout.splitlines()
    head = next(i for i, line in enumerate(lines) if line.startswith("INPUT "))
    found = {}
    for line in lines[head + 1:]:
        if not line:
            break
        name, column, *takes = re.split(r" {2,}", line)
        found[name] = (column, takes[0] if takes else "")
    return found


def test_a_good_file_is_rehearsed_and_nothing_is_written(folder):
    rows = numbered(folder, 250)
    with simulator(SIM, "--users", "2", "--no-limits") as (url, config):
        write_config(folder, config)
        result = weir(folder, "check", "account", rows, *OWNER)
        assert writes(url) == 0
    assert result.returncode == 0, result
    assert field(result, "environment") == url, result
    assert field(result, "connections").startswith("2 of 2 work, with the same roles; "), result
    assert field(result, "table") == "account, standard", result
    assert field(result, "operation") == "create", result
    assert columns(result) == {"name": ("name", "text, 160 characters"),
                               "accountnumber": ("accountnumber", "text, 20 characters")}, result
    assert field(result, "rows") == "250 read" and field(result, "rejected") == "none", result
    assert field(result, "requests") == "250 rows in 3 requests, by CreateMultiple", result
    assert field(result, "duration").startswith("about 2.1 s, "), result
    assert "assumption" in field(result, "duration"), result
    assert field(result, "entitlement").startswith("250 operations "), result
    assert not (pathlib.Path(folder) / "state").exists()


def test_rows_that_would_be_rejected_are_named_counted_and_exit_1(folder):
    lines = ["name,numberofemployees,industrycode"]
    lines += [f"Account {i},{'many' if i % 2 else i},1" for i in range(60)]
    lines += ["x" * 161 + ",1,1", "short,1,Nonsense"]
    rows = write(folder, "rows.csv", lines)
    with simulator(SIM, "--users", "1", "--no-limits") as (url, config):
        write_config(folder, config)
        result = weir(folder, "check", "account", rows)
        assert writes(url) == 0
    assert result.returncode == 1, result
    assert field(result, "rows") == "62 read" and field(result, "rejected") == "32", result
    reasons = re.findall(r"^ +(\d+)  (\w+): (.*)$", result.stdout, re.M)
    assert [(rows, column) for rows, column, _ in reasons] == [
        ("30", "numberofemployees"), ("1", "name"), ("1", "industrycode")], reasons
    assert '"many"' in reasons[0][2] and '"Nonsense"' in reasons[2][2], reasons
    shown = [line for line in result.stdout.splitlines() if line.startswith(rows + ":")]
    assert len(shown) == 20 and "\nand 12 more\n" in result.stdout, result
    assert shown[0].startswith(f"{rows}:3: row 2: numberofemployees: "), shown


def test_more_wrong_rows_than_are_allowed_are_said(folder):
    rows = pathlib.Path(folder) / "rows.csv"
    rows.write_text("numberofemployees\n" + "x\n" * 120 + "1\n")
    with simulator(SIM, "--users", "1") as (_, config):
        settings = write_config(folder, config)
        words = [WEIR, "check", "account", str(rows), "--config", settings, "--owner", "caller"]
        stops, goes_on = run(words), run([*words, "--max-errors", "120"])
    assert stops.returncode == goes_on.returncode == 1, (stops, goes_on)
    assert "a run would stop, with exit code 3" in stops.stdout, stops
    assert "would stop" not in goes_on.stdout, goes_on


def test_it_rejects_the_rows_that_the_job_rejects(folder):
    rng = random.Random(20261116)
    cells = {
        "name": ["Contoso", "", "y" * 161, "a\u0000b"[:1], "żółć"],
        "numberofemployees": ["7", "-1", "1e3", "", "1000000001", "007"],
        "revenue": ["1.50", "1.505", "abc", "", "-1"],
        "donotemail": ["true", "0", "Do Not Allow", "perhaps", ""],
        "weir_founded": ["2020-02-29", "2021-02-29", "29.02.2020", ""],
        "industrycode": ["7", "Consulting", "99", "consulting", ""],
    }
    lines = [",".join(cells)]
    lines += [",".join(rng.choice(values) for values in cells.values()) for _ in range(400)]
    rows = write(folder, "rows.csv", lines)
    with simulator(SIM, "--users", "1", "--no-limits") as (url, config):
        write_config(folder, config)
        checked = weir(folder, "check", "account", rows)
        loaded = weir(folder, "create", "account", rows, "--max-errors", "400", "--job-dir",
                      folder + "/job")
    errors = [json.loads(line) for line in
              pathlib.Path(folder, "job", "errors.jsonl").read_text().splitlines()]
    assert checked.returncode == 1 and loaded.returncode == 1, (checked, loaded)
    assert 0 < len(errors) < 400, len(errors)
    assert field(checked, "rejected") == str(len(errors)), (checked, len(errors))
    shown = re.findall(r"^.*:\d+: row (\d+): ", checked.stdout, re.M)
    assert shown == [str(error["row"]) for error in errors[:20]], (shown, errors[:20])


def test_what_the_table_has_not_is_exit_2_with_the_nearest_name(folder):
    rows = write(folder, "rows.csv", ["nmae", "x"])
    good = numbered(folder, 1, "good.csv")
    with simulator(SIM, "--users", "2", "--no-limits") as (url, config):
        write_config(folder, config)
        for arguments, says in [
            (["account", rows, *OWNER], '"name"'),
            (["acount", good], 'no table "acount"'),
            (["account", folder + "/nothing.csv"], "nothing.csv"),
            (["account", good], "--owner"),
            (["account", good, "--operation", "update"], "accountid"),
            (["account", good, *OWNER, "--mapping", folder + "/no.json"], "no.json"),
            (["account", good, *OWNER, "--with", "nmae=x"], "nmae"),
            (["account", good, *OWNER, "--timezone", "Europe/Nowhere"], "Europe/Nowhere"),
        ]:
            result = weir(folder, "check", *arguments)
            assert result.returncode == 2 and says in result.stderr, (arguments, result)


def test_every_wrong_word_is_one_sentence_and_exit_2(folder):
    for arguments, says in [
        (["account"], "it takes a table and a file, or neither"),
        (["--owner", "caller"], "--owner is about rows: give a table and a file, too"),
        (["--operation", "create"], "--operation is about rows"),
        (["account", "x.csv", "--operation", "merge"], "create, update, upsert or delete"),
        (["account", "x.csv", "--empty", "none"], "omit, null or reject"),
        (["account", "x.csv", "--operaton", "create"], "did you mean --operation?"),
    ]:
        result = run([WEIR, "check", *arguments], cwd=folder)
        assert result.returncode == 2 and says in result.stderr, (arguments, result)
        assert result.stderr.count("\n") == 1 and result.stdout == "", (arguments, result)
    assert "no option" in run([WEIR, "create", "account", "x.csv", "--operation", "create"]).stderr


def test_repeated_keys_are_counted(folder):
    rows = write(folder, "rows.csv", ["accountnumber,name"]
                 + [f"{'a' if i % 10 else 'A'}{i % 80},Account {i}" for i in range(100)])
    with simulator(SIM, "--users", "1", "--no-limits") as (_, config):
        write_config(folder, config)
        result = weir(folder, "check", "account", rows, "--operation", "upsert", "--key",
                      "accountnumber")
    assert result.returncode == 0, result
    assert field(result, "operation") == "upsert by accountnumber", result
    assert field(result, "repeated keys").startswith(
        "20 rows, the first is row 81 with the key of row 1"), result


def test_it_says_by_which_message_rows_go(folder):
    notes = write(folder, "notes.csv", ["subject"] + ["x"] * 45)
    by_key = numbered(folder, 45)
    with simulator(SIM, "--users", "1", "--no-limits") as (_, config):
        write_config(folder, config)
        single = weir(folder, "check", "annotation", notes)
        key = weir(folder, "check", "account", by_key, "--operation", "update", "--key",
                   "accountnumber", "--yes")
        small = weir(folder, "check", "account", by_key, "--batch-size", "10")
    assert field(single, "requests") == "45 rows in 3 requests, by $batch", single
    assert field(key, "requests") == "45 rows in 3 requests, by $batch", key
    assert field(small, "requests") == "45 rows in 5 requests, by CreateMultiple", small


def test_passes_are_shown_with_what_they_cost(folder):
    rows = write(folder, "rows.csv",
                 ["accountnumber,parentaccountid:account(accountnumber),statecode"]
                 + [f"A{i},{'A0' if i else ''},{'Inactive' if i % 4 == 0 else ''}"
                    for i in range(40)])
    with simulator(SIM, "--users", "1", "--no-limits") as (_, config):
        write_config(folder, config)
        result = weir(folder, "check", "account", rows)
    assert result.returncode == 0, result
    assert field(result, "requests").startswith("40 rows in 1 request, by CreateMultiple"), result
    assert field(result, "then, lookups").startswith("39 rows in 1 request, "), result
    assert field(result, "then, states").startswith("10 rows in 1 request, "), result
    assert field(result, "entitlement").startswith("89 operations"), result
    assert columns(result)["parentaccountid:account(accountnumber)"] == (
        "parentaccountid", "lookup of account by accountnumber"), result


def test_what_bounds_it_is_named(folder):
    rows = numbered(folder, 20000)
    with simulator(SIM, "--users", "1") as (_, config):
        write_config(folder, config)
        parallel = weir(folder, "check", "account", rows)
        rate = weir(folder, "check", "account", rows, "--max-rate", "10")
        one = weir(folder, "check", "account", rows, "--max-parallel", "1")
    assert field(parallel, "duration").startswith("about 1 min 40 s"), parallel
    assert field(parallel, "bound by") == (
        "parallelism: the service recommends 5 requests in flight"), parallel
    assert field(rate, "duration").startswith("about 33 min 20 s"), rate
    assert field(rate, "bound by") == "--max-rate", rate
    assert field(one, "duration").startswith("about 8 min 20 s"), one
    assert field(one, "bound by") == "parallelism, by --max-parallel", one


def test_execution_time_bounds_what_is_big(folder):
    rows = numbered(folder, 300000)
    with simulator(SIM, "--users", "1") as (_, config):
        write_config(folder, config)
        result = weir(folder, "check", "account", rows)
    assert field(result, "requests") == "300,000 rows in 3,000 requests, by CreateMultiple", result
    assert field(result, "duration").startswith("about 26 min 15 s"), result
    assert field(result, "bound by") == (
        "execution time: 1,200 s in any 300 s for each of 1 connection"), result


def test_connections_are_compared(folder):
    rows = numbered(folder, 3)
    scenario = write(folder, "roles.json", [json.dumps({"users": [
        {"name": "app1", "roles": ["Loader", "Reader"]}, {"name": "app2", "roles": ["Reader"]}]})])
    with simulator(SIM, "--users", "2", "--scenario", scenario) as (_, config):
        write_config(folder, config)
        differ = weir(folder, "check", "account", rows, *OWNER)
        config["Dataverse"]["Connections"][1]["ClientSecret"] = "wrong"
        write_config(folder, config)
        broken = weir(folder, "check", "account", rows, *OWNER)
        config["Dataverse"]["Connections"][0]["ClientSecret"] = "wrong"
        write_config(folder, config)
        nobody = weir(folder, "check", "account", rows, *OWNER)
    assert differ.returncode == 0, differ
    assert 'app2: lacks the role "Loader", which app1 has' in differ.stderr, differ
    assert "their roles differ" in field(differ, "connections"), differ
    assert broken.returncode == 4 and "AADSTS7000215" in broken.stderr, broken
    assert field(broken, "connections") == "1 of 2 work", broken
    assert field(broken, "rows") == "3 read", broken
    assert nobody.returncode == 4 and nobody.stdout == "", nobody


def test_rows_may_come_from_standard_input(folder):
    rows = numbered(folder, 5)
    with simulator(SIM, "--users", "1", "--no-limits") as (_, config):
        write_config(folder, config)
        with open(rows) as stream:
            result = weir(folder, "check", "account", "-", stdin=stream)
    assert result.returncode == 0 and field(result, "rows") == "5 read", result
    assert "name" in columns(result), result


def test_a_report_that_nobody_takes_is_exit_7_and_a_service_that_is_gone_10(folder):
    rows = numbered(folder, 5)
    with simulator(SIM, "--users", "1") as (_, config):
        path = write_config(folder, config)
        full = run(["sh", "-c", f"{WEIR} check account {rows} --config {path} > /dev/full"])
    assert full.returncode == 7 and "could not be written" in full.stderr, full
    gone = weir(folder, "check", "account", rows)
    assert gone.returncode == 10 and gone.stdout == "", gone


def test_names_and_cells_cannot_steer_a_terminal(folder):
    rows = write(folder, "rows.csv", ["name,numberofemployees,\x1b[2J", "a,\x1b[31m\u009b,b"])
    with simulator(SIM, "--users", "1", "--no-limits") as (_, config):
        write_config(folder, config)
        result = weir(folder, "check", "account", rows, "--ignore-columns", "\x1b[2J")
    assert result.returncode == 1, result
    assert "\x1b" not in result.stdout + result.stderr and "\u009b" not in result.stdout, result


if __name__ == "__main__":
    run_tests(sys.modules["__main__"])
