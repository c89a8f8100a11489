# SPDX-License-Identifier: LGPL-2.1-or-later
"""Figures of a kind from what a method saw in the quiet and in the busy clip."""
import math

GRACE = 1.0  # seconds before and after a thing is there in which motion is no mistake


def moving_times(truth):
    """When things move, or have just stopped."""
    times = []
    for thing in truth["things"]:
        if thing["boxes"]:
            begin, end = thing["boxes"][0][0], thing["boxes"][-1][0]
            end = end if thing["stops"] is None else min(end, max(begin, thing["stops"]))
            times.append((begin - GRACE, end + GRACE))
            if thing["stops"] is not None and thing["boxes"][-1][0] < truth["seconds"] - 1:
                times.append((thing["boxes"][-1][0] - GRACE, thing["boxes"][-1][0] + GRACE))  # taken away
    return times


def without(interval, times):
    """The seconds of the interval outside these times."""
    pieces = [interval]
    for begin, end in times:
        pieces = [piece for a, b in pieces for piece in ((a, min(b, begin)), (max(a, end), b))
                  if piece[1] > piece[0]]
    return sum(b - a for a, b in pieces)


def touches(track, thing):
    """The first time at which a box of the track covers a tenth of the thing, or lies in it, or None."""
    boxes = {round(box[0], 2): box[1:] for box in thing["boxes"]}
    for t, x, y, width, height in track:
        box = boxes.get(round(t, 2)) or boxes.get(round(t + 0.01, 2)) or boxes.get(round(t - 0.01, 2))
        if box:
            shared = (max(0, min(x + width, box[0] + box[2]) - max(x, box[0]))
                      * max(0, min(y + height, box[1] + box[3]) - max(y, box[1])))
            if shared > 0.1 * box[2] * box[3] or shared > 0.5 * width * height:
                return t
    return None


def is_false(track, truth):
    """Whether the track never touches a thing."""
    return all(touches(track, thing) is None for thing in truth["things"])


def settled(result, truth, since):
    """Seconds from `since` until the last motion of nothing ends; one that lasts to the end of the clip has no end."""
    times = moving_times(truth)
    last = max((end for begin, end in result["motion"]
                if end > since and without((max(begin, since), end), times) > 0), default=since)
    return math.inf if last >= truth["seconds"] - 1.5 else last - since


def quiet_figures(result, kind, truth):
    minutes = truth["seconds"] / 60
    times = moving_times(truth)
    false_tracks = sum(is_false(track, truth) for track in result["tracks"])
    changes = [t for thing in truth["things"] for t in (thing["stops"], thing["boxes"][-1][0]) if t is not None]
    since = max([kind.disturbed] + [t for t in changes if t < truth["seconds"] - 1])
    return {"false_motion": sum(without(interval, times) for interval in result["motion"]) / minutes,
            "false_tracks": false_tracks / minutes, "settled": settled(result, truth, since)}


def busy_figures(result, truth):
    things = [thing for thing in truth["things"] if thing["boxes"] and thing["boxes"][0][0] > 0]
    found = [[t for track in result["tracks"] if (t := touches(track, thing)) is not None] for thing in things]
    moved = [any(begin <= thing["boxes"][-1][0] + GRACE and end >= thing["boxes"][0][0]
                 for begin, end in result["motion"]) for thing in things]
    delays = [min(times) - thing["boxes"][0][0] for times, thing in zip(found, things) if times]
    return {"events": len(things), "missed": sum(not times for times in found), "unseen": moved.count(False),
            "delay": sum(delays) / len(delays) if delays else None, "f": result.get("f")}
