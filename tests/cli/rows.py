#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The options that say what rows are and how they are sent: rows.py WEIR WEIR_SIM"""
import csv
import json
import os
import pathlib
import re
import sys
import urllib.request

from harness import ask, run, run_tests, simulator, write_config

WEIR, SIM = map(os.path.abspath, sys.argv[1:3])
OWNER = ["--owner", "caller"]
NOBODY = "11111111-1111-1111-1111-111111111111"    # no user has this object id
DISABLED = "f631e9e4-574e-43ff-a879-e14a9cfa3caf"  # Dora Dahl of the simulator


def weir(folder, command, *arguments, **more):
    environment = {"XDG_STATE_HOME": str(pathlib.Path(folder) / "state")}
    return run([WEIR, command, "--config", str(pathlib.Path(folder) / "appsettings.json"),
                *arguments], env=environment, **more)


def done(folder, command, *arguments, **more):
    result = weir(folder, command, *arguments, **more)
    assert result.returncode == 0, result
    return result


def write(folder, name, *lines):
    path = pathlib.Path(folder) / name
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return str(path)


def by_name(url, config, columns="accountnumber"):
    """The accounts of the simulator: name -> row."""
    rows = ask(url, config, f"accounts?$select=accountid,name,{columns}")
    return {row["name"]: row for row in rows}


def headers(url):
    return json.load(urllib.request.urlopen(url + "/sim/stats"))["headers"]


def test_what_is_asked_of_the_service_reaches_every_request(folder):
    accounts = write(folder, "accounts.csv", "name", *(f"Account {i}" for i in range(25)))
    notes = write(folder, "notes.csv", "subject", *(f"Note {i}" for i in range(25)))
    options = ["--bypass-logic", "all", "--bypass-flows", "--detect-duplicates", "--tag", "nightly"]
    with simulator(SIM, "--users", "1", "--no-limits") as (url, config):
        write_config(folder, config)
        done(folder, "create", "account", accounts, "--batch-size", "10")
        plain = headers(url)
        done(folder, "create", "account", write(folder, "more.csv", "name", "a", "b", "c"),
             "--batch-size", "1", *options)
        bulk = headers(url)
        done(folder, "create", "annotation", notes, *options)
        single = headers(url)
    names = ("bypass_sync", "bypass_async", "bypass_flows", "detect_duplicates", "tag")
    assert all(plain[name] == 0 for name in names), plain
    assert all(bulk[name] == 3 for name in names), bulk
    assert all(single[name] == 28 for name in names), single


def test_rows_are_those_of_whom_they_are_written_for(folder):
    rows = write(folder, "rows.csv", "name", "a", "b")
    with simulator(SIM, "--users", "1", "--no-limits") as (url, config):
        write_config(folder, config)
        people = ask(url, config, "systemusers?$select=systemuserid,fullname,isdisabled,"
                                  "azureactivedirectoryobjectid")
        other = next(user for user in people if "app" not in user["fullname"].lower()
                     and not user["isdisabled"] and user["azureactivedirectoryobjectid"])
        done(folder, "create", "account", rows, "--as", other["azureactivedirectoryobjectid"])
        found = by_name(url, config, "_createdby_value,_ownerid_value")
        nobody = weir(folder, "create", "account", rows, "--as",
                      "00000000-0000-4000-8000-00000000dead")
    assert {row["_createdby_value"] for row in found.values()} == {other["systemuserid"]}, found
    assert {row["_ownerid_value"] for row in found.values()} == {other["systemuserid"]}, found
    assert nobody.returncode == 4, nobody


def test_a_user_who_is_not_there_or_disabled_ends_it_with_4(folder):
    """By a bulk message and by a $batch, with one connection and with several."""
    for users in ("1", "3"):
        with simulator(SIM, "--users", users, "--no-limits") as (url, config):
            settings = write_config(folder, config)
            for table, column in (("contact", "lastname"), ("annotation", "subject")):
                path = pathlib.Path(folder) / "rows.csv"
                path.write_text(column + "\n" + "A\n" * 30)
                for who in (NOBODY, DISABLED):
                    directory = pathlib.Path(folder) / f"{users}-{table}-{who}"
                    result = run([WEIR, "create", table, str(path), "--config", settings, "--owner", "caller",
                                  "--as", who, "--job-dir", str(directory), "--progress", "none"])
                    assert result.returncode == 4 and "0x8" in result.stderr, result


def test_an_empty_cell_is_left_out_cleared_or_wrong(folder):
    rows = write(folder, "rows.csv", "accountnumber,name,telephone1", "A1,one,555", "A2,two,555")
    change = write(folder, "change.csv", "accountnumber,telephone1", "A1,", "A2,7")
    key = ["--key", "accountnumber", "--yes"]
    with simulator(SIM, "--users", "1", "--no-limits") as (url, config):
        write_config(folder, config)
        done(folder, "create", "account", rows)
        done(folder, "update", "account", change, *key)
        omitted = by_name(url, config, "telephone1")
        rejected = weir(folder, "update", "account", change, *key, "--empty", "reject")
        done(folder, "update", "account", change, *key, "--empty", "null")
        cleared = by_name(url, config, "telephone1")
    assert [omitted[name]["telephone1"] for name in ("one", "two")] == ["555", "7"], omitted
    assert rejected.returncode == 1 and "rejected 1 " in rejected.stderr, rejected
    assert [cleared[name]["telephone1"] for name in ("one", "two")] == [None, "7"], cleared


def test_times_are_those_of_the_zone(folder):
    rows = write(folder, "rows.csv", "name,lastonholdtime", "winter,2024-01-15 12:00",
                 "summer,2024-07-15 12:00", "own,2024-07-15T12:00:00-05:00")
    with simulator(SIM, "--users", "1", "--no-limits") as (url, config):
        write_config(folder, config)
        without = weir(folder, "check", "account", rows)
        done(folder, "create", "account", rows, "--timezone", "Europe/Berlin")
        found = by_name(url, config, "lastonholdtime")
    assert without.returncode == 1 and "rejected       2\n" in without.stdout, without
    assert {name: row["lastonholdtime"] for name, row in found.items()} == {
        "winter": "2024-01-15T11:00:00Z", "summer": "2024-07-15T10:00:00Z",
        "own": "2024-07-15T17:00:00Z"}, found


def test_constants_are_in_every_row_and_ignored_columns_in_none(folder):
    rows = write(folder, "rows.csv", "name,Remark,telephone1", "a,x,1", "b,y,2")
    with simulator(SIM, "--users", "1", "--no-limits") as (url, config):
        write_config(folder, config)
        done(folder, "create", "account", rows, "--ignore-columns", "Remark,telephone1", "--with",
             "industrycode=Consulting", "--with", "description=a=b, c")
        found = by_name(url, config, "industrycode,description,telephone1")
    assert {(row["industrycode"], row["description"], row["telephone1"])
            for row in found.values()} == {(7, "a=b, c", None)}, found


def test_derived_ids_are_found_again_by_all_operations_and_by_other_files(folder):
    rows = write(folder, "rows.csv", "code,name", "K1,one", "K2,two", "K3,three")
    people = write(folder, "people.csv", "lastname,parentcustomerid:account(#code)", "Ek,K2")
    changes = write(folder, "changes.csv", "code,telephone1", "K1,11", "K3,33")
    gone = write(folder, "gone.csv", "code", "K3")
    derived = ["--id-from", "code", "--ignore-columns", "code"]
    with simulator(SIM, "--users", "2", "--no-limits") as (url, config):
        write_config(folder, config)
        done(folder, "create", "account", rows, *derived, *OWNER)
        done(folder, "create", "contact", people, *OWNER)
        again = weir(folder, "create", "account", rows, *derived, *OWNER)
        done(folder, "update", "account", changes, *derived, "--yes")
        done(folder, "delete", "account", gone, *derived, "--yes")
        found = by_name(url, config, "telephone1")
        contacts = ask(url, config, "contacts?$select=lastname,_parentcustomerid_value")
    assert "skipped 3 " in again.stderr and again.returncode == 0, again
    assert {name: row["telephone1"] for name, row in found.items()} == {"one": "11", "two": None}
    assert contacts[0]["_parentcustomerid_value"] == found["two"]["accountid"], contacts


def test_a_job_that_is_repeated_at_once_skips_its_rows_and_no_repeat_of_its_own(folder):
    """createdon has no fractions, and all of this is done within a second or two."""
    derived = ["--id-from", "name"]
    with simulator(SIM, "--users", "1", "--no-limits") as (_, config):
        write_config(folder, config)
        for turn in range(4):
            rows = write(folder, "rows.csv", "name", *(f"{turn} {i}" for i in (1, 2, 1)))
            first = weir(folder, "create", "account", rows, *derived)
            again = weir(folder, "create", "account", rows, *derived)
            assert first.returncode == 1 and "done 2 + rejected 1 + skipped 0" in first.stderr, first
            assert again.returncode == 0 and "rejected 0 + skipped 3" in again.stderr, again


def test_a_job_keeps_what_shapes_its_rows(folder):
    rows = write(folder, "rows.csv", "Firma,Nr", *(f"Firma {i},{i}" for i in range(40)))
    mapping = write(folder, "m.json", '{ "columns": { "Firma": "name", "Nr": "accountnumber" } }')
    with simulator(SIM, "--users", "1", "--no-limits") as (url, config):
        write_config(folder, config)
        part = weir(folder, "create", "account", rows, "--mapping", mapping, "--with",
                    "donotemail=true", "--limit", "15", "--batch-size", "5")
        assert part.returncode == 6, part
        os.unlink(mapping)
        job = next((pathlib.Path(folder) / "state" / "weir" / "jobs").iterdir()).name
        done(folder, "resume", job)
        found = by_name(url, config, "accountnumber,donotemail")
    assert sorted((name, row["accountnumber"], row["donotemail"]) for name, row in found.items()) \
        == sorted((f"Firma {i}", str(i), True) for i in range(40)), found


def test_json_lines_are_cells_or_objects_of_the_web_api(folder):
    cells = write(folder, "cells.jsonl", '{"name":"a","industrycode":"Consulting"}',
                  '{"name":"b","donotemail":true}')
    objects = write(folder, "objects.txt", '{"name":"c","industrycode":7}')
    with simulator(SIM, "--users", "1", "--no-limits") as (url, config):
        write_config(folder, config)
        done(folder, "create", "account", cells)
        with open(objects) as stream:
            done(folder, "create", "account", "-", "--format", "jsonl", "--raw", stdin=stream)
        done(folder, "upsert", "account", write(folder, "up.txt", '{"accountnumber":"U","name":"d"}'),
             "--format", "jsonl", "--key", "accountnumber", "--yes")
        found = by_name(url, config, "industrycode,donotemail")
        wrong = weir(folder, "create", "account", write(folder, "rows.csv", "name", "x"), "--raw")
    assert {name: row["industrycode"] for name, row in found.items()} == {
        "a": 7, "b": None, "c": 7, "d": None}, found
    assert found["b"]["donotemail"] is True, found
    assert wrong.returncode == 2 and "jsonl" in wrong.stderr, wrong


def test_rows_that_dataverse_wrote_have_two_dates_of_which_one_is_null(folder):
    rows = pathlib.Path(folder) / "rows.jsonl"
    rows.write_text('{"name":"A","createdon":"2019-05-01T00:00:00Z","overriddencreatedon":null}\n'
                    '{"name":"B","overriddencreatedon":null,"createdon":"2019-05-01T00:00:00Z"}\n')
    with simulator(SIM, "--users", "1", "--no-limits") as (url, config):
        result = run([WEIR, "create", "account", str(rows), "--config", write_config(folder, config), "--job-dir",
                      str(pathlib.Path(folder) / "job"), "--progress", "none"])
        assert result.returncode == 0 and "done 2" in result.stderr, result


# What the service says anew of every row that it creates.
OWN = ("@odata.etag", "modifiedon", "overriddencreatedon", "_createdby_value", "_modifiedby_value")


def export(url, config, table):
    """All rows with all annotations, as Dataverse writes them; by their ids."""
    rows = ask(url, config, table + "s", Prefer='odata.include-annotations="*"')
    return {row[table + "id"]: row for row in rows}


def same(row):
    return {name: value for name, value in row.items() if not name.split("@")[0] in OWN and name not in OWN}


def write_export(folder, table, form, rows):
    path = pathlib.Path(folder) / f"{table}.{form}"
    names = list(dict.fromkeys(name for row in rows for name in row))
    with open(path, "w", newline="", encoding="utf-8") as out:
        if form == "jsonl":
            out.writelines(json.dumps(row) + "\n" for row in rows)
        else:
            cells = csv.DictWriter(out, names)
            cells.writeheader()
            cells.writerows({name: json.dumps(value) if isinstance(value, bool) else value
                             for name, value in row.items()} for row in rows)
    return str(path)


def fill_for_export(folder, url, config):
    """Accounts and contacts with a cell of every kind, and lookups of every kind."""
    people = ask(url, config, "systemusers?$select=systemuserid,fullname")
    owner = "systemuser:" + next(user["systemuserid"] for user in people if user["fullname"] == "Chris Cole")
    team = "team:" + ask(url, config, "teams?$select=teamid")[0]["teamid"]
    header = ("accountnumber,name,description,revenue,weir_score,numberofemployees,industrycode,weir_channels,"
              "donotemail,lastonholdtime,weir_founded,weir_opening,createdon,statuscode,ownerid,"
              "parentaccountid:account(#accountnumber),transactioncurrencyid:transactioncurrency(isocurrencycode)")
    accounts = write(folder, "accounts.csv", header, *(
        f'A{i},"Firm, {i} ä",,{i}.25,-{i}.5,{i},{1 + i % 7},"Mail; Web",{i % 2},2024-01-{i + 1:02}T10:00:00Z,'
        f"2001-02-{i + 1:02},2024-01-01T0{i}:30:00,2019-05-{i + 1:02}T00:00:00Z,{1 + i % 2},"
        f"{team if i % 3 else owner},{f'A{9 - i}' if i % 4 else ''},{'EUR' if i % 2 else ''}" for i in range(10)))
    contacts = write(folder, "contacts.csv",
                     "externaluseridentifier,lastname,parentcustomerid:account(#accountnumber),"
                     "parentcustomerid:contact(#externaluseridentifier)",
                     *(f"C{i},Person {i},{f'A{i}' if i % 2 else ''},{'' if i % 2 else 'C0'}" for i in range(1, 6)),
                     "C0,First,,")
    done(folder, "create", "account", accounts, "--id-from", "accountnumber")
    done(folder, "create", "contact", contacts, "--id-from", "externaluseridentifier", *OWNER)


def test_what_dataverse_exported_loads_again_by_the_words_of_the_refusal_or_of_a_template(folder):
    """Twice in each form: what was created by an earlier migration keeps its date, too."""
    with simulator(SIM, "--users", "2", "--no-limits") as (url, config):
        write_config(folder, config)
        fill_for_export(folder, url, config)
        before = {table: export(url, config, table) for table in ("account", "contact")}
        for form in ("jsonl", "csv"):
            for way in ("words", "template"):
                files = {table: write_export(folder, table, form, list(export(url, config, table).values()))
                         for table in before}
                for table in ("contact", "account"):
                    ids = write(folder, "gone.csv", table + "id", *before[table])
                    done(folder, "delete", table, ids, "--yes")
                for table in ("account", "contact"):
                    refused = weir(folder, "create", table, files[table])
                    assert refused.returncode == 2, refused
                    assert "modifiedon" in refused.stderr and "_createdby_value" in refused.stderr, refused
                    if way == "words":
                        words = re.search(r"--ignore-columns \S+", refused.stderr).group(0).split()
                    else:
                        mapping = str(pathlib.Path(folder) / f"{table}.map.json")
                        done(folder, "map", table, files[table], "-o", mapping, "--force")
                        words = ["--mapping", mapping]
                    done(folder, "create", table, files[table], *words)
                    after = export(url, config, table)
                    assert after.keys() == before[table].keys(), (form, way, table)
                    for key, row in before[table].items():
                        assert same(after[key]) == same(row), (form, way, same(after[key]), same(row))


def test_an_export_without_the_tables_of_its_lookups_says_what_is_missing(folder):
    with simulator(SIM, "--users", "1", "--no-limits") as (url, config):
        write_config(folder, config)
        done(folder, "create", "contact", write(folder, "rows.csv", "lastname", "A"))
        bare = ask(url, config, "contacts?$select=lastname,_ownerid_value,_parentcustomerid_value")
        for form in ("jsonl", "csv"):
            again = [{**row, "contactid": row["contactid"][:-1] + "0"} for row in bare]
            rows = write_export(folder, "contact", form, again)
            refused = weir(folder, "create", "contact", rows)
            assert refused.returncode == 2, refused
            assert "_value@Microsoft.Dynamics.CRM.lookuplogicalname" in refused.stderr, refused
            assert refused.stderr.count("\n") == 1, refused
        mapping = str(pathlib.Path(folder) / "m.json")
        done(folder, "map", "contact", rows, "-o", mapping)
        done(folder, "create", "contact", rows, "--mapping", mapping)


def test_what_is_said_beside_the_input_is_right_or_nothing_is_sent(folder):
    rows = write(folder, "rows.csv", "name,Branche", "a,IT", "b, IT ")

    def mapping(text):
        lines = '{ "columns": {', ' "Branche": ' + text + " } }"
        return ["--mapping", write(folder, f"{len(text)}.m.json", *lines)]

    value = '{ "to": "industrycode", "values": { "IT": "Consulting", "Bau": "%s" } }'
    people = '{ "to": "ownerid:systemuser(fullname)", "values": { "IT": "Dora Dahl", "Bau": "Nobody" } }'
    ignore = ["--ignore-columns", "Branche"]
    with simulator(SIM, "--users", "2", "--no-limits") as (url, config):
        write_config(folder, config)
        for more, says in [
            ([*ignore, "--with", "ownerid=nonsense"], '--with ownerid=nonsense: "nonsense" is no owner'),
            ([*ignore, "--with", "ownerid:systemuser(fullname)=Nobody"], "--with ownerid:systemuser(fullname)=Nobody: "),
            ([*ignore, "--with", "parentaccountid:account(name)=Nobody"], 'has "Nobody" as "name"'),
            ([*ignore, "--with", "industrycode=Baking"], '"Baking" is no choice'),
            ([*ignore, "--with", "accountnumber=" + "x" * 21], "takes up to 20"),
            ([*ignore, "--with", "weir_founded=31.12.2024"], "YYYY-MM-DD"),
            (mapping(value % "Baking"), 'm.json, line 2, column 76: "Bau" stands for a wrong value: "Baking" is'),
            (mapping(people), 'm.json, line 2, column 91: "Bau" stands for a wrong value: no row of the table'),
        ]:
            result = weir(folder, "create", "account", rows, *OWNER, *more)
            assert result.returncode == 2 and says in result.stderr, result
            assert result.stderr.count("\n") == 1, result
            assert weir(folder, "check", "account", rows, *OWNER, *more).returncode == 2
        assert by_name(url, config) == {} and not (pathlib.Path(folder) / "state").exists()
        done(folder, "create", "account", rows, *OWNER, *mapping(value % "Brokers"))
        found = by_name(url, config, "industrycode")
    assert {name: row["industrycode"] for name, row in found.items()} == {"a": 7, "b": 7}, found


def test_a_row_that_a_later_pass_refuses_says_which_column(folder):
    rows = write(folder, "rows.csv", "accountid,name,parentaccountid", f"{NOBODY},a,{DISABLED}", f"{DISABLED[:-1]}0,b,")
    with simulator(SIM, "--users", "1", "--no-limits") as (url, config):
        write_config(folder, config)
        job = pathlib.Path(folder) / "job"
        result = weir(folder, "create", "account", rows, "--job-dir", str(job))
        errors = [json.loads(line) for line in (job / "errors.jsonl").read_text().splitlines()]
    assert result.returncode == 1, result
    assert [(error["row"], error["column"]) for error in errors] == [(1, "parentaccountid")], errors


def test_references_by_any_column_are_found_missing_or_ambiguous(folder):
    rows = write(folder, "rows.csv", "name,ownerid:systemuser(fullname)", "a,Chris Cole",
                 "b,Nobody Nowhere", "c,Dora Dahl")
    with simulator(SIM, "--users", "2", "--no-limits") as (url, config):
        write_config(folder, config)
        people = ask(url, config, "systemusers?$select=systemuserid,fullname")
        checked = weir(folder, "check", "account", rows)
        loaded = weir(folder, "create", "account", rows)
        found = by_name(url, config, "_ownerid_value")
    assert checked.returncode == 1 and loaded.returncode == 1, (checked, loaded)
    refused = re.findall(r"rows\.csv:\d+: row (\d+): ownerid", checked.stdout)
    assert refused == ["1", "2"], checked
    assert "owner of systemuser by fullname\n" in checked.stdout, checked
    dora = next(user["systemuserid"] for user in people if user["fullname"] == "Dora Dahl")
    assert {name: row["_ownerid_value"] for name, row in found.items()} == {"c": dora}, found


if __name__ == "__main__":
    run_tests(sys.modules["__main__"])
