"""Processes that tests start. Waiting for one has a deadline: a process that hangs is ended
and becomes a failure with its name and last output, instead of a run that never ends."""

import subprocess
import time
from contextlib import contextmanager

# A bound, not a measurement.
PATIENCE_S = 300


def run(*command, patience_s=PATIENCE_S, **options):
    """Returns the standard output of a process that ends successfully by itself."""
    done = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )
    with done:
        try:
            out, error = done.communicate(timeout=patience_s)
        except subprocess.TimeoutExpired:
            done.kill()
            raise AssertionError(overdue(command, patience_s, *done.communicate())) from None
    assert done.returncode == 0, f"{command} ended with {done.returncode}:\n{out}{error}"
    return out


@contextmanager
def serving(*command, log, patience_s=PATIENCE_S, **options):
    """Yields the origin of a server that writes to a log, once it listens, and stops it."""
    with log.open("w") as stderr:
        process = subprocess.Popen(command, stderr=stderr, **options)
    try:
        end = time.monotonic() + patience_s
        while not (origin := listens(log)):
            assert process.poll() is None, f"{command} ended:\n{log.read_text()}"
            assert time.monotonic() < end, overdue(command, patience_s, log.read_text())
            time.sleep(0.01)
        yield origin
        process.terminate()
        try:
            process.wait(timeout=patience_s)
        except subprocess.TimeoutExpired:
            raise AssertionError(overdue(command, patience_s, log.read_text())) from None
    finally:
        process.kill()
        process.wait()


def listens(log):
    """Returns the origin in a log, if the line is there."""
    for line in log.read_text(encoding="utf-8").splitlines(keepends=True):
        if "listening on " in line and line.endswith("\n"):
            return line.split("listening on ")[1].strip()
    return None


def overdue(command, patience_s, *said):
    return f"{command} timed out after {patience_s} s:\n{''.join(said)}"
