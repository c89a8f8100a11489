#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Webhooks, outputs of ccl-watch by HTTP: to receivers that are away, hung, slow, refuse, fail, redirect, answer without
end, or have a wrong certificate. Then lines are counted. Prints TAP.

usage: test-webhooks.py CCL_WATCH FEED_OUTPUT
"""
import base64
import functools
import hashlib
import hmac
import http.server
import itertools
import json
import pathlib
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from fake_receiver import FakeReceiver, status  # noqa: E402
from feeding import Feed  # noqa: E402
from watching import Watch, ball, folder, free_port, get, make_certificate, needs, numbers, tap, wait_for  # noqa: E402

PROGRAM, FEEDER = sys.argv[1:]
watch = functools.partial(Watch, PROGRAM)
feed = functools.partial(Feed, FEEDER)
OK = status(204)


def url(receiver, path="hooks/a", scheme="http", user=""):
    return f"{scheme}://{user}127.0.0.1:{receiver.port}/{path}"


def delivered(fed, n):
    """Waits until all are; returns the status at the end."""
    try:
        wait_for(lambda: fed.status()["delivered"] == n, f"not {n} lines")
    except AssertionError as error:
        raise AssertionError(f"{error}: {fed.status()}, {fed.log()}") from None
    return fed.end()


def lines_of_a_camera():
    """A real HTTP server gets every line of a camera in order, as JSON"""
    bodies, types = [], set()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            bodies.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            types.add(self.headers["content-type"])
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"ok")

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with watch(f"a={ball(60, 30)}", "-s", "ccl.min-area=20", "-o", f"http://127.0.0.1:{server.server_port}/x?y=1") as program:
        tap.equal(program.finish(), 0, "exit status")
        tap.equal(bodies, program.lines.usual(), "lines")
        tap.equal(numbers(bodies), list(range(60)), "frames")
        tap.equal(types, {"application/json"}, "types")
    server.shutdown()


def kinds_of_events():
    """events= chooses kinds of events; without it, a receiver gets those that a person acts on, and a file gets all"""
    kinds = "state appeared merged split entered crossed motion-begin vanished removed scene-change unheard-of".split()
    usual = [kind for kind in kinds if kind not in ("merged", "split")]
    for options, wanted in ((), usual), (["events=all"], kinds), (["events=usual,split"], [*usual, "split"]), \
            (["events=vanished, entered,appeared"], ["appeared", "entered", "vanished", "unheard-of"]):
        with FakeReceiver(lambda _: OK) as receiver, feed(url(receiver), *options) as fed:
            fed.push(1)
            for kind in kinds:
                fed.event(kind)
            tap.equal(fed.end()["dropped"], 0, "dropped")
        bodies = [json.loads(body) for _, body in receiver.requests]
        tap.equal([body.get("event", "frame") for body in bodies], ["frame", *(kind for kind in kinds if kind in wanted)], options)
    path = folder / "kinds.ndjson"
    path.unlink(missing_ok=True)
    with feed(path) as fed:
        for kind in kinds:
            fed.event(kind)
        fed.end()
    tap.equal([json.loads(line)["event"] for line in path.read_text().splitlines()], kinds, "a file")
    for text in "", "appeared,", "moved":
        with feed("http://127.0.0.1:1/", f"events={text}") as fed:
            tap.equal(fed.process.wait(timeout=10), 2, text)
            assert "events: " in fed.log() and "crossed" in fed.log(), fed.log()


def events_alone():
    """results=events: an output gets the events, another one all lines"""
    with FakeReceiver(lambda _: OK) as receiver:
        path = folder / "webhook.conf"
        path.write_text(f"[camera a]\nuri={ball(30, 30)}\nccl.min-area=20\n[output hook]\nuri={url(receiver)}\nresults=events\n"
                        f"[output file]\nuri={folder}/lines.ndjson\n")
        with watch("--config", path, output=False) as program:
            tap.equal(program.finish(), 0, "exit status")
            events = [line for line in program.lines.usual() if "event" in line]
            assert len(events) > 1 and program.lines.frames(), program.lines.text()
            tap.equal([json.loads(body) for _, body in receiver.requests], events, "lines")


def signature_and_password():
    """The body is signed with the key of a file, the password is sent, and neither is printed; SIGHUP reads the key"""
    key_file = folder / "webhook.key"
    key_file.write_text("s3cret key\n")
    key_file.chmod(0o600)
    with FakeReceiver(lambda _: OK) as receiver:
        path = folder / "webhook.conf"
        path.write_text(f"[camera a]\nuri={ball(50, 25)}\nccl.min-area=20\npace=true\nloop=true\n[output hook]\n"
                        f"uri={url(receiver, 'path-s3cret', user='joe:w0rd%40@')}\nkey-file={key_file}\n")
        path.chmod(0o600)
        with watch("--config", path, "--http=127.0.0.1:0") as program:
            wait_for(lambda: len(receiver.requests) > 5, "no requests")
            headers, body = receiver.requests[0]
            tap.equal(headers["authorization"], "Basic " + base64.b64encode(b"joe:w0rd@").decode())
            for key in ("s3cret key", "another"):
                key_file.write_text(key)
                program.process.send_signal(signal.SIGHUP)
                wait_for(lambda: signs(key, *receiver.requests[-1]), "not signed")
            tap.equal(headers["x-ccl-signature-256"],
                      "sha256=" + hmac.new(b"s3cret key", body, hashlib.sha256).hexdigest())
            page = get(program, "/api/outputs")[1] + get(program, "/metrics")[1] + program.log()
            assert "s3cret" not in page and "w0rd" not in page, page
            assert f"http://127.0.0.1:{receiver.port}" in page, page


def signs(key, headers, body):
    return headers["x-ccl-signature-256"] == "sha256=" + hmac.new(key.encode(), body, hashlib.sha256).hexdigest()


def failing():
    """Statuses that pass, requests that are cut and a connection closed after each answer: every line arrives, in order"""
    answers = itertools.chain([OK, OK, status(503), OK, b"", status(429), OK, b"HTTP/1.1 2", OK, status(404)], itertools.repeat(OK))
    with FakeReceiver(lambda _: next(answers), keep=False) as receiver, feed(url(receiver)) as fed:
        fed.push(12)
        tap.equal(delivered(fed, 12)["dropped"], 0, "dropped")
        seen = [number for number, _ in itertools.groupby(receiver.numbers())]
        tap.equal(seen, list(range(12)), "numbers")


def absent():
    """A receiver that is away: lines wait, the newest stay when the queue is full; the log says it once"""
    port = free_port()
    with feed(f"http://127.0.0.1:{port}/x", "queue=20") as fed:
        fed.flood(50)
        wait_for(lambda: "trying again" in fed.log(), "nothing in the log")
        time.sleep(1.2)
        tap.equal(fed.log().count("trying again"), 1, fed.log())
        answer = fed.status()
        tap.equal((answer["connected"], answer["queued"], answer["dropped"]), (False, 20, 30))
        with FakeReceiver(lambda _: OK, port=port) as receiver:
            delivered(fed, 20)
            tap.equal(receiver.numbers(), list(range(30, 50)), "numbers")
            assert "works again" in fed.log(), fed.log()


def refused_lines():
    """A line that is refused is dropped and named; a refusal of everything keeps the lines"""
    with FakeReceiver(lambda request: status(413) if len(request[1]) > 5000 else OK) as receiver, \
            feed(url(receiver)) as fed:
        for length in (100, 100, 6000, 100):
            fed.push(1, length)
        wait_for(lambda: fed.status()["delivered"] == 3, "not delivered")
        answer = fed.end()
        tap.equal((answer["delivered"], answer["camera_dropped"]), (3, 1))
        assert "with 6000 bytes was refused" in fed.log() and "413" in fed.log(), fed.log()
    is_allowed = threading.Event()
    with FakeReceiver(lambda request: OK if is_allowed.is_set() else status(401)) as receiver, feed(url(receiver)) as fed:
        fed.push(3)
        wait_for(lambda: "answers 401" in fed.log(), "nothing in the log")
        wait_for(lambda: not fed.status()["connected"], "connected")
        is_allowed.set()
        tap.equal(delivered(fed, 3)["dropped"], 0)


def hangs_up():
    """A long line that makes the receiver end each connection is dropped; one that it is too busy for is not"""
    def cut(request):
        return b"" if len(request[1]) > 40000 else OK
    busy = iter([status(503)] * 5)
    with FakeReceiver(cut, keep=False) as cutter, feed(url(cutter)) as cut_off, \
            FakeReceiver(lambda request: next(busy, OK)) as receiver, feed(url(receiver)) as fed:
        cut_off.push(1, 50000)
        fed.push(1, 50000)
        cut_off.push(2)
        answer = delivered(cut_off, 2)
        tap.equal((answer["dropped"], answer["queued"]), (1, 0))
        tap.equal(delivered(fed, 1)["dropped"], 0)


def hung():
    """A receiver that never answers, or a letter at a time: the request is given up, and the program ends in time"""
    for answer in (None, [b"H"] * 1000):
        with FakeReceiver(lambda _: answer) as receiver, feed(url(receiver), "timeout=0.5") as fed:
            fed.push(2)
            wait_for(lambda: len(receiver.requests) >= 2, "not tried again")
            wait_for(lambda: "does not answer" in fed.log(), "nothing in the log")
            tap.equal(set(receiver.numbers()), {0}, "numbers")
            receiver.answer = lambda _: OK
            tap.equal(delivered(fed, 2)["dropped"], 0)
    with FakeReceiver(lambda _: None) as receiver, \
            watch(f"a={ball(50, 25)}", "-s", "pace=true", "-s", "loop=true", "-o", url(receiver)) as program:
        wait_for(lambda: receiver.requests, "no request")
        tap.equal(program.finish(signal.SIGTERM, 15), 0, "exit status")


def endless_answer():
    """An answer without end, or after which the connection stays open, holds nothing up: its status counts"""
    with FakeReceiver(lambda _: [b"HTTP/1.1 200 OK\r\nContent-Length: 999999999\r\n\r\n", *[b"x" * 100000] * 1000]) as receiver, \
            feed(url(receiver)) as fed:
        fed.push(5)
        tap.equal(delivered(fed, 5)["dropped"], 0)
        tap.equal(receiver.numbers(), list(range(5)))


def redirected():
    """A redirection is not followed: another host gets neither lines nor password"""
    with FakeReceiver(lambda _: OK) as other:
        answer = status(307, f"Location: http://127.0.0.1:{other.port}/")
        with FakeReceiver(lambda _: answer) as receiver, feed(url(receiver, user="joe:word@")) as fed:
            fed.push(1)
            wait_for(lambda: "answers 307" in fed.log(), "nothing in the log")
            tap.equal((other.requests, fed.status()["delivered"]), ([], 0))


def certificates():
    """https: lines go only to a receiver whose certificate is right; the log says why"""
    needs("openssl")
    make_certificate(folder, "right")
    make_certificate(folder, "wrong")
    with FakeReceiver(lambda _: OK, f"{folder}/wrong") as receiver:
        with feed(url(receiver, scheme="https"), f"cafile={folder}/right.crt") as fed:
            fed.push(3)
            wait_for(lambda: "certificate is not valid" in fed.log(), "the cause is not in the log")
            tap.equal((receiver.requests, fed.status()["connected"]), ([], False))
            receiver.use(f"{folder}/right")
            tap.equal(delivered(fed, 3)["dropped"], 0)
            tap.equal(receiver.numbers(), [0, 1, 2])
    # Without a cafile, the system's authorities count, which do not know it.
    with FakeReceiver(lambda _: OK, f"{folder}/right") as receiver, feed(url(receiver, scheme="https")) as fed:
        fed.push(1)
        wait_for(lambda: "certificate is not valid" in fed.log(), "the cause is not in the log")
        tap.equal(receiver.requests, [])


def wrong_options():
    """Options that cannot be are refused by --check"""
    open_key, empty_key = folder / "open.key", folder / "empty.key"
    open_key.write_text("x")
    open_key.chmod(0o644)
    empty_key.write_text("\n")
    empty_key.chmod(0o600)
    for uri, options, words in (("http:///x", "", "the URI must be"), ("http://h/", f"key-file={open_key}", "other users"),
                                ("http://h/", f"key-file={empty_key}", "empty"), ("http://h/", "timeout=0", "timeout"),
                                ("https://h/", "cafile=/no", "cafile"), ("http://h/", "results=frames", "none of all"),
                                ("http://h/", "token=x", "no key")):
        path = folder / "wrong.conf"
        path.write_text(f"[output hook]\nuri={uri}\n{options}\n[camera a]\nuri={ball(10, 10)}\n")
        path.chmod(0o600)
        result = subprocess.run([PROGRAM, "--check", "--config", path], stderr=subprocess.PIPE, text=True, check=False)
        tap.equal(result.returncode, 2, result.stderr)
        assert words in result.stderr, result.stderr


def one_connection():
    """all lines take one connection"""
    with FakeReceiver(lambda request: OK) as receiver, feed(url(receiver)) as fed:
        fed.push(200)
        delivered(fed, 200)
        tap.equal(receiver.numbers(), list(range(200)))
        assert receiver.n_connections <= 2, receiver.n_connections


def several_lines():
    """lines=N: up to N lines a request, in order; where one is refused, it alone is dropped"""
    def answer(request):
        return status(400) if b'"n":57' in request[1] or b'"n": 57' in request[1] else OK
    with FakeReceiver(answer) as receiver, feed(url(receiver), "lines=20") as fed:
        fed.push(200)
        wait_for(lambda: fed.status()["delivered"] == 199, "not 199 lines")
        tap.equal(fed.end()["dropped"], 1)
        assert len(receiver.requests) < 60, len(receiver.requests)
        assert {headers["content-type"] for headers, _ in receiver.requests} == {"application/x-ndjson"}
        lines = [line for _, body in receiver.requests for line in body.splitlines()]
        tap.equal(list(dict.fromkeys(json.loads(line)["n"] for line in lines)), list(range(200)))


sys.exit(tap.run(kinds_of_events, one_connection, several_lines, lines_of_a_camera, events_alone, signature_and_password, failing, absent, refused_lines, hangs_up, hung,
                 endless_answer, redirected, certificates, wrong_options))
