"""The npm package in Node beside loops in JavaScript and metar-taf-parser.

The programs in `bindings-wasm/js/bench` compare the results and measure both sides in one process: the median of many
runs, in CPU time. A process is a round.
"""

import json
import shutil
import subprocess
from pathlib import Path

from .measure import Skipped, medians
from .table import Row

PACKAGES = ()
PACKAGE = Path(__file__).parents[2] / "bindings-wasm" / "js"
ROUNDS = 5
PATIENCE_S = 300
# What is written into, ours, the loops that do the same, of which the faster of those that there are counts, and the aim.
WAYS = (
    ("a new array", "package", ("loop", "table"), None),
    ("a kept array", "kept", ("keptLoop",), 3),
    ("resident", "resident", ("keptLoop",), None),
)
# Reports a second.
METAR_AIM = 150_000


def cases():
    if not shutil.which("node"):
        yield Skipped("JavaScript", "loops", "there is no node")
        return
    if not (PACKAGE / "dist" / "metar.wasm").exists():
        yield Skipped("JavaScript", "loops", "the npm package is not built; `tests/run js` builds it")
        return
    yield from loops(rounds("node.mjs"))
    yield from reports(rounds("metar.mjs"))


def rounds(program):
    """What each of several processes has measured."""
    return [json.loads(output(program)) for _ in range(ROUNDS)]


def output(program):
    command = ["node", f"bench/{program}", "--json"]
    return subprocess.run(command, cwd=PACKAGE, capture_output=True, text=True, timeout=PATIENCE_S, check=True).stdout


def loops(runs):
    for at, row in enumerate(runs[0]):
        what, _, size = row["what"].partition(", ")
        for into, ours, others, aim in WAYS:
            others = [name for name in others if name in row]
            if ours not in row or not others or "precision" in what:
                continue
            times = [(run[at][ours], min(run[at][name] for name in others)) for run in runs]
            yield row_of(f"{what}, {into} (npm)", size, "loop in JavaScript", times, "equal", aim=aim)


def reports(runs):
    if not runs[0]:
        yield Skipped("METAR to objects (npm)", "metar-taf-parser", "it is not installed")
    for at, row in enumerate(runs[0]):
        times = [(run[at]["ours"], run[at]["other"]) for run in runs]
        aim_us = round(int(row["size"].split()[0].replace(",", "")) / METAR_AIM * 1e6, -2)
        what = f"{row['what']} (npm)"
        yield row_of(what, row["size"], "metar-taf-parser", times, row["agreement"], aim_us=aim_us)


def row_of(what, size, peer, times_ms, agreement, **aims):
    rounds = [(ours * 1e3, other * 1e3) for ours, other in times_ms]
    return Row("js", what, size, peer, **medians(rounds), agreement=agreement, **aims)
