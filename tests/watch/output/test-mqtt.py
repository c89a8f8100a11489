#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The output of ccl-watch to MQTT brokers: to mosquitto, which is away, stuck, or has a wrong certificate, and to
a broker that does wrong things. Then lines are counted. Prints TAP.

usage: test-mqtt.py CCL_WATCH FEED_OUTPUT
"""
import contextlib
import functools
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from fake_broker import FakeBroker  # noqa: E402
from feeding import Feed  # noqa: E402
from watching import Lines, Watch, ball, folder, free_port, make_certificate, mosquitto, needs, numbers, running, tap, wait_for  # noqa: E402

PROGRAM, FEEDER = sys.argv[1:]
watch = functools.partial(Watch, PROGRAM)
feed = functools.partial(Feed, FEEDER)
PACE = ["-s", "ccl.min-area=20", "-s", "pace=true"]


@contextlib.contextmanager
def subscriber(port, topic):
    """Collects the messages in a file; the broker keeps those of a time without it."""
    path = folder / f"{topic.replace('/', '-')}.ndjson"
    with open(path, "w") as file:
        words = f"mosquitto_sub -h 127.0.0.1 -p {port} -t {topic} -q 1 -i {path.stem} -c".split()
        subprocess.run([*words, "-E"], check=True, timeout=20)  # until it has subscribed
        with running(*words, stdout=file, stderr=subprocess.DEVNULL):
            yield Lines(path)


def mqtt():
    """MQTT: the broker restarts, is stuck, and is away at the end: every line arrives"""
    needs("mosquitto", "mosquitto_sub")
    port = free_port()
    (folder / "mosquitto.db").unlink(missing_ok=True)
    with contextlib.ExitStack() as stack:
        broker = stack.enter_context(mosquitto(port, folder))
        received = stack.enter_context(subscriber(port, "cameras/a"))
        program = stack.enter_context(watch(
            f"a={ball(150, 25)}", *PACE, "-o", f"mqtt://127.0.0.1:{port}/cameras/{{camera}}"))
        wait_for(lambda: len(received.frames()) > 20, "nothing is received")
        broker.terminate()
        broker.wait()
        time.sleep(0.5)
        broker = stack.enter_context(mosquitto(port, folder))
        wait_for(lambda: len(received.frames()) > 60, "nothing is received")
        broker.send_signal(signal.SIGSTOP)
        time.sleep(1)
        broker.send_signal(signal.SIGCONT)
        wait_for(lambda: len(program.lines.frames()) >= 140, "the video does not go on")
        broker.terminate()
        broker.wait()
        time.sleep(1.5)
        assert program.process.poll() is None, "the program did not wait for the broker"
        stack.enter_context(mosquitto(port, folder))
        tap.equal(program.finish(), 0, "exit status")
        wait_for(lambda: set(numbers(received.all())) == set(range(150)), "not all lines")


def last_will():
    """MQTT: the status topic says online, and offline after SIGKILL and after SIGTERM"""
    needs("mosquitto", "mosquitto_sub")
    port = free_port()
    with mosquitto(port, folder):
        for number in (signal.SIGKILL, signal.SIGTERM):
            with running(*f"mosquitto_sub -h 127.0.0.1 -p {port} -t cameras/ccl-watch/status".split(),
                         stdout=subprocess.PIPE) as status, \
                    watch(f"a={ball(150, 25)}", *PACE, "-o", f"mqtt://127.0.0.1:{port}/cameras") as program:
                # The first message may be that of the run before, which the broker keeps.
                assert any(line == '{"state":"online"}\n' for line in status.stdout)
                program.finish(number)
                tap.equal(status.stdout.readline(), '{"state":"offline"}\n')


def acknowledged():
    """MQTT and SIGTERM: every line in the file is at the broker, too"""
    needs("mosquitto", "mosquitto_sub")
    port = free_port()
    (folder / "mosquitto.db").unlink(missing_ok=True)
    with mosquitto(port, folder), subscriber(port, "lines") as received:
        for _ in range(3):
            with watch(f"a={ball(150, 25)}", *PACE, "-o", f"mqtt://127.0.0.1:{port}/lines") as program:
                time.sleep(random.uniform(0.5, 1.5))
                tap.equal(program.finish(signal.SIGTERM, 6), 0, "exit status")
                sent = {json.dumps(line) for line in program.lines.usual()}
            wait_for(lambda: sent <= {json.dumps(line) for line in received.all()}, "not all lines")


def many_messages():
    """MQTT: the numbers of messages begin again after 65,535, and every line is counted"""
    needs("mosquitto")
    port = free_port()
    with mosquitto(port, folder), feed(f"mqtt://127.0.0.1:{port}/lines") as fed:
        fed.push(66500)
        status = fed.end()
        tap.equal((status["delivered"], status["queued"]), (66500, 0), "lines")


def frozen_broker():
    """MQTT: while the broker is frozen, no more lines than `queue` are kept, and the newest are among them"""
    needs("mosquitto", "mosquitto_sub")
    port = free_port()
    with contextlib.ExitStack() as stack:
        broker = stack.enter_context(mosquitto(port, folder))
        received = stack.enter_context(subscriber(port, "frozen"))
        for queue in 200, 1:
            fed = stack.enter_context(feed(f"mqtt://127.0.0.1:{port}/frozen", f"queue={queue}"))
            fed.push(20)  # now several lines may be on their way
            wait_for(lambda f=fed: f.status()["queued"] == 0, "not connected")
            broker.send_signal(signal.SIGSTOP)
            greatest = 0
            for _ in range(15):
                greatest = max(greatest, fed.flood(50)["queued"])
                time.sleep(0.02)
            broker.send_signal(signal.SIGCONT)
            assert greatest <= queue, f"{greatest} of {queue}"
            status = fed.end()
            tap.equal((status["delivered"] + status["dropped"], status["queued"]), (770, 0), "lines")
            if queue > 1:
                wait_for(lambda s=status: s["delivered"] <= len(received.all()), "not all are received")
                tap.equal(max(line["n"] for line in received.all()), 769, "the newest line")


def greeting_not_acknowledged():
    """MQTT: a connection that ends before the broker has acknowledged the status counts no line"""
    broker, statuses = None, []

    def acknowledges(topic, payload):
        if topic.endswith("status"):
            statuses.append(broker.numbers[-1])
            return None if len(statuses) == 1 else False
        for number in statuses:
            broker.acknowledge(number)
        return False
    with FakeBroker(acknowledges) as broker, feed(f"mqtt://127.0.0.1:{broker.port}/lines") as fed:
        fed.push(1)
        wait_for(lambda: any(topic == "lines" for topic, _ in broker.messages), "no line")
        time.sleep(0.3)
        status = fed.status()
        tap.equal((status["delivered"], status["queued"]), (0, 1), "lines")


def sent_again():
    """MQTT: lines that the broker has not acknowledged are sent again in their order"""
    numbers = []

    def acknowledges(topic, payload):
        if topic != "lines":
            return True
        numbers.append(json.loads(payload)["n"])
        return None if len(numbers) == 11 else True
    with FakeBroker(acknowledges) as broker, feed(f"mqtt://127.0.0.1:{broker.port}/lines") as fed:
        fed.push(50)
        tap.equal(fed.end()["delivered"], 50, fed.log())
    tap.equal(numbers[:11], list(range(11)), "lines of the first connection")
    # Acknowledgements may be lost with the connection.
    assert 0 < numbers[11] <= 10, numbers
    tap.equal(numbers[11:], list(range(numbers[11], 50)), "lines of the second connection")


def unknown_numbers():
    """MQTT: acknowledgements of messages that were never sent count nothing"""
    broker = None

    def acknowledges(topic, payload):
        for number in (77, 65535):
            broker.acknowledge(number)
        return True
    with FakeBroker(acknowledges) as broker, feed(f"mqtt://127.0.0.1:{broker.port}/lines") as fed:
        fed.push(20)
        status = fed.end()
        tap.equal((status["delivered"], status["queued"]), (20, 0), fed.log())
        tap.equal(len([topic for topic, _ in broker.messages if topic == "lines"]), 20, "messages")


def wrong_certificate():
    """MQTT: a wrong certificate is named in the log once, and repaired later the lines arrive"""
    needs("mosquitto", "openssl")
    port = free_port()
    right, wrong = make_certificate(folder, "right"), make_certificate(folder, "wrong")
    with feed(f"mqtts://127.0.0.1:{port}/lines", f"cafile={folder}/right.crt") as fed:
        with mosquitto(port, folder, *wrong):
            fed.push(10)
            wait_for(lambda: "certificate verify failed" in fed.log(), "the cause is not in the log")
            time.sleep(1.5)
            tap.equal(fed.log().count("certificate"), 1, fed.log())
            assert not fed.status()["connected"]
        with mosquitto(port, folder, *right):
            wait_for(lambda: fed.status()["delivered"] == 10, "no lines", 15)
            assert "works again" in fed.log(), fed.log()
            tap.equal(fed.end()["queued"], 0, "lines")


def refused():
    """MQTT: a broker that is away, silent or refuses the client is named in the log, and so is its return"""
    with FakeBroker(code=5) as broker:
        port = broker.port
        with feed(f"mqtt://127.0.0.1:{port}/lines") as fed:
            wait_for(lambda: "not authorised" in fed.log().lower(), "the cause is not in the log")
            broker.code = 0
            wait_for(lambda: fed.status()["connected"], "not connected")
            assert "works again" in fed.log(), fed.log()
    needs("mosquitto")
    port = free_port()
    with feed(f"mqtt://127.0.0.1:{port}/lines") as fed:
        wait_for(lambda: "Connection refused" in fed.log(), "the cause is not in the log")
        time.sleep(1)
        tap.equal(len(fed.log().splitlines()), 1, fed.log())
        with mosquitto(port, folder):
            wait_for(lambda: "works again" in fed.log(), "its return is not in the log", 15)


def line_too_long():
    """MQTT: a line for which the broker ends the connection is dropped and named; the others arrive"""
    needs("mosquitto")
    port = free_port()
    with mosquitto(port, folder, "max_packet_size 50000"), feed(f"mqtt://127.0.0.1:{port}/lines") as fed:
        fed.push(1, 60000)
        fed.push(9, 40000)
        wait_for(lambda: fed.status()["delivered"] == 9, "lines do not arrive", 30)
        status = fed.end()
        tap.equal((status["delivered"], status["dropped"], status["camera_dropped"], status["queued"]), (9, 1, 1, 0))
        assert "camera a with 60000 bytes was refused" in fed.log(), fed.log()


def many_files():
    """MQTT: the connection works in a process with more than 1,024 open files"""
    open_files = 'for ((i = 3; i < 1100; i++)); do eval "exec $i>/dev/null"; done; exec "$@"'
    with FakeBroker() as broker, Feed("bash", "-c", open_files, "bash", FEEDER,
                                      f"mqtt://127.0.0.1:{broker.port}/lines") as fed:
        fed.push(10)
        tap.equal(fed.end()["delivered"], 10, fed.log())


def status_topic():
    """MQTT: the topic of the status is JSON, and cannot be that of a camera"""
    cases = [("cameras/{camera}", [], "cameras/ccl-watch/status"), ("cameras", [], "cameras/ccl-watch/status"),
             ("{camera}", [], "ccl-watch/status"), ("cameras/{camera}", ["status-topic=x/y"], "x/y")]
    for topic, options, expected in cases:
        with FakeBroker() as broker, feed(f"mqtt://127.0.0.1:{broker.port}/{topic}", *options) as fed:
            fed.push(1, camera="status")
            tap.equal(fed.end()["delivered"], 1, fed.log())
            wait_for(lambda b=broker: len(b.messages) == 3, "no three messages")
            tap.equal([(topic, json.loads(text)["state"]) for topic, text in (broker.messages[0], broker.messages[-1])],
                      [(expected, "online"), (expected, "offline")])
            tap.equal(broker.messages[1][0], topic.replace("{camera}", "status"))
    for topic, options in (("cameras/{camera}", ["status-topic=cameras/status"]), ("a/{camera}/status", []),
                           ("a", ["status-topic=a"]), ("a", ["status-topic=a/#"]), ("a/{event}", ["status-topic=a/frame"]),
                           ("a/{event}", ["status-topic=a/arming"])):
        with feed(f"mqtt://127.0.0.1:1/{topic}", *(options or ["status-topic=a/ccl-watch/status"])) as fed:
            tap.equal(fed.process.wait(timeout=10), 2, f"status for {topic}")


sys.exit(tap.run(mqtt, frozen_broker, last_will, acknowledged, many_messages, greeting_not_acknowledged, sent_again,
                 unknown_numbers,
                 wrong_certificate, refused, line_too_long, many_files, status_topic))
