#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tables and plots from the output of element-latency, perhaps of another machine.

usage: plot-latency.py ROWS… [--plot FILE.svg] [--title TEXT]

ROWS are files with the program's lines. Prints a table in Markdown. The plot has a panel for each
kind of elements and frame rate: the distribution of latency against the number of streams.
"""
import argparse
import json
import pathlib
import sys

RANKS = ("p50", "p99", "p99.9", "worst")
NAMES = {"p50": "50th percentile", "p99": "99th", "p99.9": "99.9th", "worst": "worst"}
COLOURS = {"p50": "#0067a5", "p99": "#008856", "p99.9": "#f38400", "worst": "#be0032"}


def title(row):
    """The elements, without where their frames are if that is where one expects them."""
    uploaded = row["elements"].startswith("cudaccl") and row["memory"] == "system"
    return row["elements"] + (", frames in system memory" if uploaded else "")


def milliseconds(microseconds):
    return f"{microseconds / 1000:.3g}"


def table(rows):
    lines = ["| elements | frames/s | streams | frames | lost | late | CPU µs a frame | " +
             " | ".join(f"{NAMES[rank]}, ms" for rank in RANKS) + " |", "| --- |" + " --- |" * 10]
    for row in rows:
        cells = [f"`{title(row)}`", f"{row['fps']:g}", row["streams"], row["frames"], row["lost"], row["late"],
                 f"{row['cpu_us']:.0f}", *(milliseconds(row["latency_us"][rank]) for rank in RANKS)]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)


def plot(rows, path, heading):
    import matplotlib
    matplotlib.use("svg")
    import matplotlib.pyplot as plt
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "latency"})
    kinds = list(dict.fromkeys(title(row) for row in rows))
    rates = sorted({row["fps"] for row in rows})
    figure, panels = plt.subplots(len(rates), len(kinds), figsize=(4 * len(kinds), 3.2 * len(rates)),
                                  layout="constrained", squeeze=False, sharey=True)
    for line, rate in zip(panels, rates):
        for axes, kind in zip(line, kinds):
            own = sorted((row for row in rows if title(row) == kind and row["fps"] == rate), key=lambda row: row["streams"])
            axes.set_visible(bool(own))
            streams = [row["streams"] for row in own]
            for rank in reversed(RANKS):
                axes.plot(streams, [row["latency_us"][rank] / 1000 for row in own], marker="o", color=COLOURS[rank],
                          label=NAMES[rank])
            axes.axhline(1000 / rate, color="0.6", linestyle="--", label="time of a frame")
            axes.set(title=f"{kind}\n{rate:g} frames/s", xscale="log", yscale="log", xlabel="streams")
            axes.set_xticks(streams, streams)
            axes.minorticks_off()
            axes.grid(True, color="#e4e4e4", linewidth=0.6)
        line[0].set_ylabel("ms from buffer in to metadata out")
    panels[0][-1].legend(fontsize="small")
    if heading:
        figure.suptitle(heading)
    figure.savefig(path, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", nargs="+", metavar="ROWS", type=pathlib.Path)
    parser.add_argument("--plot", metavar="FILE.svg")
    parser.add_argument("--title", help="of the plot: the machine")
    options = parser.parse_args()
    try:
        rows = [json.loads(line) for path in options.rows for line in path.read_text().splitlines()]
        rows = [row for row in rows if row["latency_us"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        sys.exit(f"plot-latency.py: not lines that element-latency has printed: {error}")
    print(table(rows))
    if options.plot:
        plot(rows, options.plot, options.title)


if __name__ == "__main__":
    main()
