"""The server beside nginx, which sends the very same bytes from files.

Both have one core, and wrk another one if there is one. The server runs on its sample with default settings, but for the
rate: it counts the requests of an address as always, and allows 100,000 in a second. nginx runs as Debian sets it up, with
one worker. Both write a line for each request to a log. The time is that of the processor of the server, or of nginx,
divided by the requests that wrk counts.
"""

import contextlib
import gzip
import json
import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path

from .measure import Case, Skipped, take_other_core

PACKAGES = ()
CONNECTIONS = 32
ROUND_S = 2
PATIENCE_S = 120
SETTLED_S = 4
RATE = ("--rate-requests", "100000", "--rate-span-s", "1")
BOX = "minLat=40&minLon=-90&maxLat=42&maxLon=-88"
DETAILS = "/api/v1/stations/map/details"
GZIP = {"accept-encoding": "gzip"}
NGINX = """
daemon off;
master_process off;
pid nginx.pid;
error_log stderr warn;
events {{ worker_connections 1024; }}
http {{
    access_log access.log;
    sendfile on;
    tcp_nopush on;
    gzip_static on;
    gzip_vary on;
    default_type application/json;
    # As many requests on a connection as the server answers.
    keepalive_requests 1000000000;
    client_body_temp_path temporary;
    proxy_temp_path temporary;
    fastcgi_temp_path temporary;
    uwsgi_temp_path temporary;
    scgi_temp_path temporary;
    server {{ listen 127.0.0.1:{port}; root files; }}
}}
"""


@dataclass(frozen=True)
class Request:
    what: str
    size: str
    path: str
    aim: float | None = None
    aim_us: float | None = None
    headers: dict = field(default_factory=dict)
    is_known: bool = False


def cases():
    missing = [name for name in ("nginx", "wrk") if not program(name)]
    if missing:
        yield Skipped("HTTP", "nginx", f"there is no {' and no '.join(missing)}")
        return
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        server = stack.enter_context(mesonet_server(folder))
        nginx = stack.enter_context(nginx_server(folder))
        for request in requests(server):
            yield case(request, server, nginx)


def requests(server):
    def asked(path):
        return json.loads(server.ask(path)[2])

    box, model = f"/api/v1/stations/readings?{BOX}", "/models/nam211"
    all_of_them, in_box = f"{len(asked(DETAILS)):,} stations", asked(box)["stations"]
    run = asked(f"{model}/runs")["runs"][0]
    point = f"{model}/point?lat=40&lon=-90&run=latest&hour=0&fields=pressure_msl"
    tile = f"{model}/products/{{}}/data/2/0/1?hour=0&level=10&run={run}".format
    return (
        Request("details that the caller knows", all_of_them, DETAILS, aim_us=12, headers=GZIP, is_known=True),
        Request("details, gzip", all_of_them, DETAILS, aim=1, headers=GZIP),
        Request("station", "1 station", f"/api/v1/stations/{min(in_box)}", aim_us=14),
        Request("latest readings of a box", f"{len(in_box)} stations", box, aim_us=30),
        Request("point of a model", "1 field", point, aim_us=20),
        Request("tile of a model, gzip", "65,536 pixels", tile("temperature"), aim_us=300, headers=GZIP),
        # The grid's own directions are turned to east and north.
        Request("tile of a model's wind, gzip", "65,536 pixels", tile("u_wind"), aim_us=500, headers=GZIP),
    )


def case(request, server, nginx):
    """Lays the answer of the server into the folder of nginx, and compares what both send."""
    headers = request.headers
    _, _, body = server.ask(request.path)
    name = re.sub(r"\W+", "_", request.what)
    nginx.lay(name, body, settled(server, request.path) if headers == GZIP else None)
    sides = [(server, request.path), (nginx, f"/{name}")]
    if request.is_known:
        tags = [side.ask(path, headers)[1]["etag"] for side, path in sides]
    sent = [headers | ({"if-none-match": tags[at]} if request.is_known else {}) for at in range(2)]

    def check():
        answers = [side.ask(path, more) for (side, path), more in zip(sides, sent, strict=True)]
        statuses = [answer[0] for answer in answers]
        assert statuses == [304 if request.is_known else 200] * 2, f"statuses {statuses}"
        assert answers[0][2] == answers[1][2], "the bodies differ"
        if request.is_known:
            return "status 304, no body"
        encodings = [answer[1].get("content-encoding") for answer in answers]
        assert encodings == [headers.get("accept-encoding")] * 2, f"encodings {encodings}"
        # The number of bytes changes with the answers; the name of a row must not.
        return f"same {len(answers[0][2]):,} bytes"

    ours, other = (lambda at=at: sides[at][0].load_us(sides[at][1], sent[at]) for at in range(2))
    aims = {"aim": request.aim, "aim_us": request.aim_us}
    return Case(f"GET {request.what}", request.size, "nginx", check, ours, other, **aims)


def settled(server, path):
    """The compressed answer that callers get in the long run: the first ones get a body that was compressed in haste."""
    body, same_s = b"", 0
    while same_s < SETTLED_S:
        before, body = body, server.ask(path, GZIP)[2]
        same_s = same_s + 0.5 if body == before else 0
        time.sleep(0.5)
    return body


# --- the two servers ----------------------------------------------------------------------------


class Server:
    """A process that listens, and its log."""

    def __init__(self, process, port, log):
        self.process, self.port, self.log = process, port, log
        # The clock of the CPU time of another process: clock_getcpuclockid(3).
        self.clock = (~process.pid << 3) | 2

    def ask(self, path, headers=()):
        connection = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        connection.request("GET", path, headers=dict(headers))
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        assert answer.status in (200, 304), f"{path}: {answer.status} {body[:200]}"
        return answer.status, answer.headers, body

    def load_us(self, path, headers):
        """CPU time of a request, microseconds, while wrk sends as many as it can."""
        command = [program("wrk"), "-t1", f"-c{CONNECTIONS}", f"-d{ROUND_S}s"]
        for name, value in headers.items():
            command += ["-H", f"{name}: {value}"]
        begin_ns = time.clock_gettime_ns(self.clock)
        done = subprocess.run(
            [*command, f"http://127.0.0.1:{self.port}{path}"],
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=True,
            preexec_fn=take_other_core,
        )
        spent_ns = time.clock_gettime_ns(self.clock) - begin_ns
        # Its log would fill the disk.
        os.truncate(self.log, 0)
        return spent_ns / 1e3 / answered(done.stdout)

    def lay(self, name, body, packed):
        """Files for nginx: the bytes, and the same ones compressed by the server."""
        files = self.log.parent / "files"
        (files / name).write_bytes(body)
        if packed is not None:
            assert gzip.decompress(packed) == body
            (files / f"{name}.gz").write_bytes(packed)
            # nginx takes the times of both for its tags.
            shutil.copystat(files / name, files / f"{name}.gz")


def answered(output):
    """The number of requests in the output of wrk. Refused and broken ones would be cheaper."""
    for fault in ("Non-2xx or 3xx responses", "Socket errors"):
        assert fault not in output, output
    found = re.search(r"^\s*(\d+) requests in ", output, re.MULTILINE)
    assert found and int(found[1]) > 0, output
    return int(found[1])


@contextlib.contextmanager
def mesonet_server(folder):
    binary = Path(os.environ["MESONET_SERVER_BIN"])
    assert binary.exists(), f"{binary} is not built"
    port = free_port()
    command = [binary, "--data", folder / "record", "--listen", f"127.0.0.1:{port}", *RATE]
    with listening(command, port, folder / "server.log") as server:
        # The runs of the sample are made while the server answers already.
        end = time.monotonic() + PATIENCE_S
        while "nam211" not in json.loads(server.ask("/models/coverage")[2])["models"]:
            assert time.monotonic() < end, server.log.read_text()
            time.sleep(0.1)
        yield server


@contextlib.contextmanager
def nginx_server(folder):
    port, home = free_port(), folder / "nginx"
    (home / "files").mkdir(parents=True)
    (home / "temporary").mkdir()
    (home / "nginx.conf").write_text(NGINX.format(port=port))
    command = [program("nginx"), "-p", f"{home}/", "-c", "nginx.conf", "-e", "stderr"]
    with listening(command, port, home / "access.log") as server:
        yield server


@contextlib.contextmanager
def listening(command, port, log):
    """Starts a process, waits until it listens, and stops it in the end."""
    # For appending: a log is cut off while the process has it open.
    with log.open("ab") as file:
        process = subprocess.Popen(command, stdout=file, stderr=file)
    try:
        end = time.monotonic() + PATIENCE_S
        while not answers(port):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.05)
        yield Server(process, port, log)
    finally:
        process.terminate()
        try:
            process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def answers(port):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


def program(name):
    """Finds a program by name. Debian puts nginx into /usr/sbin, which only root searches."""
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin")
