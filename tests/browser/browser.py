# SPDX-License-Identifier: MIT
"""A headless Chromium, spoken to over a pipe: as much of its protocol as the tests need."""
import base64
import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-pipe"]
# Chromium reads commands from 3 and writes answers to 4.
BECOME = "import os, sys; os.dup2(10, 3); os.dup2(11, 4); os.execvp(sys.argv[1], sys.argv[1:])"


def program():
    """None: there is no browser."""
    return shutil.which("chromium")


def at_least(fd, lowest):
    """The same file under a number that is out of everybody's way."""
    moved = fcntl.fcntl(fd, fcntl.F_DUPFD, lowest)
    os.close(fd)
    return moved


class Browser:
    """One window. Whatever goes wrong in a page is kept in `complaints`, requests in `requests`."""

    def __init__(self):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        read_commands, commands = (at_least(fd, 100) for fd in os.pipe())
        answers, write_answers = (at_least(fd, 100) for fd in os.pipe())
        os.dup2(read_commands, 10)
        os.dup2(write_answers, 11)
        self.process = subprocess.Popen(
            [sys.executable, "-c", BECOME, program(), *FLAGS,
             "--user-data-dir=" + self.profile.name], pass_fds=(10, 11), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
            env={"PATH": os.environ["PATH"], "HOME": self.profile.name, "LANG": "C.UTF-8"})
        for fd in (read_commands, write_answers, 10, 11):
            os.close(fd)
        self.commands, self.answers = os.fdopen(commands, "wb"), os.fdopen(answers, "rb")
        self.pending, self.number, self.session = b"", 0, None
        self.complaints, self.requests, self.loaded = [], [], 0
        self.open_window()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.session = None
        try:
            self.ask("Browser.close")
        except (OSError, AssertionError):
            pass
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.commands.close()
        self.answers.close()
        self.profile.cleanup()

    def open_window(self):
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(domain + ".enable")

    def next_message(self):
        while b"\0" not in self.pending:
            piece = self.answers.read1(1 << 20)
            assert piece, "the browser has ended"
            self.pending += piece
        text, self.pending = self.pending.split(b"\0", 1)
        return json.loads(text)

    def heed(self, message):
        method, values = message.get("method"), message.get("params", {})
        if method == "Page.loadEventFired":
            self.loaded += 1
        elif method == "Network.requestWillBeSent":
            self.requests.append(values["request"]["url"])
        elif method in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"):
            self.complaints.append((method, values))

    def ask(self, method, **values):
        self.number += 1
        message = {"id": self.number, "method": method, "params": values}
        if self.session:
            message["sessionId"] = self.session
        self.commands.write(json.dumps(message).encode() + b"\0")
        self.commands.flush()
        while True:
            answer = self.next_message()
            if answer.get("id") == self.number:
                assert "result" in answer, answer
                return answer["result"]
            self.heed(answer)

    def look_like(self, width, scheme, scale=1):
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=900,
                 deviceScaleFactor=scale, mobile=False)
        self.ask("Emulation.setEmulatedMedia",
                 features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, url):
        self.complaints, self.requests = [], []
        before = self.loaded
        self.ask("Page.navigate", url=url)
        while self.loaded == before:
            self.heed(self.next_message())

    def evaluate(self, script):
        result = self.ask("Runtime.evaluate", expression=script, returnByValue=True,
                          awaitPromise=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def picture(self, path, height=None):
        """The page from its top, all of it or as high as that."""
        size = self.ask("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "scale": 1, "width": size["width"],
                "height": min(size["height"], height or size["height"])}
        data = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=True,
                        clip=clip)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
