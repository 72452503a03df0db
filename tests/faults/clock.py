"""A wrong clock: the server deletes nothing that it would keep with a right clock."""

import datetime
import json
import pathlib
import shutil
import time

from answers import answers, lies, make_folder, rows_of
from damage import SERVE
from process import Server, key_hash, run

# Replays far in the future and in the past, and real time, by which the newest reading is years
# old.
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
    live(work, report)


# Debian's package faketime.
LIBRARIES = ["/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1",
             "/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1"]

# Aerodromes, with their places.
PLACES = {"KBUF": (42.94, -78.74), "KROC": (43.12, -77.67), "KSYR": (43.11, -76.10),
          "CYYZ": (43.68, -79.63), "CYHM": (43.17, -79.93)}


def history(now):
    """Reports of 50 days, every six hours, as a table. The values are made up."""
    lines = ["raw_text,station_id,observation_time,latitude,longitude"]
    for age in range(0, 50 * 24, 6):
        at = now - datetime.timedelta(hours=age)
        for name, (latitude, longitude) in PLACES.items():
            text = f"{name} {at:%d%H%M}Z 24012KT 10SM {10 + age % 9}/05 A2991"
            lines.append(f"{text},{name},{at:%Y-%m-%dT%H:%M:%SZ},{latitude},{longitude}")
    return "\n".join(lines) + "\n"


def bulletin(at):
    """One report, which says only its day of the month."""
    return f"SAUS43 KBUF {at:%d%H%M}\nMETAR KBUF {at:%d%H%M}Z 24012KT 10SM 19/05 A2991=\n"


def live(work, report):
    """A server with a live clock that runs ahead for a while, is set right again, and lags: with
    pushes meanwhile and restarts between."""
    library = next((path for path in LIBRARIES if pathlib.Path(path).exists()), None)
    if library is None:
        report.skip("a live clock that is wrong", "libfaketime is not installed")
        return
    folder, wrong = work / "live", []
    args = ["--now", "live", "--assume-plan", "commercial", "--seal-readings", 200,
            "--ingest-key-hashes", key_hash()]

    def server(days, *more):
        faked = ("env", f"LD_PRELOAD={library}", f"FAKETIME={days:+}d", "FAKETIME_DONT_FAKE_MONOTONIC=1")
        return Server(folder, *args, *more, wrap=faked if days else ())

    def push(to, name, body):
        status, _, answer = to.push(name, body.encode())
        if status != 200:
            wrong.append(f"{name} is answered with {status}: {answer!r}")
            return {}
        return json.loads(answer)

    def rows(of):
        status, _, body = of.ask("/api/v1/stations/map/markers")
        assert status == 200
        ids = [feature["id"] for feature in json.loads(body)["features"]]
        return sum(len(rows_of(of, station)[1]) for station in ids)

    now = datetime.datetime.now(datetime.timezone.utc).replace(second=0, microsecond=0)
    with server(0, "--retention", "60d") as right:
        push(right, "metars.csv", history(now))
        time.sleep(13)  # Sealing and deleting begin every ten seconds.
        held = rows(right)
        right.stop()
    for days in [92, -92, 400]:
        with server(days, "--retention", "60d") as moved:
            at = now + datetime.timedelta(days=days)
            for minute in range(2):
                push(moved, "sa.txt", bulletin(at - datetime.timedelta(minutes=minute)))
            time.sleep(13)
            if (found := rows(moved)) < held:
                wrong.append(f"{days:+} days: {held - found} rows are gone")
            moved.stop()
        for more in [["--retention", "60d"], []]:
            now += datetime.timedelta(minutes=1)
            with server(0, *more) as right:
                answer = push(right, "sa.txt", bulletin(now))
                kind = answer.get("kinds", {}).get("metar-bulletin", {})
                if not answer.get("whole") or not kind.get("added") or kind.get("expired"):
                    wrong.append(f"after {days:+} days a push of today is not stored: {answer}")
                if (found := rows(right)) < held:
                    wrong.append(f"after {days:+} days: {held - found} rows are gone")
                right.stop()
    code, out, error = run("verify", "--data", folder)
    if code != 0:
        wrong.append(out + error)
    report.trial("a live clock that is wrong", "ahead, behind, ahead", ("92, -92, 400 days", "whole", wrong))
