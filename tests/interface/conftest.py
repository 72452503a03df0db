"""A server on its sample, and its description. The server is the program of `MESONET_SERVER_BIN`."""

import json
import os
from urllib.request import urlopen

import child
import pytest

SERVER = os.environ["MESONET_SERVER_BIN"]


class Service:
    def __init__(self, origin, data):
        self.origin = origin
        self.data = data

    def token(self, *flags):
        """A token of the development issuer, which the server accepts."""
        command = (SERVER, "token", "--expires", "8h", "--data", str(self.data), *flags)
        return child.run(*command).strip().splitlines()[-1]


@pytest.fixture(scope="session")
def service(tmp_path_factory):
    folder = tmp_path_factory.mktemp("interface")
    data = folder / "data"
    push_key = child.run(SERVER, "push-key").splitlines()
    key, key_hash = (line.rsplit(" ", 1)[1] for line in push_key[:2])
    arguments = ("serve", "--listen", "127.0.0.1:0", "--data", str(data))
    limits = ("--rate-requests", "0", "--ingest-key-hashes", key_hash)
    with child.serving(SERVER, *arguments, *limits, log=folder / "log") as origin:
        service = Service(origin, data)
        service.push_key = key
        # The first request for each unpacks its part of the sample.
        for path in ("/api/v1/products", "/models/coverage", "/swagger/start.js"):
            urlopen(origin + path, timeout=120).read()
        yield service


@pytest.fixture(scope="session")
def description(service):
    return json.load(urlopen(service.origin + "/openapi/v1.json", timeout=60))
