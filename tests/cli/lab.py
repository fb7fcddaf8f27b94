#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""weir-lab: rows, JSON, comparisons, and what it says when it is asked wrongly: lab.py WEIR_LAB SCENARIOS"""
import json
import os
import pathlib
import statistics
import sys
import xml.etree.ElementTree

from harness import run, run_tests

LAB = os.path.abspath(sys.argv[1])
SCENARIOS = pathlib.Path(sys.argv[2]).resolve()
SOME = [str(SCENARIOS / f"{name}.json") for name in ("slow-8s", "foreign-30", "finite-0.3", "long-15s")]
KEYS = ("scenario policy seed items oracle_items makespan_s oracle_makespan_s throttles episodes "
        "penalty_fraction jain foreign_served").split()


def lab(*arguments, **more):
    return run([LAB, *map(str, arguments)], **more)


def lines(result):
    assert result.returncode == 0, result
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_json_has_a_line_for_each_scenario_policy_and_seed(folder):
    rows = lines(lab("run", *SOME, "--policy", "dop,fixed:4", "--seeds", 2, "--json"))
    assert [list(row) for row in rows] == [KEYS] * 16
    assert [row["seed"] for row in rows] == [1, 2] * 8
    for row in rows:
        assert (row["makespan_s"] is None) == (row["scenario"] != "finite-0.3"), row
        assert 0 <= row["penalty_fraction"] <= 1 and 0 < row["jain"] <= 1, row
        assert (row["foreign_served"] == 1) == (row["scenario"] != "foreign-30"), row


def test_what_is_found_does_not_depend_on_the_number_of_jobs(folder):
    arguments = ["run", *SOME, "--policy", "all", "--seeds", 1, "--json", "--edge"]
    alone, together = lab(*arguments), lab(*arguments, "--jobs", 3)
    assert alone.returncode == 0 and alone.stdout == together.stdout
    assert all(row["edge_items"] > 0 for row in lines(alone))


def test_a_row_is_the_median_over_the_seeds(folder):
    arguments = ["run", SOME[0], "--policy", "aimd", "--seeds", 4]
    rows = lines(lab(*arguments, "--json"))
    shown = lab(*arguments).stdout.splitlines()[1].split()
    assert shown[:2] == ["slow-8s", "aimd"], shown
    assert abs(float(shown[2]) - statistics.median(row["items"] for row in rows)) <= 0.5
    share = statistics.median(row["items"] / row["oracle_items"] for row in rows)
    assert abs(float(shown[3][:-1]) - 100 * share) <= 0.051


def test_a_comparison_is_tables_and_plots(folder):
    out = pathlib.Path(folder) / "out"
    result = lab("compare", *SOME, "--policy", "all", "--seeds", 2, "--out", out, "--trace", "slow-8s")
    assert result.returncode == 0, result
    assert {path.name for path in out.iterdir()} == {
        "comparison.md", "comparison.json", "policies.svg", "shares.svg", "throttles.svg", "timeline.svg"}
    rows = json.loads((out / "comparison.json").read_text())["rows"]
    assert len(rows) == 4 * 16 and {row["class"] for row in rows} == {"plain", "foreign", "finite"}
    for row in rows:
        assert row["share_low"] <= row["share"] <= row["share_high"], row
    text = (out / "comparison.md").read_text()
    mean = statistics.mean(row["share"] for row in rows if row["policy"] == "aws")
    assert f"| aws | {100 * mean:.1f} % |" in text, (mean, text)
    for plot in out.glob("*.svg"):
        tree = xml.etree.ElementTree.parse(plot)
        tags = {element.tag.rsplit("}")[-1] for element in tree.iter()}
        assert "text" in tags and not tags & {"script", "image", "foreignObject"}, tags
        assert "prefers-color-scheme:dark" in plot.read_text()
    names = {element.text for element in xml.etree.ElementTree.parse(out / "policies.svg").iter()}
    assert {row["policy"] for row in rows} <= names


def test_a_folder_stands_for_its_scenarios(folder):
    here = pathlib.Path(folder)
    (here / "scenarios").mkdir()
    for name in "ba":
        (here / "scenarios" / f"{name}.json").write_text('{ "name": "%s<&", "duration_s": 60 }' % name)
    rows = lines(lab("run", here / "scenarios", "--policy", "dop", "--seeds", 1, "--json"))
    assert [row["scenario"] for row in rows] == ["a<&", "b<&"]
    result = lab("compare", "--policy", "dop", "--seeds", 1, "--out", "out", "--trace", "b<&", cwd=folder)
    assert result.returncode == 0, result
    for plot in (here / "out").glob("*.svg"):
        xml.etree.ElementTree.parse(plot)


def test_what_is_drawn_depends_on_the_seed_alone(folder):
    drawn = {}
    for name, seed, count in (("few", 7, 20), ("many", 7, 40), ("other", 8, 20)):
        result = lab("draw", "--seed", seed, "--count", count, "--out", f"{folder}/{name}")
        assert result.returncode == 0 and not result.stdout, result
        paths = sorted((pathlib.Path(folder) / name).iterdir())
        assert [path.name for path in paths] == [f"{i:03}.json" for i in range(count)]
        drawn[name] = [path.read_text() for path in paths]
    assert drawn["few"] == drawn["many"][:20]
    assert not set(drawn["few"]) & set(drawn["other"])


def test_what_is_drawn_differs_in_one_to_three_axes_and_can_be_run(folder):
    assert lab("draw", "--seed", 3, "--count", 300, "--out", folder + "/drawn").returncode == 0
    drawn = [json.loads(path.read_text().split("\n", 1)[1]) for path in (pathlib.Path(folder) / "drawn").iterdir()]
    axes = [world["name"].split("-", 3)[3].split("+") for world in drawn]
    assert {len(chosen) for chosen in axes} == {1, 2, 3}
    assert len({axis.split("-")[0] for chosen in axes for axis in chosen}) == 22
    rows = lines(lab("run", *(f"{folder}/drawn/{i:03}.json" for i in range(4)), "--policy", "budget",
                     "--seeds", 1, "--json"))
    assert len(rows) == 4 and all(row["items"] > 0 for row in rows)


def test_wrong_arguments_are_explained(folder):
    for arguments, message in (
        ([], "say what to do"),
        (["walk"], "say what to do"),
        (["rn", SOME[0]], 'there is no command "rn"; did you mean "run"?'),
        (["run", "--seds", "3"], 'there is no option "--seds"; did you mean --seeds?'),
        (["run", "--wobble"], 'there is no option "--wobble"; --help shows them'),
        (["run", "--seeds"], "--seeds lacks its value"),
        (["run", "--json=1"], "--json takes no value"),
        (["run"], "run takes at least one scenario file"),
        (["compare", SOME[0]], "compare takes --out DIR"),
        (["draw"], "draw takes --out DIR"),
        (["draw", SOME[0], "--out", folder], "draw takes no scenario file"),
        (["draw", "--count", "1001", "--out", folder], '--count is "1001": it takes a number from 1 to 1000'),
        (["run", SOME[0], "--seed", "3"], "--seed and --count are for draw"),
        (["run", SOME[0], "--seeds", "0"], '--seeds is "0": it takes a number from 1 to 10000'),
        (["run", SOME[0], "--jobs", "65"], '--jobs is "65": it takes a number from 1 to 64'),
        (["run", SOME[0], "--policy", "vegas"], 'no policy is called "vegas"'),
        (["run", folder + "/none.json"], "cannot be opened"),
        (["run", folder], "there is no .json file"),
        (["compare", SOME[0], "--out", folder, "--trace", "x"], '--trace is "x": no scenario is called that'),
    ):
        result = lab(*arguments)
        assert result.returncode == 2 and message in result.stderr, result
        assert not result.stdout, result


def test_a_comparison_that_cannot_be_written_is_a_failure(folder):
    (pathlib.Path(folder) / "file").write_text("")
    result = lab("compare", SOME[2], "--policy", "dop", "--seeds", 1, "--out", folder + "/file/out")
    assert result.returncode == 7 and "cannot be made" in result.stderr, result
    result = lab("compare", SOME[2], "--policy", "dop", "--seeds", 1, "--out", folder + "/file")
    assert result.returncode == 7 and "cannot be written" in result.stderr, result


if __name__ == "__main__":
    run_tests(sys.modules["__main__"])
