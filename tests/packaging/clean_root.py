#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The package, and a clone, in a Debian that has nothing else: clean_root.py IN_CLEAN_ROOT SOURCE_ROOT

Where packages come from is asked of this machine's apt. Inside of the root runs in_clean_root, in namespaces of its
own, so that no mount and no process outlives it. Runs with WEIR_FULL=1 and as root; otherwise it is skipped.
"""
import os
import pathlib
import shutil
import subprocess
import sys

from harness import run_tests

INSIDE, SOURCE = map(pathlib.Path, sys.argv[1:3])


def output(*words):
    result = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert result.returncode == 0, (words, result.stdout[-4000:], result.stderr[-4000:])
    return result.stdout


def build(folder):
    return pathlib.Path(output(SOURCE / "packaging/build-deb", folder).splitlines()[-1])


def this_release():
    lines = pathlib.Path("/etc/os-release").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line)["VERSION_CODENAME"].strip('"')


def clean_root(folder):
    release = this_release()
    mirrors = output("apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages",
                     "Codename: " + release).split()
    assert mirrors, "apt knows nothing of " + release
    root = folder + "/root"
    output("debootstrap", "--variant=minbase", release, root, mirrors[0])
    pathlib.Path(root, "etc/dpkg/dpkg.cfg.d/throwaway").write_text("force-unsafe-io\n")
    return root


def run_inside(root, *words):
    """With what every machine has: processes, terminals, shared memory."""
    script = ('mount -t proc proc "$0/proc" && mount -t devpts -o newinstance,ptmxmode=666 devpts "$0/dev/pts" && '
              'mount --bind "$0/dev/pts/ptmx" "$0/dev/ptmx" && mount -t tmpfs tmpfs "$0/dev/shm" && '
              'exec chroot "$0" "$@"')
    for place in ("dev/pts", "dev/shm"):
        pathlib.Path(root, place).mkdir(exist_ok=True)
    return output("unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script, root,
                  "/usr/bin/env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", *words)


def test_the_package_is_the_same_bytes_again_and_knows_no_path_of_this_machine(folder):
    first, again = build(folder + "/1"), build(folder + "/2")
    assert first.read_bytes() == again.read_bytes()
    output("dpkg-deb", "--extract", first, folder + "/tree")
    for path in pathlib.Path(folder, "tree").rglob("*"):
        if path.is_file():
            assert os.fsencode(SOURCE) not in path.read_bytes(), path


def test_lintian_has_nothing_to_say(folder):
    if not shutil.which("lintian"):
        print("# lintian is not installed: skipped")
        return
    said = output("lintian", "--allow-root", "--fail-on", "error,warning", "--tag-display-limit", "0",
                  build(folder))
    assert said == "", said


def test_it_installs_into_a_clean_root_and_loads_rows_there(folder):
    deb, root = build(folder), clean_root(folder)
    shutil.copy(deb, root + "/weir.deb")
    shutil.copy(INSIDE, root + "/in_clean_root")
    said = run_inside(root, "/in_clean_root", "/weir.deb")
    assert said.endswith("all is well\n"), said


def newcomer(folder):
    """A root with git and a clone, and nothing else."""
    root = clean_root(folder)
    output("git", "clone", "--quiet", "--no-hardlinks", SOURCE, root + "/root/weir")
    run_inside(root, "sh", "-c", "apt-get update -q && apt-get install -qy --no-install-recommends git")
    return root


def test_a_newcomer_with_git_and_a_clone_sees_the_demo_and_passes_the_tests(folder):
    root = newcomer(folder)
    said = run_inside(root, "/root/weir/demo")
    assert "20,000 rows, none lost, none doubled" in said, said
    page = pathlib.Path(root, "root/weir/build/demo/report-load.html").read_text()
    assert page.rstrip().endswith("</html>"), page[-200:]
    # Not --full: this very test would begin again in there. The environment is empty.
    said = run_inside(root, "/root/weir/test")
    assert said.rstrip().endswith(", 0 failed"), said[-4000:]


if __name__ == "__main__":
    if not os.environ.get("WEIR_FULL") or os.geteuid() != 0:
        print("1..0 # SKIP a long campaign: WEIR_FULL=1, as root")
        sys.exit(0)
    run_tests(sys.modules["__main__"])
