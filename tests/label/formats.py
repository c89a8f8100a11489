# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes and reads TIFF in a few lines of its own, so that ccl-label is not checked by the library
that it uses."""
import itertools
import struct
import zlib

import numpy as np

FORMATS = {"u": 1, "i": 2, "f": 3, "b": 1}


def write_tiff(path, pages, tile=None, rows_per_strip=7, big=False, deflate=False, order="<"):
    """Writes pages (arrays of one dtype) in tiles of tile × tile pixels or in strips."""
    offset_type, count_type = ("Q", "Q") if big else ("I", "I")
    data = bytearray()

    def pack(code, *values):
        return struct.pack(order + code * len(values), *values)

    data += b"II" if order == "<" else b"MM"
    data += pack("H", 43, 8, 0) if big else pack("H", 42)
    link = len(data)
    data += pack(offset_type, 0)
    for page in pages:
        height, width = page.shape
        page = page.astype(page.dtype.newbyteorder(order))
        parts = []
        if tile:
            for y in range(0, height, tile):
                for x in range(0, width, tile):
                    part = np.zeros((tile, tile), page.dtype)
                    inside = page[y:y + tile, x:x + tile]
                    part[:inside.shape[0], :inside.shape[1]] = inside
                    parts.append(part.tobytes())
        else:
            parts = [page[y:y + rows_per_strip].tobytes() for y in range(0, height, rows_per_strip)]
        if deflate:
            parts = [zlib.compress(part) for part in parts]
        offsets = []
        for part in parts:
            offsets.append(len(data))
            data += part
        tags = {256: (4, [width]), 257: (4, [height]), 258: (3, [8 * page.dtype.itemsize]),
                259: (3, [8 if deflate else 1]), 262: (3, [1]), 277: (3, [1]),
                339: (3, [FORMATS[page.dtype.kind]])}
        sizes = [len(part) for part in parts]
        wide = 16 if big else 4
        if tile:
            tags |= {322: (4, [tile]), 323: (4, [tile]), 324: (wide, offsets), 325: (wide, sizes)}
        else:
            tags |= {273: (wide, offsets), 278: (4, [rows_per_strip]), 279: (wide, sizes)}
        fields = []
        for tag, (kind, values) in sorted(tags.items()):
            content = pack({3: "H", 4: "I", 16: "Q"}[kind], *values)
            room = 8 if big else 4
            if len(content) > room:
                place = len(data)
                data += content
                content = pack(offset_type, place)
            fields.append(pack("H", tag, kind) + pack(count_type, len(values)) + content.ljust(room, b"\0"))
        struct.pack_into(order + offset_type, data, link, len(data))
        data += pack("Q" if big else "H", len(fields)) + b"".join(fields)
        link = len(data)
        data += pack(offset_type, 0)
    with open(path, "wb") as file:
        file.write(data)


def write_samples(path, colours, planes=False, tile=None, extra=None, photometric=2, palette=None, bits=None):
    """A TIFF with several samples per pixel, in planes or not, in strips of 7 rows or tiles."""
    height, width, samples = colours.shape
    item = colours.dtype.itemsize
    parts = []
    for plane in ([colours[..., i:i + 1] for i in range(samples)] if planes else [colours]):
        if tile:
            for y, x in itertools.product(range(0, height, tile), range(0, width, tile)):
                part = np.zeros((tile, tile, plane.shape[2]), colours.dtype)
                inside = plane[y:y + tile, x:x + tile]
                part[:inside.shape[0], :inside.shape[1]] = inside
                parts.append(part.tobytes())
        elif bits:
            for y in range(0, height, 7):
                rows = np.unpackbits(plane[y:y + 7, :, 0, None], axis=2)[..., 8 - bits:].reshape(-1, width * bits)
                parts.append(np.packbits(rows, axis=1).tobytes())
        else:
            parts += [plane[y:y + 7].tobytes() for y in range(0, height, 7)]
    data = bytearray(b"II*\0" + bytes(4))
    offsets = []
    for part in parts:
        offsets.append(len(data))
        data += part
    kind = {"u": 1, "i": 2, "f": 3}[colours.dtype.kind]
    tags = {256: [width], 257: [height], 258: [bits or 8 * item] * samples, 259: [1], 262: [photometric], 277: [samples],
            284: [2 if planes else 1], 339: [kind] * samples}
    if extra is not None:
        tags[338] = [extra]
    if palette is not None:
        tags[320] = list(palette.T.ravel())
    if tile:
        tags |= {322: [tile], 323: [tile], 324: offsets, 325: [len(part) for part in parts]}
    else:
        tags |= {273: offsets, 278: [7], 279: [len(part) for part in parts]}
    fields = []
    for tag, values in sorted(tags.items()):
        code, number = ("I", 4) if tag in (256, 257, 273, 279, 324, 325) else ("H", 3)
        content = struct.pack(f"<{len(values)}{code}", *map(int, values))
        if len(content) > 4:
            place = len(data)
            data += content
            content = struct.pack("<I", place)
        fields.append(struct.pack("<HHI", tag, number, len(values)) + content.ljust(4, b"\0"))
    struct.pack_into("<I", data, 4, len(data))
    data += struct.pack("<H", len(fields)) + b"".join(fields) + bytes(4)
    with open(path, "wb") as file:
        file.write(data)


def read_bigtiff(path):
    """The pages of a little-endian BigTIFF in strips, uncompressed or deflated."""
    data = open(path, "rb").read()
    assert data[:8] == b"II\x2b\0\x08\0\0\0", "not a BigTIFF"
    pages, at = [], struct.unpack_from("<Q", data, 8)[0]
    while at:
        n = struct.unpack_from("<Q", data, at)[0]
        tags = {}
        for i in range(n):
            tag, kind, count = struct.unpack_from("<HHQ", data, at + 8 + 20 * i)
            code = {1: "B", 3: "H", 4: "I", 16: "Q"}.get(kind)
            if code:
                room = at + 8 + 20 * i + 12
                if struct.calcsize(code) * count > 8:
                    room = struct.unpack_from("<Q", data, room)[0]
                tags[tag] = struct.unpack_from(f"<{count}{code}", data, room)
        strips = [data[o:o + s] for o, s in zip(tags[273], tags[279])]
        if tags[259][0] == 8:
            strips = [zlib.decompress(strip) for strip in strips]
        assert tags[339][0] == 1, "not unsigned"
        pages.append(np.frombuffer(b"".join(strips), f"<u{tags[258][0] // 8}").reshape(tags[257][0], tags[256][0]))
        at = struct.unpack_from("<Q", data, at + 8 + 20 * n)[0]
    return pages
