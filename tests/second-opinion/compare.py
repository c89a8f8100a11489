#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares labels with scipy.ndimage.label and component tables with OpenCV. Prints TAP.

usage: compare.py label-map LABEL_MAP MASK…  the labeller: label maps and tables
       compare.py element ELEMENT MASK…      `ELEMENT ! ccljson` in a pipeline: the JSON

Every mask with 4 and 8 connectivity. Labels must equal scipy's one for one; areas, boxes and
centroids must equal OpenCV's, whose labels are matched at each component's first pixel.
"""
import json
import os
import subprocess
import sys
import tempfile

try:
    import cv2
    import numpy
    from scipy import ndimage
except ImportError as missing:
    print(f"1..0 # SKIP Python module not installed: {missing.name}")
    sys.exit(0)

STRUCTURE = {4: ndimage.generate_binary_structure(2, 1), 8: ndimage.generate_binary_structure(2, 2)}
ROW = numpy.dtype([(name, "<u4") for name in ("label", "area", "x", "y", "width", "height")]
                  + [("cx", "<f8"), ("cy", "<f8")])


def opencv_table(mask, labels, connectivity):
    """OpenCV's statistics, sorted in the order of the given labels."""
    count, theirs, stats, centroids = cv2.connectedComponentsWithStats(mask, connectivity=connectivity)
    number, first = numpy.unique(labels.ravel(), return_index=True)
    order = theirs.ravel()[first[number > 0]]
    table = numpy.zeros(len(order), ROW)
    table["label"] = number[number > 0]
    for name, column in (("x", cv2.CC_STAT_LEFT), ("y", cv2.CC_STAT_TOP), ("width", cv2.CC_STAT_WIDTH),
                         ("height", cv2.CC_STAT_HEIGHT), ("area", cv2.CC_STAT_AREA)):
        table[name] = stats[order, column]
    table["cx"], table["cy"] = centroids[order].T
    assert len(table) == count - 1 == len(set(order.tolist())), "OpenCV and scipy disagree"
    return table


def difference(ours, theirs):
    """The first difference between two tables, or None. Centroids agree to 1e-12 relative."""
    if len(ours) != len(theirs):
        return f"{len(ours)} components, OpenCV has {len(theirs)}"
    for name in ROW.names:
        close = (numpy.isclose(ours[name], theirs[name], rtol=1e-12, atol=1e-12)
                 if name in ("cx", "cy") else ours[name] == theirs[name])
        if not close.all():
            row = int(numpy.argmin(close))
            return f"row {row}: {name} is {ours[name][row]!r}, OpenCV has {theirs[name][row]!r}"
    return None


def run_labeller(program, algorithm, mask, connectivity):
    height, width = mask.shape
    result = subprocess.run([program, algorithm, str(connectivity), str(width), str(height)],
                            input=mask.tobytes(), stdout=subprocess.PIPE, check=True).stdout
    count = int(numpy.frombuffer(result, "<u4", 1)[0])
    labels = numpy.frombuffer(result, "<u4", mask.size, 4).reshape(mask.shape)
    return labels, numpy.frombuffer(result, ROW, count, 4 + 4 * mask.size)


def run_element(element, path, connectivity):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "components.ndjson")
        subprocess.run(["gst-launch-1.0", "-q", "filesrc", f"location={path}", "!", "pngdec", "!",
                        "videoconvert", "!", "video/x-raw,format=GRAY8", "!", element,
                        f"connectivity={connectivity}", "max-components=1000000", "!", "ccljson",
                        "!", "filesink", f"location={out}"], check=True, timeout=120)
        with open(out, encoding="utf-8") as file:
            frame, = map(json.loads, file)
    assert frame["count"] == len(frame["components"]) and frame["truncated"] is False, frame["count"]
    table = numpy.array([tuple(c[name] for name in ROW.names) for c in frame["components"]], ROW)
    return (frame["height"], frame["width"]), table


def cases(mode, program, paths):
    """Yields the name of each comparison and the first difference, or None."""
    algorithms = {4: [""], 8: [""]}
    if mode == "label-map":
        for connectivity in algorithms:
            algorithms[connectivity] = subprocess.run(
                [program, "--algorithms", str(connectivity)], stdout=subprocess.PIPE, text=True,
                check=True).stdout.split()
            assert algorithms[connectivity], f"no algorithm is {connectivity}-connected"
    for path in paths:
        mask = cv2.imread(path, cv2.IMREAD_GRAYSCALE)
        for connectivity in (4, 8):
            labels, count = ndimage.label(mask, STRUCTURE[connectivity])
            table = opencv_table(mask, labels, connectivity)
            for algorithm in algorithms[connectivity]:
                name = f"{os.path.basename(path)}, {connectivity}-connected {algorithm}".strip()
                if mode == "element":
                    shape, ours = run_element(program, path, connectivity)
                    wrong = None if shape == mask.shape else f"frame is {shape}, not {mask.shape}"
                else:
                    map_, ours = run_labeller(program, algorithm, mask, connectivity)
                    wrong = (None if numpy.array_equal(map_, labels) else
                             f"{int((map_ != labels).sum())} pixels differ from scipy's labels")
                yield name, wrong or difference(ours, table)


def main():
    mode, program, paths = sys.argv[1], sys.argv[2], sys.argv[3:]
    number = 0
    for number, (name, wrong) in enumerate(cases(mode, program, paths), 1):
        print(f"not ok {number} {name}\n# {wrong}" if wrong else f"ok {number} {name}", flush=True)
    print(f"1..{number}")


main()
