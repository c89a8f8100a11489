#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The stream of a camera's own video and of its results, which ccl-watch sends by a WebSocket. Prints TAP."""
import json
import os
import pathlib
import re
import socket
import struct
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import served  # noqa: E402
import tap  # noqa: E402
import watching  # noqa: E402

try:
    import websocket
except ImportError:
    print("1..0 # SKIP python3-websocket is not installed")
    sys.exit()

TOKEN = "a token of the tests 0123456789"
PACED = ("--set", "pace=true", "--set", "loop=true")
GOING_AWAY = 1001
moving = served.video("moving", (60, True))
token_file = served.folder / "token"
token_file.write_text(TOKEN + "\n")
token_file.chmod(0o600)


def wait_for_stream(server, name="door"):
    served.wait_for(lambda: server.get(f"/api/cameras/{name}")["stream"], f"{name} has a stream")


def connect(server, name="door", **options):
    return websocket.create_connection(server.url.replace("http", "ws") + f"/api/cameras/{name}/stream",
                                       timeout=30, **options)


def refusal(server, name="door", **options):
    """The status with which a WebSocket is refused."""
    try:
        connect(server, name, **options).close()
    except websocket.WebSocketBadStatusException as error:
        return error.status_code
    return None


def boxes_of(data):
    """The boxes of MP4 in bytes, as pairs of type and content."""
    found, at = [], 0
    while at < len(data):
        size, kind = struct.unpack_from(">I4s", data, at)
        assert 8 <= size <= len(data) - at, (size, kind, at, len(data))
        found.append((kind.decode(), data[at + 8:at + size]))
        at += size
    return found


def sequence_number(fragment):
    """Of the fragment, in moof/mfhd."""
    (_, moof), _ = boxes_of(fragment)
    return struct.unpack_from(">I", dict(boxes_of(moof))["mfhd"], 4)[0]


def begins_with_key_frame(fragment):
    """Whether the first NAL units of the fragment's first frame have a slice of type IDR."""
    media = boxes_of(fragment)[1][1]
    at = 0
    while at < len(media):
        size, kind = struct.unpack_from(">IB", media, at)
        if kind & 31 in (1, 5):
            return kind & 31 == 5
        at += 4 + size
    return False


class Server(served.Served):
    """ccl-watch, which must not write a message about a mistake in it."""

    def __exit__(self, *error):
        super().__exit__(*error)
        tap.equal([line for line in self.log if "CRITICAL" in line or "WARNING" in line], [], "mistakes")


class Stream:
    """What a viewer gets."""

    def __init__(self, connection):
        self.connection = connection
        self.type, self.head, self.fragments, self.results = None, None, [], []

    def take(self):
        """Takes a message; returns FALSE at the end of the stream."""
        code, data = self.connection.recv_data()
        if code == websocket.ABNF.OPCODE_CLOSE:
            self.end = struct.unpack(">H", data[:2])[0]
            return False
        if code == websocket.ABNF.OPCODE_TEXT:
            message = json.loads(data)
            if not self.type:
                self.type = message["type"]
            else:
                self.results.append(message)
        elif not self.head:
            self.head = data
        else:
            self.fragments.append(data)
        return True

    def take_fragments(self, number):
        while len(self.fragments) < number and self.take():
            pass
        return self

    def frames(self):
        """The frames, decoded by GStreamer: times in seconds and luma."""
        words = ("gst-launch-1.0 -q fdsrc fd=0 ! qtdemux ! h264parse ! avdec_h264 ! videoconvert ! "
                 "video/x-raw,format=GRAY8 ! gdppay ! fdsink fd=1").split()
        data = subprocess.run(words, input=self.head + b"".join(self.fragments), stdout=subprocess.PIPE,
                              check=True, timeout=60).stdout
        found, at = [], 0
        while at < len(data):  # GStreamer's data protocol: a header of 62 bytes, and a payload
            kind, length, pts = struct.unpack_from(">H", data, at + 4)[0], *struct.unpack_from(">IQ", data, at + 6)
            if kind == 1:
                found.append((pts / 1e9, data[at + 62:at + 62 + length]))
            at += 62 + length
        return found


def square(luma):
    """Left edge and width of the bright square that moves in served.video()."""
    row = luma[60 * served.WIDTH:61 * served.WIDTH]
    bright = [x for x, value in enumerate(row) if value > 0xa0]
    return (bright[0], bright[-1] + 1 - bright[0]) if bright else None


def plays():
    """the stream is MP4 in fragments, whose frames decode; each result has the time of its frame, and its boxes"""
    video = served.video("begins", (2, False), (58, True))
    with Server(*PACED, f"door={video}") as server:
        served.wait_for(lambda: server.get("/api/cameras/door")["frames"] > 3 * served.RATE, "motion")
        stream = Stream(connect(server)).take_fragments(40)
        tap.equal([kind for kind, _ in boxes_of(stream.head)], ["ftyp", "moov"], "head")
        for fragment in stream.fragments:
            tap.equal([kind for kind, _ in boxes_of(fragment)], ["moof", "mdat"], "fragment")
        assert begins_with_key_frame(stream.fragments[0])
        profile = stream.head.split(b"avcC", 1)[1][1:4].hex().upper()
        tap.equal(stream.type, f'video/mp4; codecs="avc1.{profile}"')
        frames = stream.frames()[:-4]  # without frames whose references come later
        assert len(frames) >= 36, len(frames)
        steps = {round(after - before, 3) for (before, _), (after, _) in zip(frames, frames[1:])}
        tap.equal(steps, {1 / served.RATE}, "seconds between frames")
        squares = {round(pts, 2): square(luma) for pts, luma in frames}
        compared = 0
        for result in stream.results:
            tap.equal((result["width"], result["height"]), (served.WIDTH, served.HEIGHT))
            found = squares.get(round(result["time"], 2))
            assert found or not frames[0][0] - 0.01 < result["time"] < frames[-1][0] + 0.01, result
            if found and len(result["boxes"]) == 1:
                _, x, _, width, _ = result["boxes"][0]
                compared += abs(x - found[0]) <= 2 and abs(width - found[1]) <= 4
        assert compared > len(frames) / 2, f"{compared} of {len(frames)} boxes: {stream.results}, {squares}"


def metric(server, name):
    return float(re.search(rf"^{name} (.*)$", server.request("/metrics")[2].decode(), re.M)[1])


def several():
    """viewers share a stream: one that comes later begins with a key frame; nothing is left when all have gone"""
    with Server(*PACED, f"door={moving}") as server:
        tasks = f"/proc/{server.process.pid}/task"
        wait_for_stream(server)
        server.get("/api/cameras/door")
        before = len(os.listdir(tasks))
        viewers = [Stream(connect(server)).take_fragments(4)]
        during = len(os.listdir(tasks))
        viewers += [Stream(connect(server)) for _ in range(3)]
        tap.equal(metric(server, "ccl_watch_video_viewers"), 4)
        for viewer in viewers[1:]:
            viewer.take_fragments(4)
            tap.equal(viewer.head, viewers[0].head)
            assert begins_with_key_frame(viewer.fragments[0])
            assert sequence_number(viewer.fragments[0]) > 1
            tap.equal(len(os.listdir(tasks)), during, "threads")
        assert len(viewers[-1].take_fragments(10).frames()) >= 10
        for viewer in viewers:
            viewer.connection.close()
        served.wait_for(lambda: len(os.listdir(tasks)) <= before, "the threads of the stream end")
        tap.equal(metric(server, "ccl_watch_video_viewers"), 0)
        Stream(connect(server)).take_fragments(2)


def small_socket(server, size):
    """A connection whose client has room for so many bytes that it does not read."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, size)
    host, port = server.url.removeprefix("http://").split(":")
    client.connect((host, int(port)))
    return client


def noisy(seconds):
    """A video of several MB a second."""
    path = served.folder / "noise.mp4"
    subprocess.run([*f"gst-launch-1.0 -q videotestsrc pattern=snow num-buffers={25 * seconds} ! "
                    "video/x-raw,format=I420,width=640,height=480,framerate=25/1 ! x264enc pass=quant quantizer=26 "
                    "speed-preset=ultrafast key-int-max=10 ! h264parse ! mp4mux ! filesink".split(),
                    f"location={path}"], check=True, timeout=120)
    return path


def slow():
    """a viewer that does not read loses fragments, not memory, and nobody else notices; it goes on with a key frame"""
    with Server(*PACED, "--set", "ccl.max-components=10", "--set", "ccl.threshold=254", "--set",
                "ccl.foreground=threshold", f"noise={noisy(20)}", f"door={moving}") as server:
        wait_for_stream(server, "noise")
        wait_for_stream(server)
        stream = Stream(connect(server, "noise", socket=small_socket(server, 131072))).take_fragments(2)
        status = pathlib.Path(f"/proc/{server.process.pid}/status")
        before = int(status.read_text().split("VmRSS:")[1].split()[0])
        other = Stream(connect(server))
        reader = Stream(connect(server, "noise"))
        n_bytes = 0
        while n_bytes < 30e6:
            reader.fragments.clear()
            reader.take_fragments(1)
            n_bytes += len(reader.fragments[0])
        grown = int(status.read_text().split("VmRSS:")[1].split()[0]) - before
        assert grown < 16000, f"{grown} KiB"
        other.take_fragments(5)
        while (numbers := [sequence_number(fragment) for fragment in stream.fragments])[-1] - numbers[0] < len(numbers):
            stream.take_fragments(len(numbers) + 1)
        assert begins_with_key_frame(stream.fragments[-1])
        assert numbers[-1] - numbers[-2] > 20, numbers
        tap.equal([camera["late"] for camera in server.get("/api/cameras")["cameras"]], [0, 0])


def vanishes():
    """a viewer that neither reads nor leaves is closed after http-timeout"""
    config = served.folder / "short.conf"
    config.write_text("[ccl-watch]\nhttp-timeout=2\n")
    with Server("--config", config, *PACED, f"door={moving}") as server:
        wait_for_stream(server)
        reads = Stream(connect(server))
        client = small_socket(server, 4096)
        connect(server, socket=client)
        remote = client.getsockname()[1]
        connections = f"/proc/{server.process.pid}/net/tcp"
        end = time.monotonic() + 60
        while f":{remote:04X} 01 " in pathlib.Path(connections).read_text():
            reads.take_fragments(len(reads.fragments) + 1)
            assert time.monotonic() < end, "it is still there"
        tap.equal(reads.take(), True)


def access():
    """a page of another site opens no stream, nor does a program without the token"""
    with Server(*PACED, f"door={moving}") as server:
        wait_for_stream(server)
        tap.equal(refusal(server, origin="http://evil.example"), 403, "another site")
        tap.equal(refusal(server, origin="http://127.0.0.1:1"), 403, "another port")
        tap.equal(refusal(server, origin="null"), 403, "no site")
        tap.equal(refusal(server, origin=server.url), None, "the own page")
        tap.equal(refusal(server, suppress_origin=True), None, "a program")
        tap.equal(refusal(server, "nobody"), 404, "another camera")
        tap.equal(refusal(server, host="evil.example", suppress_origin=True), 403, "another host")
        status, headers, _ = server.request("/api/cameras/door/stream")
        tap.equal((status, headers["Upgrade"]), (426, "websocket"), "no WebSocket")
    with Server("--token-file", token_file, *PACED, f"door={moving}") as server:
        bearer = [f"Authorization: Bearer {TOKEN}"]
        served.wait_for(lambda: server.get("/api/cameras/door", Authorization=f"Bearer {TOKEN}")["stream"], "a stream")
        tap.equal(refusal(server), 401, "without a token")
        tap.equal(refusal(server, header=bearer, suppress_origin=True), None, "with the token")
        tap.equal(refusal(server, header=bearer, origin="http://other.example"), None, "with token, from elsewhere")
        cookie = server.request("/api/login", "POST", TOKEN.encode())[1]["Set-Cookie"].split(";")[0]
        tap.equal(refusal(server, cookie=cookie, origin=server.url), None, "with the cookie")
        tap.equal(refusal(server, cookie=cookie, origin="http://evil.example"), 403, "cookie, another site")


def others():
    """cameras without H.264, and files that are read at once, have no stream"""
    jpeg = watching.ball(100, 10)
    with Server("--set", "loop=true", f"fast={moving}", "--set", "pace=true", f"slow={jpeg}") as server:
        served.wait_for(lambda: server.get("/api/cameras/slow")["frames"] > 2, "frames")
        tap.equal(server.get("/api/cameras/slow")["stream"], False)
        tap.equal(refusal(server, "slow"), 404)
    with Server("--set", "loop=true", f"fast={moving}") as server:
        served.wait_for(lambda: server.get("/api/cameras/fast")["frames"] > 2, "frames")
        tap.equal(refusal(server, "fast"), 404)


def ends():
    """the stream ends with the camera's connection, and there is another one with the next"""
    short = served.video("short", (4, True))
    with Server(*PACED, f"door={short}") as server:
        for _ in range(2):
            wait_for_stream(server)
            stream = Stream(connect(server))
            while stream.take():
                pass
            tap.equal(stream.end, GOING_AWAY, "code")
        tap.equal(server.request("/api/cameras/door", "DELETE")[0], 204)
        tap.equal(refusal(server), 404)
        assert not [line for line in server.log if "the stream of its page ended" in line], server.log


def from_rtsp():
    """a camera's frames that come without decoding times are played, too"""
    with watching.camera(rate=10) as (_, port), \
            Server("--web-local", f"door=rtsp://127.0.0.1:{port}/camera") as server:
        wait_for_stream(server)
        stream = Stream(connect(server)).take_fragments(25)
        frames = stream.frames()
        assert len(frames) >= 25, len(frames)
        times = [pts for pts, _ in frames]
        tap.equal(times, sorted(times))
        matched = [result for result in stream.results if any(abs(result["time"] - pts) < 0.002 for pts in times)]
        assert len(matched) > len(frames) / 2, (times, [result["time"] for result in stream.results])


if __name__ == "__main__":
    sys.exit(tap.run(plays, several, slow, vanishes, access, others, ends, from_rtsp))
