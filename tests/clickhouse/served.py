"""Runs a command with a ClickHouse of a current release: served.py COMMAND…

There is no package of a current server, but one of its engine in a process of Python. This puts before it as much of the
HTTP interface as a client uses: a statement as the body of a POST, rows of an insert as the body with the statement in
the address, settings as parameters, errors as a status with the text of the engine. What the engine lacks without a
server is missing here too: Keeper and replicas, users, queues of inserts, and statements that run at once.

The command finds the address in MESONET_TEST_CLICKHOUSE, as it does with tests/cluster.
"""

import os
import subprocess
import sys
import tempfile
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import lz4.block
from chdb import session

#: Before a block of the native compression stand 16 bytes of a checksum; then a byte for LZ4 and two lengths.
CHECKSUM, HEADER, LZ4 = 16, 9, 0x82
ENGINE = session.Session()
#: One statement at a time: the database and the settings are those of the session.
TURN = threading.Lock()
SCRATCH = tempfile.TemporaryDirectory()
#: The rows of the current insert.
ROWS = Path(SCRATCH.name) / "rows"
#: The settings of the statement before, which most have too.
SET = {}


def decompressed(body):
    blocks, at = [], 0
    while at < len(body):
        head = body[at + CHECKSUM : at + CHECKSUM + HEADER]
        assert head[0] == LZ4, f"compressed by {head[0]:#x}"
        packed, plain = (int.from_bytes(head[side : side + 4], "little") for side in (1, 5))
        data = body[at + CHECKSUM + HEADER : at + CHECKSUM + packed]
        blocks.append(lz4.block.decompress(data, uncompressed_size=plain))
        at += CHECKSUM + packed
    return b"".join(blocks)


def with_rows(statement, rows):
    """An insert with its rows in a file: in the statement itself some bytes of them would end it."""
    before, _, form = statement.rpartition(" FORMAT ")
    ROWS.write_bytes(rows)
    return f"{before} FROM INFILE '{ROWS}' COMPRESSION 'none' FORMAT {form}"


def run(statement, rows, parameters):
    """The answer to a statement. A setting that the engine does not know is refused, as by a server."""
    form = parameters.pop("default_format", "TabSeparated")
    database = parameters.pop("database", "default")
    with TURN:
        ENGINE.query(f"USE `{database}`")
        for name in [name for name in SET if name not in parameters]:
            ENGINE.query(f"SET {name} = DEFAULT")
            del SET[name]
        for name, value in parameters.items():
            if SET.get(name) != value:
                ENGINE.query(f"SET {name} = '{value}'")
                SET[name] = value
        if rows is not None:
            statement = with_rows(statement, rows)
        answer = ENGINE.query(statement, form)
        return bytes(answer.bytes()) if answer is not None else b""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def body(self):
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        chunks = []
        while size := int(self.rfile.readline(), 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(chunks)

    def do_POST(self):
        query = urllib.parse.urlsplit(self.path).query
        parameters = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        body = self.body()
        if parameters.pop("decompress", "0") == "1":
            body = decompressed(body)
        statement = parameters.pop("query", None)
        statement, rows = (body.decode(), None) if statement is None else (statement, body)
        try:
            status, answer = 200, run(statement, rows, parameters)
        except RuntimeError as error:
            status, answer = 500, str(error).encode()
        self.send_response(status)
        if status != 200:
            code = answer.partition(b"Code: ")[2].partition(b".")[0].decode(errors="replace")
            self.send_header("X-ClickHouse-Exception-Code", code if code.isdigit() else "1000")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        """A killed client does not wait for an answer."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


with Server(("127.0.0.1", 0), Handler) as server:
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    status = subprocess.run(sys.argv[1:], env={**os.environ, "MESONET_TEST_CLICKHOUSE": address}, check=False).returncode
    server.shutdown()
ENGINE.close()
sys.exit(status)
