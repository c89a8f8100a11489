#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes the corpus of frames.c, made by hand: what breaks labellers, through every algorithm. Those
of elements.c and metadata.c are what libFuzzer found and kept.

usage: make-corpus.py FOLDER
"""
import os
import sys

FOUR, INVERT, LABELS, DEVICE, ALL = 1, 2, 4, 8, 64
RAW, BITS, RUNS, NOISE = 0, 16, 32, 48


def case(width, height, flags, pixels, threshold=0, least=0, most=0, rows=200, padding=0, label_padding=0):
    return bytes([width - 1, height - 1, flags | ALL, threshold, least, most, rows, padding, label_padding, 0]) + bytes(pixels)


def picture(width, height, function):
    """A bit a pixel."""
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

folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)
for name, data in cases.items():
    with open(os.path.join(folder, name), 'wb') as file:
        file.write(data)
