"""A process that a test starts cannot block the run forever."""

import sys
import time

import pytest
from child import run, serving

SHORT_S = 4


def python(code):
    return sys.executable, "-u", "-c", code


def test_a_process_that_hangs_is_a_failure_with_its_name_and_last_output():
    with pytest.raises(AssertionError) as failure:
        run(*python("import time; print('begins'); time.sleep(600)"), patience_s=SHORT_S)
    assert "timed out after 4 s:\nbegins\n" in str(failure.value)
    assert sys.executable in str(failure.value)


def test_a_process_that_fails_is_a_failure_with_its_last_output():
    with pytest.raises(AssertionError, match="ended with 3:\nbroken\n"):
        run(*python("import sys; print('broken', file=sys.stderr); sys.exit(3)"))


def test_a_server_that_never_listens_is_a_failure_and_is_ended(tmp_path):
    file = tmp_path / "lives"
    code = f"""
import sys, time
while True:
    print("begins", file=sys.stderr)
    open({str(file)!r}, "a").write("x")
    time.sleep(0.05)"""
    with pytest.raises(AssertionError, match="timed out after 4 s:\nbegins\n"):
        with serving(*python(code), log=tmp_path / "log", patience_s=SHORT_S):
            pytest.fail("it does not listen")
    size = file.stat().st_size
    time.sleep(0.5)
    assert file.stat().st_size == size


def test_a_server_that_does_not_stop_is_a_failure(tmp_path):
    code = """
import signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("listening on http://127.0.0.1:1", file=sys.stderr)
time.sleep(600)"""
    with pytest.raises(AssertionError, match="timed out after 4 s:\nlistening on"):
        with serving(*python(code), log=tmp_path / "log", patience_s=SHORT_S) as origin:
            assert origin == "http://127.0.0.1:1"
