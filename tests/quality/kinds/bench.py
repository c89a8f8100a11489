#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The bench of kinds: drawn scenes in which nothing but one disturbance happens, and in which something moves under it.

`./run quality --kinds` calls it. For each kind (table.py) it draws a quiet and a busy clip, encodes both as a
camera does, and lets ccl-watch, OpenCV's MOG2 and KNN, and Debian's program motion watch the files, all at
their defaults. It prints a line for each kind and method:

  false s    seconds of motion a minute of the quiet clip in which nothing moved
  false tr   confirmed tracks a minute of the quiet clip that touch no thing
  missed     events of the busy clip that no confirmed track touches, of how many
  unseen     events of the busy clip during which no motion was reported
  delay      seconds from the first sight of a thing to its confirmed track
  quiet      seconds of motion after the disturbance began, or the thing stopped; inf: to the end of the clip
  F          F-measure of the masks of the busy clip
"""
import argparse
import concurrent.futures
import csv
import fnmatch
import multiprocessing
import shutil
import sys

import figures
import models
import motion_program
import store
import table
import watch

OURS = "cudaccl"
METHODS = (OURS, "MOG2", "KNN", "motion")
COLUMNS = ("false_motion", "false_tracks", "missed", "events", "unseen", "delay", "settled", "f")


def see(method, clip, program, settings):
    """What the method sees; that of other programs is kept with the clip."""
    if method == OURS:
        return watch.see(program, clip.video, settings) | {"f": clip.f_measure(watch.masks(clip.video, settings))}
    if method == "motion":
        return clip.kept(method, store.digest("motion_program.py"),
                         lambda: motion_program.see(clip.video, clip.kind, clip.truth["seconds"]))
    return clip.kept(method, store.digest("models.py", "rule.py"),
                     lambda: models.see(method, clip.video, clip.true_masks()))


def judge(job):
    """The figures of a method in a kind."""
    folder, kind, seed, method, program, settings = job
    quiet, busy = (store.Clip(folder, kind, seed, is_busy).draw() for is_busy in (False, True))
    return (kind, seed, method,
            figures.quiet_figures(see(method, quiet, program, settings), kind, quiet.truth)
            | figures.busy_figures(see(method, busy, program, settings), busy.truth))


def text(value, width, digits=1):
    return f"{'–' if value is None else f'{value:.{digits}f}':>{width}}"


def line(kind, seed, method, row):
    missed = "–" if method == "motion" else row["missed"]
    return (f"{kind.name:20}{seed:3} {method:8}{text(row['false_motion'], 9)}{text(row['false_tracks'], 9)}"
            f"{missed:>6} of{row['events']:2}{row['unseen']:7}{text(row['delay'], 8)}{text(row['settled'], 8)}"
            f"{text(row['f'], 8, 3)}")


HEAD = (f"{'kind':20}{'':3} {'':8}{'false s':>9}{'false tr':>9}{'missed':>11}{'unseen':>7}{'delay':>8}{'quiet':>8}"
        f"{'F':>8}")


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(prog="./run quality --kinds", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ccl-watch", default="builddir/watch/ccl-watch", help="the program (%(default)s)")
    parser.add_argument("--only", default="*", help="names of kinds, with * and ?, and commas between them")
    parser.add_argument("--quick", action="store_true", help="only the kinds of the test, at half the size")
    parser.add_argument("--methods", default=",".join(METHODS), help="with commas between them (%(default)s)")
    parser.add_argument("--seeds", default="1", help="with commas between them (%(default)s)")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE",
                        help="a key for ccl-watch; may be repeated")
    parser.add_argument("--csv", help="file for the figures")
    parser.add_argument("--folder", default="builddir/kinds", help="for the drawn clips, which are kept (%(default)s)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (%(default)s)")
    parser.add_argument("--list", action="store_true", help="print the kinds")
    return parser.parse_args(arguments)


def chosen(arguments):
    patterns = arguments.only.split(",")
    kinds = [kind for kind in (table.quick() if arguments.quick else table.KINDS)
             if any(fnmatch.fnmatch(kind.name, pattern) for pattern in patterns)]
    if not kinds:
        sys.exit(f"quality: no kind is named {arguments.only}")
    return kinds


def results(kinds, seeds, names, arguments):
    """Yields the figures. motion plays clips as fast as they were recorded and mostly waits, so many run at once."""
    def jobs(*methods):
        return [(arguments.folder, kind, seed, method, arguments.ccl_watch, arguments.set)
                for kind in kinds for seed in seeds for method in methods]
    first, *others = [name for name in names if name != "motion"] or [None]
    with (multiprocessing.get_context("spawn").Pool(arguments.jobs) as pool,
          concurrent.futures.ThreadPoolExecutor(16) as waiting):
        if first:
            yield from pool.imap(judge, jobs(first), 1)  # this draws the clips
        motion = waiting.map(judge, jobs("motion")) if "motion" in names else ()
        yield from pool.imap(judge, jobs(*others), 1)
        yield from motion


def main(arguments=None):
    arguments = parse_arguments(arguments)
    kinds, names = chosen(arguments), arguments.methods.split(",")
    if arguments.list:
        print("\n".join(f"{kind.name:20}{kind.text}" for kind in kinds))
        return
    if "motion" in names and not shutil.which("motion"):
        print("quality: the program motion is not installed, so its rows are left out")
        names.remove("motion")
    rows = []
    print(HEAD, flush=True)
    seeds = [int(seed) for seed in arguments.seeds.split(",")]
    for kind, seed, method, row in results(kinds, seeds, names, arguments):
        rows.append((kind, seed, method, row))
        print(line(kind, seed, method, row), flush=True)
    for method in names:
        own = [row for _, _, name, row in rows if name == method]
        missed, unseen, events = (sum(row[column] for row in own) for column in ("missed", "unseen", "events"))
        loud, tracked = sum(row["false_motion"] > 1 for row in own), sum(row["false_tracks"] > 0 for row in own)
        print(f"{method:8} of {len(own)} kinds, {loud} have more than 1 s of false motion a minute"
              f"{'' if method == 'motion' else f', {tracked} false tracks'}; of {events} events, "
              f"{'' if method == 'motion' else f'{missed} are missed, '}{unseen} unseen")
    if arguments.csv:
        with open(arguments.csv, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["kind", "seed", "method", *COLUMNS])
            writer.writerows([kind.name, seed, method, *(row[column] for column in COLUMNS)]
                             for kind, seed, method, row in rows)
        print(f"written: {arguments.csv}")


if __name__ == "__main__":
    main()
