# SPDX-License-Identifier: MIT
"""bench/results.json and bench/results.md: what bench/run has found, for bench/quick and for people."""
import datetime
import json
import os
import pathlib
import platform
import re
import subprocess

from kit import ROOT, Figure

JSON = ROOT / "bench/results.json"
MARKDOWN = ROOT / "bench/results.md"


def machine():
    """What it ran on, in a line."""
    cpu = re.search(r"^model name\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
    cores = len(re.findall(r"^processor\s*:", pathlib.Path("/proc/cpuinfo").read_text(), re.M))
    memory = int(re.search(r"MemTotal:\s+(\d+)", pathlib.Path("/proc/meminfo").read_text()).group(1)) / 2**20
    system = re.search(r'^PRETTY_NAME="(.*)"$', pathlib.Path("/etc/os-release").read_text(), re.M)
    compiler = subprocess.run(["cc", "--version"], capture_output=True, text=True).stdout.splitlines()[0]
    return (f"{cores} cores of {cpu.group(1) if cpu else platform.machine()}, {memory:.0f} GiB, "
            f"{system.group(1) if system else platform.system()}, Linux {platform.release()}, {compiler}, -O3")


def shown(value):
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def goal(figure):
    if figure.least is not None:
        return f"≥ {figure.least:g}"
    return f"≤ {figure.most:g}" if figure.most is not None else ""


def verdict(figure):
    return {True: "yes", False: "**no**", None: ""}[figure.holds()]


def load():
    """What was recorded: groups by name, each with its title, words, load and figures."""
    if not JSON.exists():
        return {}
    recorded = json.loads(JSON.read_text())
    for group in recorded.values():
        group["figures"] = [Figure(**each) for each in group["figures"]]
    return recorded


def save(recorded):
    plain = {name: {**group, "figures": [each._asdict() for each in group["figures"]]}
             for name, group in recorded.items()}
    JSON.write_text(json.dumps(plain, indent=1, ensure_ascii=False) + "\n")
    MARKDOWN.write_text(render(recorded))


def record(name, group):
    save({**load(), name: group})


def entry(module, figures, before, after, seconds):
    """A group as it is kept, with how busy the machine was around it."""
    return {"title": module.TITLE, "words": " ".join(module.__doc__.split()), "machine": machine(),
            "when": datetime.date.today().isoformat(), "load": [round(before, 1), round(after, 1)], "nice": os.nice(0),
            "seconds": round(seconds), "figures": figures}


def render_group(group):
    lines = [f"## {group['words'].split('. ', 1)[0]}. {group['title']}", "",
             group["words"].split(". ", 1)[1], "",
             f"{group['when']}, {group['seconds']} s; load of the machine before and after: {group['load'][0]:g}, "
             f"{group['load'][1]:g}" + (f"; nice {group['nice']}" if group.get("nice") else "") + ".", "",
             "| | measured | must be | holds |", "|---|---|---|---|"]
    for each in group["figures"]:
        lines.append(f"| {each.text} | {shown(each.value)} {each.unit} | {goal(each)} | {verdict(each)} |")
    return lines + [""]


def render(recorded):
    watched = [f for group in recorded.values() for f in group["figures"] if f.holds() is not None]
    missed = [f for f in watched if not f.holds()]
    machines = sorted({group["machine"] for group in recorded.values()})
    lines = ["# Measured", "", "Written by `bench/run`; `bench/README.md` says what it means and what was done.", "",
             "Machine: " + "; ".join(machines) + ". It is shared with other work, so what counts is processor time (user "
             "and system) and ratios within one run: contestants take turns, and medians are compared. Seconds on the "
             "clock are given where they are asked for, and are too long rather than too short.", "",
             f"{len(watched) - len(missed)} of {len(watched)} figures that must hold do.", ""]
    for name in sorted(recorded, key=lambda name: recorded[name]["words"]):
        lines += render_group(recorded[name])
    return "\n".join(lines).rstrip() + "\n"
