# SPDX-License-Identifier: MIT
"""
What a campaign has done and found, told in one line at its end:

    # tally {"jobs": 12, "runs": 31, "faults": 148, "LOST": 0, …, "OTHER": 0}

    jobs     judged          runs     of the command
    faults   that happened: those of the simulator, of a proxy, of a disk or a clock, and every kill

Findings are the six that the ledger knows, and OTHER for a promise that was broken without one of them.
"""
import collections
import json
import threading

FINDINGS = ("LOST", "DUP", "GHOST", "MISREPORT", "UNBALANCED", "LEAK", "OTHER")
COUNTS = ("jobs", "runs", "faults")


class Finding(AssertionError):
    """A row or a number that is not where it belongs."""

    def __init__(self, kind, detail):
        super().__init__(f"{kind}: {detail}")
        self.kind = kind


def hold(kind, condition, *detail):
    """An invariant of the ledger."""
    if not condition:
        raise Finding(kind, detail)


class Tally:
    """Any thread."""

    def __init__(self):
        self.lock, self.counts = threading.Lock(), collections.Counter()

    def add(self, **counts):
        with self.lock:
            self.counts.update(counts)

    def fail(self, failure):
        self.add(**{getattr(failure, "kind", "OTHER"): 1})

    def line(self):
        with self.lock:
            return "# tally " + json.dumps({name: self.counts[name] for name in (*COUNTS, *FINDINGS)})


TALLY = Tally()
