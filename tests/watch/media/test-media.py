#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The folder of pictures and clips while its disk hangs or is full, and when it is changed; messages that
nobody reads. The first argument is the library that plays such a disk. Prints TAP."""
import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import served  # noqa: E402
import tap  # noqa: E402

if not shutil.which("ffprobe"):
    print("1..0 # SKIP ffmpeg is not installed")
    sys.exit()

LIMIT = 5  # seconds after SIGTERM until the program ends, as documented
SLOW = 3   # more seconds that a busy machine may take
state = served.folder / "state"
# What passes a place again and again is background for the codebook after a while, as leaves are; with mog2 it is seen for
# half a second each time.
QUICK = ("pace=true", "clip-pre=1", "clip-post=0", "ccl.quiet-time=0.5", "ccl.foreground=mog2", "motion=components")
endless = served.video("endless", (90, True))
blinking = served.video("blinking", *[(2, moves) for moves in (True, False)] * 15)


class Faulty(served.Served):
    """ccl-watch with a folder whose disk hangs or is full."""

    def __init__(self, store, fault, *arguments):
        self.store = store
        self.set(fault)
        super().__init__("--folder", store, *(f"--set={setting}" for setting in QUICK), *arguments, env={
            **os.environ, "LD_PRELOAD": f"{sys.argv[1]} {os.environ.get('LD_PRELOAD', '')}",
            "FAULTY_FOLDER": str(store), "FAULTY_FOLDER_STATE": str(state)})

    @staticmethod
    def set(fault):
        """"hangs", "full" or "works"."""
        state.write_text(fault)

    def incomplete_files(self):
        body = self.request("/metrics")[2].decode()
        return int(body.split("\nccl_watch_incomplete_files_total ")[1].split()[0])

    def frames(self, name):
        return self.get(f"/api/cameras/{name}")["frames"]


def files(folder, extension, camera="*"):
    return sorted(pathlib.Path(folder).glob(f"{camera}/*.{extension}"))


def can_be_played(clip):
    """Whether all of the clip can be decoded, and how many pictures it has at least."""
    result = subprocess.run(["ffprobe", "-v", "error", "-count_frames", "-of", "csv=p=0", "-show_entries",
                             "stream=nb_read_frames", clip], capture_output=True, text=True, timeout=30)
    return not result.stderr and result.stdout.strip().isdigit() and int(result.stdout) or 0


def hung_folder():
    """a folder that hangs stops no camera, no answer, and not the end of the program"""
    store = served.folder / "hung"
    with Faulty(store, "hangs", "--set", "clips=true", f"a={endless}", f"b={blinking}") as server:
        served.wait_for(lambda: server.events("motion-begin"), "motion")
        for _ in range(2):
            before = {name: server.frames(name) for name in "ab"}
            served.wait_for(lambda: all(server.frames(name) >= before[name] + 10 for name in "ab"), "frames of a and b")
        server.get("/api/events")
        tap.equal(server.request("/api/cameras/a/picture")[0], 200)
        tap.equal(server.request("/metrics")[0], 200)
        begin = time.monotonic()
        tap.equal(server.stop(), 0, "exit status")
        took = time.monotonic() - begin
        assert took < LIMIT + SLOW, f"SIGTERM took {took:.1f} s"



def full_disk():
    """motion that goes on has a clip soon after a full disk has room again; the log says it once, with the camera"""
    store = served.folder / "full"
    with Faulty(store, "full", "--set", "clips=true", f"a={endless}", f"b={blinking}") as server:
        served.wait_for(lambda: "No space left" in "".join(server.log), "the log says that the disk is full")
        served.wait_for(lambda: server.incomplete_files() >= 4, "failures", 90)
        served.wait_for(lambda: not files(store, "*"), "a file without a picture stays")
        reports = [line for line in server.log if "No space left" in line]
        tap.equal(len(reports), 1, reports)
        assert "camera a: " in reports[0] or "camera b: " in reports[0], reports
        server.set("works")
        served.wait_for(lambda: any(can_be_played(clip) for clip in files(store, "mp4", "a")), "a clip of a", 60)
        served.wait_for(lambda: any("written again" in line for line in server.log), "the log says that it is over")
        tap.equal(server.stop(), 0, "exit status")
    for clip in files(store, "mp4"):
        assert can_be_played(clip), clip


def disk_fills_up():
    """a clip that a full disk ends can be played; when it has room again, objects are found in the clip that follows"""
    store = served.folder / "fills"
    with Faulty(store, "works", "--set", "clips=true", "--set", "pictures=false", "--set", "ccl.quiet-time=5",
                f"a={endless}") as server:
        clip, = served.wait_for(lambda: files(store, "mp4"), "a clip")
        served.wait_for(lambda: clip.stat().st_size > 6000, "fragments")
        server.set("full")
        served.wait_for(lambda: any(f"camera a: {clip}" in line for line in server.log), "the log names the clip")
        assert can_be_played(clip) >= served.RATE, f"{can_be_played(clip)} pictures"
        server.set("works")
        second = served.wait_for(lambda: [path for path in files(store, "mp4") if path != clip and can_be_played(path) > 3 * served.RATE],
                                 "a second clip", 60)[0]
        begin = f"{second.stem[:13]}:{second.stem[14:16]}:{second.stem[17:]}"
        found = served.wait_for(lambda: [item for item in server.get(f"/api/objects?camera=a")["objects"] if item["begin"] > begin],
                                "an object of the second clip", 60)[0]
        tap.equal((found["clip"], server.request(found["object_clip"])[0]), (f"/media/a/{second.name}", 200))


def changed_folder():
    """after SIGHUP, another folder is written to and read from"""
    configuration = served.folder / "changed.conf"
    stores = [served.folder / name for name in ("first", "second")]

    def configure(store):
        configuration.write_text(f"[ccl-watch]\n{store}\n[cameras]\nclips=true\n" + "\n".join(QUICK) +
                                 f"\n[camera a]\nuri={blinking}\n")

    def has_files(store):
        return len(files(store, "jpg")) >= 1 and any(can_be_played(clip) for clip in files(store, "mp4"))
    configure("")
    with served.Served("--config", configuration) as server:
        served.wait_for(lambda: server.events("motion-begin"), "motion")
        for store in stores:
            configure(f"folder={store}")
            count = len([line for line in server.log if "read again" in line])
            server.process.send_signal(signal.SIGHUP)
            served.wait_for(lambda n=count: len([line for line in server.log if "read again" in line]) > n, "SIGHUP")
            served.wait_for(lambda s=store: has_files(s), f"files in {store}", 90)
            event = served.wait_for(lambda: next((event for event in server.get("/api/events")["events"]
                                                  if "picture" in event and "clip" in event), None), "an event")
            tap.equal(server.request(event["picture"])[2], (store / event["picture"][len("/media/"):]).read_bytes())
        before = files(stores[0], "*")
        served.wait_for(lambda: len(files(stores[1], "jpg")) >= 2, "another motion", 90)
        tap.equal(files(stores[0], "*"), before, "files of the first folder")


def few_key_frames():
    """a stream with one key frame takes no more than the documented memory"""
    video = served.folder / "rare.mkv"
    subprocess.run(f"ffmpeg -v error -f lavfi -i testsrc2=s=640x480:r=25,noise=alls=100:allf=t -frames:v 400 "
                   "-c:v libx264 -preset ultrafast -qp 4 -g 100000 -sc_threshold 0".split() + [video],
                   check=True, timeout=120)
    assert video.stat().st_size > 250e6, video.stat().st_size
    with served.Served("--folder", served.folder / "rare", "--set", "clips=true", "--set", "ccl.foreground=mog2", f"a={video}") as server:
        pid = server.process.pid
        peak = 0
        while server.process.poll() is None and not any("ended" in line for line in server.log):
            status = pathlib.Path(f"/proc/{pid}/status").read_text()
            peak = max(peak, int(status.partition("VmHWM:")[2].split()[0]) // 1024 if "VmHWM" in status else 0)
            time.sleep(0.05)
        assert 60 < peak < 240, f"{peak} MiB"


def log_without_reader():
    """nobody reads the messages: the camera goes on, and SIGTERM ends the program"""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(writer, b"x" * 4096)
    os.set_blocking(writer, True)
    process = subprocess.Popen([served.WATCH, "--set=pace=true", f"a={endless}"], stdout=subprocess.PIPE,
                               stderr=writer, text=True)
    try:
        os.close(writer)
        watchdog = threading.Timer(30, process.kill)
        watchdog.start()
        frames = sum('"frame"' in process.stdout.readline() for _ in range(20))
        watchdog.cancel()
        assert frames >= 10, frames
        begin = time.monotonic()
        process.terminate()
        tap.equal(process.wait(timeout=30), 0, "exit status")
        assert time.monotonic() < begin + LIMIT + SLOW, time.monotonic() - begin
    finally:
        process.kill()
        process.wait()
        os.close(reader)


sys.exit(tap.run(hung_folder, full_disk, disk_fills_up, changed_folder, few_key_frames, log_without_reader))
