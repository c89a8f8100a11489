#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""ccl-watch beside a real Home Assistant: the devices that it makes, their states, and its switches. Prints TAP.
Skipped where there is no program hass: `pip install homeassistant home-assistant-frontend paho-mqtt` (Python 3.13)
makes one. HASS may name it.

usage: test-home-assistant-core.py CCL_WATCH
"""
import contextlib
import datetime
import functools
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

import websocket

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from watching import Watch, ball, folder, free_port, mosquitto, needs, running, tap, wait_for  # noqa: E402

watch = functools.partial(Watch, sys.argv[1], output=False)
HASS = os.environ.get("HASS", "hass")
CLIENT = "http://127.0.0.1/"
REGION = """Tür {{ 1 }} "ä" \\ +/#"""


class Core:
    """A running Home Assistant with an owner, and the integration MQTT of the broker."""

    def __init__(self, port, broker_port):
        self.url = f"http://127.0.0.1:{port}"
        self.token = None
        wait_for(self.answers, "Home Assistant does not answer", 120)
        code = self.post("/api/onboarding/users", name="o", username="o", password="o", client_id=CLIENT, language="en")["auth_code"]
        form = urllib.parse.urlencode({"client_id": CLIENT, "grant_type": "authorization_code", "code": code})
        self.token = self.request("POST", "/auth/token", form.encode())["access_token"]
        flow = self.post("/api/config/config_entries/flow", handler="mqtt")
        done = self.post(f"/api/config/config_entries/flow/{flow['flow_id']}", broker="127.0.0.1", port=broker_port)
        tap.equal(done["type"], "create_entry", done)

    def answers(self):
        with contextlib.suppress(urllib.error.URLError, OSError):
            return self.request("GET", "/api/onboarding")

    def request(self, method, path, body=None, content_type="application/x-www-form-urlencoded"):
        headers = {"Content-Type": content_type, **({"Authorization": f"Bearer {self.token}"} if self.token else {})}
        request = urllib.request.Request(self.url + path, body, headers, method=method)
        with urllib.request.urlopen(request, timeout=30) as answer:
            data = answer.read()
        return json.loads(data) if answer.headers.get_content_type() == "application/json" else data

    def post(self, path, **members):
        return self.request("POST", path, json.dumps(members).encode(), "application/json")

    def call(self, entity, service):
        self.post(f"/api/services/{entity.split('.')[0]}/{service}", entity_id=entity)

    def states(self):
        """Name that a person sees → state of the entity."""
        return {state["attributes"].get("friendly_name"): state for state in self.request("GET", "/api/states")}

    def state(self, name):
        return self.states().get(name, {}).get("state")

    def registry(self, kind):
        """The devices or entities that Home Assistant has registered, by its WebSocket."""
        with contextlib.closing(websocket.create_connection(self.url.replace("http", "ws") + "/api/websocket")) as socket:
            socket.recv()
            socket.send(json.dumps({"type": "auth", "access_token": self.token}))
            socket.recv()
            socket.send(json.dumps({"id": 1, "type": f"config/{kind}_registry/list"}))
            return json.loads(socket.recv())["result"]


@contextlib.contextmanager
def home_assistant(broker_port):
    """Yields Home Assistant and its log."""
    port = free_port()
    configuration = folder / "hass"
    configuration.mkdir()
    (configuration / "configuration.yaml").write_text(
        f"http:\n  server_host: 127.0.0.1\n  server_port: {port}\nlogger:\n  default: warning\n")
    log = folder / "hass.log"
    with open(log, "w") as file, running(HASS, "--config", configuration, "--skip-pip", stdout=file, stderr=file):
        yield Core(port, broker_port), log


def scenes_video():
    """A still picture, black, the picture again; then the picture is moved."""
    video = folder / "scenes.avi"
    still = ("videotestsrc pattern=snow num-buffers=1 ! video/x-raw,format=GRAY8,width=44,height=32,framerate=10/1 ! videoscale ! "
             "video/x-raw,width=352,height=256 ! videocrop left={} right={} top=8 bottom=8 ! imagefreeze num-buffers=60 ! "
             "video/x-raw,framerate=10/1 ! c.")
    black = "videotestsrc pattern=black num-buffers=60 ! video/x-raw,format=GRAY8,width=320,height=240,framerate=10/1 ! c."
    words = " ".join([still.format(0, 32), black, still.format(0, 32), still.format(12, 20)])
    subprocess.run([*"gst-launch-1.0 -q concat name=c ! jpegenc ! avimux ! filesink".split(), f"location={video}",
                    *words.split()], check=True, timeout=60)
    return video


def configuration(port, second):
    path = folder / "core.conf"
    region = REGION.replace("\\", "\\\\")
    path.write_text(f"[cameras]\npace=true\nloop=true\nresults=tracks\n"
                    f"[camera door]\nuri={ball(150, 25)}\nccl.min-area=20\nccl.quiet-time=0.5\n"
                    f"ccltrack.regions=region '{region}' 0%,0% 100%,0% 100%,100% 0%,100%; line gate 50%,0% 50%,100%\n"
                    f"[camera {second}]\nuri={scenes_video()}\n"
                    f"[output broker]\nuri=mqtt://127.0.0.1:{port}/cameras/{{camera}}/{{event}}\n"
                    f"discovery=homeassistant\ncommands=true\npictures=true\n[output file]\nuri={folder}/lines.ndjson\n")
    return path


def names_of_devices(core):
    return sorted(device["name"] for device in core.registry("device") if device["manufacturer"] == "cudaccl")


def check_registry(core):
    """Each camera is one device; each entity belongs to one, and its classes are those that were announced."""
    devices = [device for device in core.registry("device") if device["manufacturer"] == "cudaccl"]
    tap.equal(names_of_devices(core), ["door", "yard"])
    entities = [entity for entity in core.registry("entity") if entity["platform"] == "mqtt"]
    tap.equal({entity["device_id"] for entity in entities}, {device["id"] for device in devices})
    diagnostic = {entity["original_name"] for entity in entities if entity["entity_category"] == "diagnostic"}
    tap.equal(diagnostic, {"Connection", "State", "Scene", "Paused until"})
    classes = {name: state["attributes"].get("device_class") for name, state in core.states().items()}
    tap.equal([classes[f"door {name}"] for name in ("Motion", "Tampering", "Connection")], ["motion", "tamper", "connectivity"])


def check_switches(core, program):
    """The switches arm and disarm the camera and its region: the camera says so, and stops its events."""
    for name in f"door {REGION} armed", "door Armed":
        entity = core.states()[name]["entity_id"]
        core.call(entity, "turn_off")
        wait_for(lambda n=name: core.state(n) == "off", f"{name} is not off")
        lines = [line for line in program.lines.all() if line.get("event") == "arming"]
        of_region = {region["name"]: region["armed"] for region in lines[-1]["regions"]}
        assert not (of_region[REGION] if REGION in name else lines[-1]["armed"]), lines[-1]
    tap.equal(core.state("yard Armed"), "on", "the other camera")
    before = len(program.lines.events("door"))
    frames = len(program.lines.frames("door"))
    wait_for(lambda: len(program.lines.frames("door")) > frames + 100, "no frames while it is disarmed")
    assert not {"appeared", "crossed", "motion-begin"} & set(program.lines.events("door")[before + 5:]), program.lines.events("door")
    wait_for(lambda: core.state("door Motion") == "off", "motion while it is disarmed")
    for name in f"door {REGION} armed", "door Armed":
        core.call(core.states()[name]["entity_id"], "turn_on")
        wait_for(lambda n=name: core.state(n) == "on", f"{name} is not on")
    wait_for(lambda: core.state("door Motion") == "on", "no motion after it was armed")


def check_buttons(core):
    """The buttons pause the camera, for ten minutes, and have it follow its schedule again."""
    tap.equal(core.state("door Paused until"), "unknown")
    core.call(core.states()["door Pause for 10 minutes"]["entity_id"], "press")
    wait_for(lambda: core.state("door Armed") == "off", "not paused")
    until = datetime.datetime.fromisoformat(core.state("door Paused until")).timestamp()
    assert 570 < until - time.time() <= 601, until - time.time()
    tap.equal(core.states()["door Paused until"]["attributes"]["device_class"], "timestamp")
    core.call(core.states()["door Follow schedule"]["entity_id"], "press")
    wait_for(lambda: core.state("door Armed") == "on" and core.state("door Paused until") == "unknown", "still paused")
    disabled = {entity["original_name"] for entity in core.registry("entity") if entity["disabled_by"] == "integration"}
    tap.equal(disabled, {f"{region} {button}" for region in (REGION, "gate") for button in ("pause for 10 minutes", "follow schedule")})


def devices_and_switches():
    """Cameras are devices of Home Assistant with states that follow; its switches and buttons disarm them; it warns of nothing"""
    needs("mosquitto", HASS)
    port = free_port()
    with mosquitto(port, folder), home_assistant(port) as (core, log), watch("--config", configuration(port, "yard")) as program:
        names = {f"door {name}" for name in ("Motion", "Components", "Tracks", "Tampering", "Scene", "Connection", "State", REGION,
                                             "Armed", f"{REGION} armed", "gate armed", "Last motion", "Pause for 10 minutes", "Follow schedule",
                                             "Paused until")}
        wait_for(lambda: names <= set(core.states()), lambda: f"no {names - set(core.states())}", 60)
        check_registry(core)
        wait_for(lambda: core.state("door Motion") == "on", "no motion")
        wait_for(lambda: core.state("door Connection") == "on" and core.state("door State") == "playing", "not connected")
        wait_for(lambda: float(core.state("door Components") or 0) > 0, "no components")
        wait_for(lambda: core.state(f"door {REGION}") in "0123456789", "no number inside")
        wait_for(lambda: {"door gate forward", "door gate backward"} & set(core.states()), "no crossings", 60)
        wait_for(lambda: core.states()["door Last motion"]["state"] != "unknown", "no picture")
        tap.equal(core.request("GET", core.states()["door Last motion"]["attributes"]["entity_picture"])[:2], b"\xff\xd8")
        seen = set()
        wait_for(lambda: seen.add((core.state("yard Tampering"), core.state("yard Scene"))) or
                 {("on", "covered"), ("on", "moved"), ("off", "usual")} <= seen, lambda: f"scenes: {seen}", 60)
        check_switches(core, program)
        check_buttons(core)
        configuration(port, "street")
        program.process.send_signal(signal.SIGHUP)
        wait_for(lambda: names_of_devices(core) == ["door", "street"], lambda: f"devices: {names_of_devices(core)}")
        program.process.kill()
        wait_for(lambda: {state["state"] for name, state in core.states().items() if re.match("door|street", name or "")} ==
                 {"unavailable"}, "entities of a program that was killed are available")
    reports = [line for line in log.read_text().splitlines() if re.search("mqtt|ccl", line, re.IGNORECASE)]
    tap.equal(reports, [], "warnings of Home Assistant")


sys.exit(tap.run(devices_and_switches))
