# SPDX-License-Identifier: LGPL-2.1-or-later
"""The register of the parts that drawn kinds are composed of.

A part is a function that is called once per clip, `part(scene, *arguments)`, and returns a function of the
time in seconds. What that function gets beside the time, and what it returns, depends on the place of the
part in the composition; see `clip.py`.
"""
PARTS = {}


def part(function):
    PARTS[function.__name__] = function
    return function


def build(scene, description):
    """The function of a part that a row of the table describes: a name, or (name, argument, …)."""
    name, *arguments = (description,) if isinstance(description, str) else description
    return PARTS[name](scene, *arguments)
