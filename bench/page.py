#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes the tables and plots of docs/benchmarks.md from the rows that tests/gpu/measure has measured.

usage: bench/page.py [FOLDER | --check]

With the folder that tests/gpu/measure has filled, its rows replace those of docs/benchmarks.ndjson, a file of
one JSON object a line. Then the plots are drawn (with matplotlib), and each table between the comments
"rows: NAME" and "end" of docs/benchmarks.md is written from its rows; where there are none, the table stays.
--check writes nothing, and fails if a table differs from its rows.
"""
import argparse
import csv
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE, ROWS, PLOTS = ROOT / "docs/benchmarks.md", ROOT / "docs/benchmarks.ndjson", ROOT / "docs/plots"
KEPT = ("set", "input", "width", "height", "device", "algorithm", "delivers", "threads", "wall_us", "gpu_us")
INPUTS = {"adapt_graf1_1080.png": "adaptive threshold, 1080p", "document.png": "document, 2480×3508",
          "otsu_graf1.png": "Otsu's threshold, 800×640", "spiral_1080.png": "spiral, 1080p",
          "vtest200_1080.png": "foreground mask, 1080p", "vtest200_2160.png": "foreground mask, 2160p",
          "vtest200_native.png": "foreground mask, 768×576"}
RESULTS = {"-": "", "raw labels": ", raw labels", "table": ", table", "labels + table": ", label map and table"}


# From the files of tests/gpu/measure to rows

def ccl_bench(path, part):
    """The rows of a file of ccl-bench --json, behind the machine and the command that measured them."""
    document = json.loads(path.read_text())
    yield {"part": "machine", "of": part, **document["machine"]}
    for run in document["runs"]:
        for row in run["rows"]:
            if "outcome" not in row:  # of the mode streams
                yield {"part": part, **row}
            elif row["outcome"] == "measured":
                yield {"part": part, **{key: row[key] for key in KEPT if row.get(key) is not None}}


def lines_of_json(path, part):
    yield from ({"part": part, **json.loads(line)} for line in path.read_text().splitlines())


def throughput(path, part):
    """The lines of element-throughput: the elements, then numbers."""
    for line in path.read_text().splitlines():
        if found := re.fullmatch(r"(.+?) +(\d+) +(\d+) +([\d.]+) +([\d.]+)", line):
            yield {"part": part, "elements": found[1], "streams": int(found[2]), "frames_per_s": int(found[3]),
                   "cpu_us": float(found[5])}


def foreground(path, part):
    """The first table of bench/foreground; the name of the file ends with the reduction."""
    text = path.read_text()
    lines = text[text.index('"background model'):].split("\n\n")[0].splitlines()
    for row in csv.DictReader(lines):
        yield {"part": part, "reduction": int(path.stem.rpartition("-")[2]), "filter": row["noise filter"],
               "delivers": row["delivers"], "wall_us": float(row["wall µs"]), "gpu_us": float(row["GPU µs"])}


FILES = (("table.json", "table", ccl_bench), ("growth.json", "growth", ccl_bench),
         ("streams.json", "streams", ccl_bench), ("cpu.json", "cpu", ccl_bench), ("threads.json", "threads", ccl_bench),
         ("throughput.txt", "throughput", throughput), ("latency.json", "latency", lines_of_json),
         ("foreground-*.csv", "foreground", foreground))


def collect(folder):
    rows = [row for pattern, part, read in FILES for path in sorted(folder.glob(pattern)) for row in read(path, part)]
    if not rows:
        sys.exit(f"page.py: {folder}: has no file of tests/gpu/measure")
    return rows


# From rows to tables

def number(value):
    """Three digits, or whole numbers with commas."""
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def markdown(columns, rows):
    return "\n".join(["| " + " | ".join(columns) + " |", "|" + " --- |" * len(columns),
                      *("| " + " | ".join(cells) + " |" for cells in rows)])


def mean(rows, key):
    values = [row[key] for row in rows if key in row]
    return statistics.geometric_mean(values) if values else None


def by_name(rows):
    """The rows of each implementation, bandwidth bounds first."""
    groups = {}
    for row in rows:
        bound = "bandwidth bound: " if row["delivers"] == "-" else ""
        groups.setdefault(bound + row["algorithm"] + RESULTS[row["delivers"]], []).append(row)
    return dict(sorted(groups.items(), key=lambda item: not item[0].startswith("bandwidth")))


def input_of(row):
    if row["input"] in INPUTS:
        return INPUTS[row["input"]]
    found = re.fullmatch(r"g=(\d+) d=(\d+)", row["input"])
    return f"noise g {found[1]}, {found[2]} %" if found else f"{row['set']} {row['input']}".strip()


def table_means(parts):
    rows = [row for row in parts["table"] if row["device"] == "cuda"]
    base = {(row["set"], row["input"]): row["gpu_us"] for row in rows if row["delivers"] == "raw labels"}
    columns = ["", "GPU", "wall", "seven masks, GPU", "wall", *(["÷ BKE's raw labels (GPU)", "worst input"] if base else [])]
    lines = []
    for name, own in by_name(rows).items():
        masks = [row for row in own if row["set"] == "masks"]
        ratios = {input_of(row): row["gpu_us"] / base[row["set"], row["input"]] for row in own
                  if (row["set"], row["input"]) in base}
        worst = max(ratios, key=lambda each: ratios[each]) if ratios else ""
        lines.append([name, *(number(mean(some, key)) for some in (own, masks) for key in ("gpu_us", "wall_us")),
                      *([f"{statistics.geometric_mean(ratios.values()):.2f}", f"{ratios[worst]:.2f}, {worst}"]
                        if ratios else [])])
    return markdown(columns, lines)


def table_inputs(parts):
    rows = [row for row in parts["table"] if row["device"] == "cuda"]
    names = by_name(rows)
    lines = [[each, *(number(next((row["gpu_us"] for row in own if input_of(row) == each), None)) for own in names.values())]
             for each in dict.fromkeys(map(input_of, rows))]
    return markdown(["GPU µs", *names], lines)


def growth(parts):
    rows = [row for row in parts["growth"] if row["algorithm"] == "strips"]
    sizes = dict.fromkeys((row["set"], row["width"], row["height"]) for row in rows)
    lines = []
    for size in sizes:
        own = {row["delivers"]: row["gpu_us"] for row in rows if (row["set"], row["width"], row["height"]) == size}
        lines.append([f"{size[0]}, {size[1]}×{size[2]}",
                      *(f"{1e6 * own[result] / (size[1] * size[2]):.1f}" if result in own else ""
                        for result in ("table", "labels + table"))])
    return markdown(["frame", "table, ps per pixel", "label map and table"], lines)


def streams(parts):
    return markdown(["labellers", "without pause, frames/s of all", "CPU µs per frame", "at 60 frames/s, CPU µs per frame",
                     "late"],
                    [[str(row["streams"]), number(row["frames/s"]), number(row["CPU µs a frame"]),
                      number(row["CPU µs a frame, paced"]), f"{row['late %']:.3g} %"] for row in parts["streams"]])


def throughputs(parts):
    return markdown(["elements", "streams", "frames/s of all", "CPU µs per frame"],
                    [[f"`{row['elements']}`", str(row["streams"]), number(row["frames_per_s"]), f"{row['cpu_us']:.0f}"]
                     for row in parts["throughput"]])


def latencies(parts):
    """A line for each number of streams and frame rate, beside each other the settings."""
    settings = list(dict.fromkeys(row["elements"] for row in parts["latency"]))
    keys = dict.fromkeys((row["streams"], row["fps"]) for row in parts["latency"])
    lines = []
    for streams_, fps in keys:
        cells = [f"{streams_}, {fps:g}"]
        for each in settings:
            own = [row for row in parts["latency"] if (row["elements"], row["streams"], row["fps"]) == (each, streams_, fps)]
            cells += [f"{own[0]['latency_us'][rank] / 1000:.3f}" if own else "" for rank in ("p50", "p99", "worst")]
        lines.append(cells)
    n_bad = sum(row["lost"] + row["late"] for row in parts["latency"])
    text = f"{n_bad or 'No'} frame{'s were' if n_bad > 1 else ' was'} lost or late."
    return text + "\n\n" + markdown(["streams, frames/s", *(cell for each in settings
                                                             for cell in (f"`{each}`: median", "99 %", "worst"))], lines)


def foregrounds(parts):
    """The codebook and the mixture, in the rows that the elements' defaults give."""
    cells = {}
    for row in parts["foreground"]:
        if row["filter"] in ("codebook", "median 5×5"):
            name = "codebook" if row["filter"] == "codebook" else "mog2, median-5x5"
            cells.setdefault((name, row["reduction"]), {})[row["delivers"]] = row
    return markdown(["model", "reduction", "mask, GPU µs", "mask and table, GPU µs", "until the host has the table"],
                    [[f"`{name}`", str(reduction or "auto"), number(own["mask"]["gpu_us"]),
                      number(own["table"]["gpu_us"]), number(own["table"]["wall_us"])]
                     for (name, reduction), own in cells.items()])


def cpu(parts):
    """Geometric means, also as multiples of the bandwidth bound for the bytes that the result takes."""
    names = {}
    for row in parts["cpu"]:
        bound = row["delivers"] == "-"
        name = next(iter(by_name([row])))
        names.setdefault(name if bound else f"{name}, {row['threads']} thread{'s' * (row['threads'] > 1)}", []).append(row)
    return markdown(["", "all inputs, µs", "seven masks, µs"],
                    [[name, number(mean(own, "wall_us")),
                      number(mean([row for row in own if row["set"] == "masks"], "wall_us"))] for name, own in names.items()])


def threads(parts):
    rows = [row for row in parts["threads"] if row["delivers"] != "-"]
    counts = sorted({row["threads"] for row in rows})
    lines = []
    for each, result in dict.fromkeys((input_of(row), row["delivers"]) for row in rows):
        own = {row["threads"]: row["wall_us"] for row in rows if (input_of(row), row["delivers"]) == (each, result)}
        lines.append([each + RESULTS[result], *(number(own.get(count)) for count in counts),
                      f"{own[counts[0]] / min(own.values()):.1f}"])
    return markdown(["µs with so many threads", *map(str, counts), "best speed-up"], lines)


def machine(parts):
    """The machine, and the commands of its rows."""
    first = parts["machine"][0]
    driver = re.search(r"\d+\.\d+\.\d+", first.get("driver", ""))
    text = f"{first['gpu'].split(',')[0]}, driver {driver[0] if driver else 'unknown'}, {first['driver API']}; " \
        f"{first['cpu']} with {first['threads']} processors; {first['version']}; {first['date'][:10]}:"
    commands = [re.sub(r" (--json|--csv) \S+", "", row["command"]) for row in parts["machine"]]
    return text + "\n\n" + "\n".join(f"    {command}" for command in commands)


TABLES = {"machine": ("machine", machine), "table": ("table", table_means), "inputs": ("table", table_inputs),
          "growth": ("growth", growth), "streams": ("streams", streams), "throughput": ("throughput", throughputs),
          "latency": ("latency", latencies), "foreground": ("foreground", foregrounds), "cpu": ("cpu", cpu),
          "threads": ("threads", threads)}


def write_tables(text, rows):
    """The text of the page with the tables of the rows."""
    parts = {}
    for row in rows:
        parts.setdefault(row["part"], []).append(row)

    def block(found):
        part, make = TABLES[found[1]]
        return f"<!-- rows: {found[1]} -->\n{make(parts)}\n<!-- end -->" if part in parts else found[0]

    return re.sub(r"<!-- rows: (\w+) -->\n.*?<!-- end -->", block, text, flags=re.S)


def draw(rows):
    """The plot of latency, by the program that draws it from rows on any machine."""
    own = [{key: value for key, value in row.items() if key != "part"} for row in rows if row["part"] == "latency"]
    if own:
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write("\n".join(map(json.dumps, own)) + "\n")
            file.flush()
            subprocess.run([sys.executable, ROOT / "bench/plot-latency.py", file.name, "--plot", PLOTS / "latency.svg"],
                           check=True, stdout=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=pathlib.Path, help="what tests/gpu/measure has written")
    parser.add_argument("--check", action="store_true", help="fail if a table differs from its rows")
    options = parser.parse_args()
    rows = collect(options.folder) if options.folder else [json.loads(line) for line in ROWS.read_text().splitlines()]
    before = PAGE.read_text()
    after = write_tables(before, rows)
    if options.check:
        if before != after:
            sys.exit("page.py: docs/benchmarks.md differs from docs/benchmarks.ndjson; run bench/page.py")
        return
    if options.folder:
        ROWS.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    draw(rows)
    PAGE.write_text(after)


if __name__ == "__main__":
    main()
