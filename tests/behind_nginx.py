"""Asks a server behind nginx: tests/behind_nginx.py TLS_PORT CERTIFICATE SERVER_PORT.

The server allows 20 requests of an address, without waiting, and trusts 127.0.0.1. All of 127.0.0.0/8 is this
machine, so a caller chooses its address.
"""

import gzip
import json
import socket
import ssl
import sys
from http.client import HTTPConnection, HTTPSConnection

TLS_PORT, CERTIFICATE, SERVER_PORT = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
UNITS = "/api/v1/observations/units"


class From(HTTPSConnection):
    """A connection to nginx from an address of this machine."""

    def __init__(self, address):
        context = ssl.create_default_context(cafile=CERTIFICATE)
        super().__init__("example.org", TLS_PORT, timeout=60, context=context)
        self.address = address

    def connect(self):
        plain = socket.create_connection(
            ("127.0.0.1", TLS_PORT), timeout=60, source_address=(self.address, 0)
        )
        self.sock = self._context.wrap_socket(plain, server_hostname=self.host)


def ask(connection, path, headers=()):
    connection.request("GET", path, headers=dict(headers))
    answer = connection.getresponse()
    return answer.status, answer.headers, answer.read()


# TLS ends at nginx, which tells browsers to use TLS from then on. The certificate is checked.
one = From("127.0.0.2")
status, headers, plain = ask(one, UNITS)
assert status == 200 and json.loads(plain)["airTemperature"] == "°C", (status, plain)
assert headers["strict-transport-security"] == "max-age=31536000", headers
assert headers["x-content-type-options"] == "nosniff", headers

# Tags and encodings pass unchanged: nginx makes no tag weak and encodes nothing itself.
tags = set()
for encoding in ("gzip", "br", "identity"):
    status, headers, body = ask(one, UNITS, {"accept-encoding": encoding})
    assert (status, headers.get("content-encoding", "identity")) == (200, encoding), headers
    assert headers["vary"] == "accept-encoding", headers
    tag = headers["etag"]
    assert tag.startswith('"'), tag
    tags.add(tag)
    if encoding == "gzip":
        assert gzip.decompress(body) == plain
    known = {"accept-encoding": encoding, "if-none-match": tag}
    status, headers, body = ask(one, UNITS, known)
    assert (status, body, headers["etag"]) == (304, b"", tag), (status, headers)
assert len(tags) == 3, tags

# A large answer in pieces is whole.
grid = "/api/v1/stations/readings?start=2024-08-03T18:00:00Z&end=2024-08-03T21:00:00Z&step=10"
status, headers, body = ask(one, grid, {"accept-encoding": "gzip"})
assert status == 200 and len(json.loads(gzip.decompress(body))["stations"]) > 100
one.close()


def count(address, requests, headers=()):
    """How many of a caller's requests are answered, and how many refused."""
    connection = From(address)
    statuses = [ask(connection, UNITS, headers)[0] for _ in range(requests)]
    connection.close()
    return statuses.count(200), statuses.count(429)


# Behind the proxy each caller has its own rate, whatever headers it sends.
assert count("127.0.0.3", 25) == (20, 5)
assert count("127.0.0.4", 1) == (1, 0)
lie = {"x-forwarded-for": "192.0.2.7"}
assert count("127.0.0.3", 2, lie) == (0, 2)
assert count("127.0.0.5", 25, lie) == (20, 5)
assert count("127.0.0.6", 1, lie) == (1, 0)

# The server does not trust headers of a caller that bypasses the proxy.
direct = HTTPConnection("127.0.0.1", SERVER_PORT, timeout=60, source_address=("127.0.0.3", 0))
statuses = {ask(direct, UNITS, {"x-forwarded-for": "192.0.2.8"})[0] for _ in range(3)}
assert statuses == {429}, statuses
