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
picture_output off
movie_output off
webcontrol_port 0
stream_port 0
target_dir {folder}
on_event_start echo begin $(cat /proc/uptime) >> {folder}/events
on_motion_detected echo motion $(cat /proc/uptime) >> {folder}/events
"""
START = 0.5  # seconds until it has the first frame


def see(video, kind, seconds):
    """motion at its defaults, but for the end of an event, which comes as early as ours. It plays a file as fast as
    it was recorded, and again and again. It has no tracks."""
    with tempfile.TemporaryDirectory() as folder:
        configuration = pathlib.Path(folder) / "motion.conf"
        configuration.write_text(CONFIGURATION.format(video=video, width=kind.size[0], height=kind.size[1],
                                                      rate=max(2, kind.rate), quiet=QUIET, folder=folder))
        began = time.clock_gettime(time.CLOCK_BOOTTIME) + START
        subprocess.run(["timeout", str(seconds + START), "motion", "-n", "-c", str(configuration)],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
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
