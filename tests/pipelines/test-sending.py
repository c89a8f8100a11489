#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The scripts of pipelines/ that send components away, each with the real broker: mosquitto, and
for Kafka librdkafka's mock cluster, which speaks the real protocol (Debian has no Kafka broker).
What arrives is compared with the file that each script writes. Prints TAP.

usage: test-sending.py [KAFKA_MOCK]
"""
import contextlib
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/runner"))
import tap  # noqa: E402
from processes import free_port, listens, mosquitto, running, wait_for  # noqa: E402

MOCK = sys.argv[1] if len(sys.argv) > 1 else None
scratch = tempfile.TemporaryDirectory(prefix="sending test ")
folder = pathlib.Path(scratch.name)
os.environ["PATH"] += ":/usr/sbin"  # of mosquitto
OUT = folder / "out.ndjson"


def needs(*programs):
    for program in programs:
        if not shutil.which(program):
            raise tap.Skip(f"{program} is not installed")


def ball(frames, rate):
    """A video that takes frames ÷ rate seconds."""
    video = folder / f"ball {frames} {rate}.avi"
    if not video.exists():
        subprocess.run([*f"gst-launch-1.0 -q videotestsrc pattern=ball num-buffers={frames} ! "
                        f"video/x-raw,width=80,height=60,framerate={rate}/1 ! jpegenc ! avimux ! "
                        "filesink".split(), f"location={video}"], check=True, timeout=60)
    return video


def send(script, *words, keep=False, path=None):
    """The script on its way: into OUT, and to where the words say."""
    environment = {**os.environ, "PATH": f"{path}:{os.environ['PATH']}" if path else os.environ["PATH"]}
    if keep:
        environment["KEEP"] = "1"
    OUT.unlink(missing_ok=True)
    return running(ROOT / "pipelines" / script, words[0], OUT, *words[1:], env=environment,
                   stderr=subprocess.DEVNULL)


def lines_in(path):
    return path.read_text().splitlines() if path.exists() else []


def finish(process, frames):
    """The video went through, whatever became of the broker."""
    tap.equal(process.wait(timeout=60), 0, "exit status")
    lines = lines_in(OUT)
    tap.equal([json.loads(line)["frame"] for line in lines], list(range(frames)), "frames in the file")
    return lines


def gaps(lines):
    numbers = [json.loads(line)["frame"] for line in lines]
    return [(a, b) for a, b in zip(numbers, numbers[1:]) if b != a + 1]


# MQTT

@contextlib.contextmanager
def subscriber(port):
    """Collects the messages in a file; yields its path."""
    path = folder / "subscribed.ndjson"
    (folder / "mosquitto.db").unlink(missing_ok=True)
    with open(path, "w") as file:
        words = f"mosquitto_sub -h 127.0.0.1 -p {port} -t components -q 1 -i test -c".split()
        subprocess.run([*words, "-E"], check=True, timeout=20)  # until it has subscribed
        with running(*words, stdout=file):
            yield path


def mqtt():
    """send-mqtt: every line arrives at a subscriber of mosquitto"""
    needs("mosquitto", "mosquitto_pub", "mosquitto_sub")
    port = free_port()
    with mosquitto(port, folder), subscriber(port) as subscribed:
        with send("send-mqtt", ball(60, 30), "127.0.0.1", port, "components") as process:
            sent = finish(process, 60)
        wait_for(lambda: len(lines_in(subscribed)) >= 60, "not all lines")
        tap.equal(lines_in(subscribed), sent, "received")


# Both ends find the broker again by themselves.
def mqtt_broker_killed():
    """send-mqtt: a broker that is killed costs its lines, not the video; back again it gets the rest"""
    needs("mosquitto", "mosquitto_pub", "mosquitto_sub")
    port = free_port()
    with mosquitto(port, folder) as broker, subscriber(port) as subscribed:
        with send("send-mqtt", ball(180, 30), "127.0.0.1", port, "components") as process:
            wait_for(lambda: len(lines_in(subscribed)) >= 20, "no lines")
            start = time.monotonic()
            broker.kill()
            broker.wait()
            time.sleep(0.5)
            with mosquitto(port, folder):
                sent = finish(process, 180)
                seconds = time.monotonic() - start
                wait_for(lambda: lines_in(subscribed)[-1:] == sent[-1:], "the last line did not come")
                received = lines_in(subscribed)
    assert seconds < 9, f"the rest of the video, 5 s, took {seconds:.1f} s"
    tap.equal(len(gaps(received)), 1, "gaps")
    before, after = gaps(received)[0]
    assert 15 < before < after < 170, f"lost from {before} to {after}"


def mqtt_kept():
    """send-mqtt with KEEP: nothing is lost while the broker restarts"""
    needs("mosquitto", "mosquitto_pub", "mosquitto_sub")
    port = free_port()
    with mosquitto(port, folder) as broker, subscriber(port) as subscribed:
        with send("send-mqtt", ball(120, 30), "127.0.0.1", port, "components", keep=True) as process:
            wait_for(lambda: len(lines_in(subscribed)) >= 20, "no lines")
            broker.terminate()  # and save its state
            broker.wait()
            time.sleep(0.5)
            with mosquitto(port, folder):
                sent = finish(process, 120)
                # Sent at least once: some may come twice.
                wait_for(lambda: set(lines_in(subscribed)) >= set(sent), "not all lines")


def mqtt_no_broker():
    """send-mqtt: without any broker the video goes through"""
    needs("mosquitto_pub")
    with send("send-mqtt", ball(60, 30), "127.0.0.1", free_port(), "components") as process:
        finish(process, 60)


# Kafka

@contextlib.contextmanager
def kafka():
    """The cluster; yields it and where it listens."""
    needs("kcat")
    if not MOCK:
        raise tap.Skip("librdkafka-dev is not installed")
    with running(MOCK, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as cluster:
        yield cluster, cluster.stdout.readline().strip()


def tell(cluster, word):
    cluster.stdin.write(word + "\n")
    cluster.stdin.flush()


def consumed(address):
    return subprocess.run(["kcat", "-C", "-q", "-e", "-b", address, "-t", "components", "-o", "beginning"],
                          check=True, stdout=subprocess.PIPE, text=True, timeout=30).stdout.splitlines()


def kafka_sent():
    """send-kafka: every line is in the topic, in order"""
    with kafka() as (_, address), send("send-kafka", ball(60, 30), address, "components") as process:
        sent = finish(process, 60)
        tap.equal(consumed(address), sent, "consumed")


def kafka_broker_away():
    """send-kafka: lines of a second without the broker are sent when it is back"""
    with kafka() as (cluster, address), send("send-kafka", ball(120, 30), address, "components") as process:
        wait_for(lambda: len(lines_in(OUT)) >= 20, "no lines")
        tell(cluster, "down")
        time.sleep(1)
        tell(cluster, "up")
        sent = finish(process, 120)
        tap.equal(set(consumed(address)), set(sent), "consumed")


def kafka_broker_killed():
    """send-kafka: a broker that is killed does not stall the video"""
    with kafka() as (cluster, address), send("send-kafka", ball(120, 30), address, "components") as process:
        wait_for(lambda: len(lines_in(OUT)) >= 20, "no lines")
        start = time.monotonic()
        cluster.kill()
        wait_for(lambda: len(lines_in(OUT)) >= 120, "the video has stalled", 10)
        seconds = time.monotonic() - start
        assert seconds < 7, f"the rest of the video, 3 s, took {seconds:.1f} s"
        finish(process, 120)


def stuck(seconds):
    """A folder with a kcat that reads nothing for so long."""
    programs = folder / "programs"
    programs.mkdir(exist_ok=True)
    (programs / "kcat").write_text(f"#!/bin/sh\nsleep {seconds}\nexec cat > '{folder}/read.ndjson'\n")
    (programs / "kcat").chmod(0o755)
    return programs


# 1500 lines are more than a pipe and the queue hold.
def back_pressure():
    """a sender that is stuck: the video goes on, lines are dropped"""
    with send("send-kafka", ball(1500, 500), "nowhere:1", "components", path=stuck(8)) as process:
        wait_for(lambda: len(lines_in(OUT)) == 1500, "the video waits for the sender", 7)
        finish(process, 1500)
    read = lines_in(folder / "read.ndjson")
    assert 100 < len(read) < 1400, f"{len(read)} lines read"
    tap.equal(len(gaps(read)) > 0, True, "gaps")


def back_pressure_wanted():
    """a sender that is stuck, with KEEP: the video waits, nothing is dropped"""
    with send("send-kafka", ball(1500, 500), "nowhere:1", "components", keep=True, path=stuck(8)) as process:
        time.sleep(7)
        assert 100 < len(lines_in(OUT)) < 1400, f"{len(lines_in(OUT))} lines after 7 s"
        sent = finish(process, 1500)
    tap.equal(lines_in(folder / "read.ndjson"), sent, "read")


# TCP

def read_all(connection):
    data = b""
    while piece := connection.recv(65536):
        data += piece
    return data.decode().splitlines()


def tcp():
    """send-tcp: clients that come and go get whole lines; one that reads nothing stalls nobody"""
    port = free_port()
    with send("send-tcp", ball(90, 30), "127.0.0.1", port) as process:
        wait_for(lambda: listens(port), "nobody listens")
        with socket.create_connection(("127.0.0.1", port)), \
                socket.create_connection(("127.0.0.1", port)) as client:
            with socket.create_connection(("127.0.0.1", port)) as short:
                json.loads(short.makefile().readline())
            received = read_all(client)
        sent = finish(process, 90)
    assert len(received) > 30, f"{len(received)} lines"
    tap.equal(received, sent[-len(received):], "received")


def again_drops():
    """again: a command that fails is run again; meanwhile lines are dropped, whole ones"""
    count, got = folder / "count", folder / "got"
    count.unlink(missing_ok=True)
    command = (f"echo >> '{count}'; [ $(wc -l < '{count}') = 3 ] || exit 1; cat > '{got}'")
    with running(ROOT / "pipelines/again", "drop", "sh", "-c", command, stdin=subprocess.PIPE,
                 stderr=subprocess.DEVNULL) as process:
        for number in range(40):
            process.stdin.write(f"line {number}\n")
            process.stdin.flush()
            time.sleep(0.1)
        process.stdin.close()
        tap.equal(process.wait(timeout=10), 0, "exit status")
    lines = lines_in(got)
    assert 10 <= len(lines) <= 25, lines
    tap.equal(lines, [f"line {number}" for number in range(40 - len(lines), 40)])


def again_at_the_end():
    """again: input that ends just after a second of dropping is a success"""
    programs = folder / "a second"
    programs.mkdir()
    (programs / "timeout").write_text("#!/bin/sh\nexit 124\n")  # the second is over, and the end not seen
    (programs / "timeout").chmod(0o755)
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    with running(ROOT / "pipelines/again", "drop", "false", env=environment, stdin=subprocess.DEVNULL,
                 stderr=subprocess.DEVNULL) as process:
        tap.equal(process.wait(timeout=10), 0, "exit status")


sys.exit(tap.run(mqtt, mqtt_broker_killed, mqtt_kept, mqtt_no_broker, kafka_sent, kafka_broker_away,
                 kafka_broker_killed, back_pressure, back_pressure_wanted, tcp, again_drops, again_at_the_end))
