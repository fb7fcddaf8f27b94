#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Disks that are full, read only or damaged, and inputs that are not what they were: disk.py WEIR WEIR_SIM WEIR_FAULT

What cannot be made durable ends the run: exit 7, nothing is sent any more, and a resume goes on once there is room. A
damaged journal is refused or does no harm; a changed input is refused. What was sent when is told by a witness in the command itself (tests/support/witness.c).
"""
import functools
import pathlib
import resource
import shutil
import signal
import sys

from campaign import (ACCOUNT, CREATE, FULL, UPDATE, UPSERT, Job, judge, judge_secrets, let_pass,
                      run_tests, seed_of, subfolder, wait_until, world)
from tally import TALLY

CONNECTIONS, PARALLEL = 2, 4
STEADY = {"AdaptiveRate:Policy": "Fixed", "AdaptiveRate:FixedParallelism": PARALLEL}


def check_nothing_sent_afterwards(seen):
    """Two threads: the journal's may tell its failure between the look that the loop's takes before each request and the
    request itself. So one may leave just then, but none that was preceded by a look at which it had been told."""
    assert seen["after_look"] == 0 and seen["after_failure"] <= 1, seen


def check_failure(result):
    assert result.code == 7, result
    assert result.stderr.strip(), result


ROWS = 900 if FULL else 240


def fail_once(name, fault, folder, count=ROWS):
    """One run with a fault of the disk, then one without. True: it was met."""
    with world(connections=CONNECTIONS, seed=seed_of(name), service_ms=1) as sim:
        job = Job(sim, CREATE, folder, count, batch=3, seed=seed_of(name), quick=STEADY)
        result, seen = job.run_watched(env=fault)
        if not seen["disk_failed"]:
            assert result.code == 0, result
            judge(job)
            return False
        check_failure(result)
        check_nothing_sent_afterwards(seen)
        TALLY.add(faults=1)
        job.run()
        judge(job)
        return True


def every_call(variable, call, how, folder):
    """From the n-th call on, for every n until there are no more calls."""
    met = 0
    for number in range(1, 5000):
        fault = {variable: ":".join([call, str(number), *how])}
        if not fail_once(f"{call} {number}", fault, subfolder(folder, str(number))):
            break
        met += 1
    assert met > 0, f"{call} was never called"


for called, error in (("open", "EROFS"), ("pwrite", "ENOSPC"), ("pwrite", "EIO"),
                      ("fsync", "EIO"), ("rename", "EROFS"), ("rename", "ENOSPC")):
    globals()[f"test_every_{called}_fails_with_{error.lower()}"] = functools.partial(
        every_call, "WEIR_FAIL_IO", called, [error])
for called in ("write", "sync"):
    globals()[f"test_every_{called}_of_the_database_fails"] = functools.partial(
        every_call, "WEIR_FAIL_VFS", called, [])
for word in ("full", "short") if FULL else ():
    globals()[f"test_every_write_of_the_database_is_{word}"] = functools.partial(
        every_call, "WEIR_FAIL_VFS", "write", [word])


def test_files_that_cannot_grow_any_further(folder):
    """A limit of the operating system, met by the real calls."""
    for kib in (4, 20, 40, 64, 100, 180):
        limit = kib * 1024

        def lower():
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        with world(connections=CONNECTIONS, service_ms=1) as sim:
            job = Job(sim, CREATE, subfolder(folder, str(kib)), 3000, batch=3, quick=STEADY)
            result, seen = job.run_watched(preexec_fn=lower, restore_signals=False)
            if result.code:
                check_failure(result)
                check_nothing_sent_afterwards(seen)
            else:
                assert kib >= 64, result
            job.run()
            judge(job)


# --- a damaged journal ----------------------------------------------------------------------------

def sealed(job):
    """The number of the last record that the journal's seal vouches for: of what comes behind it, nobody misses any."""
    try:
        content = (job.directory / "journal.seal").read_bytes()
    except FileNotFoundError:
        return 0
    slots = [content[at:at + 96].split() for at in (0, 512)]
    return max([int(slot[1], 16) for slot in slots if len(slot) > 4], default=0)


def kill_midway(job, requests):
    """So many requests are answered and no more: it cannot reach its end before the kill, however late that comes.
    The kill waits until the journal has written some of the answers, and sealed them."""
    log = job.directory / "journal.db-wal"

    def is_half_done():
        return (job.requests() > requests and log.exists() and log.stat().st_size > 4096 and
                sealed(job) > requests // 3)
    job.world.faults({"kind": "stall", "seconds": 60, "operation": job.kind.message, "probability": 1,
                      "after": requests})
    run = job.start()
    wait_until(lambda: is_half_done() or run.is_over(), "some of it is sent and written down")
    run.kill()
    assert job.finish(run).code == -signal.SIGKILL
    job.world.faults()
    let_pass(0.3)  # what was in flight is executed all the same


class Wreck:
    """A job that was killed half way, to be damaged in many ways."""

    def __init__(self, sim, folder):
        self.sim = sim
        self.job = Job(sim, UPDATE, folder, 240, batch=3, quick=STEADY, seed=seed_of("wreck"))
        kill_midway(self.job, 45)
        judge_secrets(self.job)
        self.kept = self.job.folder / "kept"
        shutil.copytree(self.job.directory, self.kept)
        columns = ["accountid", "name", "description", "accountnumber"]
        self.table = [dict(zip(columns, row)) for row in sim.rows(ACCOUNT, columns)]

    def restore(self):
        """Journal and table as they were at the kill."""
        shutil.rmtree(self.job.directory)
        shutil.copytree(self.kept, self.job.directory)
        self.sim.write(ACCOUNT, self.table)
        self.job.outputs.clear()

    def is_refused(self):
        """The resume says why and writes nothing, or it does all that is left to do and reports it. Damaged or not, it
        tells no secret."""
        written = self.sim.stats()["events"]
        TALLY.add(faults=1)
        result = self.job.run()
        judge_secrets(self.job)
        if result.code in (2, 7):
            assert result.stderr.strip(), result
            assert self.sim.stats()["events"] == written, result
            return True
        judge(self.job)
        return False


def bits(job, size):
    """Places to damage: some of the beginning, where the meaning is dense, and some of all of it."""
    count = 400 if FULL else 16
    places = [job.chance.randrange(min(size, 200)) for _ in range(count // 4)]
    places += [job.chance.randrange(size) for _ in range(count - len(places))]
    return [(place, job.chance.randrange(8)) for place in places]


def facts(path):
    """Where the job's options stand, if they do: nothing that is written later lies over them."""
    place = path.read_bytes().find(b"batch_size")
    return [(place, 0)] if place >= 0 else []


def flipped(name, folder):
    with world(connections=CONNECTIONS) as sim:
        wreck = Wreck(sim, folder)
        path = wreck.job.directory / name
        refused = 0
        for place, bit in bits(wreck.job, path.stat().st_size) + facts(path):
            wreck.restore()
            content = bytearray(path.read_bytes())
            content[place] ^= 1 << bit
            path.write_bytes(content)
            refused += wreck.is_refused()
        assert refused > 0 or name not in ("journal.db", "journal.db-wal"), "nothing was noticed"


def truncated(name, folder):
    with world(connections=CONNECTIONS) as sim:
        wreck = Wreck(sim, folder)
        path = wreck.job.directory / name
        size = path.stat().st_size
        cuts = {0, 1, size // 3, size // 2, size - 1, max(size - 4096, 0)}
        cuts |= {wreck.job.chance.randrange(size) for _ in range(100 if FULL else 4)}
        refused = 0
        for cut in sorted(cuts):
            wreck.restore()
            with path.open("r+b") as file:
                file.truncate(cut)
            refused += wreck.is_refused()
        assert refused > 0 or name == "journal.db-shm"


for each in ("journal.db", "journal.db-wal", "journal.db-shm", "journal.seal"):
    plain = each.replace(".", "_").replace("-", "_")
    globals()[f"test_flipped_bits_in_{plain}"] = functools.partial(flipped, each)
    globals()[f"test_a_truncated_{plain}"] = functools.partial(truncated, each)


def test_a_file_of_the_journal_that_is_gone(folder):
    with world(connections=CONNECTIONS) as sim:
        wreck = Wreck(sim, folder)
        for name in ("journal.db-wal", "journal.seal"):
            wreck.restore()
            (wreck.job.directory / name).unlink()
            assert wreck.is_refused(), name


def test_an_older_copy_of_the_database(folder):
    """What was durable is missing in it: sending those rows again would be a guess."""
    with world(connections=CONNECTIONS) as sim:
        wreck = Wreck(sim, folder)
        wreck.restore()
        assert not wreck.is_refused()
        for name in ("journal.db", "journal.db-wal"):
            path = wreck.job.directory / name
            path.unlink(missing_ok=True)
            if (wreck.kept / name).exists():
                shutil.copy(wreck.kept / name, path)
        assert wreck.is_refused()


# --- an input that is not what it was -------------------------------------------------------------

def change_a_byte(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def change_the_first_row(path):
    path.write_bytes(path.read_bytes().replace(b"row 000001", b"row 00000x"))


def append_a_row(path):
    path.write_bytes(path.read_bytes() + b"one,more,row\n")


def cut_the_end(path):
    path.write_bytes(path.read_bytes()[:-30])


def empty_it(path):
    path.write_bytes(b"")


def rename_it(path):
    path.rename(path.with_suffix(".moved"))


def replace_it_by_a_folder(path):
    path.unlink()
    path.mkdir()


def refused_input(change, says, folder):
    with world(connections=CONNECTIONS, service_ms=10) as sim:
        job = Job(sim, UPSERT, folder, 600, batch=3, quick=STEADY)
        kill_midway(job, 60)
        kept = pathlib.Path(folder) / "kept.csv"
        shutil.copy(job.input, kept)
        change(job.input)
        written = sim.stats()["events"]
        result = job.run()
        assert result.code == 2, result
        assert job.input.name in result.stderr, result
        assert any(word in result.stderr for word in says), result
        assert sim.stats()["events"] == written, result
        if job.input.is_dir():
            job.input.rmdir()
        shutil.copy(kept, job.input)
        job.run()
        judge(job)


for each, words in ((change_a_byte, ["chang", "differ"]), (change_the_first_row, ["chang", "differ"]),
                    (append_a_row, ["chang", "differ", "bytes", "size"]),
                    (cut_the_end, ["chang", "differ", "bytes", "size"]),
                    (empty_it, ["chang", "differ", "bytes", "size"]),
                    (rename_it, ["no such file", "No such file", "there is no"]),
                    (replace_it_by_a_folder, ["directory", "folder", "not a file", "regular"])):
    globals()[f"test_resume_refuses_after_{each.__name__}"] = functools.partial(
        refused_input, each, words)


def large_job(sim, folder):
    """Larger than two blocks, so that its parts are known by different hashes."""
    job = Job(sim, UPSERT, folder, 6000, batch=100, quick=STEADY)
    for row in job.rows:
        row["description"] += " " + "x" * 1900
    job.write_input()
    return job


def change_line(lines, number):
    return b"".join([*lines[:number], lines[number].replace(b" x", b" y", 1), *lines[number + 1:]])


def test_a_change_in_the_middle_of_a_large_input_is_found_or_harmless(folder):
    """Beyond the first and the last mebibyte, where only the hash of a block can tell. And a wrong input leaves no
    trace: the right one is taken afterwards."""
    with world(connections=CONNECTIONS, service_ms=1) as sim:
        job = large_job(sim, folder)
        assert job.run("--limit", "4000").code == 6, job.outputs
        lines = job.input.read_bytes().splitlines(keepends=True)
        for number in (1500, 3990):
            job.input.write_bytes(change_line(lines, number))
            written = sim.stats()["events"]
            result = job.run("--limit", "1")
            assert result.code in (2, 6), result
            assert result.code == 6 or sim.stats()["events"] == written, result
            job.input.write_bytes(b"".join(lines))
        job.run()
        judge(job)


def test_a_change_at_the_end_of_a_large_input_is_found_before_it_is_read(folder):
    with world(connections=CONNECTIONS, service_ms=1) as sim:
        job = large_job(sim, folder)
        assert job.run("--limit", "200").code == 6, job.outputs
        lines = job.input.read_bytes().splitlines(keepends=True)
        for content in (change_line(lines, 5990), b"".join(lines[:-1]), b"".join(lines + lines[-1:])):
            job.input.write_bytes(content)
            written = sim.stats()["events"]
            result = job.run()
            assert result.code == 2 and "changed since" in result.stderr, result
            assert sim.stats()["events"] == written, result
        job.input.write_bytes(b"".join(lines))
        job.run()
        judge(job)


if __name__ == "__main__":
    run_tests(sys.modules["__main__"], at_once=4)
