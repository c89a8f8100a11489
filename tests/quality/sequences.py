# SPDX-License-Identifier: LGPL-2.1-or-later
"""Foreground masks of real sequences with published truth: the element's beside OpenCV's models.

A sequence is a video or a folder of numbered images, and its truth the same in grey: 255 object, 85 and
170 not scored, all other values background. Beside the truth, as the data set CDnet 2014 has them, may
stand temporalROI.txt with the first and the last frame that count, and ROI.bmp, whose white pixels count.
"""
import pathlib
import re

import cv2
import gi
import numpy

gi.require_version("Gst", "1.0")
gi.require_version("GstApp", "1.0")
gi.require_version("GstCcl", "1.0")
from gi.repository import Gst, GstApp, GstCcl  # noqa: E402,F401 (GstApp gives the methods of appsrc and appsink)

from masks import Score  # noqa: E402

FRAME_RATE = 25
NOT_SCORED = (85, 170)


def read_frames(path, flags=cv2.IMREAD_COLOR):
    """Yields (number, image) of each frame, from 1."""
    path = pathlib.Path(path)
    if path.is_dir():
        files = {int(match[1]): file for file in path.iterdir()
                 if (match := re.search(r"(\d+)\.(?:png|jpe?g|bmp|pgm|tiff?)$", file.name, re.I))}
        if not files:
            raise FileNotFoundError(f"{path}: no numbered images")
        for number in sorted(files):
            yield number, cv2.imread(str(files[number]), flags)
        return
    video, number = cv2.VideoCapture(str(path)), 0
    while (read := video.read())[0]:
        number += 1
        yield number, read[1] if flags == cv2.IMREAD_COLOR else read[1][..., 0]
    if number == 0:
        raise FileNotFoundError(f"{path}: no video that OpenCV reads")


def read_limits(truth):
    """The first and the last frame that count, and the image of the pixels that count or None."""
    folder = pathlib.Path(truth).parent
    first, last, region = 1, float("inf"), None
    if (file := folder / "temporalROI.txt").exists():
        first, last = map(int, file.read_text().split()[:2])
    if (file := folder / "ROI.bmp").exists():
        region = cv2.imread(str(file), cv2.IMREAD_GRAYSCALE) > 127
    return first, last, region


class Element:
    """Makes masks with a GStreamer element, which gets frames in I420."""

    def __init__(self, description, shape):
        Gst.init(None)
        self.shape = shape
        height, width = shape
        self.pipeline = Gst.parse_launch(
            f"appsrc name=source format=time caps=video/x-raw,format=I420,width={width},height={height},"
            f"framerate={FRAME_RATE}/1 ! {description} attach-mask=true ! appsink name=sink sync=false")
        self.source, self.sink = (self.pipeline.get_by_name(name) for name in ("source", "sink"))
        self.pipeline.set_state(Gst.State.PLAYING)
        self.n_frames = 0

    def apply(self, image):
        """The mask of the next frame, an image in BGR: 255 is foreground."""
        buffer = Gst.Buffer.new_wrapped(self._to_i420(image))
        buffer.pts = self.n_frames * Gst.SECOND // FRAME_RATE
        buffer.duration = Gst.SECOND // FRAME_RATE
        self.n_frames += 1
        self.source.push_buffer(buffer)
        sample = self.sink.pull_sample()
        if not sample:
            message = self.pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
            raise RuntimeError(message.parse_error()[0].message if message else "no frame came out")
        mask = GstCcl.buffer_get_ccl_meta(sample.get_buffer()).read_mask()
        return numpy.frombuffer(mask.get_data(), numpy.uint8).reshape(self.shape)

    def _to_i420(self, image):
        """The bytes of an I420 frame as GStreamer lays it out: rows of planes padded to four bytes."""
        height, width = self.shape
        padded = cv2.copyMakeBorder(image, 0, height % 2, 0, width % 2, cv2.BORDER_REPLICATE)
        rows, columns = padded.shape[:2]
        data = cv2.cvtColor(padded, cv2.COLOR_BGR2YUV_I420).reshape(-1)
        luma, chroma = data[:rows * columns].reshape(rows, columns), data[rows * columns:]
        planes = [luma[:height, :width], *chroma.reshape(2, rows // 2, columns // 2)]
        return b"".join(numpy.pad(plane, ((0, plane.shape[0] % 2 if i == 0 else 0), (0, -plane.shape[1] % 4))).tobytes()
                        for i, plane in enumerate(planes))

    def close(self):
        self.pipeline.set_state(Gst.State.NULL)


def judge(video, truth, element, product, models):
    """The F-measure, precision and recall of each method: of the element, and of OpenCV's models with the
    better of no filter and a 5×5 median filter."""
    first, last, region = read_limits(truth)
    truths = dict(read_frames(truth, cv2.IMREAD_GRAYSCALE))
    ours, scores = Score(), {name: (Score(), Score()) for name in models}
    labeller = None
    for number, image in read_frames(video):
        if number > last:
            break
        labeller = labeller or Element(element, image.shape[:2])
        mask = labeller.apply(image) == 255
        others = {name: model.apply(image) for name, model in models.items()}
        if number < first or number not in truths:
            continue
        wanted = truths[number]
        height, width = (min(sizes) for sizes in zip(wanted.shape, mask.shape))
        wanted = wanted[:height, :width]
        scored = ~numpy.isin(wanted, NOT_SCORED)
        if region is not None:
            scored &= region[:height, :width]
        ours.add(mask[:height, :width] & scored, (wanted == 255) & scored)
        for name, other in others.items():
            other = numpy.where(other == 255, 255, 0).astype(numpy.uint8)
            for score, filtered in zip(scores[name], (other, cv2.medianBlur(other, 5))):
                score.add((filtered[:height, :width] > 0) & scored, (wanted == 255) & scored)
    labeller.close()
    best = {name: max(pair, key=lambda score: score.f_measure) for name, pair in scores.items()}
    return {name: {"f": score.f_measure, "precision": score.precision, "recall": score.recall}
            for name, score in ({product: ours} | best).items()}
