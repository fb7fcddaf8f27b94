# SPDX-License-Identifier: MIT
"""
A file that a test has made by itself, loaded into a world, and the same judgement as a Job's (campaign.py) of all that
the command has said and written. What the table must hold only the test knows.
"""
import csv
import json
import pathlib

from campaign import LOUD, PARTS, QUICK, WEIR, Run, balance, differences, judge_secrets, settings, write_config
from tally import TALLY, hold


class Load:
    """One file and its job directory, with the attributes that the judge asks a Job for."""

    def __init__(self, world, folder, name, verb, table):
        self.world, self.verb, self.table = world, verb, table
        self.directory = pathlib.Path(folder) / name
        self.config = write_config(folder, world.config)
        self.outputs = []

    def command(self, path, more):
        common = ["--config", self.config, "--progress", "none", *settings(QUICK), *LOUD]
        if (self.directory / "journal.db").exists():
            return [WEIR, "resume", str(self.directory), *common]
        return [WEIR, self.verb, self.table.name, str(path), "--job-dir", str(self.directory), "--yes", *common, *more]

    def start(self, path, *more):
        """Begin, or go on if there is something to go on with."""
        return Run(self.command(path, more))

    def finish(self, run):
        result = run.finish()
        self.outputs.append(result)
        TALLY.add(faults=result.code == -9)
        return result

    def summary(self):
        return json.loads((self.directory / "summary.json").read_text())


def judge_rows(expected, found):
    """LOST, GHOST."""
    lost, ghosts = differences(expected, found)
    hold("LOST", not lost, len(lost), lost[:3], ghosts[:3])
    hold("GHOST", not ghosts, len(ghosts), ghosts[:3])


def judge_creates(world, table, count):
    """DUP: so many rows were created, each once."""
    ledger = world.ledger(table)
    hold("DUP", ledger["duplicates"] == 0 and ledger["creates"] == count, ledger)
    hold("DUP", ledger["max_creates_per_row"] == 1, ledger)


def judge_ids(load, ids):
    """MISREPORT: the ids of the rows that are there, in the order of the input."""
    with (load.directory / "ids.csv").open(newline="") as file:
        header, *lines = csv.reader(file)
    assert header == ["row", "id"], header
    hold("MISREPORT", lines == [[str(row), row_id] for row, row_id in enumerate(ids, 1)], lines[:3], ids[:3])


def judge_load(load, count, ids=None):
    """After the last run: all rows were done, and nothing else is said or written. `ids`: of the rows, if they were
    created."""
    assert load.outputs[-1].code == 0, load.outputs
    summary = balance(load)
    hold("MISREPORT", [summary[part] for part in PARTS] == [count, 0, 0, 0, 0], summary, load.outputs)
    assert (summary["operation"], summary["table"]) == (load.verb, load.table.name), summary
    if ids is not None:
        judge_ids(load, ids)
    (rejects,) = load.directory.glob("rejects.*")
    hold("MISREPORT", len(rejects.read_bytes().splitlines()) <= (rejects.suffix != ".jsonl"), rejects.read_bytes()[:300])
    hold("MISREPORT", not (load.directory / "errors.jsonl").read_bytes(), load.outputs)
    judge_secrets(load)
    TALLY.add(jobs=1)
