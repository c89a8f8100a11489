# SPDX-License-Identifier: LGPL-2.1-or-later
"""A receiver of webhooks that answers as a test tells it, wrongly, too."""
import contextlib
import json
import socket
import ssl
import threading


class FakeReceiver:
    """Keeps the requests that it reads, each as (headers, body), in the order of their arrival. `answer(request)` is
    called with each, and returns the bytes to send, a list of bytes with pauses between them, or None to say nothing
    for ever. Threads end with the test."""

    def __init__(self, answer, certificate=None, port=0, keep=True):
        self.answer, self.keep = answer, keep
        self.server = socket.create_server(("127.0.0.1", port))
        self.port = self.server.getsockname()[1]
        self.context = None
        if certificate:
            self.use(certificate)
        self.requests, self.n_connections = [], 0
        self.ended = threading.Event()
        threading.Thread(target=self.run, daemon=True).start()

    def use(self, certificate):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(f"{certificate}.crt", f"{certificate}.key")
        self.context = context

    def run(self):
        with contextlib.suppress(OSError):
            while True:
                client = self.server.accept()[0]
                self.n_connections += 1
                threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        with contextlib.suppress(OSError, EOFError, ValueError), client:
            if self.context:
                client = self.context.wrap_socket(client, server_side=True)
            with client, client.makefile("rb") as file:
                while self.handle(client, file) and self.keep:
                    pass

    def handle(self, client, file):
        line, headers = file.readline(), {}
        if not line:
            raise EOFError
        headers[":line"] = line.decode().strip()
        while (line := file.readline().decode().strip()):
            key, value = line.split(":", 1)
            headers[key.lower()] = value.strip()
        request = (headers, file.read(int(headers.get("content-length", 0))))
        self.requests.append(request)
        answer = self.answer(request)
        if answer is None:
            self.ended.wait()
            return False
        for part in [answer] if isinstance(answer, bytes) else answer:
            client.sendall(part)
            if not isinstance(answer, bytes):
                self.ended.wait(0.1)
        return True

    def numbers(self):
        return [json.loads(body)["n"] for _, body in self.requests]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.server.close()


def status(code, *headers, body=b""):
    lines = [f"HTTP/1.1 {code} Word", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body
