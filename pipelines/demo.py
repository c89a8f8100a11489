#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Follows what moves in a video. Writes one JSON object per frame and event, the video with the
identity, box and trail of each track, its frame with the largest foreground, a table of the tracks
and a plot of their number over time.

usage: demo.py VIDEO OUT_FOLDER          (`./run demo [VIDEO]` calls it with the plugin built)

Uses cudaccl where there is a CUDA device, otherwise ccl. Both learn a model of the background from
the frames and label the pixels that differ from it; components of less than 1/800 of the frame's
pixels are removed.
"""
import csv
import json
import os
import statistics
import sys
import time

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402

# async=false: the encoder reads many frames before it writes its first one; the pipeline's preroll
# must not wait for that.
PIPELINE = ("uridecodebin name=decoder ! videoconvert name=converter"
            " ! {labeller} name=labeller foreground=codebook ! ccltrack"
            " ! tee name=tracked tracked. ! queue ! ccljson ! filesink name=json async=false"
            " tracked. ! queue ! ccloverlay trail-length=50 ! videoconvert"
            " ! video/x-raw,format=I420 ! videocrop name=even ! x264enc speed-preset=veryfast"
            " pass=quant quantizer=23 ! mp4mux ! filesink name=mp4 async=false")

SHOWN_TRACKS = 40  # lines of the table that are printed; the file has all


def fail(message):
    sys.exit("demo: " + " ".join(message.split()))


def choose_labeller():
    """Returns cudaccl where there is a CUDA device, otherwise ccl."""
    cudaccl = Gst.ElementFactory.make("cudaccl")
    if cudaccl:
        found = cudaccl.set_state(Gst.State.READY) != Gst.StateChangeReturn.FAILURE
        cudaccl.set_state(Gst.State.NULL)
        if found:
            return "cudaccl"
    return "ccl"


class Progress:
    """Prints the number of processed frames, their total and frames per second: on a terminal one
    line that is overwritten, elsewhere a line every five seconds."""

    def __init__(self, labeller):
        self.pad = labeller.get_static_pad("sink")
        self.terminal = sys.stdout.isatty()
        self.period = 0.2 if self.terminal else 5.0
        self.frames = 0
        self.start = self.shown = time.monotonic()
        labeller.get_static_pad("src").add_probe(Gst.PadProbeType.BUFFER, self.on_frame)

    def on_frame(self, pad, info):
        self.frames += 1
        return Gst.PadProbeReturn.OK

    def total(self):
        """The number of frames of the video, from its duration and frame rate, or None."""
        known, duration = self.pad.peer_query_duration(Gst.Format.TIME)
        caps = self.pad.get_current_caps()
        if not known or duration < 0 or not caps:
            return None
        _, rate, per = caps.get_structure(0).get_fraction("framerate")
        return round(duration * rate / (per * Gst.SECOND)) or None

    def seconds(self):
        return time.monotonic() - self.start

    def show(self, last=False):
        now = time.monotonic()
        if not last and (now - self.shown < self.period or self.frames == 0):
            return
        self.shown = now
        total = self.frames if last else self.total()
        line = f"{self.frames} of {total or '?'} frames, {self.frames / self.seconds():.1f} frames/s"
        end = "\r" if self.terminal and not last else "\n"
        print(line.ljust(50) if self.terminal else line, end=end, flush=True)


def fit_to_frame(pipeline):
    """Sets the properties that depend on the size of the frames: min-area, 1/800 of its pixels, and the
    cropping of an odd width or height by one pixel, because the H.264 encoder needs even sizes."""
    labeller, crop = pipeline.get_by_name("labeller"), pipeline.get_by_name("even")

    def on_event(pad, info):
        event = info.get_event()
        if event.type == Gst.EventType.CAPS:
            size = event.parse_caps().get_structure(0)
            width, height = (size.get_int(name).value for name in ("width", "height"))
            if pad.get_parent_element() == labeller:
                labeller.set_property("min-area", width * height // 800)
            else:
                crop.set_property("right", width % 2)
                crop.set_property("bottom", height % 2)
        return Gst.PadProbeReturn.OK

    for element in (labeller, crop):
        element.get_static_pad("sink").add_probe(Gst.PadProbeType.EVENT_DOWNSTREAM, on_event)


def write_picture(video, time, png):
    """Writes the frame of a video that is shown at that time in nanoseconds."""
    player = Gst.ElementFactory.make("playbin")
    player.set_property("uri", Gst.filename_to_uri(os.path.abspath(video)))
    player.set_property("video-sink", Gst.ElementFactory.make("fakesink"))
    sample = None
    player.set_state(Gst.State.PAUSED)
    if player.get_state(10 * Gst.SECOND)[0] == Gst.StateChangeReturn.SUCCESS:
        player.seek_simple(Gst.Format.TIME, Gst.SeekFlags.FLUSH | Gst.SeekFlags.ACCURATE, time)
        player.get_state(10 * Gst.SECOND)
        sample = player.emit("convert-sample", Gst.Caps.from_string("image/png"))
    player.set_state(Gst.State.NULL)
    if not sample:
        fail(f"{video} does not play")
    picture = sample.get_buffer()
    with open(png, "wb") as file:
        file.write(picture.extract_dup(0, picture.get_size()))


def list_tracks(frames, times):
    """The identity, first time and last time in seconds of each track, in the order of identities."""
    first, last = {}, {}
    for frame, time_of_frame in zip(frames, times):
        for track in frame["components"]:
            first.setdefault(track["id"], time_of_frame)
            last[track["id"]] = time_of_frame
    return [(identity, first[identity], last[identity]) for identity in sorted(first)]


def write_tracks(tracks, path):
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("id", "first_seconds", "last_seconds"))
        writer.writerows((identity, f"{first:.3f}", f"{last:.3f}") for identity, first, last in tracks)


def print_tracks(tracks):
    print(f"tracks: {len(tracks)}")
    if tracks:
        print("    id   from s     to s")
    for identity, first, last in tracks[:SHOWN_TRACKS]:
        print(f"{identity:6} {first:8.1f} {last:8.1f}")
    if len(tracks) > SHOWN_TRACKS:
        print(f"   ... and {len(tracks) - SHOWN_TRACKS} more")


def plot_count(times, counts, png):
    """Writes a plot of the number of tracks over time; returns whether that was possible."""
    try:
        import matplotlib
    except ImportError:
        print("no plot: matplotlib is not installed")
        return False
    matplotlib.use("Agg")
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(figsize=(8, 3), layout="constrained")
    axes.step(times, counts, where="post", linewidth=1)
    axes.set(xlabel="time in s", ylabel="number of tracks", ylim=(0, max(counts) + 1))
    axes.grid(alpha=0.3)
    figure.savefig(png, dpi=100)
    return True


def run(pipeline, progress, video):
    """Plays to the end; stops the program with one line if that fails."""
    bus = pipeline.get_bus()
    no_video = []

    def on_no_more_pads(decoder):
        if not pipeline.get_by_name("converter").get_static_pad("sink").is_linked():
            no_video.append(True)

    pipeline.get_by_name("decoder").connect("no-more-pads", on_no_more_pads)
    pipeline.set_state(Gst.State.PLAYING)
    try:
        while True:
            message = bus.timed_pop_filtered(
                100 * Gst.MSECOND, Gst.MessageType.ERROR | Gst.MessageType.EOS)
            if no_video:
                fail(f"{video} holds no video that GStreamer can decode")
            if message and message.type == Gst.MessageType.ERROR:
                fail(f"{video}: {message.parse_error()[0].message}")
            if message:
                break
            progress.show()
    finally:
        seconds = progress.seconds()
        pipeline.set_state(Gst.State.NULL)
    return seconds


def main():
    if len(sys.argv) != 3:
        fail("usage: demo.py VIDEO OUT_FOLDER")
    video, folder = sys.argv[1], sys.argv[2]
    if not os.path.isfile(video):
        fail(f"no such video: {video}")
    os.makedirs(folder, exist_ok=True)
    written = [os.path.abspath(os.path.join(folder, name)) for name in
               ("components.ndjson", "overlay.mp4", "overlay.png", "tracks.csv", "count.png")]
    out, overlay, picture, table, plot = written

    Gst.init(None)
    for element in ("ccl", "ccltrack", "ccljson", "ccloverlay", "x264enc"):
        if not Gst.ElementFactory.find(element):
            fail(f"GStreamer does not find the element {element}")
    name = choose_labeller()
    pipeline = Gst.parse_launch(PIPELINE.format(labeller=name))
    pipeline.get_by_name("decoder").set_property("uri", Gst.filename_to_uri(os.path.abspath(video)))
    pipeline.get_by_name("json").set_property("location", out)
    pipeline.get_by_name("mp4").set_property("location", overlay)
    fit_to_frame(pipeline)
    print(f"{video}: labelling on {'the GPU (cudaccl)' if name == 'cudaccl' else 'the CPU (ccl)'}",
          flush=True)

    progress = Progress(pipeline.get_by_name("labeller"))
    seconds = run(pipeline, progress, video)
    with open(out, encoding="utf-8") as lines:
        frames = [line for line in map(json.loads, lines) if "frame" in line]
    if not frames:
        fail(f"{video} gave no frame")
    start = frames[0]["pts"] or 0
    times = [((frame["pts"] or 0) - start) / Gst.SECOND for frame in frames]
    counts = [frame["count"] for frame in frames]
    areas = [sum({c["label"]: c["area"] for c in frame["components"]}.values()) for frame in frames]
    largest = frames[areas.index(max(areas))]
    write_picture(overlay, (largest["pts"] or 0) - start, picture)
    tracks = list_tracks(frames, times)
    write_tracks(tracks, table)
    progress.show(last=True)
    print_tracks(tracks)
    if not plot_count(times, counts, plot):
        written.remove(plot)
    print(f"frames: {len(counts)}")
    print(f"tracks in a frame: min {min(counts)}, median {statistics.median(counts):g}, max {max(counts)}")
    print(f"frames a second: {len(counts) / seconds:.1f} (decoding, background, labelling, tracking, "
          "drawing, encoding)")
    for path in written:
        print(f"written: {path}")


try:
    main()
except KeyboardInterrupt:
    fail("stopped")
