"""The tables of tests/bench: how they are shown, kept and compared. No times are measured here."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

TESTS = Path(__file__).parents[1]
sys.path.append(str(TESTS))

from benchmarks import __main__ as program
from benchmarks import measure, table
from benchmarks.measure import Case, Skipped
from benchmarks.table import KeptTableError, Row

FACTS = {"date": "2026-11-27T12:00:00Z", "processor": "one", "profile": "release", "versions": {"numpy": "2.4.6"}}


def row(what="dew point", ours_us=100.0, other_us=400.0, **more):
    ratio = None if ours_us is None else other_us / ours_us
    return Row("arrays", what, "1 M values", "MetPy", ours_us, other_us, ratio, **more)


def with_ratio(ratio, **more):
    return row(ours_us=100.0, other_us=100.0 * ratio, **more)


def alone(**measured):
    return Row("alone", "first answer", "", "", **measured)


def skipped(what="dew point"):
    return row(what, None, None, skipped="there is no node")


@pytest.fixture
def file(tmp_path):
    """Writes a kept table, as the bytes given or of the rows."""

    def write(content):
        path = tmp_path / "kept.json"
        path.write_bytes(content if isinstance(content, bytes) else table.kept(content, FACTS).encode())
        return path

    return write


# --- comparing --------------------------------------------------------------------------------


@pytest.mark.parametrize("now", [3.44, 3.5, 4.0, 400.0])
def test_a_ratio_that_fell_by_at_most_15_percent_passes(now):
    compared = table.compare([with_ratio(now)], [with_ratio(4.0)])
    assert compared == table.Comparison([], [], [])
    assert compared.text() == "No ratio fell by more than 15%."


def test_a_ratio_that_fell_by_16_percent_fails_and_is_named():
    compared = table.compare([with_ratio(3.36), row("humidity")], [with_ratio(4.0), row("humidity")])
    assert compared.fell == ["dew point, 1 M values, beside MetPy: 3.36×, was 4.00× (16% less)"]
    assert (compared.not_run, compared.new) == ([], [])
    assert compared.text() == f"Fell by more than 15%:\n- {compared.fell[0]}"


def test_what_counts_is_the_ratio_and_not_a_time():
    slower_machine = [row(ours_us=1_000.0, other_us=4_000.0)]
    assert table.compare(slower_machine, [row()]).fell == []
    # Ours is as fast as before; the other is faster.
    assert len(table.compare([row(other_us=300.0)], [row()]).fell) == 1


def test_a_row_that_is_missing_is_named_as_not_run():
    compared = table.compare([row("humidity")], [row("humidity"), row()])
    assert compared.not_run == ["dew point, 1 M values, beside MetPy: there is no such row"]
    assert compared.fell == []


@pytest.mark.parametrize(
    ("now", "why"),
    [(skipped(), "there is no node"), (row(ours_us=None, other_us=None, failed="off by 2"), "off by 2")],
)
def test_a_row_that_is_skipped_or_failed_now_is_named_with_the_reason(now, why):
    compared = table.compare([now], [row()])
    assert compared.not_run == [f"dew point, 1 M values, beside MetPy: {why}"]
    assert compared.fell == []


def test_a_row_that_was_skipped_before_is_new():
    assert table.compare([row()], [skipped()]) == table.Comparison([], [], ["dew point, 1 M values, beside MetPy"])
    assert table.compare([skipped()], [skipped()]) == table.Comparison([], [], [])


def test_a_new_row_is_named_and_passes():
    compared = table.compare([row(), row("humidity")], [row()])
    assert compared.new == ["humidity, 1 M values, beside MetPy"]
    assert (compared.fell, compared.not_run) == ([], [])


def test_rows_of_one_name_and_other_sizes_or_peers_are_others():
    other = Row("arrays", "dew point", "1 M values", "NumPy", 100.0, 100.0, 1.0)
    small = Row("arrays", "dew point", "10 values", "MetPy", 100.0, 100.0, 1.0)
    compared = table.compare([other, small], [row()])
    assert (compared.fell, len(compared.not_run), len(compared.new)) == ([], 1, 2)


def test_other_versions_and_machines_are_named():
    now = FACTS | {"processor": "two", "versions": {"numpy": "2.5.0", "wrk": "4.1.0"}}
    assert table.differing(now, FACTS) == ["processor: two, was one", "numpy: 2.5.0, was 2.4.6"]
    assert table.differing(FACTS, FACTS) == []


# --- kept tables ------------------------------------------------------------------------------


def test_a_kept_table_is_read_as_it_was(file):
    rows = [row(aim=4, agreement="within 0.5 °C", rounds=7), skipped("grid"), row("304", 10.0, 9.0, aim_us=12)]
    rows += [alone(ours_us=3.0), Row("alone", "memory", "", "", ours_mb=200.0, aim_mb=300)]
    assert table.read_kept(file(rows)) == (rows, FACTS)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is not JSON: Expecting value: line 1"),
        (b'{"form": 1, "rows": [', "is not JSON: "),
        (b"\xff\xfe", "is not a text of UTF-8"),
        (b"[1, 2]", "is not a table of tests/bench: it has no form"),
        (b'{"rows": []}', "is not a table of tests/bench: it has no form"),
        (b'{"form": 2, "rows": []}', "has form 2; allowed is 1"),
        (b'{"form": "1"}', "has form '1'; allowed is 1"),
        (b'{"form": 1}', "has no rows"),
        (b'{"form": 1, "rows": []}', "has no rows"),
        (b'{"form": 1, "rows": {"a": 1}}', "has no rows"),
        (b'{"form": 1, "rows": [3], "versions": []}', "versions is not an object"),
        (b'{"form": 1, "rows": [3]}', "row 1: not an object"),
        (b'{"form": 1, "rows": [{"group": "js"}]}', "row 1: what is None; it must be a text"),
    ],
)
def test_a_file_that_is_no_kept_table_is_refused(file, content, said):
    path = file(content)
    with pytest.raises(KeptTableError) as error:
        table.read_kept(path)
    assert str(error.value).startswith(str(path))
    assert said in str(error.value)


WRONG = [0, -1.0, float("nan"), float("inf"), "3", True, [3]]


@pytest.mark.parametrize("name", ["ours_us", "other_us", "ratio"])
@pytest.mark.parametrize("value", [None, *WRONG])
def test_what_was_measured_must_be_a_number_above_0(file, name, value):
    wrong_is_refused(file, row(), name, value)


@pytest.mark.parametrize("name", ["ours_us", "ours_mb"])
@pytest.mark.parametrize("value", WRONG)
def test_what_was_measured_alone_must_be_a_number_above_0(file, name, value):
    wrong_is_refused(file, alone(), name, value)


def wrong_is_refused(file, row, name, value):
    content = json.loads(table.kept([row], FACTS))
    content["rows"][0][name] = value
    with pytest.raises(KeptTableError, match=rf"row 1: {name} is .*; it must be a number above 0"):
        table.read_kept(file(json.dumps(content).encode()))


def test_a_row_stands_in_a_table_once(file):
    with pytest.raises(KeptTableError, match="has a row twice"):
        table.read_kept(file([row(), with_ratio(2.0)]))


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(KeptTableError, match=r"none\.json: No such file"):
        table.read_kept(tmp_path / "none.json")


def test_members_that_later_versions_add_are_left_out(file):
    content = json.loads(table.kept([row()], FACTS))
    content["rows"][0]["later"] = 1
    assert table.read_kept(file(json.dumps(content).encode())) == ([row()], FACTS)


def test_the_committed_table_can_be_compared_with():
    rows, facts = table.read_kept(TESTS / "benchmarks" / "last.json")
    assert {row.group for row in rows} == {"http", "arrays", "grib", "metar", "js", "alone"}
    assert facts["versions"]
    assert table.compare(rows, rows) == table.Comparison([], [], [])
    # The document has the same rows.
    document = (TESTS.parent / "docs" / "performance.md").read_text(encoding="utf-8")
    assert table.table(rows) in document
    assert table.summary(rows) in document


# --- what is shown ----------------------------------------------------------------------------


def test_a_row_is_a_line_of_the_table():
    assert row(aim=4, agreement="equal").line() == (
        "| dew point | 1 M values | MetPy | 100.0 µs | 400.0 µs | 4.00× | ≥ 4× | equal |"
    )
    assert skipped().line() == "| dew point | 1 M values | MetPy |  |  | skipped |  | there is no node |"
    assert alone(ours_us=272e3, aim_us=1e6).line() == "| first answer |  |  | 272.00 ms |  |  | ≤ 1000 ms |  |"
    assert alone(ours_mb=215.4, aim_mb=300, agreement="VmHWM").line() == (
        "| first answer |  |  | 215 MB |  |  | ≤ 300 MB | VmHWM |"
    )
    failed = row(ours_us=None, other_us=None, aim=1.2, failed="off by 2")
    assert failed.line() == "| dew point | 1 M values | MetPy |  |  | failed | ≥ 1.2× | off by 2 |"


@pytest.mark.parametrize(
    ("us", "text"),
    [(None, ""), (9.04, "9.0 µs"), (1_000, "1.00 ms"), (2_345_678, "2,345.68 ms"), (12_345_678, "12.3 s")],
)
def test_durations_have_the_unit_that_fits(us, text):
    assert table.duration(us) == text


@pytest.mark.parametrize(("ratio", "text"), [(None, ""), (0.96, "0.96×"), (12.34, "12.3×"), (123.4, "123×")])
def test_ratios_have_the_digits_that_count(ratio, text):
    assert table.times_text(ratio) == text


def test_aims_are_ratios_or_times():
    assert [with_ratio(of, aim=4).is_reached for of in (3.99, 4.0, 5.0)] == [False, True, True]
    assert [row(ours_us=of, aim_us=12).is_reached for of in (11.0, 12.0, 12.1)] == [True, True, False]
    assert [alone(ours_us=of, aim_us=12).is_reached for of in (11.0, 12.1)] == [True, False]
    assert [alone(ours_mb=of, aim_mb=300).is_reached for of in (300.0, 301.0)] == [True, False]
    assert [of.is_reached for of in (row(), alone(ours_us=3.0), alone(aim_us=12), alone())] == [None] * 4
    assert row(ours_us=None, other_us=None, aim=4, skipped="not built").is_reached is None


def test_the_summary_names_what_was_not_reached_skipped_or_failed():
    rows = [
        with_ratio(5.0, aim=4),
        row("304", 13.0, 9.0, aim_us=12),
        skipped("grid"),
        row("tile", None, None, aim=4, failed="off by 2"),
    ]
    assert table.summary(rows) == "\n".join(
        [
            "1 of 2 measured aims are reached.",
            *("", "Not reached:", "", "- 304, 1 M values, beside MetPy: 13.0 µs, aim ≤ 12 µs"),
            *("", "Skipped:", "", "- grid, 1 M values, beside MetPy: there is no node"),
            *("", "Failed:", "", "- tile, 1 M values, beside MetPy: off by 2"),
        ]
    )
    assert table.summary([row()]) == "0 of 0 measured aims are reached."


# --- a run ------------------------------------------------------------------------------------


@pytest.fixture
def run(monkeypatch, tmp_path, capsys):
    """Runs the program with a group that has these cases, and returns its exit code and what it printed."""
    (tmp_path / "bench").mkdir()
    monkeypatch.setenv("CARGO_TARGET_DIR", str(tmp_path))
    monkeypatch.setattr(measure, "LEAST_S", 0)
    # The tests keep their cores.
    monkeypatch.setattr(measure, "take_one_core", lambda: None)

    def go(cases, *arguments):
        group = SimpleNamespace(PACKAGES=("numpy",), cases=lambda: cases)
        monkeypatch.setattr(program.importlib, "import_module", lambda *_: group)
        monkeypatch.setattr(sys, "argv", ["tests/bench", "--only", "arrays", *arguments])
        with pytest.raises(SystemExit) as end:
            program.main()
        return end.value.code, capsys.readouterr().out

    return go


def case(what, ours_us, other_us, check=lambda: "equal", **aims):
    return Case(what, "1 M values", "MetPy", check, lambda: ours_us, lambda: other_us, **aims)


def test_a_run_keeps_its_table_which_the_next_is_compared_with(run, tmp_path):
    cases = [case("dew point", 100.0, 400.0, aim=4), Skipped("grid", "pandas", "there is no pandas")]
    code, said = run(cases)
    assert code == 0
    assert "| dew point | 1 M values | MetPy | 100.0 µs | 400.0 µs | 4.00× | ≥ 4× | equal |" in said
    assert "1 of 1 measured aims are reached." in said
    assert "- grid, beside pandas: there is no pandas" in said
    [kept] = (tmp_path / "bench").glob("*.json")
    # Its name is the second in which the run began.
    kept = kept.rename(tmp_path / "earlier.json")
    rows, facts = table.read_kept(kept)
    assert [row.what for row in rows] == ["dew point", "grid"]
    assert rows[0].rounds == measure.LEAST_ROUNDS
    assert {"mesonet", "CPython", "numpy"} == set(facts["versions"])

    code, said = run([case("dew point", 100.0, 390.0)], "--against", str(kept))
    assert (code, "No ratio fell by more than 15%." in said) == (0, True)
    code, said = run([case("dew point", 100.0, 200.0)], "--against", str(kept))
    assert (code, "- dew point, 1 M values, beside MetPy: 2.00×, was 4.00× (50% less)" in said) == (1, True)


def test_groups_that_are_measured_again_take_the_place_of_theirs_in_the_last_table(run, file, monkeypatch, tmp_path):
    grib = Row("grib", "CCSDS", "1 field", "ecCodes", 1.0, 2.0, 2.0)
    last, document = file([row(), grib]), tmp_path / "document.md"
    document.write_text(f"a\n{program.BEGIN}\n{program.END}\nb\n", encoding="utf-8")
    monkeypatch.setattr(program, "LAST", last)
    monkeypatch.setattr(program, "DOCUMENT", document)
    before = last.read_text()
    code, _ = run([case("dew point", 100.0, 500.0)], "--write")
    assert "not written; measure all groups" in code
    assert "processor: " in code
    assert last.read_text() == before

    monkeypatch.setattr(program, "processor", lambda: "one")
    monkeypatch.setenv("MESONET_BENCH_PROFILE", "release")
    monkeypatch.setitem(FACTS["versions"], "numpy", program.importlib.metadata.version("numpy"))
    last.write_text(
        table.kept(
            [row(), grib],
            FACTS | {"profile": "release", "load_before": [0], "load_after": [0], "cores": 2, "commit": "1"},
        )
    )
    code, _ = run([case("dew point", 100.0, 500.0), case("humidity", 1.0, 2.0)], "--write")
    assert code == 0
    rows, facts = table.read_kept(last)
    assert [(row.what, row.ratio) for row in rows] == [("dew point", 5.0), ("humidity", 2.0), ("CCSDS", 2.0)]
    assert facts["date"] == FACTS["date"]
    assert facts["again"].startswith("arrays measured again 2")
    said = document.read_text(encoding="utf-8")
    assert table.table(rows) in said
    assert said.startswith("a\n") and said.endswith("\nb\n")


def test_groups_that_are_not_run_are_not_compared(run, file):
    earlier = file([Row("js", "tile", "65,536 pixels", "loop in JavaScript", 1.0, 2.0, 2.0), row()])
    code, said = run([case("dew point", 100.0, 400.0)], "--against", str(earlier))
    assert (code, "tile" in said) == (0, False)


def test_results_that_differ_are_not_measured_and_fail_the_run(run, tmp_path):
    def differ():
        raise AssertionError("off by 2 °C, allowed is 0.5")

    code, said = run([case("dew point", 100.0, 400.0, differ), case("humidity", 100.0, 400.0)])
    assert code == 1
    assert "| dew point | 1 M values | MetPy |  |  | failed |  | off by 2 °C, allowed is 0.5 |" in said
    assert "| humidity | 1 M values | MetPy | 100.0 µs |" in said
    [kept] = (tmp_path / "bench").glob("*.json")
    assert table.read_kept(kept)[0][0].failed == "off by 2 °C, allowed is 0.5"


def test_both_run_in_turn_and_the_median_of_each_counts(monkeypatch):
    monkeypatch.setattr(measure, "LEAST_S", 0)
    order, times = [], iter([9.0, *(float(of) for of in (1, 2, 3, 100, 5, 6, 7))])

    def side(name, us):
        def once():
            order.append(name)
            return us()

        return once

    found = measure.measured(
        "arrays", Case("", "", "", str, side("ours", lambda: next(times)), side("other", lambda: 8.0))
    )
    # The first round is left out.
    assert order == ["ours", "other"] * (1 + measure.LEAST_ROUNDS)
    assert (found.ours_us, found.other_us, found.rounds) == (5.0, 8.0, 7)


def test_the_ratio_is_the_median_of_those_of_the_rounds():
    # Both sides are slower in the last round.
    found = measure.medians([(1.0, 4.0), (1.0, 3.0), (10.0, 40.0)])
    assert found == {"ours_us": 1.0, "other_us": 4.0, "ratio": 4.0, "rounds": 3}


# --- what it is asked for -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--against", "none.json"], "none.json: No such file"),
        (["--only", "cobol"], "invalid choice: 'cobol'"),
    ],
)
def test_wrong_arguments_are_told_before_anything_is_built(arguments, said):
    command = [sys.executable, "-m", "benchmarks.arguments", *arguments]
    environment = os.environ | {"PYTHONPATH": str(TESTS)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2
    assert said in done.stderr
