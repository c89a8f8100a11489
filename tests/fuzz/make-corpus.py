#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes the hand-made corpora: for frames.c, difficult masks for every algorithm; for foregrounds.c,
sequences of different frames; for pictures.c, small files of each format. libFuzzer found the corpora of elements.c and metadata.c.

usage: make-corpus.py FOLDER, in which corpus-frames, corpus-foregrounds and corpus-pictures are written
"""
import os
import struct
import sys
import tempfile
import zlib

import cv2
import numpy as np

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, 'label'))
from formats import write_samples, write_tiff  # noqa: E402

FOUR, INVERT, LABELS, DEVICE, ALL = 1, 2, 4, 8, 64
RAW, BITS, RUNS, NOISE = 0, 16, 32, 48


def case(width, height, flags, pixels, threshold=0, least=0, most=0, rows=200, padding=0, label_padding=0):
    return bytes([width - 1, height - 1, flags | ALL, threshold, least, most, rows, padding, label_padding, 0]) + bytes(pixels)


def picture(width, height, function):
    """One bit per pixel."""
    bits = [function(x, y) for y in range(height) for x in range(width)]
    return [sum(bits[i + j] << j for j in range(8) if i + j < len(bits)) for i in range(0, len(bits), 8)]


def spiral(width, height):
    inside = [[0] * width for _ in range(height)]
    x, y, dx, dy = 0, 0, 1, 0
    for _ in range(width * height):
        inside[y][x] = 1
        for _ in range(2):
            nx, ny, fx, fy = x + dx, y + dy, x + 2 * dx, y + 2 * dy
            free = 0 <= nx < width and 0 <= ny < height and not inside[ny][nx]
            far = not (0 <= fx < width and 0 <= fy < height) or not inside[fy][fx]
            if free and far:
                break
            dx, dy = -dy, dx
        else:
            break
        x, y = x + dx, y + dy
    return lambda px, py: inside[py][px]


cases = {}
for connectivity, name in ((0, '8'), (FOUR, '4')):
    cases[f'one-pixel-{name}'] = case(1, 1, connectivity | LABELS, [255])
    cases[f'full-{name}'] = case(67, 35, connectivity | LABELS, [255], padding=3)
    cases[f'empty-{name}'] = case(65, 33, connectivity | LABELS | DEVICE, [0])
    cases[f'row-{name}'] = case(256, 1, connectivity | BITS | LABELS, picture(256, 1, lambda x, y: x % 7 != 3))
    cases[f'column-{name}'] = case(1, 128, connectivity | BITS | LABELS, picture(1, 128, lambda x, y: y % 5 != 3))
    cases[f'right-edge-{name}'] = case(129, 37, connectivity | BITS | LABELS, picture(129, 37, lambda x, y: x == 128 or (x > 120 and y % 4 == 0)))
    cases[f'bottom-edge-{name}'] = case(131, 67, connectivity | BITS | LABELS, picture(131, 67, lambda x, y: y == 66 or (y > 60 and x % 4 == 0)))
    cases[f'chequerboard-{name}'] = case(70, 39, connectivity | BITS | LABELS, picture(70, 39, lambda x, y: (x + y) % 2))
    cases[f'spiral-{name}'] = case(96, 70, connectivity | BITS | LABELS, picture(96, 70, spiral(96, 70)))
    cases[f'comb-{name}'] = case(140, 40, connectivity | BITS | LABELS | DEVICE, picture(140, 40, lambda x, y: y == 39 or x % 2 == 0), padding=5)
    cases[f'diagonals-{name}'] = case(100, 50, connectivity | BITS | LABELS, picture(100, 50, lambda x, y: (x + y) % 9 == 0))
    cases[f'noise-{name}'] = case(200, 90, connectivity | NOISE | LABELS | DEVICE, [120, 7, 9], padding=31, label_padding=3)
    cases[f'dense-noise-{name}'] = case(255, 65, connectivity | NOISE, [160, 3], rows=255)
    cases[f'filter-{name}'] = case(150, 60, connectivity | NOISE | LABELS, [110, 5], least=3, most=20)
    cases[f'few-rows-{name}'] = case(90, 60, connectivity | NOISE | LABELS, [60, 8], rows=4)
    cases[f'grey-{name}'] = case(101, 43, connectivity | INVERT | LABELS, [(i * 37 + i * i) % 256 for i in range(997)], threshold=130, padding=7)
    cases[f'runs-{name}'] = case(256, 64, connectivity | RUNS | LABELS, [(i * 29) % 53 for i in range(211)], padding=1)



def sequence(width, height, foreground, flags, ways, threads=0, threshold=100, denoise=0, history=10, variance=0, rate=0, mixtures=4, paddings=0,
             colours=0, hold=0, closing=(0, 0)):
    """Frames in the format of foregrounds.c; each frame has one of the kinds."""
    return bytes([width - 1, height - 1, foreground, flags, threads, threshold, denoise, history - 1, variance, rate, mixtures, paddings,
                  colours, hold, *closing, *ways])


THRESHOLD, OTSU, BACKGROUND = 0, 1, 2
DEVICE_FRAME, ROI_MASK = 2, 4
I420, NV12, NV21, Y444, Y41B, YUY2, P010 = range(1, 8)
MARK, REMOVE, LIGHT = 8, 16, 64
STILL, MOVED, NOISE, RESET = 101, 42, 103, 255
sequences = {
    'threshold': sequence(67, 9, THRESHOLD, LABELS, [0, 0, 120, 80, 100, 101, 99]),
    'threshold-denoised': sequence(40, 30, THRESHOLD, 1, [NOISE, NOISE], denoise=2, paddings=0x35),
    'opening': sequence(33, 33, THRESHOLD, DEVICE, [NOISE, NOISE], denoise=4, threads=2),
    'opening-one-pixel': sequence(1, 1, THRESHOLD, 0, [0, 3], denoise=3),
    'median-one-row': sequence(70, 1, THRESHOLD, ROI_MASK, [NOISE, 7], denoise=1),
    'median-one-column': sequence(1, 50, THRESHOLD, ROI_MASK | 1, [NOISE, 7], denoise=2),
    'otsu': sequence(64, 32, OTSU, INVERT, [42, 0, 101, 90, 30, 60]),
    'otsu-one-value': sequence(20, 20, OTSU, 0, [0, 9]),
    'otsu-roi-mask': sequence(127, 17, OTSU, ROI_MASK, [42, NOISE, 0, 5, 250, 9], paddings=0x71),
    'background-still': sequence(66, 20, BACKGROUND, 0, [STILL] * 8),
    'background-moving': sequence(66, 20, BACKGROUND, INVERT, [STILL, STILL, 42, 46, 50, 54, RESET, 42]),
    'background-fast': sequence(31, 21, BACKGROUND, ROI_MASK, [STILL, NOISE, 0, 42, STILL], rate=2, mixtures=0),
    'background-frozen': sequence(35, 11, BACKGROUND, 0, [STILL, NOISE, 0, 42, 251], rate=1, denoise=1),
    'background-narrow': sequence(128, 7, BACKGROUND, INVERT | 1, [STILL, 105, 109, 254, 252], variance=2, mixtures=2),
    'closing': sequence(80, 30, THRESHOLD, 0, [NOISE, 7], closing=(63, 2), denoise=1),
    'shadows': sequence(47, 31, BACKGROUND, 0, [STILL, STILL, 85, 81, 42, STILL, 85], colours=NV12 | REMOVE, denoise=2),
    'shadows-marked': sequence(33, 9, BACKGROUND, DEVICE_FRAME, [STILL, STILL, 85, 42, STILL], colours=YUY2 | MARK),
    'light': sequence(100, 60, BACKGROUND, 0, [STILL] * 17 + [137, 133, 42, 129, 7, 7], colours=I420 | LIGHT | REMOVE, hold=8),
    'light-of-16-bits': sequence(65, 33, BACKGROUND, DEVICE_FRAME | 192, [STILL] * 18 + [57, 61, 42, 1], colours=P010 | LIGHT, threads=2),
}



def pictures():
    """Files for the readers of ccl-label, behind a byte that says whether the file is raw."""
    files = {'raw': bytes([15 + 16 * 4]) + bytes(range(30))}
    with tempfile.TemporaryDirectory() as place:
        path = os.path.join(place, 'file')

        def keep(name):
            with open(path, 'rb') as file:
                files[name] = bytes(1) + file.read()

        image = np.arange(77, dtype=np.uint8).reshape(7, 11) * 3
        for name, array in {'uint8': image, 'bool': image > 9, 'int16': image.astype('>i2'),
                            'float32': image.astype('f4'), 'volume': image[:, :9].reshape(7, 3, 3)}.items():
            with open(path, 'wb') as file:
                np.save(file, array)
            keep('npy-' + name)
        for depth, kind in ((255, np.uint8), (65535, '>u2')):
            with open(path, 'wb') as file:
                file.write(b'P5\n# seven rows\n11 7 %d\n' % depth + image.astype(kind).tobytes())
            keep(f'pgm-{depth}')
        for name, settings in {'strips': {}, 'tiles': {'tile': 16}, 'big': {'big': True},
                               'deflated': {'deflate': True, 'tile': 16}, 'big-endian': {'order': '>'}}.items():
            write_tiff(path, [image.astype('u2')] if name != 'strips' else [image, image], **settings)
            keep('tiff-' + name)

        def chunk(kind, content):
            return struct.pack('>I', len(content)) + kind + content + struct.pack('>I', zlib.crc32(kind + content))

        for name, bits, colours, interlaced, row_bytes in (
                ('grey', 8, 0, 0, 11), ('bits', 1, 0, 0, 2), ('deep', 16, 0, 0, 22), ('colours', 8, 2, 0, 33)):
            rows = b''.join(b'\0' + bytes((7 * x + y) % 256 for x in range(row_bytes)) for y in range(7))
            with open(path, 'wb') as file:
                file.write(b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', 11, 7, bits, colours, 0, 0, interlaced))
                           + chunk(b'IDAT', zlib.compress(rows)) + chunk(b'IEND', b''))
            keep('png-' + name)
        with open(path, 'wb') as file:
            np.save(file, np.asfortranarray(image.astype('>u2')))
        keep('npy-fortran')
        bits = np.packbits(image % 2, axis=1).tobytes()
        text = ' '.join(str(value) for value in image.ravel()).encode()
        for name, content in {'pbm': b'P4 11 7\n' + bits, 'pbm-text': b'P1 11 7 ' + b'101 ' * 26, 'pgm-text': b'P2 11 7 300\n' + text,
                              'ppm': b'P6 3 7 255\n' + image[:, :9].tobytes(), 'ppm-text': b'P3 11 2 999\n# text\n' + text}.items():
            files[name] = bytes(1) + content
        colours = np.stack([image, image[::-1], image[:, ::-1]], axis=2)
        for name, settings in {'colours': {}, 'planes': {'planes': True}, 'tiled-planes': {'planes': True, 'tile': 16}}.items():
            write_samples(path, colours, **settings)
            keep('tiff-' + name)
        palette = np.arange(48).reshape(16, 3) * 900
        write_samples(path, image[..., None] % 16, photometric=3, bits=4, palette=palette)
        keep('tiff-palette')
        for name, settings in {'grey': [], 'progressive': [cv2.IMWRITE_JPEG_PROGRESSIVE, 1]}.items():
            files['jpeg-' + name] = bytes(1) + cv2.imencode('.jpg', image if name == 'grey' else colours, settings)[1].tobytes()
    return files


folder = sys.argv[1]
for target, inputs in (('frames', cases), ('foregrounds', sequences), ('pictures', pictures())):
    os.makedirs(os.path.join(folder, f'corpus-{target}'), exist_ok=True)
    for name, data in inputs.items():
        with open(os.path.join(folder, f'corpus-{target}', name), 'wb') as file:
            file.write(data)
