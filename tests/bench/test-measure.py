#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measuring and checks of the benchmark, with implementations whose behaviour is known. Prints TAP."""
import ctypes
import math
import sys
import types

import inputs
import tap
from checking import check
from library import (DELIVERIES, UNSUPPORTED, Class, Error, Failure, Head, Implementation, Input, call, lib)
from measuring import Measurement, may_take_turn, measure, quantile

DEVICE_ERROR = 5


tests = []


def test(function):
    """Adds a case, named by its function."""
    function.__doc__ = function.__name__.replace("_", "-")
    tests.append(function)
    return function


class Component(ctypes.Structure):
    """CclComponent."""
    _fields_ = [("label", ctypes.c_uint32), ("area", ctypes.c_uint32), ("x", ctypes.c_uint32), ("y", ctypes.c_uint32),
                ("width", ctypes.c_uint32), ("height", ctypes.c_uint32), ("centroid_x", ctypes.c_double),
                ("centroid_y", ctypes.c_double)]


class Labelling(ctypes.Structure):
    """What fetch delivers; the caller frees the arrays."""
    _fields_ = [("labels", ctypes.c_void_p), ("is_raw", ctypes.c_bool), ("n_components", ctypes.c_uint32),
                ("components", ctypes.c_void_p), ("n_rows", ctypes.c_uint32)]


lib.g_memdup2.restype, lib.g_memdup2.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_size_t]


class Fake(Implementation):
    """An implementation that records its calls and delivers a given result; the library calls it."""

    def __init__(self, letter="a", journal=None, device_seconds=None, algorithm="fake", maker="cudaccl"):
        self.letter, self.journal, self.device_seconds = letter, [] if journal is None else journal, device_seconds
        self.fails_at = 0  # the run that fails, from 1; 0: none
        self.is_unsupported = self.is_too_slow = False
        self.run_seconds = 0
        self.labelling = (None, False, 0, [], 0)  # labels, is_raw, n_components, rows, number of rows that are delivered
        self.n_runs = self.n_prepared = 0
        # Lives as long as the fake, because the library keeps pointers to it.
        self.table = Class()
        for name, kind in Class._fields_:
            function = getattr(self, "do_" + name, None)
            if function and (name != "device_time" or device_seconds is not None):
                setattr(self.table, name, kind(function))
        self.record = Head(ctypes.pointer(self.table), b"cpu", maker.encode(), algorithm.encode(),
                           DELIVERIES.index("labels + table"), 1)
        super().__init__(ctypes.pointer(self.record))

    def __del__(self):
        pass  # the library did not make it

    @staticmethod
    def fail(error, status, message):
        error.contents.status, error.contents.message = status, message
        return status

    def do_prepare(self, head, image, error):
        self.record.gave_up = self.is_too_slow
        if self.is_unsupported:
            return self.fail(error, UNSUPPORTED, b"not such an input")
        if self.is_too_slow:
            return self.fail(error, DEVICE_ERROR, b"given up")
        self.n_prepared += 1
        self.n_pixels = image.contents.n_pixels
        return 0

    def do_run(self, head, error):
        self.journal.append(self.letter)
        if self.run_seconds:
            ctypes.CDLL(None).usleep(int(1e6 * self.run_seconds))
        self.n_runs += 1
        return self.fail(error, DEVICE_ERROR, b"it broke") if self.n_runs == self.fails_at else 0

    def do_release(self, head):
        self.n_prepared -= self.n_prepared > 0

    def do_device_time(self, head, n_runs, seconds, error):
        seconds[0] = self.device_seconds
        return 0

    def do_fetch(self, head, labelling, error):
        labels, is_raw, n_components, rows, n_rows = self.labelling
        copies = [lib.g_memdup2(ctypes.cast(array, ctypes.c_void_p), ctypes.sizeof(array)) if array else None
                  for array in (labels and (ctypes.c_uint32 * self.n_pixels)(*labels[:self.n_pixels]),
                                rows and (Component * len(rows))(*rows))]
        Labelling.from_address(labelling).__init__(copies[0], is_raw, n_components, copies[1], n_rows)
        return 0


class Lines:
    """Collects problems and remarks."""

    def __init__(self):
        self.problems, self.remarks = [], []
        self.problem, self.remark = self.problems.append, self.remarks.append


def run(fakes, seconds, **settings):
    """The measurements of a small input, and the problems."""
    lines = []
    measured = measure(fakes, Input(4, 4), seconds, lambda fake, failure: lines.append(f"{fake.letter}: {failure}"),
                       **settings)
    return measured, lines


@test
def quartiles_interpolate_linearly():
    values = [1, 2, 3, 4, 10]
    assert [quantile(values, share) for share in (0, 0.25, 0.5, 0.75, 1)] == [1, 2, 3, 4, 10]
    assert quantile([1, 2], 0.25) == 1.25 and quantile([7], 0.75) == 7


@test
def implementations_take_turns():
    journal = []
    fakes = [Fake("a", journal, device_seconds=0.25), Fake("b", journal)]
    for fake in fakes:
        fake.run_seconds = 0.003  # longer than a turn, which then is one run
    (first, second), problems = run(fakes, 1e9, repetitions=3, warm_up=0)
    assert "".join(journal) == "ab" * 3, journal
    assert first.n_turns == second.n_turns == 3 and not problems
    assert len(first.times["wall"]) == 3 and min(first.times["wall"]) >= 0.003
    assert first.times["gpu"] == [0.25] * 3 and second.times["gpu"] == []
    assert fakes[0].n_prepared == fakes[1].n_prepared == 0


@test
def a_turn_starts_with_warm_up():
    fake = Fake()
    fake.run_seconds = 0.003
    runs, device, _ = fake.take_turn(2, False, last_run=0.049)
    assert (len(runs), fake.n_runs) == (1, 3) and runs[0] >= 0.003 and math.isnan(device)
    fake.take_turn(2, False, last_run=0.051)  # long runs need none
    assert fake.n_runs == 4


@test
def short_runs_are_repeated_in_a_turn():
    fake = Fake()
    (one,), _ = run([fake], 1e9, repetitions=2, warm_up=0)
    assert 2 < len(one.times["wall"]) == fake.n_runs <= 40


@test
def large_inputs_are_measured_one_implementation_after_the_other():
    journal = []
    fakes = [Fake(letter, journal) for letter in "ab"]
    for fake in fakes:
        fake.run_seconds = 0.003
    measure(fakes, Input(4097, 4096), 1e9, None, repetitions=2, warm_up=0)
    assert "".join(journal) == "aabb"


@test
def the_time_limit_leaves_one_turn():
    fakes = [Fake(letter) for letter in "ab"]
    measured, _ = run(fakes, 0, repetitions=5, warm_up=0)
    assert [one.n_turns for one in measured] == [1, 1]


@test
def slow_implementations_take_no_time_of_others():
    """Of 1.8 s for four implementations, 25 turns each, the share is 0.45 s. A turn of the slow one takes 0.1 s."""
    def may(n_turns, spent, others_turns, others_spent):
        slow = Measurement(None, n_turns=n_turns, spent=spent, turn=0.1)
        others = [Measurement(None, n_turns=others_turns, spent=others_spent, turn=0.001) for _ in range(3)]
        group = [slow, *others]
        return [may_take_turn(each, group, 25, 1.8) for each in group]

    assert may(4, 0.34, 4, 0.004) == [True] * 4  # in its share
    assert may(4, 0.36, 4, 0.004) == [False, True, True, True]  # more would be the others' time
    assert may(4, 0.36, 25, 0.03)[0] and may(16, 1.6, 25, 0.03)[0]  # they are done and leave 1.71 s
    assert not may(17, 1.7, 25, 0.03)[0]
    assert may(25, 0.4, 25, 0.03) == [False] * 4
    assert may(0, 9, 0, 9) == [True] * 4  # one turn at least


@test
def too_slow_is_reported_and_no_failure():
    fakes = [Fake(letter) for letter in "ab"]
    fakes[0].is_too_slow = True
    measured, problems = run(fakes, 1e9, repetitions=4)
    assert [one.outcome for one in measured] == ["too slow", "measured"] and problems == ["a: given up"]
    assert measured[0].times["wall"] == []


@test
def a_failure_stops_one_implementation_only():
    fakes = [Fake(letter) for letter in "abc"]
    fakes[0].fails_at, fakes[1].is_unsupported = 2, True
    measured, problems = run(fakes, 1e9, repetitions=4, warm_up=0)
    assert [one.outcome for one in measured] == ["failed", "not offered", "measured"]
    assert measured[0].times["wall"] == [] and len(measured[2].times["wall"]) >= 4
    assert problems == ["a: it broke"]  # an unsupported input is no problem
    assert fakes[0].n_prepared == fakes[2].n_prepared == 0


def check_images(fakes, *images, seconds=0):
    """The rows of a check, and what it reported."""
    def visit(function):
        for n, image in enumerate(images, 1):
            if function(types.SimpleNamespace(title=f"image {n}"), image) is False:
                break
        return len(images) - n

    report = Lines()
    connectivity = {"connectivity": 8, "volume_connectivity": 26}
    return check(images, visit, fakes, connectivity, seconds, report), report


@test
def check_finds_what_is_wrong():
    """In a picture of 4×1 pixels with two components."""
    right, swapped, raw = [1, 0, 2, 2], [2, 0, 1, 1], [9, 0, 4, 4]
    split, merged, spilled = [9, 0, 4, 5], [9, 0, 9, 9], [9, 9, 4, 4]
    rows = [Component(1, 1, 0, 0, 1, 1, 0, 0), Component(2, 2, 2, 0, 2, 1, 2.5, 0)]
    off = [rows[0], Component(2, 2, 2, 0, 2, 1, 2.5000001, 0)]
    image = Input(4, 1, 1, b"\xff\0\xff\xff")
    for labelling, n_problems in (
            ((right, False, 2, rows, 2), 0),
            ((right, False, 2, rows, 1), 0),  # a table with room for one row
            ((None, False, 2, rows, 2), 0),
            ((raw, True, 0, [], 0), 0),
            ((swapped, True, 0, [], 0), 0),  # raw labels may have any order,
            ((swapped, False, 2, rows, 2), 1),  # final ones may not
            ((split, True, 0, [], 0), 1),
            ((merged, True, 0, [], 0), 1),
            ((spilled, True, 0, [], 0), 1),
            ((right, False, 3, rows, 2), 1),
            ((right, False, 2, off, 2), 1)):
        exact, inexact, peer = Fake(), Fake(), Fake(maker="Another 1.0")
        inexact.may_be_inexact = True  # then a difference is counted, but is no problem
        exact.labelling = inexact.labelling = peer.labelling = labelling
        counts, report = check_images([exact, inexact, peer], image)
        assert len(report.problems) == n_problems and len(report.remarks) == n_problems, (labelling, report.problems)
        assert [row["different"] for row in counts] == [n_problems] * 3


@test
def check_counts_what_it_did_not_check():
    """Unchecked inputs are counted as unchecked and as a problem, never as equal."""
    fakes = [Fake("a"), Fake("b"), Fake("c", algorithm="inexact"), Fake("d", maker="Another 1.0")]
    fakes[0].is_too_slow = True
    fakes[1].labelling = fakes[2].labelling = ([0] * 5, False, 0, [], 0)
    fakes[2].may_be_inexact = True
    fakes[3].labelling = ([1] * 5, True, 0, [], 0)
    images = Input(4, 1), Input(5, 1)
    rows, report = check_images(fakes, *images)
    assert len(report.problems) == 2 and len(report.remarks) == 1
    assert (rows[0]["equal"], rows[0]["unchecked"]) == (0, 2) and rows[1]["equal"] == rows[2]["equal"] == 2
    assert "inexact" in rows[2]["implementation"]
    assert (rows[3]["by"], rows[3]["different"]) == ("Another 1.0", 2)
    # The first input takes longer than there is time.
    fakes[1].run_seconds = 0.01
    rows, report = check_images(fakes, *images, seconds=0.005)
    assert (rows[1]["equal"], rows[1]["unchecked"]) == (1, 1)
    assert any("1 of 2 inputs were not checked" in line for line in report.problems)


@test
def a_failure_names_its_reason():
    fake = Fake()
    fake.is_unsupported = True
    try:
        call(fake.klass.prepare, fake.head, ctypes.byref(Input(1, 1)))
        raise AssertionError("no failure")
    except Failure as failure:
        assert failure.is_unsupported and str(failure) == "not such an input"
    assert str(Error(1, b"why")) == "why"


def n_components(volume, connectivity):
    expected = lib.check_expect(ctypes.byref(volume), 8, connectivity)
    n = ctypes.c_uint32.from_address(expected).value  # the first member
    lib.reference_free(expected)
    return n


@test
def check_labels_volumes():
    """Two voxels that share an edge, and two that share a corner only."""
    edge, corner = Input(2, 2, 2, b"\xff\0\0\xff\0\0\0\0"), Input(2, 2, 2, b"\xff\0\0\0\0\0\0\xff")
    for connectivity, of_edge, of_corner in ((6, 2, 2), (18, 1, 2), (26, 1, 1)):
        assert (n_components(edge, connectivity), n_components(corner, connectivity)) == (of_edge, of_corner)


@test
def a_hilbert_curve_is_one_component():
    for order in (1, 6):
        source, = inputs.collect(f"hilbert:order={order}")
        assert n_components(source.load(), 6) == 1


sys.exit(tap.run(*tests))
