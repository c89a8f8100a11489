#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Web clients of ccl-watch that take connections and do nothing with them. Prints TAP."""
import contextlib
import os
import pathlib
import resource
import signal
import socket
import struct
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import served  # noqa: E402
import tap  # noqa: E402

TOKEN = "a token of the tests 0123456789"
video = served.video("moving", (20, True))
token_file = served.folder / "token"
token_file.write_text(TOKEN + "\n")
token_file.chmod(0o600)
CAMERAS = ("--set", "pace=true", "--set", "loop=true", f"door={video}", f"yard={video}")
short = served.folder / "short.conf"
short.write_text("[ccl-watch]\nhttp-timeout=1\n")


def start(descriptors, *words):
    """ccl-watch with a limit of open files."""
    return served.Served(*words,
                         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors)))


def connect(server, number, first=b"", source="127.0.0.1"):
    """So many connections that send `first` and nothing else."""
    host, port = server.url.removeprefix("http://").rsplit(":", 1)
    connections = []
    for _ in range(number):
        client = socket.create_connection((host, int(port)), 20, (source, 0))
        client.sendall(first)
        connections.append(client)
    return connections


def is_closed(client):
    client.setblocking(False)
    try:
        while client.recv(4096):
            pass
        return True
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


def open_files(server):
    return len(os.listdir(f"/proc/{server.process.pid}/fd"))


def states(server):
    return [(camera["state"], camera["reconnects"]) for camera in server.get("/api/cameras")["cameras"]]


def idle_connections():
    """300 descriptors, 400 idle connections: cameras play, a third one connects, the page answers, the log is short"""
    with start(300, *CAMERAS) as server, contextlib.ExitStack() as stack:
        served.wait_for(lambda: states(server) == [("playing", 0)] * 2, "the cameras play")
        logged = len(server.log)
        for client in connect(server, 400):
            stack.callback(client.close)
        status, _, body = server.request("/api/cameras/new", "PUT", {"uri": "rtsp://198.51.100.1/", "timeout": 1})
        tap.equal(status, 201, body)
        played = server.get("/api/cameras/door")["frames"]
        served.wait_for(lambda: server.get("/api/cameras/door")["frames"] > played + 5, "frames")
        served.wait_for(lambda: server.get("/api/cameras/new")["state"] in ("silent", "lost"), "a connection")
        detail = server.get("/api/cameras/new")["detail"]
        assert "open files" not in detail, detail
        tap.equal(states(server)[:2], [("playing", 0)] * 2)
        assert len(server.log) < logged + 10, server.log[logged:logged + 20]
        tap.equal(server.stop(), 0, "exit status")


def all_descriptors():
    """1,024 descriptors and a token: idle connections do not end the program"""
    with start(1024, "--token-file", token_file, "--web-folder", served.folder, *CAMERAS) as server, contextlib.ExitStack() as stack:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        served.wait_for(lambda: server.get("/api/cameras/door", **headers)["state"] == "playing", "door plays")
        for client in connect(server, 998):
            stack.callback(client.close)
        tap.equal(server.request("/api/cameras/new", "PUT", {"uri": str(video)}, **headers)[0], 201)
        served.wait_for(lambda: server.get("/api/cameras/new", **headers)["state"] == "playing", "the new one plays")
        tap.equal(server.request("/healthz")[0], 200)
        tap.equal(server.stop(), 0, "exit status")


def no_descriptor():
    """descriptors that run out for another reason: clients wait and are served later, the log is short"""
    with start(200) as server, contextlib.ExitStack() as stack:
        served.wait_for(lambda: server.request("/healthz")[0] == 200, "the server")
        logged = len(server.log)
        limits = resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (open_files(server) - 1, 200))
        client = connect(server, 1, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")[0]
        stack.callback(client.close)
        time.sleep(1)
        resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, limits)
        assert client.recv(100).startswith(b"HTTP/1.1 200 OK"), "no answer"
        assert len(server.log) < logged + 10, server.log[logged:logged + 20]


def idle_ones_end():
    """connections that are idle, send their request slowly or do not take the answer are closed after the timeout"""
    large = served.folder / "store" / "door" / "2026-11-22T04-30-00.123Z.mp4"
    large.parent.mkdir(parents=True, exist_ok=True)
    with open(large, "wb") as file:
        file.truncate(100_000_000)
    get = b"GET %s HTTP/1.1\r\nHost: localhost\r\n"
    with start(1024, "-c", short, "--folder", served.folder / "store") as server:
        before = open_files(server)
        clients = {
            "idle": connect(server, 1)[0],
            "half a header": connect(server, 1, get % b"/healthz")[0],
            "half a body": connect(server, 1, b"PUT /api/cameras/x HTTP/1.1\r\nHost: localhost\r\n"
                                              b"X-CCL-Watch: 1\r\nContent-Length: 99\r\n\r\n{")[0],
            "kept alive": connect(server, 1, get % b"/healthz" + b"\r\n")[0],
            "does not read": connect(server, 1, get % f"/media/door/{large.name}".encode() + b"\r\n")[0],
            "pipelines": connect(server, 1, (get % b"/page.js" + b"\r\n") * 400)[0],
        }
        assert clients["kept alive"].recv(4096).startswith(b"HTTP/1.1 200 OK")
        clients["slow"] = connect(server, 1, get % b"/healthz")[0]

        def all_closed():
            with contextlib.suppress(ConnectionError):
                clients["slow"].send(b"X: y\r\n")
            return open_files(server) <= before
        served.wait_for(all_closed, "connections end", 15)
        for name in "idle", "half a header", "half a body", "kept alive", "slow":
            assert is_closed(clients[name]), name
        for client in clients.values():
            client.close()


def busy_ones_stay():
    """a client that reads a large file slowly gets all of it"""
    large = served.folder / "store" / "door" / "2026-11-22T04-31-00.123Z.mp4"
    large.parent.mkdir(parents=True, exist_ok=True)
    with open(large, "wb") as file:
        file.truncate(8_000_000)
    with start(1024, "-c", short, "--folder", served.folder / "store") as server:
        client = connect(server, 1, f"GET /media/door/{large.name} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())[0]
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        received, end = 0, time.monotonic() + 2.5
        while received < 8_000_000:
            data = client.recv(400_000)
            assert data, f"closed after {received} bytes"
            received += len(data)
            time.sleep(0.1 if time.monotonic() < end else 0)
        client.close()


def one_address():
    """clients of one address cannot keep those of another away"""
    with start(300) as server, contextlib.ExitStack() as stack:
        other = connect(server, 1, source="127.0.0.2")[0]
        for client in [other, *connect(server, 100)]:
            stack.callback(client.close)
        other.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert other.recv(100).startswith(b"HTTP/1.1 200 OK"), "it was closed"


def reset_before_accept():
    """clients that reset their connection before it is accepted cost no line of the log"""
    with start(1024) as server:
        logged = len(server.log)
        server.process.send_signal(signal.SIGSTOP)
        for client in connect(server, 20):
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            client.close()
        server.process.send_signal(signal.SIGCONT)
        tap.equal(server.request("/healthz")[0], 200)
        tap.equal([line for line in server.log[logged:] if "camera" not in line], [])


sys.exit(tap.run(idle_connections, all_descriptors, no_descriptor, idle_ones_end, busy_ones_stay, one_address,
                 reset_before_accept))
