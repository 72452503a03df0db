"""The SQL of the store in ClickHouse, on a current release in this process.

`tests/cluster` runs the store itself on a release of 2018; here the same files run on one of today, with
rows that a store would have written.
"""

import re
import uuid
from pathlib import Path

import pytest
from chdb import session

CRATE = Path(__file__).parents[2] / "store-clickhouse"
DAY_MS = 86_400_000
A, B = (str(uuid.uuid5(uuid.NAMESPACE_DNS, name)) for name in "AB")
#: Two batches are committed, one is not, and one is later.
UP_TO, UNCOMMITTED = 5, [0, 3]


def literal(value):
    """A value as the client binds it: lists in round brackets."""
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    if isinstance(value, list):
        return "(" + ",".join(map(literal, value)) + ")"
    return str(value)


class Name(str):
    """The name of a table, which is bound without quotes."""


@pytest.fixture(scope="module")
def database():
    chdb = session.Session()
    chdb.query("CREATE DATABASE mesonet ENGINE = Atomic")
    chdb.query("USE mesonet")

    def run(sql, *values):
        parts = sql.split("?")
        assert len(parts) == len(values) + 1, sql
        bound = [f"`{value}`" if isinstance(value, Name) else literal(value) for value in values]
        text = parts[0] + "".join(value + part for value, part in zip(bound, parts[1:], strict=True))
        answer = str(chdb.query(text, "TabSeparated"))
        return [tuple(line.split("\t")) for line in answer.splitlines()]

    for migration in sorted((CRATE / "migrations").glob("*.sql")):
        statements = migration.read_text(encoding="utf-8").split(";\n")
        for statement in statements * 2:  # Each can run again.
            run(statement)
    rows = [
        # A correction, a verdict on it, and one of a batch that was not committed.
        (A, 7, 10, 0, 1, 1.5),
        (A, 7, 10, 1, 2, 2.5),
        (A, 7, 10, 2, 3, -99),
        (A, 7, 20, 0, 2, 3.5),
        (A, 7, 30, 0, 6, -99),
        (A, 8, -DAY_MS, 0, 1, 4.5),
        (B, 7, 3 * DAY_MS, 0, 2, 5.5),
    ]
    for station, series, ts_ms, version, batch, value in rows:
        run("INSERT INTO readings VALUES (?, ?, ?, ?, ?, ?, 0, 0, 0, 0)",
            station, series, ts_ms, version, batch, value)
        run("INSERT INTO weather VALUES (?, ?, ?, ?, 0, ['Rain', 'Mist'])",
            station, ts_ms, version, batch)
    for batch, state in [(1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (5, 1), (5, 2), (6, 1)]:
        run("INSERT INTO batches VALUES (?, ?, ?, 1)", batch, state, 10 * batch)
    for station, batch, name in [(A, 1, "old"), (A, 2, "new"), (A, 3, "not committed"), (B, 2, "b")]:
        run("INSERT INTO stations (station, batch, written_day, name) VALUES (?, ?, 20000, ?)",
            station, batch, name)
    for batch, until_ms in [(1, 5), (2, 9), (3, 99)]:
        run("INSERT INTO earlier_places VALUES (?, ?, 20000, [5, ?], [1.5, 2.5], [3.5, 4.5])", A, batch, until_ms)
    for batch, after in [(1, 0), (2, 1), (3, 2), (5, 2), (6, 5)]:
        run("INSERT INTO changes VALUES (?, 20000, ?, [0, 3], 2, [0, 1])", batch, after)
    run("INSERT INTO series VALUES (7, 1, 'airTemperature', 'Instantaneous', 0, 0, '°C', '')")
    for retain_from_ms in (0, -5):
        run("INSERT INTO retention VALUES (?)", retain_from_ms)
    yield run
    chdb.close()


@pytest.fixture
def ask(database):
    def ask(name, *values):
        return database((CRATE / "queries" / f"{name}.sql").read_text(encoding="utf-8"), *values)

    return ask


def test_every_query_is_asked(ask):
    source = Path(__file__).read_text(encoding="utf-8")
    files = {path.stem for path in (CRATE / "queries").glob("*.sql")}
    included = re.findall(r'queries/(\w+)\.sql"', (CRATE / "src" / "sql.rs").read_text(encoding="utf-8"))
    assert set(included) == files
    assert [name for name in included if f'ask("{name}"' not in source] == []


def test_batches(database, ask):
    for number, mark in [(1, 7), (2, 8), (2, 9)]:
        database("INSERT INTO writers VALUES (?, ?)", number, mark)
    assert sorted(ask("writers")) == [("2", "8"), ("2", "9")]
    assert ask("committed_batch") == [("5", "2", "50", "1")]
    assert ask("newest_committed") == [("5",)]
    assert ask("uncommitted") == [("3",), ("6",)]
    assert ask("news", 3) == [("3", "1", "30", "1"), ("5", "2", "50", "1"), ("6", "1", "60", "1")]
    assert ask("retain_from") == [("0",)]
    assert ask("readable") == []


def test_stations_and_series(ask):
    stations = ask("stations", 0, UP_TO, UNCOMMITTED)
    assert sorted((row[0], row[1], row[5]) for row in stations) == sorted([(A, "2", "new"), (B, "2", "b")])
    assert all(len(row) == 22 for row in stations)
    assert ask("earlier_places", 0, UP_TO, UNCOMMITTED) == [(A, "2", "20000", "[5,9]", "[1.5,2.5]", "[3.5,4.5]")]
    assert ask("series", 0, UP_TO, UNCOMMITTED) == [
        ("7", "1", "airTemperature", "Instantaneous", "0", "0", "°C", "")
    ]


def test_what_batches_changed_is_told_again(ask):
    told = ask("changes", 1, UP_TO, UNCOMMITTED)
    assert told == [("2", "20000", "1", "[0,3]", "2", "[0,1]"), ("5", "20000", "2", "[0,3]", "2", "[0,1]")]
    of_second = sorted((row[0], int(row[2]), float(row[5])) for row in ask("changed", 0, 4 * DAY_MS - 1, [2]))
    assert of_second == sorted([(A, 10, 2.5), (A, 20, 3.5), (B, 3 * DAY_MS, 5.5)])


def test_a_window_has_all_versions_of_committed_batches(ask):
    window = ask("window", [A, B], [7, 8], -(2**63), 2**63 - 1, UP_TO, UNCOMMITTED)
    seen = sorted((row[0], int(row[1]), int(row[2]), int(row[3]), float(row[5])) for row in window)
    assert seen == sorted([
        (A, 7, 10, 0, 1.5),
        (A, 7, 10, 1, 2.5),
        (A, 7, 20, 0, 3.5),
        (A, 8, -DAY_MS, 0, 4.5),
        (B, 7, 3 * DAY_MS, 0, 5.5),
    ])
    assert len(ask("window", [A], [7], 10, 10, UP_TO, UNCOMMITTED)) == 2
    assert len(ask("moments", [A, B], [10, 30], 10, 30, UP_TO, UNCOMMITTED)) == 2


def test_recent_readings_are_those_of_all_stations_after_a_batch(database, ask):
    whole = [-(2**63), 2**63 - 1]
    all_rows = sorted(ask("window", [A, B], [7, 8], *whole, UP_TO, UNCOMMITTED))
    assert sorted(ask("recent", *whole, 0, UP_TO, UNCOMMITTED)) == all_rows
    assert ask("count", *whole, UP_TO, UNCOMMITTED) == [(str(len(all_rows)),)]
    # From a time on, and of later batches.
    since = [row for row in all_rows if int(row[2]) >= 20]
    assert sorted(ask("recent", 20, 2**63 - 1, 0, UP_TO, UNCOMMITTED)) == since
    assert ask("count", 20, 2**63 - 1, UP_TO, UNCOMMITTED) == [(str(len(since)),)]
    first = min(int(row[4]) for row in all_rows)
    after = [row for row in all_rows if int(row[4]) > first]
    assert 0 < len(after) < len(all_rows)
    assert sorted(ask("recent", *whole, first, UP_TO, UNCOMMITTED)) == after


def test_the_latest_have_their_time_and_version_in_one_number(ask):
    latest = ask("latest", [A, B], [7, 8], -(2**46), 2**46, UP_TO, UNCOMMITTED)
    seen = {(row[0], int(row[1])): (divmod(int(row[2]), 65536), float(row[3])) for row in latest}
    assert seen == {
        (A, 7): ((20, 0), 3.5),
        (A, 8): ((-DAY_MS, 0), 4.5),
        (B, 7): ((3 * DAY_MS, 0), 5.5),
    }
    (corrected,) = ask("latest", [A], [7], 0, 15, UP_TO, UNCOMMITTED)
    assert (int(corrected[2]), float(corrected[3])) == (10 * 65536 + 1, 2.5)


def test_the_newest_row_of_an_alert_counts(database, ask):
    for name, change, deleted in [("a", 1, 0), ("b", 1, 0), ("a", 2, 0), ("b", 3, 1)]:
        database("INSERT INTO alerts VALUES (?, ?, ?, '{}')", name, change, deleted)
    assert ask("alerts", 0) == [("a", "2", "0", "{}"), ("b", "3", "1", "{}")]
    assert ask("alerts", 2) == [("b", "3", "1", "{}")]


def test_the_newest_row_of_a_mark_counts(database, ask):
    assert ask("marks", "origin") == []
    for change, value in [(1, "sample"), (2, "own")]:
        database("INSERT INTO marks VALUES ('origin', ?, ?)", change, value)
    assert ask("marks", "origin") == [("origin", "2", "own")]


def test_what_is_known_of_api_keys_is_left_when_rows_are_merged(database, ask):
    never, not_yet = 2**63 - 1, -(2**63)
    rows = [("ab", 1, never, never, not_yet), ("ab", 1, never, never, 5), ("ab", 1, never, 9, not_yet)]
    for digest, *times in rows + rows[:1]:
        database("INSERT INTO api_keys VALUES (?, 'a network', ?, ?, ?, ?)", digest, *times)
    database("OPTIMIZE TABLE api_keys FINAL")
    expected = [("ab", "a network", *map(str, times)) for _, *times in (rows[2], rows[1])]
    assert ask("api_keys") == expected


def test_batches_of_earlier_writers_are_dropped(database, ask):
    first = 7 << 32
    database("INSERT INTO batches VALUES (?, 2, 70, 1)", first)
    # Abandoned rows stay, in a partition of their own.
    database("INSERT INTO batches VALUES (3, 3, 0, 0)")
    dropped = ask("partitions", "batches", first // 65536)
    for partition, _ in dropped:
        ask("drop_partition", Name("batches"), partition)
    assert dropped
    assert ask("committed_batch") == [(str(first), "2", "70", "1")]
    assert ask("uncommitted") == [("3",)]


def test_what_a_cluster_is_asked(database, ask):
    """There is no Keeper in this process, so statements that need one are only parsed."""
    assert ask("macros") == []
    assert {name for (name,) in ask("insert_settings")} == {"insert_quorum_parallel", "async_insert"}
    assert ask("replica", "readings") == []
    for asked in (lambda: ask("to_fetch", "/clickhouse/log"), lambda: ask("children", "/clickhouse/log")):
        with pytest.raises(RuntimeError) as refused:
            asked()
        assert "UNKNOWN_TABLE" in str(refused.value)
    known = dict(database("SELECT name, value FROM system.settings WHERE name LIKE 'insert_quorum%'"))
    assert {"insert_quorum", "insert_quorum_timeout"} <= set(known)
    columns = [name for (name,) in database(
        "SELECT name FROM system.columns WHERE database = 'system' AND table = 'replicas'"
    )]
    asked = {"is_readonly", "is_session_expired", "parts_to_check", "log_max_index", "log_pointer"}
    assert asked | {"zookeeper_path", "replica_path"} <= set(columns)


def test_present_weather(ask):
    window = ask("weather_window", [A], 0, 40, UP_TO, UNCOMMITTED)
    assert sorted(int(row[1]) for row in window) == [10, 10, 20]
    assert {row[5] for row in window} == {"['Rain','Mist']"}
    assert len(ask("weather_moments", [A, B], [10, 30], 10, 30, UP_TO, UNCOMMITTED)) == 2


def test_merges_keep_what_may_still_be_needed(database, ask):
    before = sorted(ask("window", [A, B], [7, 8], -(2**63), 2**63 - 1, UP_TO, UNCOMMITTED))
    # The failed batch is sent again. Of two rows with the same key the later one stays.
    database("INSERT INTO readings VALUES (?, 7, 10, 2, 5, 9.5, 0, 0, 0, 0)", A)
    database("OPTIMIZE TABLE readings FINAL")
    after = sorted(ask("window", [A, B], [7, 8], -(2**63), 2**63 - 1, UP_TO, UNCOMMITTED))
    assert [row for row in after if row not in before] == [(A, "7", "10", "2", "5", "9.5", "0", "0", "0", "0")]
    assert [row for row in before if row not in after] == []


def test_zz_days_are_dropped(database, ask):
    partitions = ask("partitions", "readings", 3)
    assert sum(int(rows) for _, rows in partitions) == int(
        database("SELECT count() FROM readings WHERE ts_ms < ?", 3 * DAY_MS)[0][0]
    )
    for partition, _ in partitions:
        ask("drop_partition", Name("readings"), partition)
    assert database("SELECT DISTINCT station FROM readings") == [(B,)]
    assert ask("partitions", "stations", 20001) == [("20000", "4")]
    assert ask("partitions", "stations", 20000) == []
