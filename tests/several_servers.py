"""A server, two followers and nginx in front of them: tests/several_servers.py BINARY.

The site is deploy/nginx-followers.conf, but for addresses and the certificate. All of 127.0.0.0/8 is this machine,
so a caller chooses its address, and with it the follower that nginx takes it to. Prints a line for each check and
a sum at the end.
"""

import contextlib
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from http.client import HTTPConnection, HTTPSConnection
from pathlib import Path

BINARY = Path(sys.argv[1]).resolve()
ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "tests/data"
PATIENCE_S = 300
NOW = "2024-08-03T17:45:00Z"
TORONTO = "700f7e18-e84e-51b2-90bd-f054766d1ec5"
DAY = "start=2024-08-03T00:00:00Z&end=2024-08-04T00:00:00Z"
BULK = f"/api/v1/historical/bulk?{DAY}&pageSize=10"
STATION = json.dumps({"stationId": TORONTO})
PUSH = "/api/v1/ingest?name=sa_20240803.txt"

# Becomes the named server, with a listening socket that exists whether the server runs or not, as
# with a service manager.
WITH_SOCKET = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.set_inheritable(3, True)
os.environ.update(LISTEN_FDS='1', LISTEN_PID=str(os.getpid()))
os.execv(sys.argv[2], sys.argv[2:])
"""


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


def wait_until(what, is_so, patience_s=PATIENCE_S):
    """Waits until a condition holds, and returns how long that took, seconds."""
    began = time.monotonic()
    while not is_so():
        assert time.monotonic() - began < patience_s, what
        time.sleep(0.05)
    return time.monotonic() - began


class Server:
    """A server with its own folder, which can be stopped and started again at the same address."""

    def __init__(self, work, name, *args, held=False):
        self.work, self.name = work, name
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=512) if held else None
        self.port = self.socket.getsockname()[1] if held else free_port()
        self.args, self.process, self.starts = list(args), None, 0

    def start(self, *more):
        self.starts += 1
        self.log = self.work / f"{self.name}-{self.starts}.log"
        own = ["--data", self.name, "--listen", f"127.0.0.1:{self.port}", "--trusted-proxies", "127.0.0.1"]
        own += ["--max-address-connections", "4096", *self.args, *more]
        command, fds = [str(BINARY), *own], ()
        if self.socket:
            number = self.socket.fileno()
            command, fds = [sys.executable, "-c", WITH_SOCKET, str(number), *command], (number,)
        with self.log.open("w") as log:
            self.process = subprocess.Popen(command, cwd=self.work, stderr=log, pass_fds=fds, env={})
        wait_until(f"{self.name} listens", self.listens)
        return self

    def listens(self):
        assert self.process.poll() is None, self.log_text()
        return "listening on http" in self.log_text()

    def log_text(self):
        return self.log.read_text()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(PATIENCE_S) == 0, self.log_text()

    def ask(self, method, path, body=None, headers=()):
        return ask(HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S), method, path, body, headers)

    def ready(self):
        return json.loads(self.ask("GET", "/readyz")[2])


def ask(connection, method, path, body=None, headers=()):
    headers = dict(headers)
    if body is not None and path.split("?")[0].endswith(("series", "bulk")):
        headers["content-type"] = "application/json"
    connection.request(method, path, body=body, headers=headers)
    answer = connection.getresponse()
    return answer.status, answer.headers, answer.read()


class Caller(HTTPSConnection):
    """A connection to nginx from an address of this machine."""

    def __init__(self, balancer, address):
        context = ssl.create_default_context(cafile=balancer.folder / "cert.pem")
        super().__init__("example.org", balancer.port, timeout=PATIENCE_S, context=context)
        self.address = address

    def connect(self):
        plain = socket.create_connection(
            ("127.0.0.1", self.port), timeout=PATIENCE_S, source_address=(self.address, 0)
        )
        self.sock = self._context.wrap_socket(plain, server_hostname=self.host)


class Balancer:
    """nginx with the shipped site, in a folder of its own."""

    def __init__(self, work, writer, followers):
        self.folder, self.port = work / "nginx", free_port()
        self.folder.mkdir()
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
             "-days", "2", "-subj", "/CN=example.org", "-addext", "subjectAltName=DNS:example.org",
             "-keyout", "key.pem", "-out", "cert.pem"],
            cwd=self.folder, check=True, capture_output=True,
        )
        site = (ROOT / "deploy/nginx-followers.conf").read_text()
        exchanged = {
            "listen 443 ssl;": f"listen 127.0.0.1:{self.port} ssl;",
            "    listen [::]:443 ssl;\n": "",
            "10.0.0.10:8080": f"127.0.0.1:{writer.port}",
            "10.0.0.11:8080": f"127.0.0.1:{followers[0].port}",
            "10.0.0.12:8080": f"127.0.0.1:{followers[1].port}",
            "/etc/letsencrypt/live/example.org/fullchain.pem": f"{self.folder}/cert.pem",
            "/etc/letsencrypt/live/example.org/privkey.pem": f"{self.folder}/key.pem",
        }
        for old, new in exchanged.items():
            assert old in site, old
            site = site.replace(old, new)
        (self.folder / "site.conf").write_text(site)
        temporary = "".join(
            f"{kind}_temp_path {self.folder}/{kind};\n"
            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        (self.folder / "nginx.conf").write_text(
            f"daemon off; pid {self.folder}/pid; error_log stderr; events {{}}\n"
            f"http {{\nlog_format servers '$request_method $uri $status $upstream_addr';\n"
            f"access_log {self.folder}/access servers;\n{temporary}include {self.folder}/site.conf;\n}}\n"
        )
        command = ["nginx", "-e", "stderr", "-p", str(self.folder), "-c", str(self.folder / "nginx.conf")]
        checked = subprocess.run([*command, "-t"], capture_output=True, text=True)
        assert checked.returncode == 0 and "[warn]" not in checked.stderr, checked.stderr
        ok("nginx accepts the site")
        with (self.folder / "log").open("w") as log:
            self.process = subprocess.Popen(command, stderr=log)
        wait_until("nginx listens", self.listens)

    def listens(self):
        assert self.process.poll() is None, (self.folder / "log").read_text()
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port)):
            return True
        return False

    def served(self):
        """For each request: method, path, status, and the servers that it was sent to. The last one answered."""
        lines = (self.folder / "access").read_text().splitlines()
        return [(*line.split(" ", 3)[:3], re.findall(r":(\d+)", line.split(" ", 3)[3])) for line in lines]

    def caller_of(self, port):
        """An address whose requests nginx sends to the follower at a port."""
        for last in range(2, 200):
            caller = Caller(self, f"127.0.1.{last}")
            before = len(self.served())
            assert ask(caller, "GET", "/healthz")[0] == 200
            caller.close()
            wait_until("nginx logs", lambda: len(self.served()) > before)
            if self.served()[-1][3] == [str(port)]:
                return caller.address
        raise AssertionError(f"no address leads to {port}")


PASSED = 0


def ok(what):
    global PASSED
    PASSED += 1
    print(f"ok: {what}", flush=True)


def run(work, *args):
    done = subprocess.run([str(BINARY), *args], cwd=work, capture_output=True, text=True, env={})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def backup(work):
    run(work, "backup", "--to", "place", "--data", "writer")


def make_record(work):
    """Readings, alerts, a product and a model run."""
    own = '[pressure]\ntitle = "Pressure"\nunit = "Pa"\nscale = 1\noffset = 100000\n'
    (work / "own.toml").write_text(own + 'fields = [{ parameter = "7:0.3.1" }]\n')
    readings = DATA / "metar/liveairdata_metars_20240803T1732Z.csv.gz"
    alerts = DATA / "nws_alerts/alerts_active_2026-05-14T163524Z.geojson.gz"
    field = DATA / "grib/nam211_20180917T00Z_f000.grib2.gz"
    run(work, "ingest", "--data", "writer", str(readings), str(alerts))
    run(work, "ingest", "--data", "writer", "--product", "pressure", "--products", "own.toml", str(field))
    run(work, "ingest", "--data", "writer", "--model", "nam211", str(field))


def answers(server):
    """Status, tag, cursor and body of answers of every kind."""
    grid = f"names=airTemperature&minLat=40&minLon=-90&maxLat=50&maxLon=-70&{DAY}&step=60"
    series = json.dumps({"stationId": TORONTO, "name": "airTemperature"})
    asked = [
        ("GET", "/api/v1/stations/map/markers", None),
        ("GET", "/api/v1/stations/map/details", None),
        ("GET", f"/api/v1/stations/{TORONTO}", None),
        ("GET", f"/api/v1/stations/readings?{grid}", None),
        ("POST", f"/api/v1/observations/series?{DAY}", series),
        ("POST", BULK, STATION),
        ("GET", "/api/v1/alerts", None),
        ("GET", "/api/v1/products/pressure", None),
        ("GET", "/models/nam211/products/pressure_msl/data/0/0/0?run=20180917T000000Z&hour=0", None),
    ]
    told = {}
    for method, path, body in asked:
        status, headers, content = server.ask(method, path, body)
        assert status == 200 and len(content) > 20, (path, status, content[:300])
        told[method, path] = (headers.get("etag"), headers.get("x-next-cursor"), content)
    return told


def pages(first, *asks):
    """The rows of an export from a cursor on. The pages are requested from the servers in turn."""
    rows, cursor, turn = [], first, 0
    while True:
        status, headers, body = asks[turn % len(asks)]("POST", BULK + (f"&cursor={cursor}" if cursor else ""), STATION)
        assert status == 200, (status, body)
        rows += body.decode().splitlines()[1:]
        cursor, turn = headers.get("x-next-cursor"), turn + 1
        if headers["x-has-more"] == "False":
            return rows


def test_answers(writer, followers, balancer):
    one, other = followers
    # The clocks of replays run, and the shown verdicts age with them.
    wait_until("both followers give the same answers", lambda: answers(one) == answers(other))
    both = answers(one)
    tagged = [asked for asked in both if both[asked][0]]
    assert len(tagged) >= 5, tagged
    ok(f"{len(both)} kinds of answers are the same of both followers, {len(tagged)} with a tag")
    known = 0
    callers = [Caller(balancer, balancer.caller_of(follower.port)) for follower in followers]
    for method, path in tagged:
        for caller in callers:
            tag = {"if-none-match": both[method, path][0]}
            status, _, body = ask(caller, method, path, headers=tag)
            # The tags of answers that age with the clock may have changed.
            assert (status, body) == (304, b"") or "map" in path and status == 200, (path, status)
            known += status == 304
    assert known >= 2 * len(tagged) - 4, known
    ok("a tag of one follower is known to the other: 304")

    whole = pages(None, writer.ask)
    by_balancer = [lambda *asked, caller=caller: ask(caller, *asked) for caller in callers]
    assert len(whole) > 10
    assert pages(None, *by_balancer) == whole and pages(None, one.ask) == whole
    ok(f"an export of {len(whole)} rows whose pages come from both in turn is that of one server")


def test_where_requests_go(writer, followers, balancer):
    caller = Caller(balancer, "127.0.0.1")
    before = len(balancer.served())
    metar = "METAR CYYZ 031741Z 24012KT 15SM 28/17 A2991=\n"
    status, _, body = ask(caller, "POST", PUSH, metar, {"authorization": f"Bearer {push_key}"})
    assert status == 200, body
    assert ask(caller, "GET", "/api/v1/keys")[0] == 401
    assert ask(caller, "POST", BULK, STATION)[0] == 200
    assert ask(caller, "GET", "/api/v1/alerts")[0] == 200
    wait_until("nginx logs", lambda: len(balancer.served()) == before + 4)
    asked = [servers for *_, servers in balancer.served()[before:]]
    assert asked[:2] == [[str(writer.port)]] * 2, asked
    assert all(servers in [[str(of.port)] for of in followers] for servers in asked[2:]), asked
    ok("pushes and keys go to the server that takes them in, all else to the followers")


def test_one_backup_ahead(work, writer, one, other, balancer):
    """One follower has the next backup, the other one does not. No row is silently lost or repeated."""
    late = "".join(f"METAR CYYZ 03{1700 + minute}Z 24012KT 15SM 28/17 A2991=\n" for minute in range(30, 44))
    assert writer.ask("POST", PUSH, late, {"authorization": f"Bearer {push_key}"})[0] == 200
    of_behind = pages(None, other.ask)
    backup(work)
    wait_until("the first follower has it", lambda: len(pages(None, one.ask)) > len(of_behind))
    of_ahead = pages(None, one.ask)
    assert pages(None, other.ask) == of_behind, "the other one has not"

    # From the follower that is ahead to the one that is behind, which says so.
    status, headers, _ = one.ask("POST", BULK, STATION)
    cursor = f"{BULK}&cursor={headers['x-next-cursor']}"
    status, headers, body = other.ask("POST", cursor, STATION)
    assert (status, headers["retry-after"]) == (503, "5"), (status, body)
    assert b"knows more than this one yet" in body, body
    # nginx tries the other follower, so the caller does not even notice.
    caller = Caller(balancer, balancer.caller_of(other.port))
    status, _, page = ask(caller, "POST", cursor, STATION)
    assert status == 200 and page == one.ask("POST", cursor, STATION)[2], status
    wait_until("nginx logs", lambda: len(balancer.served()[-1][3]) == 2 or balancer.served()[-1][3] == [str(one.port)])

    # From the follower that is behind to the one that is ahead the export goes on, as on one server
    # that takes in readings between pages.
    status, headers, first = other.ask("POST", BULK, STATION)
    rest = pages(headers["x-next-cursor"], one.ask)
    rows = first.decode().splitlines()[1:] + rest
    assert len(rows) == len(set(rows)) and set(of_behind) <= set(rows) <= set(of_ahead)

    # And a cursor of the followed server, which is ahead of all followers.
    _, headers, _ = writer.ask("POST", BULK, STATION)
    status, _, body = one.ask("POST", f"{BULK}&cursor={headers['x-next-cursor']}", STATION)
    assert status == 400 and b"begin again without a cursor" in body, (status, body)
    # But the followed server goes on, wherever a page came from.
    _, headers, _ = one.ask("POST", BULK, STATION)
    assert writer.ask("POST", f"{BULK}&cursor={headers['x-next-cursor']}", STATION)[0] == 200
    ok(f"one backup ahead: all {len(of_ahead)} rows came once each, and the follower that is behind said so")


def test_keys(work, writer, followers):
    """With the next backup all servers know a new key, and with a later one all refuse it."""

    def status(server):
        return server.ask("POST", BULK, STATION, {"authorization": f"Bearer {key}"})[0]

    def all_are(expected):
        return lambda: all(status(server) == expected for server in [writer, *followers])

    key = run(work, "keys", "issue", "--label", "a test", "--data", "writer").strip()
    wait_until("the server itself knows it", lambda: status(writer) == 200)
    assert all(status(server) == 401 for server in followers)
    backup(work)
    issued_s = wait_until("the key is known to all", all_are(200))
    listed = json.loads(run(work, "keys", "list", "--json", "--data", "writer"))
    run(work, "keys", "revoke", listed[-1]["id"], "--data", "writer")
    backup(work)
    revoked_s = wait_until("the key is refused by all", all_are(401))
    ok(f"a key was known to three servers {issued_s:.1f} s after a backup, and refused by them {revoked_s:.1f} s after one")


def test_rates(followers, balancer):
    """Each client address has its rate once, not once on each server."""
    for last in range(10, 18):
        caller = Caller(balancer, f"127.0.2.{last}")
        statuses = [ask(caller, "GET", "/api/v1/observations/units")[0] for _ in range(30)]
        caller.close()
        assert (statuses.count(200), statuses.count(429)) == (20, 10), (last, statuses)
    served = {servers[0] for _, path, _, servers in balancer.served()[-240:] if path.endswith("units")}
    assert served == {str(follower.port) for follower in followers}, served
    ok("the rate of a caller is counted once over two servers")


def test_rolling_restart(servers, balancer):
    """Every server is stopped and started in turn under load; every request is answered."""
    stop, failures, counts = threading.Event(), [], {"read": 0, "push": 0}
    lock = threading.Lock()
    grid = f"/api/v1/stations/readings?names=airTemperature&minLat=43&minLon=-80&maxLat=44&maxLon=-79&{DAY}&step=60"
    reads = [
        ("GET", "/api/v1/stations/map/markers", None),
        ("GET", grid, None),
        ("POST", f"/api/v1/observations/series?{DAY}", json.dumps({"stationId": TORONTO, "name": "airTemperature"})),
        ("POST", BULK, STATION),
    ]
    metar = "METAR CYYZ 031742Z 24012KT 15SM 28/17 A2991=\n"

    def load(number, kind, asked, headers, pause_s):
        caller, sent = Caller(balancer, f"127.0.3.{number}"), 0
        while not stop.is_set():
            method, path, body = asked[sent % len(asked)]
            sent += 1
            try:
                status, _, content = ask(caller, method, path, body, headers)
            except Exception as error:  # noqa: BLE001 - whatever it is, the request has failed
                status, content = 0, repr(error).encode()
                caller.close()
            with lock:
                counts[kind] += 1
                if status != 200:
                    failures.append((time.monotonic() - began, method, path, status, content[:200]))
            time.sleep(pause_s)

    key = {"authorization": f"Bearer {push_key}"}
    began = time.monotonic()
    threads = [threading.Thread(target=load, args=(2 + n, "read", reads[n:] + reads[:n], (), 0.01)) for n in range(4)]
    threads.append(threading.Thread(target=load, args=(9, "push", [("POST", PUSH, metar)], key, 0.1)))
    for thread in threads:
        thread.start()
    for server in servers:
        time.sleep(2)
        server.stop()
        assert "cut off" not in server.log_text(), server.log_text()
        server.start()
        wait_until("it is ready", lambda server=server: server.ready()["ready"])
    time.sleep(2)
    stop.set()
    for thread in threads:
        thread.join()
    assert counts["read"] > 100 and counts["push"] > 20, counts
    assert not failures, (len(failures), counts, failures[:5])
    asked = [servers for *_, servers in balancer.served()]
    again = sum(len(servers) > 1 for servers in asked)
    ok(f"{len(servers)} servers restarted in turn under load: {counts['read']} reads and {counts['push']} pushes, "
       f"0 failed; nginx asked a second server {again} times")


def main():
    global push_key
    made = subprocess.run([str(BINARY), "push-key"], capture_output=True, text=True, check=True).stdout.splitlines()
    push_key, push_hash = made[0].split(": ")[1], made[1].split(": ")[1]
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as ends:
        work = Path(folder)
        make_record(work)
        backup(work)
        own = ["--now", NOW, "--products", "own.toml", "--leave-s", "1"]
        free = ["--assume-plan", "commercial", "--rate-requests", "0"]
        writer = Server(work, "writer", *own, "--ingest-key-hashes", push_hash, held=True)
        follows = [*own, "--follow", "place", "--follow-every-s"]
        one = Server(work, "one", *follows, "1")
        # It looks for backups so rarely that a test can see the difference.
        other = Server(work, "other", *follows, "3600")
        servers = [one, other, writer]

        def end():
            for server in servers:
                if server.process and server.process.poll() is None:
                    server.process.kill()
                    server.process.wait()

        ends.callback(end)
        for server in [writer, one, other]:
            server.start(*free)
        balancer = Balancer(work, writer, [one, other])
        ends.callback(lambda: (balancer.process.terminate(), balancer.process.wait()))

        test_answers(writer, [one, other], balancer)
        test_where_requests_go(writer, [one, other], balancer)
        test_one_backup_ahead(work, writer, one, other, balancer)
        for server in servers:
            server.args += free
        test_rolling_restart(servers, balancer)
        for server in servers:
            server.args = server.args[: -len(free)]
            server.stop()
            if server is other:
                server.args[-1] = "1"
            server.start("--rate-requests", "0")
        test_keys(work, writer, [one, other])
        for server in [one, other]:
            server.stop()
            server.start("--rate-requests", "20", "--rate-waiting", "0", "--rate-span-s", "600")
        time.sleep(2.5)
        test_rates([one, other], balancer)


try:
    main()
except AssertionError as error:
    import traceback

    traceback.print_exc()
    print(f"FAILED: {error}", file=sys.stderr)
    print(f"{PASSED} passed, 1 failed, 0 skipped")
    sys.exit(1)
print(f"{PASSED} passed, 0 failed, 0 skipped")
