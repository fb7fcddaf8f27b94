# SPDX-License-Identifier: MIT
"""
What a campaign has done, measured and found, told at its end:

    # figures {"seconds until exit after SIGINT, at most": 0.31}
    # tally {"jobs": 12, "runs": 31, "faults": 148, "LOST": 0, …, "OTHER": 0}

    figures  that a promise is about, the worst of each; no line if nothing was measured

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
        self.lock, self.counts, self.figures = threading.Lock(), collections.Counter(), {}

    def add(self, **counts):
        with self.lock:
            self.counts.update(counts)

    def fail(self, failure):
        self.add(**{getattr(failure, "kind", "OTHER"): 1})

    def measure(self, name, value):
        """The greatest is the worst, and is kept."""
        with self.lock:
            self.figures[name] = max(round(value, 5), self.figures.get(name, 0))

    def lines(self):
        with self.lock:
            told = ["# figures " + json.dumps(self.figures)] if self.figures else []
            told.append("# tally " + json.dumps({name: self.counts[name] for name in (*COUNTS, *FINDINGS)}))
            return "\n".join(told)


TALLY = Tally()
