"""How many followers a service needs: tests/scale/simulation.py [--costs FILE] [--callers N,N,N] [--write DOCUMENT] [--check].

A simulation of what cannot be measured on one machine: callers of three kinds, a balancer that hashes their
addresses, and followers of so many cores. What an answer costs is what tests/scale/slope.py measured (its JSON, by
default docs/scale-costs.json); all else is stated below. Prints a table, or with --check holds the simulation to what
is known of queues.
"""

import argparse
import heapq
import json
import math
import random
from bisect import bisect_right
from pathlib import Path

from slope import put

ROOT = Path(__file__).resolve().parent.parent.parent

# What a caller requests, per hour. A map page checks for changes once a minute, and mostly there
# are none (304). A person opens a series now and then. A program requests grids and exports.
KINDS = {
    "map": {"share": 0.90, "asks": {"snapshot, gzip": 6, "known": 54, "series": 10}},
    "program": {"share": 0.09, "asks": {"grid, 5° × 10°": 12, "series": 60}},
    "archive": {"share": 0.01, "asks": {"bulk": 600}},
}

# The head of an answer, which is all of a 304.
HEAD_BYTES = 300

CORES = 4
LINE_BYTES_S = 1e9 / 8
# A follower is full when its cores or its line are this busy over a whole minute.
FULL = 0.6


def costs_of(path):
    """Seconds of a core and bytes of each request, at the largest size that was measured."""
    largest = max(json.loads(path.read_text()), key=lambda of: of["stations"])
    return {what: (cost["cpu_ms"] / 1e3, cost["bytes"] + HEAD_BYTES) for what, cost in largest["costs"].items()}


def demand(callers, costs):
    """Requests a second, busy cores, and bytes a second, by arithmetic."""
    requests = cores = line = 0.0
    for kind in KINDS.values():
        for what, an_hour in kind["asks"].items():
            rate = callers * kind["share"] * an_hour / 3600
            seconds, length = costs[what]
            requests, cores, line = requests + rate, cores + rate * seconds, line + rate * length
    return requests, cores, line


def followers_for(callers, costs):
    """The smallest number of followers of which none is full, plus one, as one may be down; and what is full first."""
    _, cores, line = demand(callers, costs)
    by_cores, by_line = cores / (FULL * CORES), line / (FULL * LINE_BYTES_S)
    return max(2, math.ceil(max(by_cores, by_line)) + 1), "cores" if by_cores > by_line else "line"


class Ring:
    """nginx's consistent hash, as far as it matters here: 160 points a server on a circle."""

    def __init__(self, servers, rng):
        points = sorted((rng.random(), server) for server in range(servers) for _ in range(160))
        self.at, self.server = [at for at, _ in points], [server for _, server in points]

    def of(self, place):
        return self.server[bisect_right(self.at, place) % len(self.server)]


def simulate(callers, followers, costs, span_s, seed=1, away=0):
    """Runs a minute or so. Returns the busiest follower's share of the load, and waits in ms (p50, p99)."""
    rng = random.Random(seed)
    ring = Ring(followers - away, rng)
    # All callers are assigned to followers. The queue is that of the busiest follower.
    homes = [ring.of(rng.random()) for _ in range(callers)]
    load = [homes.count(server) for server in range(followers - away)]
    busiest = max(range(len(load)), key=load.__getitem__)
    asks = [
        (kind["share"] * an_hour / 3600, what) for kind in KINDS.values() for what, an_hour in kind["asks"].items()
    ]
    rate = load[busiest] * sum(each for each, _ in asks)
    # Requests of many callers who do not know of each other: a Poisson process.
    now, waits = 0.0, []
    free = [0.0] * CORES
    weights = [each for each, _ in asks]
    while now < span_s:
        now += rng.expovariate(rate)
        what = rng.choices(asks, weights)[0][1]
        begin = max(now, heapq.heappop(free))
        heapq.heappush(free, begin + costs[what][0])
        waits.append(begin - now)
    waits.sort()
    at = lambda part: waits[int((len(waits) - 1) * part)] * 1e3
    return max(load) / (sum(load) / len(load)), at(0.5), at(0.99)


def table(sizes, costs):
    lines = [
        "| Callers | Requests a second | Cores | Gbit/s | Followers | Full first | Busiest follower | "
        "Wait for a core, ms p50 / p99 | with one away |",
        "| ---: | ---: | ---: | ---: | ---: | --- | ---: | ---: | ---: |",
    ]
    for callers in sizes:
        requests, cores, line = demand(callers, costs)
        followers, first = followers_for(callers, costs)
        most = min(callers, 200_000)
        # With more callers than that, only a part is simulated, with as many for each follower.
        part = max(2, round(followers * most / callers))
        share, half, late = simulate(most, part, costs, 20)
        _, half_away, late_away = simulate(most, part, costs, 20, away=1)
        lines.append(
            f"| {callers:,} | {requests:,.0f} | {cores:.2f} | {line * 8 / 1e9:.2f} | {followers} | {first} | "
            f"{share:.2f} × the mean | {half:.2f} / {late:.2f} | {half_away:.2f} / {late_away:.2f} |"
        )
    return "\n".join(lines)


def check():
    """Compares the simulation with known results: M/D/c queues, the balance of a ring, arithmetic."""
    costs = {what: (0.001, 1000) for kind in KINDS.values() for what in kind["asks"]}
    requests, cores, line = demand(3600, costs)
    expected = 3600 * (0.9 * 70 + 0.09 * 72 + 0.01 * 600) / 3600
    assert math.isclose(requests, expected) and math.isclose(cores, expected / 1000), (requests, expected)
    assert math.isclose(line, expected * 1000)
    # With hardly any load, no request waits. Near the limit of the cores, the wait is that of M/D/4
    # by Cosmetatos' approximation.
    _, half, late = simulate(1000, 2, costs, 60)
    assert half == late == 0, (half, late)
    each = expected / 3600
    callers = int(0.9 * CORES / 0.001 / each)
    share, *_ = simulate(callers, 1, costs, 1)
    assert share == 1
    waits = mean_wait(callers, costs)
    erlang = erlang_c(CORES, 0.9 * CORES)
    of_exponential = erlang * 0.001 / (CORES * (1 - 0.9))
    rho = 0.9
    of_fixed = of_exponential / 2 * (1 + (1 - rho) * (CORES - 1) * (math.sqrt(4 + 5 * CORES) - 2) / (16 * rho * CORES))
    assert abs(waits - of_fixed) < 0.15 * of_fixed, (waits, of_fixed)
    # A ring of 160 points a server is even within a third.
    rng = random.Random(2)
    ring = Ring(10, rng)
    homes = [ring.of(rng.random()) for _ in range(100_000)]
    loads = [homes.count(server) for server in range(10)]
    assert max(loads) < 1.34 * 10_000 and min(loads) > 0.66 * 10_000, loads
    # Twice the callers need at most twice the followers, and never fewer.
    counts = [followers_for(callers, costs)[0] for callers in (1000, 100_000, 1_000_000, 10_000_000)]
    assert counts == sorted(counts) and counts[0] == 2 and counts[-1] > 10, counts
    print(f"wait of M/D/{CORES} at 90 %: {waits * 1e3:.3f} ms simulated, {of_fixed * 1e3:.3f} ms by the formula")


def mean_wait(callers, costs):
    rng, now, total, count = random.Random(3), 0.0, 0.0, 0
    rate = demand(callers, costs)[0]
    free = [0.0] * CORES
    while count < 400_000:
        now += rng.expovariate(rate)
        begin = max(now, heapq.heappop(free))
        heapq.heappush(free, begin + 0.001)
        total, count = total + begin - now, count + 1
    return total / count


def erlang_c(servers, load):
    """The probability that all servers are busy (Erlang C)."""
    top = load**servers / math.factorial(servers) * servers / (servers - load)
    return top / (sum(load**k / math.factorial(k) for k in range(servers)) + top)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--costs", type=Path, default=ROOT / "docs/scale-costs.json")
    parser.add_argument("--callers", default="1000,10000,100000,1000000")
    parser.add_argument("--write", type=Path)
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    if given.check:
        check()
        return
    lines = table([int(callers) for callers in given.callers.split(",")], costs_of(given.costs))
    print(lines)
    if given.write:
        put(given.write, "tests/scale/simulation.py", lines)


if __name__ == "__main__":
    main()
