#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `ninja install` puts down is whole and can be built against: installed.py SOURCE_ROOT BUILD_ROOT"""
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

from harness import run, run_tests, simulator, write_config

SOURCE, BUILD = map(pathlib.Path, sys.argv[1:3])
EXAMPLES = ("whoami", "pool_threads", "bulk_upsert")


def install(root):
    """The tree as it was built, below `root`; gives the folder that the prefix became."""
    subprocess.run(["meson", "install", "-C", BUILD, "--no-rebuild", "--quiet", "--destdir", root],
                   check=True, stdout=subprocess.DEVNULL)
    programs = [path for path in pathlib.Path(root).rglob("weir") if path.parent.name == "bin"]
    assert len(programs) == 1, programs
    return programs[0].parent.parent


def package(root, prefix, *words):
    """What pkg-config says of the tree below `root`, as words."""
    where = next(prefix.rglob("weir.pc")).parent
    environment = {**os.environ, "PKG_CONFIG_PATH": str(where), "PKG_CONFIG_SYSROOT_DIR": root}
    text = subprocess.run(["pkg-config", *words, "weir"], env=environment, check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    return shlex.split(text)


def compile_example(name, flags, libraries, to):
    subprocess.run(["cc", "-std=gnu17", "-Wall", "-Wextra", "-Werror", *flags, "-o", to,
                    SOURCE / "examples" / f"{name}.c", *libraries, "-pthread"], check=True)


def names(folder, pattern="*"):
    return {path.name for path in folder.glob(pattern)}


def test_everything_is_there(folder):
    prefix = install(folder)
    assert {"weir", "weir-sim", "weir-lab"} <= names(prefix / "bin")
    assert names(prefix / "include/weir") == names(SOURCE / "include/weir", "*.h")
    pages = {path.name for path in (prefix / "share/man").rglob("*.[1-8]")}
    assert pages == names(SOURCE / "man", "*.[1-8]"), pages
    assert names(prefix / "bin") <= {page[:-2] for page in pages}, "a program without a page"
    assert names(prefix / "share/weir/scenarios") == names(SOURCE / "scenarios")
    for name, shell in (("weir", "bash"), ("_weir", "zsh"), ("weir.fish", "fish")):
        script, = [path for path in (prefix / "share").rglob(name) if shell in str(path.relative_to(prefix))]
        printed = run([str(prefix / "bin/weir"), "completion", shell]).stdout
        assert script.read_text() == printed and len(printed) > 1000, script
    libraries = {path.name for path in prefix.rglob("libweir*")}
    assert {"libweir.a", "libweir.so", "libweir.so.0"} <= libraries, libraries


def test_the_programs_run_from_where_they_are(folder):
    prefix = install(folder)
    version = (SOURCE / "meson.build").read_text().split("version: '", 1)[1].split("'")[0]
    for program in ("weir", "weir-sim", "weir-lab"):
        result = run([str(prefix / "bin" / program), "--version"])
        assert result.returncode == 0 and version in result.stdout, result


def test_examples_compile_and_run_against_it(folder):
    prefix = install(folder)
    library = next(prefix.rglob("libweir.so")).parent
    flags, libraries = package(folder, prefix, "--cflags"), package(folder, prefix, "--libs")
    for name in EXAMPLES:
        compile_example(name, flags, libraries, f"{folder}/{name}")
    with simulator(str(prefix / "bin/weir-sim"), "--users", "2", "--no-limits") as (_, config):
        result = run([folder + "/whoami", write_config(folder, config)],
                     env={"LD_LIBRARY_PATH": str(library)})
    assert result.returncode == 0 and "GET WhoAmI: HTTP 200" in result.stdout, result


def test_the_static_library_is_enough(folder):
    prefix = install(folder)
    own = ["-l:libweir.a" if word == "-lweir" else word
           for word in package(folder, prefix, "--libs")]
    # The shared forms of what it stands on: all that they stand on is not here to link against.
    needed = [word for word in package(folder, prefix, "--print-requires-private")
              if word[0].isalpha()]
    others = subprocess.run(["pkg-config", "--libs", *needed], check=True, stdout=subprocess.PIPE,
                            text=True).stdout
    libraries = [*own, *shlex.split(others), "-lm"]
    compile_example("pool_threads", package(folder, prefix, "--cflags"), libraries,
                    folder + "/pool_threads")
    with tempfile.TemporaryDirectory() as elsewhere:
        result = run([folder + "/pool_threads"], cwd=elsewhere)
    assert result.returncode == 0 and "80 of 80 requests executed" in result.stdout, result


if __name__ == "__main__":
    run_tests(sys.modules["__main__"])
