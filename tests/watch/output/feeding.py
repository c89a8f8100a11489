# SPDX-License-Identifier: LGPL-2.1-or-later
"""An output of ccl-watch that is fed by feed-output, without cameras."""
import contextlib
import json
import subprocess

from watching import folder


class Feed:
    """A running feed-output. push() and flood() give it lines of camera "a"; each answers with the output's status."""

    def __init__(self, program, uri, *options, **keys):
        self.log_path = folder / "feed.log"
        with open(self.log_path, "w") as log:
            self.process = subprocess.Popen([str(word) for word in (program, uri, *options)], stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, stderr=log, text=True, **keys)

    def log(self):
        return self.log_path.read_text()

    def command(self, *words):
        print(*words, file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())

    def push(self, number, length=100, camera="a"):
        return self.command("push", camera, number, length)

    def event(self, kind, camera="a"):
        return self.command("event", camera, kind)

    def flood(self, number, length=100, camera="a"):
        return self.command("flood", camera, number, length)

    def status(self, camera="a"):
        return self.command("status", camera)

    def end(self):
        """Waits until all lines are delivered, at most ten seconds. Returns the last status."""
        return json.loads(self.process.communicate(timeout=30)[0].splitlines()[-1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        with contextlib.suppress(BrokenPipeError):
            self.process.communicate()
