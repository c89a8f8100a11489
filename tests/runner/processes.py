# SPDX-License-Identifier: LGPL-2.1-or-later
"""Processes, ports, brokers and waiting, for tests with servers and cameras."""
import contextlib
import signal
import socket
import subprocess
import time


def wait_for(condition, what, seconds=30):
    """Waits for a true value of condition() and returns it. what: for the message, or a function that gives it."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, f"{what() if callable(what) else what} after {seconds} s"
        time.sleep(0.02)
    return value


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def running(*words, **options):
    """A process that is killed afterwards, even if it is stopped."""
    process = subprocess.Popen([str(word) for word in words], text=True, **options)
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGCONT)
        process.kill()
        process.wait()


@contextlib.contextmanager
def mosquitto(port, folder, *settings):
    """An MQTT broker that keeps its state in the folder when SIGTERM stops it, so that a subscriber gets the
    messages that were sent while it was away. The settings are lines of its configuration, for the listener."""
    configuration = folder / "mosquitto.conf"
    configuration.write_text(f"listener {port} 127.0.0.1\n" + "".join(f"{line}\n" for line in settings) +
                             f"allow_anonymous true\nuser root\n"
                             f"persistence true\npersistence_location {folder}/\n")
    with running("mosquitto", "-c", configuration, stderr=subprocess.DEVNULL) as broker:
        wait_for(lambda: listens(port), "no mosquitto")
        yield broker


def make_certificate(folder, name):
    """Makes NAME.crt and NAME.key of 127.0.0.1, its own authority; returns the settings for mosquitto()."""
    subprocess.run([*"openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 365 -subj /CN=localhost "
                    "-addext subjectAltName=IP:127.0.0.1".split(), "-keyout", f"{folder}/{name}.key",
                    "-out", f"{folder}/{name}.crt"], check=True, stderr=subprocess.DEVNULL)
    return [f"certfile {folder}/{name}.crt", f"keyfile {folder}/{name}.key"]
