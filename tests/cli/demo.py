#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""weir demo, and that it notices when the show is not as it should be: demo.py WEIR WEIR_SIM"""
import os
import pathlib
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

from harness import run, run_tests
from progress import Terminal

WEIR, SIM = map(os.path.abspath, sys.argv[1:3])

# In this order; between them there may be more.
SENTENCES = [
    r"1\. The world\. .*\s+listens\s+on\s+http://127\.0\.0\.1:\d+",
    r"2\. A neighbour\. Another program works as app1",
    r"3\. The load\.",
    r"\$ weir create account ",
    r"warning .*Connection=app1 .*Kind=requests",
    r"read [\d,]+ = done [\d,]+ \+ rejected 0 \+ skipped 0 \+ unknown 0 \+ not sent [1-9]",
    r"report: .*report-load\.html",
    r"interrupted",
    r"4\. The resume\. What was on its way came home",
    r"\$ weir resume ",
    r"read 20,000 = done 20,000 \+ rejected 0 \+ skipped 0 \+ unknown 0 \+ not sent 0",
    r"report: .*report-resume\.html",
    r"5\. The proof",
    r"the ledger has 20,000 rows, 20,000 different account numbers, 0 duplicates",
    r"app1 +[\d,]+ +[\d,]+ +[1-9]",
    r"To look at, in /",
    r"20,000 rows, none lost, none doubled",
]
PLAIN = r"\d:\d\d:\d\d  [\d,]+ done, .*app1.* throttled for"
VIEW = r"app1 +throttled until \d\d:\d\d:\d\d"
REPORTS = {"report-load.html", "report-resume.html"}


def environment(folder, sim=SIM, **more):
    """A place for temporary files, and where the simulator is found."""
    place = pathlib.Path(folder) / "tmp"
    place.mkdir(exist_ok=True)
    # A setting that would break everything if it were heeded.
    return {"PATH": f"{os.path.dirname(sim)}:/usr/bin:/bin", "TMPDIR": str(place),
            "Dataverse__Url": "https://nowhere.invalid", **more}


def ignore_interrupts():
    """As a shell does for what it starts in the background."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def is_served(url):
    host, port = url.removeprefix("http://").split(":")
    with socket.socket() as probe:
        return probe.connect_ex((host, int(port))) == 0


def address(text):
    return re.search(r"http://127\.0\.0\.1:\d+", text).group(0)


def expect_sentences(text):
    place = 0
    for sentence in SENTENCES:
        found = re.compile(sentence).search(text, place)
        assert found, (sentence, text)
        place = found.end()


def expect_pages(folder):
    for name in REPORTS:
        page = (pathlib.Path(folder) / name).read_text()
        assert page.startswith("<!DOCTYPE html>") and page.rstrip().endswith("</html>"), name
        assert page.count("<svg") == 7, (name, page.count("<svg"))


def fake_sim(folder, text):
    path = pathlib.Path(tempfile.mkdtemp(dir=folder)) / "weir-sim"
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    return str(path)


def left_in(folder):
    """What the demo has left among the temporary files."""
    return sorted(pathlib.Path(folder, "tmp").iterdir())


def test_the_show_goes_on_to_its_end_in_plain_lines(folder):
    kept = pathlib.Path(folder) / "kept"
    result = subprocess.run([WEIR, "demo", "--keep", kept], capture_output=True, text=True,
                            timeout=240, preexec_fn=ignore_interrupts, env=environment(folder))
    assert result.returncode == 0, result
    assert result.stderr == "" and not re.search(r"[\x00-\x09\x0b-\x1f]", result.stdout), result
    expect_sentences(result.stdout)
    assert "/./" not in result.stdout, result.stdout
    assert re.search(PLAIN, result.stdout), result.stdout
    assert max(map(len, result.stdout.splitlines())) < 200, result.stdout
    listed = result.stdout.split("To look at, in ")[1]
    assert listed.startswith(str(kept.resolve())), listed
    for name in re.findall(r"^  (\S+)  ", listed, re.MULTILINE):
        assert (kept / name).is_file(), name
    expect_pages(kept)
    assert left_in(folder) == [], left_in(folder)
    assert not is_served(address(result.stdout)), "weir-sim is still there"


def test_on_a_terminal_it_is_the_live_view_and_only_reports_are_left(folder):
    with Terminal(folder, 110, 40, "demo", **environment(folder)) as terminal:
        terminal.until(VIEW)
        code = terminal.end()
        text = terminal.screen.text()
    assert code == 0, text
    expect_sentences(re.sub(r"(MaxR\w*)\n(\w*=)", r"\1\2", text))  # a line too wide goes on
    left = left_in(folder)
    assert len(left) == 1 and set(os.listdir(left[0])) == REPORTS, left
    assert f"To look at, in {left[0].resolve()}" in text, text
    expect_pages(left[0])
    assert left[0].stat().st_mode & 0o077 == 0


def test_what_is_not_as_it_should_be_ends_it(folder):
    listens = "echo listening http://127.0.0.1:1; exec sleep 300\n"
    for text, code, words in (
            ("exit 1\n", 70, "weir-sim does not start"),
            ("echo hello\n", 70, "not where it listens"),
            ('case "$*" in *print-config*) exit 1 ;; esac\n' + listens, 70, "how to log in"),
            (f'case "$*" in *print-config*) exec {shlex.quote(SIM)} "$@" ;; esac\n' + listens, 10,
             "127.0.0.1"),
            # Too fast to be interrupted, or never throttled.
            (f'exec {shlex.quote(SIM)} "$@" --no-limits --service-time 0\n', 70,
             "(weir create ended with 0, not 5|app1 was never throttled)")):
        sim = fake_sim(folder, text)
        result = subprocess.run([WEIR, "demo"], capture_output=True, text=True, timeout=240,
                                env=environment(folder, sim))
        assert result.returncode == code, (text, result)
        last = result.stderr.splitlines()[-1]
        assert last.startswith("weir demo: ") and re.search(words, last), (words, result)
        assert os.path.isdir(last.split("the files are in ")[1]), last


def test_what_it_cannot_begin_with_is_one_sentence(folder):
    alone = shutil.copy(WEIR, folder)
    full = pathlib.Path(folder) / "full"
    full.mkdir()
    (full / "file").touch()
    for words, env, code, says in (
            ([alone, "demo"], {"PATH": folder}, 2, "there is no weir-sim"),
            ([WEIR, "demo", "now"], {}, 2, "it takes no operand"),
            ([WEIR, "demo", "--keep", str(full)], {}, 2, "it must be a folder that is empty"),
            ([WEIR, "demo", "--kep", folder], {}, 2, 'did you mean --keep?'),
            ([WEIR, "demo"], {"TMPDIR": folder + "/nowhere"}, 7, "cannot be written")):
        result = run(words, env={**environment(folder), **env})
        assert result.returncode == code and says in result.stderr, (words, result)
        assert result.stderr.count("\n") == 1 and result.stdout == "", result
    assert os.listdir(full) == ["file"] and left_in(folder) == []


def until_it_loads(process):
    said = ""
    for line in process.stdout:
        said += line
        if "weir create: account at" in line:
            return said
    raise AssertionError(said)


def test_a_show_that_is_ended_leaves_no_process_and_no_file(folder):
    for number in (signal.SIGTERM, signal.SIGHUP):
        with subprocess.Popen([WEIR, "demo"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, env=environment(folder)) as process:
            said = until_it_loads(process)
            process.send_signal(number)
            said += process.stdout.read()  # its end: nobody has it open any more
            assert process.wait(60) == 5 and said.endswith("weir demo: interrupted\n"), said
        assert not is_served(address(said)), "weir-sim is still there"
        assert left_in(folder) == [], left_in(folder)


def test_a_show_that_is_killed_leaves_no_process(folder):
    with subprocess.Popen([WEIR, "demo"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, env=environment(folder)) as process:
        said = until_it_loads(process)
        process.kill()
        said += process.stdout.read()
    place, = left_in(folder)
    result = run([WEIR, "resume", "--config", str(place / "appsettings.json"), str(place / "job")])
    assert result.returncode == 10, result  # nobody holds the job, and the service is gone


def test_ctrl_c_on_the_terminal_ends_it_all(folder):
    with Terminal(folder, 100, 30, "demo", **environment(folder)) as terminal:
        terminal.until("weir create: account at")
        os.write(terminal.controller, b"\x03")
        code = terminal.end()
        text = terminal.screen.text()
    assert code == 5 and text.rstrip().endswith("weir demo: interrupted"), text
    assert "go on with" not in text and "stopping" not in text, text
    assert left_in(folder) == [] and not is_served(address(text)), text


def test_its_own_words_are_broken_between_words_at_any_width(folder):
    """Up to the load, whose lines are another's; then it is ended."""
    words = None
    for columns in (100, 80, 40):
        with Terminal(folder, columns, 60, "demo", **environment(folder)) as terminal:
            terminal.until("weir create: account at")
            text = terminal.screen.text()
            os.write(terminal.controller, b"\x03")
            terminal.end()
        narrated = text[text.index("1. The world"):text.index("$ cd ")]
        assert max(map(len, narrated.splitlines())) <= columns, text
        told = re.sub(r":\d+", "", " ".join(narrated.split()))
        assert words in (None, told), (words, told)
        words = told
        command = re.search(r"\$ weir create(.*\\\n)*.*\n", text).group(0).replace(" \\\n   ", "")
        assert command == ("$ weir create account accounts.csv --owner caller --job-dir job "
                           "--report report-load.html --max-parallel 12\n"), command


def test_the_help_fits_one_screen_and_shows_an_example(folder):
    lines = run([WEIR, "help", "demo"]).stdout.splitlines()
    assert len(lines) <= 30 and max(map(len, lines)) <= 88, lines
    assert lines[-2] == "example:" and lines[-1].startswith("  weir demo "), lines
    assert run([WEIR, "demo", "-h"]).stdout.splitlines() == lines


if __name__ == "__main__":
    run_tests(sys.modules["__main__"])
