# SPDX-License-Identifier: LGPL-2.1-or-later
"""Encodes frames as cameras do: H.264 without B frames, a key frame every few seconds; some are damaged."""
import subprocess

import numpy


def encode(frames, path, kind):
    """Writes the I420 frames to the path. `kind.encode` holds crf, or kbits a second; gop in seconds."""
    width, height = kind.size
    options = {"crf": 25, "gop": 4.0} | dict(kind.encode)
    rate = (["-b:v", f"{options['kbits']}k", "-maxrate", f"{options['kbits']}k", "-bufsize", f"{options['kbits']}k"]
            if "kbits" in options else ["-crf", str(options["crf"])])
    with subprocess.Popen(
            ["ffmpeg", "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-s", f"{width}x{height}",
             "-r", str(kind.rate), "-i", "-", "-c:v", "libx264", "-preset", "superfast", "-bf", "0",
             "-threads", "1", *rate, "-g", str(max(1, round(options["gop"] * kind.rate))), "-sc_threshold", "0",
             str(path)],
            stdin=subprocess.PIPE) as process:
        for frame in frames:
            process.stdin.write(frame)
        process.stdin.close()
    if process.returncode != 0:
        raise RuntimeError(f"ffmpeg could not write {path}")
    if kind.damage:
        damage(path, numpy.random.default_rng(kind.damage), kind.seconds)


def damage(path, rng, seconds):
    """Overwrites short runs of bytes, one about every two seconds, after the first fifth of the file."""
    data = bytearray(path.read_bytes())
    for _ in range(round(seconds / 2)):
        place = int(rng.uniform(0.2, 0.98) * len(data))
        length = int(rng.integers(20, 400))
        data[place:place + length] = rng.bytes(len(data[place:place + length]))
    path.write_bytes(data)
