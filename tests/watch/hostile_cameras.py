# SPDX-License-Identifier: LGPL-2.1-or-later
"""Cameras that answer what no camera should: without end, drop by drop, or in a circle."""
import contextlib
import socket
import threading
import time

CHUNK = b"a: 34567\r\n" * 6554  # 64 KiB


class HostileCamera:
    """A TCP server; `answer(client, port)` serves each connection."""

    def __init__(self, answer):
        self.answer = answer
        self.server = socket.create_server(("127.0.0.1", 0))
        self.port = self.server.getsockname()[1]
        self.n_connections, self.n_bytes = 0, 0

    def run(self):
        with contextlib.suppress(OSError):
            while True:
                client = self.server.accept()[0]
                self.n_connections += 1
                threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        with contextlib.suppress(OSError), client:
            self.answer(self, client)

    def send(self, client, data):
        client.sendall(data)
        self.n_bytes += len(data)

    def __enter__(self):
        threading.Thread(target=self.run, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.close()


def request(client):
    """Method and CSeq of the next request."""
    text = b""
    while b"\r\n\r\n" not in text:
        data = client.recv(4096)
        if not data:
            raise OSError
        text += data
    lines = text.decode().split("\r\n")
    number = next((line.split(":")[1].strip() for line in lines if line.lower().startswith("cseq:")), "0")
    return lines[0].split(" ")[0], number


def until_describe(camera, client):
    """Answers OPTIONS; returns the number of the DESCRIBE."""
    while True:
        method, number = request(client)
        if method == "DESCRIBE":
            return number
        camera.send(client, f"RTSP/1.0 200 OK\r\nCSeq: {number}\r\nPublic: OPTIONS, DESCRIBE, SETUP, PLAY\r\n\r\n".encode())


def endless(head):
    def answer(camera, client):
        number = until_describe(camera, client)
        camera.send(client, f"RTSP/1.0 200 OK\r\nCSeq: {number}\r\n{head}".encode())
        while True:
            camera.send(client, CHUNK)
    return answer


endless_sdp = endless("Content-Type: application/sdp\r\nContent-Length: 2000000000\r\n\r\nv=0\r\n")
endless_headers = endless("")


def dripping(camera, client):
    """A byte of the answer each half second."""
    number = until_describe(camera, client)
    for byte in f"RTSP/1.0 200 OK\r\nCSeq: {number}\r\nX-Long: {'x' * 10000}".encode():
        camera.send(client, bytes([byte]))
        time.sleep(0.5)


def redirecting(camera, client):
    number = until_describe(camera, client)
    camera.send(client, f"RTSP/1.0 302 Moved\r\nCSeq: {number}\r\n"
                f"Location: rtsp://127.0.0.1:{camera.port}/other\r\n\r\n".encode())


def redirecting_http(camera, client):
    """To another path each time."""
    request(client)
    camera.send(client, f"HTTP/1.1 302 Moved\r\nLocation: http://127.0.0.1:{camera.port}/{camera.n_connections}\r\n"
                "Content-Length: 0\r\nConnection: close\r\n\r\n".encode())


def endless_part(camera, client):
    """HTTP, whose first picture does not end."""
    request(client)
    camera.send(client, b"HTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace; boundary=part\r\n\r\n"
                b"--part\r\nContent-Type: image/jpeg\r\n\r\n\xff\xd8\xff\xe0")
    while True:
        camera.send(client, bytes(65536))


def endless_playlist(camera, client):
    """HLS, whose first playlist does not end."""
    request(client)
    camera.send(client, b"HTTP/1.1 200 OK\r\nContent-Type: application/x-mpegurl\r\n\r\n#EXTM3U\r\n")
    while True:
        camera.send(client, b"#EXT-X-NOTHING:0123456789012345678901234567890123456789\r\n" * 1000)


def endless_http_headers(camera, client):
    request(client)
    camera.send(client, b"HTTP/1.1 200 OK\r\n")
    while True:
        camera.send(client, b"X-Header: 0123456789012345678901234567890123456789\r\n" * 1000)
