"""The answers from a data folder, and whether a damaged one still gives nothing but true answers.

A damaged folder may refuse to start and say why, answer 503, or leave readings out and say so in
`X-Mesonet-Damaged`. It may never answer a value that was not stored, nor silently leave anything
out.
"""

import csv
import io
import json
import time

from process import DATA, Server, key_hash, run

WINDOW = "start=1990-01-01T00:00:00Z&end=2040-01-01T00:00:00Z"

NAM = "run=20180917T000000Z"
COLUMN = "fields=u_wind,v_wind,geopotential_height,pressure_msl,wind_gust"

# Requests besides those about each station.
QUESTIONS = [
    "/api/v1/stations/map/markers",
    "/api/v1/alerts",
    "/api/v1/products/pressure?timestamp=2018-09-17T00:00:00Z",
    f"/models/nam211/point?{NAM}&hour=0&row=30&col=40&{COLUMN}",
    f"/models/nam211/point?{NAM}&hour=0&row=64&col=92&{COLUMN}",
    f"/models/nam211/point?{NAM}&hour=0&row=0&col=0&{COLUMN}",
    f"/models/nam211/series?{NAM}&row=10&col=10&fields=pressure_msl,wind_gust",
    f"/models/nam211/products/pressure_msl/data/3/1/2?{NAM}&hour=0",
    f"/models/nam211/grid?{NAM}",
]

# A pressure field of the same run as a raster product: smaller than a radar field.
PRODUCTS = """
[pressure]
title = "Pressure reduced to mean sea level"
unit = "Pa"
scale = 10.0
overviews = "nearest"
fields = [{ parameter = "7:0.3.1" }]
"""


def make_folder(folder, seal_readings=5_000):
    """A small folder with a bit of everything: sealed readings of a real buoy and real airports,
    some in the journal, alerts, a raster product, a run of a model; left behind by a server that
    was killed, so that the logs of the databases are there too."""
    files = ["ndbc/realtime2_44013.txt.gz", "ndbc/realtime2_BDVF1.rain.gz",
             "iem_asos/asos_MSP.txt.gz"]
    run("ingest", "--data", folder, *[DATA / file for file in files], ok=True)
    with Server(folder, "--now", "live", "--seal-readings", seal_readings) as server:
        deadline = time.monotonic() + 120
        while not any((folder / "segments").glob("*.arrow")):
            assert time.monotonic() < deadline, "nothing was sealed"
            time.sleep(0.2)
        server.stop()
    products = folder.parent / "products.toml"
    products.write_text(PRODUCTS)
    run("ingest", "--data", folder, "--product", "pressure", "--products", products,
        DATA / "grib/nam211_prmsl_simple.grib2.gz", ok=True)
    run("ingest", "--data", folder, "--model", "nam211",
        DATA / "grib/nam211_20180917T00Z_f000.grib2.gz", ok=True)
    pushed = ["iem_asos/asos_ORD.txt.gz",
              "capcp/1_T_ONCN00_C_LAND_202608122307_2696623964.en.cap.gz",
              "nws_cap/rs_cap_utah.cap.gz"]
    with Server(folder, "--now", "live", "--ingest-key-hashes", key_hash()) as server:
        for file in pushed:
            path = DATA / file
            status, _, body = server.push(path.name, path.read_bytes())
            assert status == 200, (status, body)
        server.kill()


def rows_of(server, station, extra=()):
    """Returns all rows of a station in the bulk export, and how many blocks it says are damaged."""
    rows, damaged, cursor = [], 0, ""
    while True:
        path = f"/api/v1/historical/bulk?{WINDOW}{cursor}"
        status, headers, body = server.ask(path, {"stationId": station, **dict(extra)})
        if status != 200:
            return status, None, 0
        damaged = max(damaged, int(headers.get("x-mesonet-damaged", 0)))
        page = list(csv.reader(io.StringIO(body.decode())))[1:]
        rows += [tuple(row) for row in page]
        if headers.get("x-has-more") != "True":
            return 200, rows, damaged
        cursor = f"&cursor={headers['x-next-cursor']}"


def answers(server):
    """Returns all answers of a server: the rows of each station, and the answer to each request."""
    status, _, body = server.ask("/api/v1/stations/map/markers")
    stations = [feature["id"] for feature in json.loads(body)["features"]] if status == 200 else []
    found = {"stations": {station: rows_of(server, station) for station in sorted(stations)},
             "questions": {}}
    for question in QUESTIONS:
        status, headers, body = server.ask(question)
        found["questions"][question] = (status, int(headers.get("x-mesonet-damaged", 0)), body)
    return found


def lies(whole, found, may_lack=False):
    """Returns what is wrong with the answers of a damaged folder: one line for each that is false,
    or, unless something may be missing by now, silently incomplete."""
    wrong = []
    for station, (_, rows, _) in whole["stations"].items():
        if station not in found["stations"]:
            # A station whose description is lost is named by `verify`; the caller looks there.
            continue
        status, left, damaged = found["stations"][station]
        if status != 200:
            if status not in (404, 503):
                wrong.append(f"bulk export of {station}: status {status}")
            continue
        invented = set(left) - set(rows)
        if invented:
            wrong.append(f"bulk export of {station}: {len(invented)} rows that were never stored, "
                         f"such as {min(invented)}")
        if len(left) != len(set(left)):
            wrong.append(f"bulk export of {station}: rows appear twice")
        if len(left) < len(rows) and not damaged and not may_lack:
            wrong.append(f"bulk export of {station}: {len(left)} of {len(rows)} rows and no "
                         "X-Mesonet-Damaged")
    for question, (status, _, body) in whole["questions"].items():
        got, _, other = found["questions"][question]
        if (got, other) == (status, body) or got in (404, 503):
            continue
        if got != 200:
            wrong.append(f"{question}: status {got}: {other[:120]!r}")
        elif "/alerts" in question or "/markers" in question:
            features = {json.dumps(one) for one in json.loads(body)["features"]}
            invented = [one["id"] for one in json.loads(other)["features"]
                        if json.dumps(one) not in features]
            if invented:
                wrong.append(f"{question}: features that were never stored: {invented}")
        else:
            wrong.append(f"{question}: a different answer than before, with status 200")
    return wrong


def is_partial(whole, found):
    """Returns whether anything is missing from the answers."""
    same = all(found["stations"].get(station, (0, None))[1] == rows
               for station, (_, rows, _) in whole["stations"].items())
    return not (same and all(found["questions"][question][::2] == (status, body)
                             for question, (status, _, body) in whole["questions"].items()))
