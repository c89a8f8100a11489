# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures times. All implementations take turns on one input, so that other load on the machine affects all of them
alike; only on very large inputs one follows the other.

Each implementation has an equal share of the time. One that has used up its share, which includes preparing and
warm-up, takes further turns only out of time that the others do not need."""
import dataclasses
import math
import threading
import time

from library import STEPS, Failure

MOST_SHARED_PIXELS = 2**24  # on larger inputs one implementation follows the other, to save memory
TIMES = ("wall", "gpu", *STEPS)


def quantile(values, share):
    """Of a sorted list, interpolated linearly."""
    position = share * (len(values) - 1)
    below, above = math.floor(position), math.ceil(position)
    return values[below] + (position - below) * (values[above] - values[below])


@dataclasses.dataclass
class Measurement:
    """One implementation on one input."""
    implementation: object
    outcome: str = "measured"  # "not offered", "failed" or "too slow"
    n_turns: int = 0
    spent: float = 0  # seconds, including untimed work
    turn: float = 0  # seconds of the last turn
    last_run: float = 0  # seconds; before the first run, of preparing, which includes a run
    times: dict = dataclasses.field(default_factory=lambda: {name: [] for name in TIMES})  # seconds

    def take_part(self, work, report):
        """Does a part of the measurement; after a failure, the implementation is left out."""
        begin = time.monotonic()
        try:
            work()
        except Failure as failure:
            self.outcome = "too slow" if self.implementation.gave_up else \
                "not offered" if failure.is_unsupported else "failed"
            if self.outcome != "not offered":
                report(self.implementation, failure)
            self.times = {name: [] for name in TIMES}
            self.implementation.release()
        self.turn = time.monotonic() - begin
        self.spent += self.turn

    def take_turn(self, warm_up, with_steps):
        runs, device, steps = self.implementation.take_turn(warm_up, with_steps, self.last_run)
        self.last_run = runs[-1]
        self.times["wall"] += runs
        self.times["gpu"] += [] if math.isnan(device) else [device]
        for name, seconds in zip(STEPS, steps):
            self.times[name] += [seconds] if seconds >= 0 else []
        self.n_turns += 1

    def needs_turns(self, repetitions):
        return self.outcome == "measured" and self.n_turns < repetitions


def may_take_turn(one, all_of_group, repetitions, seconds):
    """Whether an implementation may take another turn. Its own share is reserved for it. Beyond that it may use time
    that is neither spent nor reserved for an implementation that has turns left."""
    share = seconds / len(all_of_group)
    free = seconds - sum(max(each.spent, share) if each.needs_turns(repetitions) else each.spent
                         for each in all_of_group)
    return one.needs_turns(repetitions) and (
        one.n_turns == 0 or one.turn <= max(0, share - one.spent) + max(0, free))


def measure(implementations, image, seconds, report, repetitions=20, warm_up=1, with_steps=False):
    """A measurement of each implementation; each takes at least one turn. report(implementation, failure) is called
    for failures and runs that were given up."""
    measurements = [Measurement(implementation) for implementation in implementations]
    size = 1 if image.n_pixels > MOST_SHARED_PIXELS else max(1, len(measurements))
    for first in range(0, len(measurements), size):
        group = measurements[first:first + size]
        for each in group:
            each.take_part(lambda each=each: each.implementation.prepare(image), report)
            each.last_run = each.spent
        goes_on = True
        while goes_on:
            goes_on = False
            for each in group:
                if may_take_turn(each, group, repetitions, seconds * len(group) / len(measurements)):
                    goes_on = True
                    each.take_part(lambda each=each: each.take_turn(warm_up, with_steps), report)
        for each in group:
            if each.outcome == "measured":
                each.implementation.release()
    return measurements


def measure_streams(implementations, seconds, period=0):
    """Runs prepared implementations at once, a thread each: frames per second of all, CPU µs per frame of the whole
    process, and the late frames in per cent. Raises Failure."""
    begin = time.monotonic() + 0.02  # all threads have started by then
    results = [None] * len(implementations)

    def run(i):
        # Cameras are not synchronised: the paced streams are spread over the period.
        try:
            results[i] = implementations[i].run_stream(begin + period * i / len(implementations), begin + seconds, period)
        except Failure as failure:
            results[i] = failure

    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(implementations))]
    for thread in threads:
        thread.start()
    processor = time.process_time()  # the driver's threads included; those of the streams still sleep
    for thread in threads:
        thread.join()
    elapsed, processor = time.monotonic() - begin, time.process_time() - processor
    for result in results:
        if isinstance(result, Failure):
            raise result
    n_frames, n_late = map(sum, zip(*results))
    return n_frames / elapsed, 1e6 * processor / max(1, n_frames), 100 * n_late / max(1, n_frames)
