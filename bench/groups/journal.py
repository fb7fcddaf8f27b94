# SPDX-License-Identifier: MIT
"""
4. The journal: the same job with it and without (bench/forgetful.c, which writes nothing down, and so has no ids to
export in the end): processor time of client and server together against weir-sim without limits, which is what bounds
their rows a second on a machine that they share, and of the client alone against the null server; bytes for a row,
commits a second, and how soon a job of ten million rows that was stopped in its middle sends again.
"""
import re

from kit import BATCH, cpu_of, figure, job_folder, median, null_server, remove, resume_job, run, run_job, say, simulator,\
    write_input

TITLE = "Journal"
BYTES_MOST = 40
SHARE_MOST = 5     # percent
RESUME_MOST_S = 3


def alternate(service, path, rows, rounds):
    """Both in turn: processor time of the client and of its server, time by the clock, and bytes of the journal."""
    with_it, without = [], []
    for number in range(rounds):
        for jobs, program in ((with_it, None), (without, service.bench.program("bench_forgetful"))):
            # What was not written down is missing in the end, and is said so (70); all of it was sent by then.
            service.reset()
            before_s = cpu_of(service.process.pid)
            job = run_job(service, "create", path, program=program, fine=(70,) if program else (0,))
            assert job.summary["requests"] >= rows // BATCH, job.summary
            jobs.append((job.cpu_s, cpu_of(service.process.pid) - before_s, job.summary["elapsed_s"],
                         job.journal_bytes()))
            remove(job.folder)
        say(f"round {number + 1}: " + ", ".join(
            f"{name} {jobs[-1][0]:.2f} s of processor time ({jobs[-1][1]:.2f} s of the server) and {jobs[-1][2]:.1f} s"
            for name, jobs in (("with", with_it), ("without", without))))
    return with_it, without


def measure_cpu(service, rows, rounds):
    path = write_input(service.bench, "journal.csv", rows)
    with_it, without = alternate(service, path, rows, rounds)
    remove(path)
    cpu = median(a[0] / b[0] for a, b in zip(with_it, without))
    size = median(a[3] for a in with_it) / rows
    return [
        figure("journal-cpu", "null server: processor time of the client, in times the same without", cpu, "times",
               better="lower"),
        figure("journal-bytes", "bytes of journal for a row", size, "bytes", most=BYTES_MOST, better="lower"),
    ]


def measure_throughput(bench, rows, rounds):
    path = write_input(bench, "journal.csv", rows, distinct=True)
    with simulator(bench) as service:
        with_it, without = alternate(service, path, rows, rounds)
    remove(path)
    lost = median((1 - (b[0] + b[1]) / (a[0] + a[1])) * 100 for a, b in zip(with_it, without))
    return [figure("journal-throughput", "weir-sim: of the processor time of client and server, what the journal takes",
                   lost, "%", most=SHARE_MOST)]


def measure_commits(bench):
    output = run([bench.program("bench_journal"), bench.path("journal")]).out
    say(output.strip())
    commits, rows = (float(n) for n in re.search(r"([\d.]+) commits/s, ([\d.]+) rows/s", output).groups())
    return [figure("journal-commits", "commits a second, 64 ranges of 100 rows each, made durable", commits, "a second"),
            figure("journal-rows", "… that is", rows / 1e6, "million rows a second")]


def measure_resume(service, rows, rounds):
    path = write_input(service.bench, "resume.csv", rows)
    folder = job_folder(service.bench)
    run_job(service, "create", path, "--limit", str(rows // 2), folder=folder, fine=(6,))
    waits, costs = [], []
    for number in range(rounds):
        service.pause()
        known = len(service.stamps)
        job = resume_job(service, folder, path, "--limit", "1000", fine=(6,))
        at_ns, cpu_s = service.stamp(known)
        waits.append((at_ns - job.begun_ns) / 1e9)
        costs.append(cpu_s)
        say(f"resume {number + 1}: the first batch after {waits[-1]:.2f} s, of which {cpu_s:.2f} s of processor time")
    remove(path, folder)
    return [figure("journal-resume", f"a job of {rows:,} rows at half: from the command to its first batch",
                   median(waits), "s", most=RESUME_MOST_S),
            figure("journal-resume-cpu", "… processor time until then", median(costs), "s")]


def measure(bench):
    rows, rounds = (100_000, 3) if bench.quick else (1_000_000, 5)
    with null_server(bench) as service:
        figures = measure_cpu(service, rows, rounds)
        if bench.quick:
            return figures
        figures += measure_commits(bench) + measure_resume(service, 10_000_000, 3)
    return measure_throughput(bench, rows // 2, rounds) + figures
