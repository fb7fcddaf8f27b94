#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Secrets: whom they are taken from, and that they are seen nowhere: secrets.py WEIR WEIR_SIM

The canaries are the secrets of the simulator's users, a private key and a token, one for each way
to give a credential, all in one job that meets every kind of trouble.
"""
import contextlib
import http.server
import json
import os
import pathlib
import re
import resource
import shlex
import signal
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request

from harness import forms_of, run, run_tests, simulator, write_config
from job_kit import PATIENCE_S

WEIR, SIM = map(os.path.abspath, sys.argv[1:3])
USERS = 6
FAULTS = [{"kind": "unauthorized", "probability": 0.03}, {"kind": "server_error", "probability": 0.03},
          {"kind": "throttle", "probability": 0.03, "retry_after": 1},
          {"kind": "commit_then_silence", "operation": "CreateMultiple", "probability": 0.03},
          {"kind": "bad_row", "column": "name", "value": "BAD"}]


def post(url, value):
    urllib.request.urlopen(urllib.request.Request(
        url, json.dumps(value).encode(), {"Content-Type": "application/json"})).read()


# --- canaries -----------------------------------------------------------------------------------

def private_file(path, text):
    path.write_text(text)
    path.chmod(0o600)
    return str(path)


def make_certificate(folder):
    """(a file with key and certificate, one with the certificate, lines of the key)"""
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
                    "/CN=app5", "-keyout", key, "-out", certificate], check=True,
                   capture_output=True)
    both = private_file(folder / "both.pem", key.read_text() + certificate.read_text())
    lines = [line for line in key.read_text().splitlines() if not line.startswith("-")]
    return both, str(certificate), lines


def fetch_token(url, user):
    form = urllib.parse.urlencode({
        "client_id": user["ClientId"], "client_secret": user["ClientSecret"],
        "grant_type": "client_credentials", "scope": url + "/.default"})
    answer = urllib.request.urlopen(url + "/contoso/oauth2/v2.0/token", form.encode())
    return json.load(answer)["access_token"]


class Planted:
    """A configuration in which every user has another kind of credential."""

    def __init__(self, folder, url, config, certificate):
        self.folder, self.url = folder, url
        users = config["Dataverse"]["Connections"]
        secrets = [user["ClientSecret"] for user in users]
        both, _, key_lines = certificate
        token = fetch_token(url, users[5])
        self.canaries = {form for secret in [*secrets, token, *key_lines[1:-1]]
                         for form in forms_of(secret)} | {b"PRIVATE KEY"}
        self.seen_by_child = folder / "seen"
        self.seen_by_child.mkdir()
        seen = shlex.quote(str(self.seen_by_child))
        given = [
            {"ClientSecret": secrets[0]},
            {"ClientSecretFile": private_file(folder / "app2.secret", secrets[1] + "\n")},
            {"ClientSecretEnv": "APP3_SECRET"},
            {"ClientSecretCommand": f"env > {seen}/env; cat /proc/$$/cmdline /proc/$PPID/cmdline > "
             f"{seen}/line; cat {shlex.quote(private_file(folder / 'app4.secret', secrets[3]))}"},
            {"CertificateFile": both},
            {"AccessTokenFile": private_file(folder / "app6.token", token)},
        ]
        for user, credential in zip(users, given):
            del user["ClientSecret"]
            user.update(credential)
        self.config = write_config(folder, config)
        self.environment = {"APP3_SECRET": secrets[2], "XDG_STATE_HOME": str(folder / "state"),
                            "HOME": "/nonexistent", "PATH": os.environ["PATH"],
                            **{name: os.environ[name] for name in ("LD_LIBRARY_PATH",)
                               if name in os.environ}}
        self.sources = {folder / name for name in ("appsettings.json", "app2.secret", "app4.secret",
                                                   "both.pem", "key.pem", "app6.token")}

    def weir(self, command, *words):
        return run([WEIR, *command, "--config", self.config, *words], env=self.environment,
                   text=False)

    def look(self, what, data):
        for canary in self.canaries:
            at = data.find(canary)
            assert at < 0, f"{what} has a secret: {data[max(0, at - 80):at + 8]!r}…"

    def look_at_files(self):
        """Every file below the folder but those that the user has put secrets into."""
        found = 0
        for path in self.folder.rglob("*"):
            if path.is_file() and path not in self.sources:
                self.look(path, path.read_bytes())
                found += 1
        return found


@contextlib.contextmanager
def planted(folder, *flags):
    folder = pathlib.Path(folder)
    certificate = make_certificate(folder)
    with simulator(SIM, "--users", str(USERS), "--no-limits", "--certificate",
                   "app5=" + certificate[1], *flags) as (url, config):
        yield Planted(folder, url, config, certificate)


def write_rows(folder, count):
    path = pathlib.Path(folder) / "rows.csv"
    path.write_text("name,accountnumber\n" + "".join(
        f"{'BAD' if i % 40 == 7 else f'Account {i}'},A{i}\n" for i in range(count)))
    return str(path)


# --- seen nowhere -------------------------------------------------------------------------------

def family_of(pid):
    """What ps would show of a process and its children."""
    found = []
    for number in [str(pid), *pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]:
        with contextlib.suppress(OSError):
            found.append(pathlib.Path(f"/proc/{number}/cmdline").read_bytes())
    return b"\n".join(found)


def run_and_watch(it, words):
    """Its output; meanwhile ps, and what is served as metrics."""
    process = subprocess.Popen([WEIR, *words], env=it.environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    said, served = [], []
    try:
        for line in process.stderr:
            said.append(line)
            with contextlib.suppress(OSError):
                it.look("ps", family_of(process.pid))
            found = re.search(rb"metrics at (http://[^\s\"]+)", line)
            if found:
                with contextlib.suppress(OSError):
                    served.append(urllib.request.urlopen(found[1].decode()).read())
        assert process.stdout.read() == b""
        return process.wait(PATIENCE_S), b"".join(said), served
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()


def finds(it, data):
    try:
        it.look("it", data)
    except AssertionError:
        return True
    return False


def test_whoever_looks_would_find_them(folder):
    with planted(folder) as it:
        assert all(finds(it, path.read_bytes()) for path in it.sources)
        assert finds(it, str(it.environment).encode()) and not finds(it, b"nothing of the kind")


def test_no_secret_is_seen_anywhere_in_a_job_that_meets_every_trouble(folder):
    with planted(folder) as it:
        rows = write_rows(folder, 600)
        post(it.url + "/sim/faults", {"faults": FAULTS})
        for turn, (level, form, report) in enumerate((
                ("trace", "text", "html"), ("trace", "json", "json"), ("debug", "json", "html"),
                ("info", "text", "json"), ("warning", "text", "html"), ("error", "json", "html"))):
            post(it.url + "/sim/reset", {})
            post(it.url + "/sim/faults", {"faults": FAULTS})
            code, said, served = run_and_watch(it, [
                "create", "account", rows, "--config", it.config, "--owner", "caller", "--job",
                f"job{turn}", "--batch-size", "5", "--log-level", level, "--log-format", form,
                "--report", f"{folder}/report{turn}.{report}", "--metrics-listen", "0",
                "--progress", "json", "--set", "Dataverse:Resilience:ReadBackDelay=0s"])
            assert code in (1, 8), (code, said[-3000:])
            assert len(served) == 1 and b"weir_job_done" in served[0], served
            assert level != "trace" or len(said) > 20_000, "a trace says more"
            it.look(f"log {level} {form}", said)
            it.look("metrics", served[0])
        # Every connection has had its part: all credentials were used.
        summary = json.loads((it.folder / "state/weir/jobs/job0/summary.json").read_text())
        assert all(connection["requests"] > 0 for connection in summary["connections"]), summary
        for command in (["config", "show"], ["config", "show", "--json"], ["check"]):
            result = it.weir(command)
            it.look(command, result.stdout + result.stderr)
            assert result.stdout, result
        for words in (["jobs", "show", "job0"], ["jobs", "--json"],
                      ["rejects", "job0", "--with-reasons"], ["completion", "bash"],
                      ["completion", "zsh"], ["completion", "fish"]):
            result = run([WEIR, *words], env=it.environment, text=False)
            assert result.returncode == 0 and result.stdout, result
            it.look(words, result.stdout + result.stderr)
        # Journals, reports, exports; and what a command of ours was given to see.
        assert it.look_at_files() > 6 * 7
        seen = (it.seen_by_child / "env").read_text()
        assert "PATH=" in seen and "APP3_SECRET" not in seen, seen


def test_variables_of_the_configuration_are_not_for_children(folder):
    with planted(folder) as it:
        it.environment["Dataverse__Connections__0__ClientSecret"] = "a-secret-of-the-environment"
        it.weir(["check"])
        seen = (it.seen_by_child / "env").read_text()
        assert "PATH=" in seen and "secret-of-the-environment" not in seen, seen


def test_a_secret_on_the_command_line_is_refused_and_not_repeated(folder):
    for key in ("ClientSecret", "AccessToken"):
        result = run([WEIR, "config", "show", "--set",
                      f"Dataverse:Connections:0:{key}=hunter2-hunter2"], cwd=folder)
        assert result.returncode == 2 and "hunter2" not in result.stdout + result.stderr, result


@contextlib.contextmanager
def echoing_login():
    """A login service that repeats what it was given, in every way it can."""
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            form = self.rfile.read(int(self.headers["Content-Length"])).decode()
            secret = dict(urllib.parse.parse_qsl(form))["client_secret"]
            body = json.dumps({"error": secret, "error_description": f"AADSTS7000215: no: {secret}",
                               "trace_id": secret, "secret": secret, "form": form}).encode()
            self.send_response(self.server.status, secret)
            self.send_header("Content-Type", "application/json")
            self.send_header("x-ms-request-id", secret)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever).start()
    try:
        yield server, f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def test_a_login_service_that_repeats_the_secret_is_not_quoted(folder):
    secret = "a-Canary~of+many/signs=8c1f"
    config = {"Dataverse": {"TenantId": "contoso", "Connections": [
        {"Name": "a", "ClientId": "a", "ClientSecret": secret}]}}
    with echoing_login() as (server, url):
        config["Dataverse"].update({"Url": url, "Authority": url})
        path = write_config(folder, config)
        for status in (400, 401):
            server.status = status
            for level in ("warning", "trace"):
                for form in ("text", "json"):
                    result = run([WEIR, "check", "--config", path, "--log-level", level,
                                  "--log-format", form], text=False)
                    said = result.stdout + result.stderr
                    assert result.returncode == 4 and said, result
                    for canary in forms_of(secret):
                        assert canary not in said, (status, level, form, canary, said)


# --- the core -----------------------------------------------------------------------------------

def any_core():
    resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def end_by(words, number, folder, ready, **more):
    """(whether a core was dumped, the files that are there now) of a command that a signal ends."""
    process = subprocess.Popen(words, cwd=folder, preexec_fn=any_core, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, **more)
    ready(process)
    os.kill(process.pid, number)
    _, status = os.waitpid(process.pid, 0)
    process.returncode = -number
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == number, status
    return os.WCOREDUMP(status), [path for path in pathlib.Path(folder).rglob("*core*")]


def test_a_crash_leaves_no_core_with_a_secret(folder):
    """The same limits let another program dump one, if this machine lets anybody."""
    empty = pathlib.Path(folder) / "empty"
    empty.mkdir()
    with planted(folder) as it:
        rows = write_rows(folder, 5000)

        def runs(process):
            until = time.monotonic() + PATIENCE_S
            while json.load(urllib.request.urlopen(it.url + "/sim/ledger?table=account"))["rows"] == 0:
                assert time.monotonic() < until and process.poll() is None
                threading.Event().wait(0.02)

        for number in (signal.SIGSEGV, signal.SIGABRT, signal.SIGQUIT):
            post(it.url + "/sim/reset", {})
            dumped, cores = end_by(
                [WEIR, "create", "account", rows, "--config", it.config, "--owner", "caller",
                 "--max-rate", "100", "--batch-size", "5"], number, empty, runs, env=it.environment)
            for core in cores:
                it.look(core, core.read_bytes())
            assert not dumped and cores == [], (number, cores)
            it.look_at_files()
    control, _ = end_by(["sleep", "60"], signal.SIGSEGV, empty, lambda _: None)
    print(f"# another program {'dumps' if control else 'dumps no'} core here", flush=True)


# --- whom they are taken from -------------------------------------------------------------------

def check_file(folder, name, key="ClientSecretFile"):
    config = {"Dataverse": {"Url": "http://127.0.0.1:9", "TenantId": "contoso", "Connections": [
        {"Name": "a", "ClientId": "a", key: name}]}}
    return run([WEIR, "check", "--config", write_config(folder, config)])


def test_a_file_with_a_secret_that_others_can_reach_is_refused(folder):
    place = pathlib.Path(folder)
    secret = "hunter2-hunter2"
    for key in ("ClientSecretFile", "AccessTokenFile", "CertificateFile"):
        for mode in (0o644, 0o640, 0o620, 0o604, 0o610, 0o601, 0o660, 0o666):
            path = place / "open.secret"
            path.write_text(secret)
            path.chmod(mode)
            result = check_file(folder, "open.secret", key)
            assert result.returncode in (2, 4) and "chmod 600" in result.stderr, (key, mode, result)
            assert f"{mode:04o}" in result.stderr and secret not in result.stderr, result
    link = place / "link.secret"
    link.symlink_to("open.secret")
    result = check_file(folder, "link.secret")
    assert result.returncode in (2, 4) and "chmod 600" in result.stderr, result
    (place / "directory").mkdir()
    (place / "directory.link").symlink_to("directory")
    os.mkfifo(place / "pipe", 0o600)
    for name in ("directory", "directory.link", "pipe", "/dev/null"):
        result = check_file(folder, name)
        assert result.returncode in (2, 4) and "not a regular file" in result.stderr, result
    for name in ("nothing", "link.to.nothing"):
        result = check_file(folder, name)
        assert result.returncode in (2, 4, 7) and name in result.stderr, result


def test_a_file_of_somebody_else_is_refused(folder):
    if os.geteuid() != 0:
        print("# only root can give a file away")
        return
    path = pathlib.Path(folder) / "theirs.secret"
    private_file(path, "hunter2-hunter2")
    os.chown(path, 12345, 12345)
    result = check_file(folder, str(path))
    assert result.returncode in (2, 4) and "belongs to somebody else" in result.stderr, result


def test_a_configuration_with_a_secret_must_be_ours_alone(folder):
    config = {"Dataverse": {"Url": "http://127.0.0.1:9", "Connections": [
        {"Name": "a", "ClientId": "a", "ClientSecret": "hunter2-hunter2"}]}}
    for mode in (0o644, 0o640, 0o604, 0o660):
        path = write_config(folder, config, mode)
        for words in (["check"], ["config", "show"], ["create", "account", "x.csv"]):
            result = run([WEIR, *words, "--config", path])
            assert result.returncode == 2 and "hunter2" not in result.stderr, (mode, result)
            assert "600" in result.stderr, (mode, result)
    del config["Dataverse"]["Connections"][0]["ClientSecret"]
    assert run([WEIR, "config", "show", "--config", write_config(folder, config, 0o644)]
               ).returncode == 0


if __name__ == "__main__":
    run_tests(sys.modules["__main__"])
