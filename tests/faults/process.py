"""The server as a process, and requests to it."""

import http.client
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data"

# Longer than anything takes. It is a deadline, not a measurement.
PATIENCE_S = 120

KEY = "mesonet_push_of_the_fault_campaign"


class Refused(Exception):
    """The server did not start; the text is its output."""


def binary():
    """Returns the server program: MESONET_SERVER_BIN, else that of the debug build."""
    named = os.environ.get("MESONET_SERVER_BIN")
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    path = pathlib.Path(named) if named else target / "debug" / "mesonet-server"
    if not path.is_file():
        raise SystemExit(f"{path} does not exist: build it (cargo build -p mesonet-server) or name "
                         "another in MESONET_SERVER_BIN")
    return path.resolve()


def clean_environment():
    """Keeps the settings of this shell from the server."""
    return {"PATH": os.environ["PATH"], "TMPDIR": os.environ.get("TMPDIR", "/tmp")}


def run(*args, wrap=(), ok=None):
    """Runs a command that ends by itself: (exit code, standard output, standard error)."""
    command = [*wrap, str(binary()), *map(str, args)]
    done = subprocess.run(command, env=clean_environment(), stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=PATIENCE_S, errors="replace")
    if ok is not None and (done.returncode == 0) != ok:
        raise AssertionError(f"{' '.join(command)} ended with {done.returncode}:\n"
                             f"{done.stdout}{done.stderr}")
    return done.returncode, done.stdout, done.stderr


class Server:
    """A server on its own port; `with` ends it."""

    def __init__(self, folder, *args, wrap=(), files=None, memory_bytes=None):
        command = [*wrap, str(binary()), "serve", "--listen", "127.0.0.1:0", "--data", str(folder),
                   # Tests send requests faster than callers may.
                   "--rate-requests", "0", *map(str, args)]

        def limits():
            if files:
                resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
            if memory_bytes:
                resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))

        self.child = subprocess.Popen(command, env=clean_environment(), stdin=subprocess.DEVNULL,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                      text=True, errors="replace", preexec_fn=limits)
        self.log = []
        listening = threading.Event()
        self.port = None

        def read():
            for line in self.child.stderr:
                self.log.append(line)
                found = re.search(r"listening on http://127\.0\.0\.1:(\d+)", line)
                if found:
                    self.port = int(found[1])
                    listening.set()
            listening.set()

        self.reader = threading.Thread(target=read, daemon=True)
        self.reader.start()
        listening.wait(PATIENCE_S)
        if self.port is None:
            self.child.kill()
            self.child.wait()
            self.reader.join()
            raise Refused("".join(self.log))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    def kill(self):
        """Sends SIGKILL, whatever it is doing."""
        if self.child.poll() is None:
            self.child.kill()
        self.child.wait()
        self.reader.join()

    def stop(self):
        """Sends SIGTERM, and returns the exit code."""
        self.child.send_signal(signal.SIGTERM)
        code = self.child.wait(PATIENCE_S)
        self.reader.join()
        return code

    def is_running(self):
        return self.child.poll() is None

    def peak_bytes(self):
        """Returns the most memory it has used since it started, or since its peak was reset."""
        status = pathlib.Path(f"/proc/{self.child.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024

    def forget_peak(self):
        """Resets the peak."""
        pathlib.Path(f"/proc/{self.child.pid}/clear_refs").write_text("5")

    def ask(self, path, body=None, headers=(), timeout_s=PATIENCE_S, source=None):
        """(status, headers in lower case, body); a body makes it a POST."""
        connection = http.client.HTTPConnection(
            "127.0.0.1", self.port, timeout=timeout_s,
            source_address=(source, 0) if source else None)
        try:
            headers = dict(headers)
            if isinstance(body, (dict, list)):
                body = json.dumps(body)
                headers.setdefault("content-type", "application/json")
            connection.request("GET" if body is None else "POST", path, body, headers)
            answer = connection.getresponse()
            names = {name.lower(): value for name, value in answer.getheaders()}
            return answer.status, names, answer.read()
        finally:
            connection.close()

    def push(self, name, body, **query):
        """Pushes a file."""
        more = "".join(f"&{key}={value}" for key, value in query.items())
        return self.ask(f"/api/v1/ingest?name={name}{more}", body,
                        {"authorization": f"Bearer {KEY}"})


def key_hash():
    import hashlib
    return hashlib.sha256(KEY.encode()).hexdigest()
