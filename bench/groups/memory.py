# SPDX-License-Identifier: MIT
"""
3. Memory: the peak of the process (VmHWM, from summary.json) at a hundred thousand, one million and ten million rows:
CSV, JSON Lines, one row in a hundred that cannot be right, keys that come again, and a job that stops in its middle and
is resumed. Against the null server, which keeps nothing.
"""
from kit import bad_csv_row, csv_row, figure, job_folder, json_row, null_server, remove, resume_job, run_job, say, write_input

TITLE = "Memory"
MOST_MIB = 64
SPREAD = 1.10


def few_keys(i):
    """A key for every ten rows, far apart and near together."""
    return csv_row(i % 10_000 + 1)


def create(service, path):
    return [run_job(service, "create", path)]


def create_with_bad(service, path):
    return [run_job(service, "create", path, "--max-errors", "100%", fine=(1,))]


def upsert(service, path):
    return [run_job(service, "upsert", path, "--key", "accountnumber", "--yes")]


def stop_and_resume(service, path, rows):
    folder = job_folder(service.bench)
    first = run_job(service, "create", path, "--limit", str(rows // 2), folder=folder, fine=(6,))
    return [first, resume_job(service, folder, path)]


CASES = [
    ("csv", "CSV", "rows.csv", csv_row, create),
    ("jsonl", "JSON Lines", "rows.jsonl", json_row, create),
    ("bad", "CSV, a bad row in a hundred", "bad.csv", bad_csv_row, create_with_bad),
    ("keys", "CSV, upsert by keys that come again", "keys.csv", few_keys, upsert),
    ("resume", "CSV, stopped in the middle and resumed", "rows.csv", csv_row, None),
]


def peak(service, rows, case):
    _, text, name, make, work = case
    path = write_input(service.bench, name, rows, make)
    runs = work(service, path) if work else stop_and_resume(service, path, rows)
    summary = runs[-1].summary
    assert summary["read"] == rows == summary["done"] + summary["rejected"], summary
    remove(path, runs[0].folder)
    mib = max(run.summary["peak_rss_kib"] for run in runs) / 1024
    say(f"{rows:>10,} rows, {text}: {mib:.1f} MiB, {sum(r.cpu_s for r in runs):.1f} s of processor time")
    return mib


def measure(bench):
    sizes = (100_000,) if bench.quick else (100_000, 1_000_000, 10_000_000)
    figures = []
    with null_server(bench) as service:
        for case in CASES[:1] if bench.quick else CASES:
            peaks = [peak(service, rows, case) for rows in sizes]
            for rows, mib in zip(sizes, peaks):
                figures.append(figure(f"memory-{case[0]}-{rows}", f"{case[1]}, {rows:,} rows", mib, "MiB",
                                      most=MOST_MIB, better="lower"))
            if len(peaks) == 3:
                figures.append(figure(f"memory-{case[0]}-spread", "… ten million, in times one million",
                                      peaks[2] / peaks[1], "times", most=SPREAD))
    return figures
