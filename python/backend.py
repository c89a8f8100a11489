# SPDX-License-Identifier: LGPL-2.1-or-later
"""The build backend: meson-python, without the stable ABI before Python 3.12, and with that version in the tag of wheels.

nanobind's stable ABI begins with that version, and pyproject.toml cannot say so. meson-python names the version that
built the wheel."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import mesonpy

build_sdist = mesonpy.build_sdist
get_requires_for_build_sdist = mesonpy.get_requires_for_build_sdist
get_requires_for_build_wheel = mesonpy.get_requires_for_build_wheel


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    settings = dict(config_settings or {})
    if sys.version_info < (3, 12):
        given = settings.get("setup-args", [])
        given = [given] if isinstance(given, str) else list(given)
        settings["setup-args"] = [*given, "-Dpython.allow_limited_api=false"]
    return with_stable_tag(wheel_directory, mesonpy.build_wheel(wheel_directory, settings, metadata_directory))


def with_stable_tag(folder, name):
    """Changes a wheel with the stable ABI to one for Python 3.12 and later; returns the name of a wheel as it is then."""
    if not re.search(r"-cp3(1[3-9]|[2-9][0-9])-abi3-", name):
        return name
    with tempfile.TemporaryDirectory() as unpacked:
        run_wheel("unpack", os.path.join(folder, name), "--dest", unpacked)
        top, = pathlib.Path(unpacked).iterdir()
        about, = top.glob("*.dist-info/WHEEL")
        about.write_text(re.sub(r"^Tag: cp3[0-9]+-abi3", "Tag: cp312-abi3", about.read_text(), flags=re.MULTILINE))
        run_wheel("pack", str(top), "--dest-dir", folder)
    os.unlink(os.path.join(folder, name))
    return re.sub(r"-cp3[0-9]+-abi3-", "-cp312-abi3-", name)


def run_wheel(*words):
    subprocess.run([sys.executable, "-m", "wheel", *words], stdout=subprocess.DEVNULL, check=True)
