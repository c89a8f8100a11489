#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints the table of everything that is measured of components, from include/cudaccl/columns.h.

usage: columns.py"""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROW = re.compile(r'REAL \(EACH, (\w+), (\w+), (SAME|FORMERLY \((\w+)\)), (\w+),[\s\\]*"(\w*)", (\w+), (\w+)\)')
PICTURES = {"ALL": "all", "FRAMES": "frames", "VOLUMES": "volumes", "LARGE": "label maps, tiles"}
PLACES = {"FIRST": "-0", "SECOND": "-1", "THIRD": "-2", "Z": ", axis z", "Y": ", axis y", "X": ", axis x"}


def rows() -> list[tuple[str, ...]]:
    """Field, property, flag, pictures and former name of each measure."""
    text = (ROOT / "include/cudaccl/columns.h").read_text()
    return [(field, name + PLACES.get(place, "") if name else "", column.lower(), PICTURES[pictures], former or "")
            for column, field, _, former, pictures, name, place, _ in ROW.findall(text)]


if __name__ == "__main__":
    print("| C, metadata, JSON | Python, files of ccl-label | column | pictures | until 0.3 |\n| --- | --- | --- | --- | --- |")
    for row in rows():
        print("| " + " | ".join(f"`{cell}`" if cell and i in (0, 4) else cell for i, cell in enumerate(row)) + " |")
