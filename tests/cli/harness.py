# SPDX-License-Identifier: MIT
"""What the tests of the commands share: a simulator, a folder of their own, and TAP."""
import base64
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import traceback
import urllib.parse
import urllib.request


@contextlib.contextmanager
def simulator(program, *flags, tls=None):
    """A weir-sim on a free port; gives its address and its configuration."""
    process = subprocess.Popen([program, "--port", "0", *flags], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True)
    try:
        url = process.stdout.readline().split()[1]
        port = url.rsplit(":", 1)[1]
        text = subprocess.run([program, "--port", port, *flags, "--print-config"],
                              capture_output=True, text=True, check=True).stdout
        yield url, json.loads(text)
    finally:
        process.terminate()
        process.wait(30)
        process.stdout.close()


def write_config(folder, config, mode=0o600):
    path = pathlib.Path(folder) / "appsettings.json"
    path.write_text(json.dumps(config, indent=1))
    path.chmod(mode)
    return str(path)


def ask(url, config, query, **headers):
    """What the service itself says to a question: the rows of one page, which has to hold all."""
    user = config["Dataverse"]["Connections"][0]
    form = urllib.parse.urlencode({
        "client_id": user["ClientId"], "client_secret": user["ClientSecret"],
        "grant_type": "client_credentials", "scope": url + "/.default"})
    token = json.load(urllib.request.urlopen(url + "/contoso/oauth2/v2.0/token", form.encode()))
    request = urllib.request.Request(
        f"{url}/api/data/v9.2/{query}",
        headers={"Authorization": "Bearer " + token["access_token"], **headers})
    found = json.load(urllib.request.urlopen(request))
    assert "@odata.nextLink" not in found, "more rows than one page has"
    return found["value"]


def forms_of(secret):
    """Of a secret: as it is, in a form, in JSON, and what is the same of its base64 wherever it begins."""
    raw = secret.encode()
    found = {raw, urllib.parse.quote(secret, safe="").encode(), json.dumps(secret)[1:-1].encode()}
    for before in range(3):
        text = base64.b64encode(b"\0" * before + raw)
        found.add(text[4:len(text) // 4 * 4 - 4])
    return {form for form in found if len(form) >= 12}


def run(arguments, **more):
    kept = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ}
    environment = {**kept, "HOME": "/nonexistent", **more.pop("env", {})}
    return subprocess.run(arguments, capture_output=True, text=more.pop("text", True), timeout=120,
                          env=environment, **more)


class Running:
    """A process, `self.process`, with its standard error in a pipe, that does not outlive its test."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stderr.close()


def run_tests(module):
    """Each function test_… of a module is a test; it gets a folder. Prints TAP, exits."""
    tests = [(name, function) for name, function in vars(module).items()
             if name.startswith("test_")]
    # A test run may have been started by nohup: what that made ignored, its children would inherit.
    for ends in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
        if signal.getsignal(ends) == signal.SIG_IGN:
            signal.signal(ends, signal.SIG_DFL)
    print(f"1..{len(tests)}")
    failed = False
    for number, (name, function) in enumerate(tests, 1):
        with tempfile.TemporaryDirectory() as folder:
            try:
                function(folder)
                print(f"ok {number} - {name[5:]}", flush=True)
            except Exception:  # whatever it is, it is this test's failure
                failed = True
                print(f"not ok {number} - {name[5:]}", flush=True)
                print("".join("# " + line + "\n" for line in
                              traceback.format_exc().splitlines()), flush=True)
    sys.exit(failed)
