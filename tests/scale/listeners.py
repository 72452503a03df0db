"""How long after a push thousands of listeners have its event, and how much memory each takes.

    tests/scale/listeners.py SERVER [LISTENERS] [PUSHES]

SERVER is the binary. The listeners are sockets of this process, which takes one core of the machine,
so the times include its own: each event is stamped when its bytes have been received.
"""

import hashlib
import resource
import select
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

KEY = "mesonet_push_of_a_test"
PAUSE_S = 1.0


def rss_bytes(pid):
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise ValueError("no VmRSS")


def start(binary, folder, listeners):
    command = [binary, "--listen", "127.0.0.1:0", "--data", folder, "--now", "live", "--rate-requests", "0"]
    command += ["--max-connections", str(listeners + 200), "--max-address-connections", str(listeners + 200)]
    command += ["--live-listeners", str(listeners), "--live-address-listeners", str(listeners)]
    command += ["--log-requests", "false", "--assume-plan", "commercial"]
    command += ["--ingest-key-hashes", hashlib.sha256(KEY.encode()).hexdigest()]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    for line in server.stderr:
        if "listening on http://" in line:
            address = line.split("http://")[1].strip()
            # The rest is read, so that the server does not wait for it.
            threading.Thread(target=server.stderr.read, daemon=True).start()
            host, port = address.rsplit(":", 1)
            return server, (host, int(port))
    raise SystemExit("the server ended")


def push(address, minute):
    report = f"METAR CYYZ 03{minute // 60:02}{minute % 60:02}Z 24012KT 15SM {minute % 30:02}/M01 A2991=\n"
    url = f"http://{address[0]}:{address[1]}/api/v1/ingest?name=sa_20240803.txt"
    request = urllib.request.Request(url, report.encode(), {"Authorization": f"Bearer {KEY}"})
    began = time.perf_counter()
    with urllib.request.urlopen(request, timeout=60) as answer:
        answer.read()
    return began, time.perf_counter()


def listen(address, count):
    """Connects listeners, and waits for the first event of each."""
    poll, sockets = select.epoll(), {}
    for _ in range(count):
        stream = socket.create_connection(address)
        stream.sendall(b"GET /api/v1/live?topics=readings&names=airTemperature HTTP/1.0\r\nhost: test\r\n\r\n")
        stream.setblocking(False)
        sockets[stream.fileno()] = stream
        poll.register(stream, select.EPOLLIN)
    waiting = set(sockets)
    while waiting:
        for fd, _ in poll.poll(60):
            if b"event: position" in sockets[fd].recv(65536):
                waiting.discard(fd)
    return poll, sockets


def received(poll, sockets, seconds):
    """The times at which each listener has received its event."""
    times, until = [], time.perf_counter() + seconds
    recv = {fd: stream.recv for fd, stream in sockets.items()}
    while len(times) < len(sockets) and (left := until - time.perf_counter()) > 0:
        for fd, _ in poll.poll(left, 512):
            piece = recv[fd](65536)
            if not piece:
                raise SystemExit("a stream ended")
            # Else it is a heartbeat.
            if b"event: readings" in piece:
                times.append(time.perf_counter())
    return times


def main():
    binary = sys.argv[1]
    given = [int(text) for text in sys.argv[2:]]
    listeners, pushes = given + [5000, 20][len(given) :]
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with tempfile.TemporaryDirectory() as folder:
        server, address = start(binary, folder, listeners)
        try:
            push(address, 0)
            time.sleep(2)
            before = rss_bytes(server.pid)
            poll, sockets = listen(address, listeners)
            each = (rss_bytes(server.pid) - before) / listeners
            latencies, since_answer = [], []
            for minute in range(1, pushes + 1):
                moments = []
                thread = threading.Thread(target=lambda at=minute: moments.append(push(address, at)))
                thread.start()
                times = received(poll, sockets, 30)
                thread.join()
                assert len(times) == listeners, f"{len(times)} of {listeners} got it"
                began, answered = moments[0]
                latencies += [1000 * (at - began) for at in times]
                since_answer += [1000 * (at - answered) for at in times]
                time.sleep(PAUSE_S)
            after = (rss_bytes(server.pid) - before) / listeners
        finally:
            server.terminate()
            server.wait()
    for what, of in (("push to event", latencies), ("answer of the push to event", since_answer)):
        cuts = statistics.quantiles(of, n=100)
        print(f"{what}: p50 {cuts[49]:.0f} ms, p99 {cuts[98]:.0f} ms, most {max(of):.0f} ms")
    print(f"{listeners} listeners, {pushes} pushes; memory of each: {each:.0f} bytes, after the pushes {after:.0f}")


if __name__ == "__main__":
    main()
