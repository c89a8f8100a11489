#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Clients of the web server that guess tokens, take everything or send what no client should. Prints TAP."""
import pathlib
import socket
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from served import Served, folder, video, wait_for  # noqa: E402
from watching import camera, tap  # noqa: E402

TOKEN = "0123456789abcdef"


def token_file():
    path = folder / "token"
    path.write_text(TOKEN)
    path.chmod(0o600)
    return path


def wrong_tokens():
    """wrong tokens: ten are answered 401, further ones 429, and the log names the client; a session goes on"""
    with Served("--token-file", token_file()) as server:
        status, headers, _ = server.request("/api/login", "POST", TOKEN.encode())
        tap.equal(status, 204)
        cookie = headers["Set-Cookie"].split(";")[0]
        answers = [server.request("/api/cameras", Authorization="Bearer wrong")[0] for _ in range(40)]
        assert answers[:10] == [401] * 10 and answers.count(429) > 20, answers
        tap.equal(server.request("/api/login", "POST", b"wrong")[0], 429)
        tap.equal(server.request("/api/cameras", Cookie=cookie)[0], 200)
        assert any("127.0.0.1 sent a wrong token" in line for line in server.log), server.log
        time.sleep(2.2)
        tap.equal(server.request("/api/cameras", Authorization=f"Bearer {TOKEN}")[0], 200)


def secure_cookie():
    """the cookie has Secure where the browser speaks TLS"""
    with Served("--token-file", token_file()) as server:
        for headers, secure in (({}, False), ({"Origin": "https://" + server.url.split("//")[1]}, True),
                                ({"X_Forwarded_Proto": "https"}, True)):
            answer = server.request("/api/login", "POST", TOKEN.encode(), **headers)
            tap.equal(("; Secure" in answer[1]["Set-Cookie"]), secure, headers)


def changes_in_the_log():
    """the log names the client of each change"""
    path = video("still", (1, False))
    with Served("--web-folder", folder) as server:
        body = {"uri": str(path), "loop": True}
        server.request("/api/cameras/x", "PUT", body)
        server.request("/api/cameras/x", "PUT", {**body, "pace": True})
        server.request("/api/cameras/x", "DELETE")
        for what in "added", "changed", "removed":
            wait_for(lambda w=what: any(f"camera x: {w} by 127.0.0.1" in line for line in server.log), what, 5)


def values():
    """values with line ends, other control characters or \\u0000 are refused"""
    with Served("--web-folder", folder) as server:
        for key, value in (("source.user-agent", "x\r\nY: z"), ("source.user-agent", "x\n"), ("uri", "rtsp://192.0.2.1/\x00b"),
                           ("uri", "rtsp://192.0.2.1/\rb"), ("record-uri", "rtsp://192.0.2.1/\nb"), ("source.user-id", "\x1b")):
            status, _, body = server.request("/api/cameras/x", "PUT", {"uri": "rtsp://192.0.2.1/a", key: value})
            tap.equal(status, 400, f"{key} {value!r}")
            assert b"character" in body, body
        tap.equal(server.get("/api/cameras")["cameras"], [])


def viewers_of_one_client():
    """one client holds half of the viewers at most"""
    with camera() as (_, port), Served(f"a=rtsp://127.0.0.1:{port}/camera") as server:
        wait_for(lambda: server.get("/api/cameras")["cameras"][0].get("state") == "playing", "not playing")
        host = server.url.split("//")[1]
        clients = []
        for _ in range(40):
            client = socket.create_connection(host.split(":"), timeout=20)
            client.sendall(f"GET /api/cameras/a/stream HTTP/1.1\r\nHost: {host}\r\nConnection: Upgrade\r\n"
                           "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                           "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n".encode())
            clients.append((client, client.recv(12)))
        tap.equal([answer for _, answer in clients], [b"HTTP/1.1 101"] * 32 + [b"HTTP/1.1 503"] * 8)
        clients[0][0].close()
        for client, _ in clients[1:]:
            client.close()


def ranges():
    """ranges of a file, as RFC 9110 has them"""
    name = "a/2026-01-01T00-00-00.000Z.jpg"
    content = bytes(range(100))
    (folder / "media/a").mkdir(parents=True)
    (folder / "media" / name).write_bytes(content)
    with Served("--folder", folder / "media") as server:
        for text, status, body, header in (
                ("bytes=-1000", 206, content, "bytes 0-99/100"), ("bytes=-10", 206, content[90:], "bytes 90-99/100"),
                ("bytes=-0", 416, None, "bytes */100"), ("bytes=100-", 416, None, "bytes */100"),
                ("bytes=0-0", 206, content[:1], "bytes 0-0/100"), ("bytes=95-", 206, content[95:], "bytes 95-99/100"),
                ("bytes=0-999999999999999999999", 206, content, "bytes 0-99/100"),
                ("bytes=5-2", 200, content, None), ("items=0-1", 200, content, None), ("bytes=", 200, content, None),
                ("bytes=-", 200, content, None), ("bytes=a-b", 200, content, None), ("bytes=0-1,5-6", 200, content, None)):
            answer = server.request(f"/media/{name}", Range=text)
            tap.equal((answer[0], answer[1]["Content-Range"]), (status, header), text)
            if body is not None:
                tap.equal(answer[2], body, text)


sys.exit(tap.run(wrong_tokens, secure_cookie, changes_in_the_log, values, viewers_of_one_client, ranges))
