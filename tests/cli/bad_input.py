#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Inputs that nobody should have: bad_input.py WEIR WEIR_SIM

Each has a sentence of its own that says what is wrong and where, and the exit code that was promised. What is wrong with
the input as a whole (2) is said before anything is sent; what is wrong with a row rejects that row (1) and no other: the
good row before it and the good row behind it arrive, and what was read is what was written into rejects. Nothing that
is said or written has a secret in it; with WEIR_LOUD=1 that is all that can be logged.
"""
import copy
import gzip
import json
import os
import pathlib
import sys
import types
import urllib.request

from harness import ask, forms_of, run, run_tests, simulator, write_config

WEIR, SIM = sys.argv[1:3]
LOUD = ["--log-level", "trace"] if os.environ.get("WEIR_LOUD") else []

# Of the whole file: name, content, words of the message, options.
WHOLE = {
    "utf_16": ("a.csv", "name\nContoso\n".encode("utf-16"), ["UTF-16"]),
    "an_empty_file": ("a.csv", b"", ["header"]),
    "an_empty_header_cell": ("a.csv", b"name,\nA,B\n", ["column 2"]),
    "a_header_twice": ("a.csv", b"name,name\nA,B\n", ["column 1", "column 2", "name"]),
    "an_unknown_column": ("a.csv", b"nmae\nA\n", ["nmae", '"name"', "--ignore-columns nmae"]),
    "a_column_that_cannot_be_written": ("a.csv", b"name,exchangerate\nA,1\n", ["--ignore-columns exchangerate"]),
    "columns_that_cannot_be_written": ("a.csv", b"name,exchangerate,_createdby_value,modifiedon\nA,1,,\n",
                                       ["3 columns", "--ignore-columns exchangerate,_createdby_value,modifiedon"]),
    "a_lookup_as_dataverse_writes_it_without_its_table": ("a.csv", b"name,_ownerid_value\nA,\n", ["ownerid:systemuser"]),
    "cells_between_semicolons": ("a.csv", b"name;telephone1\nA;1\n", ["commas", "--format tsv"]),
    "a_file_column": ("a.csv", b"name,weir_contract\nA,1\n", ["weir_contract", "file"]),
    "a_header_that_is_not_utf_8": ("a.csv", b"na\xffme\nA\n", ["UTF-8"]),
    "a_header_with_a_nul": ("a.csv", b"na\0me\nA\n", ["NUL"]),
    "ten_thousand_columns": ("a.csv", b",".join(b"c%d" % i for i in range(10000)) + b"\n",
                             ['no column "c0"', "--ignore-columns c0"]),
    "a_header_that_is_not_closed": ("a.csv", b"\"name\nA\n", ["quote"]),
    "a_huge_header": ("a.csv", b"n" * (5 << 20), ["bytes"]),
    "no_gzip": ("a.csv.gz", b"name\nA\n", ["gzip"]),
    "an_ending_that_is_not_known": ("a.xlsx", b"PK", [".csv", "--format"]),
    "a_lookup_of_a_table_that_is_not_there": ("a.csv", b"parentaccountid:nothing(x)\nA\n", ["nothing"]),
    "a_lookup_that_cannot_point_there": ("a.csv", b"parentaccountid:contact\nA\n", ["contact", "parentaccountid"]),
    "a_lookup_by_a_column_that_is_not_there": ("a.csv", b"parentaccountid:account(nope)\nA\n", ["nope"]),
    "a_target_that_is_cut": ("a.csv", b"parentaccountid:account(name\nA\n", ["parentaccountid:account(name"]),
}

# Of a row, between two good ones: the line, words of the message, the column that is to blame.
CSV_ROWS = {
    "no_content": (b",,\n", ["every cell of the row is empty"], None),
    "too_few_cells": (b"A\n", ["1", "3"], None),
    "too_many_cells": (b"A,1,2024-01-01,x\n", ["4", "3"], None),
    "invalid_utf_8": (b"\xc3(,1,2024-01-01\n", ["UTF-8"], "name"),
    "an_overlong_form": (b"\xc0\xaf,1,2024-01-01\n", ["UTF-8"], "name"),
    "a_surrogate": (b"\xed\xa0\x80,1,2024-01-01\n", ["UTF-8"], "name"),
    "a_nul": (b"A\0B,1,2024-01-01\n", ["NUL"], "name"),
    "a_control_character": (b"A\x01B,1,2024-01-01\n", ["U+0001"], "name"),
    "text_behind_a_quote": (b"\"A\"B,1,2024-01-01\n", ['"B" behind its closing quote'], "name"),
    "a_huge_field": (b"A" * (3 << 20) + b",1,2024-01-01\n", ["bytes"], "name"),
    "a_long_text": (b"A" * 161 + b",1,2024-01-01\n", ["161", "160"], "name"),
    "a_long_text_of_pairs": ("\U0001f600".encode() * 81 + b",1,2024-01-01\n", ["162", "160"], "name"),
    "no_number": (b"A,one,2024-01-01\n", ["one"], "numberofemployees"),
    "a_number_with_a_fraction": (b"A,1.5,2024-01-01\n", ["1.5"], "numberofemployees"),
    "a_number_out_of_range": (b"A,1000000001,2024-01-01\n", ["1000000001", "1000000000"], "numberofemployees"),
    "a_number_below_its_range": (b"A,-1,2024-01-01\n", ["-1"], "numberofemployees"),
    "a_day_that_is_in_no_calendar": (b"A,1,2023-02-29\n", ["2023-02-29"], "weir_founded"),
    "a_cell_of_the_wrong_kind_of_blank": (b"A,\xc2\xa01,2024-01-01\n", ["no whole number"], "numberofemployees"),
    "a_day_before_the_first": (b"A,1,1752-12-31\n", ["1752-12-31", "1753"], "weir_founded"),
    "a_date_the_other_way_round": (b"A,1,31.12.2024\n", ["31.12.2024"], "weir_founded"),
}

# The line, words of the message, the member that is to blame.
JSON_ROWS = {
    "an_unknown_name_longer_than_a_journal_keeps": (
        b'{"' + b"n" * 5000 + b'":1}\n', ["no column"], "n" * 4096),
    "a_name_longer_than_a_journal_keeps_twice": (
        b'{"' + b"n" * 5000 + b'":1,"' + b"n" * 5000 + b'":1}\n', ["again"], "n" * 4096),
    "depth": (b'{"name":' + b"[" * 100000 + b"]" * 100000 + b"}\n", ["nested more than 64 deep"], None),
    "a_member_twice": (b'{"name":"A","name":"B"}\n', ["name", "again"], "name"),
    "a_number_beyond_every_range": (b'{"name":"A","weir_measure":1e400}\n', ["1e400"], "weir_measure"),
    "half_a_surrogate_pair": (b'{"name":"\\ud800"}\n', ["half a character"], "name"),
    "garbage_behind_the_object": (b'{"name":"A"} x\n', ["behind"], None),
    "an_array": (b'["A"]\n', ["no JSON object", '"["'], None),
    "a_text": (b'"name"\n', ["no JSON object", "begins with '\"'"], None),
    "a_word": (b'name\n', ["no JSON object", '"n"'], None),
    "an_object_that_is_cut": (b'{"name":"A"\n', ["ends before its object does"], None),
    "not_a_number": (b'{"name":"A","weir_measure":NaN}\n', ["is not JSON", '"N"'], None),
    "a_nested_object": (b'{"name":{"first":"A"}}\n', ["is an object"], "name"),
    "a_list_of_texts": (b'{"name":["A"]}\n', ["is an array"], "name"),
    "a_list_of_wrong_choices": (b'{"weir_channels":[100000000,"Fax"]}\n', ['"Fax" is no choice'], "weir_channels"),
    "an_unknown_member": (b'{"nmae":"A"}\n', ["nmae", "name"], "nmae"),
    "no_members": (b'{}\n', ["every member of the row is empty"], None),
    "members_that_are_null": (b'{"name":null,"telephone1":""}\n', ["every member of the row is empty"], None),
}

CELLS = {
    "weir_amount": ["1,5", "1e3x", "--1", "0.12345678901", "99999999999999999999999999999"],
    "revenue": ["12.345", "$5", "-0.01"],
    "donotemail": ["maybe", "2", "oui"],
    "industrycode": ["Baking", "99", "1.0"],
    "weir_channels": ["Fax", "7", "100000000x"],
    "weir_opening": ["2024-02-28 25:00", "now", "2024-13-01T00:00:00"],
    "lastonholdtime": ["2024-02-28T10:00:00", "2024-02-28", "1752-01-01T00:00:00Z"],
    "parentaccountid": ["not-a-guid", "{0123}", "contact:00000000-0000-0000-0000-000000000001"],
    "ownerid": ["Alice", "contact:00000000-0000-0000-0000-000000000001"],
}

KEYS = {"": 'no value for "accountnumber"', "a/b": 'value "a/b" of the key "accountnumber" has a "/"',
        "a&b": 'value "a&b" of the key "accountnumber" has a "&"'}
QUEER_KEY = "a#b'c\""  # it can stand in an address, if that is written with care


def load(sim, folder, name, content, *more, verb="create"):
    path = pathlib.Path(folder) / name
    path.write_bytes(content)
    config = write_config(folder, sim[1])
    owner = ["--owner", "caller"] if verb in ("create", "upsert") else []
    job = pathlib.Path(folder) / "job"
    result = run([WEIR, verb, "account", str(path), "--config", config, "--progress", "none", "--yes",
                  "--job-dir", str(job), *owner, *LOUD, *more])
    look_for_secrets(sim[1], job, result)
    return path, result


def look_for_secrets(config, job, result):
    """Tokens are JSON in base64, and so begin."""
    secrets = [c["ClientSecret"] for c in config["Dataverse"].get("Connections", [])]
    canaries = {form for secret in secrets for form in forms_of(secret)} | {b"eyJ0eXA", b"eyJhbGc"}
    said = {"output": (result.stdout + result.stderr).encode(),
            **{path.name: path.read_bytes() for path in job.rglob("*") if path.is_file()}}
    for name, text in said.items():
        assert not any(canary in text for canary in canaries), f"{name} has a secret"


def rejected(folder, suffix):
    job = pathlib.Path(folder) / "job"
    errors = [json.loads(line) for line in (job / "errors.jsonl").read_text().splitlines()]
    return errors, (job / f"rejects.{suffix}").read_bytes(), json.loads((job / "summary.json").read_text())


def whole(case):
    def test(folder):
        name, content, words = WHOLE[case]
        with simulator(SIM, "--users", "2", "--no-limits") as sim:
            path, result = load(sim, folder, name, content)
            assert result.returncode == 2, result
            assert all(word in result.stderr for word in words), result.stderr
            assert f'"{path}"' in result.stderr, result.stderr
            assert not (pathlib.Path(folder) / "job").exists(), "a trace was left"
    return test


def test_a_column_of_standard_input_or_of_a_later_file_is_told_by_where_it_stands(folder):
    paths = [pathlib.Path(folder) / name for name in ("empty.jsonl", "rows.jsonl")]
    paths[1].write_bytes(b'{"nmae":"A"}\n')
    paths[0].write_bytes(b"")
    with simulator(SIM, "--users", "2", "--no-limits") as sim:
        command = [WEIR, "create", "account", "--config", write_config(folder, sim[1]), "--owner", "caller",
                   "--progress", "none", "--job-dir", str(pathlib.Path(folder) / "job")]
        for result, says in ((run([*command, "-"], input="nmae\nA\n"), 'input "standard input": the table'),
                             (run([*command, *map(str, paths)]), f'input "{paths[1]}", row 1: the table')):
            assert result.returncode == 2 and says in result.stderr, result


def accounts(sim, columns):
    """What the service has, and not what the command says of it."""
    rows = ask(*sim, f"accounts?$select={','.join(columns)}")
    return sorted((tuple(row.get(column) for column in columns) for row in rows), key=repr)


def check_between(folder, suffix, header, line, words, column):
    errors, rejects, summary = rejected(folder, suffix)
    assert [e["row"] for e in errors] == [2], errors
    message, path = errors[0]["message"], errors[0]["file"]
    assert all(word in message for word in words), message
    assert errors[0]["column"] == column, errors
    assert path.endswith("." + suffix) and errors[0]["byte_offset"] > 0, errors
    assert len(line) > 1 << 20 or rejects == header + line, (rejects[:200], line[:200])
    assert (summary["read"], summary["done"], summary["rejected"]) == (3, 2, 1), summary


def row_of_cells(case):
    def test(folder):
        line, words, column = CSV_ROWS[case]
        header, good = b"name,numberofemployees,weir_founded\n", b"Good,1,2024-01-01\n"
        with simulator(SIM, "--users", "2", "--no-limits") as sim:
            _, result = load(sim, folder, "a.csv", header + good + line + good)
            assert result.returncode == 1, result
            check_between(folder, "csv", header, line, words, column)
            assert accounts(sim, ["name", "numberofemployees", "weir_founded"]) == [("Good", 1, "2024-01-01")] * 2
    return test


def row_of_members(case):
    def test(folder):
        line, words, column = JSON_ROWS[case]
        good = b'{"name":"Good"}\n'
        with simulator(SIM, "--users", "2", "--no-limits") as sim:
            _, result = load(sim, folder, "a.jsonl", good + line + good)
            assert result.returncode == 1, result
            check_between(folder, "jsonl", b"", line, words, column)
            assert accounts(sim, ["name"]) == [("Good",)] * 2
    return test


for each in WHOLE:
    globals()[f"test_{each}"] = whole(each)
for each in CSV_ROWS:
    globals()[f"test_row_with_{each}"] = row_of_cells(each)
for each in JSON_ROWS:
    globals()[f"test_object_with_{each}"] = row_of_members(each)


def test_cells_that_cannot_be_right_are_refused_each_with_its_value(folder):
    rows = [(column, cell) for column, cells in CELLS.items() for cell in cells]
    lines = [json.dumps({"name": "A", column: cell}) for column, cell in rows]
    with simulator(SIM, "--users", "2", "--no-limits") as sim:
        _, result = load(sim, folder, "a.jsonl", "\n".join(lines).encode())
        assert result.returncode == 1, result
        errors, rejects, summary = rejected(folder, "jsonl")
        found = [(e["row"], e["column"]) for e in errors]
        assert found == [(number, column) for number, (column, _) in enumerate(rows, 1)], found
        messages = [e["message"] for e in errors]
        assert all(cell.split(":0")[0] in message for message, (_, cell) in zip(messages, rows)), messages
        assert rejects.decode().split("\n")[:-1] == lines or rejects.decode() == "\n".join(lines)
        assert summary["requests"] <= 1, summary


def quoted(cell):
    return '"' + cell.replace('"', '""') + '"'


def test_keys_that_cannot_stand_in_an_address_are_refused(folder):
    content = "accountnumber\tname\n" + "".join(f"{quoted(key)}\tA\n" for key in KEYS)
    with simulator(SIM, "--users", "2", "--no-limits") as sim:
        _, result = load(sim, folder, "a.tsv", content.encode(), "--key", "accountnumber", verb="update")
        assert result.returncode == 1, result
        errors, rejects, summary = rejected(folder, "tsv")
        assert [(e["row"], e["column"]) for e in errors] == [(row, "accountnumber") for row in (1, 2, 3)], errors
        assert all(words in e["message"] for words, e in zip(KEYS.values(), errors)), errors
        assert rejects == content.encode(), rejects
        assert (summary["requests"], summary["rejected"]) == (0, 3), summary
        assert [e["attempts"] for e in errors] == [0, 0, 0], errors


def test_a_key_that_is_longer_than_its_column_is_not_found_and_named(folder):
    key = "x" * 21
    with simulator(SIM, "--users", "2", "--no-limits") as sim:
        _, result = load(sim, folder, "a.csv", f"accountnumber,name\n{key},A\n".encode(), "--key", "accountnumber",
                         verb="update")
        assert result.returncode == 1, result
        errors, _, summary = rejected(folder, "csv")
        assert [(e["row"], e["service_code"]) for e in errors] == [(1, "0x80060891")], errors
        assert f"accountnumber='{key}'" in errors[0]["message"] and summary["done"] == 0, errors


def without_connections(settings):
    del settings["Connections"]


def with_an_empty_list(settings):
    settings["Connections"] = []


def without_a_client_id(settings):
    del settings["Connections"][1]["ClientId"]


def without_a_credential(settings):
    del settings["Connections"][1]["ClientSecret"]


def test_a_configuration_that_lacks_what_it_needs_is_one_sentence(folder):
    """Said before anybody is asked."""
    whole_file = str(pathlib.Path(folder) / "appsettings.json")
    with simulator(SIM, "--users", "2", "--no-limits") as (url, config):
        for spoil, words in {
            without_connections: ["no connections: give Dataverse:Connections", whole_file],
            with_an_empty_list: ["no connections: give Dataverse:Connections", whole_file],
            without_a_client_id: ['connection "app2"', "has no ClientId"],
            without_a_credential: ['connection "app2"', "has no credential", "ClientSecretFile"],
        }.items():
            spoilt = copy.deepcopy(config)
            spoil(spoilt["Dataverse"])
            (pathlib.Path(folder) / "a.csv").write_text("name\nA\n")
            result = run([WEIR, "create", "account", f"{folder}/a.csv", "--config", write_config(folder, spoilt),
                          "--job-dir", f"{folder}/job", "--owner", "caller"])
            assert result.returncode == 2 and result.stderr.count("\n") == 1, (spoil, result)
            assert all(word in result.stderr for word in words), (spoil, result)
            assert not (pathlib.Path(folder) / "job").exists(), spoil
        stats = json.load(urllib.request.urlopen(url + "/sim/stats"))
        assert [c["requests"] for c in stats["connections"]] == [0, 0], stats


def test_a_key_of_queer_characters_finds_its_row(folder):
    places = [pathlib.Path(folder) / name for name in ("made", "changed", "gone")]
    with simulator(SIM, "--users", "2", "--no-limits") as sim:
        for place, verb, name in zip(places, ("create", "update", "delete"), ("old", "new", "new")):
            place.mkdir()
            more = [] if verb == "create" else ["--key", "accountnumber"]
            content = f"accountnumber,name\n{quoted(QUEER_KEY)},{name}\nother,stays\n" if verb == "create" else (
                f"accountnumber,name\n{quoted(QUEER_KEY)},{name}\n")
            _, result = load(sim, place, "a.csv", content.encode(), *more, verb=verb)
            assert result.returncode == 0, (verb, result)
            there = [] if verb == "delete" else [(QUEER_KEY, name)]
            assert accounts(sim, ["accountnumber", "name"]) == [*there, ("other", "stays")], verb


def test_members_that_are_objects_or_lists_are_ignored_and_mapped(folder):
    rows = [{"name": "A", "zz": {"deep": [1, {"er": None}]}, "weir_channels": [100000000, "Web"]},
            {"name": "B", "zz": [], "weir_channels": "Phone"}, {"name": "C", "zz": "plain"}]
    content = "".join(json.dumps(row) + "\n" for row in rows).encode()
    mapping = pathlib.Path(folder) / "m.json"
    with simulator(SIM, "--users", "2", "--no-limits") as sim:
        for place, more in (("flag", ["--ignore-columns", "zz"]), ("file", ["--mapping", str(mapping)])):
            (pathlib.Path(folder) / place).mkdir()
            (pathlib.Path(folder) / place / "a.jsonl").write_bytes(content)
            if place == "file":
                written = run([WEIR, "map", "account", f"{folder}/{place}/a.jsonl", "-o", str(mapping), "--config",
                               write_config(folder, sim[1])])
                assert written.returncode == 0 and '"zz": null' in mapping.read_text(), (written, mapping.read_text())
            _, result = load(sim, pathlib.Path(folder) / place, "a.jsonl", content, *more)
            assert result.returncode == 0, (place, result)
        found = accounts(sim, ["name"]), [row[0] for row in accounts(sim, ["weir_channels", "name"]) if row[0]]
    assert found == ([("A",), ("A",), ("B",), ("B",), ("C",), ("C",)],
                     ["100000000,100000002"] * 2 + ["100000001"] * 2), found


def test_an_unclosed_quote_rejects_the_line_where_it_began(folder):
    content = b"name\nGood\n\"never closed\nGood too\n"
    with simulator(SIM, "--users", "2", "--no-limits") as sim:
        _, result = load(sim, folder, "a.csv", content)
        assert result.returncode == 1, result
        errors, rejects, summary = rejected(folder, "csv")
        assert [e["row"] for e in errors] == [2] and "quote" in errors[0]["message"], errors
        assert rejects == b"name\n\"never closed\n", rejects
        assert (summary["read"], summary["done"]) == (3, 2), summary


def test_what_is_no_file_or_not_of_the_same_kind_is_said_so(folder):
    first, second = pathlib.Path(folder) / "a.csv", pathlib.Path(folder) / "b.jsonl"
    first.write_text("name\nA\n")
    second.write_text('{"name":"A"}\n')
    with simulator(SIM, "--users", "1", "--no-limits") as sim:
        command = f"{WEIR} create account --config {write_config(folder, sim[1])} --job-dir {folder}/job"
        for rest, says in [
            (folder, "is a directory"),
            (f"{first} {second}", "is jsonl by its name; all files must be csv"),
            (f"{first} --mapping {folder}", "is a directory"),
            (f"<(cat {first})", 'name that as "-"'),
            (f"<(cat {first}) --format csv", 'name that as "-"'),
        ]:
            result = run(["bash", "-c", f"{command} {rest}"])
            assert result.returncode == 2 and says in result.stderr, result
            assert result.stderr.count("\n") == 1 and not (pathlib.Path(folder) / "job").exists(), result


def test_control_characters_that_xml_can_hold_arrive(folder):
    text = "\x7f \x80 \x85 \x9f"
    with simulator(SIM, "--users", "1", "--no-limits") as sim:
        _, result = load(sim, folder, "a.csv", f"name\n{text}\n".encode())
        assert result.returncode == 0 and "done 1" in result.stderr, result
        assert accounts(sim, ["name"]) == [(text,)]


def test_inputs_that_are_unusual_and_right(folder):
    contents = {"a cell of blanks": b"name,numberofemployees,industrycode\nA,  , \n",
                "a BOM": b"\xef\xbb\xbfname\nA\n", "no final newline": b"name\nA", "lone CRs": b"name\rA\r",
                "CRLF": b"name\r\nA\r\n", "quoted": b"\"name\"\n\"A\"\n"}
    with simulator(SIM, "--users", "2", "--no-limits") as sim:
        for what, content in contents.items():
            place = pathlib.Path(folder) / what.replace(" ", "_")
            place.mkdir()
            _, result = load(sim, place, "a.csv", content)
            summary = json.loads((place / "job" / "summary.json").read_text())
            assert (result.returncode, summary["done"]) == (0, 1), (what, result)


def test_a_header_alone_is_a_job_of_no_rows(folder):
    with simulator(SIM, "--users", "2", "--no-limits") as sim:
        _, result = load(sim, folder, "a.csv", b"name\n")
        assert result.returncode == 0 and "read 0" in result.stderr, result


def test_as_many_wrong_rows_as_were_allowed_stop_the_file(folder):
    with simulator(SIM, "--users", "2", "--no-limits") as sim:
        _, result = load(sim, folder, "a.csv", b"numberofemployees\n" + b"x\n" * 50, "--max-errors", "10")
        assert result.returncode == 3, result
        count = rejected(folder, "csv")[2]["rejected"]
        assert f"\nstopped at --max-errors 10: {count} rows are rejected\n" in result.stderr, result
        assert f"with a --max-errors that allows more than {count}, go on with" in result.stderr, result


def test_a_bound_that_nobody_gave_is_named_as_the_default(folder):
    with simulator(SIM, "--users", "2", "--no-limits") as sim:
        _, result = load(sim, folder, "a.csv", b"numberofemployees\n" + b"x\n" * 500)
        assert result.returncode == 3, result
        assert "stopped at --max-errors 100 (the default): " in result.stderr, result
        more = rejected(folder, "csv")[2]["rejected"] + 500
        again = run([WEIR, "resume", "--config", write_config(folder, sim[1]), "--max-errors", str(more),
                     str(pathlib.Path(folder) / "job")])
        assert again.returncode == 1, again


def test_a_compressed_file_that_cannot_be_read_to_its_end_is_not_for_resume(folder):
    whole_file = gzip.compress(b"accountnumber,name\n" + b"".join(b"A%d,%s\n" % (i, os.urandom(40).hex().encode())
                                                                 for i in range(20000)))
    spoilt = bytearray(whole_file)
    spoilt[-5] ^= 1  # of the checksum
    ways = {"cut": (whole_file[:len(whole_file) // 2], [], "ids.csv, which are there"),
            "derived": (whole_file[:len(whole_file) // 2], ["--id-from", "accountnumber"], "weir create skips them"),
            "damaged": (bytes(spoilt), [], "ids.csv, which are there")}
    for name, (content, more, words) in ways.items():
        place = pathlib.Path(folder) / name
        place.mkdir()
        with simulator(SIM, "--users", "2", "--no-limits") as sim:
            _, result = load(sim, place, "a.csv.gz", content, *more)
            assert result.returncode == 2, result
            assert "weir resume cannot go on" in result.stderr and words in result.stderr, result
            assert "go on with" not in result.stderr, result


def test_a_share_of_wrong_rows_is_one_of_all_that_were_read(folder):
    """Ours end at once, long before the answer for those beside them."""
    rows = b"".join(b"x\n" if number % 50 == 0 else b"1\n" for number in range(20000))
    with simulator(SIM, "--users", "2", "--no-limits", "--service-time", "20") as sim:
        _, result = load(sim, folder, "a.csv", b"numberofemployees\n" + rows, "--max-errors", "5%")
        assert result.returncode == 1, result
        assert rejected(folder, "csv")[2]["rejected"] == 400, result


def chosen():
    """All tests, or the one that tests/torture asks for: WEIR_ONLY==NAME."""
    only = os.environ.get("WEIR_ONLY", "")
    return types.SimpleNamespace(**{name: test for name, test in globals().items()
                                    if name.startswith("test_") and only in ("", "=" + name[5:])})


if __name__ == "__main__":
    run_tests(chosen())
