# SPDX-License-Identifier: LGPL-2.1-or-later
"""An MQTT broker of one connection at a time that does what a test tells it, wrong things, too."""
import contextlib
import socket
import struct
import threading

CONNECT, CONNACK, PUBLISH, PUBACK, PINGREQ, PINGRESP = 1, 2, 3, 4, 12, 13


class FakeBroker:
    """Accepts clients and keeps what they publish: (topic, payload). It acknowledges a message if
    `acknowledges(topic, payload)` says so, and ends the connection if that returns None."""

    def __init__(self, acknowledges=lambda topic, payload: True, code=0):
        self.acknowledges, self.code = acknowledges, code
        self.server = socket.create_server(("127.0.0.1", 0))
        self.port = self.server.getsockname()[1]
        self.messages, self.client = [], None
        self.numbers = []  # of the messages, which an acknowledgement names; 0 if it needs none
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        with contextlib.suppress(OSError):
            while True:
                self.client = self.server.accept()[0]
                with contextlib.suppress(OSError, EOFError), self.client:
                    while self.handle(*self.read_packet()):
                        pass

    def read(self, length):
        data = b""
        while len(data) < length:
            part = self.client.recv(length - len(data))
            if not part:
                raise EOFError
            data += part
        return data

    def read_packet(self):
        kind = self.read(1)[0]
        length = shift = 0
        while True:
            byte = self.read(1)[0]
            length |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return kind, self.read(length)

    def send(self, kind, body=b""):
        self.client.sendall(bytes([kind << 4, len(body)]) + body)

    def acknowledge(self, number):
        self.send(PUBACK, struct.pack(">H", number))

    def handle(self, kind, body):
        """Whether the connection goes on."""
        if kind >> 4 == CONNECT:
            self.send(CONNACK, bytes([0, self.code]))
            return self.code == 0
        if kind >> 4 == PINGREQ:
            self.send(PINGRESP)
        elif kind >> 4 == PUBLISH:
            length, = struct.unpack(">H", body[:2])
            topic, rest = body[2:2 + length].decode(), body[2 + length:]
            quality = kind >> 1 & 3
            number, = struct.unpack(">H", rest[:2]) if quality else (0,)
            payload = rest[2:] if quality else rest
            self.messages.append((topic, payload))
            self.numbers.append(number)
            answer = self.acknowledges(topic, payload)
            if answer is None:
                return False
            if answer and quality:
                self.acknowledge(number)
        return True

    def close(self):
        self.server.close()
        if self.client:
            with contextlib.suppress(OSError):
                self.client.shutdown(socket.SHUT_RDWR)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
