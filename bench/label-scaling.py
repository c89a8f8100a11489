#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures how ccl-label scales with the number of ranks, on one machine.

usage: label-scaling.py CCL-LABEL [--side PIXELS] [--gpus N] [--ranks N…] [--all-rows N…] [--repeat N]
                        [--plot FILE.svg]
       label-scaling.py --draw ROWS --plot FILE.svg

With --gpus, a frame of side × 4 side pixels is labelled by 1…N ranks with a GPU each. Strong scaling:
a frame of side × side pixels on each number of ranks, each with one thread. Weak scaling: side × side / 16 pixels for
each rank. The frame is noise of which 40 % is foreground, the density at which components are most
entangled. Only the rows of components of 1,000 pixels and more are written: a Linux file system takes
writes to a file one after the other, so that a label map or all rows would measure the file system.
With --all-rows, all rows are written on these numbers of ranks, too.

Prints one JSON object a line: the time of the run and of its phases, the shortest of the repetitions,
and as start_seconds the time that mpirun and the start of the processes take besides. --draw plots
what an earlier run printed to the file ROWS, perhaps on another machine.
"""
import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time

# One machine, as root or not, with more ranks than processors if it has to be.
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1",
               "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",  # Open MPI 5
               "OMPI_MCA_plm_rsh_agent": "",
               "OMPI_MCA_btl": "self,vader", "OMPI_MCA_btl_vader_single_copy_mechanism": "none", **os.environ}


def machine():
    """The name of the processor and how many of them this program may use."""
    with open("/proc/cpuinfo") as file:
        names = [line.split(":")[1].strip() for line in file if line.startswith("model name")]
    return {"machine": names[0] if names else platform.machine(), "processors": len(os.sched_getaffinity(0))}


def write_noise(path, width, height):
    """Bytes 0…255 of which those above 153 are to be foreground."""
    block = os.urandom(min(width * height, 1 << 26))
    with open(path, "wb") as file:
        left = width * height
        while left:
            n = min(left, len(block))
            # Another block each time, without the cost of new random numbers.
            shift = left % 977 + 1
            file.write((block[shift:] + block[:shift])[:n])
            left -= n


def measure(program, repeat, ranks, path, width, height, *options):
    best = None
    for _ in range(repeat):
        with tempfile.NamedTemporaryFile(suffix=".npy", dir=os.path.dirname(path)) as table:
            begin = time.monotonic()
            result = subprocess.run(
                ["mpirun", "-n", str(ranks), "--bind-to", "none", program, path, "--size", f"{width}x{height}",
                 "--threshold", "153", "-t", table.name, "--threads", "1", "--statistics", *options],
                env=ENVIRONMENT, capture_output=True, text=True)
            if result.returncode:  # the results of the other repetitions count
                print(result.stderr, file=sys.stderr)
                continue
            wall = time.monotonic() - begin
            statistics = json.loads(result.stderr.splitlines()[-1])
            statistics["start_seconds"] = round(wall - statistics["seconds"], 3)
            statistics["components"] = int(result.stdout.split()[0])
            if best is None or statistics["seconds"] < best["seconds"]:
                best = statistics
    if not best:
        sys.exit(1)
    return {"width": width, "height": height, **best,
            "megapixels_per_second": round(width * height / best["seconds"] / 1e6, 1)}


def speeds(rows, without=()):
    """Mpixel/s, without the time of some phases."""
    return [row["width"] * row["height"] / 1e6 / (row["seconds"] - sum(row["phases"][phase] for phase in without))
            for row in rows]


def plot(rows, path):
    import matplotlib
    matplotlib.use("svg")
    import matplotlib.pyplot as plt
    import matplotlib.ticker
    kinds = {kind: [row for row in rows if row.get("scaling") == kind] for kind in ("strong", "weak", "GPUs")}
    kinds = {kind: chosen for kind, chosen in kinds.items() if chosen}
    all_rows = [row for row in rows if row.get("scaling") == "all rows"]
    figure, panels = plt.subplots(1, len(kinds), figsize=(4 * len(kinds), 3.8), layout="constrained", squeeze=False)
    for axes, (kind, chosen) in zip(panels[0], kinds.items()):
        ranks, measured = [row["ranks"] for row in chosen], speeds(chosen)
        axes.plot(ranks, [measured[0] / ranks[0] * n for n in ranks], color="0.7", label="in proportion to the ranks")
        axes.plot(ranks, measured, marker="o", color="#0067a5", label="measured")
        if kind == "GPUs":
            axes.plot(ranks, speeds(chosen, ["device"]), marker="s", color="#e68310", label="after the GPUs are opened")
        if kind == "strong" and all_rows:
            axes.plot([row["ranks"] for row in all_rows], speeds(all_rows), marker="s", color="#e68310",
                      label="and all rows of the table written")
        size = chosen[-1]["width"] * chosen[-1]["height"] / 1e6 / (ranks[-1] if kind == "weak" else 1)
        names = {"strong": "Strong scaling", "weak": "Weak scaling", "GPUs": "A GPU for each rank"}
        axes.set(title=f"{names[kind]}: {size:,.0f} Mpixel" + (" a rank" if kind == "weak" else ""), xlabel="ranks",
                 ylabel="Mpixel/s", xscale="log", yscale="log")
        axes.set_ylim(bottom=min(measured) / 2)
        axes.set_xticks(ranks, ranks)
        axes.yaxis.set_major_locator(matplotlib.ticker.LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter("{x:,.0f}")
        axes.minorticks_off()
        axes.legend(fontsize="small")
    machines = [f"{row['machine']}, {row['processors']} processors" for row in rows if "machine" in row]
    if machines:
        figure.suptitle(machines[0], fontsize="medium")
    figure.savefig(path, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", nargs="?", type=os.path.abspath)
    parser.add_argument("--draw", metavar="ROWS", help="plot these rows, measure nothing")
    parser.add_argument("--side", type=int, default=32768)
    parser.add_argument("--ranks", type=int, nargs="*", default=[1, 2, 4, 8, 16])
    parser.add_argument("--all-rows", type=int, nargs="*", default=[], metavar="N")
    parser.add_argument("--gpus", type=int, default=0)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--plot")
    parser.add_argument("--folder", help="for the frame and the tables; best in memory", default="/dev/shm")
    arguments = parser.parse_args()
    if arguments.draw:
        with open(arguments.draw) as file:
            plot([json.loads(line) for line in file], arguments.plot)
        return
    if not arguments.program:
        parser.error("no program")
    rows = [machine()]
    print(json.dumps(rows[0]), flush=True)

    def note(kind, row):
        rows.append({"scaling": kind, **row})
        print(json.dumps(rows[-1]), flush=True)

    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        path, side = os.path.join(folder, "frame.raw"), arguments.side
        few_rows = ("--min-area", "1000")
        if arguments.gpus:
            write_noise(path, side, 4 * side)
        for ranks in range(1, arguments.gpus + 1):
            note("GPUs", measure(arguments.program, arguments.repeat, ranks, path, side, 4 * side, "--gpu", *few_rows))
        write_noise(path, side, side)
        for ranks in arguments.ranks:
            note("strong", measure(arguments.program, arguments.repeat, ranks, path, side, side, *few_rows))
        for ranks in arguments.all_rows:
            note("all rows", measure(arguments.program, arguments.repeat, ranks, path, side, side))
        for ranks in arguments.ranks:
            height = side // 16 * ranks
            write_noise(path, side, height)
            note("weak", measure(arguments.program, arguments.repeat, ranks, path, side, height, *few_rows))
    if arguments.plot:
        plot(rows, arguments.plot)


if __name__ == "__main__":
    main()
