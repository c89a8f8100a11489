#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The outputs of ccl-watch to files and TCP receivers. Receivers are away, killed and stuck, disks
full, and the program is killed at random moments; then lines are counted. Prints TAP.

usage: test-outputs.py CCL_WATCH SLOW_TYPES FEED_OUTPUT
"""
import contextlib
import functools
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from feeding import Feed  # noqa: E402
from watching import Lines, Watch, ball, folder, free_port, numbers, running, tap, wait_for  # noqa: E402

PROGRAM, SLOW_TYPES, FEEDER = sys.argv[1:]
feed = functools.partial(Feed, FEEDER)
watch = functools.partial(Watch, PROGRAM)
SMALL = ["-s", "ccl.min-area=20"]
PACE = [*SMALL, "-s", "pace=true"]


def configure(*words, **outputs):
    """The words for a configuration file with these outputs, each a text of keys."""
    path = folder / "outputs.conf"
    path.write_text("".join(f"[output {name}]\n{keys}\n" for name, keys in outputs.items()))
    return ["-c", path, *words]


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


def foreign_files():
    """file: files that rotate-keep did not make stay"""
    path = folder / "kept.ndjson"
    foreign = [path.with_name(path.name + ending) for ending in (
        ".1", ".1.gz", ".20260101", ".20260101T000000.000000.gz", ".20260101T000000", ".2026-01-01", ".0")]
    old = path.with_name(path.name + ".20260101T000000.000000")
    for file in [*foreign, old]:
        file.write_text("text\n")
    with feed(path, "rotate-size=1000", "rotate-keep=2") as fed:
        fed.push(50)
        tap.equal(fed.end()["delivered"], 50, "lines")
    tap.equal([file for file in foreign if not file.exists()], [], "files that are gone")
    assert not old.exists(), "its own old file is there"


def rotated_by_age():
    """file: rotate-age counts from the file's beginning, however often the program starts again"""
    path = folder / "aged.ndjson"
    for _ in range(4):
        with feed(path, "rotate-age=3") as fed:
            fed.push(1)
            tap.equal(fed.end()["delivered"], 1, "lines")
        time.sleep(1.1)
    tap.equal(len(list(folder.glob("aged.ndjson.*"))), 1, "old files")


def foreign_text():
    """file: text of others at the end stays; a part of a line of ccl-watch is removed"""
    path = folder / "text"
    for text, rest in (("hello", "hello\n"), ("hello\n", "hello\n"), ("a\nb", "a\nb\n"), ("\0" * 9000, "\0" * 9000 + "\n"),
                       ('{"source":"a"}', '{"source":"a"}\n'), ('{"event":1', '{"event":1\n'), ("", ""),
                       ('{"source":"a","n":1', ""), ("x" * 5000 + '\n{"sou', "x" * 5000 + "\n"), ("{", "")):
        path.write_text(text)
        with feed(path) as fed:
            fed.push(1)
            tap.equal(fed.end()["delivered"], 1, "lines")
        got = path.read_text()
        assert got.startswith(rest + '{"source":"a","n":0,') and got.endswith("}\n"), (text[-30:], got[-200:])


def others_append():
    """file: a full disk costs no text of another program that appends to the same file"""
    path = folder / "shared"
    with feed(path, preexec_fn=limit_file_size) as fed:
        fed.push(60, 101)
        with open(path, "a") as other:
            other.write("foreign\n" * 100)
        fed.push(60, 101)
        wait_for(lambda: "File too large" in fed.log(), "the disk is not full")
        tap.equal(path.read_text().count("foreign\n"), 100, "lines of the other program")
        assert path.read_text().endswith("}\n")


def quiet():
    """file: a full disk, and a file that cannot be renamed, are each reported a few times, not for each line"""
    full = folder / "full"
    with feed(full, preexec_fn=limit_file_size) as fed:
        fed.push(200, 100)
        time.sleep(3)
        fed.push(200, 100)
        assert 1 <= len(fed.log().splitlines()) <= 2, fed.log()
        resource.prlimit(fed.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        tap.equal(fed.end()["delivered"], 400, "lines")
        assert "works again" in fed.log(), fed.log()
    long = folder / ("x" * 250)  # with the time behind it, it is too long for a name
    with feed(long, "rotate-size=1000") as fed:
        for _ in range(20):
            fed.push(100, 100)
            time.sleep(0.1)
        tap.equal(fed.end()["delivered"], 2000, "lines")
        assert 1 <= fed.log().count("cannot be renamed") <= 2, fed.log()


def hung_disk():
    """file: a disk or a reader that hangs is reported while it does, and dropped lines, too; then it goes on"""
    path = folder / "pipe"
    os.mkfifo(path)
    with feed(path, "queue=100", "stuck=1") as fed:
        fed.flood(1000, 1000)
        tap.equal(fed.status()["stuck"], False, "stuck")
        wait_for(lambda: fed.status()["stuck"], "it is not stuck")
        tap.equal(fed.status()["connected"], False, "connected")
        wait_for(lambda: "nothing was taken for 1 s" in fed.log(), "nothing in the log")
        assert "lines were dropped" in fed.log(), fed.log()
        with open(folder / "received", "w") as received, running("cat", path, stdout=received) as reader:
            wait_for(lambda: "lines are taken again" in fed.log(), "nothing in the log")
            status = fed.end()
            reader.wait(timeout=10)
        n = len((folder / "received").read_text().splitlines())
        tap.equal((status["delivered"], status["dropped"], status["queued"]), (n, 1000 - n, 0), "lines")
        tap.equal(status["camera_dropped"], status["dropped"], "dropped lines of the camera")


def stopped_reader():
    """standard output: SIGTERM ends the program in time though the reader is stopped, without criticals"""
    with running(PROGRAM, f"a={ball(9000, 3000)}", *PACE, "-s", "loop=true", stdout=subprocess.PIPE,
                 stderr=subprocess.PIPE) as process:
        process.stdout.readline()
        time.sleep(1)
        process.send_signal(signal.SIGTERM)
        tap.equal(process.wait(timeout=7), 0, "exit status")
        log = process.stderr.read()
        assert "CRITICAL" not in log and "were not delivered in time" in log, log


def full_output_and_no_files():
    """a full output does not hold up the main thread, though a new camera of a file cannot start"""
    camera = "[camera {0}]\nuri=" + str(ball(9000, 3000)) + "\nloop=true\nccl.min-area=20\n"
    words = configure(stdout="uri=-\nqueue=1")
    with open(words[1], "a") as file:
        file.write(camera.format("a"))
    with watch(*words, output=False, stdout=subprocess.PIPE) as program:
        program.process.stdout.readline()
        time.sleep(2)  # the pipe is full then
        # A connection begins when 64 + 24 files are left; a configuration of two cameras needs as many and one for each.
        limit = 64 + 24 + max(program.open_files() - 8, 2)
        resource.prlimit(program.process.pid, resource.RLIMIT_NOFILE, (limit, 4096))
        with open(words[1], "a") as file:
            file.write(camera.format("b"))
        program.process.send_signal(signal.SIGHUP)
        wait_for(lambda: "camera b: lost: too many open files" in program.log(), "it is not lost")
        tap.equal(program.finish(signal.SIGTERM, 7), 0, "exit status")


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


def tcp_slow():
    """TCP: a receiver that stops for longer than the timeout gets every line when it goes on"""
    port = free_port()
    receiver = Receiver(port)
    with feed(f"tcp://127.0.0.1:{port}", "timeout=1", "stuck=1") as fed:
        fed.push(10)
        wait_for(lambda: len(receiver.lines) == 10, "no lines")
        receiver.reading = False
        fed.push(9000, 2000)
        wait_for(lambda: "has taken nothing for 1 s" in fed.log(), "the connection is not ended", 30)
        receiver.reading = True
        wait_for(lambda: {line["n"] for line in receiver.lines} == set(range(9010)), "not all lines")
        status = fed.end()
        tap.equal((status["delivered"], status["dropped"], status["queued"]), (9010, 0, 0), "lines")
    receiver.close()


def tcp_patient():
    """TCP: a receiver that stops for some seconds keeps its connection; the log says that nothing is taken"""
    port = free_port()
    receiver = Receiver(port)
    with feed(f"tcp://127.0.0.1:{port}", "stuck=1") as fed:
        receiver.reading = False
        fed.push(9000, 2000)
        wait_for(lambda: "nothing was taken for 1 s" in fed.log(), "nothing in the log")
        status = fed.status()
        tap.equal((status["connected"], status["stuck"]), (False, False), "connected and stuck")
        time.sleep(5)  # the former limit
        receiver.reading = True
        tap.equal(fed.end()["delivered"], 9000, "lines")
        wait_for(lambda: len(receiver.lines) >= 9000, "not all lines")
        tap.equal([line["n"] for line in receiver.lines], list(range(9000)), "lines in their order, once")
        assert "trying again" not in fed.log(), fed.log()
    receiver.close()


def tcp_talkative():
    """TCP: a receiver that sends without end does not stop the output"""
    with socket.create_server(("127.0.0.1", 0)) as server, \
            feed(f"tcp://127.0.0.1:{server.getsockname()[1]}") as fed:
        client = server.accept()[0]

        def talk():
            with contextlib.suppress(OSError):
                while True:
                    client.sendall(b"x" * 1000000)
        threading.Thread(target=talk, daemon=True).start()
        with client.makefile() as file:
            for _ in range(3):
                fed.push(100)
                tap.equal(sum(1 for _, line in zip(range(100), file)), 100, "lines")


sys.exit(tap.run(appended, rotated, reopened, disk_full, tmpfs_full, foreign_files, rotated_by_age, foreign_text, others_append,
                 quiet, hung_disk, stopped_reader, full_output_and_no_files, closed_pipe, terminated, killed,
                 tcp, tcp_at_start, tcp_stuck, tcp_slow, tcp_patient, tcp_talkative))
