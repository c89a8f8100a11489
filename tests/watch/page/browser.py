# SPDX-License-Identifier: LGPL-2.1-or-later
"""A headless Chromium that is driven through the DevTools protocol."""
import base64
import json
import subprocess
import tempfile
import time
import urllib.request

import websocket


class Browser:
    """One page of a browser with a profile of its own."""

    def __init__(self, executable):
        self.profile = tempfile.TemporaryDirectory(prefix="ccl-browser")
        self.process = subprocess.Popen(
            [executable, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--no-first-run", "--remote-debugging-port=0", "--remote-allow-origins=*",
             f"--user-data-dir={self.profile.name}", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.problems = []
        self.sequence = 0
        self.socket = websocket.create_connection(self._page_address(), timeout=30)
        for domain in "Page", "Runtime", "Log", "Network":
            self.call(f"{domain}.enable")

    def _page_address(self):
        for line in self.process.stderr:
            if "DevTools listening on" in line:
                port = line.split("://")[1].split("/")[0].rsplit(":", 1)[1]
                break
        else:
            raise RuntimeError("the browser did not start")
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json") as answer:
            targets = json.load(answer)
        return next(t["webSocketDebuggerUrl"] for t in targets if t["type"] == "page")

    def call(self, method, **parameters):
        """Calls a method of the protocol; notes the problems that the page reports meanwhile."""
        self.sequence += 1
        self.socket.send(json.dumps(
            {"id": self.sequence, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.socket.recv())
            self._note(message)
            if message.get("id") == self.sequence:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]

    def _note(self, message):
        if message.get("method") == "Runtime.exceptionThrown":
            self.problems.append(json.dumps(message["params"]["exceptionDetails"]))
        entry = message.get("params", {}).get("entry", {})
        if entry.get("level") == "error":
            self.problems.append(f"{entry['text']} {entry.get('url', '')}")

    def open(self, url):
        """Opens a page and waits until it is loaded."""
        self.call("Page.navigate", url=url)
        self.wait(f"location.href == {json.dumps(url)} && document.readyState == 'complete'")

    def size(self, width, height, dark=False, scale=1):
        """Sets the size of the window in CSS pixels, and the color scheme."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=scale, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def evaluate(self, expression):
        """The value of a JavaScript expression in the page."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def wait(self, expression, seconds=15):
        """Waits until the expression is true and returns its value."""
        end = time.monotonic() + seconds
        while not (value := self.evaluate(expression)):
            if time.monotonic() > end:
                raise AssertionError(f"not true within {seconds} s: {expression}")
            time.sleep(0.1)
        return value

    def screenshot(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def close(self):
        self.socket.close()
        self.process.terminate()
        self.process.communicate()
        self.profile.cleanup()
