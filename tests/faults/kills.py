"""SIGKILL at any moment under load: what was acknowledged is there, once, with its value, and the
folder has no fault.

Reports are generated bulletins (METAR), each with a value of its own; a field of a model, a raster
product and an alert are pushed among them.
"""

import csv
import datetime
import io
import json
import random
import threading
import time

from answers import PRODUCTS
from process import DATA, Server, key_hash, run

# Airports with a location in the bundled table of stations.
AIRPORTS = ["CYYZ", "CYVR", "CYUL", "CYQB", "CYYC", "CYXE", "CYWG", "CYHZ"]
LONGITUDES = [-79.6, -123.2, -73.7, -71.4, -114.0, -106.7, -97.2, -63.5]

# Between two full checks only the latest reports are checked.
FULL_CHECK = 20
BACK = 500

FIRST = datetime.datetime(2024, 8, 1, tzinfo=datetime.timezone.utc)

# Reports of a push, a minute apart.
REPORTS = 5

OTHERS = ["grib/nam211_20180917T00Z_f000.grib2.gz", "grib/nam211_prmsl_simple.grib2.gz",
          "capcp/1_T_ONCN00_C_LAND_202608122307_2696623964.en.cap.gz"]


def temperature(place, number):
    """Returns the temperature of a report, so that each value identifies its report."""
    return (number * 7 + place * 3) % 60 - 20


def metar(place, number):
    time_of = FIRST + datetime.timedelta(minutes=number)
    degrees = temperature(place, number)
    shown = f"M{-degrees:02}" if degrees < 0 else f"{degrees:02}"
    return f"METAR {AIRPORTS[place]} {time_of:%d%H%M}Z 24012KT 15SM {shown}/M30 A2991="


class Pusher(threading.Thread):
    """Pushes the reports of one airport, starting at a number, until the server is gone."""

    def __init__(self, server, place, first):
        super().__init__(daemon=True)
        self.server, self.place, self.next = server, place, first
        self.acknowledged = first
        self.refused = None

    def run(self):
        try:
            while True:
                numbers = range(self.next, self.next + REPORTS)
                received = FIRST + datetime.timedelta(minutes=numbers[-1] + 1)
                lines = [metar(self.place, number) for number in numbers]
                body = f"SACN4{self.place} CWAO {received:%d%H%M}\n" + "\n".join(lines) + "\n"
                self.next += REPORTS
                status, _, answer = self.server.push(
                    "sa.txt", body, received=f"{received:%Y-%m-%dT%H:%M:%SZ}")
                if status != 200:
                    self.refused = (status, answer)
                    return
                self.acknowledged = self.next
        except OSError:
            pass
        except Exception as error:  # noqa: BLE001: a broken answer of a killed server
            if self.server.is_running():
                self.refused = repr(error)


def push_others(server, done):
    """Pushes a model run, a raster product and an alert, repeatedly."""
    queries = [{"model": "nam211"}, {}, {}]
    try:
        while True:
            for file, query in zip(OTHERS, queries):
                path = DATA / file
                status, _, _ = server.push(path.name, path.read_bytes(), **query)
                if status == 200:
                    done.add(file)
    except Exception:  # noqa: BLE001: the server was killed
        pass


def check(work, report, kills, seed):
    """Kills a server `kills` times on one folder."""
    folder, chance = work / "data", random.Random(seed)
    products = work / "products.toml"
    products.write_text(PRODUCTS)
    serve = ["--now", "live", "--assume-plan", "commercial", "--seal-readings", 400,
             "--ingest-key-hashes", key_hash(), "--products", products]
    pushed = {place: 0 for place in range(len(AIRPORTS))}
    acknowledged, others = dict(pushed), set()
    for kill in range(kills + 1):
        wrong = []
        with Server(folder, *serve) as server:
            if any("fault" in line or "panicked" in line for line in server.log):
                wrong.append("".join(server.log))
            full = kill % FULL_CHECK == 0 or kill == kills
            wrong += check_answers(server, acknowledged, pushed, others,
                                   back=sum(pushed.values()) if full else BACK)
            if kill < kills:
                # Reports that were not acknowledged are sent again.
                pushers = [Pusher(server, place, acknowledged[place]) for place in pushed]
                beside = threading.Thread(target=push_others, args=(server, others), daemon=True)
                for thread in [*pushers, beside]:
                    thread.start()
                time.sleep(chance.uniform(0.02, 0.6))
                server.kill()
                for thread in [*pushers, beside]:
                    thread.join()
                for pusher in pushers:
                    acknowledged[pusher.place] = pusher.acknowledged
                    pushed[pusher.place] = max(pushed[pusher.place], pusher.next)
                    if pusher.refused:
                        wrong.append(f"a push was refused: {pusher.refused}")
        report.trial("SIGKILL under load", kill, (
            f"{sum(acknowledged.values())} reports acknowledged", "whole", wrong))
    code, out, error = run("verify", "--data", folder)
    report.trial("SIGKILL under load", "verify", (
        "verify at the end", "whole", [] if code == 0 else [out + error]))
    report.note(f"{kills} kills, {sum(acknowledged.values())} acknowledged reports of "
                f"{sum(pushed.values())} that were sent")


def check_answers(server, acknowledged, pushed, others, back):
    """Returns what is wrong with the pushed reports that the server has, from `back` numbers
    before the last one."""
    wrong = []
    _, _, body = server.ask("/api/v1/stations/map/markers")
    for feature in json.loads(body)["features"]:
        place = nearest(feature["geometry"]["coordinates"])
        first = max(0, pushed[place] - back)
        start = FIRST + datetime.timedelta(minutes=first)
        status, headers, body = server.ask(
            f"/api/v1/historical/bulk?start={start:%Y-%m-%dT%H:%M:%SZ}&end=2030-01-01T00:00:00Z",
            {"stationId": feature["id"],
             "requests": [{"name": "airTemperature", "calculated": False}]})
        name = AIRPORTS[place]
        if status != 200 or "x-mesonet-damaged" in headers or headers["x-has-more"] != "False":
            wrong.append(f"{name}: {status} {headers}")
            continue
        rows = list(csv.reader(io.StringIO(body.decode())))[1:]
        values = {row[5][:16]: float(row[6]) for row in rows}
        if len(values) != len(rows):
            wrong.append(f"{name}: readings appear twice")
        for number in range(first, pushed[place]):
            key = f"{FIRST + datetime.timedelta(minutes=number):%Y-%m-%dT%H:%M}"
            value = values.pop(key, None)
            if value is None and number < acknowledged[place]:
                wrong.append(f"{name}: report {number} was acknowledged and is missing")
                break
            if value is not None and value != temperature(place, number):
                wrong.append(f"{name}: report {number} has {value}")
                break
        if values:
            wrong.append(f"{name}: {len(values)} readings were never pushed")
    if OTHERS[0] in others:
        status, _, body = server.ask("/models/nam211/point?run=20180917T000000Z&hour=0&row=1&col=1"
                                     "&fields=pressure_msl")
        if status != 200:
            wrong.append(f"a model run was acknowledged; now {status} {body}")
    if OTHERS[1] in others:
        status, _, _ = server.ask("/api/v1/products/pressure?timestamp=2018-09-17T00:00:00Z")
        if status != 200:
            wrong.append(f"a raster product was acknowledged; now {status}")
    if OTHERS[2] in others:
        _, _, body = server.ask("/api/v1/alerts")
        if b"2696623964" not in body:
            wrong.append("an alert was acknowledged and is missing")
    return wrong


def nearest(coordinates):
    """Returns the airport with the nearest longitude: they are far apart."""
    return min(range(len(LONGITUDES)), key=lambda place: abs(LONGITUDES[place] - coordinates[0]))
