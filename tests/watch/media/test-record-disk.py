#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""cclrecord beside a disk that hangs, simulated by a library that is preloaded. Prints TAP.

usage: test-record-disk.py FOLDER_FAULTS
"""
import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "runner"))
import tap  # noqa: E402
from processes import running, wait_for  # noqa: E402

scratch = tempfile.TemporaryDirectory(prefix="record test ")
folder, state, log = (pathlib.Path(scratch.name) / name for name in ("clips", "state", "log"))
# The analysis has a branch of its own. A frame of JSON, and each motion, is a line of the log.
PIPELINE = ("gst-launch-1.0 -e videotestsrc is-live=true pattern=ball ! video/x-raw,format=I420,width=160,height=120,framerate=25/1 ! tee name=t ! "
            "queue ! ccl threshold=128 post-motion=true ! ccljson ! filesink buffer-mode=unbuffered location={log} "
            "t. ! queue leaky=downstream ! x264enc tune=zerolatency key-int-max=25 ! "
            "cclrecord follow-motion=true location={clips}/%d.mp4")


def lines():
    return len(log.read_bytes().splitlines()) if log.exists() else 0


def hung_disk():
    """a disk that hangs when a motion begins holds up no analysis; when it answers, the clip is written"""
    folder.mkdir()
    state.write_text("hangs")
    environment = {**os.environ, "LD_PRELOAD": sys.argv[1], "FAULTY_FOLDER": str(folder), "FAULTY_FOLDER_STATE": str(state)}
    words = [word.format(log=log, clips=folder) for word in PIPELINE.split()]
    with running(*words, env=environment, stdout=subprocess.DEVNULL) as process:
        wait_for(lambda: lines() > 60, "the analysis stops")
        tap.equal(list(folder.iterdir()), [], "files while the disk hangs")
        state.write_text("works")
        clip, = wait_for(lambda: list(folder.iterdir()), "no clip")
        time.sleep(1)
        process.send_signal(2)
        tap.equal(process.wait(timeout=20), 0, "exit status")
    words = "ffprobe -v error -count_frames -of csv=p=0 -show_entries stream=nb_read_frames".split()
    with contextlib.suppress(FileNotFoundError):
        result = subprocess.run([*words, clip], capture_output=True, text=True, timeout=30)
        assert not result.stderr and int(result.stdout) > 60, result


sys.exit(tap.run(hung_disk))
