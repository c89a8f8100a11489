# SPDX-License-Identifier: LGPL-2.1-or-later
"""What Debian's program motion reports of a clip."""
import pathlib
import subprocess
import tempfile
import time

from rule import QUIET

CONFIGURATION = """
netcam_url file://{video}
width {width}
height {height}
framerate {rate}
event_gap {quiet:.0f}
despeckle_filter EedDl
picture_output off
movie_output off
webcontrol_port 0
stream_port 0
target_dir {folder}
on_event_start echo begin $(cat /proc/uptime) >> {folder}/events
on_motion_detected echo motion $(cat /proc/uptime) >> {folder}/events
"""


def see(video, kind, seconds):
    """motion with the settings of Debian's motion.conf, but for the end of an event, which comes as early as ours. It
    plays a file as fast as it was recorded, and again and again. It has no tracks."""
    with tempfile.TemporaryDirectory() as folder:
        configuration = pathlib.Path(folder) / "motion.conf"
        configuration.write_text(CONFIGURATION.format(video=video, width=kind.size[0], height=kind.size[1],
                                                      rate=max(2, kind.rate), quiet=QUIET, folder=folder))
        began = play(configuration, seconds)
        events = pathlib.Path(folder) / "events"
        rows = [line.split() for line in events.read_text().splitlines()] if events.exists() else []
    intervals = []
    for what, moment, *_ in rows:
        t = min(max(0.0, float(moment) - began), seconds)
        if what == "begin":
            intervals.append([t, t])
        elif intervals:
            intervals[-1][1] = max(intervals[-1][1], t)
    return {"motion": intervals, "tracks": []}


def play(configuration, seconds):
    """Runs motion for the seconds of the clip; returns the moment at which it had opened the file."""
    with subprocess.Popen(["motion", "-n", "-c", str(configuration)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True) as process:
        if not any("connected" in line for line in process.stderr):
            raise RuntimeError("motion does not open the clip")
        began = time.clock_gettime(time.CLOCK_BOOTTIME)
        time.sleep(seconds)
        process.terminate()
        process.communicate()
    return began
