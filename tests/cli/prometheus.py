# SPDX-License-Identifier: MIT
"""Prometheus text, version 0.0.4, read strictly: whatever a scraper might stumble over fails."""
import math
import re

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"'
SAMPLE = re.compile(rf"({NAME})(?:\{{({LABEL}(?:,{LABEL})*)\}})? (\S+)")
TYPES = ("counter", "gauge", "histogram", "summary")


class Scrape:
    """values: (name, ((label, value), …)) -> number; types: family -> type."""

    def __init__(self):
        self.values, self.types, self.helps = {}, {}, {}

    def counters(self):
        """Whatever must never become less."""
        return {key: value for key, value in self.values.items()
                if self.types.get(key[0]) == "counter" or
                self.types.get(re.sub(r"_(bucket|sum|count)$", "", key[0])) == "histogram"}


def unescape(text):
    return re.sub(r'\\(["\\n])', lambda it: "\n" if it[1] == "n" else it[1], text)


def number_of(text):
    assert re.fullmatch(r"[+-]?(\d+(\.\d+)?([eE][+-]?\d+)?|Inf)|NaN", text), text
    return float(text)


def belongs(name, family, type_):
    endings = {"histogram": ("_bucket", "_sum", "_count"), "summary": ("", "_sum", "_count")}
    return name in {family + end for end in endings.get(type_, ("",))}


def take_head(scrape, kind, name, rest):
    if kind == "HELP":
        assert name not in scrape.helps, f"HELP of {name} twice"
        scrape.helps[name] = rest
    else:
        assert name not in scrape.types and rest in TYPES, f"TYPE of {name}: {rest}"
        assert name in scrape.helps, f"{name} is not explained"
        scrape.types[name] = rest
    return name


def take_sample(scrape, family, line):
    found = SAMPLE.fullmatch(line)
    assert found, f"no sample: {line!r}"
    name, labels, value = found.groups()
    assert family in scrape.types and belongs(name, family, scrape.types[family]), line
    pairs = re.findall(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"', labels or "")
    assert len({label for label, _ in pairs}) == len(pairs), f"a label twice: {line}"
    key = name, tuple((label, unescape(text)) for label, text in pairs)
    assert key not in scrape.values, f"a sample twice: {line}"
    scrape.values[key] = number_of(value)
    if scrape.types[family] == "counter":
        assert scrape.values[key] >= 0, line


def check_histograms(scrape):
    """Buckets add up, end with +Inf, and the last one is the count."""
    rows = {}
    for (name, labels), value in scrape.values.items():
        if name.endswith("_bucket") and scrape.types.get(name[:-7]) == "histogram":
            rest = tuple(pair for pair in labels if pair[0] != "le")
            rows.setdefault((name[:-7], rest), []).append((float(dict(labels)["le"]), value))
    for (family, rest), buckets in rows.items():
        bounds, counts = zip(*buckets)
        assert list(bounds) == sorted(set(bounds)) and bounds[-1] == math.inf, (family, buckets)
        assert list(counts) == sorted(counts), (family, buckets)
        assert counts[-1] == scrape.values[family + "_count", rest], (family, buckets)
        assert (family + "_sum", rest) in scrape.values, family


def parse(text):
    """Families are whole, declared once and explained once; nothing else stands there."""
    scrape, family = Scrape(), None
    assert text.endswith("\n") and "\r" not in text
    for line in text[:-1].split("\n"):
        head = re.fullmatch(rf"# (HELP|TYPE) ({NAME}) (.+)", line)
        if head:
            assert head[1] == "HELP" or head[2] == family, f"TYPE without HELP: {line}"
            family = take_head(scrape, *head.groups())
        else:
            take_sample(scrape, family, line)
    assert set(scrape.helps) == set(scrape.types)
    check_histograms(scrape)
    return scrape
