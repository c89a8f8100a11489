#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Foreground masks and identities against truth, beside OpenCV's background models.

`./run quality [ARGUMENT…]` calls it. Draws the scenes of scenes.py, makes the masks of each frame
with the library in the elements' defaults (foreground=codebook) and with OpenCV's
models in their defaults, and prints the F-measure of each. OpenCV's masks are scored without and
with a 5×5 median filter, and the better figure counts. Shadows count as background in all masks.

Then it scores the identities of people who cross, in scenes of --crossings seeds: those of ccltrack, and
those of SORT, which gets the same components.

With --sequence it instead scores the masks of real sequences with published truth, in the same table.

With --kinds as the first argument it instead counts false alarms and misses in many kinds of scenes; see kinds/bench.py.

With --tracks it scores the tracks of videos with published boxes.

With --video, --truth and --score it also runs the demo on a video and scores the tracks.
"""
import argparse
import json
import pathlib
import shlex
import subprocess
import sys
import tempfile

import cv2
import gi
import numpy

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "second-opinion"))
import crossings  # noqa: E402
import scenes  # noqa: E402
import sequences  # noqa: E402
import tracks  # noqa: E402
from masks import Foreground, Score  # noqa: E402

PRODUCT = "cudaccl"
ELEMENT = "ccl foreground=codebook"
NAME_WIDTH = 18  # of the first column
MODEL_PROPERTIES = ("history", "var-threshold", "learning-rate", "mixtures", "shadows", "light", "hold")
OPENCV = {
    "MOG2": cv2.createBackgroundSubtractorMOG2,
    "KNN": cv2.createBackgroundSubtractorKNN,
    "CNT": cv2.bgsegm.createBackgroundSubtractorCNT,
    "GSOC": cv2.bgsegm.createBackgroundSubtractorGSOC,
    "LSBP": cv2.bgsegm.createBackgroundSubtractorLSBP,
    "MOG": cv2.bgsegm.createBackgroundSubtractorMOG,
}


def element_defaults():
    """The defaults of ccl's properties of the background model, as make-masks takes them."""
    Gst.init(None)
    element = Gst.ElementFactory.make("ccl")
    if not element:
        sys.exit("quality: GStreamer does not find the element ccl; is GST_PLUGIN_PATH set?")
    return {name.replace("-", "_"): float(element.find_property(name).default_value) for name in MODEL_PROPERTIES}


def judge(program, name, seed, methods, n_frames=scenes.N_FRAMES, first=scenes.FIRST_JUDGED):
    """The F-measure, precision and recall of each method's masks of one scene, from frame `first` on."""
    models = {method: OPENCV[method]() for method in methods}
    scores = {method: (Score(), Score()) for method in methods}  # without and with the median filter
    ours = Score()
    shape = (scenes.HEIGHT, scenes.WIDTH)
    with Foreground(program, "codebook", shape, chroma=1, **element_defaults()) as foreground:
        for t, (frame, truth) in enumerate(scenes.draw(name, seed, n_frames)):
            mask = foreground.mask(frame) == 255
            colours = cv2.cvtColor(frame, cv2.COLOR_YUV2BGR_I420)
            others = {method: model.apply(colours) for method, model in models.items()}
            if t < first:
                continue
            ours.add(mask, truth)
            for method, other in others.items():
                other = numpy.where(other == 255, 255, 0).astype(numpy.uint8)
                for score, image in zip(scores[method], (other, cv2.medianBlur(other, 5))):
                    score.add(image > 0, truth)
    best = {method: max(pair, key=lambda score: score.f_measure) for method, pair in scores.items()}
    return {method: {"f": score.f_measure, "precision": score.precision, "recall": score.recall}
            for method, score in ({PRODUCT: ours} | best).items()}


def best_other(row):
    """OpenCV's method with the greatest F-measure, or None."""
    return max((method for method in row if method != PRODUCT), key=lambda method: row[method]["f"], default=None)


def row_text(name, row, methods):
    line = f"{name:{NAME_WIDTH}}" + "".join(f"{row[method]['f']:9.3f}" for method in [PRODUCT, *methods])
    best = best_other(row)
    return line + (f"{row[PRODUCT]['f'] - row[best]['f']:+11.3f} {best}" if best else "")


def print_means(results, methods):
    rows = list(results.values())
    means = {method: sum(row[method]["f"] for row in rows) / len(rows) for method in [PRODUCT, *methods]}
    print(f"{'mean':{NAME_WIDTH}}" + "".join(f"{mean:9.3f}" for mean in means.values()))
    if methods:
        best = sum(row[best_other(row)]["f"] for row in rows) / len(rows)
        print(f"mean of OpenCV's best for each scene: {best:.3f}; difference {means[PRODUCT] - best:+.3f}")


def prepare_plots():
    import matplotlib
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "quality"


def plot(results, methods, path):
    """One group of bars for each difficulty."""
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(figsize=(12, 4.5))
    width = 0.85 / (len(methods) + 1)
    for i, method in enumerate([PRODUCT, *methods]):
        places = [group + (i - len(methods) / 2) * width for group in range(len(results))]
        axes.bar(places, [row[method]["f"] for row in results.values()], width, label=method)
    axes.set_xticks(range(len(results)), list(results))
    axes.set_ylabel("F-measure of the foreground mask")
    axes.set_ylim(0, 1)
    axes.legend(ncols=len(methods) + 1, loc="upper center", bbox_to_anchor=(0.5, 1.12), frameon=False)
    axes.grid(axis="y", alpha=0.3)
    axes.set_axisbelow(True)
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None})


def judge_crossings(seed, n_seeds):
    """Prints the scores of the identities for each seed and their mean, and returns them."""
    print(crossings.HEAD, flush=True)
    rows = {}
    for number in range(seed, seed + n_seeds):
        rows[number] = crossings.judge(number)
        print(crossings.text(f"seed {number}", rows[number]), flush=True)
    rows["mean"] = crossings.mean(list(rows.values()))
    print(crossings.text("mean", rows["mean"]), flush=True)
    return rows


def plot_crossings(results, path):
    """One group of bars for each measure, of the means."""
    from matplotlib import pyplot
    measures = {"mota": "MOTA", "idf1": "IDF1", "recall": "recall", "precision": "precision"}
    figure, axes = pyplot.subplots(figsize=(8, 3.5))
    width = 0.85 / len(crossings.METHODS)
    for i, method in enumerate(crossings.METHODS):
        places = [group + (i - (len(crossings.METHODS) - 1) / 2) * width for group in range(len(measures))]
        label = f"{method}: {results['mean'][method]['switches']:.1f} switches"
        axes.bar(places, [results["mean"][method][name] for name in measures], width, label=label)
    axes.set_xticks(range(len(measures)), list(measures.values()))
    axes.set_ylabel("people who cross, mean of the seeds")
    axes.set_ylim(0, 1)
    axes.legend(ncols=2, loc="upper center", bbox_to_anchor=(0.5, 1.22), frameon=False)
    axes.grid(axis="y", alpha=0.3)
    axes.set_axisbelow(True)
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None})


def judge_video(video, truth, score):
    """Runs the demo on the video and prints what the scorer says of its tracks."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, TESTS.parent / "pipelines" / "demo.py", video, folder],
                       check=True, stdout=subprocess.DEVNULL)
        for overlap in ("0.5", "0.3"):
            tracks = pathlib.Path(folder) / "components.ndjson"
            result = subprocess.run([*shlex.split(score), truth, tracks, overlap],
                                    check=True, stdout=subprocess.PIPE, text=True)
            print(f"{video}, overlap {overlap}: {result.stdout.strip()}", flush=True)


def judge_sequences(pairs, element, methods):
    """Prints the scores of each sequence and their mean, and returns them."""
    print_head("sequence", methods)
    rows = {}
    for video, truth in pairs:
        path = pathlib.Path(video).resolve()
        name = (path.parent if path.name in ("input", "video.mkv", "video.mp4") else path).name
        rows[name] = sequences.judge(video, truth, element, PRODUCT, {method: OPENCV[method]() for method in methods})
        print(row_text(name, rows[name], methods), flush=True)
    if len(rows) > 1:
        print_means(rows, methods)
    return rows


def print_head(first, methods):
    print(f"{first:{NAME_WIDTH}}" + "".join(f"{method:>9}" for method in [PRODUCT, *methods])
          + ("  less OpenCV's best" if methods else ""), flush=True)


def names_from(known):
    def parse(text):
        names = [name for name in text.split(",") if name]
        unknown = [name for name in names if name not in known]
        if unknown:
            raise argparse.ArgumentTypeError(f"{unknown[0]} is not one of {', '.join(known)}")
        return names
    return parse


def parse_arguments():
    parser = argparse.ArgumentParser(prog="./run quality", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--make-masks", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, default=1, help="of the drawn scenes (1)")
    parser.add_argument("--scenes", type=names_from(scenes.NAMES), default=",".join(scenes.NAMES),
                        help="names with commas between them; empty: none (%(default)s)")
    parser.add_argument("--methods", type=names_from(OPENCV), default=",".join(OPENCV),
                        help="OpenCV's models, with commas between them; LSBP is slow (%(default)s)")
    parser.add_argument("--json", default="quality.json", help="file for the figures (%(default)s)")
    parser.add_argument("--plot", default="quality.svg", help="file for the plot (%(default)s)")
    parser.add_argument("--crossings", type=int, default=3,
                        help="number of seeds, from --seed on, for the identities; 0: none (%(default)s)")
    parser.add_argument("--plot-crossings", default="quality-crossings.svg",
                        help="file for the plot of the identities (%(default)s)")
    parser.add_argument("--sequence", nargs=2, action="append", metavar=("INPUT", "TRUTH"),
                        help="a video or folder of numbered images, and its true masks; may be repeated")
    parser.add_argument("--element", default=ELEMENT, help="makes the masks of --sequence (%(default)s)")
    parser.add_argument("--tracks", nargs=2, action="append", metavar=("VIDEO", "TRUTH"),
                        help="a video and its true boxes, as the MOT challenge writes them; may be repeated")
    parser.add_argument("--video", help="a video with ground truth")
    parser.add_argument("--truth", help="its ground truth, as --score reads it")
    parser.add_argument("--score", metavar="COMMAND",
                        help="called with TRUTH, the lines of ccljson, and the least overlap")
    arguments = parser.parse_args()
    if len({bool(arguments.video), bool(arguments.truth), bool(arguments.score)}) != 1:
        parser.error("--video, --truth and --score go together")
    return arguments


def main():
    arguments = parse_arguments()
    methods, results, identities = arguments.methods, {}, {}
    if arguments.sequence:
        rows = judge_sequences(arguments.sequence, arguments.element, methods)
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({"element": arguments.element, "sequences": rows}, file, indent=1)
        print(f"written: {arguments.json}")
        return
    if arguments.tracks:
        print(tracks.HEAD, flush=True)
        for video, truth in arguments.tracks:
            print(tracks.judge(video, truth), flush=True)
        return
    prepare_plots()
    if arguments.scenes:
        print_head("scene", methods)
    for name in arguments.scenes:
        results[name] = judge(arguments.make_masks, name, arguments.seed, methods)
        print(row_text(name, results[name], methods), flush=True)
    if results:
        print_means(results, methods)
        plot(results, methods, arguments.plot)
        print(f"written: {arguments.plot}", flush=True)
    if arguments.crossings:
        identities = judge_crossings(arguments.seed, arguments.crossings)
        plot_crossings(identities, arguments.plot_crossings)
        print(f"written: {arguments.plot_crossings}", flush=True)
    if results or identities:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({"seed": arguments.seed, "scenes": results, "crossings": identities}, file, indent=1)
        print(f"written: {arguments.json}")
    if arguments.video:
        judge_video(arguments.video, arguments.truth, arguments.score)


if __name__ == "__main__":
    main()
