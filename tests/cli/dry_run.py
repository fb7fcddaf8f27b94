#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""weir check TABLE FILE as people use it: dry_run.py WEIR WEIR_SIM"""
import json
import os
import pathlib
import random
import re
import signal
import subprocess
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
    assert field(result, "connections") == "2 of 2 work, with the same roles", result
    assert field(result, "table") == "account, standard", result
    assert field(result, "bulk messages") == (
        "CreateMultiple, UpdateMultiple, UpsertMultiple"), result
    assert field(result, "privileges") == "2 needed: every connection has them", result
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
        (["--report", "x.html"], "--report is about rows"),
        (["--metrics-listen", "127.0.0.1:0"], "--metrics-listen is about rows"),
        (["--max-errors", "1"], "--max-errors is about rows"),
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
    assert field(result, "repeated keys") == (
        "20 rows, the first is row 81 with the key of row 1; they are applied in this order"), result


def test_repeats_that_the_service_refuses_are_counted_as_it_refuses_them(folder):
    rng = random.Random(20261117)
    numbers = ["", "a1", "A1", "a1 ", "b", "B", "c", "d", "e", "ä", "Ä"]
    lines = ["accountid,name,accountnumber"]
    for i in range(60):
        identity = f"11111111-0000-0000-0000-0000000000{rng.randrange(40, 99)}"
        number = rng.choice(numbers) if i % 3 else f"N{i}"
        lines.append(f"{identity},Account {i},{number}")
    rows = write(folder, "rows.csv", lines)
    with simulator(SIM, "--users", "1", "--no-limits") as (_, config):
        write_config(folder, config)
        checked = weir(folder, "check", "account", rows)
        loaded = weir(folder, "create", "account", rows, "--max-errors", "60", "--max-parallel",
                      "1", "--batch-size", "1", "--job-dir", folder + "/job")
        upsert = weir(folder, "check", "account", rows, "--operation", "upsert")
    summary = json.loads(pathlib.Path(folder, "job", "summary.json").read_text())
    assert checked.returncode == 1 and loaded.returncode == 1, (checked, loaded)
    assert 0 < summary["rejected"] < 60, summary
    assert field(checked, "rejected") == (
        f"none before sending, {summary['rejected']} by the service for repeated keys"), checked
    assert "the service refuses the later one" in field(checked, "repeated keys"), checked
    assert " with the accountnumber of row " in checked.stdout, checked
    assert upsert.returncode == 0 and field(upsert, "rejected") == "none", upsert
    assert " with the accountnumber " not in upsert.stdout, upsert


def test_what_the_service_refuses_counts_for_max_errors(folder):
    rows = write(folder, "rows.csv", ["name,accountnumber"] + ["x,A1"] * 5)
    with simulator(SIM, "--users", "1", "--no-limits") as (_, config):
        write_config(folder, config)
        stops = weir(folder, "check", "account", rows, "--max-errors", "3")
        goes_on = weir(folder, "check", "account", rows, "--max-errors", "4")
    assert stops.returncode == goes_on.returncode == 1, (stops, goes_on)
    assert "with exit code 3" in stops.stdout and "exit code 3" not in goes_on.stdout, stops


def test_rows_of_an_elastic_table_replace_each_other(folder):
    identity = "11111111-0000-0000-0000-000000000001"
    rows = write(folder, "rows.csv", ["sensorreadingid,partitionid"] + [f"{identity},p"] * 2)
    with simulator(SIM, "--users", "1", "--no-limits") as (_, config):
        write_config(folder, config)
        result = weir(folder, "check", "sensorreading", rows, *OWNER)
    assert result.returncode == 0, result
    assert field(result, "table") == "sensorreading, elastic", result
    assert "DeleteMultiple" in field(result, "bulk messages"), result
    assert field(result, "repeated keys").endswith("the later one replaces the earlier"), result


def test_it_says_what_happens_to_rows_that_are_there(folder):
    """An upsert cannot tell them apart; an elastic table replaces whole rows."""
    team = "team:22222222-0000-0000-0000-000000000001"
    named = write(folder, "named.csv", ["sensorreadingid,partitionid", "11111111-0000-0000-0000-000000000001,p"])
    made = write(folder, "made.csv", ["partitionid", "p"])
    rows = numbered(folder, 3)
    with simulator(SIM, "--users", "1", "--no-limits") as (_, config):
        write_config(folder, config)
        owned = weir(folder, "check", "account", rows, "--operation", "upsert", "--key", "accountnumber",
                     "--owner", team)
        created = weir(folder, "check", "account", rows, "--owner", team)
        upsert = weir(folder, "check", "sensorreading", named, "--operation", "upsert", *OWNER)
        create = weir(folder, "check", "sensorreading", named, *OWNER)
        fresh = weir(folder, "check", "sensorreading", made, *OWNER)
    assert f"\nowner          every row will belong to {team}, also rows that are there" in owned.stdout, owned
    assert "also rows that are there" not in created.stdout, created
    assert "columns that the file does not have are cleared" in field(upsert, "elastic"), upsert
    assert field(create, "elastic") == "a row whose id is there already is replaced, without an error", create
    assert "is replaced" not in fresh.stdout, fresh


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
    assert field(single, "bulk messages") == "none: rows go one by one, in a $batch", single
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
        parallel = weir(folder, "check", "account", rows, "--policy", "Aimd")
        taken = weir(folder, "check", "account", rows)
        rate = weir(folder, "check", "account", rows, "--max-rate", "10")
        one = weir(folder, "check", "account", rows, "--max-parallel", "1")
        late = weir(folder, "check", "account", rows, "--deadline", "5s")
        early = weir(folder, "check", "account", rows, "--deadline", "1h")
    assert field(parallel, "duration").startswith("about 1 min 40 s"), parallel
    assert field(parallel, "bound by") == (
        "parallelism: the service recommends 5 requests in flight"), parallel
    assert field(taken, "duration").startswith("about 10 s"), taken
    assert field(taken, "bound by") == (
        "parallelism: the service takes 50 requests in flight"), taken
    assert field(rate, "duration").startswith("about 33 min 20 s"), rate
    assert field(rate, "bound by") == "--max-rate", rate
    assert field(one, "duration").startswith("about 8 min 20 s"), one
    assert field(one, "bound by") == "parallelism, by --max-parallel", one
    assert "longer than --deadline" in late.stdout and late.returncode == 0, late
    assert "--deadline" not in early.stdout, early


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


NEEDED = {"create": ["Create", "Read"], "update": ["Write"], "delete": ["Delete"],
          "upsert": ["Create", "Write", "Read"]}
HELD = {"none": [], "read": ["Read"], "write": ["Read", "Create", "Write"],
        "all": ["Read", "Create", "Write", "Delete"]}


def lacking(result, name):
    """The privileges that a connection is said to lack."""
    return re.findall(rf"^{name} may not .* \((prv\w+)\): give one of its security roles this "
                      r"privilege$", result.stderr, re.M)


def test_privileges_that_an_operation_needs_are_named_for_who_lacks_them(folder):
    rows = write(folder, "rows.csv", ["accountid,name", "11111111-0000-0000-0000-000000000001,x"])
    for right, held in HELD.items():
        scenario = write(folder, "users.json", [json.dumps({"users": [
            {"name": "app2", "privileges": {"account": right}}]})])
        with simulator(SIM, "--users", "2", "--no-limits", "--scenario", scenario) as (_, config):
            write_config(folder, config)
            for operation, needed in NEEDED.items():
                owner = OWNER if operation in ("create", "upsert") else []
                result = weir(folder, "check", "account", rows, "--operation", operation, *owner)
                missing = [f"prv{verb}Account" for verb in needed if verb not in held]
                assert lacking(result, "app2") == missing, (right, operation, result)
                assert lacking(result, "app1") == [], result
                assert result.returncode == (4 if missing else 0), (right, operation, result)
                assert field(result, "privileges").startswith(f"{len(needed)} needed: "), result
                assert field(result, "privileges").endswith(
                    "1 of 2 connections has all of them" if missing else
                    "every connection has it" if len(needed) == 1 else
                    "every connection has them"), result


def test_lookups_owners_and_options_need_privileges_of_their_own(folder):
    a_row = "11111111-0000-0000-0000-000000000001"
    rows = write(folder, "rows.csv", [
        "name,primarycontactid,parentaccountid,ownerid,createdon",
        f"x,{a_row},{a_row},systemuser:{a_row},2020-01-01T00:00:00Z"])
    scenario = write(folder, "users.json", [json.dumps({"users": [
        {"name": "app1", "bypass": False, "impersonate": False},
        {"name": "app2", "privileges": {"contact": "none", "account": "read"}},
        {"name": "app3", "read": "own"}]})])
    with simulator(SIM, "--users", "3", "--no-limits", "--scenario", scenario) as (url, config):
        write_config(folder, config)
        result = weir(folder, "check", "account", rows, "--bypass-logic", "all", "--as", a_row)
        plain = weir(folder, "check", "account", numbered(folder, 1), *OWNER)
        assert writes(url) == 0
    assert result.returncode == 4, result
    assert lacking(result, "app1") == ["prvActOnBehalfOfAnotherUser",
                                       "prvBypassCustomBusinessLogic"], result
    assert lacking(result, "app2") == ["prvCreateAccount", "prvWriteAccount", "prvAppendAccount",
                                       "prvAppendToContact", "prvAssignAccount"], result
    assert lacking(result, "app3") == [], result
    assert f"nobody may act for the user {a_row} (--as): 0x80072560" in result.stderr, result
    assert field(result, "privileges").startswith("10 needed: 1 of 4 users has all"), result
    assert lacking(plain, "app1") == [] and lacking(plain, "app2") == ["prvCreateAccount"], plain
    assert re.search(r"^app3 reaches less far than others: prvCreateAccount at depth Basic, not "
                     r"Global; prvReadAccount at depth Basic, not Global$", plain.stderr,
                     re.M), plain


def test_who_is_acted_for_needs_the_privileges_too(folder):
    rows = numbered(folder, 1)
    scenario = write(folder, "users.json", [json.dumps({"users": [
        {"name": "app2", "privileges": {"account": "read"}, "impersonate": False}]})])
    with simulator(SIM, "--users", "2", "--no-limits", "--scenario", scenario) as (url, config):
        config["Dataverse"]["Connections"] = config["Dataverse"]["Connections"][:1]
        write_config(folder, config)
        described = json.loads(weir(folder, "describe", "systemuser", "--json").stdout)
        assert any(column["name"] == "azureactivedirectoryobjectid"
                   for column in described["columns"]), described
        token = urllib.request.urlopen(url + "/contoso/oauth2/v2.0/token", (
            "client_id=app1&client_secret=" + config["Dataverse"]["Connections"][0]["ClientSecret"]
            + f"&grant_type=client_credentials&scope={url}/.default").encode())
        ask = urllib.request.Request(
            url + "/api/data/v9.2/systemusers?$select=fullname,azureactivedirectoryobjectid",
            headers={"Authorization": "Bearer " + json.load(token)["access_token"]})
        users = json.load(urllib.request.urlopen(ask))["value"]
        someone = next(user["azureactivedirectoryobjectid"] for user in users
                       if user["fullname"] == "app2")
        result = weir(folder, "check", "account", rows, "--as", someone)
    assert result.returncode == 4, result
    assert lacking(result, someone) == ["prvCreateAccount"], result
    assert field(result, "privileges") == "3 needed: 1 of 2 users has all of them", result


def test_names_of_privileges_are_those_of_the_environment(folder):
    rows = write(folder, "notes.csv", ["subject", "x"])
    scenario = write(folder, "users.json", [json.dumps({"users": [
        {"name": "app1", "privileges": {"annotation": "none"}}]})])
    with simulator(SIM, "--users", "1", "--no-limits", "--scenario", scenario) as (_, config):
        write_config(folder, config)
        result = weir(folder, "check", "annotation", rows)
    assert result.returncode == 4, result
    assert lacking(result, "app1") == ["prvCreateNote", "prvReadNote"], result


def test_privileges_that_cannot_be_read_are_said_and_it_goes_on(folder):
    rows = numbered(folder, 3)
    scenario = write(folder, "users.json", [json.dumps({"users": [
        {"name": "app2", "privileges": {"systemuser": "none", "account": "none"}}]})])
    with simulator(SIM, "--users", "2", "--no-limits", "--scenario", scenario) as (_, config):
        write_config(folder, config)
        both = weir(folder, "check", "account", rows, *OWNER)
        del config["Dataverse"]["Connections"][0]
        write_config(folder, config)
        alone = weir(folder, "check", "account", rows)
    assert both.returncode == alone.returncode == 0, (both, alone)
    assert "the privileges of app2 could not be read: 0x80040220" in both.stderr, both
    assert field(both, "privileges").endswith("has all of them; not all could be asked"), both
    assert field(alone, "privileges") == "could not be read", alone
    assert field(alone, "rows") == "3 read", alone


def test_rows_that_point_to_more_tables_than_are_looked_at_are_said_to(folder):
    a_row = "(11111111-0000-0000-0000-000000000001)"
    rows = write(folder, "rows.jsonl", [json.dumps({f"nav{i}@odata.bind": f"/sets{i}{a_row}"
                                                    for i in range(count)})
                                        for count in (32, 33)])
    with simulator(SIM, "--users", "1", "--no-limits") as (_, config):
        write_config(folder, config)
        less = weir(folder, "check", "account", rows, "--raw", "--limit", "1")
        more = weir(folder, "check", "account", rows, "--raw")
    assert less.returncode == more.returncode == 0, (less, more)
    assert "point to more than 32 tables" in more.stderr and less.stderr == "", (less, more)
    assert field(more, "privileges") == "3 needed: the connection has them", more


def test_what_is_for_the_run_is_said_to_do_nothing(folder):
    rows = numbered(folder, 3)
    with simulator(SIM, "--users", "1", "--no-limits") as (_, config):
        write_config(folder, config)
        result = weir(folder, "check", "account", rows, "--report", folder + "/r.html",
                      "--metrics-listen", "127.0.0.1:0", "--job-dir", folder + "/job")
    assert result.returncode == 0, result
    for name in ("--report", "--metrics-listen", "--job-dir"):
        assert f"weir check: {name} is for the run, and does nothing here" in result.stderr, result
    assert not pathlib.Path(folder, "r.html").exists(), result
    assert not pathlib.Path(folder, "job").exists(), result


def test_an_interrupt_ends_it_with_exit_5(folder):
    with simulator(SIM, "--users", "1", "--no-limits") as (_, config):
        path = write_config(folder, config)
        for number in (signal.SIGINT, signal.SIGTERM):
            process = subprocess.Popen([WEIR, "check", "account", "-", "--config", path],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, text=True)
            process.stdin.write("name\nx\n")
            process.stdin.flush()
            while not process.stdout.readline().startswith("INPUT"):
                assert process.poll() is None
            process.send_signal(number)
            code = process.wait(60)  # while rows may still come
            _, said = process.communicate()
            assert code == 5, (code, said)
            assert said == "weir check: interrupted; nothing has been sent\n", said


def test_names_as_dataverse_writes_them_are_shown_with_what_they_go_to(folder):
    term = "@Microsoft.Dynamics.CRM.lookuplogicalname"
    rows = write(folder, "rows.csv", [f"_parentaccountid_value,_ownerid_value,_ownerid_value{term},name,"
                                      "name@OData.Community.Display.V1.FormattedValue,@odata.etag"])
    with simulator(SIM, "--users", "1", "--no-limits") as (_, config):
        write_config(folder, config)
        result = weir(folder, "check", "account", rows)
    assert result.returncode == 0, result
    lines = {line.split()[0]: " ".join(line.split()[1:]) for line in result.stdout.splitlines() if line[:1] in list("_n@")}
    for name, takes in {
        "_parentaccountid_value": "parentaccountid lookup of account",
        "_ownerid_value": "ownerid owner, each row says of which table",
        "_ownerid_value" + term: "- the table to which ownerid points",
        "name@OData.Community.Display.V1.FormattedValue": "- an annotation, passed over",
        "@odata.etag": "- an annotation, passed over",
    }.items():
        assert lines[name] == takes, (name, lines)


def test_a_delete_shows_what_it_does_not_need(folder):
    rows = numbered(folder, 3)
    with simulator(SIM, "--users", "1", "--no-limits") as (_, config):
        write_config(folder, config)
        result = weir(folder, "check", "account", rows, "--operation", "delete", "--key",
                      "accountnumber")
    assert result.returncode == 0, result
    assert columns(result) == {"name": ("-", "not needed by a delete"),
                               "accountnumber": ("accountnumber", "text, 20 characters")}, result


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
