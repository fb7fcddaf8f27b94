#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""weir explain as people use it: explain.py WEIR CATALOGUE_C"""
import os
import re
import subprocess
import sys

from harness import run, run_tests

WEIR, CATALOGUE = map(os.path.abspath, sys.argv[1:3])


def explain(*arguments):
    return run([WEIR, "explain", *arguments])


def test_every_code_of_the_catalogue_is_explained_in_every_spelling(folder):
    text = open(CATALOGUE).read()
    codes = {int(code, 16) for code in re.findall(r"^    \{ (0x[0-9A-F]{8}),", text, re.M)}
    codes |= {0x80072321, 0x80072322, 0x80072326}  # these have names
    assert len(codes) > 50
    for code in sorted(codes):
        first = explain(f"0x{code:08x}")
        assert first.returncode == 0 and first.stderr == "", first
        assert first.stdout.startswith(f"0x{code:08X}  "), first
        for word in ("means", "you can", "executed", "weir does"):
            assert f"\n  {word:<12} " in first.stdout, (word, first)
        assert max(map(len, first.stdout.splitlines())) <= 80, first
        for spelling in (f"0X{code:08X}", f"{code:08x}", str(code), str(code - 2**32)):
            assert explain(spelling).stdout == first.stdout, spelling


def test_a_code_with_several_meanings_has_all_of_them_with_their_conditions(folder):
    result = explain("0x80044150")
    assert result.stdout.count("0x80044150  ") == 6, result
    for number in (1205, 3732, 2766, 2812, -2):
        assert f'the message has "Sql Number: {number}"' in result.stdout, (number, result)
    assert 'the message has "query syntax"' in explain("0x80060888").stdout
    assert "depends on the HTTP status" in explain("0x0").stdout


def test_a_duplicate_says_what_to_do(folder):
    result = explain("0x80040237")
    assert "\n  you can      use upsert to change what is there\n" in result.stdout, result
    assert "\n  means        a record with this id exists already\n" in result.stdout, result
    assert "-2147220937" in result.stdout and "rejected" in result.stdout, result


def test_numbers_of_the_login_are_explained_with_and_without_their_prefix(folder):
    for number in (7000215, 7000222, 700016, 500011, 70011, 1002012, 90014, 7000218, 90002, 700027,
                   700024):
        result = explain(f"AADSTS{number}")
        assert result.returncode == 0 and f"AADSTS{number}  " in result.stdout, result
        assert explain(str(number)).stdout == explain(f"aadsts{number}").stdout == result.stdout


def test_every_status_of_the_service_is_explained_as_the_engine_reads_it(folder):
    for status, executed, does in [
        (200, "yes", "its rows are done"),
        (204, "yes", "its rows are done"),
        (400, "no;", "the row is rejected"),
        (401, "no;", "a new token is asked for once"),
        (403, "no;", "the rows go through other connections"),
        (404, "no;", "the row is rejected"),
        (408, "not known", "the rows go again, after waits"),
        (412, "no;", "the row is rejected"),
        (413, "no;", "the rows go again in smaller requests"),
        (429, "no;", "the connection rests"),
        (500, "not known", "the rows go again, after waits"),
        (502, "not known", "the rows go again, after waits"),
        (503, "not known", "the rows go again, after waits"),
        (504, "not known", "the rows go again, after waits"),
    ]:
        result = explain(str(status))
        assert result.returncode == 0 and result.stdout.startswith(f"HTTP {status}  "), result
        assert f"\n  executed     {executed}" in result.stdout, result
        assert f"\n  weir does    {does}" in result.stdout, result
        assert "\n  means        " in result.stdout and "\n  you can      " in result.stdout, result
        assert ("the code decides" in result.stdout) == (status >= 300), result
        assert max(map(len, result.stdout.splitlines())) <= 80, result


def test_lines_are_broken_between_words_at_any_width(folder):
    for code in ("0x80072321", "0x80040237", "0x80044150", "AADSTS7000215", "429"):
        words = explain(code).stdout.split()
        for columns in (30, 60, 200):
            result = run([WEIR, "explain", code], env={"COLUMNS": str(columns)})
            assert result.stdout.split() == words, result
            condition = [line for line in result.stdout.splitlines() if "  if  " not in line]
            assert max(map(len, condition[1:])) <= columns, result.stdout


def test_what_is_not_known_or_no_code_is_one_sentence_and_exit_2(folder):
    for arguments, says in [
        (["0x80049999"], "0x80049999 is not known here"),
        (["-1"], "0xFFFFFFFF is not known here"),
        (["AADSTS1"], "AADSTS1 is not known here"),
        (["12345"], "AADSTS12345 is not known here"),
        (["99"], "AADSTS99 is not known here"),
        (["600"], "AADSTS600 is not known here"),
        (["418"], "HTTP 418 is no status that the service gives"),
        (["AADSTS429"], "AADSTS429 is not known here"),
        (["0x"], '"0x" is no code'),
        (["0x800402371"], '"0x800402371" is no code'),
        (["AADSTS"], '"AADSTS" is no code'),
        (["AADSTS12345678901234567890"], "is no code"),
        (["AADSTS-5"], "is no code"),
        (["4294967296"], "is no code"),
        (["-2147483649"], "is no code"),
        (["99999999999999999999"], "is no code"),
        (["duplicate"], '"duplicate" is no code'),
        ([""], '"" is no code'),
        ([], "it takes one code"),
        (["1", "2"], "it takes one code"),
        (["--jsno"], 'there is no option "--jsno"'),
    ]:
        result = explain(*arguments)
        assert result.returncode == 2 and result.stdout == "", (arguments, result)
        assert says in result.stderr and result.stderr.count("\n") == 1, (arguments, result)


def test_a_full_disk_is_exit_7(folder):
    with open("/dev/full", "w") as full:
        process = subprocess.run([WEIR, "explain", "0x80040237"], stdout=full,
                                 stderr=subprocess.PIPE)
    assert process.returncode == 7 and process.stderr.count(b"\n") == 1, process


if __name__ == "__main__":
    run_tests(sys.modules["__main__"])
