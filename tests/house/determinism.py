#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Law and laboratory give the same bytes for the same seed, with gcc and clang, at -O0 and -O2,
and with AddressSanitizer; all policies and peers, all oracles, in worlds that differ."""
import hashlib
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(sys.argv[1])
JSON = shlex.split(subprocess.run(["pkg-config", "--cflags", "--libs", "json-c"], text=True,
                                  capture_output=True, check=True).stdout)
FLAGS = ["-std=gnu17", "-ffp-contract=off", "-D_GNU_SOURCE", '-DWEIR_VERSION="0"', "-w"]
FLAGS += [f"-I{ROOT / folder}" for folder in ("include", "src", "apps", "tests")]
VARIANTS = [("gcc", "-O0"), ("gcc", "-O2"), ("clang", "-O0"), ("clang", "-O2"),
            ("gcc", "-O1", "-fsanitize=address")]
# Whatever computes with fractions: durations, drift, contention, other clients, coarse windows.
WORLDS = ("contention", "drift-sine", "foreign-30-onoff", "mixed-90-10", "restart-80", "bucket-10",
          "charge-completion", "limits-halved", "servers-4-soft", "finite-4", "failures-5",
          "headers-stale")


def sources(*patterns):
    return [str(path) for pattern in patterns for path in sorted(ROOT.glob(pattern))]


def build_and_run(variant):
    compiler, *options = variant
    common = sources("src/base/*.c", "src/config/*.c", "src/throttle/*.c", "src/pool/*.c",
                     "apps/sim/law/*.c", "src/version.c")
    with tempfile.TemporaryDirectory() as name:
        for index, source in enumerate(common):  # once for both programs; two may be called alike
            subprocess.run([compiler, *options, *FLAGS, *JSON, "-c", source, "-o",
                            os.path.join(name, f"{index}.o")], check=True)
        objects = [os.path.join(name, f"{index}.o") for index in range(len(common))]
        outputs = []
        for program, extra, arguments in (
            ("law_trace", [str(ROOT / "tests/unit/law_trace.c")], []),
            ("weir-lab", sources("apps/lab/*.c"),
             ["run", *(str(ROOT / "scenarios" / f"{world}.json") for world in WORLDS),
              "--policy", "all", "--seeds", "1", "--json", "--edge"]),
        ):
            target = os.path.join(name, program)
            subprocess.run([compiler, *options, *FLAGS, *extra, *objects, *JSON, "-lm", "-lpthread",
                            "-o", target], check=True)
            outputs.append(subprocess.run([target, *arguments], check=True,
                                          capture_output=True).stdout)
    return outputs


def main():
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(build_and_run, VARIANTS))
    wrong = 0
    for variant, outputs in zip(VARIANTS, results):
        digests = [hashlib.sha256(output).hexdigest()[:16] for output in outputs]
        print(" ".join(variant), "law", digests[0], "lab", digests[1])
        wrong += outputs != results[0] or any(len(output) < 10 for output in outputs)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
