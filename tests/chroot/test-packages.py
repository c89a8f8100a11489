#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Builds the Debian packages, installs them in a clean Debian and uses them there. Prints TAP.

usage: test-packages.py [FOLDER]   keeps the packages in FOLDER; without it they are built without
                                   cudaccl and not optimised, which is quicker, and deleted

The clean Debian has the version of this machine's. It is kept in ~/.cache/cudaccl, or in the folder
CCL_CHROOTS; the packages are installed in a copy of it.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests/runner"))
import tap

KEEP = pathlib.Path(sys.argv[1]).absolute() if len(sys.argv) > 1 else None
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "cudaccl"
CHROOTS = pathlib.Path(os.environ.get("CCL_CHROOTS") or CACHE)
PIP_PACKAGES = ROOT / "builddir/python-packages"
TESTS = ("elements", "application", "library", "python", "python-module", "tools", "watch")  # of debian/tests

place = pathlib.Path(tempfile.mkdtemp())
chroot = place / "chroot"


def command(*words, where=ROOT):
    """Runs a command; its output is shown if it fails. Exit status 77 skips the case."""
    words = [str(word) for word in words]
    result = subprocess.run(words, cwd=where, text=True, errors="replace", stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if result.returncode == 77:
        raise tap.Skip(result.stdout.strip().splitlines()[-1])
    if result.returncode != 0:
        raise AssertionError(f"{' '.join(words)}: exit status {result.returncode}\n" + result.stdout[-4000:])
    return result.stdout


def in_chroot(*words):
    return command(HERE / "chroot", "enter", chroot, "--", "env", "DEBIAN_FRONTEND=noninteractive", *words)


def need(program):
    if not shutil.which(program):
        raise tap.Skip(f"{program} is not installed")


def packages():
    found = [path for path in place.glob("*.deb") if "dbgsym" not in path.name]
    if not found:
        raise tap.Skip("there are no packages")
    return found


def build():
    """dpkg-buildpackage makes the packages"""
    need("dpkg-buildpackage")
    profiles = [] if KEEP else ["pkg.cudaccl.nocuda"]
    if (PIP_PACKAGES / "nanobind").exists():
        profiles.append("pkg.cudaccl.pip")
        os.environ["PYTHONPATH"] = str(PIP_PACKAGES)
    os.environ["DEB_BUILD_PROFILES"] = " ".join(profiles)
    if not KEEP:  # not optimised and without debugging information, which compiles faster
        os.environ["DEB_CFLAGS_APPEND"] = os.environ["DEB_CXXFLAGS_APPEND"] = "-g0"
        os.environ["DEB_BUILD_OPTIONS"] = "noopt noautodbgsym"
    missing = subprocess.run(["dpkg-checkbuilddeps"], cwd=ROOT, capture_output=True, text=True, check=False)
    if missing.returncode != 0:
        raise tap.Skip(missing.stderr.strip().removeprefix("dpkg-checkbuilddeps: error: "))
    command(HERE / "copy-sources", place / "source")
    command("dpkg-buildpackage", "-us", "-uc", "-b", where=place / "source")
    names = {path.name.split("_")[0] for path in packages()}
    wanted = set(re.findall(r"^Package: (\S+)", (ROOT / "debian/control").read_text(), re.M))
    tap.equal(names, wanted, "packages")
    if KEEP:
        KEEP.mkdir(parents=True, exist_ok=True)
        for old in KEEP.glob("*.deb"):
            old.unlink()
        for path in packages():
            shutil.copy(path, KEEP)


def lint():
    """lintian finds no error and no warning"""
    packages()
    need("lintian")
    command("lintian", "--allow-root", "--fail-on", "error,warning", *place.glob("*.changes"))


def install():
    """the packages install in a clean Debian"""
    found = packages()
    if os.geteuid() != 0:
        raise tap.Skip("a chroot takes root")
    codename = re.search(r"VERSION_CODENAME=(\S+)", pathlib.Path("/etc/os-release").read_text())
    if not codename:
        raise tap.Skip("this Debian has no code name")
    clean = CHROOTS / f"clean-{codename[1]}"
    command(HERE / "chroot", "create", codename[1], clean)
    command("cp", "-a", "--reflink=auto", clean, chroot)
    (chroot / "packages").mkdir()
    for path in found:
        shutil.copy(path, chroot / "packages")
    in_chroot("apt-get", "-qq", "update")
    in_chroot("apt-get", "-qq", "-y", "--no-install-recommends", "install",
              *(f"/packages/{path.name}" for path in found))


def use(test):
    def case():
        if not (chroot / "usr/share/doc/gstreamer1.0-ccl").exists():
            raise tap.Skip("the packages are not installed")
        paragraph = re.search(rf"Tests: {test}\nDepends:(.*?)\nRestrictions",
                              (ROOT / "debian/tests/control").read_text(), re.S)
        in_chroot("apt-get", "-qq", "-y", "--no-install-recommends", "install",
                  *paragraph[1].replace(",", " ").split())
        for part in ("debian", "examples", "tests/check"):
            shutil.copytree(ROOT / part, chroot / "source" / part, dirs_exist_ok=True)
        in_chroot("sh", "-c", f"cd /source && debian/tests/{test}")

    case.__doc__ = f"debian/tests/{test} succeeds there"
    return case


try:
    status = tap.run(build, lint, install, *map(use, TESTS))
finally:
    shutil.rmtree(place, ignore_errors=True)
sys.exit(status)
