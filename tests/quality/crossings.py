# SPDX-License-Identifier: LGPL-2.1-or-later
"""Identities in drawn scenes of people who cross: ccltrack, and SORT on the same components."""
import json
import pathlib
import subprocess
import tempfile

import identity
import scenes
import sort

SCENE = "crossing"
METHODS = ("ccltrack", "without the mask", "SORT", "SORT, 15 frames")
FRAME_RATE = 25
PIPELINE = ("gst-launch-1.0 -q fdsrc ! rawvideoparse format=i420 width={width} height={height} framerate={rate}/1"
            " ! ccl foreground=codebook min-area={min_area} ! tee name=t"
            " t. ! queue ! ccljson ! filesink location={folder}/components"
            " t. ! queue ! ccltrack use-mask={use_mask} ! ccljson ! filesink location={folder}/tracks")


def read_frames(path):
    """The rows of each frame that ccljson wrote."""
    with open(path, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    return [line["components"] for line in lines if "frame" in line]


def box_of(row):
    return row["x"], row["y"], row["width"], row["height"]


def clip(box):
    x, y, width, height = box
    left, top = max(x, 0), max(y, 0)
    return (left, top, max(min(x + width, scenes.WIDTH) - left, 0.01),
            max(min(y + height, scenes.HEIGHT) - top, 0.01))


def run_elements(frames, use_mask):
    """The components of each frame, and its tracks."""
    with tempfile.TemporaryDirectory() as folder:
        command = PIPELINE.format(width=scenes.WIDTH, height=scenes.HEIGHT, rate=FRAME_RATE, folder=folder,
                                  min_area=scenes.WIDTH * scenes.HEIGHT // 1000, use_mask=use_mask)
        subprocess.run(command.split(), input=frames, check=True)
        return [read_frames(pathlib.Path(folder) / name) for name in ("components", "tracks")]


def judge(seed, n_frames=scenes.N_FRAMES, first=scenes.FIRST_JUDGED, least=0.5):
    """The scores of each method in the scene of that seed, from frame `first` on."""
    frames, truth = zip(*scenes.draw_boxes(SCENE, seed, n_frames))
    frames = b"".join(frame.tobytes() for frame in frames)
    components, tracked = run_elements(frames, "true")
    without_mask = run_elements(frames, "false")[1]
    boxes = [[box_of(row) for row in rows] for rows in components]
    tracks = [*([{row["id"]: box_of(row) for row in rows} for rows in result] for result in (tracked, without_mask)),
              *([{name: clip(box) for name, box in result.items()} for result in sort.track(boxes, max_age)]
                for max_age in (1, 15))]
    return {method: identity.score(truth[first:], result[first:], least)
            for method, result in zip(METHODS, tracks)}


def mean(rows):
    """The mean scores of several scenes."""
    return {method: {name: sum(row[method][name] for row in rows) / len(rows) for name in rows[0][method]}
            for method in METHODS}


def text(name, row):
    """A line for each method."""
    lines = []
    for method in METHODS:
        figures = "".join(f"{row[method][key]:10.3f}" for key in ("mota", "idf1", "recall", "precision"))
        lines.append(f"{name:8}{method:18}{figures}{row[method]['switches']:10.1f}")
    return "\n".join(lines)


HEAD = f"{'people who cross':26}" + "".join(
    f"{name:>10}" for name in ("MOTA", "IDF1", "recall", "precision", "switches"))
