#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The outputs of ccl-watch: files, TCP, mosquitto, and a Kafka cluster of librdkafka. Receivers are
away, killed and stuck, disks full, and the program is killed at random moments; then lines are
counted. Prints TAP.

usage: test-outputs.py CCL_WATCH SLOW_TYPES [KAFKA_MOCK]
"""
import contextlib
import functools
import json
import random
import resource
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

from watching import (Lines, Watch, ball, folder, free_port, mosquitto, running, tap, wait_for)

PROGRAM, SLOW_TYPES = sys.argv[1:3]
MOCK = sys.argv[3] if len(sys.argv) > 3 else None
watch = functools.partial(Watch, PROGRAM)
SMALL = ["-s", "ccl.min-area=20"]
PACE = [*SMALL, "-s", "pace=true"]


def configure(*words, **outputs):
    """The words for a configuration file with these outputs, each a text of keys."""
    path = folder / "outputs.conf"
    path.write_text("".join(f"[output {name}]\n{keys}\n" for name, keys in outputs.items()))
    return ["-c", path, *words]


def numbers(lines):
    return [line["frame"] for line in lines if "frame" in line]


# Files.

def appended():
    """file: a second run appends; an incomplete line at the end is removed"""
    path = folder / "appended.ndjson"
    for _ in range(2):
        with watch(f"a={ball(30, 30)}", *SMALL, "-o", path, output=False) as program:
            tap.equal(program.finish(), 0, "exit status")
        with open(path, "a") as file:
            file.write('{"source":"a","utc":"20')
    text = path.read_text()
    assert text.endswith('"20'), "the last run's incomplete line is the test's own"
    complete = [json.loads(line) for line in text.splitlines()[:-1]]
    tap.equal(numbers(complete), list(range(30)) * 2, "frames")


def rotated():
    """file: rotated by size, old files are limited, no line is lost in between"""
    path = folder / "rotated.ndjson"
    with watch(f"a={ball(100, 30)}", *SMALL,
               *configure(file=f"uri={path}\nrotate-size=4k"), output=False) as program:
        tap.equal(program.finish(), 0, "exit status")
    parts = sorted(folder.glob("rotated.ndjson.*")) + [path]
    assert len(parts) > 3 and all(part.stat().st_size <= 4000 for part in parts), parts
    tap.equal(numbers(line for part in parts for line in Lines(part).all()), list(range(100)), "frames")
    with watch(f"a={ball(100, 30)}", *SMALL,
               *configure(file=f"uri={path}\nrotate-size=4k\nrotate-keep=2"), output=False) as program:
        tap.equal(program.finish(), 0, "exit status")
    tap.equal(len(list(folder.glob("rotated.ndjson.*"))), 2, "old files")


def reopened():
    """file: renamed and SIGHUP, as logrotate does it: a new file, no line lost"""
    with watch(f"a={ball(60, 30)}", *PACE) as program:
        wait_for(lambda: len(program.lines.frames()) > 10, "no lines")
        old = folder / "renamed.ndjson"
        program.path.rename(old)
        program.process.send_signal(signal.SIGHUP)
        wait_for(program.path.exists, "no new file")
        tap.equal(program.finish(), 0, "exit status")
        tap.equal(numbers(Lines(old).all() + program.lines.all()), list(range(60)), "frames")


def limit_file_size():
    resource.setrlimit(resource.RLIMIT_FSIZE, (8000, resource.RLIM_INFINITY))


def disk_full():
    """file: a full disk costs no line and leaves whole lines; with room again, all are written"""
    with watch(f"a={ball(100, 30)}", *PACE, preexec_fn=limit_file_size) as program:
        wait_for(lambda: "trying again" in program.log(), "the disk is not full")
        assert program.lines.text().endswith("}\n"), "an incomplete line"
        time.sleep(1)
        resource.prlimit(program.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        tap.equal(program.finish(), 0, "exit status")
        tap.equal(numbers(program.lines.all()), list(range(100)), "frames")


def tmpfs_full():
    """file: a tmpfs that is full"""
    place = folder / "tmpfs"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=40k", "tmpfs", place],
                      stderr=subprocess.DEVNULL).returncode != 0:
        raise tap.Skip("a tmpfs cannot be mounted here")
    try:
        with watch(f"a={ball(100, 30)}", *SMALL, "-o", place / "lines", output=False) as program:
            wait_for(lambda: "No space left" in program.log(), "the disk is not full")
            text = (place / "lines").read_text()
            assert text.endswith("}\n"), text[-100:]
            shutil.copy(place / "lines", folder / "first part")
            (place / "lines").unlink()
            tap.equal(program.finish(signal.SIGHUP), 0, "exit status")
            lines = Lines(folder / "first part").all() + Lines(place / "lines").all()
            tap.equal(numbers(lines), list(range(100)), "frames")
    finally:
        subprocess.run(["umount", "-l", place], check=True)


def closed_pipe():
    """standard output: status 1 when nobody reads it"""
    with subprocess.Popen([PROGRAM, f"a={ball(100, 30)}", *map(str, PACE)], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as process:
        process.stdout.readline()
        process.stdout.close()
        tap.equal(process.wait(timeout=20), 1, "exit status")


# Signals.

def terminated():
    """SIGTERM at random moments: status 0 within 5 s, whole lines, none missing in between"""
    for delay in [random.uniform(0, 1.2) for _ in range(5)]:
        with watch(f"a={ball(60, 30)}", f"b={ball(60, 30)}", *PACE) as program:
            time.sleep(delay)
            if not wait_for(lambda: "labelling" in program.log(), "not started"):
                continue
            tap.equal(program.finish(signal.SIGTERM, 6), 0, f"exit status after {delay:.2f} s")
            text = program.lines.text()
            assert not text or text.endswith("}\n"), text[-100:]
            for name in "ab":
                got = numbers(program.lines.frames(name))
                tap.equal(got, list(range(len(got))), f"frames of {name}")


def killed():
    """SIGKILL at random moments: whole lines, none missing in between; the next run appends"""
    path = folder / "killed.ndjson"
    runs = 5
    for _ in range(runs):
        with watch(f"a={ball(60, 30)}", *PACE, "-o", path, output=False) as program:
            time.sleep(random.uniform(0.2, 1.2))
    text = path.read_text()
    assert text.endswith("}\n"), text[-100:]
    got = numbers(map(json.loads, text.splitlines()))
    starts = [index for index, number in enumerate(got) if number == 0] + [len(got)]
    assert len(starts) <= runs + 1, starts
    for start, end in zip(starts, starts[1:]):
        tap.equal(got[start:end], list(range(end - start)), "frames of a run")


# TCP.

class Receiver:
    """A TCP server that takes one connection after the other and keeps whole lines."""

    def __init__(self, port):
        self.server = socket.create_server(("127.0.0.1", port))
        self.lines, self.reading = [], True
        self.connection = None
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        with contextlib.suppress(OSError):
            while True:
                self.connection = self.server.accept()[0]
                with contextlib.suppress(OSError), self.connection.makefile() as file:
                    for line in file:
                        if line.endswith("\n"):
                            self.lines.append(json.loads(line))
                        while not self.reading:
                            time.sleep(0.02)

    def close(self):
        self.server.close()
        with contextlib.suppress(OSError, AttributeError):
            self.connection.shutdown(socket.SHUT_RDWR)


def tcp():
    """TCP: a receiver that is away at first and goes later gets the lines when it is back"""
    port = free_port()
    with watch(f"a={ball(100, 30)}", *PACE, "-o", f"tcp://127.0.0.1:{port}") as program:
        wait_for(lambda: len(program.lines.frames()) > 10, "no lines")
        first = Receiver(port)
        wait_for(lambda: len(numbers(first.lines)) > 20, "nothing is received")
        first.close()
        wait_for(lambda: len(program.lines.frames()) > 60, "no lines")
        second = Receiver(port)
        tap.equal(program.finish(), 0, "exit status")
        wait_for(lambda: 99 in numbers(second.lines), "the last line did not come")
        missing = set(range(100)) - set(numbers(first.lines + second.lines))
        # Lines that the kernel had taken when the receiver went.
        assert len(missing) <= 5, f"missing: {missing}"
        second.close()


def tcp_at_start():
    """TCP: the first connection and the start of the web server do not wait for each other"""
    with watch(f"a={ball(5, 5)}", *PACE, "--http=127.0.0.1:0", "-o", f"tcp://127.0.0.1:{free_port()}", output=False,
               environment={"LD_PRELOAD": SLOW_TYPES}) as program:
        wait_for(lambda: "camera a: playing" in program.log(), "no frame", 20)


def tcp_stuck():
    """TCP: with a receiver that reads nothing, the oldest lines are dropped, counted and reported"""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        port = server.getsockname()[1]
        words = configure(tcp=f"uri=tcp://127.0.0.1:{port}\nqueue=20", file=f"uri={folder}/lines.ndjson")
        (folder / "lines.ndjson").unlink(missing_ok=True)
        with watch(f"a={ball(9000, 3000)}", *PACE, *words, output=False) as program:
            wait_for(lambda: len(program.lines.frames()) == 9000, "the video waits", 90)
            wait_for(lambda: "lines were dropped" in program.log(), "nothing is reported")
            tap.equal(program.finish(signal.SIGTERM, 6), 0, "exit status")
            assert "were not delivered in time" in program.log() or "dropped" in program.log()


# MQTT.

@contextlib.contextmanager
def subscriber(port, topic):
    """Collects the messages in a file; the broker keeps those of a time without it."""
    path = folder / f"{topic.replace('/', '-')}.ndjson"
    with open(path, "w") as file:
        words = f"mosquitto_sub -h 127.0.0.1 -p {port} -t {topic} -q 1 -i {path.stem} -c".split()
        subprocess.run([*words, "-E"], check=True, timeout=20)  # until it has subscribed
        with running(*words, stdout=file, stderr=subprocess.DEVNULL):
            yield Lines(path)


def needs(*programs):
    for program in programs:
        if not shutil.which(program):
            raise tap.Skip(f"{program} is not installed")


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
            with running(*f"mosquitto_sub -h 127.0.0.1 -p {port} -t cameras/status -R".split(),
                         stdout=subprocess.PIPE) as status, \
                    watch(f"a={ball(150, 25)}", *PACE, "-o", f"mqtt://127.0.0.1:{port}/cameras") as program:
                tap.equal(status.stdout.readline(), "online\n")
                program.finish(number)
                tap.equal(status.stdout.readline(), "offline\n")


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
                sent = set(program.lines.text().splitlines())
            wait_for(lambda: sent <= set(received.text().splitlines()), "not all lines")


# Kafka.

@contextlib.contextmanager
def kafka():
    """The cluster: the process and where it listens."""
    needs("kcat")
    if not MOCK:
        raise tap.Skip("librdkafka-dev is not installed")
    with running(MOCK, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as cluster:
        yield cluster, cluster.stdout.readline().strip()


def consumed(address):
    words = ["kcat", "-C", "-q", "-e", "-b", address, "-t", "components", "-o", "beginning", "-f", "%k %s\n"]
    lines = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True, timeout=30).stdout.splitlines()
    return [line.split(" ", 1) for line in lines]


def kafka_away():
    """Kafka: away for a while and stuck for a while: every line arrives, with the camera as its key"""
    with kafka() as (cluster, address), \
            watch(f"a={ball(100, 25)}", *PACE, "-o", f"kafka://{address}/components") as program:
        wait_for(lambda: len(program.lines.frames()) > 20, "no lines")
        print("down", file=cluster.stdin, flush=True)
        time.sleep(1)
        print("up", file=cluster.stdin, flush=True)
        wait_for(lambda: len(program.lines.frames()) > 60, "no lines")
        cluster.send_signal(signal.SIGSTOP)
        time.sleep(1)
        cluster.send_signal(signal.SIGCONT)
        tap.equal(program.finish(), 0, "exit status")
        messages = consumed(address)
        tap.equal({key for key, _ in messages}, {"a"}, "keys")
        tap.equal({text for _, text in messages}, set(program.lines.text().splitlines()), "lines")


def kafka_never():
    """Kafka: without a cluster, SIGTERM ends within 5 s and says how many lines are lost"""
    with watch(f"a={ball(60, 25)}", *PACE, "-o", f"kafka://127.0.0.1:{free_port()}/components") as program:
        wait_for(lambda: len(program.lines.frames()) > 20, "no lines")
        tap.equal(program.finish(signal.SIGTERM, 6), 0, "exit status")
        assert "lines were not delivered in time" in program.log(), program.log()


sys.exit(tap.run(appended, rotated, reopened, disk_full, tmpfs_full, closed_pipe, terminated, killed, tcp, tcp_at_start, tcp_stuck,
                 mqtt, last_will, acknowledged, kafka_away, kafka_never))
