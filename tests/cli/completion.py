#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""weir completion, as shells use it: completion.py WEIR"""
import contextlib
import os
import pathlib
import pty
import re
import select
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


def ask_bash(*words, folder="/", state=None):
    """What bash would offer for the last word."""
    line = f"""
        source <({shlex.quote(WEIR)} completion bash)
        COMP_WORDS=({' '.join(map(shlex.quote, words))}) COMP_CWORD={len(words) - 1}
        _weir
        printf '%s\\n' "${{COMPREPLY[@]}}" """
    result = run(["bash", "--norc", "-c", line], env={"XDG_STATE_HOME": state or folder},
                 cwd=folder)
    assert result.returncode == 0 and result.stderr == "", result
    return set(result.stdout.split())


def options_of_zsh(command):
    block = re.search(rf"^        {command}\)\n(.*?);;", script("zsh"), re.M | re.S)[1]
    return set(re.findall(r"'\*?(--?[a-z-]+)", block))


def options_of_fish(command):
    lines = [line for line in script("fish").splitlines() if f"'__weir_is {command}'" in line]
    return {found[0] + found[1] for line in lines
            for found in [("--", *re.findall(r" -l (\S+)", line)),
                          ("-", *re.findall(r" -s (\S+)", line))] if len(found) == 2}


class Zsh:
    """A shell on a terminal, in which somebody presses the tabulator.

    One key does it all: it takes the question from a file and says when it is answered. The shell so never
    leaves its line editor, and no key meets a terminal that is in another mode for the moment.
    """

    # What is offered is what the builtin compadd is given; a call that only filters offers nothing.
    SETUP = """
        PS1= LISTMAX=100000; unsetopt beep auto_list auto_menu
        fpath=({functions} $fpath); autoload -Uz compinit; compinit -u -D
        compadd() {{
            local -a hits
            builtin compadd "$@"; local code=$?
            if [[ "$*" != *-[OAD]\\ * ]]; then
                builtin compadd -A hits "$@"
                (( $#hits )) && print -rl -- $hits >> {offered}
            fi
            return $code
        }}
        ask-it() {{
            BUFFER="$(<{question})"; CURSOR=$#BUFFER
            zle expand-or-complete
            BUFFER=; print -r -- "answered-$(<{number})-"
        }}
        zle -N ask-it; bindkey '^X' ask-it
    """

    def __init__(self, folder):
        self.offered, self.question, self.number = (
            pathlib.Path(folder) / name for name in ("offered", "question", "number"))
        functions = pathlib.Path(folder) / "functions"
        functions.mkdir()
        (functions / "_weir").write_text(script("zsh"))
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(folder + "/work")
            os.execvpe("zsh", ["zsh", "-f", "-i"], {**environment(folder), "TERM": "dumb"})
        for line in self.SETUP.format(functions=functions, offered=self.offered,
                                      question=self.question, number=self.number).splitlines():
            self.type(line.strip() + "\n")
        self.questions = 0
        self.ask("true")

    def type(self, text):
        os.write(self.terminal, text.encode())

    def ask(self, line):
        self.questions += 1
        self.offered.write_text("")
        # $(<…) drops only line ends: a blank at the end of the question stays.
        self.question.write_text(line + "\n")
        self.number.write_text(str(self.questions))
        self.type("\x18")
        said = b""
        while b"answered-%d-" % self.questions not in said:
            assert select.select([self.terminal], [], [], 60)[0], said
            said += os.read(self.terminal, 65536)
        return set(self.offered.read_text().split())

    def close(self):
        os.close(self.terminal)
        os.waitpid(self.pid, 0)


class Fish:
    def __init__(self, folder):
        self.folder = folder
        (pathlib.Path(folder) / "weir.fish").write_text(script("fish"))

    def ask(self, line):
        result = run(["fish", "--no-config", "-c", f"source {self.folder}/weir.fish; "
                      f"complete -C {shlex.quote(line)}"], env=environment(self.folder),
                     cwd=self.folder + "/work")
        assert result.returncode == 0 and result.stderr == "", result
        return {words.split("\t")[0].rstrip("/") for words in result.stdout.splitlines()}

    def close(self):
        pass


class Bash:
    """Asked as the shell itself would: through what `complete` says, files included."""

    def __init__(self, folder):
        self.folder = folder

    def ask(self, line):
        words = line.split(" ")
        offered = ask_bash(*words, folder=self.folder + "/work", state=self.folder + "/state")
        if offered or self.wants_no_file(words):
            return offered
        found = run(["bash", "-c", f"compgen -f -- {shlex.quote(words[-1])}"],
                    cwd=self.folder + "/work")
        return set(found.stdout.split())

    def wants_no_file(self, words):
        """The script says so by taking `default` away, which only works within a completion."""
        line = f"""
            compopt() {{ echo "$@"; }}
            source <({shlex.quote(WEIR)} completion bash)
            COMP_WORDS=({' '.join(map(shlex.quote, words))}) COMP_CWORD={len(words) - 1}
            _weir || :"""
        result = run(["bash", "--norc", "-c", line], env=environment(self.folder))
        assert result.returncode == 0 and result.stderr == "", result
        return "+o default" in result.stdout

    def close(self):
        pass


def environment(folder):
    return {"PATH": f"{os.path.dirname(WEIR)}:/usr/bin:/bin", "HOME": folder, "LANG": "C.UTF-8",
            "XDG_STATE_HOME": folder + "/state"}


@contextlib.contextmanager
def every_shell(folder):
    """Those that are installed, by name; each in a folder of its own with files and jobs."""
    shells = {}
    try:
        for name, kind in (("bash", Bash), ("zsh", Zsh), ("fish", Fish)):
            if not shutil.which(name):
                print(f"# {name} is not installed: skipped")
                continue
            own = pathlib.Path(folder) / name
            for path in ("work/sub", "state/weir/jobs/nightly", "state/weir/jobs/weekly"):
                (own / path).mkdir(parents=True)
            for path in ("rows.csv", "other.csv"):
                (own / "work" / path).touch()
            shells[name] = kind(str(own))
        yield shells
    finally:
        for shell in shells.values():
            shell.close()


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


def test_what_an_operation_has_no_use_for_is_not_offered(folder):
    no_use = {"create": {"--key", "--yes"}, "update": {"--owner"}, "delete": {"--owner"},
              "upsert": set(), "resume": {"--yes", "--key", "--owner"}}
    for command, names in no_use.items():
        for offered in (options_of_zsh(command), options_of_fish(command)):
            assert offered & {"--key", "--yes", "--owner"} == {
                "--key", "--yes", "--owner"} - names, (command, offered)
    refused = run([WEIR, "create", "account", "x.csv", "--key", "a"], cwd=folder)
    assert refused.returncode == 2 and "takes no key" in refused.stderr, refused


def test_every_command_is_offered(folder):
    expected = set(commands())
    assert expected <= ask_bash("weir", ""), ask_bash("weir", "")
    assert expected | {"help"} == ask_bash("weir", "help", "")
    assert ask_bash("weir", "cre") == {"create"}
    for command in expected:
        assert f"        '{command}:" in script("zsh"), command
        assert f"'__weir_at 1' -a {command} -d '" in script("fish"), command


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


JOBS, FILES = {"nightly", "weekly"}, {"rows.csv", "other.csv", "sub"}
QUESTIONS = [
    ("weir cre", {"create"}),
    ("weir --", {"--help", "--version"}),
    ("weir create --ow", {"--owner"}),
    ("weir create --owner ", {"caller", "systemuser:", "team:"}),
    ("weir create --progress ", {"auto", "plain", "json", "none"}),
    ("weir upsert --log-level ", {"error", "warning", "info", "debug", "trace"}),
    ("weir resume ", JOBS),
    ("weir resume n", {"nightly"}),
    ("weir rejects ", JOBS),
    ("weir jobs ", {"show", "clean"}),
    ("weir jobs show ", JOBS),
    ("weir config ", {"show"}),
    ("weir completion ", set(SHELLS)),
    ("weir create account ", FILES),
    ("weir create account ro", {"rows.csv"}),
    ("weir create account --config ", FILES),
    ("weir create account --report ", FILES),
    ("weir create account --job-dir ", {"sub"}),
    ("weir demo --keep ", {"sub"}),
    ("weir create account --tag ", set()),
    ("weir describe ", set()),
    ("weir explain ", set()),
    ("weir create jobs ", FILES),  # a table may have the name of a command
]


def test_what_is_offered_is_the_same_in_every_shell(folder):
    with every_shell(folder) as shells:
        for name, shell in shells.items():
            for line, expected in QUESTIONS:
                offered = shell.ask(line)
                assert offered == expected, (name, line, offered, expected)


def test_every_command_and_option_is_offered_by_every_shell(folder):
    every = set(commands())
    with every_shell(folder) as shells:
        for name, shell in shells.items():
            assert every <= shell.ask("weir "), (name, shell.ask("weir "))
            assert every <= shell.ask("weir help "), name
            for command in every:
                offered = shell.ask(f"weir {command} -")
                expected = ask_bash("weir", command, "-")
                assert offered == expected, (name, command, offered ^ expected)


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
