#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What ./demo shows, and that it notices when it does not: demo.py SHOW SCENARIO WEIR WEIR_SIM"""
import os
import pathlib
import re
import shlex
import signal
import socket
import subprocess
import sys
import tempfile

from harness import run_tests

SHOW, SCENARIO, WEIR, SIM = map(os.path.abspath, sys.argv[1:5])

# In this order; between them there may be more.
SENTENCES = [
    r"1\. A small Dataverse listens on http://127\.0\.0\.1:\d+",
    r"2\. Another program works as app1",
    r"3\. The load\.",
    r"\$ weir create account ",
    r"warning .*Connection=app1 .*Kind=requests",
    r"\d:\d\d:\d\d  [\d,]+ done, .*app1.* throttled for",
    r"\^C",
    r"read [\d,]+ = done [\d,]+ \+ rejected 0 \+ skipped 0 \+ unknown 0 \+ not sent [1-9]",
    r"interrupted",
    r"4\. What was on its way came home",
    r"\$ weir resume ",
    r"read 20,000 = done 20,000 \+ rejected 0 \+ skipped 0 \+ unknown 0 \+ not sent 0",
    r"5\. The proof",
    r"the ledger has 20,000 rows, 20,000 different account numbers, 0 duplicates",
    r"app1 +[\d,]+ +[\d,]+ +[1-9]",
    r"The files:",
    r"20,000 rows, none lost, none doubled",
]


def show(folder, weir=WEIR, sim=SIM):
    return [sys.executable, SHOW, weir, sim, SCENARIO, folder + "/show"]


def ignore_interrupts():
    """As a shell does for what it starts in the background."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def is_served(url):
    host, port = url.removeprefix("http://").split(":")
    with socket.socket() as probe:
        return probe.connect_ex((host, int(port))) == 0


def address(text):
    return re.search(r"http://127\.0\.0\.1:\d+", text).group(0)


def program(folder, text):
    path = pathlib.Path(tempfile.mkdtemp(dir=folder)) / "weir"
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    return str(path)


def test_the_show_goes_on_to_its_end_in_plain_lines(folder):
    result = subprocess.run(show(folder), capture_output=True, text=True, timeout=240,
                            preexec_fn=ignore_interrupts)
    assert result.returncode == 0, result
    assert result.stderr == "" and not re.search(r"[\x00-\x09\x0b-\x1f]", result.stdout), result
    place = 0
    for sentence in SENTENCES:
        found = re.compile(sentence).search(result.stdout, place)
        assert found, (sentence, result.stdout)
        place = found.end()
    for path in re.findall(r"^  (\S+/show/\S+)  ", result.stdout, re.MULTILINE):
        assert os.path.isfile(path), path
    assert not is_served(address(result.stdout)), "weir-sim is still there"


def test_what_is_not_as_it_should_be_ends_it(folder):
    for number, (weir, sim, words) in enumerate((
            (WEIR, "/bin/false", "weir-sim does not start"),
            (WEIR, folder + "/missing", "No such file"),
            (program(folder, "exit 0\n"), SIM, "weir create ended with 0, not 5"),
            (program(folder, "exit 5\n"), SIM, "no command to resume was printed"),
            (program(folder, f'[ "$1" = create ] && exec {shlex.quote(WEIR)} "$@"\n'
                             'echo "nothing to do"\n'), SIM, "the ledger should have 20,000 rows"))):
        result = subprocess.run(show(f"{folder}/{number}", weir, sim), capture_output=True, text=True,
                                timeout=240)
        assert result.returncode == 1, result
        last = result.stdout.splitlines()[-1]
        assert last.startswith("demo: ") and words in last, (words, result)


def test_a_show_that_is_ended_leaves_no_process(folder):
    with subprocess.Popen(show(folder), stdout=subprocess.PIPE, text=True) as process:
        said = ""
        for line in process.stdout:
            said += line
            if "weir create: account at" in line:
                process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 128 + signal.SIGTERM, said
    assert not is_served(address(said)), "weir-sim is still there"
    job = subprocess.run([WEIR, "resume", "--config", folder + "/show/appsettings.json",
                          folder + "/show/job"], capture_output=True, text=True, timeout=60)
    assert job.returncode == 10, job  # nobody else has the job's lock; the service is gone


if __name__ == "__main__":
    run_tests(sys.modules["__main__"])
