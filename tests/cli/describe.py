#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""weir describe as people use it: describe.py WEIR WEIR_SIM"""
import json
import os
import pathlib
import re
import sys

from harness import ask, run, run_tests, simulator, write_config

WEIR, SIM = map(os.path.abspath, sys.argv[1:3])

ITEM = {
    "name": "weir_item", "set": "weir_items", "primary_id": "weir_itemid",
    "primary_name": "weir_name", "owned": False, "bulk": False,
    "columns": [
        {"name": "weir_name", "type": "string", "max_length": 1, "required": "system"},
        {"name": "weir_once", "type": "integer", "min": -5, "max": 5, "update": False},
        {"name": "weir_color", "type": "choice",
         "choices": [{"value": i, "label": f"Colour number {i}"} for i in range(30)]
         + [{"value": 99, "label": "\u001b[31mred\u009b"}]},
        {"name": "weir_anything", "type": "lookup",
         "targets": [{"table": "account", "nav": "weir_Anything_Account"},
                     {"table": "contact", "nav": "weir_Anything_Contact"}]},
        {"name": "weir_shown", "type": "string", "max_length": 7, "create": False, "update": False},
    ],
    "keys": [{"name": "weir_one", "columns": ["weir_name"], "status": "Active"},
             {"name": "weir_two", "columns": ["weir_name", "weir_once"], "status": "Pending"}],
}


def with_item(folder):
    """The flags of a simulator that has a table of our own."""
    path = pathlib.Path(folder) / "scenario.json"
    path.write_text(json.dumps({"tables": [ITEM]}))
    return ["--users", "1", "--no-limits", "--scenario", str(path)]


def definition(url, config, table):
    """What the service itself says of the columns: name -> attribute."""
    found = ask(url, config, f"EntityDefinitions(LogicalName='{table}')/Attributes?$select="
                "LogicalName,IsValidForCreate,IsValidForUpdate,IsValidForRead")
    return {attribute["LogicalName"]: attribute for attribute in found}


def cells(result):
    """The lines of the columns, from the head on: name -> (write, required, type)."""
    lines = result.stdout.splitlines()
    head = next(i for i, line in enumerate(lines) if line.startswith("COLUMN "))
    at = [lines[head].index(word) for word in ("COLUMN", "LABEL", "WRITE", "REQUIRED", "TYPE")]
    found, last = {}, None
    for line in lines[head + 1:]:
        if not line:
            break
        assert all(line[start - 1] == " " for start in at[1:]), line
        if line[0] != " ":
            last = line[:at[1]].strip()
            found[last] = (line[at[2]:at[3]].strip(), line[at[3]:at[4]].strip(), line[at[4]:])
        else:
            found[last] = (*found[last][:2], found[last][2] + " " + line.strip())
    return found


def test_every_column_that_can_be_written_has_a_line_with_its_type(folder):
    with simulator(SIM, "--users", "1") as (_, config):
        path = write_config(folder, config)
        result = run([WEIR, "describe", "account", "--config", path])
        every = json.loads(run([WEIR, "describe", "account", "--json", "--config", path]).stdout)
    hidden = sum(not column["create"] and not column["update"] for column in every["columns"])
    assert result.returncode == 0 and result.stderr == "", result
    assert "table           account, standard, owned by users or teams\n" in result.stdout, result
    assert "CreateMultiple, UpdateMultiple, UpsertMultiple\n" in result.stdout, result
    assert "accountnumber  (accountnumber_key, active)\n" in result.stdout, result
    columns = cells(result)
    for name, says in {
        "accountid": ("create", "system", "id"),
        "name": ("create update", "forms", "text, 160 characters"),
        "description": ("create update", "-", "multi-line text, 2000 characters"),
        "revenue": ("create update", "-", "money, 0 to 922337203685477, 2 decimals"),
        "address1_latitude": ("create update", "-", "floating point, -90 to 90, 5 decimals"),
        "donotemail": ("create update", "-", "yes or no: 0 = Allow; 1 = Do Not Allow"),
        "lastonholdtime": ("create update", "-", "date and time, with an offset or --timezone"),
        "weir_founded": ("create update", "-", "date, YYYY-MM-DD"),
        "weir_opening": ("create update", "-", "date and time as written, of no time zone"),
        "parentaccountid": ("create update", "-", "lookup: account (parentaccountid)"),
        "ownerid": ("create update", "system", "owner: systemuser (ownerid); team (ownerid)"),
        "statecode": ("update", "system", "state: 0 = Active; 1 = Inactive"),
        "statuscode": ("create update", "-",
                       "status: 1 = Active (state 0); 2 = Inactive (state 1)"),
    }.items():
        assert columns[name] == says, (name, columns[name])
    assert "modifiedon" not in columns, columns
    said = re.search(r"^(\d+) columns that cannot be written are left out; --all shows them$",
                     result.stdout, re.M)
    assert said and int(said[1]) == hidden, result


def test_people_and_programs_are_told_what_columns_are_called(folder):
    with simulator(SIM, "--users", "1") as (_, config):
        path = write_config(folder, config)
        shown = run([WEIR, "describe", "account", "--config", path]).stdout.splitlines()
        every = json.loads(run([WEIR, "describe", "account", "--json", "--config", path]).stdout)
    labels = {column["name"]: column.get("label") for column in every["columns"]}
    assert (labels["name"], labels["accountnumber"], labels["industrycode"]) == (
        "Account Name", "Account Number", "Industry"), labels
    assert labels["parentaccountidname"] is None, labels
    head = next(line for line in shown if line.startswith("COLUMN "))
    for name in ("name", "accountnumber"):
        line = next(line for line in shown[shown.index(head):] if line.startswith(name + " "))
        assert line[head.index("LABEL"):head.index("WRITE")].strip() == labels[name], line


def test_programs_get_every_column_as_the_service_defines_it(folder):
    with simulator(SIM, *with_item(folder)) as (url, config):
        path = write_config(folder, config)
        for table in ("account", "contact", "sensorreading", "weir_item"):
            truth = definition(url, config, table)
            result = run([WEIR, "describe", table, "--json", "--config", path])
            shown = run([WEIR, "describe", table, "--all", "--config", path])
            assert result.returncode == 0 and shown.returncode == 0, (result, shown)
            said = json.loads(result.stdout)
            columns = {column["name"]: column for column in said["columns"]}
            assert sorted(columns) == sorted(truth) == sorted(cells(shown)), (table, said)
            for name, attribute in truth.items():
                flags = tuple(columns[name][word] for word in ("create", "update", "read"))
                assert flags == tuple(attribute["IsValidFor" + word]
                                      for word in ("Create", "Update", "Read")), (name, said)


def test_a_table_of_ones_own_with_choices_targets_and_keys(folder):
    with simulator(SIM, *with_item(folder)) as (_, config):
        path = write_config(folder, config)
        result = run([WEIR, "describe", "weir_item", "--config", path])
        said = json.loads(run([WEIR, "describe", "weir_item", "--json", "--config", path]).stdout)
    assert result.returncode == 0, result
    assert "weir_item, standard, owned by the organisation" in result.stdout, result
    assert "bulk messages   none: rows go by $batch\n" in result.stdout, result
    assert "weir_name,weir_once  (weir_two, pending)\n" in result.stdout, result
    columns = cells(result)
    assert columns["weir_name"] == ("create update", "system", "text, 1 character"), columns
    assert columns["weir_once"] == ("create", "-", "whole number, -5 to 5"), columns
    labels = "; ".join(f"{i} = Colour number {i}" for i in range(30))
    assert columns["weir_color"][2] == f"choice: {labels}; 99 = ?[31mred?", columns
    assert columns["weir_anything"][2] == ("lookup: account (weir_Anything_Account); "
                                           "contact (weir_Anything_Contact)"), columns
    assert max(map(len, result.stdout.splitlines())) <= 120, result
    assert said["bulk"] == [] and said["keys"][1] == {
        "name": "weir_two", "columns": ["weir_name", "weir_once"], "status": "pending"}, said
    by_name = {column["name"]: column for column in said["columns"]}
    assert by_name["weir_color"]["choices"][-1] == {"value": 99, "label": "\u001b[31mred\u009b"}
    assert by_name["weir_anything"]["targets"][1] == {
        "table": "contact", "navigation": "weir_Anything_Contact"}, by_name
    assert (by_name["weir_once"]["min"], by_name["weir_once"]["max"]) == (-5, 5), by_name


def test_the_kind_of_table_is_said(folder):
    with simulator(SIM, "--users", "1") as (_, config):
        path = write_config(folder, config)
        elastic = run([WEIR, "describe", "sensorreading", "--config", path])
        notes = run([WEIR, "describe", "annotation", "--config", path])
    assert "sensorreading, elastic, " in elastic.stdout and "DeleteMultiple" in elastic.stdout
    assert "bulk messages   none" in notes.stdout and "alternate keys  none" in notes.stdout


def test_what_is_wrong_is_one_sentence_and_has_its_exit_code(folder):
    with simulator(SIM, "--users", "1") as (_, config):
        path = write_config(folder, config)
        for arguments, code, says in [
            ([], 2, "it takes one table; see weir help describe"),
            (["account", "contact"], 2, "it takes one table"),
            (["account", "--jsn"], 2, "did you mean --json?"),
            (["acount"], 2, 'no table "acount"'),
            (["accounts"], 2, 'the entity set of table "account"'),
            (["no table"], 2, '"no table" is no name of a table'),
            (["account", "--url", "x"], 2, "Dataverse:Url"),
        ]:
            result = run([WEIR, "describe", "--config", path, *arguments])
            assert result.returncode == code and says in result.stderr, (arguments, result)
            assert result.stderr.count("\n") == 1 and result.stdout == "", (arguments, result)
        result = run(["sh", "-c", f"{WEIR} describe account --config {path} > /dev/full"])
        assert result.returncode == 7 and "cannot be written" in result.stderr, result
        config["Dataverse"]["Connections"][0]["ClientSecret"] = "wrong"
        result = run([WEIR, "describe", "account", "--config", write_config(folder, config)])
        assert result.returncode == 4 and "AADSTS7000215" in result.stderr, result


def test_a_service_that_is_not_there_is_unreachable(folder):
    with simulator(SIM, "--users", "1") as (_, config):
        path = write_config(folder, config)
    result = run([WEIR, "describe", "account", "--config", path])
    assert result.returncode == 10 and result.stdout == "", result


if __name__ == "__main__":
    run_tests(sys.modules["__main__"])
