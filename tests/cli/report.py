#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What --report leaves, as data and as a page: report.py WEIR WEIR_SIM"""
import collections
import html.parser
import json
import os
import pathlib
import re
import signal
import subprocess
import sys

from harness import run, run_tests, simulator, write_config

WEIR, SIM = map(os.path.abspath, sys.argv[1:3])

# Throttles within a second, and waits of a second or two.
SERVICE_MS = 20
LIMITS = ["--users", "3", "--requests", "12", "--window", "2", "--service-time", str(SERVICE_MS)]
SMALL = ["--batch-size", "25"]  # many requests: the limits are met
EVIL = "<script>alert('x')</script>"


def write_rows(folder, count, broken=True):
    """Rows of which some are wrong in four ways: two of ours, two of the service's."""
    path = pathlib.Path(folder) / "rows.csv"
    lines = ["name,accountnumber,revenue,industrycode"]
    for i in range(1, count + 1):
        number, revenue, industry = f"N{i}", "1.5", ""
        if broken and i % 50 == 7:
            revenue = f"{i} EUR"
        if broken and i % 50 == 9:
            industry = EVIL
        if broken and i % 100 == 12:
            number = "N1"
        lines.append(f'"Firm {i} & ""Sons""",{number},{revenue},"{industry}"')
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def load(folder, config, rows, report, *more):
    return run([WEIR, "create", "account", rows, "--owner", "caller", "--config",
                write_config(folder, config), "--job-dir", f"{folder}/job", "--max-errors", "1000",
                "--progress", "none", "--report", report, *more])


def read_job(folder):
    job = pathlib.Path(folder) / "job"
    errors = [json.loads(line) for line in (job / "errors.jsonl").read_text().splitlines()]
    return json.loads((job / "summary.json").read_text()), errors


def secrets_of(config):
    text = json.dumps(config)
    found = re.findall(r'"ClientSecret": "([^"]+)"', text)
    assert found
    return found


class Page(html.parser.HTMLParser):
    """Tags and attributes of a page, and its text."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.text, self.open = collections.Counter(), [], "", []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags[tag] += 1
        self.attributes += attrs
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags[tag] += 1
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        self.text += data


def test_the_data_is_that_of_the_job(folder):
    with simulator(SIM, *LIMITS) as (_, config):
        result = load(folder, config, write_rows(folder, 1500), f"{folder}/out.json", *SMALL)
        assert result.returncode == 1, result.stderr
        report = json.loads(pathlib.Path(folder, "out.json").read_text())
        summary, errors = read_job(folder)
        for key, value in report["summary"].items():
            if key in summary:
                assert value == summary[key], (key, value, summary[key])
        assert report["summary"]["finished"] and report["operation"] == "create"
        for ours, theirs in zip(report["connections"], summary["connections"], strict=True):
            for key in theirs:
                assert ours[key] == theirs[key] or key in ("throttle_wait_s", "level", "bound_by"), key
            assert sum(ours["throttles_by_kind"].values()) == ours["throttles"]
            assert ours["latency_ms"]["count"] == ours["requests"]
        assert summary["throttles"] > 0
        assert sum(report["throttles_by_kind"].values()) == summary["throttles"]
        latency = report["latency_ms"]
        assert latency["count"] == sum(ours["requests"] for ours in report["connections"])
        assert 0 < latency["p50"] <= latency["p90"] <= latency["p99"] <= latency["max"], latency
        assert latency["max"] > SERVICE_MS / 2, latency  # a throttle is answered at once, a batch is not
        assert report["rejects"] == len(errors)
        for secret in secrets_of(config):
            assert secret not in json.dumps(report)


def test_problems_are_the_rejects_counted(folder):
    with simulator(SIM, *LIMITS) as (_, config):
        result = load(folder, config, write_rows(folder, 1000), f"{folder}/out.json")
        report = json.loads(pathlib.Path(folder, "out.json").read_text())
        _, errors = read_job(folder)
        assert f"{len(errors)} rejects = 3 problems\n" in result.stderr, result.stderr
        assert sum(problem["rows"] for problem in report["problems"]) == len(errors)
        by_row = {error["row"]: error for error in errors}
        for problem in report["problems"]:
            alike = [error for error in errors if error["service_code"] == problem["service_code"]
                     and error["column"] == problem["example"]["column"]]
            assert problem["rows"] == len(alike), problem
            first = by_row[problem["example"]["row"]]
            assert first == alike[0] and first["message"] == problem["message"]
            assert first["byte_offset"] == problem["example"]["byte_offset"]
            assert first["http_status"] == problem["http_status"] != 0, (first, problem)
            assert problem["suggestion"] and problem["name"] in result.stderr
        values = {problem["example"]["value"] for problem in report["problems"]}
        assert values == {"7 EUR", EVIL, None}, values


def test_a_timeline_has_every_row_and_ascends(folder):
    with simulator(SIM, *LIMITS) as (_, config):
        load(folder, config, write_rows(folder, 1500), f"{folder}/out.json", *SMALL)
        report = json.loads(pathlib.Path(folder, "out.json").read_text())
        timeline = report["timeline"]
        count = len(timeline["at_s"])
        assert 2 <= count <= 600
        assert timeline["at_s"] == sorted(timeline["at_s"])
        assert timeline["rows"] == sorted(timeline["rows"]) and timeline["rows"][-1] == 1500
        assert {len(timeline[key]) for key in ("pass", "rows_per_second", "in_flight")} == {count}
        assert len(timeline["connections"]) == 3
        for connection in timeline["connections"]:
            assert {len(values) for key, values in connection.items() if key != "name"} == {count}
            for key in ("throttled_share", "requests_left_share", "execution_time_left_share"):
                assert all(value is None or 0 <= value <= 1 for value in connection[key]), key
        assert any(any(connection["throttled_share"]) for connection in timeline["connections"])


def test_a_page_is_whole_by_itself_and_has_only_text_of_the_rows(folder):
    with simulator(SIM, *LIMITS) as (_, config):
        load(folder, config, write_rows(folder, 1500), f"{folder}/out.html", *SMALL)
        text = pathlib.Path(folder, "out.html").read_text()
        page = Page(text)
        assert page.open == [], page.open
        assert not page.tags["script"] and not page.tags["link"] and not page.tags["img"]
        assert page.tags["svg"] == 7 and page.tags["title"] >= 8
        names = {name for name, _ in page.attributes}
        assert not names & {"src", "href", "xlink:href", "onload", "onclick"}, names
        assert "url(" not in text and "@import" not in text
        assert EVIL in page.text and EVIL not in text
        summary, errors = read_job(folder)
        assert f"{len(errors)} rejects = 3 problems" in page.text
        for key in ("read", "done", "rejected"):
            assert f"{summary[key]:,}" in page.text
        for secret in secrets_of(config):
            assert secret not in text


def test_without_a_reject_nothing_is_said_of_problems(folder):
    with simulator(SIM, "--no-limits") as (_, config):
        result = load(folder, config, write_rows(folder, 100, broken=False), f"{folder}/out.html")
        assert result.returncode == 0 and "problem" not in result.stderr, result.stderr
        assert "problems" not in Page(pathlib.Path(folder, "out.html").read_text()).text


def test_a_path_that_cannot_be_written_ends_it_before_anything_is_sent(folder):
    with simulator(SIM, "--no-limits") as (_, config):
        rows = write_rows(folder, 10)
        os.mkdir(f"{folder}/dir.html")
        for path in ("nowhere/out.html", "dir.html", "out.txt", ".html", "/proc/out.json"):
            report = path if path.startswith("/") else f"{folder}/{path}" if path != ".html" else path
            result = load(folder, config, rows, report)
            assert result.returncode == 2 and "report" in result.stderr, (path, result.stderr)
            assert not os.path.exists(f"{folder}/job"), path
        assert sorted(os.listdir(folder)) == ["appsettings.json", "dir.html", "rows.csv"]


def test_the_one_that_was_there_stays_until_the_new_one_is_whole(folder):
    with simulator(SIM, "--no-limits") as (_, config):
        pathlib.Path(folder, "out.json").write_text("old")
        load(folder, config, write_rows(folder, 10), f"{folder}/out.json")
        json.loads(pathlib.Path(folder, "out.json").read_text())
        assert not [name for name in os.listdir(folder) if name.endswith(".new")]


def test_an_interrupted_run_leaves_its_report_and_so_does_the_next(folder):
    with simulator(SIM, "--users", "1", "--no-limits", "--service-time", "200") as (_, config):
        rows = write_rows(folder, 20000, broken=False)
        process = subprocess.Popen(
            [WEIR, "create", "account", rows, "--owner", "caller", "--config",
             write_config(folder, config), "--job-dir", f"{folder}/job", "--progress", "json",
             "--report", f"{folder}/out.json"], stderr=subprocess.PIPE, text=True,
            env={**os.environ, "HOME": "/nonexistent"})
        for line in process.stderr:
            if line.startswith('{"over":'):
                process.send_signal(signal.SIGINT)
                break
        process.stderr.read()
        process.stderr.close()
        assert process.wait(60) == 5
        report = json.loads(pathlib.Path(folder, "out.json").read_text())
        assert report["summary"]["exit_code"] == 5 and not report["summary"]["finished"]
        assert report["summary"]["not_sent"] > 0
        result = run([WEIR, "resume", f"{folder}/job", "--config", f"{folder}/appsettings.json",
                      "--limit", "100", "--report", f"{folder}/again.html"])
        page = Page(pathlib.Path(folder, "again.html").read_text())
        assert result.returncode == 6, result.stderr
        assert "not finished" in page.text and "weir resume" in page.text
        assert "the rows of all runs" in page.text and rows in page.text


def test_a_report_that_cannot_be_written_is_the_reason_that_a_program_is_told(folder):
    os.mkdir(f"{folder}/out")
    with simulator(SIM, "--users", "1", "--no-limits", "--service-time", "200") as (_, config):
        rows = write_rows(folder, 500, broken=False)
        process = subprocess.Popen(
            [WEIR, "create", "account", rows, "--owner", "caller", "--config",
             write_config(folder, config), "--job-dir", f"{folder}/job", "--batch-size", "10",
             "--progress", "json", "--report", f"{folder}/out/it.json"], stderr=subprocess.PIPE,
            text=True, env={**os.environ, "HOME": "/nonexistent"})
        lines = []
        for line in process.stderr:
            if not lines:
                os.rmdir(f"{folder}/out")
            lines.append(json.loads(line))
        process.stderr.close()
        assert process.wait(60) == 7, lines
    end = lines[-1]["result"]
    assert end["exit_code"] == 7 and end["done"] == 500, end
    assert "out/it.json" in end["reason"], end


run_tests(sys.modules[__name__])
