#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What is said of the commands, in help texts and manuals: help.py WEIR WEIR_SIM WEIR_LAB

The help texts are those of tests/cli/golden, byte for byte. After a change that was meant:
    WEIR_RENEW=1 meson test -C build/debug help
and look at what git says of that folder.
"""
import json
import os
import pathlib
import re
import subprocess
import sys

from harness import run, run_tests

WEIR, SIM, LAB = map(os.path.abspath, sys.argv[1:4])
SOURCE = pathlib.Path(__file__).parents[2]
GOLDEN = SOURCE / "tests" / "cli" / "golden"
PAGES = {name: SOURCE / "man" / name
         for name in ("weir.1", "weir-sim.1", "weir-lab.1", "weir-config.5")}
OPTION = r"(?<![\w-])--?[a-z][a-z-]*"
LINES, COLUMNS = 24, 80


def commands():
    return re.findall(r"^  ([a-z]+) +\S", run([WEIR, "help"]).stdout, re.M)


def helps():
    """Every help text there is: the file that has it -> the words that print it."""
    texts = {"weir": [WEIR, "help"], "weir-sim": [SIM, "--help"], "weir-lab": [LAB, "--help"]}
    for name in commands():
        if name != "help":
            texts["weir-" + name] = [WEIR, "help", name]
    return texts


def options_of_help(*names):
    texts = helps()
    return {option for name in names
            for option in re.findall(OPTION, run(texts[name]).stdout.split("\nexample")[0])}


def options_of_page(name):
    """As mdoc has them: .Fl -name, .Fl o."""
    found = re.findall(r"\bFl (-?[a-z][a-z-]*)", PAGES[name].read_text())
    return {"-" + option for option in found}


def options_of_parser():
    """All that any command of weir takes, as the completion has them."""
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", run([WEIR, "completion", "bash"]).stdout))


# What was promised when the command was designed.
PROMISED = {
    "create": """--config --url --job --or-resume --job-dir --id-from --mapping --owner --as
        --timezone --empty --with --ignore-columns --batch-size --max-errors --max-parallel
        --max-rate --limit --deadline --bypass-logic --bypass-flows --detect-duplicates --tag
        --progress --report --metrics-listen --log-level --log-format --policy --preset --strategy
        --max-retry-after --memory --set""",
    "update": "--key --yes", "upsert": "--key --yes --owner --id-from", "delete": "--key --yes",
    "resume": """--config --max-parallel --max-rate --max-errors --limit --deadline --progress
        --report --metrics-listen --memory""",
    "check": "--config --set", "describe": "--json", "map": "-o", "jobs": "--json --force --yes",
    "rejects": "--with-reasons", "config": "--set", "completion": "", "explain": "",
}


# --- help ---------------------------------------------------------------------------------------

def test_every_help_is_the_golden_one(folder):
    texts = {name + ".txt": run(words) for name, words in helps().items()}
    for name, result in texts.items():
        assert result.returncode == 0 and result.stderr == "", result
        if os.environ.get("WEIR_RENEW"):
            (GOLDEN / name).write_text(result.stdout)
        assert result.stdout == (GOLDEN / name).read_text(), f"{name}: {result.stdout}"
    if os.environ.get("WEIR_RENEW"):
        for path in set(GOLDEN.iterdir()) - {GOLDEN / name for name in texts}:
            path.unlink()
    assert {path.name for path in GOLDEN.iterdir()} == set(texts)


def test_every_help_of_the_command_fits_one_screen_and_shows_an_example(folder):
    for name, words in helps().items():
        text = run(words).stdout
        lines = text.splitlines()
        assert text.isascii() and text.endswith("\n") and "\t" not in text, text
        assert all(line == line.rstrip() for line in lines), text
        if name in ("weir", "weir-sim", "weir-lab"):
            continue
        command = name.split("-")[1]
        assert lines[0].startswith(f"usage: weir {command}"), text
        assert lines[-2] == "example:" and lines[-1].startswith(f"  weir {command} "), text
        assert len(lines) < LINES and max(map(len, lines)) <= COLUMNS, text
    overview = run([WEIR, "help"]).stdout.splitlines()
    assert len(overview) < LINES and max(map(len, overview)) <= COLUMNS, overview


def test_help_is_the_same_however_it_is_asked_for(folder):
    for name in commands():
        if name == "help":
            continue
        text = run([WEIR, "help", name]).stdout
        for words in ([name, "--help"], [name, "-h"], [name, "--help", "x", "y", "z"]):
            result = run([WEIR, *words], cwd=folder)
            assert (result.returncode, result.stdout, result.stderr) == (0, text, ""), result
    overview = run([WEIR, "help"]).stdout
    assert run([WEIR, "--help"]).stdout == run([WEIR, "-h"]).stdout == overview
    bare = run([WEIR])
    assert (bare.returncode, bare.stdout, bare.stderr) == (2, "", overview), bare


def test_everything_that_was_promised_is_in_the_help(folder):
    assert set(PROMISED) <= set(commands())
    for command, options in PROMISED.items():
        missing = set(options.split()) - options_of_help("weir-" + command)
        assert not missing, (command, missing)


def test_the_help_of_the_simulator_fits_forty_lines_of_eighty_columns(folder):
    lines = run([SIM, "--help"]).stdout.splitlines()
    assert len(lines) <= 40 and max(map(len, lines)) <= 80, lines


def test_a_mistyped_word_gets_the_right_one(folder):
    for words, right in ((["creat"], '"create"'), (["help", "rejcts"], '"rejects"'),
                         (["jobs", "shwo", "x"], '"show"'), (["completion", "bahs"], "bash"),
                         (["create", "--ownr", "x"], "--owner"),
                         (["resume", "--max-parallell", "3"], "--max-parallel"),
                         (["explain", "--hlep"], "--help"), (["--hlep"], "--help"),
                         (["--verison"], "--version"),
                         (["rejects", "--with-reason", "x"], "--with-reasons")):
        result = run([WEIR, *words], cwd=folder)
        assert result.returncode == 2 and f"did you mean {right}?" in result.stderr, result
        assert result.stdout == "" and result.stderr.count("\n") == 1, result
    assert run([WEIR, "help", "help"]).stdout == run([WEIR, "help"]).stdout
    for words, right in ((["--prt", "0"], "--port"), (["--no-limit"], "--no-limits")):
        result = run([SIM, *words], cwd=folder)
        assert result.returncode == 2 and f"did you mean {right}?" in result.stderr, result


def test_a_full_disk_is_exit_7_and_a_reader_that_leaves_is_no_noise(folder):
    for words in ([], ["create"], ["jobs"], ["explain"]):
        for form in (["help", *words], [*words, "--help"]):
            with open("/dev/full", "w") as full:
                result = subprocess.run([WEIR, *form], stdout=full, stderr=subprocess.PIPE,
                                        text=True)
            assert result.returncode == 7 and "cannot be written" in result.stderr, result
            assert result.stderr.count("\n") == 1, result
    for words in ("help create", "--version", "explain 0x80040237", "completion bash"):
        left = run(["bash", "-o", "pipefail", "-c", f"'{WEIR}' {words} | true"])
        assert left.stderr == "" and left.returncode in (0, 141), left


# --- manuals ------------------------------------------------------------------------------------

def test_every_option_of_the_help_is_in_the_manual_and_the_other_way_round(folder):
    of_weir = options_of_help(*(name for name in helps()
                                if name not in ("weir-sim", "weir-lab"))) | {"--help", "-h"}
    page = options_of_page("weir.1")
    assert of_weir == page, (of_weir - page, page - of_weir)
    assert options_of_parser() <= page, options_of_parser() - page
    for name in ("weir-sim", "weir-lab"):
        helped, page = options_of_help(name), options_of_page(name + ".1")
        assert helped == page, (name, helped - page, page - helped)


def test_every_command_and_exit_code_is_in_the_manual(folder):
    text = PAGES["weir.1"].read_text()
    synopsis = text.split(".Sh SYNOPSIS")[1].split(".Sh DESCRIPTION")[0]
    for name in commands():
        assert re.search(rf"^\.Cm .*\b{name}\b", synopsis, re.M), name
    codes = text.split(".Sh EXIT STATUS")[1].split(".Sh EXAMPLES")[0]
    assert re.findall(r"^\.It (\d+)$", codes, re.M) == "0 1 2 3 4 5 6 7 8 10 70".split(), codes
    assert "70, 7, 4, 10, 8, 3, 6, 5, 2, 1" in codes, codes


def keys_of_page():
    """Key -> the words below it."""
    parts = re.split(r"^\.It Cm ([\w:#]+)$", PAGES["weir-config.5"].read_text(), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def test_every_key_is_in_the_manual_with_its_default(folder):
    shown = json.loads(run([WEIR, "config", "show", "--json"], cwd=folder).stdout)
    prefix = "Dataverse:"
    plain = {it["key"][len(prefix):]: it["value"] for it in shown}
    source = (SOURCE / "src" / "config" / "keys.c").read_text()
    of_connection = {f"Connections:#:{name}"
                     for name in re.findall(r'OF_CONNECTION\("(\w+)"', source)}
    page = keys_of_page()
    assert set(page) == set(plain) | of_connection, set(page) ^ (set(plain) | of_connection)
    for key, value in plain.items():
        if value is not None:
            assert f".Pq {value} .\n" in page[key], (key, value, page[key])


def test_every_key_is_in_the_document_as_well(folder):
    text = (SOURCE / "docs" / "configuration.md").read_text()
    for key in keys_of_page():
        assert f"`{key.split(':')[-1]}`" in text or f"`{':'.join(key.split(':')[-2:])}`" in text, key


def test_the_manuals_are_well_formed(folder):
    for path in PAGES.values():
        result = run(["man", "--warnings=all", "-E", "UTF-8", "-l", str(path)],
                     env={"MANWIDTH": "80", "MANPAGER": "cat"})
        assert result.returncode == 0 and result.stderr == "", (path, result.stderr)
        assert max(map(len, result.stdout.splitlines())) <= 120, path


if __name__ == "__main__":
    run_tests(sys.modules["__main__"])
