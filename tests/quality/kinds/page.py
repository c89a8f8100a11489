#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints the Markdown table of docs/quality.md from files of ./run quality --kinds --csv.

usage: page.py LABEL=FILE… (each column is a label; a file without the rows of cudaccl gives the other methods)
"""
import csv
import math
import sys

import table

OTHERS = ("MOG2", "KNN", "motion")


def read(argument):
    label, path = argument.split("=", 1)
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            yield (row["kind"], label if row["method"] == "cudaccl" else row["method"]), row


def cell(row):
    """Seconds of motion, tracks, events missed or, of motion, unseen."""
    if row is None:
        return ""
    missed = row["unseen" if row["method"] == "motion" else "missed"]
    tracks = "–" if row["method"] == "motion" else f"{float(row['false_tracks']):.0f}"
    return f"{float(row['false_motion']):.0f} · {tracks} · {missed}"


def settled(row):
    return "?" if row is None else "∞" if math.isinf(float(row["settled"])) else f"{float(row['settled']):.0f}"


def main(arguments):
    labels = [argument.split("=", 1)[0] for argument in arguments]
    rows = dict(pair for argument in arguments for pair in read(argument))
    columns = [*labels, *(other for other in OTHERS if any(method == other for _, method in rows))]
    print("| kind | " + " | ".join([*columns, "quiet after, s"]) + " |\n|" + " --- |" * (len(columns) + 2))
    for kind in table.KINDS:
        own = [rows.get((kind.name, column)) for column in columns]
        print(f"| {kind.text} | " + " | ".join([*map(cell, own), ", ".join(map(settled, own))]) + " |")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1:])
