#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""ccl-watch for hours: RTSP cameras of five frames per second, an MQTT broker, and the faults of
soak_faults.py all along. Checks that every line of the file reaches the broker's subscriber, that every
camera plays again, and that memory, threads and open files stay the same. Prints TAP. Writes the
measurements as CSV (seconds, KiB, files, threads, reconnections) and as a plot with the name OUT.svg if
matplotlib is installed.

The broker ends by SIGTERM: killed, it would lose lines that it has acknowledged.

usage: soak.py [--cameras N] CCL_WATCH SLOW_DECODER SECONDS [OUT.csv [VIDEO]]
"""
import argparse
import contextlib
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

from soak_faults import Broker, Camera, Reader, SafeBroker, Scene, next_faults
from watching import Lines, Watch, folder, free_port, listens, running, tap, wait_for

parser = argparse.ArgumentParser()
parser.add_argument("--cameras", type=int, default=8)
parser.add_argument("program")
parser.add_argument("slow_decoder")
parser.add_argument("seconds", type=float)
parser.add_argument("csv", type=pathlib.Path, nargs="?")
parser.add_argument("video", nargs="?")
options = parser.parse_args()


def median(values):
    return sorted(values)[len(values) // 2]


def soak():
    """cameras and a broker with faults: no line is lost, every camera comes back, memory and files stay the same"""
    port, page = free_port(), free_port()
    samples, faults = [], []
    with contextlib.ExitStack() as stack:
        # The subscriber is slower than the broker gets many lines.
        broker = Broker(port, stack, folder, "max_queued_messages 0")
        safe_broker, reader = SafeBroker(stack), Reader(stack)
        received = folder / "received.ndjson"
        stack.enter_context(running(*f"mosquitto_sub -h 127.0.0.1 -p {port} -t soak -q 1 -i soak -c".split(),
                                    stdout=open(received, "w"), stderr=subprocess.DEVNULL))
        cameras = [Camera(number, options.video) for number in range(options.cameras)]
        for camera in cameras:
            stack.callback(camera.kill)
        for camera in cameras:
            wait_for(lambda port=camera.port: listens(port), "no camera")
        configuration = folder / "soak.conf"
        configuration.write_text(
            f"[ccl-watch]\nhttp=127.0.0.1:{page}\n"
            "[cameras]\nccl.min-area=20\ntimeout=2\nretry-min=0.2\nretry-max=1\n"
            f"[output mqtt]\nuri=mqtt://127.0.0.1:{port}/soak\nevents=all\nqueue=20000\n"
            f"[output safe]\nuri=mqtts://127.0.0.1:{safe_broker.port}/soak\nevents=all\ncafile={safe_broker.authority}\nqueue=20000\n"
            f"[output pipe]\nuri={reader.pipe}\nstuck=2\nqueue=20000\n"
            f"[output file]\nuri={folder}/lines.ndjson\n" + "".join(
                f"[camera {camera.name}]\nuri=rtsp://127.0.0.1:{camera.port}/camera\n" for camera in cameras))
        fast = folder / "fast"
        fast.touch()
        program = stack.enter_context(Watch(
            options.program, "-c", configuration, output=False,
            environment={"MALLOC_PERTURB_": "0", "LD_PRELOAD": options.slow_decoder, "FRAME_TIME": "100000", "FAST": str(fast)}))
        scene = Scene(program, cameras, broker, page, safe_broker, reader, fast)
        for camera in cameras:
            program.wait_for_state("playing", camera.name)
        start = time.monotonic()
        for fault in next_faults(options.seconds >= 600):
            if time.monotonic() > start + options.seconds:
                break
            fault(scene)
            faults.append(fault.__name__)
            time.sleep(random.uniform(0.5, 2))
            samples.append((time.monotonic() - start, program.memory(), program.open_files(),
                            len(os.listdir(f"/proc/{program.process.pid}/task")), reconnections(program)))
            write(samples)
            assert program.process.poll() is None, program.log()[-2000:]
        for camera in cameras:
            count = len(program.lines.frames(camera.name))
            wait_for(lambda c=camera, n=count: len(program.lines.frames(c.name)) > n, f"{camera.name} is not back", 60)
        tap.equal(program.finish(signal.SIGTERM, 8), 0, "exit status")
        sent = {line for path in [*scene.old_files, program.path] for line in Lines(path).text().splitlines()}
        wait_for(lambda: sent <= set(Lines(received).text().splitlines()), "not all lines arrived")
        wait_for(lambda: sent <= set(Lines(reader.received).text().splitlines()), "the reader has not all lines")
        assert "dropped" not in program.log() and "not delivered" not in program.log(), program.log()[-2000:]
        for path in [*scene.old_files, program.path]:
            Lines(path).all()
    report(samples, faults, len(sent))
    half = len(samples) // 2
    for column, what, slack in ((1, "KiB of memory", 16384), (2, "open files", 12), (3, "threads", 12)):
        first, last = (median([sample[column] for sample in part]) for part in (samples[half // 2:half], samples[half:]))
        assert last <= first * 1.15 + slack, f"{what}: {first}, then {last}"


def reconnections(program):
    return sum(program.log().count(f": {state}") for state in ("lost", "silent", "garbage"))


def write(samples):
    if options.csv:
        options.csv.write_text("seconds,memory_kib,open_files,threads,reconnections\n" + "".join(
            ",".join(f"{value:g}" for value in sample) + "\n" for sample in samples))


def plot(samples):
    try:
        from matplotlib import pyplot
    except ImportError:
        print("# no plot: matplotlib is not installed")
        return
    pyplot.rcParams["svg.hashsalt"] = "soak"
    figure, (memory, counts) = pyplot.subplots(2, sharex=True, figsize=(8, 5), constrained_layout=True)
    minutes = [sample[0] / 60 for sample in samples]
    memory.plot(minutes, [sample[1] / 1024 for sample in samples])
    memory.set(ylabel="resident memory in MiB", ylim=(0, None), xlim=(0, None))
    for column, name in ((4, "connections that failed or ended"), (3, "threads"), (2, "open files")):
        counts.plot(minutes, [sample[column] for sample in samples], label=name)
    counts.set(xlabel="minutes", ylabel="number", ylim=(0, None))
    counts.legend()
    for axes in (memory, counts):
        axes.grid(alpha=0.3)
    figure.savefig(options.csv.with_suffix(".svg"), metadata={"Date": None})


def report(samples, faults, lines):
    print(f"# {samples[-1][0]:.0f} s, {len(faults)} faults, {samples[-1][4]} reconnections, {lines} lines; memory "
          f"{samples[0][1]} to {samples[-1][1]} KiB, open files {samples[0][2]} to {samples[-1][2]}, threads "
          f"{samples[0][3]} to {samples[-1][3]}", flush=True)
    if options.csv:
        plot(samples)


sys.exit(tap.run(soak))
