#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""weir map as people use it, and what it writes, edited and loaded: map.py WEIR WEIR_SIM"""
import json
import os
import pathlib
import re
import sys

from harness import ask, run, run_tests, simulator, write_config

WEIR, SIM = map(os.path.abspath, sys.argv[1:3])


def weir(folder, command, *arguments, **more):
    environment = {"XDG_STATE_HOME": str(pathlib.Path(folder) / "state")}
    return run([WEIR, command, "--config", str(pathlib.Path(folder) / "appsettings.json"),
                *arguments], env=environment, **more)


def write(folder, name, text):
    path = pathlib.Path(folder) / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def entries(text):
    """The entries of a mapping, without its comments and trailing commas."""
    plain = re.sub(r"^\s*//.*$", "", text, flags=re.M)
    plain = re.sub(r",(\s*[}\]])", r"\1", plain)
    return json.loads(plain)


def accounts(url, config, columns):
    """The rows of the simulator, by their account number."""
    found = ask(url, config, f"accounts?$select=accountid,accountnumber,{columns}")
    return {row["accountnumber"]: row for row in found}


def test_a_template_has_an_entry_for_every_column_and_says_what_it_takes(folder):
    rows = write(folder, "rows.csv", "Name,industrycode,Notiz,parentaccountid,revenu\na,1,b,c,4\n")
    with simulator(SIM, "--users", "1") as (_, config):
        write_config(folder, config)
        result = weir(folder, "map", "account", rows)
    assert result.returncode == 0 and result.stderr == "", result
    mapping = entries(result.stdout)
    assert mapping["table"] == "account", mapping
    assert mapping["columns"] == {"Name": "name", "industrycode": "industrycode", "Notiz": None,
                                  "parentaccountid": "parentaccountid",
                                  "revenu": None}, mapping
    assert 'perhaps revenue ("Annual Revenue")? ignored' in result.stdout, result.stdout
    for says in ("160 characters", "7 (Consulting)", "account(accountnumber)"):
        assert says in result.stdout, (says, result.stdout)


def test_labels_are_recognised_and_near_names_are_only_suggested(folder):
    """What is loaded without being edited must not put names into the key."""
    columns = {"Account Name": "name", "Account Number": "accountnumber", "ACCOUNT_NUMBR": None,
               "Main phone": "telephone1", "Score": "weir_score", "Industry": "industrycode",
               "Do Not Email": "donotemail", "name": "name", "Account": None, "Created By": None}
    expected = {**columns, "Account Name": None}  # taken: `name` has better reason
    rows = write(folder, "rows.csv", ",".join(columns) + "\n")
    others = write(folder, "others.csv", "Account Name,Account Number\nContoso,A1\nFabrikam,A2\n")
    with simulator(SIM, "--users", "1", "--no-limits") as (url, config):
        write_config(folder, config)
        result = weir(folder, "map", "account", rows)
        plain = weir(folder, "create", "account", others)
        path = str(pathlib.Path(folder) / "m.json")
        assert weir(folder, "map", "account", others, "-o", path).returncode == 0
        loaded = weir(folder, "create", "account", others, "--mapping", path)
        found = accounts(url, config, "name")
    assert entries(result.stdout)["columns"] == expected, result.stdout
    assert 'perhaps accountnumber ("Account Number")? ignored' in result.stdout, result.stdout
    assert '"name" has another column of the input already' in result.stdout, result.stdout
    assert "// by its label" in result.stdout, result.stdout
    assert plain.returncode == 2 and (
        'that is the label of "name": name the column so, or map it in a file that "weir map '
        'account FILE" writes') in plain.stderr, plain
    assert loaded.returncode == 0, loaded
    assert {number: row["name"] for number, row in found.items()} == {
        "A1": "Contoso", "A2": "Fabrikam"}, found


def test_a_template_that_nobody_edited_loads_what_it_guessed(folder):
    rows = write(folder, "rows.csv", "NAME,AccountNumber,Remark\nContoso,A1,x\nFabrikam,A2,y\n")
    with simulator(SIM, "--users", "2", "--no-limits") as (url, config):
        write_config(folder, config)
        mapping = str(pathlib.Path(folder) / "m.json")
        written = weir(folder, "map", "account", rows, "-o", mapping)
        pasted = run(["sh", "-c", written.stderr.splitlines()[-1]], cwd=folder,
                     env={"PATH": os.path.dirname(WEIR) + ":/usr/bin:/bin"})
        assert pasted.returncode == 0 and "--owner caller" in written.stderr, (written, pasted)
        loaded = weir(folder, "create", "account", rows, "--mapping", mapping, "--owner", "caller")
        found = accounts(url, config, "name,description")
    assert written.returncode == 0 and written.stdout == "", written
    assert f"weir check account {rows} --mapping {mapping}" in written.stderr, written
    assert loaded.returncode == 0, loaded
    assert {number: row["name"] for number, row in found.items()} == {
        "A1": "Contoso", "A2": "Fabrikam"}, found


def test_a_template_that_was_edited_and_used_round_trips(folder):
    """Headers in another language, a choice by words of one's own, a lookup, a constant."""
    parents = write(folder, "parents.csv", "name,accountnumber\nKonzern,P1\nHolding,P2\n")
    lines = [f"Firma {i},N{i},{'IT' if i % 2 else 'Bank'},P{1 + i % 2},2021-03-{1 + i:02},"
             f"{i}.50,egal" for i in range(20)]
    rows = write(folder, "rows.csv", "Firma,Kundennummer,Branche,Konzern,Gegründet,Umsatz,Notiz\n"
                 + "".join(line + "\n" for line in lines))
    path = pathlib.Path(folder) / "konto.map.json"
    with simulator(SIM, "--users", "2", "--no-limits") as (url, config):
        write_config(folder, config)
        assert weir(folder, "create", "account", parents, "--owner", "caller").returncode == 0
        written = weir(folder, "map", "account", rows, "-o", str(path))
        assert written.returncode == 0, written
        text = path.read_text()
        names = entries(text)["columns"]
        assert list(names) == ["Firma", "Kundennummer", "Branche", "Konzern", "Gegründet", "Umsatz",
                               "Notiz"] and set(names.values()) == {None}, names
        for name, target in {
            "Firma": '"name"', "Kundennummer": '"accountnumber"',
            "Branche": '{"to": "industrycode", "values": {"IT": "7", "Bank": "4"}}',
            "Konzern": '"parentaccountid:account(accountnumber)"', "Gegründet": '"weir_founded"',
            "Umsatz": '"revenue"',
        }.items():
            assert f'"{name}": null' in text, text
            text = text.replace(f'"{name}": null', f'"{name}": {target}')
        path.write_text(text)
        checked = weir(folder, "check", "account", rows, "--mapping", str(path), "--owner",
                       "caller", "--with", "donotemail=true")
        loaded = weir(folder, "create", "account", rows, "--mapping", str(path), "--owner",
                      "caller", "--with", "donotemail=true")
        found = accounts(url, config,
                         "name,industrycode,weir_founded,revenue,donotemail,_parentaccountid_value")
    assert checked.returncode == 0, checked
    assert loaded.returncode == 0, loaded
    assert len(found) == 22, found
    for i in range(20):
        row = found[f"N{i}"]
        assert (row["name"], row["industrycode"], row["weir_founded"], row["donotemail"]) == (
            f"Firma {i}", 7 if i % 2 else 4, f"2021-03-{1 + i:02}", True), row
        assert float(row["revenue"]) == i + 0.5, row
        assert row["_parentaccountid_value"] == found[f"P{1 + i % 2}"]["accountid"], row


def test_of_json_lines_the_first_objects_have_the_names(folder):
    objects = [{"name": f"A{i}", **({"telephone1": "1"} if i == 50 else {}),
                **({"websiteurl": "late"} if i >= 100 else {})} for i in range(200)]
    rows = write(folder, "rows.jsonl", "".join(json.dumps(it) + "\n" for it in objects))
    with simulator(SIM, "--users", "1") as (_, config):
        write_config(folder, config)
        result = weir(folder, "map", "account", rows)
        with open(rows) as stream:
            again = weir(folder, "map", "account", "-", "--format", "jsonl", stdin=stream)
    assert result.returncode == 0, result
    assert entries(result.stdout)["columns"] == {"name": "name", "telephone1": "telephone1"}
    assert again.stdout == result.stdout, again


def test_what_dataverse_itself_wrote_needs_no_entry(folder):
    """Owners and tables of lookups must not be lost by a template that nobody edited."""
    row = {"@odata.etag": "W/1", "name": "A", "_ownerid_value": "00000000-0000-0000-0000-000000000001",
           "_ownerid_value@Microsoft.Dynamics.CRM.lookuplogicalname": "systemuser",
           "_createdby_value": "00000000-0000-0000-0000-000000000001"}
    rows = write(folder, "rows.jsonl", json.dumps(row) + "\n")
    with simulator(SIM, "--users", "1") as (_, config):
        write_config(folder, config)
        result = weir(folder, "map", "account", rows)
        packed = weir(folder, "map", "account", write(folder, "rows.csv", "name,_ownerid_value\nA,B\n"))
    assert entries(result.stdout)["columns"] == {"name": "name", "_createdby_value": None}, result
    assert "understood as it is: _ownerid_value" in result.stdout, result
    assert entries(packed.stdout)["columns"] == {"name": "name", "_ownerid_value": None}, packed


def test_a_file_that_is_there_is_written_over_only_by_force(folder):
    rows = write(folder, "rows.csv", "name\na\n")
    mine = write(folder, "m.json", "my work")
    with simulator(SIM, "--users", "1") as (url, config):
        write_config(folder, config)
        refused = weir(folder, "map", "account", rows, "-o", mine)
        assert refused.returncode == 2 and refused.stderr.count("\n") == 1, refused
        assert "is there already: --force writes over it" in refused.stderr, refused
        assert pathlib.Path(mine).read_text() == "my work"
        pathlib.Path(mine).chmod(0o640)
        forced = weir(folder, "map", "account", rows, "-o", mine, "--force")
        assert forced.returncode == 0, forced
        assert pathlib.Path(mine).stat().st_mode & 0o777 == 0o640
        assert entries(pathlib.Path(mine).read_text())["columns"] == {"name": "name"}
        nowhere = weir(folder, "map", "account", rows, "-o", folder + "/no/m.json")
        assert nowhere.returncode == 7 and "could not be written" in nowhere.stderr, nowhere
        full = run(["sh", "-c", f"{WEIR} map account {rows} --config {folder}/appsettings.json "
                    "> /dev/full"])
        assert full.returncode == 7, full
        unknown = weir(folder, "map", "acount", rows, "-o", mine, "--force")
        assert unknown.returncode == 2 and 'no table "acount"' in unknown.stderr, unknown
        for table, says in {"acount": 'did you mean "account"?', "Account": 'did you mean "account"?',
                            "accounts": 'the entity set of table "account"'}.items():
            wrong = weir(folder, "map", table, rows)
            assert wrong.returncode == 2 and says in wrong.stderr, wrong
        assert "did you mean" not in weir(folder, "map", "nothing_like_it", rows).stderr
        assert entries(pathlib.Path(mine).read_text())["columns"] == {"name": "name"}
    assert sorted(os.listdir(folder)) == ["appsettings.json", "m.json", "rows.csv"]


def test_every_wrong_word_is_one_sentence_and_exit_2(folder):
    rows = write(folder, "rows.csv", "name\na\n")
    empty = write(folder, "empty.jsonl", "")
    with simulator(SIM, "--users", "1") as (_, config):
        write_config(folder, config)
        for arguments, says in [
            ([], "it takes a table and a file"),
            (["account"], "it takes a table and a file"),
            (["account", rows, rows], "it takes a table and a file"),
            (["account", rows, "--format", "xls"], "csv, tsv or jsonl"),
            (["account", rows, "--forse"], "did you mean --force?"),
            (["account", folder + "/nothing.csv"], "nothing.csv"),
            (["account", empty], "has no objects"),
        ]:
            result = weir(folder, "map", *arguments)
            assert result.returncode == 2 and says in result.stderr, (arguments, result)
            assert result.stderr.count("\n") == 1 and result.stdout == "", (arguments, result)


if __name__ == "__main__":
    run_tests(sys.modules["__main__"])
