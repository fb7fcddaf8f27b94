# SPDX-License-Identifier: MIT
"""What the tests of commands about jobs share: a service, a home for jobs, rows good and bad."""
import contextlib
import json
import os
import pathlib
import select
import signal
import subprocess
import time
import urllib.request

from harness import ask, run, simulator, write_config

PATIENCE_S = 60  # nothing takes so long; whoever waits longer hangs


class World:
    """A simulator and a folder with a configuration; jobs lie below state/."""

    def __init__(self, program, folder, url, config):
        self.program, self.folder, self.url = program, pathlib.Path(folder), url
        self.settings = config
        self.made = 0  # rows so far: no number comes twice
        self.root = self.folder / "state" / "weir" / "jobs"

    def set_faults(self, *faults):
        request = urllib.request.Request(
            self.url + "/sim/faults", json.dumps({"faults": list(faults)}).encode(),
            {"Content-Type": "application/json"})
        urllib.request.urlopen(request).read()

    def ledger(self, table="account"):
        return json.load(urllib.request.urlopen(f"{self.url}/sim/ledger?table={table}"))

    def all(self, query):
        return ask(self.url, self.settings, query)

    def rows(self, count, name="rows.csv", bad=()):
        """Accounts with numbers that no other has; of row 1 … those in `bad` are named BAD."""
        path = self.folder / name
        lines = [f"{'BAD' if i in bad else f'Account {i}'},A{self.made + i}"
                 for i in range(1, count + 1)]
        self.made += count
        path.write_text("name,accountnumber\n" + "".join(line + "\n" for line in lines))
        return str(path)

    def environment(self):
        kept = {name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ}
        return {**kept, "XDG_STATE_HOME": str(self.folder / "state"),
                "PATH": os.path.dirname(self.program) + ":" + os.environ["PATH"]}

    def weir(self, *arguments, **more):
        """A command that needs no service."""
        return run([self.program, *arguments],
                   env={**self.environment(), **more.pop("env", {})}, **more)

    def work(self, command, *arguments, **more):
        """A command that does."""
        return self.weir(command, "--config", str(self.folder / "appsettings.json"), *arguments,
                         **more)

    def jobs(self):
        if not self.root.is_dir():
            return []
        return sorted(path.name for path in self.root.iterdir() if path.name[0] != ".")

    def shell(self, line, **more):
        """What a shell makes of a line, in the folder of the configuration."""
        return run(["sh", "-c", line], cwd=self.folder, env=self.environment(), **more)

    @contextlib.contextmanager
    def running(self, *arguments):
        """A job that runs until the block ends; the service holds its answers back."""
        self.set_faults({"kind": "stall", "operation": "CreateMultiple", "seconds": 300})
        process = subprocess.Popen(
            [self.program, arguments[0], "--config", str(self.folder / "appsettings.json"),
             *arguments[1:]], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL, env={"HOME": "/nonexistent", **self.environment()})
        try:
            wait_for_text(process, ", job ")
            yield process
        finally:
            process.kill()
            process.wait()
            process.stderr.close()
            self.set_faults()


def wait_for_text(process, text):
    seen, until = "", time.monotonic() + PATIENCE_S
    while text not in seen:
        ready, _, _ = select.select([process.stderr], [], [], until - time.monotonic())
        assert ready, f"no {text!r} in {seen!r}"
        piece = os.read(process.stderr.fileno(), 65536)
        assert piece, f"no {text!r} in {seen!r}"
        seen += piece.decode()


@contextlib.contextmanager
def world(program, sim, folder, *flags):
    with simulator(sim, "--users", "1", "--no-limits", *flags) as (url, config):
        write_config(folder, config)
        yield World(program, folder, url, config)


def bad_names():
    return {"kind": "bad_row", "column": "name", "value": "BAD"}


def closed_early(program, world_, *arguments):
    """The exit code and standard error of a command whose reader leaves at once."""
    reading, writing = os.pipe()
    os.close(reading)
    process = subprocess.Popen([program, *arguments], stdout=writing, stderr=subprocess.PIPE,
                               env={"HOME": "/nonexistent", **world_.environment()},
                               preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN),
                               restore_signals=False)
    os.close(writing)
    said = process.communicate(timeout=PATIENCE_S)[1].decode()
    return process.returncode, said
