# SPDX-License-Identifier: MIT
"""
What stands between the command and the simulator.

    Toxic     breaks bytes wherever they are (tests/support/toxic_main.c)
    Mangler   knows requests from answers, and spoils every few answers of one message: before that it has the request
              executed, or not, as it is told
    Porter    stands before the login, is slow, and counts those who ask for a token
"""
import collections
import contextlib
import re
import socket
import struct
import subprocess
import threading
import urllib.parse

from tally import TALLY

PATIENCE_S = 120  # of a socket whose other side says nothing: longer than any test waits
PIECE = 65536
PONDERS_S = 0.2  # a porter: longer than it takes until all who want a token have asked for it
ASTRAY = b"/followed"  # where only somebody comes who follows a redirect


def port_of(url):
    return int(url.rsplit(":", 1)[1])


class Toxic:
    def __init__(self, program, sim):
        self.process = subprocess.Popen([program, str(port_of(sim.url))], text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        self.url = f"http://127.0.0.1:{self.process.stdout.readline().split()[1]}"

    def say(self, *words):
        self.process.stdin.write(" ".join(words) + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def break_all(self, scripts):
        """What is open now is reset, and what is opened next ends as the scripts say."""
        for script in scripts:
            self.say("next", script)
        self.say("go")
        self.say("end", "reset")
        TALLY.add(faults=len(scripts) + 1)

    def close(self):
        self.process.stdin.close()
        self.process.wait(30)
        self.process.stdout.close()


class Wrong(Exception):
    """The other side has ended in the midst of something."""


class Stream:
    """Requests or answers from a socket."""

    def __init__(self, connection):
        self.connection, self.kept = connection, b""

    def more(self):
        piece = self.connection.recv(PIECE)
        if not piece:
            raise Wrong
        self.kept += piece

    def take(self, count):
        while len(self.kept) < count:
            self.more()
        taken, self.kept = self.kept[:count], self.kept[count:]
        return taken

    def message(self):
        """(head with its blank line, body)"""
        while b"\r\n\r\n" not in self.kept:
            self.more()
        head = self.take(self.kept.index(b"\r\n\r\n") + 4)
        length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
        return head, self.take(int(length[1])) if length else b""


def reset(connection):
    """Not an end, but a reset."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


class Mangler:
    """
    Each connection has a thread of its own, and one to the simulator. `spoil` is called with the head and the body of
    an answer and the connection, and says what is sent; what it returns that is not None is sent, and the connection
    closed.
    """

    def __init__(self, sim):
        self.server_port, self.message, self.lock = port_of(sim.url), None, threading.Lock()
        self.stop = threading.Event()
        self.seen = self.spoilt = self.followed = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.open = set()
        threading.Thread(target=self.accept, daemon=True).start()

    def begin(self, message, spoil, every, most, executed):
        """From now on."""
        self.spoil, self.every, self.most, self.executed = spoil, every, most, executed
        self.model = None  # an answer of that message, for requests that are swallowed
        self.message = message.encode()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                threading.Thread(target=self.serve, args=[client], daemon=True).start()

    def is_victim(self, head):
        """Every so many of those of the message, and no more than so many."""
        if self.message is None or self.message not in head.split(b"\r\n")[0]:
            return False
        with self.lock:
            self.seen += 1
            chosen = self.model and self.spoilt < self.most and self.seen % self.every == 0
            self.spoilt += bool(chosen)
            return bool(chosen)

    def serve(self, client):
        with contextlib.suppress(OSError, Wrong), \
                socket.create_connection(("127.0.0.1", self.server_port), PATIENCE_S) as server, client:
            client.settimeout(PATIENCE_S)
            self.open.add(client)
            requests, answers = Stream(client), Stream(server)
            while self.exchange(requests, answers, client, server):
                pass

    def exchange(self, requests, answers, client, server):
        """One request; False: there will be none after it."""
        head, body = requests.message()
        self.followed += ASTRAY in head.split(b"\r\n")[0]
        victim = self.is_victim(head)
        if victim and not self.executed:
            self.damage(client, *self.model)
            return False
        server.sendall(head + body)
        answer = answers.message()
        if self.message and self.message in head.split(b"\r\n")[0] and answer[0].split()[1][:1] == b"2":
            self.model = answer
        if victim:
            self.damage(client, *answer)
            return False
        client.sendall(b"".join(answer))
        return True

    def damage(self, client, head, body):
        TALLY.add(faults=1)
        self.spoil(self, client, head, body)

    def close(self):
        self.stop.set()
        self.listener.close()
        for client in list(self.open):
            with contextlib.suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def before(sim, proxy):
    """The job speaks to the proxy; it logs in, and the judge asks, without it."""
    sim.config["Dataverse"].update({"Url": proxy.url, "Scope": sim.url + "/.default"})
    try:
        yield proxy
    finally:
        proxy.close()


class Porter(Mangler):
    """By name of who asks: how often, how many at this moment, and the most that there were at any."""

    def __init__(self, sim):
        self.asked, self.inside, self.most = (collections.Counter() for _ in range(3))
        super().__init__(sim)

    def exchange(self, requests, answers, client, server):
        head, body = requests.message()
        who = dict(urllib.parse.parse_qsl(body.decode())).get("client_id", "nobody")
        self.let_in(who)
        try:
            server.sendall(head + body)
            answer = answers.message()
            self.stop.wait(PONDERS_S)
        finally:
            self.let_out(who)
        client.sendall(b"".join(answer))
        return True

    def let_in(self, who):
        with self.lock:
            self.asked[who] += 1
            self.inside[who] += 1
            self.most[who] = max(self.most[who], self.inside[who])

    def let_out(self, who):
        with self.lock:
            self.inside[who] -= 1


@contextlib.contextmanager
def at_the_door(sim):
    """The job logs in by a porter, and speaks to the simulator without him."""
    porter = Porter(sim)
    sim.config["Dataverse"]["Authority"] = porter.url
    try:
        yield porter
    finally:
        porter.close()
