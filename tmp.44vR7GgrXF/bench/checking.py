# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares every implementation's result with a flood fill, and counts inputs by outcome. Inputs are unchecked if an
implementation was given up, if they did not load, or if the time was over.

Differences, failures and unchecked inputs are problems, but not differences of algorithms that their papers call inexact
and of other makers'; the first difference of each other maker's implementation is printed."""
import ctypes
import time

from library import Failure, lib

OUTCOMES = ("equal", "different", "not offered", "failed", "unchecked")


def check_one(each, image, title, expected, is_first_difference, report):
    """The outcome of one implementation on one input."""
    try:
        difference = each.find_difference(image, expected)
    except Failure as failure:
        if failure.is_unsupported:
            return "not offered"
        report.problem(f"{each.title} on {title}: {failure}")
        return "unchecked" if each.gave_up else "failed"
    finally:
        each.release()
    if difference and each.is_peer:
        if is_first_difference:
            report.remark(f"{each.title} ({each.maker}) on {title} differs, and maybe on other inputs: {difference}")
    elif difference and not each.may_be_inexact:
        report.problem(f"{each.title} on {title} is wrong: {difference}")
    return "different" if difference else "equal"


def check(sources, visit, implementations, settings, seconds, report):
    """A row for each implementation. visit(function) calls the function with each source and its input until it returns
    False, and returns how many sources are left; seconds 0: no limit."""
    labellers = [each for each in implementations if each.can_check]
    counts = [dict.fromkeys(OUTCOMES, 0) for _ in labellers]
    end = time.monotonic() + seconds if seconds else float("inf")
    n_checked = 0

    def check_input(source, image):
        nonlocal n_checked
        expected = lib.check_expect(ctypes.byref(image), settings["connectivity"], settings["volume_connectivity"])
        for each, count in zip(labellers, counts):
            count[check_one(each, image, source.title, expected, not count["different"], report)] += 1
        lib.reference_free(expected)
        n_checked += 1
        return time.monotonic() < end

    n_left = visit(check_input)
    if n_left:
        report.problem(f"{n_left} of {len(sources)} inputs were not checked: {seconds:g} s were over")
    for count in counts:
        count["unchecked"] += len(sources) - n_checked
    return [{"implementation": each.title + (" (inexact by its paper)" if each.may_be_inexact else ""),
             "by": each.maker, **count} for each, count in zip(labellers, counts)]
