# SPDX-License-Identifier: LGPL-2.1-or-later
"""Ctrl-C stops every long function in host memory: its exception arrives long before the function would end."""
import os
import signal

import cudaccl
import numpy as np
import pytest

random = np.random.default_rng(1)
NOISE = np.tile(random.random((1500, 5000)) < 0.5, (4, 1))
MAP = np.tile(random.integers(1, 4, (1500, 6000)), (4, 1)).astype(np.int32)
VOLUME = np.tile(random.random((100, 350, 350)) < 0.3, (4, 1, 1))
CELLS = VOLUME.astype(np.int32)
BLOBS = np.kron(random.random((80, 70)) < 0.6, np.ones((70, 70), bool))
MASKS = np.tile(NOISE, (3, 1)).reshape(180, 500, 1000).view(np.uint8)
FOUND = cudaccl.contours(NOISE[:4000])
CALLS = {
    "contours": lambda: cudaccl.contours(NOISE, kind="cracks"),
    "contours of labels": lambda: cudaccl.contours(MAP[:2500]),
    "simplified contours": lambda: FOUND.simplify(1),
    "values": lambda: cudaccl.label_values(MAP),
    "volume": lambda: cudaccl.label(VOLUME, 26),
    "table of an image": lambda: cudaccl.regionprops_table(MAP, ["perimeter", "inertia_tensor", "n_holes"]),
    "table of a volume": lambda: cudaccl.regionprops_table(CELLS, ["inertia_tensor", "euler_number"]),
    "hulls": lambda: cudaccl.regionprops_table(NOISE, ["hull_area"]),
    "run lengths": lambda: cudaccl.rle(NOISE),
    "distance": lambda: cudaccl.distance(BLOBS),
    "split": lambda: cudaccl.split_touching(BLOBS, radius=9),
    "batch": lambda: cudaccl.label_batch(MASKS),
    "holes": lambda: cudaccl.fill_holes(MASKS),
    "small components": lambda: cudaccl.remove_small(MASKS, 5),
}


def stop(number, frame):
    raise KeyboardInterrupt


def interrupted(call, after):
    """The processor time that a call takes when it is stopped after so much of it; None: it ended before. Without the
    kernel's: page faults take several times as long where other programs need memory."""
    former = signal.signal(signal.SIGPROF, stop)
    begin = os.times().user
    try:
        signal.setitimer(signal.ITIMER_PROF, after)
        call()
    except KeyboardInterrupt:
        return os.times().user - begin
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, former)
    return None


@pytest.mark.parametrize("name", CALLS)
def test_stops_at_once(name):
    """Each takes more than 0.4 s of an EPYC's core."""
    stopped = interrupted(CALLS[name], 0.03)
    assert stopped is not None and stopped < 0.4


def test_objects_run_again():
    volume = VOLUME[:60, :200, :200]
    expected = cudaccl.label(volume, 26)[0], cudaccl.label_values(MAP)[0]
    assert interrupted(lambda: [cudaccl.label(volume, 26) for _ in range(50)], 0.1) is not None
    assert interrupted(lambda: [cudaccl.label_values(MAP) for _ in range(50)], 0.1) is not None
    assert (cudaccl.label(volume, 26)[0] == expected[0]).all() and (cudaccl.label_values(MAP)[0] == expected[1]).all()
