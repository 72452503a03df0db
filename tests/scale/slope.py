"""How the server's costs grow with the number of stations: tests/scale/slope.py BINARY [--stations N,N,N] [--json FILE] [--write DOCUMENT].

Makes records of so many stations (1,000, 5,000 and 20,000), each with a day of hourly reports (--hours), serves each alone, asks
for a snapshot, a grid, a series and an export, and prints a table. Stations and weather are made up; the way in,
the checks and the answers are those of every record. It wants a release build and an idle machine.
"""

import argparse
import csv
import gzip
import json
import math
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timedelta, timezone
from http.client import HTTPConnection
from pathlib import Path

END = datetime(2024, 8, 3, 23, 30, tzinfo=timezone.utc)
COUNT = 100


def name(number):
    """The four letters and digits of a station. No known station has them, so its place is that of its reports."""
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    text = ""
    for _ in range(3):
        number, digit = divmod(number, 36)
        text = digits[digit] + text
    return "QXZJ"[number] + text


def make(path, stations, hours, every_min=60):
    """Reports of a day: weather that changes slowly from place to place and hour to hour."""
    rng = random.Random(stations)
    rows = math.ceil(math.sqrt(stations / 2))
    places = [
        (25 + 40 * (n // (2 * rows)) / rows + rng.uniform(0, 0.1), -135 + 80 * (n % (2 * rows)) / (2 * rows))
        for n in range(stations)
    ]
    with gzip.open(path, "wt", compresslevel=1, newline="") as file:
        out = csv.writer(file)
        out.writerow(["raw_text", "station_id", "observation_time", "latitude", "longitude"])
        last = END - timedelta(minutes=30)
        for before_min in reversed(range(0, hours * 60, every_min)):
            at, hour = last - timedelta(minutes=before_min), hours - 1 - before_min // 60
            for number, (lat, lon) in enumerate(places):
                warm = round(30 - (lat - 25) / 2 + 5 * math.sin((at.hour - 9) / 24 * 2 * math.pi))
                dew, wind = warm - 8, 5 + (number + hour) % 7
                turn = (number * 7 + hour * 10) % 36 * 10
                raw = f"{name(number)} {at:%d%H%M}Z {turn:03}{wind:02}KT 15SM FEW060 {text(warm)}/{text(dew)} A2991"
                out.writerow([raw, name(number), f"{at:%Y-%m-%dT%H:%M:%SZ}", f"{lat:.3f}", f"{lon:.3f}"])


def text(celsius):
    return f"{celsius:02}" if celsius >= 0 else f"M{-celsius:02}"


def size(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def resident(pid):
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    kib = {line.split(":")[0]: line.split()[1] for line in lines if line.startswith("Vm")}
    return int(kib["VmRSS"]) << 10


def cpu_s(pid):
    """The time that a process has used the cores so far, seconds."""
    threads = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(thread.read_text().split()[0]) for thread in threads) / 1e9


class Server:
    def __init__(self, binary, folder):
        self.log = folder / "log"
        own = ["--data", "data", "--listen", "127.0.0.1:0", "--now", f"{END:%Y-%m-%dT%H:%M:%SZ}"]
        own += ["--rate-requests", "0", "--assume-plan", "commercial", "--log-requests", "false"]
        began = time.monotonic()
        with self.log.open("w") as log:
            self.process = subprocess.Popen([binary, *own], cwd=folder, stderr=log, env={})
        while "listening on http://" not in (said := self.log.read_text()):
            assert self.process.poll() is None and time.monotonic() - began < 600, said
            time.sleep(0.01)
        self.started_s = time.monotonic() - began
        self.address = said.split("listening on http://")[1].split()[0]

    def measure(self, method, path, body=None, encoding="identity", tag=None, count=COUNT):
        """Bytes of the body on the wire, the median and the 99th percentile of the time, and the time of the
        cores, in milliseconds. The last one hardly depends on what else the machine does."""
        host, port = self.address.split(":")
        caller = HTTPConnection(host, int(port), timeout=600)
        headers = {"accept-encoding": encoding}
        if body:
            headers["content-type"] = "application/json"
        if tag:
            headers["if-none-match"] = tag
        took, used = [], 0.0
        for number in range(count + 1):
            if number == 1:
                used = cpu_s(self.process.pid)
            began = time.perf_counter()
            caller.request(method, path, body=body, headers=headers)
            answer = caller.getresponse()
            content = answer.read()
            took.append((time.perf_counter() - began) * 1e3)
            assert answer.status == (304 if tag else 200), (path, answer.status, content[:300])
        used = cpu_s(self.process.pid) - used
        # The first request brings what is needed into memory.
        took = sorted(took[1:])
        at = lambda part: took[int((len(took) - 1) * part)]
        return {"bytes": len(content), "p50_ms": round(at(0.5), 3), "p99_ms": round(at(0.99), 3),
                "cpu_ms": round(used * 1e3 / count, 3)}, content


    def tag(self, path):
        host, port = self.address.split(":")
        caller = HTTPConnection(host, int(port), timeout=600)
        caller.request("GET", path)
        return caller.getresponse().headers["etag"]


def measure(binary, stations, hours, count):
    with tempfile.TemporaryDirectory(dir=os.environ.get("MESONET_SCRATCH")) as folder:
        folder = Path(folder)
        make(folder / "metars.csv.gz", stations, hours)
        began = time.monotonic()
        done = subprocess.run(
            [binary, "ingest", "--json", "--data", "data", "metars.csv.gz"], cwd=folder, env={},
            capture_output=True, text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        ingest_s = time.monotonic() - began
        kind = next(iter(json.loads(done.stdout)["kinds"].values()))
        assert kind["reports"] == stations * hours, kind
        seal = [binary, "retention", "--retention", "40000d", "--data", "data"]
        subprocess.run(seal, cwd=folder, env={}, check=True, capture_output=True)
        disk = size(folder / "data")
        began = time.monotonic()
        backup = [binary, "backup", "--data", "data", "--to", "place"]
        subprocess.run(backup, cwd=folder, env={}, check=True, capture_output=True)
        backup_s = time.monotonic() - began
        server = Server(binary, folder)
        try:
            _, content = server.measure("GET", "/api/v1/stations/map/markers", count=1)
            markers = json.loads(content)
            station = str(find_id(markers))
            day = f"start={END - timedelta(days=1):%Y-%m-%dT%H:%M:%SZ}&end={END:%Y-%m-%dT%H:%M:%SZ}"
            six = f"start={END - timedelta(hours=6):%Y-%m-%dT%H:%M:%SZ}&end={END:%Y-%m-%dT%H:%M:%SZ}"
            grid = f"/api/v1/stations/readings?names=airTemperature&{six}&step=60"
            area = f"{grid}&minLat=40&maxLat=45&minLon=-90&maxLon=-80"
            series = json.dumps({"stationId": station, "name": "airTemperature"})
            bulk = json.dumps({"stationId": station})
            asked = {
                "snapshot": ("GET", "/api/v1/stations/map/details", None, "identity"),
                "snapshot, gzip": ("GET", "/api/v1/stations/map/details", None, "gzip"),
                "grid, all stations": ("GET", grid, None, "identity"),
                "grid, 5° × 10°": ("GET", area, None, "identity"),
                "series": ("POST", f"/api/v1/observations/series?{day}", series, "identity"),
                "bulk": ("POST", f"/api/v1/historical/bulk?{day}", bulk, "identity"),
            }
            costs = {what: server.measure(*request, count=count)[0] for what, request in asked.items()}
            tag = server.tag("/api/v1/stations/map/details")
            costs["known"] = server.measure("GET", "/api/v1/stations/map/details", tag=tag, count=count)[0]
            return {
                "stations": stations, "hours": hours, "readings": kind["added"], "ingest_s": round(ingest_s, 2),
                "disk_bytes": disk, "backup_s": round(backup_s, 2), "start_s": round(server.started_s, 2),
                "resident_bytes": resident(server.process.pid), "costs": costs,
            }
        finally:
            server.process.send_signal(signal.SIGTERM)
            server.process.wait()


def find_id(markers):
    """The id of a station, from anywhere in the markers."""
    if isinstance(markers, dict):
        for key in ("id", "stationId"):
            if isinstance(markers.get(key), str):
                return markers[key]
        markers = list(markers.values())
    for inner in markers if isinstance(markers, list) else []:
        if isinstance(inner, (dict, list)) and (found := find_id(inner)):
            return found
    return None


def table(sizes):
    lines = ["| | " + " | ".join(f"{of['stations']:,} stations" for of in sizes) + " |", "| --- |" + " ---: |" * len(sizes)]
    row = lambda what, values: lines.append(f"| {what} | " + " | ".join(values) + " |")
    row(f"Readings of {sizes[0]['hours']} hours", [f"{of['readings']:,}" for of in sizes])
    row("Read in, readings a second", [f"{of['readings'] / of['ingest_s']:,.0f}" for of in sizes])
    row("Bytes a reading on disk", [f"{of['disk_bytes'] / of['readings']:.1f}" for of in sizes])
    row("Memory of the server, MB", [f"{of['resident_bytes'] / 1e6:.0f}" for of in sizes])
    row("Start of the server, s", [f"{of['start_s']:.2f}" for of in sizes])
    row("First backup, s", [f"{of['backup_s']:.2f}" for of in sizes])
    for what in sizes[0]["costs"]:
        costs = [of["costs"][what] for of in sizes]
        row(f"{what}: bytes", [f"{cost['bytes']:,}" for cost in costs])
        row(f"{what}: ms of a core", [f"{cost['cpu_ms']:.2f}" for cost in costs])
        row(f"{what}: ms, p50 / p99", [f"{cost['p50_ms']:.2f} / {cost['p99_ms']:.2f}" for cost in costs])
    return "\n".join(lines)


def put(document, maker, lines):
    """Puts a table into a document, between the line that names what made it and the next end."""
    before, rest = document.read_text().split(f"<!-- made by {maker} -->\n", 1)
    document.write_text(f"{before}<!-- made by {maker} -->\n{lines}\n<!-- end -->{rest.split('<!-- end -->', 1)[1]}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary", type=lambda path: str(Path(path).resolve()))
    parser.add_argument("--stations", default="1000,5000,20000")
    parser.add_argument("--hours", type=int, default=24, help="hourly reports of each station")
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--build", default="release build", help="what the binary is, for the table")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--write", type=Path)
    given = parser.parse_args()
    sizes = [measure(given.binary, int(stations), given.hours, given.count) for stations in given.stations.split(",")]
    if given.json:
        given.json.write_text(json.dumps(sizes, indent=1, ensure_ascii=False) + "\n")
    load = ", ".join(f"{load:.1f}" for load in os.getloadavg())
    lines = f"{table(sizes)}\n\n{given.build}; {os.cpu_count()} cores, load of the machine at the end {load}."
    print(lines)
    if given.write:
        put(given.write, "tests/scale/slope.py", lines)


if __name__ == "__main__":
    main()
