#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pictures and clips of ccl-watch: their contents, after SIGKILL too, and how long they stay.
Prints TAP."""
import datetime
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/watch"))
import served  # noqa: E402
import tap  # noqa: E402

import cv2  # noqa: E402
import gi  # noqa: E402
import numpy  # noqa: E402

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402

if not shutil.which("ffprobe"):
    print("1..0 # SKIP ffmpeg is not installed")
    sys.exit()

# Still for 4 s, motion for 3 s, still again; a second has served.RATE frames.
STILL, MOTION = 4, 3
source = served.video("source", (STILL, False), (MOTION, True), (9, False))
endless = served.video("endless", (40, True))


def packets(video):
    """The encoded pictures in decoding order: digest and flags ("K_" for a key frame)."""
    result = subprocess.run(
        ["ffprobe", "-v", "error", "-of", "csv=p=0", "-show_data_hash", "md5", "-show_entries",
         "packet=flags,data_hash", video], capture_output=True, text=True, timeout=30, check=True)
    return result.stdout.split()


def times(video):
    """The pictures' times in decoding order, in periods of a frame after the first picture."""
    result = subprocess.run(["ffprobe", "-v", "error", "-of", "csv=p=0", "-show_entries", "packet=pts_time", video],
                            capture_output=True, text=True, timeout=30, check=True)
    seconds = [float(line.strip(",")) for line in result.stdout.split()]
    return [round((time - seconds[0]) * served.RATE) for time in seconds]


def decoded(video):
    """The number of frames that OpenCV, with FFmpeg's demuxer, decodes."""
    capture, n = cv2.VideoCapture(str(video)), 0
    while capture.read()[0]:
        n += 1
    return n


def files(folder, extension):
    return sorted(pathlib.Path(folder).glob(f"*/*.{extension}"))


def position(part, whole):
    """Where the pictures of `part` begin in `whole`, of which they must be consecutive. The first
    one may have other parameter sets and messages of the encoder."""
    at = whole.index(part[1]) - 1
    assert part[1:] == whole[at + 1:at + len(part)], "the clip has other pictures than the camera's"
    return at


def clip_holds_motion():
    """a clip is the camera's own stream, from the key frame before clip-pre until clip-post"""
    store = served.folder / "motion"
    with served.Served("--folder", store, "--set", "pace=true", "--set", "clips=true",
                       "--set", "clip-pre=1.5", "--set", "clip-post=1", f"a={source}") as server:
        tap.equal(server.process.wait(timeout=40), 0, "exit status")
        begin, = server.events("motion-begin")
        end, = server.events("motion-end")
    clip, = files(store, "mp4")
    tap.equal(clip.stem, begin["utc"][:23].replace(":", "-") + "Z", "name")
    part, whole = packets(clip), packets(source)
    assert "K" in part[0], "the first picture is no key frame"
    first = position(part, whole)
    last = first + len(part) - 1
    begin, end = (event["running_time"] / 1e9 * served.RATE for event in (begin, end))
    assert begin - 1.5 * served.RATE - served.KEY_FRAMES - 3 <= first <= begin - 1.5 * served.RATE + 3, \
        f"begins with picture {first}, motion with {begin}"
    assert last >= end + served.RATE - 4, f"ends with picture {last}, motion with {end}"
    assert last < len(whole) - 10, "the clip goes on until the end of the stream"
    tap.equal(decoded(clip), len(part), "decoded pictures")


def clip_holds_beginning():
    """the clip of a motion at the beginning of a file, whose first decoding times are before its time 0"""
    store, begins = served.folder / "beginning", served.video("begins", (3, True), (5, False))
    with served.Served("--folder", store, "--set", "pace=true", "--set", "clips=true", "--set", "clip-pre=5",
                       "--set", "clip-post=0", f"a={begins}") as server:
        tap.equal(server.process.wait(timeout=40), 0, "exit status")
        assert "incomplete" not in "".join(server.log), server.log
    clip, = files(store, "mp4")
    tap.equal(position(packets(clip), packets(begins)), 0, "the clip's first picture")
    tap.equal(times(clip), times(begins)[:len(times(clip))], "times")
    tap.equal(decoded(clip), len(packets(clip)), "decoded pictures")


def picture_holds_boxes():
    """a picture is taken at the beginning of motion, with boxes or without"""
    for boxes in "true", "false":
        store = served.folder / f"pictures {boxes}"
        with served.Served("--folder", store, "--set", f"picture-boxes={boxes}", "--set", "ccltrack.least-way=0",
                           "--set", "clips=false", f"a={source}") as server:
            tap.equal(server.process.wait(timeout=40), 0, "exit status")
        picture, = files(store, "jpg")
        image = cv2.imread(str(picture))
        tap.equal(image.shape, (served.HEIGHT, served.WIDTH, 3))
        # The video is gray, the boxes are not.
        colored = (image.max(axis=2).astype(int) - image.min(axis=2) > 60).sum()
        tap.equal(colored > 60, boxes == "true", f"{colored} colored pixels")
        tap.equal(files(store, "mp4"), [])


def clip_survives_kill():
    """a clip can be played after SIGKILL, until two seconds before it"""
    store = served.folder / "kill"
    with served.Served("--folder", store, "--set", "pace=true", "--set", "clips=true",
                       f"a={endless}") as server:
        served.wait_for(lambda: server.events("motion-begin"), "motion")
        time.sleep(5)
        server.stop(signal.SIGKILL)
    clip, = files(store, "mp4")
    part = packets(clip)
    tap.equal(position(part, packets(endless)), 0)
    assert len(part) >= 3 * served.RATE, f"{len(part)} pictures"
    assert decoded(clip) >= len(part) - 1, decoded(clip)


def clip_survives_term():
    """SIGTERM finishes the clip"""
    store = served.folder / "term"
    with served.Served("--folder", store, "--set", "pace=true", "--set", "clips=true",
                       f"a={endless}") as server:
        served.wait_for(lambda: server.events("motion-begin"), "motion")
        time.sleep(2.5)
        begin = time.monotonic()
        tap.equal(server.stop(), 0)
        assert time.monotonic() - begin < 5
    clip, = files(store, "mp4")
    part = packets(clip)
    position(part, packets(endless))
    assert len(part) >= 2 * served.RATE, f"{len(part)} pictures"
    tap.equal(decoded(clip), len(part), "decoded pictures")


def rtsp_clip():
    """the clip of an RTSP camera, which sends no decoding times"""
    camera = subprocess.Popen([sys.executable, ROOT / "tests/pipelines/rtsp-server.py", endless],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        uri = camera.stdout.readline().strip()
        if not uri:
            raise tap.Skip("gir1.2-gst-rtsp-server-1.0 is not installed")
        store = served.folder / "rtsp"
        with served.Served("--folder", store, "--set", "clips=true", "--set", "motion=components", f"a={uri}") as server:
            served.wait_for(lambda: server.events("motion-begin"), "motion")
            time.sleep(3)
            server.stop()
        clip, = files(store, "mp4")
        assert "K" in packets(clip)[0], "the first picture is no key frame"
        assert decoded(clip) >= 2 * served.RATE, decoded(clip)
    finally:
        camera.kill()
        camera.wait()


def fill(store, ages, days=None):
    """Files of 1000 bytes and these ages; their names are of these days, or in the order of the list."""
    paths = []
    for n, age in enumerate(ages):
        path = store / "a" / f"2026-01-{(days or range(1, 32))[n]:02}T00-00-00.000Z.{'mp4' if n % 2 else 'jpg'}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * 1000)
        os.utime(path, (time.time() - age,) * 2)
        paths.append(path)
    return paths


def retention(name, ages, settings, kept, days=None, unwritable=()):
    store = served.folder / name
    paths = fill(store, ages, days)
    for n in unwritable:
        paths[n].chmod(0o440)
    others = [store / "a" / "notes.txt", store / "other.jpg"]
    for other in others:
        other.write_text("x" * 5000)
        os.utime(other, (0, 0))
    config = served.folder / f"{name}.ini"
    config.write_text(f"[ccl-watch]\nfolder={store}\n{settings}\n")
    config.chmod(0o600)
    with served.Served("--config", config):
        served.wait_for(lambda: [path.exists() for path in paths] == kept,
                        f"{[path.exists() for path in paths]}, want {kept}", 5)
    assert all(other.exists() for other in others), "a file that is not ours was deleted"


def keeps_days():
    """files older than keep-days are deleted, others stay"""
    retention("days", [9 * 86400, 7.1 * 86400, 6.9 * 86400, 60], "keep-days=7",
              [False, False, True, True])


def keeps_bytes():
    """the oldest files are deleted until keep-bytes hold, but not one that is being written"""
    retention("bytes", [400, 300, 200, 100], "keep-bytes=2500", [False, False, True, True])
    retention("written", [1, 300, 200, 100], "keep-bytes=1500", [True, False, False, False])
    # A camera with a wrong clock names its files by other days.
    retention("clock", [400, 300, 200, 100], "keep-bytes=2500", [False, False, True, True], days=[28, 27, 2, 1])


def keeps_chosen():
    """a file that is kept stays, whatever its age and the size of all; after a restart, too; not any more when it is released"""
    retention("chosen", [9 * 86400, 8 * 86400, 60, 60], "keep-days=7", [True, False, True, True], unwritable=[0])
    retention("chosen bytes", [400, 300, 200, 100], "keep-bytes=1500", [False, True, False, False], unwritable=[1])
    store = served.folder / "released"
    paths = fill(store, [9 * 86400, 60])
    paths[0].chmod(0o440)
    config = served.folder / "released.ini"
    config.write_text(f"[ccl-watch]\nfolder={store}\nkeep-days=7\n")
    config.chmod(0o600)
    with served.Served("--config", config) as server:
        for path, body, status in ((paths[1], {"keep": True}, 204), (paths[0], {"keep": 1}, 400), (paths[0], b"{", 400),
                                   (store / "a" / "notes.txt", {"keep": True}, 404),
                                   (store / "a" / "2026-02-01T00-00-00.000Z.mp4", {"keep": True}, 404)):
            got, _, answer = server.request(f"/media/{path.relative_to(store)}", "PUT", body)
            tap.equal(got, status, f"{path}: {answer}")
            assert str(store) not in answer.decode(), answer
        tap.equal([path.stat().st_mode & 0o777 for path in paths], [0o440, 0o440], "modes")
        tap.equal(server.request(f"/media/{paths[0].relative_to(store)}", "DELETE")[0], 405)
        tap.equal(server.request(f"/media/{paths[0].relative_to(store)}", "PUT", {"keep": False})[0], 204)
    with served.Served("--config", config):
        served.wait_for(lambda: [path.exists() for path in paths] == [False, True], "the released file stays", 5)


def object_pictures():
    """an object has a picture of its best view, the square with a margin, which survives a restart"""
    folder = served.folder / "object pictures"
    words = "--folder", folder, "--set", "pace=true", "--set", "object-pictures=true", "--set", "ccl.min-area=20", f"a={source}"
    with served.Served(*words) as server:
        best = served.wait_for(lambda: [item["best_picture"] for item in server.get("/api/objects?camera=a")["objects"]
                                        if "best_picture" in item], "a picture of an object", 30)[0]
        status, headers, jpeg = server.request(best)
        tap.equal((status, headers["Content-Type"]), (200, "image/jpeg"))
        picture = cv2.imdecode(numpy.frombuffer(jpeg, numpy.uint8), cv2.IMREAD_GRAYSCALE)
        height, width = picture.shape
        assert 40 <= height <= 60 and 40 <= width <= 80, picture.shape
        assert picture[height // 2, width // 2] > 200 and picture[1, 1] < 150, picture
        lines = folder / "objects.ndjson"
        served.wait_for(lambda: lines.exists() and '"best":' in lines.read_text(), "the line of the object")
        tap.equal(server.request(best, "PUT", {"keep": True})[0], 204)
        server.stop()
    with served.Served(*words) as server:
        served.wait_for(lambda: best in [item.get("best_picture") for item in server.get("/api/objects?camera=a")["objects"]],
                        "the picture of the former run")


def probe(video, entries):
    words = f"ffprobe -v error -of json -show_entries {entries}".split()
    result = subprocess.run([*words, video], capture_output=True, text=True, timeout=30, check=True)
    tap.equal(result.stderr, "", "errors of ffprobe")
    return json.loads(result.stdout)


def check_object_clip(part, item, begin, source_video):
    """`part` has the object from the key frame a second before it to a second after it, as a clip of its own. `begin`
    is the time in the source and the UTC of the motion's beginning."""
    at, utc = begin
    appears, ends = (at + served_time(item[name]) - utc for name in ("begin", "end"))
    own, whole, when = packets(part), packets(source_video), times(source_video)
    first = position(own, whole)
    assert "K" in own[0], "the first picture is no key frame"
    starts, stops = when[first] / served.RATE, max(when[first:first + len(own)]) / served.RATE
    assert appears - 1 - served.KEY_FRAMES / served.RATE <= starts <= appears - 1 + 0.1, (starts, appears)
    assert ends + 0.9 <= stops <= ends + 2.2, (stops, ends)
    tap.equal(decoded(part), len(own), "decoded pictures")
    found = probe(part, "format=start_time,duration:packet=dts_time")
    tap.equal(float(found["packets"][0]["dts_time"]), 0, "the first decoding time")
    assert abs(float(found["format"]["duration"]) - len(own) / served.RATE) < 0.05, found["format"]


def served_time(utc):
    return datetime.datetime.fromisoformat(utc.replace("Z", "+00:00")).timestamp()


def clip_of_object():
    """objects of one motion have a clip each, cut at key frames, in bytes of the camera, which takes ranges"""
    two = served.video("two", (3, False), (2, True), (3, False), (2, True), (60, False))
    store = served.folder / "objects' clips"
    part = served.folder / "part.mp4"
    with served.Served("--folder", store, "--set", "pace=true", "--set", "clips=true", "--set", "ccl.quiet-time=5",
                       "--set", "ccltrack.lost-time=1", f"a={two}", f"b={served.video('rest', (1, False))}",
                       "--set", "loop=false") as server:
        begin, = served.wait_for(lambda: server.events("motion-begin"), "motion")
        growing = served.wait_for(lambda: [item for item in server.get("/api/objects?camera=a")["objects"] if "object_clip" in item],
                                  "an object", 40)
        tap.equal(server.request(growing[0]["object_clip"])[0], 200, "a clip that is being written")
        served.wait_for(lambda: server.events("motion-end"), "the end of the motion", 40)
        objects = server.get("/api/objects?camera=a")["objects"]
        assert len(objects) >= 2, objects
        # At its end, after clip-post, the clip gets another head.
        states = []
        served.wait_for(lambda: states.append(server.request(objects[0]["clip"])[2]) or time.sleep(3) or states[-2:-1] == states[-1:],
                        "the end of the clip", 60)
        for item in objects:
            status, headers, body = server.request(item["object_clip"])
            tap.equal((status, headers["Content-Type"], int(headers["Content-Length"])), (200, "video/mp4", len(body)))
            part.write_bytes(body)
            check_object_clip(part, item, (begin["running_time"] / 1e9, served_time(begin["utc"])), two)
            pieces = [server.request(item["object_clip"], Range=f"bytes={at}-{at + 6999}") for at in range(0, len(body), 7000)]
            tap.equal({status for status, _, _ in pieces}, {206})
            tap.equal(b"".join(piece for _, _, piece in pieces), body, "ranges")
        whole = objects[0]["clip"]
        assert len(server.request(whole)[2]) > 2 * len(body), "the whole motion"
        for query, status in (("from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z", 404), ("from=2126-01-01T00:00:00Z&to=2126-01-02T00:00:00Z", 404),
                              ("from=2026-01-01T00:00:00Z", 400), ("to=2026-01-01T00:00:00Z", 400), ("from=x&to=y", 400),
                              ("from=2126-01-01T00:00:00Z&to=2026-01-01T00:00:00Z", 400)):
            tap.equal(server.request(f"{whole}?{query}")[0], status, query)
        tap.equal(len(server.request(f"{whole}?from=2000-01-01T00:00:00Z&to=2126-01-01T00:00:00Z")[2]) > 2 * len(body), True, "all of it")
        (store / "a" / "2026-01-01T00-00-00.000Z.mp4").write_bytes(b"no clip")
        tap.equal(server.request("/media/a/2026-01-01T00-00-00.000Z.mp4?from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z")[2], b"no clip")


def write_slow_clip(clip):
    """A clip of one frame per second, with a key frame every four seconds, that began with the year 2026."""
    Gst.init(None)
    pipeline = Gst.parse_launch(
        "videotestsrc pattern=ball num-buffers=20 ! video/x-raw,format=I420,width=64,height=48,framerate=1/1 ! x264enc key-int-max=4 "
        "tune=zerolatency option-string=scenecut=0 ! h264parse ! mp4mux name=muxer fragment-duration=1000 ! filesink name=file")
    pipeline.get_by_name("file").set_property("location", str(clip))
    title = Gst.TagList.new_from_string('taglist,title=(string)"2026-01-01T00:00:00.000000Z"')
    pipeline.get_by_name("muxer").merge_tags(title, Gst.TagMergeMode.REPLACE)
    pipeline.set_state(Gst.State.PLAYING)
    message = pipeline.get_bus().timed_pop_filtered(30 * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)
    assert message and message.type == Gst.MessageType.EOS, message


def part_of_slow_camera():
    """a part is found in the clip of a camera that sends a frame per second, whose fragments have one frame each"""
    clip = served.folder / "slow" / "a" / "2026-01-01T00-00-00.000Z.mp4"
    clip.parent.mkdir(parents=True)
    write_slow_clip(clip)
    part = served.folder / "slow part.mp4"
    with served.Served("--folder", clip.parents[1], f"a={source}") as server:
        part.write_bytes(server.request("/media/a/2026-01-01T00-00-00.000Z.mp4?from=2026-01-01T00:00:09Z&to=2026-01-01T00:00:13Z")[2])
    tap.equal(packets(part), packets(clip)[8:13], "from the key frame before 9 s to 13 s")


sys.exit(tap.run(clip_of_object, part_of_slow_camera, object_pictures, keeps_chosen, clip_holds_motion, clip_holds_beginning, picture_holds_boxes, clip_survives_kill, clip_survives_term,
                 rtsp_clip, keeps_days, keeps_bytes))
