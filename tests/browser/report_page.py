#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The report's page as a browser shows it: report_page.py WEIR WEIR_SIM

Wide and narrow, light and dark, of runs that differ. WEIR_PICTURES=FOLDER: pictures are left there, for the README.
"""
import os
import pathlib
import sys

import browser
from harness import run, run_tests, simulator, write_config

WEIR, SIM = map(os.path.abspath, sys.argv[1:3])
SCRIPT = (pathlib.Path(__file__).parent / "page.js").read_text()
WIDTHS = (1280, 400)
SCHEMES = ("light", "dark")
LIMITS = ["--requests", "12", "--window", "2", "--service-time", "20"]  # throttles within a second
HEADER = "name,accountnumber,revenue,industrycode\n"
EVIL = "</code></script><script>window.ran=1</script><img src=http://127.0.0.1:9/x onerror=ran=1>"
TURNED = "\u202e\u0627\u0644\u0639\u0631\u0628\u064a\u0629 \u05e2\u05d1\u05e8\u05d9\u05ea"
LONG = "long" * 800


def load(folder, name, rows, *flags, code=0, more=()):
    """A run with a report; gives the page's address."""
    path = pathlib.Path(folder) / name
    page = pathlib.Path(folder) / "page.html"
    path.write_text(HEADER + "".join(rows))
    with simulator(SIM, *flags) as (_, config):
        result = run([WEIR, "create", "account", str(path), "--owner", "caller", "--config",
                      write_config(folder, config), "--job-dir", f"{folder}/job", "--batch-size", "25",
                      "--max-errors", "1000", "--progress", "none", "--report", str(page), *more])
    assert result.returncode == code, result
    return page.as_uri()


def plain_rows(count):
    return [f'"Firm {i}",N{i},1.5,\n' for i in range(count)]


def some_wrong_rows(count):
    """As people's files are: amounts with a currency, a choice that is none, a number twice."""
    rows = plain_rows(count)
    for i in range(count // 50):
        rows[50 * i + 7] = f'"Firm {50 * i + 7}",N{50 * i + 7},{50 * i + 7} EUR,\n'
        rows[50 * i + 9] = f'"Firm {50 * i + 9}",N{50 * i + 9},1.5,Shipbuilding\n'
    for i in range(count // 100):
        rows[100 * i + 12] = f'"Firm {100 * i + 12}",N1,1.5,\n'
    return rows


def hostile_rows():
    rows = plain_rows(200)
    rows[20] = f'"{EVIL}",N20,"{EVIL}",\n'
    rows[30] = f'"{TURNED}",N30,1.5,"{TURNED}"\n'
    rows[40] = f'"{LONG}",N40,1.5,\n'
    return rows


def look(window, url):
    """What a reader sees, in each of the four ways; every finding is a failure."""
    seen = []
    for width in WIDTHS:
        for scheme in SCHEMES:
            window.look_like(width, scheme)
            window.open(url)
            it = window.evaluate(SCRIPT)
            assert it["findings"] == [], (width, scheme, it["findings"][:20])
            assert window.complaints == [], window.complaints
            assert window.requests == [url], window.requests
            assert (it["ground"] > 0.5) == (scheme == "light"), (scheme, it["ground"])
            assert it["texts"] > 20, it["texts"]
            seen.append(it)
    return seen


def take_pictures(window, folder):
    """Of a run that is long enough to have something to show."""
    place = os.environ.get("WEIR_PICTURES")
    if not place:
        return
    os.mkdir(folder + "/longer")
    url = load(folder + "/longer", "accounts.csv", some_wrong_rows(8000), "--users", "3", "--requests",
               "60", "--window", "10", "--service-time", "200", code=1)
    for name, width, scheme, height in (("report-light", 1280, "light", 1960),
                                        ("report-dark", 1280, "dark", 1960),
                                        ("report-narrow", 400, "light", 1200)):
        window.look_like(width, scheme)
        window.open(url)
        window.picture(f"{place}/{name}.png", height)


def test_an_ordinary_run_is_readable_and_its_charts_are_drawn(folder):
    url = load(folder, "accounts.csv", some_wrong_rows(1500), "--users", "3", *LIMITS, code=1)
    with browser.Browser() as window:
        for it in look(window, url):
            assert it["charts"] == 7, it["charts"]
            assert "= 3 problems" in it["text"] and "1,500 =" in it["text"], it["text"]
        take_pictures(window, folder)


def test_an_empty_run_is_readable(folder):
    url = load(folder, "accounts.csv", [], "--users", "3", "--no-limits")
    with browser.Browser() as window:
        for it in look(window, url):
            assert "0 =" in it["text"] and "problem" not in it["text"], it["text"]


def test_a_run_that_is_not_finished_says_how_to_go_on(folder):
    url = load(folder, "accounts.csv", plain_rows(300), "--users", "3", "--no-limits", code=6,
               more=["--limit", "100"])
    with browser.Browser() as window:
        for it in look(window, url):
            assert "not finished" in it["text"] and "weir resume --config" in it["text"], it["text"]


def test_hostile_words_neither_run_nor_break_the_page(folder):
    url = load(folder, "a<b>&amp;'\"\u202e.csv", hostile_rows(), "--users", "3", *LIMITS, code=1)
    with browser.Browser() as window:
        for it in look(window, url):
            assert "3 rejects = 3 problems" in it["text"], it["text"]
            assert EVIL in it["text"] and TURNED.strip("\u202e") in it["text"], it["text"]


def test_twelve_connections_have_their_charts(folder):
    url = load(folder, "accounts.csv", plain_rows(2000), "--users", "12", *LIMITS)
    with browser.Browser() as window:
        for it in look(window, url):
            assert it["charts"] == 25 and "app12" in it["text"], it["charts"]


def test_what_is_measured_would_be_found(folder):
    """A page with every fault, so that no finding is one that cannot come."""
    page = pathlib.Path(folder) / "faults.html"
    page.write_text(
        "<body><p style='font-size:9px'>small</p><p style='color:#aaa'>pale</p>"
        "<p style='width:3000px;text-align:right'>wide</p><code>turned</code>"
        "<figure><svg style='width:10px'><title>thin</title></svg></figure>"
        "<script>console.error('x'); window.ran = 1</script><img src='file:///nowhere'></body>")
    with browser.Browser() as window:
        window.look_like(400, "light")
        window.open(page.as_uri())
        found = "\n".join(window.evaluate(SCRIPT)["findings"])
        for what in ("text of 9px", "contrast of 2.3", "text beyond the edge", "is 30", "chart of 10",
                     "chart without a line", "a script", "turns the words"):
            assert what in found, (what, found)
        assert len(window.requests) == 2 and len(window.complaints) >= 1, window.complaints


if __name__ == "__main__":
    if not browser.program():
        print("1..0 # SKIP there is no chromium")
        sys.exit(0)
    run_tests(sys.modules["__main__"])
