#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""weir check as people use it: check.py WEIR WEIR_SIM"""
import contextlib
import http.server
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import threading
import urllib.request

from harness import run, run_tests, simulator, write_config

WEIR, SIM = map(os.path.abspath, sys.argv[1:3])
CANARY = "Canary-7f3e9a~secret"


def fault(url, **fault):
    request = urllib.request.Request(url + "/sim/faults", json.dumps({"faults": [fault]}).encode(),
                                     {"Content-Type": "application/json"})
    urllib.request.urlopen(request).read()


def rows(result):
    lines = result.stdout.splitlines()
    assert lines[0].startswith("CONNECTION"), result
    return {line.split()[0]: line for line in lines[1:]}


def test_one_row_per_connection(folder):
    with simulator(SIM, "--users", "3") as (url, config):
        result = run([WEIR, "check", "--config", write_config(folder, config)])
    table = rows(result)
    assert result.returncode == 0, result
    assert sorted(table) == ["app1", "app2", "app3"], result
    assert all(" ok " in row and " 5 " in row and "5999" in row for row in table.values()), result
    assert "3 of 3 connections work" in result.stderr
    assert url in result.stderr and "appsettings.json" in result.stderr, result


def test_a_wrong_secret_is_explained_and_the_others_are_shown(folder):
    with simulator(SIM, "--users", "2") as (_, config):
        config["Dataverse"]["Connections"][1]["ClientSecret"] = "wrong"
        result = run([WEIR, "check", "--config", write_config(folder, config)])
    table = rows(result)
    assert result.returncode == 4, result
    assert " ok " in table["app1"] and "no token" in table["app2"], result
    assert "1 of 2 connections work" in result.stderr, result
    assert result.stderr.count("AADSTS7000215") == 1, result
    assert "warning" not in result.stderr, result


def test_what_is_too_narrow_for_the_table_gets_a_line_for_each_cell(folder):
    """No line is wider, no word is broken, nothing is left out."""
    with simulator(SIM, "--users", "2") as (_, config):
        config["Dataverse"]["Connections"][1]["ClientSecret"] = "wrong"
        words = [WEIR, "check", "--config", write_config(folder, config)]
        wide = run(words)
        narrow = run(words, env={"COLUMNS": "80"})
    titles = re.split("  +", wide.stdout.splitlines()[0])
    lines = narrow.stdout.splitlines() + narrow.stderr.splitlines()[1:]  # which names two paths
    assert max(map(len, lines)) <= 80, narrow
    for app in ("app1", "app2"):
        block = narrow.stdout.split(f"CONNECTION     {app}\n")[1].split("\n\n")[0]
        assert [line[:15].strip() for line in block.splitlines()] == titles[1:], narrow
    assert narrow.stderr.split()[-5:] == "1 of 2 connections work".split(), narrow
    assert len(narrow.stderr.split()) == len(wide.stderr.split()), (narrow, wide)


def test_a_service_that_is_not_there_is_unreachable(folder):
    with simulator(SIM, "--users", "1") as (_, config):
        pass
    result = run([WEIR, "check", "--config", write_config(folder, config)])
    assert result.returncode == 10, result
    assert "unreachable" in rows(result)["app1"], result


def test_a_throttled_connection_is_shown_and_not_waited_for(folder):
    with simulator(SIM, "--users", "1", "--no-limits") as (url, config):
        fault(url, kind="throttle", operation="GET", code="0x80072321", retry_after=600, count=1)
        result = run([WEIR, "check", "--config", write_config(folder, config)])
    assert result.returncode == 6, result
    assert "throttled" in rows(result)["app1"] and "600" in result.stderr, result


def test_roles_that_differ_are_named(folder):
    scenario = pathlib.Path(folder) / "roles.json"
    scenario.write_text(json.dumps({"users": [
        {"name": "app1", "roles": ["Loader", "Reader"]}, {"name": "app2", "roles": ["Reader"]}]}))
    flags = ["--users", "2", "--scenario", str(scenario)]
    with simulator(SIM, *flags) as (_, config):
        result = run([WEIR, "check", "--config", write_config(folder, config)])
    assert result.returncode == 0, result
    assert 'app2: lacks the role "Loader", which app1 has' in result.stderr, result
    assert "app1: lacks" not in result.stderr, result


def test_over_tls_with_the_authority_of_the_simulator(folder):
    with simulator(SIM, "--users", "2", "--tls", "--tls-dir", folder) as (_, config):
        path = write_config(folder, config)
        good = run([WEIR, "check", "--config", path])
        del config["Dataverse"]["CaFile"]
        bad = run([WEIR, "check", "--config", write_config(folder, config)])
    assert good.returncode == 0, good
    assert bad.returncode == 10 and "certificate" in bad.stderr, bad


def test_the_configuration_is_found_and_named(folder):
    home = pathlib.Path(folder) / "home"
    (home / "weir").mkdir(parents=True)
    with simulator(SIM, "--users", "1") as (_, config):
        path = write_config(home / "weir", config)
        by_home = run([WEIR, "check"], cwd=folder, env={"XDG_CONFIG_HOME": str(home)})
        in_folder = run([WEIR, "check"], cwd=home / "weir")
    assert by_home.returncode == 0 and path in by_home.stderr, by_home
    assert in_folder.returncode == 0, in_folder
    nowhere = run([WEIR, "check"], cwd=folder)
    assert nowhere.returncode == 2 and "no environment" in nowhere.stderr, nowhere


def test_usage_errors_are_one_sentence_and_exit_2(folder):
    for arguments, says in [
        (["chekc"], 'there is no command "chekc"; did you mean "check"?'),
        (["frobnicate"], "weir help lists them"),
        (["check", "--conifg", "x"], "did you mean --config?"),
        (["check", "--config"], "--config lacks its value"),
        (["check", "--config", "a", "--config=b"], "--config is given twice"),
        (["check", "--config", "/nonexistent"], "there is no such file"),
        (["check", "--log-level", "loud"], "--log-level is \"loud\""),
        (["check", "--log-format", "xml"], "--log-format is \"xml\""),
        (["check", "--set", "Dataverse:Pool:MaxPoolSize=x"], "MaxPoolSize"),
        (["check", "--set", "Dataverse:Connections:0:ClientSecret=x"], "is a secret"),
    ]:
        result = run([WEIR, *arguments], cwd=folder)
        assert result.returncode == 2, (arguments, result)
        assert says in result.stderr and result.stderr.count("\n") == 1, (arguments, result)
        assert result.stdout == "", (arguments, result)


def test_help_fits_one_screen_and_shows_an_example(folder):
    for arguments in (["help"], ["help", "check"], ["check", "--help"], ["--help"]):
        result = run([WEIR, *arguments], cwd=folder)
        assert result.returncode == 0, result
        lines = result.stdout.splitlines()
        assert 5 < len(lines) <= 30 and max(map(len, lines)) <= 88, (arguments, result.stdout)
    for command in ("check", "describe", "map"):
        lines = run([WEIR, "help", command]).stdout.splitlines()
        assert len(lines) <= 30 and max(map(len, lines)) <= 88, lines
        assert lines[-2] == "example:" and lines[-1].startswith(f"  weir {command} "), lines
        assert run([WEIR, command, "--help"]).stdout.splitlines() == lines
    assert run([WEIR, "--version"]).stdout.startswith("weir ")
    assert run([WEIR]).returncode == 2


def test_a_secret_that_others_may_read_is_refused(folder):
    with simulator(SIM, "--users", "1") as (_, config):
        result = run([WEIR, "check", "--config", write_config(folder, config, 0o644)])
        assert result.returncode == 2 and "chmod 600" in result.stderr, result
        secret = pathlib.Path(folder) / "app1.secret"
        secret.write_text(config["Dataverse"]["Connections"][0].pop("ClientSecret") + "\n")
        secret.chmod(0o640)
        config["Dataverse"]["Connections"][0]["ClientSecretFile"] = "app1.secret"
        path = write_config(folder, config, 0o644)
        result = run([WEIR, "check", "--config", path])
        assert result.returncode == 2 and "chmod 600" in result.stderr, result
        secret.chmod(0o600)
        result = run([WEIR, "check", "--config", path])
        assert result.returncode == 0, result


def test_a_command_may_print_secret_or_token(folder):
    with simulator(SIM, "--users", "2") as (url, config):
        first, second = config["Dataverse"]["Connections"]
        secret = first.pop("ClientSecret")
        first["ClientSecretCommand"] = f"echo '{secret}'"
        form = (f"client_id=app2&client_secret={second.pop('ClientSecret')}"
                f"&grant_type=client_credentials&scope={url}/.default")
        answer = urllib.request.urlopen(url + "/contoso/oauth2/v2.0/token", form.encode()).read()
        token = pathlib.Path(folder) / "token.json"
        token.write_bytes(answer)
        second["TokenCommand"] = f"cat {token}"
        result = run([WEIR, "check", "--config", write_config(folder, config)])
    assert result.returncode == 0, result
    assert "token command" in rows(result)["app2"], result


def read_process(pid):
    """What another user could read of a process, or a core file of it could hold."""
    folder = pathlib.Path("/proc") / str(pid)
    limit = [line for line in (folder / "limits").read_text().splitlines()
             if line.startswith("Max core file size")]
    return (folder / "cmdline").read_bytes() + (folder / "environ").read_bytes(), limit[0]


class SilentServer:
    """Accepts, and says nothing until it is told to close."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.socket.settimeout(60)
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        self.came = threading.Event()
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        connection, _ = self.socket.accept()
        connection.recv(1)
        self.came.set()
        self.over.wait(60)
        connection.close()

    def close(self):
        self.over.set()
        self.thread.join()
        self.socket.close()


def test_a_canary_secret_and_token_are_found_nowhere(folder):
    """Not in argv, not in the environment of children, not in logs at trace level, not in errors."""
    seen = []
    spy = pathlib.Path(folder) / "spy"
    spy.write_text("#!/bin/sh\ntr '\\0' '\\n' < /proc/$$/environ > \"$1\"\n"
                   "tr '\\0' ' ' < /proc/$$/cmdline >> \"$1\"\n"
                   "cat /proc/$PPID/cmdline >> \"$1\"\necho wrong-secret\n")
    spy.chmod(0o700)
    with simulator(SIM, "--users", "4") as (url, config):
        connections = config["Dataverse"]["Connections"]
        connections[0]["ClientSecret"] = CANARY                    # refused: AADSTS7000215
        del connections[1]["ClientSecret"]
        connections[1]["ClientSecretEnv"] = "APP2_SECRET"          # refused, from the environment
        del connections[2]["ClientSecret"]
        connections[2]["ClientSecretCommand"] = f"{spy} {folder}/child"
        connections[3]["AccessToken"] = CANARY                     # spurned by the service
        del connections[3]["ClientSecret"]
        path = write_config(folder, config)
        environment = {"APP2_SECRET": CANARY, "Dataverse__Connections__4__Name": "app5",
                       "Dataverse__Connections__4__ClientId": "app5",
                       "Dataverse__Connections__4__ClientSecret": CANARY}
        for form in ("text", "json"):
            result = run([WEIR, "check", "--config", path, "--log-level", "trace", "--log-format",
                          form], env=environment)
            assert result.returncode == 4, result
            assert "AADSTS7000215" in result.stderr, result
            seen += [result.stdout, result.stderr]
        fault(url, kind="html_error", operation="token")
        seen.append(run([WEIR, "check", "--config", path, "--log-level", "trace"],
                        env=environment).stderr)
        fault(url, kind="cut", operation="token", byte=100)
        seen.append(run([WEIR, "check", "--config", path, "--log-level", "trace"],
                        env=environment).stderr)
    child = pathlib.Path(folder, "child").read_text(errors="replace")
    assert "PATH=" in child, child
    seen.append(child)
    for text in seen:
        assert CANARY not in text, text


@contextlib.contextmanager
def refusing_service(message):
    """A service that refuses everything with these words; its address."""
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            body = json.dumps({"error": {"code": "0x80040220", "message": message}}).encode()
            self.send_response(403)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(60)


def test_words_of_the_service_neither_steer_a_terminal_nor_make_lines(folder):
    rows_file = pathlib.Path(folder, "rows.csv")
    rows_file.write_text("name\nA\n")
    with refusing_service("go away\x1b]0;owned\x07\x9b2J\r\nweir: all rows are done") as url:
        path = write_config(folder, {"Dataverse": {"Url": url, "Connections": [
            {"Name": "A", "AccessToken": "abc"}]}})
        for words in (["check"], ["describe", "account"], ["check", "account", str(rows_file)],
                      ["create", "account", str(rows_file), "--job-dir", f"{folder}/job"]):
            for form in ("text", "json"):
                result = run([WEIR, *words, "--config", path, "--log-level", "debug", "--log-format", form])
                said = result.stdout + result.stderr
                assert result.returncode == 4 and "go away" in said, result
                assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", said), repr(said)
                assert not re.search(r"^\W*weir: all rows", said, re.M), said


def test_no_core_file_can_be_written(folder):
    server = SilentServer()
    with simulator(SIM, "--users", "1") as (_, config):
        config["Dataverse"]["Url"] = config["Dataverse"]["Authority"] = server.url
        config["Dataverse"]["Connections"][0]["ClientSecret"] = CANARY
        process = subprocess.Popen([WEIR, "check", "--config", write_config(folder, config)],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   env={"PATH": os.environ["PATH"]})
        try:
            assert server.came.wait(60)
            text, limit = read_process(process.pid)
            assert CANARY.encode() not in text
            assert limit.split()[4:6] == ["0", "0"], limit
        finally:
            server.close()
            process.wait(60)


if __name__ == "__main__":
    run_tests(sys.modules["__main__"])
