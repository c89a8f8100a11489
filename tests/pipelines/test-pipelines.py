#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs every script of pipelines/ that can run here and checks the JSON. Prints TAP.

usage: test-pipelines.py MAKE_MASKS [FOLDER_OF_THE_SIMULATED_DRIVER]
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/runner"))
import boxes  # noqa: E402
import foreground  # noqa: E402
import tap  # noqa: E402

MAKE_MASKS = sys.argv[1]
if len(sys.argv) > 2:
    os.environ["LD_LIBRARY_PATH"] = sys.argv[2]
scratch = tempfile.TemporaryDirectory(prefix="pipelines test ")
folder = pathlib.Path(scratch.name)
WIDTH, HEIGHT, FRAMES = 323, 241, 30


def launch(*words):
    subprocess.run(["gst-launch-1.0", "-q", *words], check=True, timeout=60)


def pipeline(name, source, check=True):
    out = folder / f"{name}.ndjson"
    result = subprocess.run([ROOT / "pipelines" / name, source, out], check=False, timeout=120,
                            stderr=subprocess.PIPE, text=True)
    if check:
        tap.equal(result.returncode, 0, f"exit status ({result.stderr})")
        return [json.loads(line) for line in out.read_text().splitlines()]
    return result


def tables(frames):
    return [[tuple(c[key] for key in ("area", "x", "y", "width", "height"))
             for c in frame["components"]] for frame in frames]


def ball():
    video = folder / "a ball.avi"
    if not video.exists():
        launch(*f"videotestsrc pattern=ball num-buffers={FRAMES} ! video/x-raw,width={WIDTH},height={HEIGHT},"
               "framerate=30/1 ! jpegenc ! avimux ! filesink".split(), f"location={video}")
    return video


def has_element(name):
    return subprocess.run(["gst-inspect-1.0", name], check=False, capture_output=True).returncode == 0


def needs_device():
    """Skips without the element or a device for it."""
    if not has_element("cudaccl"):
        raise tap.Skip("built without cudaccl")
    frame = subprocess.run("gst-launch-1.0 -q videotestsrc num-buffers=1 ! video/x-raw,format=GRAY8"
                           " ! cudaccl ! fakesink".split(), check=False, capture_output=True, text=True)
    if frame.returncode != 0:
        reason = re.search("There is no .* on this machine", frame.stderr)
        assert reason, frame.stderr
        raise tap.Skip(reason[0])


def check_video(name):
    frames = pipeline(name, ball())
    want = [foreground.components(mask, 0, 200)
            for mask in foreground.learnt_masks(MAKE_MASKS, ball(), WIDTH, HEIGHT, 30)]
    tap.equal(len(want), FRAMES, "frames of the expectation")
    assert any(want), "the ball was never found"
    tap.equal(tables(frames), want)


def video_ccl():
    """video-ccl: the components that scipy finds in each mask"""
    check_video("video-ccl")


def video_cudaccl():
    """video-cudaccl: the components that scipy finds in each mask"""
    needs_device()
    check_video("video-cudaccl")


def check_overlay(script, min_area):
    launch(*f"videotestsrc pattern=ball num-buffers={FRAMES} ! video/x-raw,width=320,height=240,"
           "framerate=30/1 ! jpegenc ! avimux ! filesink".split(), f"location={folder / 'even.avi'}")
    video = folder / "over lay.mp4"
    result = subprocess.run([ROOT / "pipelines" / script, folder / "even.avi", video],
                            check=False, timeout=120, stderr=subprocess.PIPE, text=True)
    tap.equal(result.returncode, 0, f"exit status ({result.stderr})")
    keys = ("area", "x", "y", "width", "height")
    frames = [{"components": [dict(zip(keys, row)) for row in foreground.components(mask, 0, min_area)]}
              for mask in foreground.learnt_masks(MAKE_MASKS, folder / "even.avi", 320, 240, 30)]
    boxes.check_video(video, frames)


def overlay():
    """overlay-ccl: the boxes of the components that scipy finds in each mask, on the video"""
    check_overlay("overlay-ccl", 200)


def combiner():
    """combiner-ccl: the boxes of the components that scipy finds in each mask, on the video"""
    check_overlay("combiner-ccl", 50)


def png_masks():
    """png-masks-ccl: a folder of masks of several sizes, in the order of names"""
    import cv2
    masks = sorted((ROOT / "tests/data/masks").glob("*.png"))
    frames = pipeline("png-masks-ccl", ROOT / "tests/data/masks")
    tap.equal(len(frames), len(masks), "frames")
    for path, frame, table in zip(masks, frames, tables(frames)):
        mask = cv2.imread(str(path), cv2.IMREAD_GRAYSCALE)
        tap.equal((frame["height"], frame["width"]), mask.shape, f"{path.name}: size")
        want = foreground.components(mask, 0, 1)
        assert table == want, f"{path.name}: {len(table)} components, scipy has {len(want)}"


def no_masks():
    """png-masks-ccl: a folder without masks is refused with one line"""
    result = pipeline("png-masks-ccl", folder, check=False)
    assert result.returncode != 0, "exit status 0"
    tap.equal(result.stderr, f"png-masks-ccl: no *.png in {folder}\n")


def h264():
    """h264-cudaccl: decoded and labelled on the GPU"""
    needs_device()
    if not has_element("nvh264dec"):
        raise tap.Skip("no nvh264dec here")
    video = folder / "ball.mp4"
    subprocess.run([ROOT / "tests/gpu/make-h264", ball(), video], check=True, timeout=60)
    frames = pipeline("h264-cudaccl", video)
    tap.equal(len(frames), FRAMES, "frames")
    for frame in frames:  # a white ball on black
        tap.equal((frame["width"], frame["height"], frame["count"]), (WIDTH, HEIGHT, 1))


STREET = "/usr/share/doc/opencv-doc/examples/data/vtest.avi"


def needs_street():
    if not pathlib.Path(STREET).exists():
        raise tap.Skip("opencv-doc is not installed")


def street_tables():
    """The components of the street video, read from the file, with the cameras' settings."""
    out = folder / "street.ndjson"
    labeller = re.search(r"! (ccl .*?) !", (ROOT / "pipelines/rtsp-ccl").read_text())[1]
    launch("filesrc", f"location={STREET}", "!", "decodebin", "!", "videoconvert", "!",
           *labeller.split(), "!", "ccljson", "!", "filesink", f"location={out}")
    return tables(json.loads(line) for line in out.read_text().splitlines())


def rtsp_ccl():
    """rtsp-ccl: from an RTSP server the same components as from the file it serves"""
    needs_street()
    server = subprocess.Popen([sys.executable, ROOT / "tests/pipelines/rtsp-server.py", STREET],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        url = server.stdout.readline().strip()
        if not url and "GstRtspServer not available" in server.communicate(timeout=10)[1]:
            raise tap.Skip("gir1.2-gst-rtsp-server-1.0 is not installed")
        out = folder / "rtsp.ndjson"
        player = subprocess.Popen([ROOT / "pipelines/rtsp-ccl", url, out], stderr=subprocess.PIPE,
                                  text=True)
        time.sleep(8)  # of ten frames a second
        player.send_signal(signal.SIGINT)
        errors = player.communicate(timeout=30)[1]
        tap.equal(player.returncode, 0, f"exit status ({errors})")
    finally:
        server.kill()
        server.communicate()
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(rows) >= 30, f"{len(rows)} frames in 8 seconds"
    got = tables(rows)
    assert any(got), "nothing moved"
    # The model counts time stamps, which a busy machine's jitter buffer moves: only frames before such a one are the same.
    times = [row["pts"] / 1e8 for row in rows]
    late = [i for i in range(1, len(times)) if round(times[i] - times[i - 1]) != 1]
    same = min(late, default=len(got))
    tap.equal(got[:same], street_tables()[:same])


def rtsp_camera_goes():
    """rtsp-ccl: when the server dies, the results are in the file, and the status is 1"""
    needs_street()
    with subprocess.Popen([sys.executable, ROOT / "tests/pipelines/rtsp-server.py", STREET],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        url = server.stdout.readline().strip()
        if not url:
            raise tap.Skip("gir1.2-gst-rtsp-server-1.0 is not installed")
        out = folder / "rtsp gone.ndjson"
        player = subprocess.Popen([ROOT / "pipelines/rtsp-ccl", url, out], stderr=subprocess.PIPE, text=True)
        end = time.monotonic() + 20
        while not out.exists() or out.read_text().count("\n") < 5:  # each line is written at once
            assert time.monotonic() < end, "no lines"
            time.sleep(0.1)
        server.kill()
        errors = player.communicate(timeout=30)[1]
    tap.equal(player.returncode, 1, f"exit status ({errors})")
    assert errors.strip(), "no message"


def usage():
    """every script without arguments: its usage, status 2"""
    for path in (ROOT / "pipelines").iterdir():
        if path.suffix == "":
            result = subprocess.run([path], stderr=subprocess.PIPE, text=True, timeout=10)
            tap.equal((path.name, result.returncode), (path.name, 2))
            assert result.stderr.startswith("usage: "), result.stderr


def v4l2_ccl():
    """v4l2-ccl: labels what its source gives, and tells in a line that there is no camera"""
    result = pipeline("v4l2-ccl", "/dev/video-nowhere", check=False)
    assert result.returncode != 0, "exit status 0"
    assert "/dev/video-nowhere" in result.stderr, result.stderr
    # There is no camera here, so a test picture stands for it.
    script = (ROOT / "pipelines/v4l2-ccl").read_text()
    assert 'v4l2src device="$1"' in script
    # It ends by itself, unlike a camera.
    script = re.sub(r'exec .*until-stopped" \\\n', "exec", script)
    script = script.replace('v4l2src device="$1"', "videotestsrc num-buffers=20 pattern=ball motion=sweep")
    out = folder / "v4l2.ndjson"
    subprocess.run(["sh", "-c", script, "v4l2-ccl", "", out], check=True, stderr=subprocess.DEVNULL, timeout=60)
    frames = [json.loads(line) for line in out.read_text().splitlines()]
    tap.equal(len(frames), 20, "frames")
    tap.equal(frames[0]["count"], 0, "components before anything moved")
    assert frames[-1]["count"] >= 1, "the moving ball was not found"


def warnings():
    """no script of pipelines/ hides the warnings of gst-launch"""
    for path in (ROOT / "pipelines").iterdir():
        if path.is_file():
            assert "gst-launch-1.0 -q" not in path.read_text(), path.name


def every_script():
    """every script of pipelines/ is tried here, or in test-sending.py"""
    scripts = {path.name for path in (ROOT / "pipelines").iterdir() if path.suffix == ""}
    scripts -= {"again", "until-stopped", "send-mqtt", "send-kafka", "send-tcp"}
    tap.equal(scripts, {"video-ccl", "video-cudaccl", "png-masks-ccl", "h264-cudaccl", "overlay-ccl", "combiner-ccl",
                        "rtsp-ccl", "v4l2-ccl", "rtsp-cudaccl"})


sys.exit(tap.run(every_script, warnings, video_ccl, video_cudaccl, overlay, combiner, png_masks, no_masks, h264,
                 rtsp_ccl, rtsp_camera_goes, usage, v4l2_ccl))
