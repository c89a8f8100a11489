#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The web server of ccl-watch: JSON API, metrics, access control. Prints TAP."""
import concurrent.futures
import json
import pathlib
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import served  # noqa: E402
import tap  # noqa: E402

TOKEN = "a token of the tests 0123456789"
SECRET = "hunter2secret"
moving = served.video("moving", (60, True))
token_file = served.folder / "token"
token_file.write_text(TOKEN + "\n")
token_file.chmod(0o600)
store = served.folder / "store"
open_server = served.Served("--folder", store, "--web-folder", served.folder, "--set", "pace=true", f"door={moving}")
READ_TOKEN = "a token of readers 0123456789"
readers = served.folder / "readers.conf"
readers.write_text(f"[ccl-watch]\nread-token={READ_TOKEN}\n")
readers.chmod(0o600)
closed_server = served.Served("--token-file", token_file, "-c", readers, "--set", "pace=true", f"door={moving}",
                              f"gate=rtsp://admin:{SECRET}@127.0.0.1:9/s")


def playing(server, name="door"):
    return served.wait_for(
        lambda: (camera := server.get(f"/api/cameras/{name}"))["state"] == "playing" and camera,
        f"{name} plays")


def cameras():
    """/api/cameras: states and figures of all cameras"""
    playing(open_server)
    served.wait_for(lambda: open_server.get("/api/cameras")["cameras"][0]["fps"] > 0, "frames/s")
    camera, = open_server.get("/api/cameras")["cameras"]
    tap.equal((camera["name"], camera["state"], camera["width"], camera["height"]),
              ("door", "playing", served.WIDTH, served.HEIGHT))
    assert camera["frames"] > 0 and 0 < camera["latency"] < 5, camera
    tap.equal(camera["reconnects"], 0)


def events():
    """/api/events: the latest events, newest first, with their pictures"""
    def with_picture():
        found = open_server.get("/api/events?kinds=motion-begin&camera=door")["events"]
        return found if found and "picture" in found[-1] else None
    found = served.wait_for(with_picture, "a motion with a picture")
    tap.equal((found[-1]["source"], found[-1]["event"]), ("door", "motion-begin"))
    status, headers, body = open_server.request(found[-1]["picture"])
    tap.equal((status, headers["Content-Type"], body[:2]), (200, "image/jpeg", b"\xff\xd8"))
    tap.equal(open_server.get(f"/api/events?after={found[0]['number']}&kinds=motion-begin")["events"],
              [])
    everything = open_server.get("/api/events?limit=1000")["events"]
    numbers = [event["number"] for event in everything]
    tap.equal(numbers, sorted(numbers, reverse=True))
    tap.equal(open_server.get("/api/events?camera=nobody")["events"], [])


def counts():
    """/api/cameras/NAME/counts: the number of components over time"""
    playing(open_server)
    # In the first frames there may be a second component, where the square was at the start.
    served.wait_for(lambda: 1 in open_server.get("/api/cameras/door/counts?seconds=60&points=60")["counts"],
                    "the square is counted")
    answer = open_server.get("/api/cameras/door/counts?seconds=600&points=150")
    tap.equal((answer["step"], len(answer["counts"]), answer["counts"][0]), (4, 150, None))
    first = min(line["utc"] for line in open_server.lines)
    assert answer["since"] <= first < answer["end"], (answer["since"], first)


def live_picture():
    """/api/cameras/NAME/picture: a JPEG of the width that is asked for, with boxes or without"""
    playing(open_server)
    sizes = set()
    for query in "?boxes=1&width=80", "?boxes=0&width=80", "?width=9999":
        status, headers, body = open_server.request(f"/api/cameras/door/picture{query}")
        tap.equal((status, headers["Content-Type"], body[:2]), (200, "image/jpeg", b"\xff\xd8"))
        sizes.add(jpeg_size(body))
    tap.equal(sizes, {(80, 60), (served.WIDTH, served.HEIGHT)})
    tap.equal(open_server.request("/api/cameras/nobody/picture")[0], 404)


def media():
    """/media: files and ranges of them; no symbolic link below the folder is followed"""
    content = bytes(range(256)) * 4000
    name = "2026-11-22T04-30-00.123Z.mp4"
    folder = store / "made"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)
    for text, first, last in ((None, 0, len(content) - 1), ("bytes=0-0", 0, 0), ("bytes=700000-", 700000, len(content) - 1),
                              ("bytes=300000-900000", 300000, 900000), ("bytes=-5", len(content) - 5, len(content) - 1),
                              ("bytes=1-99999999", 1, len(content) - 1), ("bytes=0-1,5-6", 0, len(content) - 1)):
        status, headers, body = open_server.request(f"/media/made/{name}", **({"Range": text} if text else {}))
        part = content[first:last + 1]
        tap.equal((status, body == part), (200 if part == content else 206, True), text)
        tap.equal(headers["Content-Range"], None if part == content else f"bytes {first}-{last}/{len(content)}", text)
        tap.equal((headers["Content-Type"], headers["Accept-Ranges"]), ("video/mp4", "bytes"))
    tap.equal(open_server.request(f"/media/made/{name}", Range="bytes=2000000-")[0], 416)
    status, headers, body = open_server.request(f"/media/made/{name}", "HEAD")
    tap.equal((status, headers["Content-Length"], body), (200, str(len(content)), b""))
    outside = served.folder / "outside"
    outside.mkdir()
    (outside / name).write_text("outside")
    (folder / name.replace("04-30", "04-31")).symlink_to(outside / name)
    (store / "linked").symlink_to(outside)
    for path in f"made/{name.replace('04-30', '04-31')}", f"linked/{name}":
        status, _, body = open_server.request(f"/media/{path}")
        tap.equal((status, b"outside" in body), (404, False), path)


def many_ranges():
    """a request for thousands of ranges costs no more than one for the whole"""
    whole = open_server.request("/page.js")[2]
    body = open_server.request("/page.js", Range="bytes=" + ",".join(["0-"] * 5000))[2]
    tap.equal(len(body), len(whole))


def many_viewers():
    """/api/cameras/NAME/picture: clients that ask at the same time share one picture"""
    playing(open_server)
    with concurrent.futures.ThreadPoolExecutor(20) as viewers:
        answers = list(viewers.map(lambda _: open_server.request("/api/cameras/door/picture?width=100"), range(60)))
    tap.equal({status for status, _, _ in answers}, {200})
    pictures = {body for _, _, body in answers}
    assert len(pictures) < 30, f"{len(pictures)} different pictures"
    with concurrent.futures.ThreadPoolExecutor(20) as viewers:
        answers = list(viewers.map(lambda width: open_server.request(f"/api/cameras/door/picture?width={width}")[0],
                                   range(20, 160, 4)))
    tap.equal(set(answers), {200}, "different pictures at the same time")


def jpeg_size(data):
    at = 2
    while data[at + 1] not in (0xc0, 0xc1, 0xc2):
        at += 2 + int.from_bytes(data[at + 2:at + 4], "big")
    return (int.from_bytes(data[at + 7:at + 9], "big"), int.from_bytes(data[at + 5:at + 7], "big"))


def change_cameras():
    """a camera is added, changed and removed while the others go on"""
    before = open_server.get("/api/cameras/door")["frames"]
    status, _, body = open_server.request(
        "/api/cameras/yard", "PUT", {"uri": str(moving), "pace": True, "ccl.min-area": 300})
    tap.equal(status, 201, body)
    camera = playing(open_server, "yard")
    tap.equal(camera["settings"]["ccl.min-area"], "300")
    served.wait_for(lambda: any(line["source"] == "yard" for line in open_server.events("state")), "its first state")
    appeared = len(open_server.events("state"))
    tap.equal(open_server.request("/api/cameras/yard", "PATCH", {"ccl.min-area": 99999})[0], 200)
    settings = open_server.get("/api/cameras/yard")["settings"]
    tap.equal((settings["ccl.min-area"], settings["pace"]), ("99999", "true"))
    served.wait_for(lambda: (c := open_server.get("/api/cameras/yard"))["state"] == "playing" and
                    c["components"] == 0, "the new setting holds")
    # While it plays: without a state, and so without learning anew.
    frames = open_server.get("/api/cameras/yard")["frames"]
    tap.equal(open_server.request("/api/cameras/yard", "PATCH", {"ccl.min-area": None, "cooldown": 3})[0], 200)
    served.wait_for(lambda: open_server.get("/api/cameras/yard")["components"] > 0, "the default of a setting that is gone")
    assert open_server.get("/api/cameras/yard")["frames"] > frames, "frames are counted anew"
    tap.equal([line for line in open_server.events("state")[appeared:] if line["source"] == "yard"], [], "states")
    live = open_server.get("/api/settings")["live"]
    assert {"ccl.min-area", "ccltrack.regions", "schedule", "schedule.*"} <= set(live), live
    assert not {"uri", "results", "decoder", "ccltrack.max-tracks", "record-uri"} & set(live), live
    tap.equal(open_server.request("/api/cameras/yard", "PATCH", {"ccltrack.max-tracks": 100})[0], 200)
    served.wait_for(lambda: any(line["source"] == "yard" for line in open_server.events("state")[appeared:]),
                    "a setting that needs a new connection")
    tap.equal(open_server.request("/api/cameras/yard", "DELETE")[0], 204)
    tap.equal([c["name"] for c in open_server.get("/api/cameras")["cameras"]], ["door"])
    tap.equal(open_server.request("/api/cameras/yard", "DELETE")[0], 404)
    served.wait_for(lambda: open_server.get("/api/cameras/door")["frames"] > before, "frames of the other camera")
    tap.equal(open_server.get("/api/cameras/door")["reconnects"], 0)


def wrong_requests():
    """wrong requests are refused with a line that names the reason"""
    for path, method, body, status, text in [
            ("/api/cameras/x", "PUT", {}, 400, "uri"),
            ("/api/cameras/x", "PUT", b"[1]", 400, "JSON object"),
            ("/api/cameras/x", "PUT", b"{", 400, "JSON object"),
            ("/api/cameras/x", "PUT", {"uri": []}, 400, "uri"),
            ("/api/cameras/x", "PUT", {"uri": str(moving), "nonsense": 1}, 400, "nonsense"),
            ("/api/cameras/x", "PATCH", {"pace": True}, 404, "no such camera"),
            ("/api/cameras/..", "PUT", {"uri": str(moving)}, 400, ""),
            ("/api/cameras/a%20b", "PUT", {"uri": str(moving)}, 400, "name"),
            ("/api/cameras", "DELETE", None, 405, "method"),
            ("/api/events", "POST", b"", 405, "method"),
            ("/api/nothing", "GET", None, 404, ""),
            ("/api/cameras/x", "PUT", b"{" + b" " * 70000 + b"}", 413, "too long"),
            ("/media/../test", "GET", None, 404, ""),
            ("/media/door/%2e%2e/%2e%2e/token", "GET", None, 404, ""),
            ("/media/%2e%2e/token", "GET", None, 404, "")]:
        try:
            got, _, answer = open_server.request(path, method, body)
        except OSError:  # the server closes the connection while the long body is sent
            tap.equal(status, 413, path)
            continue
        if path == "/api/cameras/..":  # the path is /api/
            assert got in (404, 405), got
            continue
        tap.equal(got, status, f"{method} {path}: {answer}")
        assert text in answer.decode(), answer
    tap.equal([c["name"] for c in open_server.get("/api/cameras")["cameras"]], ["door"])


def cross_site():
    """requests of other sites change nothing, and other names of this machine are refused"""
    change = ("/api/cameras/evil", "PUT", {"uri": str(moving)})
    tap.equal(open_server.request(*change, own=False)[0], 403, "without the header")
    tap.equal(open_server.request(*change, Origin="http://evil.example")[0], 403, "other origin")
    tap.equal(open_server.request(*change, Origin="null")[0], 403, "no origin")
    tap.equal(open_server.request("/api/cameras", Host="evil.example")[0], 403, "other name")
    tap.equal(open_server.request("/api/cameras", Host="localhost")[0], 200, "localhost")
    status, headers, _ = open_server.request(
        "/api/cameras/evil", "OPTIONS", Origin="http://evil.example",
        Access_Control_Request_Method="PUT", Access_Control_Request_Headers="X-CCL-Watch")
    assert status >= 400 and not headers["Access-Control-Allow-Origin"], status
    tap.equal([c["name"] for c in open_server.get("/api/cameras")["cameras"]], ["door"])


def protection_headers():
    """every response has a content security policy and its companions"""
    for path in "/", "/page.js", "/api/cameras", "/nothing", "/metrics":
        _, headers, _ = open_server.request(path)
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy, policy
        tap.equal(headers["X-Content-Type-Options"], "nosniff")
        tap.equal(headers["Cross-Origin-Resource-Policy"], "same-origin")


def token():
    """with a token, nothing but the page, /healthz and the login is open"""
    for path in "/api/cameras", "/api/events", "/api/outputs", "/metrics", "/media/door/x.jpg", \
            "/api/cameras/door/picture":
        tap.equal(closed_server.request(path)[0], 401, path)
    for path in "/", "/page.js", "/healthz":
        tap.equal(closed_server.request(path)[0], 200, path)
    tap.equal(closed_server.request("/api/cameras", Authorization="Bearer wrong")[0], 401)
    tap.equal(closed_server.request("/api/cameras", Authorization=f"Bearer {TOKEN}")[0], 200)
    tap.equal(closed_server.request("/api/login", "POST", b"wrong")[0], 401)
    status, headers, _ = closed_server.request("/api/login", "POST", TOKEN.encode())
    tap.equal(status, 204)
    cookie = headers["Set-Cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and TOKEN not in cookie, cookie
    value = cookie.split(";")[0]
    tap.equal(closed_server.request("/api/cameras", Cookie=value)[0], 200)
    tap.equal(closed_server.request("/api/cameras/door", "DELETE", own=False, Cookie=value)[0], 403,
              "a change with the cookie alone")
    tap.equal(closed_server.request("/api/cameras", Cookie=value[:-1])[0], 401)


def read_token():
    """read-token: a client sees all and changes nothing; a browser signs out"""
    bearer = {"Authorization": f"Bearer {READ_TOKEN}"}
    _, headers, _ = closed_server.request("/api/login", "POST", READ_TOKEN.encode())
    cookie = {"Cookie": headers["Set-Cookie"].split(";")[0]}
    for client in bearer, cookie:
        for path in "/api/cameras", "/api/cameras/door", "/api/events", "/metrics":
            tap.equal(closed_server.request(path, **client)[0], 200, path)
        for path, method, body in (("/api/cameras/new", "PUT", {"uri": str(moving)}), ("/api/cameras/door", "PATCH", {"timeout": 3}),
                                   ("/api/cameras/door", "DELETE", None), ("/api/cameras/door/arming", "PUT", {"arming": "armed"}),
                                   ("/api/cameras/door/arming", "PUT", {"arming": "pause 60", "region": "x"}),
                                   ("/media/door/2026-01-01T00-00-00.000Z.jpg", "PUT", {"keep": True})):
            status, _, answer = closed_server.request(path, method, body, **client)
            tap.equal((status, b"changes nothing" in answer), (403, True), f"{method} {path}: {answer}")
        tap.equal(closed_server.get("/api/session", **client), {"token": True, "changes": False})
    tap.equal(closed_server.get("/api/session", Authorization=f"Bearer {TOKEN}"), {"token": True, "changes": True})
    # An administrator's token counts beside a reader's cookie.
    tap.equal(closed_server.request("/api/cameras/door", "PATCH", {}, Authorization=f"Bearer {TOKEN}", **cookie)[0], 200)
    tap.equal(closed_server.request("/api/cameras/door", "PATCH", {}, Authorization="Bearer wrong", **cookie)[0], 403)
    tap.equal(open_server.get("/api/session"), {"token": False, "changes": True})
    status, headers, _ = closed_server.request("/api/logout", "POST", **cookie)
    tap.equal((status, headers["Set-Cookie"].split(";")[0], "Max-Age=0" in headers["Set-Cookie"]), (204, "ccl-watch=", True))
    tap.equal(closed_server.request("/api/logout", "POST", own=False, **cookie)[0], 403, "another site signs nobody out")
    tap.equal(closed_server.request("/api/cameras", Cookie="ccl-watch=")[0], 401)
    for text, reason in ((f"token={TOKEN}\nread-token=short", "16 characters"), (f"read-token={READ_TOKEN}", "no token"),
                         (f"token={TOKEN}\nread-token={TOKEN}", "the same")):
        wrong = served.folder / "wrong.conf"
        wrong.write_text(f"[ccl-watch]\nhttp=127.0.0.1:0\n{text}\n[camera a]\nuri={moving}\n")
        wrong.chmod(0o600)
        result = subprocess.run([served.WATCH, "--check", "-c", wrong], capture_output=True, text=True, timeout=20)
        tap.equal(result.returncode, 2, result.stderr)
        assert reason in result.stderr and TOKEN not in result.stderr, result.stderr


def needs_token():
    """an address that other machines reach is refused without a token, and so is a short one"""
    short = served.folder / "short"
    short.write_text("short\n")
    short.chmod(0o600)
    for arguments in [], ["--token-file", str(short)]:
        result = subprocess.run([served.WATCH, "--http=0.0.0.0:0", *arguments, f"a={moving}"],
                                capture_output=True, text=True, timeout=20)
        tap.equal(result.returncode, 2, result.stderr)
        assert "token" in result.stderr, result.stderr


def secrets():
    """no answer and no log holds a password, and a change keeps it"""
    headers = {"Authorization": f"Bearer {TOKEN}"}
    closed_server.request("/api/cameras/gate", "PATCH", {"timeout": 7}, **headers)
    for path in "/api/cameras", "/api/cameras/gate", "/api/events", "/api/outputs", "/metrics":
        body = closed_server.request(path, **headers)[2].decode()
        assert SECRET not in body and "admin" not in body, f"{path}: {body}"
    _, _, body = closed_server.request(
        "/api/cameras/bad", "PUT", {"uri": f"nonsense://u:{SECRET}@h/", "nonsense": 1}, **headers)
    assert SECRET not in body.decode(), body
    assert SECRET not in "\n".join(closed_server.log), closed_server.log
    assert TOKEN not in "\n".join(closed_server.log), closed_server.log


def metrics():
    """/metrics is Prometheus' text format, and its figures agree with the API's"""
    try:
        from prometheus_client.parser import text_string_to_metric_families
    except ImportError:
        raise tap.Skip("python3-prometheus-client is not installed") from None
    playing(open_server)
    status, headers, body = open_server.request("/metrics")
    tap.equal((status, headers["Content-Type"].split(";")[0]), (200, "text/plain"))
    samples = {}
    for family in text_string_to_metric_families(body.decode()):
        assert family.documentation and family.type != "unknown", family.name
        for sample in family.samples:
            samples.setdefault(sample.name, []).append((sample.labels, sample.value))
    frames = open_server.get("/api/cameras/door")["frames"]
    (labels, value), = samples["ccl_watch_frames_total"]
    assert labels == {"camera": "door"} and frames - 20 <= value <= frames, (value, frames)
    tap.equal(sum(value for _, value in samples["ccl_watch_camera_state"]), 1)
    buckets = [value for _, value in samples["ccl_watch_latency_seconds_bucket"]]
    tap.equal(buckets, sorted(buckets))
    tap.equal(buckets[-1], samples["ccl_watch_latency_seconds_count"][0][1])
    for name in ("ccl_watch_skipped_frames_total", "ccl_watch_reconnects_total",
                 "ccl_watch_output_queue_lines", "ccl_watch_output_dropped_lines_total",
                 "ccl_watch_queue_frames", "ccl_watch_queue_lines",
                 "ccl_watch_dropped_lines_total", "ccl_watch_picture_queue", "ccl_watch_clip_queue_bytes",
                 "ccl_watch_incomplete_files_total", "process_resident_memory_bytes", "process_open_fds"):
        assert samples[name][0][1] >= 0, name


def queue_lengths():
    """/metrics: the lines of each camera that wait, and those that were dropped"""
    configuration = served.folder / "queue.conf"
    configuration.write_text("[output away]\nuri=tcp://127.0.0.1:9\nqueue=20\n")

    def value(name, camera):
        body = server.request("/metrics")[2].decode()
        return float(body.split(f'{name}{{camera="{camera}"}} ')[1].split()[0])
    with served.Served("-c", configuration, "--set", "pace=true", f"door={moving}", f"yard={moving}") as server:
        served.wait_for(lambda: min(value("ccl_watch_dropped_lines_total", name) for name in ("door", "yard")) > 0,
                        "lines are dropped")
        waiting = [value("ccl_watch_queue_lines", name) for name in ("door", "yard")]
        assert min(waiting) > 0 and sum(waiting) in (19, 20, 21), waiting


def health():
    """/healthz answers ok"""
    tap.equal(open_server.request("/healthz")[::2], (200, b"ok\n"))


def events_survive():
    """the latest events survive SIGTERM and SIGKILL; their numbers go on; those of a removed camera are gone"""
    kept = served.folder / "kept"
    moving_twice = served.video("twice", (2, True), (60, False))
    words = "--folder", kept, "--set", "pace=true", f"a={moving_twice}", f"b={moving_twice}"
    query = "/api/events?kinds=motion-begin"
    with served.Served(*words) as first:
        before = served.wait_for(lambda: len(found := first.get(query)["events"]) == 2 and
                                 all("picture" in event for event in found) and found, "two motions with pictures")
        tap.equal(first.stop(), 0)
    for number in signal.SIGKILL, signal.SIGTERM:
        with served.Served(*words) as server:
            served.wait_for(lambda: server.get(query)["events"][-2:] == before,
                            lambda: f"{before}, the events of the first run, in {server.get(query)['events']}")
            served.wait_for(lambda: len(server.get(query)["events"]) >= 4, "two more")
            # An event gets its picture after it is listed, possibly between two requests.
            served.wait_for(lambda: server.get(f"{query}&after={before[0]['number']}")["events"] ==
                            server.get(query)["events"][:-2], "the same events, with and without a first number")
            newest = server.get(query)["events"][0]
            served.wait_for(lambda: f'"number":{newest["number"]},' in (kept / "events.ndjson").read_text(), "the file")
            server.stop(number)
    with served.Served(*words) as server:
        served.wait_for(lambda: server.get(query)["events"][-2:] == before, "the events of the first run")
        server.request("/api/cameras/b", "DELETE")
        tap.equal({event["source"] for event in server.get(query)["events"]}, {"a"})
        tap.equal(server.stop(), 0)
    assert '"source":"b"' not in (kept / "events.ndjson").read_text()
    (kept / "events.ndjson").write_text("{\nnonsense\n" + '{"number":1,"source":7}\n{"number":{},"source":[]}\n' + "\0" * 100)
    with served.Served(*words) as server:
        served.wait_for(lambda: len(server.get(query)["events"]) == 2, "new events after a damaged file")
    assert not [line for line in server.log if "CRITICAL" in line], server.log


def removed_in_motion():
    """what a removed camera still sends while it ends is not listed"""
    moving = served.video("moving", (60, True))
    words = "--set", "pace=true", f"a={moving}", f"b={moving}"
    with served.Served(*words) as server:
        served.wait_for(lambda: {event["source"] for event in server.get("/api/events?kinds=motion-begin")["events"]} ==
                        {"a", "b"}, "both motions")
        server.request("/api/cameras/b", "DELETE")
        served.wait_for(lambda: server.events("removed"), "its last line")
        tap.equal({event["source"] for event in server.get("/api/events")["events"]}, {"a"})


def ends():
    """SIGTERM ends the program while a client is connected"""
    tap.equal(open_server.stop(), 0)
    tap.equal(closed_server.stop(), 0)


try:
    status = tap.run(cameras, events, counts, live_picture, media, many_ranges, many_viewers, change_cameras, wrong_requests, cross_site,
                     protection_headers, token, read_token, needs_token, secrets, metrics, queue_lengths, health, events_survive,
                     removed_in_motion, ends)
finally:
    for server in open_server, closed_server:
        if server.process.poll() is None:
            server.process.kill()
sys.exit(status)
