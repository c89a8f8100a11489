#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures how ccl-label scales with the number of ranks, on one machine.

usage: label-scaling.py CCL-LABEL [--side PIXELS] [--ranks N…] [--gpus N] [--repeat N] [--plot FILE.svg]

Strong scaling: a frame of side × side pixels on each number of ranks, each with one thread. Weak
scaling: side × side / 16 pixels for each rank. With --gpus, the frame is also labelled by 1…N ranks
with a GPU each. The frame is noise of which 40 % is foreground, the density at which components are
most entangled. Only the component table is written: a label map would measure the disk.

Prints one JSON object a line; the time is the shortest of the repetitions.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1"}


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
            result = subprocess.run(
                ["mpirun", "-q", "-n", str(ranks), "--bind-to", "none", program, path, "--size", f"{width}x{height}",
                 "--threshold", "153", "-t", table.name, "--threads", "1", "--statistics", *options],
                env=ENVIRONMENT, capture_output=True, text=True)
            if result.returncode:
                sys.exit(result.stderr)
            statistics = json.loads(result.stderr.splitlines()[-1])
            statistics["components"] = int(result.stdout.split()[0])
            if best is None or statistics["seconds"] < best["seconds"]:
                best = statistics
    return {"width": width, "height": height, **best,
            "megapixels_per_second": round(width * height / best["seconds"] / 1e6, 1)}


def plot(rows, path):
    import matplotlib
    matplotlib.use("svg")
    import matplotlib.pyplot as plt
    figure, axes = plt.subplots(figsize=(6, 4))
    for kind in dict.fromkeys(row["scaling"] for row in rows):
        chosen = [row for row in rows if row["scaling"] == kind]
        axes.plot([r["ranks"] for r in chosen], [r["megapixels_per_second"] for r in chosen], marker="o", label=kind)
    axes.set_xlabel("ranks")
    axes.set_ylabel("Mpixel/s")
    axes.set_ylim(0)
    axes.legend()
    figure.savefig(path, bbox_inches="tight")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("--side", type=int, default=32768)
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 4, 8, 16])
    parser.add_argument("--gpus", type=int, default=0)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--plot")
    parser.add_argument("--folder", help="for the frame and the tables; best in memory", default="/dev/shm")
    arguments = parser.parse_args()
    rows = []

    def note(kind, row):
        rows.append({"scaling": kind, **row})
        print(json.dumps(rows[-1]), flush=True)

    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        path, side = os.path.join(folder, "frame.raw"), arguments.side
        write_noise(path, side, side)
        for ranks in arguments.ranks:
            note("strong", measure(arguments.program, arguments.repeat, ranks, path, side, side))
        for ranks in range(1, arguments.gpus + 1):
            note("GPUs", measure(arguments.program, arguments.repeat, ranks, path, side, side, "--gpu"))
        for ranks in arguments.ranks:
            height = side // 16 * ranks
            write_noise(path, side, height)
            note("weak", measure(arguments.program, arguments.repeat, ranks, path, side, height))
    if arguments.plot:
        plot(rows, arguments.plot)


if __name__ == "__main__":
    main()
