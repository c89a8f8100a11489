#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The output of ccl-watch to a Kafka cluster of librdkafka, which is away, stuck, or refuses lines. Then lines are
counted. Prints TAP.

usage: test-kafka.py CCL_WATCH FEED_OUTPUT [KAFKA_MOCK]
"""
import contextlib
import functools
import pathlib
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from feeding import Feed  # noqa: E402
from watching import Watch, ball, free_port, needs, running, tap, wait_for  # noqa: E402

PROGRAM, FEEDER = sys.argv[1:3]
MOCK = sys.argv[3] if len(sys.argv) > 3 else None
watch = functools.partial(Watch, PROGRAM)
feed = functools.partial(Feed, FEEDER)
PACE = ["-s", "ccl.min-area=20", "-s", "pace=true"]


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


def line_too_long():
    """Kafka: a line that is too long is dropped, counted and named; the others arrive"""
    with kafka() as (_, address), feed(f"kafka://{address}/components", "kafka.message.max.bytes=50000") as fed:
        fed.push(5, 100)
        fed.push(1, 60000)
        fed.push(5, 100)
        wait_for(lambda: fed.status()["delivered"] == 10, "lines do not arrive")
        status = fed.end()
        tap.equal((status["delivered"], status["dropped"], status["camera_dropped"], status["queued"]), (10, 1, 1, 0))
        assert "camera a with 60000 bytes was refused" in fed.log(), fed.log()
        tap.equal(len(consumed(address)), 10, "messages")


def no_cluster():
    """Kafka: a cluster that is away is named in the log once, and so is its return"""
    with kafka() as (cluster, address):
        print("down", file=cluster.stdin, flush=True)
        with feed(f"kafka://{address}/components") as fed:
            fed.push(5)
            wait_for(lambda: "trying again" in fed.log(), "nothing in the log")
            tap.equal(fed.status()["connected"], False, "connected")
            time.sleep(2)
            tap.equal(len(fed.log().splitlines()), 1, fed.log())
            print("up", file=cluster.stdin, flush=True)
            wait_for(lambda: "works again" in fed.log(), "its return is not in the log")
            tap.equal(fed.end()["delivered"], 5, "lines")


sys.exit(tap.run(kafka_away, kafka_never, line_too_long, no_cluster))
