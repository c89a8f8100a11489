# SPDX-License-Identifier: LGPL-2.1-or-later
"""The build backend: meson-python, without the stable ABI before Python 3.12.

nanobind's stable ABI begins with that version, and pyproject.toml cannot say so."""
import sys

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
    return mesonpy.build_wheel(wheel_directory, settings, metadata_directory)
