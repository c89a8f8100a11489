#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Cameras of ccl-watch as devices of Home Assistant, through a real mosquitto: discovery messages, states, cameras
that come and go, and a broker that loses everything. Prints TAP.

usage: test-home-assistant.py CCL_WATCH
"""
import contextlib
import datetime
import functools
import json
import pathlib
import re
import signal
import subprocess
import sys
import time

import cv2
import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from watching import Watch, ball, folder, free_port, mosquitto, needs, running, tap, wait_for  # noqa: E402

watch = functools.partial(Watch, sys.argv[1], output=False)
REGION, LINE = """Tür {{ 1 }} "ä" \\ +/#""", "gate's"
REGIONS = f"""region '{REGION}' 0%,0% 100%,0% 100%,100% 0%,100%; line "{LINE}" 50%,0% 50%,100%"""

# From Home Assistant's public documentation of MQTT discovery, binary sensors and sensors: the keys that are used here.
KEYS = {"platform", "unique_id", "name", "state_topic", "value_template", "device_class", "icon", "entity_category",
        "availability", "availability_mode"}
IMAGE = {"platform", "unique_id", "name", "image_topic", "content_type", "availability", "availability_mode"}
SWITCH = KEYS | {"command_topic", "payload_on", "payload_off", "state_on", "state_off"}
BUTTON = {"platform", "unique_id", "name", "icon", "enabled_by_default", "command_topic", "payload_press", "availability", "availability_mode"}
PLATFORMS = {"switch": (SWITCH, {None}), "binary_sensor": (KEYS, {"motion", "tamper", "connectivity"}),
             "sensor": (KEYS | {"state_class"}, {"timestamp"}), "button": (BUTTON, {None})}


class Broker:
    """mosquitto on a port, and the retained messages of a subscriber: topic → object. On a busy machine mosquitto_sub
    can miss the alarm of its -W before it is connected, and would not end then."""

    def __init__(self, port):
        self.port = port

    def retained(self, topic="#"):
        """Of the moment, as a new subscriber gets them."""
        words = f"timeout -s KILL 5 mosquitto_sub -h 127.0.0.1 -p {self.port} -t {topic} --retained-only -W 1 -F %t\\t%p".split()
        text = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False).stdout
        return {topic: json.loads(payload) for topic, payload in (line.split("\t", 1) for line in text.splitlines())}

    def payload(self, topic):
        """The retained message of a topic, as bytes."""
        words = f"timeout -s KILL 5 mosquitto_sub -h 127.0.0.1 -p {self.port} -t {topic} --retained-only -W 1 -N".split()
        return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout

    def devices(self):
        """Name of the camera → topic and discovery message."""
        return {message["device"]["name"]: (topic, message)
                for topic, message in self.retained("homeassistant/#").items()}

    def publish(self, topic, text):
        subprocess.run(["mosquitto_pub", "-h", "127.0.0.1", "-p", str(self.port), "-t", topic, "-m", text], check=True)


def configuration(port, *cameras, results="tracks"):
    path = folder / "home assistant.conf"
    path.write_text(f"[cameras]\nccl.min-area=20\npace=true\nloop=true\n"
                    f"results={results}\n" +
                    "".join(f"[camera {name}]\nuri={ball(50, 25)}\n{keys}\n" for name, keys in cameras) +
                    f"[output broker]\nuri=mqtt://127.0.0.1:{port}/cameras/{{camera}}/{{event}}\n"
                    f"discovery=homeassistant\n[output file]\nuri={folder}/lines.ndjson\n")
    return path


def member(template):
    """The member of the state that a template takes: its name must be an identifier."""
    return re.fullmatch(r"\{\{ value_json\.([A-Za-z_][A-Za-z0-9_]*) \}\}", template)[1]


def check_device(topic, message):
    """Follows Home Assistant's documentation. Returns name → entity."""
    assert re.fullmatch("homeassistant/device/[A-Za-z0-9_-]+/config", topic), topic
    tap.equal(set(message), {"device", "origin", "components"})
    assert message["device"]["identifiers"] and message["origin"]["name"] == "ccl-watch", message
    entities = message["components"]
    for name, entity in entities.items():
        if entity["platform"] == "image":
            tap.equal(set(entity), IMAGE, name)
            tap.equal(entity["content_type"], "image/jpeg")
            continue
        keys, classes = PLATFORMS[entity["platform"]]
        assert set(entity) <= keys and {"unique_id", "name"} <= set(entity), entity
        assert entity.get("device_class") in classes | {None}, entity
        assert entity.get("state_class") in ("measurement", "total_increasing", None), entity
        assert entity.get("entity_category") in ("diagnostic", None), entity
        assert all(not set("+#\0") & set(part["topic"]) for part in entity["availability"]), entity
        if entity["platform"] == "button":
            assert entity["command_topic"] and entity["payload_press"], entity
        else:
            assert entity["state_topic"] and member(entity["value_template"]) == name, entity
    tap.equal(len({entity["unique_id"] for entity in entities.values()}), len(entities), "unique ids")
    return {entity["name"]: entity for entity in entities.values()}


def value(broker, entity):
    state = broker.retained(entity["state_topic"])[entity["state_topic"]]
    return state[member(entity["value_template"])]


def entities():
    """A camera is a device with motion, counts, connection, regions and lines; what topics say is right"""
    needs("mosquitto", "mosquitto_sub")
    port = free_port()
    broker = Broker(port)
    path = configuration(port, ("a.b-c_d", f"ccltrack.regions={REGIONS}".replace("\\", "\\\\")), ("a_b", ""))
    with mosquitto(port, folder), watch("--config", path) as program:
        wait_for(lambda: "crossed" in program.lines.events("a.b-c_d"), "no line is crossed")
        wait_for(lambda: len(broker.devices()) == 2 and len(broker.devices()["a.b-c_d"][1]["components"]) >= 7,
                 "no entities")
        topic, message = broker.devices()["a.b-c_d"]
        found = check_device(topic, message)
        assert {"Motion", "Components", "Tracks", "Tampering", "Scene", "Connection", "State", REGION} <= set(found), found
        tap.equal([found["Tampering"]["device_class"], value(broker, found["Tampering"]), value(broker, found["Scene"])],
                  ["tamper", "OFF", "usual"])
        assert {f"{LINE} forward", f"{LINE} backward"} & set(found), found
        check_device(*broker.devices()["a_b"])
        tap.equal([value(broker, found[name]) for name in ("Connection", "State")], ["ON", "playing"], "values")
        # At the end of the video, when it begins again, motion ends with no component.
        number = value(broker, found["Components"])
        wait_for(lambda: number in {line["count"] for line in program.lines.all() if "count" in line}, number)
        assert value(broker, found["Motion"]) in ("ON", "OFF")
        for entity in found.values():
            topics = [part["topic"] for part in entity["availability"]]
            tap.equal(topics[0], "cameras/ccl-watch/status")
            tap.equal(len(topics), 1 if entity["name"] in ("Connection", "State", "Scene") else 2, entity["name"])
        # Topics by kind of event are not retained: only this program's own state is.
        tap.equal(set(broker.retained("cameras/#")), {"cameras/ccl-watch/status", "cameras/ccl-watch/state/a.b-c_d",
                                                     "cameras/ccl-watch/state/a_b"})
        program.finish(signal.SIGKILL)
        wait_for(lambda: broker.retained("cameras/ccl-watch/status")["cameras/ccl-watch/status"] ==
                 {"state": "offline"}, "not unavailable")


def counts():
    """The counts of a region and of the directions of a line are those of the lines in the file, also where the broker
    gets few kinds of events"""
    needs("mosquitto", "mosquitto_sub")
    port = free_port()
    broker = Broker(port)
    path = configuration(port, ("a", f"loop=false\nccltrack.regions={REGIONS}".replace("\\", "\\\\")))
    path.write_text(path.read_text().replace("discovery=", "results=events\nevents=crossed,state\ndiscovery="))
    with mosquitto(port, folder), watch("--config", path, "--http=127.0.0.1:0") as program, \
            running(*f"mosquitto_sub -h 127.0.0.1 -p {port} -t cameras/a/# -F %t".split(), stdout=subprocess.PIPE) as subscriber:
        wait_for(lambda: "ended" in program.lines.states() or program.process.poll() is not None, "no end")
        lines = [line for line in program.lines.all() if "event" in line]
        crossed = {f"{LINE} {direction}": sum(line.get("direction") == direction for line in lines)
                   for direction in ("forward", "backward")}
        inside = sum({"entered": 1, "left": -1}.get(line["event"], 0) for line in lines)
        tracks = sum({"appeared": 1, "vanished": -1}.get(line["event"], 0) for line in lines)
        assert sum(crossed.values()) > 0 and any(line["event"] == "entered" for line in lines), lines
        if program.process.poll() is None:
            time.sleep(1.5)  # counts are sent once a second
        found = check_device(*broker.devices()["a"])
        subscriber.terminate()
        assert set(subscriber.stdout.read().split()) <= {"cameras/a/crossed", "cameras/a/state"}, "other kinds"
        for name, number in {**crossed, REGION: inside, "Tracks": tracks}.items():
            if name in found:
                tap.equal(value(broker, found[name]), number, name)
            else:
                tap.equal(number, 0, name)


def switches():
    """commands=true: switches arm and disarm a camera and its regions; a command that is retained, wrong or without this
    key is not followed"""
    needs("mosquitto", "mosquitto_sub")
    port = free_port()
    broker = Broker(port)
    path = configuration(port, ("a", f"ccltrack.regions={REGIONS}".replace("\\", "\\\\")))
    text = path.read_text()
    path.write_text(text.replace("discovery=", "commands=true\ndiscovery="))
    with mosquitto(port, folder), watch("--config", path) as program:
        names = {"Armed", f"{REGION} armed", f"{LINE} armed"}
        found = wait_for(lambda: (devices := broker.devices()) and names <= set(entities := check_device(*devices["a"])) and
                         entities, "no switches")
        tap.equal(len(found["Armed"]["availability"]), 1, "also while the camera is away")
        broker.publish(found[f"{REGION} armed"]["command_topic"], found["Armed"]["payload_off"])
        wait_for(lambda: value(broker, found[f"{REGION} armed"]) == "OFF", "the region is not disarmed")
        before = len(program.lines.events("a"))
        wait_for(lambda: "crossed" in program.lines.events("a")[before + 20:], "no events of the line")
        assert not {"entered", "left"} & set(program.lines.events("a")[before + 20:]), "events of the region"
        broker.publish(found["Armed"]["command_topic"], "nonsense")
        broker.publish(found["Armed"]["command_topic"] + "/no such region", "disarmed")
        wait_for(lambda: program.log().count("a command is refused") == 2, "no refusals")
        for payload, state in ("disarmed", "OFF"), ("armed", "ON"), ("pause 4", "OFF"), (None, "ON"):
            if payload:
                broker.publish(found["Armed"]["command_topic"], payload)
            wait_for(lambda s=state: value(broker, found["Armed"]) == s, f"not {state} after {payload}")
        subprocess.run(["mosquitto_pub", "-h", "127.0.0.1", "-p", str(port), "-r", "-t", found["Armed"]["command_topic"],
                        "-m", "disarmed"], check=True)
        wait_for(lambda: value(broker, found["Armed"]) == "OFF", "a command is also followed when it is retained later")
        program.finish(signal.SIGTERM)
        with watch("--config", path) as again:
            wait_for(lambda: "motion-begin" in again.lines.events("a"), "a retained command is followed")
        path.write_text(text)
        with watch("--config", path) as again:
            wait_for(lambda: "Armed" not in check_device(*broker.devices()["a"]), "switches without commands")
            broker.publish(found["Armed"]["command_topic"], "disarmed")
            wait_for(lambda: "motion-begin" in again.lines.events("a"), "a command is followed without the key")
            assert not [line for line in again.lines.all() if line.get("event") == "arming" and not line["armed"]]


def pause_and_schedule():
    """Buttons pause a camera for ten minutes and have it follow its schedule again; a sensor has the end of the pause. Those of
    regions are there, too, and disabled"""
    needs("mosquitto", "mosquitto_sub")
    port = free_port()
    broker = Broker(port)
    path = configuration(port, ("a", f"schedule.{LINE}=00:00-24:00\nccltrack.regions={REGIONS}".replace("\\", "\\\\")))
    path.write_text(path.read_text().replace("discovery=", "commands=true\ndiscovery="))

    def press(name):
        broker.publish(found[name]["command_topic"], found[name]["payload_press"])

    with mosquitto(port, folder), watch("--config", path):
        names = {"Pause for 10 minutes", "Follow schedule", f"{REGION} pause for 10 minutes", f"{LINE} follow schedule"}
        found = wait_for(lambda: (devices := broker.devices()) and names <= set(entities := check_device(*devices["a"])) and
                         entities, "no buttons")
        tap.equal([found[name].get("enabled_by_default", True) for name in sorted(names)], [True, True, False, False])
        tap.equal([found["Paused until"]["device_class"], value(broker, found["Paused until"])], ["timestamp", None])
        before = time.time()
        press("Pause for 10 minutes")
        wait_for(lambda: value(broker, found["Armed"]) == "OFF", "not paused")
        until = datetime.datetime.fromisoformat(value(broker, found["Paused until"]).replace("Z", "+00:00")).timestamp()
        assert before + 599 <= until <= time.time() + 600, until - before  # whole seconds
        press("Follow schedule")
        wait_for(lambda: value(broker, found["Armed"]) == "ON", "still paused")
        tap.equal(value(broker, found["Paused until"]), None)
        press(f"{REGION} pause for 10 minutes")
        wait_for(lambda: value(broker, found[f"{REGION} armed"]) == "OFF", "the region is not paused")
        tap.equal([value(broker, found[name]) for name in ("Armed", f"{LINE} armed")], ["ON", "ON"], "the others")


def output_that_comes_late():
    """Discovery that a reload adds, and an output that a reload replaces, know from the first moment that the camera plays and that it is
    disarmed; what was told before is not told again"""
    needs("mosquitto", "mosquitto_sub")
    port = free_port()
    broker = Broker(port)
    path = configuration(port, ("a", ""))
    path.write_text(path.read_text().replace("discovery=homeassistant", "commands=true"))
    with mosquitto(port, folder), watch("--config", path) as program:
        lines = folder / "lines.ndjson"
        wait_for(lambda: lines.exists() and '"state":"playing"' in lines.read_text(), "the camera does not play")
        broker.publish("cameras/ccl-watch/arm/a", "disarmed")
        wait_for(lambda: '"armed":false' in lines.read_text(), "not disarmed")
        with running(*f"mosquitto_sub -h 127.0.0.1 -p {port} -t cameras/a/# -R -F %t".split(), stdout=subprocess.PIPE) as subscriber:
            for keys in ("commands=true\ndiscovery=homeassistant", "commands=true\ndiscovery=homeassistant\nqueue=9000"):
                path.write_text(re.sub("commands=true.*?\n(?=.output file)", f"{keys}\n", path.read_text(), flags=re.S))
                program.process.send_signal(signal.SIGHUP)
                found = wait_for(lambda: (devices := broker.devices()) and check_device(*devices["a"]), "no device")
                wait_for(lambda: [value(broker, found[name]) for name in ("State", "Connection", "Armed")] == ["playing", "ON", "OFF"],
                         "the state of before is not known")
                time.sleep(1)
                tap.equal(value(broker, found["Armed"]), "OFF", "the switch stays off")
            subscriber.terminate()
            topics = subscriber.stdout.read().split()
        tap.equal([topic for topic in topics if topic.endswith(("/state", "/arming"))], [], "lines of before")


def event_topics():
    """{event} in the topic is the kind of the event, and "frame" for frames"""
    needs("mosquitto", "mosquitto_sub")
    port = free_port()
    with mosquitto(port, folder), \
            running(*f"mosquitto_sub -h 127.0.0.1 -p {port} -t cameras/# -R -F %t\\t%p".split(),
                    stdout=subprocess.PIPE) as subscriber, \
            watch("--config", configuration(port, ("a", ""))):
        kinds = set()
        while not {"state", "frame", "appeared"} <= kinds:
            topic, payload = subscriber.stdout.readline().rstrip("\n").split("\t", 1)
            if "ccl-watch" not in topic:
                message = json.loads(payload)
                kinds.add(message.get("event", "frame"))
                tap.equal(topic, f"cameras/a/{message.get('event', 'frame')}")


def pictures():
    """pictures=true: the picture of the last motion is a retained JPEG, an entity, and goes with the camera"""
    needs("mosquitto", "mosquitto_sub")
    port = free_port()
    broker = Broker(port)
    path = configuration(port, ("a", ""), ("b", "pictures=false"))
    path.write_text(path.read_text().replace("discovery=", "pictures=true\ndiscovery="))
    with mosquitto(port, folder), watch("--config", path) as program:
        topic = "cameras/ccl-watch/picture/a"
        wait_for(lambda: "a" in broker.devices() and "b" in broker.devices(), "no devices")
        for name in "a", "b":
            entity = check_device(*broker.devices()[name])["Last motion"]
            tap.equal(entity["image_topic"], topic[:-1] + name)
            assert {"topic": "cameras/ccl-watch/status", "value_template": "{{ value_json.state }}"} in entity["availability"]
        jpeg = wait_for(lambda: broker.payload(topic), "no picture")
        image = cv2.imdecode(numpy.frombuffer(jpeg, numpy.uint8), cv2.IMREAD_COLOR)
        tap.equal(image.shape, (60, 80, 3), "size of the picture")
        assert not broker.payload(topic[:-1] + "b"), "a picture that the camera does not want"
        path.write_text(path.read_text().replace("[camera a]", "[camera c]"))
        program.process.send_signal(signal.SIGHUP)
        wait_for(lambda: not broker.payload(topic), "the picture stays")


def camera_removed():
    """A camera that is removed while the program runs is no device any more; one that is added is one"""
    needs("mosquitto", "mosquitto_sub")
    port = free_port()
    broker = Broker(port)
    path = configuration(port, ("a", ""), ("b", ""))
    with mosquitto(port, folder), watch("--config", path) as program:
        wait_for(lambda: set(broker.devices()) == {"a", "b"}, "no devices")
        configuration(port, ("a", ""), ("c", ""))
        program.process.send_signal(signal.SIGHUP)
        wait_for(lambda: set(broker.devices()) == {"a", "c"}, "not the devices of the configuration")
        assert "cameras/ccl-watch/state/b" not in broker.retained("cameras/#")
        tap.equal(program.lines.events("b")[-1], "removed", "the last line of b")
        assert "removed" not in program.lines.events("a"), program.lines.events("a")


def broker_forgets():
    """After a broker without memory has started, and after Home Assistant has, all is published again"""
    needs("mosquitto", "mosquitto_sub")
    port = free_port()
    broker = Broker(port)
    with contextlib.ExitStack() as stack:
        process = stack.enter_context(mosquitto(port, folder))
        program = stack.enter_context(watch("--config", configuration(port, ("a", ""), results="events")))
        wait_for(lambda: "a" in broker.devices(), "no device")
        process.kill()
        process.wait()
        (folder / "mosquitto.db").unlink(missing_ok=True)
        stack.enter_context(mosquitto(port, folder))
        wait_for(lambda: "a" in broker.devices(), "no device after the restart", 30)
        topic, message = broker.devices()["a"]
        wait_for(lambda: broker.retained("cameras/ccl-watch/state/a"), "no state")
        with running(*f"mosquitto_sub -h 127.0.0.1 -p {port} -t {topic} -R".split(), stdout=subprocess.PIPE) as subscriber:
            time.sleep(0.5)
            broker.publish("homeassistant/status", "offline")
            broker.publish("homeassistant/status", "online")
            tap.equal(json.loads(subscriber.stdout.readline()), message)
        assert program.process.poll() is None


def wrong_options():
    """Options of the discovery that cannot be are refused by --check"""
    path = folder / "wrong.conf"
    for topic, options, words in (("a/{camera}", "discovery=openhab", "none of off and homeassistant"),
                                  ("a/{camera}", "discovery-prefix=x", "no discovery"),
                                  ("a/{camera}", "pictures=true", "none without discovery"),
                                  ("a/{camera}", "discovery=homeassistant\ndiscovery-prefix=x/#", "no topic"),
                                  ("a/ccl-watch/state/{camera}", "discovery=homeassistant\nstatus-topic=a/ccl-watch/x",
                                   "set status-topic")):
        path.write_text(f"[output broker]\nuri=mqtt://127.0.0.1:1/{topic}\n{options}\n[camera a]\nuri=/dev/video0\n")
        result = subprocess.run([sys.argv[1], "--check", "--config", path], stderr=subprocess.PIPE, text=True, check=False)
        tap.equal(result.returncode, 2, result.stderr)
        assert words in result.stderr, result.stderr


sys.exit(tap.run(entities, counts, switches, pause_and_schedule, output_that_comes_late, event_topics, pictures, camera_removed, broker_forgets, wrong_options))
