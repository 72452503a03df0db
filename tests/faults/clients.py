"""Clients that are silent, slow, or do not read. Small requests are served at the same time."""

import contextlib
import json
import shutil
import socket
import threading
import time

from answers import WINDOW, make_folder
from damage import SERVE
from process import KEY, Server, key_hash

# How many files the server may have open: fewer than the clients of a scenario would take.
FILES = 256

# The addresses of the clients. The polite client has another address.
ADDRESSES = ["127.0.0.2", "127.0.0.3", "127.0.0.4"]
POLITE = "127.0.0.9"

# The deadline, not a measurement, of the slowest answer to a polite client.
PATIENCE_S = 20


def open_all(server, count, send):
    """Connections from several addresses, each with something sent; those that are refused are
    left out."""
    opened = []
    for number in range(count):
        with contextlib.suppress(OSError):
            client = socket.create_connection(("127.0.0.1", server.port), 5,
                                              (ADDRESSES[number % len(ADDRESSES)], 0))
            opened.append(client)
            if send:
                client.sendall(send(number))
    return opened


def silent(server, count):
    """They connect and say nothing."""
    return open_all(server, count, None)


def half_a_head(server, count):
    """They send request headers and do not finish them."""
    return open_all(server, count, lambda _: b"GET / HTTP/1.1\r\nhost: test\r\nx-slow: ")


def half_a_body(server, count):
    """They announce a body and send the beginning of it."""
    return open_all(server, count, lambda _: (
        b"POST /api/v1/observations/series?" + WINDOW.encode() +
        b" HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\n"
        b"content-length: 1000\r\n\r\n{"))


def half_a_push(server, count):
    """They push a file and stop in the middle of it."""
    return open_all(server, count, lambda number: (
        f"POST /api/v1/ingest?name=f{number} HTTP/1.1\r\nhost: test\r\n"
        f"authorization: Bearer {KEY}\r\ncontent-length: 100000\r\n\r\n".encode() +
        b"SACN43 CWAO 032000\n" * 100))


def not_reading(server, count):
    """They request long answers and do not read them."""
    stations = json.loads(server.ask("/api/v1/stations/map/markers")[2])["features"]
    body = json.dumps({"stationId": stations[-1]["id"]}).encode()
    head = (f"POST /api/v1/historical/bulk?{WINDOW} HTTP/1.1\r\nhost: test\r\n"
            f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n")
    return open_all(server, count, lambda _: head.encode() + body)


def pipelining(server, count):
    """They send many requests at once and read nothing."""
    one = b"GET /api/v1/stations/map/details HTTP/1.1\r\nhost: test\r\n\r\n"
    return open_all(server, count, lambda _: one * 200)


KINDS = [silent, half_a_head, half_a_body, half_a_push, not_reading, pipelining]


def reconnecting(kind, server, count, ended):
    """Clients of a kind that come back when they are cut off."""
    opened = []
    while not ended.is_set():
        for client in opened:
            with contextlib.suppress(OSError):
                client.close()
        with contextlib.suppress(OSError, ValueError, KeyError):
            opened = kind(server, count)
        ended.wait(2)
    for client in opened:
        client.close()


def check(work, report, clients):
    make_folder(work / "data")
    for kind in KINDS:
        shutil.rmtree(work / "served", ignore_errors=True)
        shutil.copytree(work / "data", work / "served")
        wrong, longest_s = [], 0
        with Server(work / "served", *SERVE, "--ingest-key-hashes", key_hash(),
                    files=FILES) as server:
            ended = threading.Event()
            thread = threading.Thread(target=reconnecting,
                                      args=(kind, server, clients, ended))
            thread.start()
            time.sleep(1)
            for number in range(50):
                started = time.monotonic()
                try:
                    status, _, _ = server.ask("/api/v1/observations/units", source=POLITE,
                                              timeout_s=PATIENCE_S)
                    if status != 200:
                        wrong.append(f"small request {number}: status {status}")
                except OSError as error:
                    wrong.append(f"small request {number}: {error!r}")
                longest_s = max(longest_s, time.monotonic() - started)
                if len(wrong) > 3:
                    break
                time.sleep(0.05)
            ended.set()
            thread.join()
            if not server.is_running():
                wrong.append("it ended")
            elif server.stop() != 0:
                wrong.append("it did not stop cleanly")
        report.trial("slow clients", kind.__name__, (
            f"{clients} clients: {kind.__doc__}", "served", wrong))
        report.note(f"{kind.__name__}: the slowest of 50 small answers took {longest_s:.3f} s")
