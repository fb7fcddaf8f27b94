#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the README says can be typed: readme.py README WEIR WEIR_SIM WEIR_LAB

Blocks marked sh are run as they stand, each by a shell that ends at the first error, one after the other in one folder,
against a simulator. Blocks of configuration must be accepted. Only what would be slow or in somebody's way is changed.
"""
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys

from harness import run_tests, simulator, write_config

README, WEIR, SIM, LAB = map(os.path.abspath, sys.argv[1:5])
ROOT = pathlib.Path(README).parent
TEXT = pathlib.Path(README).read_text()


def blocks(kind):
    """Also those in a list, without the blanks in front."""
    found = re.findall(rf"^( *)```{kind}\n(.*?)^\1```$", TEXT, re.M | re.S)
    return [re.sub(rf"^{indent}", "", text, flags=re.M) for indent, text in found]


def free_port():
    with socket.socket() as it:
        it.bind(("127.0.0.1", 0))
        return str(it.getsockname()[1])


def changed(block):
    return (block.replace("8080", free_port()).replace("--seeds 20", "--seeds 1")
            .replace("scenarios/*.json", "scenarios/alike-5s.json"))


def environment(folder):
    folders = {os.path.dirname(program) for program in (WEIR, SIM, LAB)}
    return {"PATH": ":".join(folders) + ":/usr/bin:/bin", "HOME": folder, "LANG": "C.UTF-8",
            "NO_PROXY": "127.0.0.1"}


def write_rows(folder, name, first, count):
    lines = [f"Company {i},A{i}\n" for i in range(first, first + count)]
    (pathlib.Path(folder) / name).write_text("name,accountnumber\n" + "".join(lines))


def prepare(folder, config):
    write_config(folder, config)
    write_rows(folder, "accounts.csv", 0, 500)
    write_rows(folder, "nightly.csv", 250, 500)
    (pathlib.Path(folder) / "gone.csv").write_text("accountnumber\nA1\nA2\nA9999\n")
    shutil.copytree(ROOT / "scenarios", folder + "/scenarios")


def test_every_command_can_be_typed(folder):
    with simulator(SIM, "--users", "3", "--no-limits") as (_, config):
        prepare(folder, config)
        for block in blocks("sh"):
            result = subprocess.run(["bash", "-e", "-m", "-c", changed(block)], cwd=folder,
                                    env=environment(folder), capture_output=True, text=True,
                                    timeout=240, stdin=subprocess.DEVNULL)
            assert result.returncode == 0, (block, result)
    made = set(os.listdir(folder))
    assert {"app2.pem", "account.map.json", "first-load.html", "to-mend.csv", "run.json",
            "progress.jsonl"} <= made, made


def test_nothing_that_could_be_run_is_left_out(folder):
    """Of the commands, only demo and completion are not typed in a block: they have tests."""
    overview = subprocess.run([WEIR, "help"], capture_output=True, text=True, check=True).stdout
    commands = set(re.findall(r"^  ([a-z]+) +\S", overview, re.M)) - {"help"}
    typed = set(re.findall(r"\bweir ([a-z]+)", "".join(blocks("sh"))))
    assert commands - typed <= {"demo", "completion", "update"}, commands - typed
    assert typed <= commands, typed - commands
    unmarked = [block for block in blocks("") if re.match(r"(weir|\./)", block)]
    assert unmarked == [], unmarked


def test_configurations_are_accepted(folder):
    for number, block in enumerate(blocks("jsonc")):
        path = pathlib.Path(folder) / f"{number}.json"
        path.write_text(block)
        path.chmod(0o600)
        result = subprocess.run([WEIR, "config", "show", "--config", str(path)], capture_output=True,
                                text=True, timeout=60, env=environment(folder))
        assert result.returncode == 0 and "AppUser2" in result.stdout, result
    assert blocks("jsonc")


def test_what_it_points_to_is_there(folder):
    for target in re.findall(r'\]\((?!http)([^)#]+)\)|src="([^"]+)"', TEXT):
        assert (ROOT / (target[0] or target[1])).exists(), target


if __name__ == "__main__":
    run_tests(sys.modules["__main__"])
