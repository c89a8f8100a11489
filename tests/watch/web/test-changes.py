#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Cameras that are added, changed and removed while ccl-watch runs, and its state file. Prints TAP."""
import configparser
import http.client
import os
import pathlib
import random
import resource
import signal
import stat
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import served  # noqa: E402
import tap  # noqa: E402

SECRET = "hunter2secret"
video = served.video("moving", (20, True))
state = served.folder / "state.conf"
configuration = served.folder / "watch.conf"
CONFIGURATION = ("# a comment\n[cameras]\npace=true\nloop=true\n"
                 f"[camera door]\nuri={video}\n[camera yard]\nuri={video}\n")


def start(*words):
    configuration.write_text(CONFIGURATION)
    return served.Served("-c", configuration, "--web-folder", served.folder, "--web-local", *words)


def cameras(server):
    """The cameras' names with their timeouts, as far as they are set."""
    return {camera["name"]: server.get(f"/api/cameras/{camera['name']}")["settings"].get("timeout")
            for camera in server.get("/api/cameras")["cameras"]}


def change(server):
    """Adds a camera with a password, changes one, removes one; returns the expected cameras."""
    uri = f"rtsp://admin:{SECRET}@127.0.0.1:9/stream"
    tap.equal(server.request("/api/cameras/gate", "PUT", {"uri": uri, "timeout": 3})[0], 201)
    tap.equal(server.request("/api/cameras/door", "PATCH", {"timeout": 7})[0], 200)
    tap.equal(server.request("/api/cameras/yard", "DELETE")[0], 204)
    return {"door": "7", "gate": "3"}


def hang_up(server):
    messages = len(server.log)
    server.process.send_signal(signal.SIGHUP)
    served.wait_for(lambda: any("read again" in line for line in server.log[messages:]), "the message")


def survive():
    """with a state file, changes survive SIGHUP, SIGTERM and SIGKILL; the configuration file is not written"""
    state.unlink(missing_ok=True)
    with start("--state", state) as server:
        expected = change(server)
        tap.equal(stat.S_IMODE(state.stat().st_mode), 0o600, "mode")
        hang_up(server)
        tap.equal(cameras(server), expected, "after SIGHUP")
        server.stop(signal.SIGKILL)
    for number in signal.SIGTERM, signal.SIGKILL:
        with start("--state", state) as server:
            tap.equal(cameras(server), expected, f"before {number!r}")
            assert SECRET not in "\n".join(server.log), server.log
            server.stop(number)
    tap.equal(configuration.read_text(), CONFIGURATION)


def undone():
    """a camera that is as configured again is not in the state file, nor is one that was added and removed"""
    state.unlink(missing_ok=True)
    with start("--state", state) as server:
        change(server)
        server.request("/api/cameras/door", "PATCH", {"timeout": None})
        server.request("/api/cameras/gate", "DELETE")
        server.request("/api/cameras/yard", "PUT", {"uri": str(video), "pace": True, "loop": True})
        tap.equal(cameras(server), {"door": None, "yard": None})
        tap.equal(state.read_text().strip(), "")


def cut_off():
    """a state file that lost its end, wherever, is no state file; one that is whole gives the same cameras again"""
    state.unlink(missing_ok=True)
    with start("--state", state) as server:
        change(server)
        found = cameras(server)
    whole = state.read_bytes()
    for length in (1, 40, whole.index(b"[") - 1, *range(whole.index(b"["), len(whole) - 1, len(whole) // 4), len(whole) - 2):
        state.write_bytes(whole[:length])
        done = subprocess.run([served.WATCH, "--check", "door=" + str(video), "--state", state], capture_output=True, text=True, timeout=20)
        tap.equal(done.returncode, 2, f"{length} of {len(whole)} bytes")
    state.write_bytes(whole)
    with start("--state", state) as server:
        tap.equal(cameras(server), found)


def edited():
    """SIGHUP reads the state file again: a group that was deleted there is undone"""
    state.unlink(missing_ok=True)
    with start("--state", state) as server:
        change(server)
        state.write_text(f"[camera new]\nuri={video}\ntimeout=5\n[camera yard]\nremoved=true\n")
        hang_up(server)
        tap.equal(cameras(server), {"door": None, "new": "5"})
        state.write_text("[camera new\n")
        server.process.send_signal(signal.SIGHUP)
        served.wait_for(lambda: any("the present configuration stays" in line for line in server.log), "the message")
        tap.equal(cameras(server), {"door": None, "new": "5"})


def without_file():
    """without a state file, changes survive SIGHUP and end with the program"""
    with start() as server:
        expected = change(server)
        hang_up(server)
        tap.equal(cameras(server), expected)
    with start() as server:
        tap.equal(cameras(server), {"door": None, "yard": None})


def refused():
    """a state file that others may read and holds a password, and --check of a wrong one: status 2 and one line"""
    password = f"[camera gate]\nuri=rtsp://admin:{SECRET}@127.0.0.1:9/stream\n"
    configuration.write_text(CONFIGURATION)
    for text, mode, reason in (password, 0o644, "other users may read it"), ("[what]\n", 0o600, "no group"):
        state.write_text(text)
        state.chmod(mode)
        for words in ([], ["--check"]) if mode == 0o644 else (["--check"],):
            done = subprocess.run([served.WATCH, *words, "--http=127.0.0.1:0", "-c", configuration, "--state", state],
                                  capture_output=True, text=True, timeout=20)
            tap.equal((done.returncode, len(done.stderr.splitlines())), (2, 1), done.stderr)
            assert reason in done.stderr and SECRET not in done.stderr, done.stderr
    state.unlink()


def wrong_camera():
    """a camera of the state file whose video is gone is reported; the others run"""
    state.write_text(f"[camera gone]\nuri={served.folder}/gone.mp4\n[camera door]\nuri={video}\ntimeout=8\n")
    state.chmod(0o600)
    with start("--state", state) as server:
        tap.equal(cameras(server), {"door": "8", "yard": None})
        assert any("gone.mp4" in line for line in server.log), server.log
        server.request("/api/cameras/yard", "DELETE")
        assert "gone.mp4" in state.read_text(), "it is not forgotten"


def not_written():
    """a change that cannot be written is refused and changes nothing"""
    with start("--state", served.folder / "nowhere" / "state.conf") as server:
        for path, method, body in (("gate", "PUT", {"uri": str(video)}), ("door", "PATCH", {"timeout": 7}),
                                   ("yard", "DELETE", None)):
            status, _, answer = server.request(f"/api/cameras/{path}", method, body)
            tap.equal(status, 500, answer)
            assert b"nowhere" in answer, answer
        tap.equal(cameras(server), {"door": None, "yard": None})


def at_the_limit():
    """with as many cameras as the limit of open files allows, present ones can be changed, no other one can be added"""
    with start() as server:
        limit = 64 + 24 + 2  # for everything else, for a connection, for two cameras
        resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (limit, limit))
        tap.equal(server.request("/api/cameras/door", "PATCH", {"timeout": 7})[0], 200)
        tap.equal(server.request("/api/cameras/gate", "PUT", {"uri": str(video)})[0] // 100, 4)
        tap.equal(cameras(server), {"door": "7", "yard": None})


def killed_while_writing():
    """SIGKILL at any moment: the state file is whole and has every change that was answered"""
    for _ in range(4):
        state.unlink(missing_ok=True)
        answered = []
        with start("--state", state) as server:
            killer = threading.Timer(random.uniform(0.1, 0.6), server.process.kill)
            killer.start()
            try:
                for number in range(10000):
                    status, _, _ = server.request("/api/cameras/door", "PATCH", {"timeout": number + 1})
                    tap.equal(status, 200)
                    answered.append(number + 1)
            except (OSError, http.client.HTTPException):
                pass  # it was killed, perhaps in the middle of an answer
            killer.join()
        parsed = configparser.ConfigParser(interpolation=None)
        parsed.read_string(state.read_text() if state.exists() else "[camera door]\ntimeout=0\n")
        found = int(parsed["camera door"]["timeout"])
        last = answered[-1] if answered else 0
        assert found in (last, last + 1), f"{found} in the file, {last} was answered"


REGIONS = "region \"left = 'é' [x]\" 0,0 80,0 80,120 0,120; region rest 80,0 160,0 160,120 80,120"
LEFT = "left = 'é' [x]"
NEVER = "mon 00:00-00:01; tue 00:00-00:01" if time.gmtime().tm_wday > 2 else "fri 00:00-00:01"


def arm(server, command, region=None, name="door"):
    body = {"arming": command, **({"region": region} if region else {})}
    status, _, answer = server.request(f"/api/cameras/{name}/arming", "PUT", body)
    tap.equal(status, 200, answer)


def armed(server, name="door"):
    """Of the camera, and of its regions."""
    camera = server.get(f"/api/cameras/{name}")
    return {"": (camera["armed"], camera["arming"]),
            **{region["name"]: (region["armed"], region["arming"]) for region in camera["regions"]}}


def quiet(server, kinds, seconds=1.0):
    """Whether the camera goes on and has no more of these events than those that are under way."""
    time.sleep(0.5)
    before, frames = [len(server.events(kind)) for kind in kinds], server.get("/api/cameras/door")["frames"]
    time.sleep(seconds)
    return [len(server.events(kind)) for kind in kinds] == before and server.get("/api/cameras/door")["frames"] > frames


def arms():
    """a camera and its regions are armed, disarmed and paused by hand and by schedules, over restarts; a camera that is
    not armed goes on without events, pictures and clips"""
    state.unlink(missing_ok=True)
    store = served.folder / "armed"
    words = "--state", state, "--folder", store, "--set", "ccl.min-area=20"
    regions = {"ccl.min-area": 20, "ccltrack.regions": REGIONS, "pace": True, "loop": True, "uri": str(video), "clips": True,
               "ccl.quiet-time": 0.5, "ccl.absorb-after": 3600, "clip-post": 0}
    crossings = ["entered", "left"]
    with start(*words) as server:
        server.request("/api/cameras/yard", "DELETE")
        tap.equal(server.request("/api/cameras/door", "PUT", regions)[0], 200)
        served.wait_for(lambda: server.events("motion-begin") and server.events("entered"), "alerts")
        served.wait_for(lambda: len(armed(server)) == 3, "regions")
        tap.equal(set(armed(server).values()), {(True, "schedule")}, "without a command")
        arm(server, "disarmed")
        tap.equal(armed(server)[""], (False, "disarmed"))
        served.wait_for(lambda: server.events("motion-end"), "the motion ends")
        assert quiet(server, ["motion-begin", "appeared", "vanished", *crossings]), "alerts of a camera that is not armed"
        files = set(store.glob("door/*"))
        tap.equal(server.events("arming")[-1]["armed"], False, "the event")
        hang_up(server)
        tap.equal(armed(server)[""], (False, "disarmed"), "after SIGHUP")
        server.stop(signal.SIGKILL)
    restart = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 1))
    with start(*words) as server:
        served.wait_for(lambda: len(armed(server)) == 3, "regions")
        tap.equal(armed(server)[""], (False, "disarmed"), "after SIGKILL")
        assert quiet(server, ["motion-begin", *crossings]), "alerts after the restart"
        assert not server.events("motion-begin"), "an alert after the restart"
        tap.equal(server.get(f"/api/objects?from={restart}")["objects"], [], "objects that were seen")
        tap.equal({file for file in store.glob("door/*") if file.suffix == ".jpg"},
                  {file for file in files if file.suffix == ".jpg"}, "pictures")
        arm(server, "disarmed", LEFT)
        arm(server, "armed")
        served.wait_for(lambda: server.events("motion-begin") and len(server.events("entered")) > 1, "alerts")
        tap.equal(armed(server), {"": (True, "armed"), LEFT: (False, "disarmed"), "rest": (True, "schedule")})
        tap.equal({line["region"] for kind in crossings for line in server.events(kind)}, {"rest"}, "regions of events")
        server.request("/api/cameras/door", "PATCH", {"timeout": 7})
        served.wait_for(lambda: len(armed(server)) == 3, "regions of the changed camera")
        tap.equal(armed(server)[LEFT], (False, "disarmed"), "a changed camera")
        arm(server, "pause 3")
        tap.equal(armed(server)[""], (False, "armed"), "a pause")
        served.wait_for(lambda: armed(server)[""] == (True, "armed"), "the end of the pause")
        served.wait_for(lambda: [line["armed"] for line in server.events("arming")][-2:] == [False, True], "events of the pause")
        server.request("/api/cameras/door", "PATCH", {"schedule": NEVER, "time-zone": "UTC", "schedule.rest": NEVER})
        served.wait_for(lambda: len(armed(server)) == 3, "regions of the changed camera")
        arm(server, "schedule")
        tap.equal([armed(server)[key] for key in ("", "rest")], [(False, "schedule")] * 2, "by schedule")
        arm(server, "schedule", LEFT)
        tap.equal(server.request("/api/cameras/door", "DELETE")[0], 204)
        assert "arming" not in state.read_text(), state.read_text()


def wrong_arming():
    """commands and schedules that cannot be are refused, and change nothing"""
    with start() as server:
        for path, body, status, text in (
                ("door", {"arming": "on"}, 400, "none of armed"), ("door", {}, 400, "missing"), ("door", b"[]", 400, "JSON"),
                ("door", {"arming": "armed", "region": "x"}, 400, "no region"), ("nobody", {"arming": "armed"}, 400, "no camera"),
                ("door", {"arming": "armed", "more": 1}, 400, "other members"), ("door", {"arming": "pause 1e12"}, 400, "pause")):
            got, _, answer = server.request(f"/api/cameras/{path}/arming", "PUT", body)
            tap.equal(got, status, f"{body}: {answer}")
            assert text in answer.decode(), answer
        for method in "POST", "DELETE", "GET":
            tap.equal(server.request("/api/cameras/door/arming", method)[0], 405, method)
        for key, value in (("schedule", "8-9"), ("schedule.gate", ""), ("time-zone", "Nowhere/X"), ("motion", "x")):
            got, _, answer = server.request("/api/cameras/door", "PATCH", {key: value})
            tap.equal(got, 400, answer)
            assert key in answer.decode(), answer
        tap.equal(armed(server), {"": (True, "schedule")})


def masks():
    """masks hold at once, without a connection anew, and after a restart; wrong ones are refused in one line and change nothing"""
    state.unlink(missing_ok=True)
    everything = "mask all 0%,0% 100%,0% 100%,100% 0%,100%"

    def seen(server):
        return server.get("/api/cameras/door")["components"]

    with start("--state", state, "--set", "ccl.min-area=20") as server:
        served.wait_for(lambda: seen(server) > 0, "a component", 20)
        tap.equal(server.request("/api/cameras/door", "PATCH", {"ccl.masks": everything})[0], 200)
        served.wait_for(lambda: seen(server) == 0, "no component")
        many = "mask many " + " ".join(f"{i % 160},{i * 7 % 120}" for i in range(10000))
        for wrong, reason in [("mask a 0,0 1,1", 'mask "a" has 2 points; 3 to 1024 are possible'),
                              (many, 'mask "many" has 10000 points; 3 to 1024 are possible'),
                              ("mask a 0,0 1,1 2,2", 'all points of mask "a" are on one line'),
                              ("region a 0,0 1,1 2,0", 'expected "mask", found "region"'),
                              ("mask a 0,0 1,1 2,0;" * 65, "more than 64 masks")]:
            status, _, answer = server.request("/api/cameras/door", "PATCH", {"ccl.masks": wrong})
            tap.equal(status, 400, answer)
            assert reason in answer.decode() and answer.count(b"\n") <= 1 and len(answer) < 300, answer
        tap.equal(server.get("/api/cameras/door")["settings"]["ccl.masks"], everything)
        assert "ccl.masks" in server.get("/api/settings")["live"]
        tap.equal(server.get("/api/cameras/door")["reconnects"], 0)
    with start("--state", state, "--set", "ccl.min-area=20") as server:
        served.wait_for(lambda: server.get("/api/cameras/door")["frames"] > 50, "frames", 20)
        tap.equal(seen(server), 0)
        server.request("/api/cameras/door", "PATCH", {"ccl.masks": None})
        served.wait_for(lambda: seen(server) > 0, "a component")


def versions():
    """a change that names a version of the camera is refused when somebody else was faster, in any order and at once"""
    state.unlink(missing_ok=True)
    with start("--state", state) as server:
        version = server.get("/api/cameras/door")["version"]

        def patch(timeout, tag, method="PATCH"):
            return server.request("/api/cameras/door", method, {"timeout": timeout}, If_Match=tag)

        status, _, answer = patch(5, f'"{version}"')
        tap.equal(status, 200)
        assert version not in answer.decode(), answer
        status, _, answer = patch(6, f'"{version}"')
        tap.equal((status, answer.decode()), (412, "somebody else has changed this camera meanwhile: read it again\n"))
        tap.equal(patch(6, f'"{version}"', "DELETE")[0], 412)
        tap.equal(cameras(server)["door"], "5")
        tap.equal(patch(7, "*")[0], 200)
        version = server.get("/api/cameras/door")["version"]
        answers = []
        threads = [threading.Thread(target=lambda i=i: answers.append(patch(i, f'"{version}"')[0])) for i in range(10, 16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        tap.equal(sorted(answers), [200] + [412] * 5)
        server.process.send_signal(signal.SIGTERM)
    with start("--state", state) as server:
        assert server.get("/api/cameras/door")["version"] != version


sys.exit(tap.run(masks, versions, arms, wrong_arming, survive, undone, cut_off, edited, without_file, refused, wrong_camera, not_written, at_the_limit,
                 killed_while_writing))
