# SPDX-License-Identifier: LGPL-2.1-or-later
"""ccl-watch with its web server, and videos for it."""
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "runner"))
from processes import wait_for  # noqa: E402,F401

WATCH = os.environ["CCL_WATCH"]
scratch = tempfile.TemporaryDirectory(prefix="watch test ")
folder = pathlib.Path(scratch.name)
WIDTH, HEIGHT, RATE, KEY_FRAMES = 160, 120, 10, 10


def video(name, *parts):
    """An H.264 video with a key frame per second. `parts` are pairs of seconds and whether a
    square moves meanwhile. A little noise makes all encoded frames different."""
    path = folder / f"{name}.mp4"
    background = bytearray(b"\x60" * (WIDTH * HEIGHT)) + b"\x80" * (WIDTH * HEIGHT // 2)
    noise = random.Random(0)
    frames, x = [], 0
    for seconds, moves in parts:
        for _ in range(seconds * RATE):
            frame = background[:]
            frame[:4 * WIDTH] = bytes(0x60 + byte % 4 for byte in noise.randbytes(4 * WIDTH))
            x = (x + 5) % (WIDTH - 40) if moves else x
            for row in range(40, 80) if moves else ():
                frame[row * WIDTH + x:row * WIDTH + x + 40] = b"\xe0" * 40
            frames.append(bytes(frame))
    subprocess.run(
        ["gst-launch-1.0", "-q", "fdsrc", "fd=0", "!", "rawvideoparse", f"width={WIDTH}",
         f"height={HEIGHT}", "format=i420", f"framerate={RATE}/1", "!", "x264enc",
         f"key-int-max={KEY_FRAMES}", "bframes=3", "b-pyramid=true", "threads=1", "!", "h264parse", "!", "mp4mux",
         "!", "filesink", f"location={path}"], input=b"".join(frames), check=True, timeout=60)
    return path


class Served:
    """A running ccl-watch. `url` is that of its page; `lines` are the objects that it wrote."""

    def __init__(self, *arguments, http="127.0.0.1:0", **options):
        """`options` are those of subprocess.Popen."""
        self.process = subprocess.Popen([WATCH, f"--http={http}", *map(str, arguments)],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
        self.lines, self.log, self.url = [], [], None
        self.readers = [threading.Thread(target=self._read_lines, daemon=True),
                        threading.Thread(target=self._read_log, daemon=True)]
        for reader in self.readers:
            reader.start()
        wait_for(lambda: self.url or self.process.poll() is not None, "the address in the log", 60)
        assert self.url, "\n".join(self.log)

    def _read_lines(self):
        for line in self.process.stdout:
            self.lines.append(json.loads(line))

    def _read_log(self):
        for line in self.process.stderr:
            self.log.append(line.rstrip())
            if match := re.search(r"web page at (http://\S+)", line):
                self.url = match[1].rstrip("/")

    def events(self, kind):
        return [line for line in self.lines if line.get("event") == kind]

    def request(self, path, method="GET", body=None, own=True, **headers):
        """Returns status, headers and body. `own` sends the header of programs and of the page."""
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        if own:
            headers["X-CCL-Watch"] = "1"
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as answer:
            return answer.code, answer.headers, answer.read()

    def get(self, path, **headers):
        status, _, body = self.request(path, **headers)
        assert status == 200, f"{path}: {status} {body}"
        return json.loads(body)

    def stop(self, number=signal.SIGTERM):
        """Ends the program; returns its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        status = self.process.wait(timeout=15)
        for reader in self.readers:
            reader.join(timeout=5)
        return status

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.stop(signal.SIGKILL)
