# SPDX-License-Identifier: LGPL-2.1-or-later
"""What users of ccl-watch see of a clip, and the masks of its element."""
import json
import pathlib
import subprocess
import tempfile

import numpy

from rule import QUIET


def see(program, video, settings=()):
    """ccl-watch at its defaults, on the CPU: {"motion": [[begin, end], …], "tracks": [[[time, x, y, width, height],
    …], …]}, in seconds of the clip, and what it said of the camera."""
    with tempfile.TemporaryDirectory() as folder:
        lines = pathlib.Path(folder) / "lines"
        options = [f"--set={setting}" for setting in settings]
        command = [program, "-d", "cpu", *options, "-o", str(lines), f"cam={video}"]
        result = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
        if not lines.exists():
            raise RuntimeError(f"ccl-watch {video}: {result.stderr}")
        rows = [json.loads(line) for line in lines.read_text().splitlines()]
    motion, tracks, said, last = [], {}, [], 0.0
    for row in rows:
        t = row.get("running_time", 0) / 1e9
        last = max(last, t)
        if row.get("event") == "motion-begin":
            motion.append([t, None])
        elif row.get("event") == "motion-end" and motion:
            motion[-1][1] = t
        elif row.get("event") == "scene-change":
            said.append([t, row["kind"]])
        for component in row.get("components", ()):
            if component.get("state") == "confirmed" and "id" in component:
                tracks.setdefault(component["id"], []).append(
                    [t, *(component[key] for key in ("x", "y", "width", "height"))])
    for interval in motion:
        is_cut = interval[1] is None or interval[1] >= last - 0.05
        interval[1] = last if is_cut else max(interval[0], interval[1] - QUIET)
    return {"motion": motion, "tracks": list(tracks.values()), "said": said}


def masks(video, settings=()):
    """Yields the mask of each frame, as the element ccl makes it at its defaults."""
    import gi
    gi.require_version("Gst", "1.0")
    gi.require_version("GstApp", "1.0")
    gi.require_version("GstCcl", "1.0")
    from gi.repository import Gst, GstApp, GstCcl  # noqa: F401 (GstApp gives the methods of appsink)
    Gst.init(None)
    properties = " ".join(setting[4:] for setting in settings if setting.startswith("ccl."))
    pipeline = Gst.parse_launch(f"filesrc location={video} ! decodebin ! ccl foreground=codebook attach-mask=true "
                                f"{properties} ! appsink name=sink sync=false max-buffers=4")
    sink = pipeline.get_by_name("sink")
    pipeline.set_state(Gst.State.PLAYING)
    try:
        while sample := sink.pull_sample():
            caps = sample.get_caps().get_structure(0)
            mask = GstCcl.buffer_get_ccl_meta(sample.get_buffer()).read_mask()
            shape = caps.get_int("height").value, caps.get_int("width").value
            yield numpy.frombuffer(mask.get_data(), numpy.uint8).reshape(shape) == 255
    finally:
        pipeline.set_state(Gst.State.NULL)
