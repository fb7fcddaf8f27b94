# SPDX-License-Identifier: MIT
"""
7. Starting: `weir --version` beside /bin/true, and from the command to the first batch at the server: with the login,
the description of the table and the journal made on the way. The journal is synced to the disk four times until
then, so the same is measured with the job in memory (/dev/shm): the rest is what the disk takes, and whoever shares it.
"""
import pathlib
import tempfile

from kit import figure, median, null_server, remove, run, run_job, say, write_input

TITLE = "Starting"
MOST_MS = 50
ROUNDS = 21


def first_batch_ms(service, path, folder=None):
    service.pause()
    known = len(service.stamps)
    job = run_job(service, "create", path, folder=folder)
    remove(job.folder)
    at_ns, _ = service.stamp(known)
    assert len(service.stamps) == known + 1, "more than one beginning was seen"
    return (at_ns - job.begun_ns) / 1e6


def measure(bench):
    rounds = ROUNDS if not bench.quick else 7
    ours, bare = [], []
    for _ in range(rounds):
        ours.append(run([bench.weir, "--version"]))
        bare.append(run(["/bin/true"]))
    path = write_input(bench, "startup.csv", 100)
    waits, in_memory = [], []
    with null_server(bench) as service, tempfile.TemporaryDirectory(dir="/dev/shm") as memory:
        for _ in range(rounds):
            waits.append(first_batch_ms(service, path))
            in_memory.append(first_batch_ms(service, path, pathlib.Path(memory) / "job"))
    remove(path)
    say(f"first batch after {min(waits):.1f} to {max(waits):.1f} ms, without a disk {min(in_memory):.1f} to "
        f"{max(in_memory):.1f} ms")
    return [
        figure("start-version", "weir --version", median(r.wall_s for r in ours) * 1000, "ms"),
        figure("start-true", "… /bin/true, measured alike", median(r.wall_s for r in bare) * 1000, "ms"),
        figure("start-version-cpu", "… weir --version, processor time", median(r.cpu_s for r in ours) * 1000, "ms"),
        figure("start-batch", "from the command to the first batch on the wire, median", median(waits), "ms",
               most=MOST_MS),
        figure("start-batch-least", "… the quickest", min(waits), "ms"),
        figure("start-batch-memory", "… the job in memory, median", median(in_memory), "ms", most=MOST_MS),
    ]
