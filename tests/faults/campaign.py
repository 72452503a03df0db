#!/usr/bin/env python3
"""The campaign of faults: treats the server and its folder as badly as possible, and checks whether
anything was lost, invented, or silently left out.

    python3 tests/faults/campaign.py                              small, as tests/run does
    python3 tests/faults/campaign.py --kills 1000 --flips 3000 --harms 3 --clients 1200 --bombs all
    python3 tests/faults/campaign.py --only kills,clients

Needs Python 3.11 and a server: MESONET_SERVER_BIN, or that of the debug build. What a scenario
cannot do here (mounting needs root) is skipped by name.
"""

import argparse
import pathlib
import sys
import tempfile
import time
import traceback

import bombs
import clients
import clock
import damage
import disk
import kills
import load
import lost
from report import Report


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=15, help="SIGKILLs under load")
    parser.add_argument("--flips", type=int, default=12, help="flipped bits")
    parser.add_argument("--harms", type=float, default=0.1,
                        help="how often each other kind of damage is done to each file")
    parser.add_argument("--clients", type=int, default=400, help="slow clients at once")
    parser.add_argument("--bombs", choices=["few", "all"], default="few")
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--only", default="kills,damage,lost,disk,clock,clients,load,bombs",
                        help="scenarios, comma-separated")
    asked = parser.parse_args()
    scenarios = {
        "kills": lambda work, report: kills.check(work, report, asked.kills, asked.seed),
        "damage": lambda work, report: damage.check(work, report, asked.flips, asked.harms,
                                                    asked.seed),
        "lost": lost.check,
        "disk": disk.check,
        "clock": clock.check,
        "clients": lambda work, report: clients.check(work, report, asked.clients),
        "load": load.check,
        "bombs": lambda work, report: bombs.check(work, report, asked.bombs == "few"),
    }
    report = Report()
    for name in asked.only.split(","):
        if name not in scenarios:
            parser.error(f"unknown scenario {name}; known are {', '.join(scenarios)}")
        started = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="mesonet-faults-") as work:
            try:
                scenarios[name](pathlib.Path(work), report)
            except Exception:  # noqa: BLE001: one scenario that breaks keeps no other from running
                report.trial(name, "the scenario itself", (
                    name, "broken", [traceback.format_exc()]))
        print(f"{name}: {time.monotonic() - started:.0f} s", flush=True)
    report.print()
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
