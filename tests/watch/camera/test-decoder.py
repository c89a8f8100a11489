#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The key `decoder` of ccl-watch: which decoder a camera gets, and what the log says. Prints TAP.

usage: test-decoder.py CCL_WATCH
"""
import functools
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from watching import Watch, ball, folder, numbers, tap  # noqa: E402

watch = functools.partial(Watch, sys.argv[1])
# Two elements that decode JPEG, so each must be chosen once against the other's rank.
DECODERS = "jpegdec", "avdec_mjpeg"


def has_element(name):
    return subprocess.run(["gst-inspect-1.0", "--exists", name], check=False).returncode == 0


def play(*words):
    """Plays a video to its end; returns the log."""
    with watch(f"a={ball(20, 20)}", *words) as program:
        tap.equal(program.finish(), 0, program.log())
        tap.equal(numbers(program.lines.all()), list(range(20)), "frames")
        return program.log()


def decoded_by(log):
    return re.findall(r"camera a: decoded by (\w+)", log)


def names():
    """Each of two decoders can be chosen by its name, and the log says which one runs"""
    for name in DECODERS:
        if not has_element(name):
            raise tap.Skip(f"GStreamer has no {name}")
    for name in DECODERS:
        log = play("-s", f"decoder={name}")
        tap.equal((decoded_by(log), "because" in log), ([name], False), log)
    log = play("-s", f"decoder=no_such_element,{DECODERS[1]}")
    tap.equal(decoded_by(log), [DECODERS[1]], log)


def falls_back():
    """Where no decoder of the kind is, another one decodes, and the log says why"""
    default = decoded_by(play("-s", "decoder=auto"))
    for choice in "no_such_element", "v4l2", "vaapi":
        if choice != "no_such_element" and any(has_element(name) for name in ("vajpegdec", "vaapijpegdec", "v4l2jpegdec")):
            continue
        log = play("-s", f"decoder={choice}")
        tap.equal(decoded_by(log), default, log)
        assert f"there is none as asked for (decoder={choice})" in log, log


def kinds():
    """software takes no decoder of hardware; a choice without sense is refused"""
    log = play("-s", "decoder=software")
    assert decoded_by(log)[0] in DECODERS, log
    for choice in "", "Vaapi", "a,,b", "x y", "avdec_h264,":
        path = folder / "wrong.conf"
        path.write_text(f"[camera a]\nuri={ball(20, 20)}\ndecoder={choice}\n")
        result = subprocess.run([sys.argv[1], "--check", "--config", path], stderr=subprocess.PIPE, text=True, check=False)
        tap.equal(result.returncode, 2, choice)
        assert "decoder: " in result.stderr, result.stderr


sys.exit(tap.run(names, falls_back, kinds))
