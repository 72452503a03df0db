"""A comparison, and how it is measured: alternating runs in time of the processor, and their medians."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

from .table import Row

# A round is at least so long, as far as a group can choose: the clock and the first touch of memory are then small.
ROUND_US = 20_000
# A row has at least so many rounds of each side, and takes at least so long in all.
LEAST_ROUNDS = 7
LEAST_S = 4.0
MOST_ROUNDS = 99

CORES = sorted(os.sched_getaffinity(0))


def take_one_core():
    """Leaves one core and one thread to this process and what it starts. Comes before what makes threads when it is
    imported."""
    for name in ("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"
    os.sched_setaffinity(0, CORES[-1:])


def take_other_core():
    """Goes to another core than that one, if there is one."""
    os.sched_setaffinity(0, CORES[:1])


@dataclass(frozen=True)
class Case:
    """A row before it is measured.

    `check` compares the results and says how they agree; it raises AssertionError if they do not. Each of the others
    does one round, and returns the CPU time of one run in it, in microseconds.
    """

    what: str
    size: str
    peer: str
    check: Callable[[], str]
    ours_us: Callable[[], float]
    other_us: Callable[[], float]
    aim: float | None = None
    aim_us: float | None = None


@dataclass(frozen=True)
class Skipped:
    """Rows that cannot be measured here, and why."""

    what: str
    peer: str
    reason: str
    size: str = ""


def measured(group, case):
    """The row of a case, unless its group has measured it. A case whose results do not agree is not measured."""
    if isinstance(case, Row):
        return case
    facts = {"group": group, "what": case.what, "size": case.size, "peer": case.peer}
    if isinstance(case, Skipped):
        return Row(**facts, skipped=case.reason)
    facts |= {"aim": case.aim, "aim_us": case.aim_us}
    try:
        agreement = case.check()
    except AssertionError as error:
        # On one line, as the table has it.
        return Row(**facts, failed=" ".join(str(error).split())[:200] or "the results differ")
    # The first of each fills caches.
    case.ours_us(), case.other_us()
    rounds, begin = [], time.monotonic()
    while len(rounds) < LEAST_ROUNDS or (time.monotonic() - begin < LEAST_S and len(rounds) < MOST_ROUNDS):
        rounds.append((case.ours_us(), case.other_us()))
    return Row(**facts, **medians(rounds), agreement=agreement)


def medians(rounds):
    """The times of a row from those of its rounds. Both sides of a round meet the same machine, whatever else it does, so
    that the median of their ratios is steadier than the ratio of the medians."""
    ours_us, other_us = (median(side) for side in zip(*rounds, strict=True))
    ratio = median(other / ours for ours, other in rounds)
    return {"ours_us": ours_us, "other_us": other_us, "ratio": ratio, "rounds": len(rounds)}


def in_process(what, size, peer, aim, ours, other, agree, aim_us=None):
    """The case of two functions of this process. `agree` takes both results and says how they agree, or raises."""
    return Case(what, size, peer, lambda: agree(ours(), other()), rounds_of(ours), rounds_of(other), aim, aim_us)


def rounds_of(run):
    """Repeats a function as often as a round needs, and returns the CPU time of one run, microseconds."""
    repeats = None

    def cpu_us():
        nonlocal repeats
        if repeats is None:
            run()
            repeats = max(1, round(ROUND_US / once_us(run, 1)))
        return once_us(run, repeats)

    return cpu_us


def once_us(run, repeats):
    begin = time.process_time_ns()
    for _ in range(repeats):
        run()
    return (time.process_time_ns() - begin) / 1e3 / repeats
