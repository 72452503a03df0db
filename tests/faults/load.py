"""Real load, and what it leaves behind: memory and threads are given back."""

import contextlib
import http.client
import json
import pathlib
import re
import threading
import time

from answers import QUESTIONS, WINDOW, make_folder
from damage import SERVE
from process import Server

CLIENTS = 48
LOAD_S = 5

# How long the server has to give back the memory and threads, and how much may remain.
WITHIN_S = 30
MAX_THREADS = 16
MAX_RSS_RATIO = 1.3


def resident(server):
    """(bytes of memory in use, number of threads)."""
    status = pathlib.Path(f"/proc/{server.child.pid}/status").read_text()
    return (int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) * 1024,
            int(re.search(r"Threads:\s+(\d+)", status)[1]))


def client(port, requests, number, ended, answered):
    """Sends requests one after the other on one connection, until told to stop."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    while not ended.is_set():
        for method, path, body in requests[number % len(requests):] + requests:
            if ended.is_set():
                break
            with contextlib.suppress(OSError, http.client.HTTPException):
                connection.request(method, path, body, {"content-type": "application/json"} if body else {})
                answer = connection.getresponse()
                answer.read()
                answered[answer.status] = answered.get(answer.status, 0) + 1
                continue
            connection.close()
    connection.close()


def check(work, report):
    make_folder(work / "data")
    with Server(work / "data", *SERVE, "--products", work / "products.toml") as server:
        stations = [feature["id"] for feature in
                    json.loads(server.ask("/api/v1/stations/map/markers")[2])["features"]]
        requests = [("GET", path, None) for path in QUESTIONS]
        requests += [("POST", f"/api/v1/historical/bulk?{WINDOW}", json.dumps({"stationId": station}))
                     for station in stations]
        requests += [("GET", "/api/v1/stations/map/details", None),
                     ("POST", f"/api/v1/observations/series?{WINDOW}",
                      json.dumps({"stations": stations, "names": ["airTemperature", "windSpeed"]}))]
        # Each request once, so that everything made at the first request exists before the
        # measurement.
        for method, path, body in requests:
            server.ask(path, body if method == "POST" else None,
                       {"content-type": "application/json"} if body else {})
        time.sleep(2)
        before, threads_before = resident(server)
        ended, answered = threading.Event(), {}
        clients = [threading.Thread(target=client, args=(server.port, requests, number, ended, answered))
                   for number in range(CLIENTS)]
        for one in clients:
            one.start()
        peak, most_threads, until = 0, 0, time.monotonic() + LOAD_S
        while time.monotonic() < until:
            now, threads = resident(server)
            peak, most_threads = max(peak, now), max(most_threads, threads)
            time.sleep(0.05)
        ended.set()
        for one in clients:
            one.join()
        deadline = time.monotonic() + WITHIN_S
        after, threads = resident(server)
        while (threads > MAX_THREADS or after > MAX_RSS_RATIO * before) and time.monotonic() < deadline:
            time.sleep(0.5)
            after, threads = resident(server)
        wrong = []
        if answered.get(200, 0) < 100:
            wrong.append(f"this was no load: {answered}")
        if threads > MAX_THREADS:
            wrong.append(f"{threads} threads stay; allowed: {MAX_THREADS}")
        if after > MAX_RSS_RATIO * before:
            wrong.append(f"{after >> 20} MB stay, before {before >> 20} MB; allowed: {MAX_RSS_RATIO} times as much")
        if not server.is_running():
            wrong.append("it ended")
        report.trial("load", f"{CLIENTS} clients", (f"{LOAD_S} s of mixed requests", "memory and threads back", wrong))
        report.note(f"load: {sum(answered.values())} answers; {before >> 20} MB and {threads_before} threads before, "
                    f"{peak >> 20} MB and {most_threads} at most, {after >> 20} MB and {threads} after")
