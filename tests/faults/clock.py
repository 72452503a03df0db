"""A clock that is wrong: nothing is deleted that a right clock would keep."""

import datetime
import shutil
import time

from answers import answers, lies, make_folder
from damage import SERVE
from process import Server, run

# Replays far ahead and long ago, and real time, by which the newest reading is years old.
CLOCKS = ["2030-01-01T00:00:00Z", "2099-12-31T23:59:59Z", "1971-01-01T00:00:00Z", "live"]


KEPT = datetime.timedelta(days=400)


def as_old(whole, found):
    """Returns the answers with the rows restored that a live clock may delete: those older than
    the retention, counted from the newest of all."""
    stations = whole["stations"]
    newest = max(row[5] for _, rows, _ in stations.values() for row in rows)
    oldest = f"{datetime.datetime.fromisoformat(newest) - KEPT:%Y-%m-%dT%H:%M:%S}"
    put_back = {}
    for station, (status, left, damaged) in found["stations"].items():
        old = {row for row in stations[station][1] if row[5] < oldest}
        put_back[station] = (status, sorted(old | set(left)), damaged)
    return {**found, "stations": put_back}


def check(work, report):
    make_folder(work / "data")
    products = ["--products", work / "products.toml"]
    shutil.copytree(work / "data", work / "whole")
    with Server(work / "whole", *SERVE, *products) as server:
        whole = answers(server)
    for clock in CLOCKS:
        shutil.rmtree(work / "moved", ignore_errors=True)
        shutil.copytree(work / "data", work / "moved")
        wrong = []
        with Server(work / "moved", "--now", clock, "--retention", "400d", "--seal-readings", 5000,
                    *products):
            # Maintenance runs at the start.
            time.sleep(4)
        with Server(work / "moved", *SERVE, *products) as server:
            found = answers(server)
            if clock == "live":
                found = as_old(whole, found)
            wrong += lies(whole, found)
        code, out, error = run("verify", "--data", work / "moved")
        if code != 0:
            wrong.append(out + error)
        report.trial("a clock that is wrong", clock, (f"--now {clock}", "whole", wrong))
