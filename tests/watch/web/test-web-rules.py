#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What cameras may name that are added on the page or by the API: files and addresses. Prints TAP.

usage: test-web-rules.py OTHER_NAMES FOLDER_FAULTS, the preloaded libraries of these sources
"""
import concurrent.futures
import contextlib
import os
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import served  # noqa: E402
import tap  # noqa: E402

SECRET = "hunter2secret"
video = served.video("moving", (20, True))
files = served.folder / "allowed"
files.mkdir()
(files / "store").mkdir()
inside = files / "inside.mp4"
inside.write_bytes(video.read_bytes())
store = files / "store"
disk = served.folder / "disk"
PRELOADED = {**os.environ, "LD_PRELOAD": f"{sys.argv[1]} {sys.argv[2]} {os.environ.get('LD_PRELOAD', '')}",
             "FAULTY_FOLDER": str(store), "FAULTY_FOLDER_STATE": str(disk)}
server = served.Served("--web-folder", files, "--folder", store, "--state", store / "state.conf", "--set", "pace=true", "--set", "loop=true", f"door={video}",
                       env=PRELOADED)


def put(keys, to=None, name="new", method="PUT"):
    status, _, body = (to or server).request(f"/api/cameras/{name}", method, keys)
    return status, body.decode()


def refused(word, **keys):
    """Puts a camera that must be refused at once; returns the answer."""
    keys = {name.replace("__", ".").replace("_", "-"): str(value) for name, value in keys.items()}
    begin = time.monotonic()
    status, text = put(keys)
    tap.equal(status, 400, f"{keys}: {text}")
    assert word in text and len(text.splitlines()) == 1, f"{keys}: {text}"
    assert time.monotonic() < begin + 3, "it waited"
    return text


def other_files():
    """files are refused unless they are regular ones below the folder, and the answer does not tell whether they exist"""
    fifo, link, away = files / "fifo", files / "link.mp4", files / "away"
    os.mkfifo(fifo)
    link.symlink_to(video)
    away.symlink_to(served.folder)
    (served.folder / "allowed2").mkdir()
    beside = served.folder / "allowed2" / "beside.mp4"
    beside.write_bytes(b"")
    answers = {refused("web-folders", uri=uri) for uri in (
        video, "/etc/passwd", "/etc/nowhere", "/nowhere/x", f"file://{video}", f"FILE://{video}", "file:///etc/passwd",
        fifo, files, link, away / video.name, beside, files / ".." / video.name, "/dev/zero", "moving.mp4",
        f"{files}/%2e%2e/{video.name}", "file:/etc/passwd", "file:/etc/passwd?://")}
    tap.equal(len(answers), 1, "answers")
    tap.equal(put({"uri": str(inside)})[0], 201)
    tap.equal(server.request("/api/cameras/new", "DELETE")[0], 204)


def masks():
    """masks and regions are refused unless they are regular files below the folder, also in quotes; nothing of a file is in an answer"""
    rtsp = "rtsp://198.51.100.1/"
    for path in "/dev/zero", "/etc/passwd", "/etc/nowhere", files / "fifo", files, '"\\057etc\\057passwd"', "":
        refused("web-folders", uri=rtsp, ccl__roi_mask=path)
        refused("web-folders", uri=rtsp, ccltrack__regions_location=path)
    (files / "secret.json").write_text(f'{{"{SECRET}": 1}}')
    (files / "secret.txt").write_text(SECRET)
    for name in "secret.json", "secret.txt":
        for key in "ccl__roi_mask", "ccltrack__regions_location":
            text = refused(name, uri=rtsp, **{key: files / name})
            assert SECRET not in text, text
    (files / "mask.pgm").write_bytes(b"P5 2 1 255\n\0\1")
    (files / "regions.json").write_text('{"lines": [{"name": "a", "points": [[1, 1], [2, 2]]}]}')
    tap.equal(put({"uri": rtsp, "ccl.roi-mask": str(files / "mask.pgm"), "ccltrack.regions": "line b 1,1 2,2",
                   "ccltrack.ground": "0,0 0,0; 9,0 1,0; 9,9 1,1; 0,9 0,1",
                   "ccltrack.regions-location": str(files / "regions.json")})[0], 201)
    tap.equal(server.request("/api/cameras/new", "DELETE")[0], 204)


def schemes():
    """only the schemes of the list are accepted, and those that the configuration adds"""
    for uri in ("udp://198.51.100.1:9", "fd://0", "rtmp://198.51.100.1/x", "tcp://198.51.100.1:9", "data://,x", "x:://",
                "concat://x"):
        refused("web-schemes", uri=uri)
    for uri in "v4l2:///etc/passwd", "/dev/video0/../zero", "v4l2://dev/video0", "/dev/videoo":
        refused("device", uri=uri)
    with served.Served("--web-scheme", "rtmp", "--web-scheme=udp") as other:
        tap.equal(put({"uri": "udp://198.51.100.1:9"}, other)[0], 201)


def addresses():
    """loopback and link-local addresses are refused in all spellings"""
    for host in ("127.0.0.1", "127.1", "2130706433", "0x7f.1", "0x7f000001", "0177.0.0.1", "localhost", "LOCALHOST",
                 "localhost.", "a.localhost", "ip6-localhost", "0.0.0.0", "0", "[::1]", "[::]", "[::ffff:127.0.0.1]",
                 "[::ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[fe80::1]",
                 "[fe80::1%25lo]", "169.254.169.254", "[::ffff:169.254.169.254]", "user:pw@127.0.0.1", "%31%32%37.0.0.1",
                 "１２７.0.0.1", "user@[::1]", "a%40b@127.0.0.1", "127.0.0.1.", "224.0.0.1"):
        for uri in f"rtsp://{host}/x", f"http://{host}:80/x", f"RTSPS://{host}:554?x@y":
            text = refused("web-local", uri=uri)
            assert "pw" not in text, text
    refused("web-local", uri="rtsp://10.0.0.1/", record_uri="rtsp://127.0.0.1/x")
    refused("web-schemes", uri="rtsp://10.0.0.1/", record_uri="rtmp://10.0.0.1/x")
    for host in "10.0.0.1", "192.168.1.1", "[2001:db8::1]", "camera.example", "128.0.0.1":
        tap.equal(put({"uri": f"rtsp://{host}/"})[0] // 100, 2, host)
    server.request("/api/cameras/new", "DELETE")


def source_properties():
    """properties of the source that are addresses or files are only for the configuration"""
    rtsp, http = "rtsp://198.51.100.1/", "http://198.51.100.1/"
    for uri, key, value in ((rtsp, "location", "rtsp://127.0.0.1/"), (rtsp, "proxy", "http://127.0.0.1"),
                            (http, "location", "http://127.0.0.1"), (http, "proxy", "127.0.0.1"),
                            (http, "ssl-ca-file", "/etc/passwd"), (http, "extra-headers", "a,b=c"),
                            ("/dev/video0", "device", "/etc/passwd")):
        refused("only the configuration", uri=uri, **{f"source__{key}": value})
    refused("only the configuration", uri=rtsp, decoder__location="/etc/passwd")
    tap.equal(put({"uri": rtsp, "source.protocols": "udp", "source.latency": 100, "source.user-id": "u",
                   "source.user-pw": SECRET, "decoder.max-threads": 1})[0] // 100, 2)


def passwords():
    """a password stays with its uri: another uri needs it again"""
    status, text = put({"uri": "rtsp://203.0.113.1/"}, method="PATCH")
    tap.equal(status, 400, text)
    assert "source.user-pw" in text, text
    status, text = put({"record-uri": "rtsp://203.0.113.1/"}, method="PATCH")
    tap.equal(status, 400, text)
    assert "source.user-pw" in text, text
    tap.equal(put({"uri": "rtsp://203.0.113.1/", "source.user-pw": "other"}, method="PATCH")[0], 200)
    tap.equal(put({"uri": "rtsp://203.0.113.2/", "source.user-pw": None}, method="PATCH")[0], 200)
    tap.equal(server.request("/api/cameras/new", "DELETE")[0], 204)


def configured():
    """a camera keeps what the configuration gives it, and gets it back"""
    tap.equal(put({"timeout": 7}, name="door", method="PATCH")[0], 200)
    tap.equal(put({"uri": "rtsp://198.51.100.1/"}, name="door", method="PATCH")[0], 200)
    tap.equal(put({"uri": str(video), "pace": True, "loop": True}, name="door")[0], 200)
    refused("web-folders", uri=video)


def state_file():
    """a camera of the state file that breaks the rules is reported and left out; with other rules it is there"""
    state = served.folder / "state.conf"
    state.write_text(f"[camera a]\nuri={video}\n[camera b]\nuri=rtsp://127.0.0.1:9/\n[camera c]\nuri={inside}\n")
    for words, names in (["--web-folder", files], ["c"]), (["--web-folder", served.folder, "--web-local"], ["a", "b", "c"]):
        with served.Served("--state", state, *words) as other:
            tap.equal([camera["name"] for camera in other.get("/api/cameras")["cameras"]], names)
            reported = [line for line in other.log if "web-" in line]
            tap.equal(len(reported), 3 - len(names), reported)


@contextlib.contextmanager
def listener(answer=b""):
    """A server that sends an answer to each client; yields its port and the list of first lines that it got."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(30)
        requests = []

        def serve():
            with contextlib.suppress(OSError):
                while True:
                    client, _ = listening.accept()
                    client.settimeout(3)
                    requests.append("")
                    with client, contextlib.suppress(OSError):
                        requests[-1] = client.recv(4096).decode(errors="replace").splitlines()[0]
                        client.sendall(answer)
        threading.Thread(target=serve, daemon=True).start()
        yield listening.getsockname()[1], requests
        listening.shutdown(socket.SHUT_RDWR)


def tried(to, name, number=2):
    """Waits until a camera has failed to connect so many times."""
    served.wait_for(lambda: to.get(f"/api/cameras/{name}")["reconnects"] >= number, f"{name} tries again")


def names():
    """names that lead to a loopback address, also those that do so later, are not connected"""
    with listener() as (port, requests):
        for name, uri in (("a", f"rtsp://inside.test:{port}/"), ("b", f"http://inside.test:{port}/"),
                          ("c", f"rtsp://changing.test:{port}/")):
            tap.equal(put({"uri": uri, "retry-max": 0.2, "timeout": 0.5}, name=name)[0], 201)
        for name in "abc":
            tried(server, name)
        served.wait_for(lambda: "loopback" in (server.get("/api/cameras/a")["detail"] or ""), "the reason")
        tap.equal(requests, [])
        for name in "abc":
            server.request(f"/api/cameras/{name}", "DELETE")
        tap.equal(len([line for line in server.log if "inside.test" in line and "web-local" in line]), 1, server.log)
        for words in ["--web-local"], [f"x=rtsp://inside.test:{port}/x"]:
            with served.Served(*words, env=PRELOADED) as other:
                tap.equal(put({"uri": f"rtsp://inside.test:{port}/y"}, other)[0], 201)
                served.wait_for(lambda: [r for r in requests if r.endswith("/y RTSP/1.0")], "a connection")
            requests.clear()


def redirections():
    """a camera cannot send ccl-watch on to a loopback address"""
    with listener() as (port, requests):
        http = f"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:{port}/\r\nContent-Length: 0\r\n\r\n".encode()
        rtsp = f"RTSP/1.0 302 Found\r\nCSeq: 1\r\nLocation: rtsp://127.0.0.1:{port}/\r\n\r\n".encode()
        with listener(http) as (http_port, http_requests), listener(rtsp) as (rtsp_port, rtsp_requests), served.Served(
                "--set", "retry-max=0.2", "--set", "timeout=0.5", f"a=http://inside.test:{http_port}/",
                f"b=rtsp://inside.test:{rtsp_port}/", env=PRELOADED) as other:
            for name in "ab":
                tried(other, name)
            assert http_requests and rtsp_requests, (http_requests, rtsp_requests)
            assert any('no connection to "127.0.0.1"' in line for line in other.log), other.log
        tap.equal(requests, [])


def answer_rtsp(client, port):
    """Answers as a camera does that sends by UDP, and has reports sent to a loopback port."""
    sdp = "v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=x\r\nt=0 0\r\nm=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\na=control:a\r\n"
    with client, client.makefile("r", newline="\r\n") as lines, contextlib.suppress(OSError, ValueError):
        while (request := lines.readline().split()):
            headers = dict(line.rstrip().split(": ", 1) for line in iter(lines.readline, "\r\n"))
            answer = f"RTSP/1.0 200 OK\r\nCSeq: {headers['CSeq']}\r\nSession: 1\r\n"
            if request[0] == "SETUP":
                receiver = headers["Transport"].rsplit("client_port=", 1)[1].split(";")[0]
                answer += (f"Transport: RTP/AVP;unicast;source=127.0.0.1;client_port={receiver};"
                           f"server_port={port}-{port}\r\n")
            body = sdp if request[0] == "DESCRIBE" else ""
            client.sendall(f"{answer}Public: DESCRIBE, SETUP, PLAY\r\nContent-Type: application/sdp\r\n"
                           f"Content-Length: {len(body)}\r\n\r\n{body}".encode())


def datagrams():
    """a camera by UDP cannot have its reports sent to a loopback port"""
    with socket.create_server(("127.0.0.1", 0)) as listening, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as target:
        def serve():
            with contextlib.suppress(OSError):
                while True:
                    threading.Thread(target=answer_rtsp, args=(listening.accept()[0], port), daemon=True).start()
        target.bind(("127.0.0.1", 0))
        target.settimeout(20)
        port = target.getsockname()[1]
        threading.Thread(target=serve, daemon=True).start()
        keys = {"uri": f"rtsp://198.51.100.7:{listening.getsockname()[1]}/", "source.protocols": "udp", "timeout": 2}
        tap.equal(put(keys)[0], 201)
        tried(server, "new")
        target.setblocking(False)
        try:
            raise AssertionError(f"sent: {target.recv(100)}")
        except BlockingIOError:
            pass
        tap.equal(len([line for line in server.log if 'no connection to "127.0.0.1"' in line]), 1, server.log)
        server.request("/api/cameras/new", "DELETE")
        target.settimeout(20)
        with served.Served("--web-local", env=PRELOADED) as other:
            tap.equal(put(keys, other)[0], 201)
            assert target.recv(100), "with web-local, reports are sent"
        listening.shutdown(socket.SHUT_RDWR)


def hangs():
    """a disk that hangs: requests for its files fail, page, /healthz and SIGHUP go on, and so do later changes"""
    clip = store / "door" / "2026-11-22T04-30-00.123Z.mp4"
    clip.parent.mkdir(parents=True, exist_ok=True)
    clip.write_bytes(b"x")
    (store / "mask.pgm").write_bytes(b"P5 2 1 255\n\0\1")
    requests = [("/api/cameras/hung", "PUT", {"uri": "rtsp://198.51.100.1/", "ccl.roi-mask": str(store / "mask.pgm")}),
                ("/api/cameras/late", "PUT", {"uri": "rtsp://198.51.100.1/"}), *[(f"/media/door/{clip.name}",)] * 3]
    disk.write_text("hangs")
    with concurrent.futures.ThreadPoolExecutor(len(requests)) as clients:
        answers = [clients.submit(server.request, *request) for request in requests]
        time.sleep(0.2)
        begin = time.monotonic()
        for path in "/healthz", "/", "/api/cameras", "/api/events", "/metrics":
            tap.equal(server.request(path)[0], 200, path)
        assert time.monotonic() < begin + 3, "the server waited"
        logged = len(server.log)
        server.process.send_signal(signal.SIGHUP)
        tap.equal([answer.result()[0] for answer in answers], [503] * len(requests))
    tap.equal([camera["name"] for camera in server.get("/api/cameras")["cameras"]], ["door"])
    disk.write_text("works")
    served.wait_for(lambda: any("read again" in line for line in server.log[logged:]), "the message")
    tap.equal([camera["name"] for camera in server.get("/api/cameras")["cameras"]], ["door", "late"], "made after all")
    tap.equal(put({"timeout": 9}, name="door", method="PATCH")[0], 200)
    tap.equal(server.request(f"/media/door/{clip.name}")[2], b"x")


def token_file():
    """a token file that other users may read is refused, as ssh refuses such a key"""
    path = served.folder / "token"
    path.write_text("a token of the tests 0123456789\n")
    for mode, status in (0o644, 2), (0o604, 2), (0o640, 0), (0o440, 0), (0o600, 0):
        path.chmod(mode)
        done = subprocess.run([served.WATCH, "--check", "--http=127.0.0.1:0", "--token-file", path],
                              capture_output=True, text=True, timeout=20)
        tap.equal(done.returncode, status, f"{mode:o}: {done.stderr}")
        if status:
            assert "other users" in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr


def ends():
    """SIGTERM ends the program"""
    tap.equal(server.stop(), 0)


try:
    status = tap.run(other_files, masks, schemes, addresses, source_properties, passwords, configured, state_file, names,
                     redirections, datagrams, hangs, token_file, ends)
finally:
    if server.process.poll() is None:
        server.process.kill()
sys.exit(status)
