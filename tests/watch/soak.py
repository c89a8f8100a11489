#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""ccl-watch for hours: eight RTSP cameras of five frames per second, an MQTT broker, and faults all
along: cameras are killed, stopped, replaced by others of another size, or send garbage; the broker is
killed and stopped; the file is renamed; the configuration is reloaded. Checks that every line of the
file reaches the broker's subscriber, that every camera plays again, and that memory, threads and open
files stay the same. Prints TAP, and writes the measurements as CSV (seconds, KiB, files, threads,
lines).

usage: soak.py CCL_WATCH SECONDS [OUT.csv [VIDEO]]
"""
import contextlib
import os
import random
import signal
import subprocess
import sys
import time

from watching import HERE, Lines, Watch, folder, free_port, listens, mosquitto, running, tap, wait_for

PROGRAM, SECONDS = sys.argv[1], float(sys.argv[2])
CSV = sys.argv[3] if len(sys.argv) > 3 else None
VIDEO = sys.argv[4:5]
CAMERAS = 8
RATE = 5
SIZES = ("160x120", "192x144")


class Camera:
    """A camera on a port of its own, which can be killed and started again."""

    def __init__(self, number):
        self.name = f"c{number}"
        self.port = free_port()
        self.process = None
        self.start(SIZES[0])

    def start(self, size):
        self.process = subprocess.Popen(
            [sys.executable, HERE / "rtsp-camera.py", str(self.port), size, str(RATE), *VIDEO],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def kill(self):
        self.process.send_signal(signal.SIGCONT)
        self.process.kill()
        self.process.wait()


def disturb(cameras, broker, program, old_files):
    """One fault, which is over when the function returns."""
    camera = random.choice(cameras)
    fault = random.choice(("kill", "kill", "stop", "resize", "broker stops", "rename", "reload"))
    pause = random.uniform(0.5, 4)
    if fault in ("kill", "resize"):
        camera.kill()
        time.sleep(pause)
        camera.start(random.choice(SIZES) if fault == "resize" else SIZES[0])
    elif fault in ("stop", "broker stops"):
        process = camera.process if fault == "stop" else broker
        process.send_signal(signal.SIGSTOP)
        time.sleep(pause)
        process.send_signal(signal.SIGCONT)
    else:
        if fault == "rename":
            old_files.append(folder / f"renamed {len(old_files)}.ndjson")
            with contextlib.suppress(FileNotFoundError):
                program.path.rename(old_files[-1])
        program.process.send_signal(signal.SIGHUP)
        wait_for(program.path.exists, "no file")
    return fault


def median(values):
    return sorted(values)[len(values) // 2]


def soak():
    """eight cameras with faults: no line is lost, every camera comes back, memory and files stay the same"""
    port = free_port()
    old_files, samples, faults = [], [], []
    with contextlib.ExitStack() as stack:
        broker = stack.enter_context(mosquitto(port))
        received = folder / "received.ndjson"
        stack.enter_context(running(*f"mosquitto_sub -h 127.0.0.1 -p {port} -t soak -q 1".split(),
                                    stdout=open(received, "w")))
        cameras = [Camera(number) for number in range(CAMERAS)]
        for camera in cameras:
            stack.callback(camera.kill)
        for camera in cameras:
            wait_for(lambda port=camera.port: listens(port), "no camera")
        configuration = folder / "soak.conf"
        configuration.write_text(
            "[cameras]\nccl.min-area=20\ntimeout=2\nretry-min=0.2\nretry-max=1\n"
            f"[output mqtt]\nuri=mqtt://127.0.0.1:{port}/soak\nqueue=100000\n"
            f"[output file]\nuri={folder}/lines.ndjson\n" + "".join(
                f"[camera {camera.name}]\nuri=rtsp://127.0.0.1:{camera.port}/camera\n" for camera in cameras))
        program = stack.enter_context(Watch(PROGRAM, "-c", configuration, output=False,
                                            environment={"MALLOC_PERTURB_": "0"}))
        for camera in cameras:
            program.wait_for_state("playing", camera.name)
        start = time.monotonic()
        while time.monotonic() < start + SECONDS:
            faults.append(disturb(cameras, broker, program, old_files))
            time.sleep(random.uniform(0.5, 2))
            samples.append((time.monotonic() - start, program.memory(), program.open_files(),
                            len(os.listdir(f"/proc/{program.process.pid}/task")), len(program.log())))
            assert program.process.poll() is None, program.log()[-2000:]
        for camera in cameras:
            count = len(program.lines.frames(camera.name))
            wait_for(lambda c=camera, n=count: len(program.lines.frames(c.name)) > n, f"{camera.name} is not back", 60)
        tap.equal(program.finish(signal.SIGTERM, 8), 0, "exit status")
        sent = {line for path in [*old_files, program.path] for line in Lines(path).text().splitlines()}
        wait_for(lambda: sent <= set(Lines(received).text().splitlines()), "not all lines arrived")
        for path in [*old_files, program.path]:
            Lines(path).all()
    report(samples, faults, len(sent))
    half = len(samples) // 2
    for column, what, slack in ((1, "KiB of memory", 16384), (2, "open files", 12), (3, "threads", 12)):
        first, last = (median([sample[column] for sample in part]) for part in (samples[half // 2:half], samples[half:]))
        assert last <= first * 1.15 + slack, f"{what}: {first}, then {last}"


def report(samples, faults, lines):
    print(f"# {samples[-1][0]:.0f} s, {len(faults)} faults, {lines} lines; memory {samples[0][1]} to {samples[-1][1]} KiB, "
          f"open files {samples[0][2]} to {samples[-1][2]}, threads {samples[0][3]} to {samples[-1][3]}")
    if CSV:
        with open(CSV, "w") as file:
            file.write("seconds,memory_kib,open_files,threads,log_bytes\n")
            file.writelines(",".join(f"{value:g}" for value in sample) + "\n" for sample in samples)


sys.exit(tap.run(soak))
