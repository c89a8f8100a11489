# SPDX-License-Identifier: LGPL-2.1-or-later
"""The modes of ccl-bench."""
import dataclasses
import itertools
import os

import inputs
from checking import OUTCOMES, check
from library import ACCESSES, DELIVERIES, SOURCES, STEPS, Failure, implementations
from measuring import measure, measure_streams, quantile

MASKS = "tests/data/masks"  # of the repository: where the tool is run, or where it was built
NUMBERS_OF_STREAMS, STREAMS_FRAME_RATE = (1, 8, 32), 60


@dataclasses.dataclass
class Mode:
    """A mode, with the papers' name where they have one."""
    summary: str
    inputs: list  # by default
    columns: list
    cheapest_labels: bool = False  # without --deliver: the label map in its cheapest form
    only_chosen: bool = False  # without --algorithms: the one that "auto" selects, and the baselines
    only_gpu: bool = False
    block_shapes: bool = False
    steps: bool = False
    is_usual: bool = False  # runs if no mode is named


QUANTILES = {"us": 0.5, "q1_us": 0.25, "q3_us": 0.75, "min_us": 0}
MEASURED = ["mode", "set", "input", "width", "height", "depth", "foreground", "granularity", "density", "device", "maker",
            "algorithm", "delivers", "threads", "outcome",
            *(f"{clock}_{name}" for clock in ("wall", "gpu") for name in (*QUANTILES, "n")),
            *(f"{step}_us" for step in STEPS), "turns", "at_least_us"]
NOISE = "noise:2048x2048"
SIZES = ("1280x720", "1920x1080", "3840x2160", "7680x4320")
MODES = {
    "check": Mode("compares every labeller with a flood fill", [
        MASKS, "noise:211x173:g=1-4,16:d=0-100+10", "noise:640x480:g=1:d=50", "noise:1x1:g=1:d=0,100",
        "noise:1x301:g=1:d=50", "noise:301x1:g=1:d=50", "noise:2x2:g=1:d=50:seed=1-9", "noise:63x65:g=1:d=30-70+10",
        "text:620x877", "blobs:640x480:n=0-3", "full:257x129", "empty:257x129", "noise:37x29x31:g=1-2:d=10-90+20",
        "hilbert"], ["implementation", "by", *OUTCOMES]),
    "average": Mode("mean time on each data set", [MASKS], MEASURED, cheapest_labels=True),
    "steps": Mode("the same, and of each step: allocation, scan, merging, relabelling", [MASKS], MEASURED,
                  cheapest_labels=True, steps=True),
    "density": Mode("time against foreground density, for each granularity", [f"{NOISE}:g=1,4,16:d=0-100+10"], MEASURED,
                    cheapest_labels=True),
    "size": Mode("time against the number of pixels",
                 [f"noise:{side}x{side}:g=1:d=50" for side in (32, 100, 316, 1000, 3162, 10000)], MEASURED,
                 cheapest_labels=True),
    "table": Mode("component tables and label maps beside bandwidth bounds, BKE and OpenCV",
                  [MASKS, f"{NOISE}:g=1,4,16:d=10,30,50,70,90"], MEASURED, only_chosen=True, is_usual=True),
    "growth": Mode("time a pixel from 720p to 8K and for 16384×16384", [
        *(f"{MASKS}/vtest200_2160.png@{size}" for size in SIZES), *(f"noise:{size}:g=4:d=30" for size in SIZES),
        "empty:1920x1080", "full:16384x16384"], MEASURED, only_chosen=True, is_usual=True),
    "streams": Mode("many labellers at once: frames a second, and CPU time at 60 frames/s",
                    [f"{MASKS}/vtest200_1080.png"], ["implementation", "streams", "frames/s", "CPU µs a frame",
                                                     "paced frames/s", "CPU µs a frame, paced", "late %"], is_usual=True),
    "blocksize": Mode("GPU algorithms once for every shape of thread block", [MASKS, f"{NOISE}:g=1,4:d=50"], MEASURED,
                      only_gpu=True, block_shapes=True),
    "memory": Mode("reads, writes and atomics of each GPU kernel, counted exactly", [MASKS],
                   ["set", "input", "pixels", "algorithm", "delivers", "kernel", *ACCESSES], cheapest_labels=True,
                   only_gpu=True),
}


def find_implementations(settings, options, needs_gpu, report):
    """The implementations of the settings. A missing GPU or algorithm that was asked for is a problem."""
    found, no_cuda, no_opencv = implementations(**settings)
    if no_cuda and needs_gpu:
        report.problem(f"no GPU: {no_cuda}")
    if no_opencv:
        report.remark(f"no OpenCV to compare with: {no_opencv}")
    for name in options.algorithms or ():
        # With shapes of thread blocks: "bke 32x8x1".
        if not any(each.algorithm.split(" ")[0] == name and not each.is_bound for each in found):
            report.problem(f'algorithm "{name}": the devices in use have none of that name (see --list)')
    return found


class Run:
    """One mode on its inputs. settings: of the library, as the command line gives them."""

    def __init__(self, name, options, settings, seconds, report):
        self.name, self.mode, self.options, self.seconds, self.report = name, MODES[name], options, seconds, report
        self.sources = self.collect_sources()
        block_shapes = self.mode.block_shapes or options.block_shapes
        only_gpu = block_shapes or self.mode.only_gpu
        self.needs_gpu = only_gpu or options.device not in (None, ["cpu"])
        self.settings = {
            **settings, "cpu": settings["cpu"] and not only_gpu, "only_chosen": self.mode.only_chosen,
            "block_shapes": block_shapes, "chosen_tables": name == "memory" and not options.deliver,
            "cheapest_labels": block_shapes or (self.mode.cheapest_labels and not options.deliver)}

    def collect_sources(self):
        has_masks = self.options.inputs or os.path.isdir(MASKS)
        sources = []
        for name in self.options.inputs or self.mode.inputs:
            try:
                sources += inputs.collect(name if has_masks or not name.startswith(MASKS) else os.path.join(SOURCES, name))
            except inputs.SpecificationError as error:
                self.report.problem(str(error))
        return sources

    def implementations(self, **changes):
        return find_implementations({**self.settings, **changes}, self.options, self.needs_gpu, self.report)

    def rows(self):
        """Runs the mode; its results by column."""
        if self.name == "check":
            return check(self.sources, self.visit, self.implementations(), self.settings, self.options.seconds, self.report)
        rows = []
        if self.name == "streams":
            self.visit(lambda source, image: self.measure_streams(image, rows))
        elif self.name == "memory":
            found = [each for each in self.implementations() if each.can_count]
            self.visit(lambda source, image: self.count_accesses(found, source, image, rows))
        else:
            found = self.implementations()
            self.visit(lambda source, image: self.measure(found, source, image, rows))
        return rows

    def visit(self, function):
        """Calls a function with each source and its input until it returns False; returns how many sources are left."""
        n = len(self.sources)
        n_left = n
        for source in self.sources:
            self.report.progress(n - n_left, n, source.title)
            n_left -= 1
            try:
                if function(source, source.load()) is False:
                    break
            except inputs.DamagedError as error:
                self.report.problem(str(error))
        self.report.progress(n, n)
        return n_left

    def report_failure(self, each, source, failure):
        self.report.problem(f"{each.title} on {source.title}: {failure}")

    def measure(self, found, source, image, rows):
        """Adds a row for each implementation, times in µs."""
        share = round(1 - image.data.count(0) / image.n_pixels, 4)
        noise = {"granularity": source.values["g"], "density": source.values["d"]} if "g" in source.values else {}
        for one in measure(found, image, self.seconds / len(self.sources),
                           lambda each, failure: self.report_failure(each, source, failure), self.options.repetitions,
                           self.options.warm_up, self.mode.steps):
            each = one.implementation
            row = {"mode": self.name, "set": source.set, "input": source.name, "width": image.width,
                   "height": image.height, "depth": image.depth, "foreground": share, **noise, "device": each.device,
                   "maker": each.maker, "algorithm": each.algorithm, "delivers": each.delivery, "threads": each.threads,
                   "outcome": one.outcome}
            for clock in ("wall", "gpu"):
                times = sorted(one.times[clock])
                for name, place in QUANTILES.items():
                    if times:
                        row[f"{clock}_{name}"] = round(1e6 * quantile(times, place), 3)
                row[f"{clock}_n"] = len(times)
            row |= {f"{step}_us": round(1e6 * quantile(sorted(one.times[step]), 0.5), 3)
                    for step in STEPS if one.times[step]}
            row["turns"] = one.n_turns if one.outcome == "measured" else 0
            if one.outcome == "too slow":
                row["at_least_us"] = round(1e6 * self.options.patience)
            rows.append(row)

    def count_accesses(self, found, source, image, rows):
        """Adds a row for each kernel that accesses memory."""
        for each in found:
            try:
                each.prepare(image)
                for kernel, counts in each.count_accesses():
                    if any(counts):
                        rows.append({"set": source.set, "input": source.name, "pixels": image.n_pixels,
                                     "algorithm": each.algorithm, "delivers": each.delivery, "kernel": kernel,
                                     **dict(zip(ACCESSES, counts))})
            except Failure as failure:
                if not failure.is_unsupported:
                    self.report_failure(each, source, failure)
            each.release()

    def measure_streams(self, image, rows):
        """Adds a row for each number of labellers at once: at full speed, then paced. Streams share the machine, so each
        has one thread and delivers the cheapest useful result: the first labeller of each device, or those asked for."""
        table, raw = (1 << DELIVERIES.index(name) for name in ("table", "raw labels"))
        bits = self.settings["deliveries"]
        changes = {"threads": (1,), "peers": False, "deliveries": bits & table or bits & ~raw}
        found = self.implementations(**changes)
        which = [i for i, each in enumerate(found) if not each.is_bound]
        if not self.options.algorithms:
            which = [next(i for i in which if found[i].device == device)
                     for device in dict.fromkeys(found[i].device for i in which)]
        tasks = list(itertools.product(which, NUMBERS_OF_STREAMS))
        seconds = min(self.seconds, 30) / (2 * max(1, len(tasks)))
        for done, (i, number) in enumerate(tasks):
            title = found[i].title
            self.report.progress(done, len(tasks), title)
            try:
                rows.append(self.measure_copies([self.implementations(**changes)[i] for _ in range(number)], image, seconds))
            except Failure as failure:
                self.report.problem(f"{title} in {number} streams: {failure}")
        return False

    def measure_copies(self, copies, image, seconds):
        """The row of copies of one labeller."""
        for copy in copies:
            copy.prepare(image)
        rate, processor, _ = measure_streams(copies, seconds)
        paced_rate, paced_processor, late = measure_streams(copies, seconds, 1 / STREAMS_FRAME_RATE)
        cells = (copies[0].title, len(copies), round(rate), round(processor, 2), round(paced_rate),
                 round(paced_processor, 2), round(late, 1))
        return dict(zip(self.mode.columns, cells))
