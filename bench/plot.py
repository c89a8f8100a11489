#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws plots, or prints Markdown tables, from the JSON files that ccl-bench --json writes.

usage: bench/plot.py FILE.json… --output FOLDER     plots as SVG; --format png for PNG (needs matplotlib)
       bench/plot.py FILE.json… --tables            tables on standard output (needs only Python)
A file named - is standard input.

density has a plot for each data set and granularity, size and growth one plot, steps and memory stacked bars,
the other modes with times a bar for each implementation. check and streams have tables only.
"""
import argparse
import colorsys
import itertools
import json
import math
import pathlib
import re
import statistics
import sys

BOUND = "read 1, write 4"
STEPS = ("allocation", "scan", "merging", "relabelling")
ACCESSES = ("reads", "writes", "atomics")
BASELINES = (("cuda", "bke", "raw labels", 1), ("cuda", "ke", "raw labels", 1), ("cpu", "opencv", "labels + table", 1))

# One colour and one marker for each implementation of a plot: 17 of Kelly's colours of maximum contrast
# (Color Engineering 3(6), 1965), then hues at two lightnesses.
COLOURS = ["#0067a5", "#be0032", "#008856", "#f38400", "#875692", "#f3c300", "#a1caf1", "#882d17", "#8db600", "#e68fac",
           "#222222", "#c2b280", "#604e97", "#f99379", "#b3446c", "#654522", "#2b3d26"]
COLOURS += ["#%02x%02x%02x" % tuple(int(255 * part) for part in colorsys.hls_to_rgb(i / 12 % 1, 0.35 + 0.3 * (i // 12), 1))
            for i in range(24)]
MARKERS = list("os^vDPX*p<>hdH8+x1234|_.") + [f"${letter}$" for letter in "abcdefghijkmnpqrstuw"]
BOUND_DASHES = {BOUND: "--", "read 1": ":", "copy 1 to 1": "-."}


def clock(row):
    return "gpu_us" if row["device"] == "cuda" else "wall_us"


def time_of(row, which=None):
    """The median in µs; of a run that was given up, its lower limit. None if there is neither."""
    return row.get(which or clock(row), row.get("at_least_us"))


def key_of(row):
    return row["device"], row["algorithm"], row["delivers"], row["threads"]


def is_bound(row):
    return row["delivers"] == "-"


def group(rows, key):
    """The rows by key, in the order of their first appearance."""
    groups = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


def input_of(row):
    return f"{row['set']} {row['input']}".strip()


class Names:
    """Names of implementations that leave out the properties which all of a run share."""

    def __init__(self, rows):
        labellers = [row for row in rows if not is_bound(row)] or rows
        self.devices = {row["device"] for row in rows}
        self.threads = {row["threads"] for row in labellers if row["device"] == "cpu"}
        self.delivery = statistics.mode(row["delivers"] for row in labellers)

    def __call__(self, row):
        name = ("bandwidth bound: " if is_bound(row) else "") + row["algorithm"]
        if row["maker"] != "cudaccl":
            name = row["maker"]
        if len(self.devices) > 1:
            name = f"{row['device']} {name}"
        if not is_bound(row) and row["delivers"] != self.delivery:
            name += f", {row['delivers']}"
        if len(self.threads) > 1 and row["device"] == "cpu" and not is_bound(row):
            name += f", {row['threads']:.0f} threads" if row["threads"] > 1 else ", 1 thread"
        return name


# Tables

def markdown(title, columns, rows):
    def cell(value):
        if isinstance(value, float):
            return f"{value:.0f}" if value.is_integer() else f"{value:.3g}" if value < 1000 else f"{value:.0f}"
        return "" if value is None else str(value)

    lines = [f"### {title}", "", f"| {' | '.join(columns)} |", "|" + " --- |" * len(columns)]
    return "\n".join([*lines, *(f"| {' | '.join(map(cell, row))} |" for row in rows), ""])


def spread_of(row, which=None):
    """The interquartile range as a share of the median."""
    median = which or clock(row)
    low, high = (row.get(median.replace("_us", f"_{quartile}_us"), 0) for quartile in ("q1", "q3"))
    return (high - low) / row.get(median, math.inf)


def mean_table(title, rows, repetitions=0):
    """Mean times of each implementation that has a time for every input that any could label, the fastest first; the
    turns if an implementation took fewer than asked for, and the steps if they were timed."""
    rows = [row for row in rows if time_of(row) is not None]
    names, n_inputs, means = Names(rows), len({input_of(row) for row in rows}), []
    steps = [step for step in STEPS if any(f"{step}_us" in row for row in rows)]
    is_short = any(0 < row.get("turns", 0) < repetitions for row in rows)
    for own in group(rows, key_of).values():
        if len(own) < n_inputs:
            continue
        marks = "> " if any(row["outcome"] == "too slow" for row in own) else ""
        times = {which: statistics.mean(time_of(row, which) for row in own)
                 for which in {clock(own[0]), "wall_us"} if all(time_of(row, which) is not None for row in own)}
        means.append((times[clock(own[0])], own, marks, times))
    means.sort(key=lambda mean: mean[0])
    bounds = {own[0]["device"]: mean for mean, own, _, _ in means if is_bound(own[0]) and own[0]["algorithm"] == BOUND}
    n_pixels = statistics.mean(math.prod(row[side] for side in ("width", "height", "depth"))
                               for row in {input_of(row): row for row in rows}.values())
    cells = []
    for mean, own, marks, times in means:
        row = own[0]
        timed = [[each[f"{step}_us"] for each in own if f"{step}_us" in each] for step in steps]
        cells.append([names(row), *(f"{marks}{times[which]:.4g}" if which in times else None
                                    for which in ("gpu_us", "wall_us")),
                      None if marks else f"{100 * statistics.mean(map(spread_of, own)):.0f} %",
                      None if marks else 1e6 * mean / n_pixels,
                      None if marks or row["device"] not in bounds else mean / bounds[row["device"]],
                      *(statistics.mean(values) if values else None for values in timed),
                      *([min(each.get("turns", 0) for each in own)] if is_short else [])])
    return markdown(f"{title}: mean of {n_inputs} input{'s' * (n_inputs != 1)}, {names.delivery}",
                    ["implementation", "GPU µs", "wall µs", "spread", "ps a pixel", f"÷ {BOUND}",
                     *(f"{step} µs" for step in steps), *(["turns"] if is_short else [])], cells)


def ratio_table(rows):
    """Geometric means of the ratios to the baseline of the device, and the input with the largest ratio."""
    names, cells = Names(rows), []
    times = {key: {input_of(row): time_of(row) for row in own if row["outcome"] == "measured"}
             for key, own in group(rows, key_of).items()}
    for row in {key_of(row): row for row in rows}.values():
        own = times[key_of(row)]
        base = next((times[key] for key in BASELINES if key[0] == row["device"] and times.get(key)), {})
        ratios = {name: own[name] / base[name] for name in own if name in base}
        if ratios:
            worst = max(ratios, key=ratios.get)
            cells.append([names(row) + (" (baseline)" if base is own else ""), statistics.geometric_mean(own.values()),
                          statistics.geometric_mean(ratios.values()), ratios[worst], worst])
    return markdown(f"Ratios to the baseline, {names.delivery}",
                    ["implementation", "geometric mean µs", "÷ baseline", "worst ÷", "on"], cells)


def check_table(rows):
    """The numbers of inputs by outcome, and their sums: of this project's exact labellers, of others, of peers."""
    titles = ("all of this project", "all that may be inexact", "all of other makers")
    groups = group(rows, lambda row: 2 if row["by"] != "cudaccl" else int("(inexact" in row["implementation"]))
    cells = []
    for number, own in sorted(groups.items()):
        sums = {name: sum(row[name] for row in own) for name in own[0] if name not in ("implementation", "by")}
        cells += [list(row.values()) for row in [*own, {"implementation": titles[number], "by": "-", **sums}]]
    return markdown("check", list(rows[0]), cells)


def memory_means(rows):
    """The mean accesses per image and per pixel for each data set, implementation and kernel, and of all kernels."""
    means = []
    for (name, *_), own in group(rows, lambda row: (row["set"], row["algorithm"], row["delivers"])).items():
        n_images, n_pixels = len({row["input"] for row in own}), sum({row["input"]: row["pixels"] for row in own}.values())
        for kernel, counts in [*group(own, lambda row: row["kernel"]).items(), ("all", own)]:
            sums = {kind: sum(row[kind] for row in counts) for kind in ACCESSES}
            means.append({"set": name, "images": n_images, "algorithm": own[0]["algorithm"],
                          "delivers": own[0]["delivers"], "kernel": kernel,
                          **{kind: sums[kind] / n_images for kind in ACCESSES},
                          **{f"{kind} a pixel": sums[kind] / n_pixels for kind in ACCESSES}})
    return means


def tables(run):
    """The tables of a run as Markdown."""
    rows, mode = run.get("rows", []), run["mode"]
    texts = []
    spreads = [spread_of(row, which) for row in rows for which in ("wall_us", "gpu_us") if row.get(which)]
    noisy = sum(spread > 0.25 for spread in spreads)
    if noisy > 0.1 * len(spreads):
        texts.append(f"Noisy: {100 * noisy / len(spreads):.0f} % of the measurements have a wide spread.\n")
    if rows and "outcome" in rows[0]:
        if mode == "table":
            texts.append(ratio_table(rows))
        if mode == "density":
            groups = group(rows, lambda row: f"{row['set']}, granularity {row.get('granularity', 1):.0f}")
        else:
            groups = group(rows, input_of if mode in ("size", "growth") else lambda row: row["set"])
        texts += [mean_table(f"{mode}: {title}", own, run.get("repetitions", 0)) for title, own in groups.items()
                  if any(time_of(row) is not None for row in own)]
    elif rows and mode == "check":
        texts.append(check_table(rows))
    elif rows:
        rows = memory_means(rows) if mode == "memory" else rows
        texts.append(markdown(mode, list(rows[0]), [[row.get(column) for column in rows[0]] for row in rows]))
    return "\n".join(texts)


# Plots

def device_of(rows, machine):
    """The devices that the rows were measured on, as people name them."""
    names = {"cpu": machine.get("cpu", "CPU"), "cuda": machine.get("gpu", "GPU").split(",")[0]}
    return " and ".join(names[device] for device in sorted({row["device"] for row in rows}))


def unit_of(rows):
    if {row["device"] for row in rows} == {"cuda"}:
        return "GPU time (µs)"
    return "GPU time on the GPU, wall time on the CPU (µs)" if any(row["device"] == "cuda" for row in rows) \
        else "wall time (µs)"


def subtitle(rows, names, machine):
    """The delivery, unless an implementation's name says another, the connectivity and the device."""
    connectivity = re.search(r"(?:--connectivity[ =]|-c ?)([\d,]+)", machine.get("command", ""))
    neighbours = set(connectivity[1].split(",")) if connectivity else set()
    is_volume = rows[0].get("depth", 1) > 1
    found = neighbours & ({"6", "18", "26"} if is_volume else {"4", "8"})
    return f"{names.delivery}, {found.pop() if found else '26' if is_volume else '8'}-connected, on {device_of(rows, machine)}"


def draw_lines(plt, rows, all_rows, machine, title, x_name, x_of):
    """A curve for each implementation; its look is the same in all plots of a run."""
    names = Names(all_rows)
    looks = {key: i for i, key in enumerate(dict.fromkeys(
        key_of(row) for row in all_rows if row["outcome"] == "measured" and not is_bound(row)))}
    figure, axes = plt.subplots(figsize=(11, 6.5), layout="constrained")
    curves = []
    for key, own in group((row for row in rows if row["outcome"] == "measured"), key_of).items():
        points = sorted((x_of(row), time_of(row)) for row in own)
        if is_bound(own[0]):
            look = {"color": "#808080", "linestyle": BOUND_DASHES[own[0]["algorithm"]], "linewidth": 1.8}
        else:
            i = looks[key]
            look = {"color": COLOURS[i], "marker": MARKERS[i], "markersize": 5, "linewidth": 1.4}
        curve, = axes.plot(*zip(*points), label=names(own[0]), **look)
        curves.append((points[-1][1], curve))
    axes.set_yscale("log")
    axes.set(xlabel=x_name, ylabel=unit_of(rows))
    axes.set_title(f"{title}\n{subtitle(rows, names, machine)}", fontsize=11)
    axes.grid(True, which="both", color="#e4e4e4", linewidth=0.6)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.3g}" if value < 1000 else f"{value:,.0f}")
    curves.sort(key=lambda curve: -curve[0])  # the legend has the order of the curves at the right edge
    axes.legend(handles=[curve for _, curve in curves], loc="upper left", bbox_to_anchor=(1, 1), frameon=False, fontsize=9)
    return figure, axes


def draw_bars(plt, labels, parts, title, unit, is_log):
    """Horizontal bars. parts: pairs of a name and its values; they are stacked on a linear axis, side by side on a
    logarithmic one."""
    figure, axes = plt.subplots(figsize=(10, 1.6 + 0.3 * len(labels) * (len(parts) if is_log else 1)),
                                layout="constrained")
    height, left = 0.8 / (len(parts) if is_log else 1), [0.0] * len(labels)
    for i, (name, values) in enumerate(parts):
        places = [place + (i - (len(parts) - 1) / 2) * height if is_log else place for place in range(len(labels))]
        bars = axes.barh(places, values, height, left=None if is_log else left, color=COLOURS[i], label=name)
        if is_log:
            axes.bar_label(bars, [f"{value:.3g}" if value and value < 1000 else f"{value:,.0f}" if value else ""
                                  for value in values], padding=3, fontsize=8)
        left = [a + b for a, b in zip(left, values)]
    axes.set_yticks(range(len(labels)), labels)
    axes.invert_yaxis()
    axes.set_xlabel(unit)
    if is_log:
        axes.set_xscale("log")
        axes.margins(x=0.12)
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}")
    axes.grid(True, axis="x", color="#e4e4e4", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_title(title, fontsize=11)
    if len(parts) > 1:
        axes.legend(frameon=False)
    return figure, axes


def draw_means(plt, rows, machine, mode):
    """A bar for each implementation and data set, the fastest implementation first."""
    names, sets = Names(rows), group(rows, lambda row: row["set"])
    means = {}
    for key, own in group((row for row in rows if time_of(row) is not None), key_of).items():
        label = names(own[0]) + (" (lower limit)" if any(row["outcome"] == "too slow" for row in own) else "")
        means[label] = [statistics.mean(times) if (times := [time_of(row) for row in own if row["set"] == name]) else 0
                        for name in sets]
    labels = sorted(means, key=lambda label: next(filter(None, means[label]), math.inf))
    parts = [(name, [means[label][i] for label in labels]) for i, name in enumerate(sets)]
    inputs = f"data set {next(iter(sets))}" if len(sets) == 1 else f"{len(sets)} data sets"
    return draw_bars(plt, labels, parts, f"{mode}: mean labelling time, {inputs}\n{subtitle(rows, names, machine)}",
                     "mean " + unit_of(rows), True)


def draw_steps(plt, rows, machine, name):
    """A stack of the steps for each implementation whose steps were timed."""
    names = Names(rows)
    groups = {names(own[0]): own for own in group((row for row in rows if any(f"{step}_us" in row for step in STEPS)),
                                                  key_of).values()}
    parts = [(step, [statistics.mean(row.get(f"{step}_us", 0) for row in own) for own in groups.values()])
             for step in STEPS]
    return draw_bars(plt, list(groups), parts, f"steps: mean time of each step by itself, data set {name}\n"
                     f"{subtitle(rows, names, machine)}", "time (µs)", False)


def draw_memory(plt, rows, machine):
    rows = [row for row in memory_means(rows) if row["kernel"] == "all"]
    parts = [(kind, [row[f"{kind} a pixel"] for row in rows]) for kind in ACCESSES]
    return draw_bars(plt, [f"{row['algorithm']}, {row['delivers']}" for row in rows], parts,
                     f"memory: accesses to global memory, data set {rows[0]['set']}\non {machine.get('gpu', 'GPU')}",
                     "accesses per pixel", False)


def figures(plt, run, machine):
    """Pairs of a file name and a figure."""
    rows, mode = run.get("rows", []), run["mode"]
    if mode == "memory":
        for name, own in group(rows, lambda row: row["set"]).items():
            yield f"memory-{name}", draw_memory(plt, own, machine)
    if not any("outcome" in row and time_of(row) is not None for row in rows):
        return
    if mode == "density":
        for (name, granularity), own in group(rows, lambda row: (row["set"], row.get("granularity", 1))).items():
            yield f"density-{name}-g{granularity:.0f}", draw_lines(
                plt, own, rows, machine, f"Labelling time against density: {name}, granularity {granularity:.0f}",
                "foreground density (%)", lambda row: row.get("density", 100 * row["foreground"]))
    elif mode in ("size", "growth"):
        figure, axes = draw_lines(plt, rows, rows, machine, f"Labelling time against size: {rows[0]['set'].split()[0]}",
                                  "size (pixels)", lambda row: row["width"] * row["height"] * row["depth"])
        axes.set_xscale("log")
        yield mode, (figure, axes)
    elif mode == "steps":
        for name, own in group(rows, lambda row: row["set"]).items():
            if any(f"{step}_us" in row for row in own for step in STEPS):
                yield f"steps-{name}", draw_steps(plt, own, machine, name)
    else:
        yield mode, draw_means(plt, rows, machine, mode)


def draw_all(document, folder, kind):
    """Draws every run of a file; returns the number of plots."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    # Text stays text, and the same data give the same bytes.
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "ccl-bench"})
    folder.mkdir(parents=True, exist_ok=True)
    n = 0
    for n, (name, (figure, _)) in enumerate(itertools.chain.from_iterable(
            figures(pyplot, run, document["machine"]) for run in document["runs"]), 1):
        path = folder / f"{re.sub('[^A-Za-z0-9]+', '-', name)}.{kind}"
        figure.savefig(path, dpi=120, metadata={"Date": None} if kind == "svg" else None)
        pyplot.close(figure)
    return n


def read(path):
    """The document in a file; ends the program if ccl-bench has not written it."""
    try:
        document = json.loads(sys.stdin.read() if path == "-" else pathlib.Path(path).read_text())
        if all("mode" in run for run in document["runs"]) and document["machine"] is not None:
            return document
    except OSError as error:
        sys.exit(f"plot.py: {path}: {error.strerror}")
    except (ValueError, TypeError, KeyError):
        pass
    sys.exit(f"plot.py: {path}: not a file that ccl-bench --json has written")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", metavar="FILE.json")
    parser.add_argument("--output", type=pathlib.Path, help="folder for the plots")
    parser.add_argument("--format", choices=("svg", "png"), default="svg")
    parser.add_argument("--tables", action="store_true", help="print tables")
    options = parser.parse_args()
    if not options.output and not options.tables:
        parser.error("nothing to do without --output or --tables")
    for file in options.files:
        document = read(file)
        if options.tables:
            print(*(f"{name}: {value}  " for name, value in document["machine"].items()), "", sep="\n")
            print("\n".join(tables(run) for run in document["runs"]))
        if options.output and not draw_all(document, options.output, options.format):
            sys.exit(f"plot.py: {file}: holds nothing to draw")


if __name__ == "__main__":
    main()
