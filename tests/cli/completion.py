#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""weir completion, as shells use it: completion.py WEIR"""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

from harness import run, run_tests

WEIR = os.path.abspath(sys.argv[1])
OF_OTHERS = {"map": {"--mapping"}}  # that a help text names, and are those of other commands
SHELLS = ("bash", "zsh", "fish")


def commands():
    overview = run([WEIR, "help"]).stdout
    return [name for name in re.findall(r"^  ([a-z]+) +\S", overview, re.M) if name != "help"]


def options_of_help(command):
    """Every option that a help text names."""
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]*[a-z]", run([WEIR, "help", command]).stdout))


def script(shell):
    result = run([WEIR, "completion", shell])
    assert result.returncode == 0 and result.stderr == "", result
    return result.stdout


def ask_bash(*words, folder="/"):
    """What bash would offer for the last word."""
    line = f"""
        source <({shlex.quote(WEIR)} completion bash)
        COMP_WORDS=({' '.join(map(shlex.quote, words))}) COMP_CWORD={len(words) - 1}
        _weir
        printf '%s\\n' "${{COMPREPLY[@]}}" """
    result = run(["bash", "--norc", "-c", line], env={"XDG_STATE_HOME": folder}, cwd=folder)
    assert result.returncode == 0 and result.stderr == "", result
    return set(result.stdout.split())


def options_of_zsh(command):
    block = re.search(rf"^        {command}\)\n(.*?);;", script("zsh"), re.M | re.S)[1]
    return set(re.findall(r"'\*?(--?[a-z-]+)", block))


def options_of_fish(command):
    lines = [line for line in script("fish").splitlines()
             if f"__fish_seen_subcommand_from {command}'" in line]
    return {found[0] + found[1] for line in lines
            for found in [("--", *re.findall(r" -l (\S+)", line)),
                          ("-", *re.findall(r" -s (\S+)", line))] if len(found) == 2}


def test_every_option_of_every_help_is_in_every_completion(folder):
    assert len(commands()) >= 12, commands()
    for command in commands():
        helped = options_of_help(command) - OF_OTHERS.get(command, set())
        for offered in (ask_bash("weir", command, "-"), options_of_zsh(command),
                        options_of_fish(command)):
            assert helped <= offered, (command, helped - offered)
            assert "--help" in offered, command


def test_the_shells_offer_the_same_and_the_parser_takes_it(folder):
    for command in commands():
        offered = ask_bash("weir", command, "-")
        assert offered == options_of_zsh(command) == options_of_fish(command), command
        for option in offered:
            result = run([WEIR, command, option], cwd=folder)
            assert "there is no option" not in result.stderr, (command, option, result)
            assert "cannot be given again" not in result.stderr, (command, option, result)


def test_every_command_is_offered(folder):
    expected = set(commands())
    assert expected <= ask_bash("weir", ""), ask_bash("weir", "")
    assert expected | {"help"} == ask_bash("weir", "help", "")
    assert ask_bash("weir", "cre") == {"create"}
    for command in expected:
        assert f"        '{command}:" in script("zsh"), command
        assert f"__fish_use_subcommand -a {command} -d '" in script("fish"), command


def test_words_that_are_offered_are_those_that_the_parser_names(folder):
    rows = pathlib.Path(folder) / "rows.csv"
    rows.write_text("name\nx\n")
    seen = 0
    for option in sorted(ask_bash("weir", "check", "-")):
        words = ask_bash("weir", "check", option, "", folder=folder)
        if option in ("-h", "--help") or not words:
            continue
        arguments = ["check", "account", str(rows), option, "zzz"]
        if option == "--progress":  # what only a run takes
            arguments[0] = "create"
        wrong = run([WEIR, *arguments], cwd=folder)
        assert wrong.returncode == 2 and '"zzz"' in wrong.stderr, (option, wrong)
        for word in words:
            assert word.rstrip(":") in wrong.stderr, (option, word, wrong)
        named = re.search(r"must be ((?:\w+, )*\w+ or \w+)$", wrong.stderr.strip())
        assert not named or set(re.split(", | or ", named[1])) == words, (option, words, wrong)
        seen += bool(named)
    assert seen >= 7, seen


def test_jobs_and_other_words_are_offered_in_their_place(folder):
    for name in ("nightly", "weekly"):
        (pathlib.Path(folder) / "weir" / "jobs" / name).mkdir(parents=True)
    for words in (["resume"], ["rejects"], ["jobs", "show"]):
        assert ask_bash("weir", *words, "", folder=folder) == {"nightly", "weekly"}, words
    assert ask_bash("weir", "jobs", "") == {"show", "clean"}
    assert ask_bash("weir", "config", "") == {"show"}
    assert ask_bash("weir", "completion", "") == set(SHELLS)
    assert ask_bash("weir", "create", "account", "") == set()  # files, which bash itself knows
    assert ask_bash("weir", "create", "--config", "") == set()


def test_the_scripts_are_well_formed(folder):
    for shell in SHELLS:
        path = pathlib.Path(folder) / shell
        path.write_text(script(shell))
        if shutil.which(shell):
            result = run([shell, "-n", str(path)])
            assert result.returncode == 0 and result.stderr == "", (shell, result)
        words = shlex.split(path.read_text(), comments=True) if shell != "fish" else ["once"]
        assert words, shell


def test_what_is_wrong_is_one_sentence_and_exit_2(folder):
    for arguments, says in [
        ([], "it takes one shell"),
        (["bash", "zsh"], "it takes one shell"),
        (["powershell"], "it must be bash, zsh or fish"),
        (["bahs"], "did you mean bash?"),
        (["--shell"], 'there is no option "--shell"'),
    ]:
        result = run([WEIR, "completion", *arguments])
        assert result.returncode == 2 and result.stdout == "", (arguments, result)
        assert says in result.stderr and result.stderr.count("\n") == 1, (arguments, result)
    with open("/dev/full", "w") as full:
        process = subprocess.run([WEIR, "completion", "bash"], stdout=full, stderr=subprocess.PIPE)
    assert process.returncode == 7 and process.stderr.count(b"\n") == 1, process


def test_the_help_fits_one_screen_and_shows_an_example(folder):
    lines = run([WEIR, "help", "completion"]).stdout.splitlines()
    assert len(lines) <= 30 and max(map(len, lines)) <= 88, lines
    assert lines[-2] == "example:" and lines[-1].startswith("  weir completion "), lines
    assert run([WEIR, "completion", "-h"]).stdout.splitlines() == lines


if __name__ == "__main__":
    run_tests(sys.modules["__main__"])
