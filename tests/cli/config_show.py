#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""weir config show as people use it: config_show.py WEIR WEIR_SIM"""
import json
import os
import subprocess
import sys

from harness import run, run_tests, write_config

WEIR = os.path.abspath(sys.argv[1])
SECRET = "correct horse battery staple"
CONFIG = {"Dataverse": {
    "Url": "https://contoso.crm.dynamics.com", "TenantId": "contoso",
    "Proxy": f"http://user:{SECRET.replace(' ', '-')}@proxy:8080",
    "Pool": {"MaxPoolSize": 7},
    "Connections": [{"Name": "one", "ClientId": "id-1", "ClientSecret": SECRET},
                    {"Name": "two", "AccessToken": SECRET}]}}


def show(folder, *arguments, **environment):
    path = write_config(folder, CONFIG)
    return run([WEIR, "config", "show", "--config", path, *arguments], cwd=folder, env=environment)


def settings(result):
    assert result.returncode == 0, result
    return {one["key"]: (one["value"], one["origin"]) for one in json.loads(result.stdout)}


def test_each_setting_has_its_value_and_its_origin(folder):
    found = settings(show(folder, "--json", "--set", "Dataverse:Http:ConnectTimeout=3s",
                          "--preset", "Conservative",
                          Dataverse__Resilience__MaxThrottleRetries="9",
                          Dataverse__Pool__AcquireTimeout="1m"))
    path = os.path.join(folder, "appsettings.json")
    assert found["Dataverse:Pool:MaxPoolSize"] == ("7", f"file {path}"), found
    assert found["Dataverse:Resilience:MaxThrottleRetries"] == (
        "9", "environment Dataverse__Resilience__MaxThrottleRetries"), found
    assert found["Dataverse:Http:ConnectTimeout"] == ("00:00:03", "command line"), found
    assert found["Dataverse:AdaptiveRate:Preset"] == ("Conservative", "command line"), found
    assert found["Dataverse:AdaptiveRate:ExecutionTimeCeilingFactor"] == (
        "140", "preset Conservative"), found
    assert found["Dataverse:Pool:SelectionStrategy"] == ("ThrottleAware", "policy Aimd"), found
    assert found["Dataverse:AdaptiveRate:Policy"] == (
        "Aimd", "because of Dataverse:AdaptiveRate:Preset"), found
    assert found["Dataverse:CaFile"] == (None, "default"), found
    assert found["Dataverse:Connections:1:Name"] == ("two", f"file {path}"), found


def test_who_says_nothing_of_a_policy_is_told_budget_and_the_strategy_that_goes_with_it(folder):
    policy, strategy = "Dataverse:AdaptiveRate:Policy", "Dataverse:Pool:SelectionStrategy"
    for arguments, holds, goes_with_it in [
        ([], ("Budget", "default"), ("Headroom", "default")),
        (["--policy", "Budget"], ("Budget", "command line"), ("Headroom", "default")),
        (["--policy", "Aimd"], ("Aimd", "command line"), ("ThrottleAware", "policy Aimd")),
        (["--policy", "Budget", "--preset", "Aggressive"], ("Budget", "command line"),
         ("Headroom", "default")),
        (["--preset", "Aggressive", "--strategy", "RoundRobin"],
         ("Aimd", "because of Dataverse:AdaptiveRate:Preset"), ("RoundRobin", "command line")),
        (["--set", "Dataverse:AdaptiveRate:Enabled=false"], ("Budget", "default"),
         ("ThrottleAware", "policy Dop")),
    ]:
        found = settings(show(folder, "--json", *arguments))
        assert (found[policy], found[strategy]) == (holds, goes_with_it), (arguments, found)


def test_people_get_the_same_in_columns(folder):
    result = show(folder)
    assert result.returncode == 0 and result.stderr == "", result
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["SETTING", "VALUE", "FROM"], lines
    for key, (value, origin) in settings(show(folder, "--json")).items():
        line = next(line for line in lines if line.startswith(key + " "))
        assert line.split(None, 1)[1].split("  ")[0].strip() == (value or "-"), (key, line)
        assert line.endswith("  " + origin), (key, line)


def test_no_secret_is_shown_in_any_form(folder):
    for arguments in ([], ["--json"], ["--log-level", "trace"]):
        result = show(folder, *arguments)
        for part in (SECRET, SECRET.replace(" ", "-"), "horse"):
            assert part not in result.stdout + result.stderr, (arguments, result)
    found = settings(show(folder, "--json"))
    assert found["Dataverse:Connections:0:ClientSecret"][0] == "***", found
    assert found["Dataverse:Connections:1:AccessToken"][0] == "***", found


def test_half_a_configuration_is_shown_and_a_wrong_one_refused(folder):
    nothing = run([WEIR, "config", "show", "--json"], cwd=folder)
    assert settings(nothing)["Dataverse:Url"] == (None, "default"), nothing
    assert "no appsettings.json was found" in nothing.stderr, nothing
    for arguments, says in [
        (["config"], "it is weir config show"),
        (["config", "sohw"], "it is weir config show"),
        (["config", "show", "x"], "it is weir config show"),
        (["config", "show", "--set", "Dataverse:Pool:MaxPolSize=1"], "MaxPoolSize"),
        (["config", "show", "--config", "/nonexistent"], "there is no such file"),
        (["config", "show", "--jsn"], "did you mean --json?"),
    ]:
        result = run([WEIR, *arguments], cwd=folder)
        assert result.returncode == 2 and result.stdout == "", (arguments, result)
        assert says in result.stderr and result.stderr.count("\n") == 1, (arguments, result)


def test_a_full_disk_is_exit_7(folder):
    path = write_config(folder, CONFIG)
    with open("/dev/full", "w") as full:
        process = subprocess.run([WEIR, "config", "show", "--config", path], stdout=full,
                                 stderr=subprocess.PIPE)
    assert process.returncode == 7 and process.stderr.count(b"\n") == 1, process


if __name__ == "__main__":
    run_tests(sys.modules["__main__"])
