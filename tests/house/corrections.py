#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every correction of the design documents has a test that fails when the correction is taken out.

Takes each correction out of a copy of one source file, builds the test program with it, and expects the
named case to fail. What is taken out has to be found in the source, so a change of the code that moves a
correction breaks this test and has to be followed here.
"""
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(sys.argv[1])
FLAGS = ["-std=gnu17", "-O1", "-ffp-contract=off", "-D_GNU_SOURCE", '-DWEIR_VERSION="0"', "-w",
         "-I", str(ROOT / "include"), "-I", str(ROOT / "src"), "-I", str(ROOT / "tests")]
FOLDERS = ("base", "config", "throttle", "pool")  # all that the corrections are about
LIBS = shlex.split(subprocess.run(["pkg-config", "--cflags", "--libs", "check", "json-c"], text=True,
                                  capture_output=True, check=True).stdout) + ["-lm", "-lpthread"]

# (correction, source, what is taken out, what stands there instead, test program, case that must fail)
CASES = [
    ("C1: idle test after the activity stamp", "throttle/policy_aimd.c",
     "if (!aimd->started || now_us >= idle_from_us(aimd))",
     "aimd->activity_us = now_us;\n    if (!aimd->started || now_us >= idle_from_us(aimd))",
     "unit/test_aimd", "c1_idleness_is_tested_before_the_activity_is_stamped"),
    ("C1: waiting for a throttle is idleness", "throttle/policy_aimd.c",
     "aimd->activity_us > aimd->reopens_us ? aimd->activity_us : aimd->reopens_us",
     "aimd->activity_us",
     "unit/test_aimd", "c1_waiting_for_a_throttle_is_not_idleness"),
    ("C1: a lease is no activity", "throttle/policy_aimd.c",
     "(void)lease;\n    struct aimd *aimd = state;\n    aimd->activity_us = now_us;", "(void)lease;",
     "unit/test_aimd", "c1_a_lease_is_activity"),
    ("C2: every throttle of a flight cuts", "throttle/policy_aimd.c",
     "if (aimd->started && epoch == aimd->epoch)", "if (aimd->started)",
     "unit/test_aimd", "c2_one_hundred_throttles_of_one_flight_cut_once"),
    ("C2: every throttle of a flight cuts, through the pool", "throttle/policy_aimd.c",
     "if (aimd->started && epoch == aimd->epoch)", "if (aimd->started)",
     "unit/test_pool", "c2_two_flights_of_fifty_throttles_cut_each_connection_once"),
    ("C3: successes from before the decrease count", "throttle/policy_aimd.c",
     "if (epoch != aimd->epoch)\n        return;", "",
     "unit/test_aimd",
     "c3_successes_sent_before_the_last_decrease_do_not_count_towards_the_next_rise"),
    ("C4: a constant 30 s instead of the shortest reopening", "pool/stats.c",
     "*ret_reopening_us = weir_heap_min(&core->wakes);",
     "*ret_reopening_us = core->now_us + 30 * WEIR_US_PER_S;",
     "unit/test_pool_waiting", "c4_when_all_are_throttled_the_shortest_wait_is_computed"),
    ("C4: connections set aside count as available", "pool/stats.c",
     "counts[WEIR_CONDITION_CLOSED] + counts[WEIR_CONDITION_SET_ASIDE]",
     "counts[WEIR_CONDITION_CLOSED]",
     "unit/test_pool_waiting", "c4_availability_does_not_count_connections_that_are_set_aside"),
    ("C5: a bare floor", "throttle/policy_aimd.c",
     "initial_parallelism_factor + 1e-9", "initial_parallelism_factor",
     "unit/test_aimd", "initialization_is_a_factor_of_max"),
    ("C5: min wins over max", "throttle/policy_aimd.c",
     "max_int(1, min_int(max_int(level, aimd->options->min_parallelism), aimd->max))",
     "max_int(level, aimd->options->min_parallelism)",
     "unit/test_aimd", "c5_the_start_rounds_down_safely_and_max_wins_over_min"),
    ("C6: a stale last known good keeps its stamp", "throttle/policy_aimd.c",
     "aimd->lkg = aimd->level;\n    aimd->lkg_us = now_us;\n}\n\nstatic void on_success",
     "aimd->lkg = aimd->level;\n}\n\nstatic void on_success",
     "unit/test_aimd", "c6_a_stale_last_known_good_is_stamped_anew"),
    ("C7: chunks: nobody is served before the whole flight is home", "pool/serve.c",
     "while (count < max && core->waiters.count && serve_first(core, &grants[count]))",
     "while (count < max && core->waiters.count && (core->leases.count == 0 || count) &&\n"
     "           serve_first(core, &grants[count]))",
     "unit/test_pool_waiting", "c7_a_slot_that_comes_free_is_used_at_once"),
    ("C8: no cap of its own", "pool/serve.c",
     "if (!ret->ok)\n        return;", "ret->ok = true;\n    return;",
     "unit/test_pool", "c8_every_connection_has_a_cap_of_its_own"),
    ("C9: outcomes go to the primary connection", "pool/settle.c",
     "core->policy->answered(weir_core_policy_state(core, connection),",
     "core->policy->answered(weir_core_policy_state(core, 0),",
     "unit/test_pool", "c9_outcomes_are_credited_to_the_connection_that_executed_them"),
    ("C10: the throttle ceiling is computed from the level after the decrease", "throttle/ceiling.c",
     "(double)level * share + 1e-9", "(double)level * 0.5 * share + 1e-9",
     "unit/test_aimd", "c10_the_throttle_ceiling_by_retry_after"),
    ("C10: a weaker throttle ceiling replaces one in force", "throttle/ceiling.c",
     "!standing || reduced < ceiling->throttle_level", "true",
     "unit/test_aimd",
     "c10_the_throttle_ceiling_applies_only_to_slow_batches_and_the_smaller_one_stands"),
]


def compile_to(source, target):
    subprocess.run(["cc", *FLAGS, "-c", str(source), "-o", str(target)], check=True)


def link_and_run(test, objects, work):
    program = work / "test"
    subprocess.run(["cc", *FLAGS, str(ROOT / "tests" / (test + ".c")), *map(str, objects), *LIBS,
                    "-o", str(program)], check=True)
    return subprocess.run([str(program)], text=True, capture_output=True,
                          env={**os.environ, "CK_FORK": "yes"}).stdout


def failed_cases(output):
    return {line.split(":")[1].strip() for line in output.splitlines()
            if line.startswith("not ok") and line.count(":") >= 2}


def main():
    wrong = 0
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        objects = {}
        for source in sorted(path for folder in FOLDERS
                             for path in (ROOT / "src" / folder).glob("*.c")):
            key = source.relative_to(ROOT / "src").as_posix()
            objects[key] = work / (key.replace("/", "_") + ".o")
            compile_to(source, objects[key])
        for test in sorted({case[4] for case in CASES}):
            if failed_cases(link_and_run(test, objects.values(), work)):
                print(f"{test} fails before anything was taken out")
                return 1
        for title, path, old, new, test, expected in CASES:
            text = (ROOT / "src" / path).read_text()
            if text.count(old) != 1:
                print(f"{title}: what is to be taken out of {path} is not there (once)")
                wrong += 1
                continue
            broken = work / "broken.c"
            broken.write_text(text.replace(old, new))
            compile_to(broken, work / "broken.o")
            mixed = [work / "broken.o" if key == path else o for key, o in objects.items()]
            failed = failed_cases(link_and_run(test, mixed, work))
            caught = expected in failed
            print(f"{'caught' if caught else 'NOT CAUGHT'}: {title} ({expected})")
            wrong += not caught
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
