"""A server on its sample, and its description. The server is the program of `MESONET_SERVER_BIN`."""

import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
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


class Receiver(BaseHTTPRequestHandler):
    """What webhooks are sent to."""

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *args):
        pass


@pytest.fixture(scope="session")
def webhook():
    """The address of a receiver."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Receiver) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/alerts"
        server.shutdown()


@pytest.fixture(scope="session")
def service(tmp_path_factory, webhook):
    folder = tmp_path_factory.mktemp("interface")
    secret, config = folder / "secret", folder / "mesonet.toml"
    secret.write_text("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n")
    config.write_text(
        f'[[webhooks]]\nname = "river-desk"\nurl = "{webhook}"\nsecret_file = "{secret}"\n'
        "allow_http = true\nallow_private = true\n"
    )
    data = folder / "data"
    push_key = child.run(SERVER, "push-key").splitlines()
    key, key_hash = (line.rsplit(" ", 1)[1] for line in push_key[:2])
    arguments = ("serve", "--listen", "127.0.0.1:0", "--data", str(data), "--config", str(config))
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
