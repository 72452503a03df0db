"""What is gone, older or damaged while the rest goes on: a disk that is mounted late, alerts, keys. It is said
until it is back or somebody accepts it."""

import json
import random
import shutil
import sqlite3
import time

from answers import answers, lies, make_folder
from damage import SERVE, flip
from process import PATIENCE_S, Server, run

KEYS_PATH = "/api/v1/capabilities"


def readiness(server):
    return json.loads(server.ask("/readyz")[2])


def check(work, report):
    make_folder(work / "data")
    serve = [*SERVE, "--products", work / "products.toml"]
    with Server(copy(work, "whole"), *serve) as server:
        whole = answers(server)
    late_mount(work, report, serve, whole)
    alerts(work, report, serve, whole)
    keys(work, report)


def copy(work, name, origin="data"):
    folder = work / name
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(work / origin, folder)
    return folder


def late_mount(work, report, serve, whole):
    """The segments are missing at two starts, and come back while the second server runs."""
    folder, wrong = copy(work, "late"), []
    segments, away = folder / "segments", work / "away"
    shutil.move(segments, away)
    segments.mkdir()
    with Server(folder, *serve) as server:
        wrong += lies(whole, answers(server))
        server.stop()
    code, out, _ = run("verify", "--data", folder)
    if code == 0 or "missing" not in out:
        wrong.append(f"verify does not miss them: {out}")
    code, _, error = run("backup", "--data", folder, "--to", work / "place")
    if code == 0 or "nothing was backed up" not in error:
        wrong.append(f"a backup without them is not refused: {error}")
    with Server(folder, *serve) as server:
        if readiness(server)["faults"] == 0:
            wrong.append("readyz has no fault")
        for file in away.iterdir():
            shutil.copy2(file, segments / file.name)
        deadline = time.monotonic() + PATIENCE_S
        while readiness(server)["faults"] and time.monotonic() < deadline:
            time.sleep(0.2)
        found = answers(server)
        wrong += lies(whole, found)
        if any(damaged for _, _, damaged in found["stations"].values()):
            wrong.append("answers are partial, though all is back")
        server.stop()
    code, out, error = run("verify", "--data", folder)
    if code != 0:
        wrong.append(f"verify is not content with what is back: {out}{error}")
    report.trial("what is gone or older", "late mount", (
        "the segments come after the start", "said until they were back", wrong))


def alerts(work, report, serve, whole):
    """Alerts: bits flipped in the file, the file deleted, an older copy put back."""
    chance = random.Random(7)

    def flipped(file):
        flip(file, chance)

    def emptied(file):
        file.unlink()

    def older(file):
        # The state before the last alert.
        with sqlite3.connect(file) as database:
            tables = [name for (name,) in database.execute(
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")]
            for table in tables:
                found = database.execute("SELECT name FROM pragma_table_info(?) WHERE pk = 1", (table,)).fetchone()
                key = found[0] if found else "rowid"
                database.execute(f"DELETE FROM {table} WHERE {key} = (SELECT max({key}) FROM {table})")
            database.commit()
        database.close()

    for number, harm in enumerate([flipped] * 6 + [emptied, older]):
        folder, wrong = copy(work, "alerts"), []
        with sqlite3.connect(folder / "alerts.sqlite") as database:
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        database.close()
        harm(folder / "alerts.sqlite")
        with Server(folder, *serve) as server:
            status, headers, body = server.ask("/api/v1/alerts")
            if body == whole["questions"]["/api/v1/alerts"][2]:
                outcome = "whole"
            elif status == 200 and int(headers.get("x-mesonet-damaged", 0)) and readiness(server)["faults"]:
                outcome = "partial, and said"
            elif status == 503:
                outcome = "not served"
            else:
                outcome = "silent"
                wrong.append(f"{status} without a word: {headers}")
            if outcome == "whole" and harm is not flipped:
                wrong.append("it should be seen")
        code, out, error = run("verify", "--data", folder)
        if code == 0 and outcome != "whole":
            wrong.append(f"verify finds nothing: {out}{error}")
        report.trial("what is gone or older", f"alerts {number}", (
            f"alerts.sqlite {harm.__name__}", outcome, wrong))


def keys(work, report):
    """API keys: the file deleted, an older copy put back."""
    folder = copy(work, "keys")

    def issue(label):
        return run("keys", "issue", "--label", label, "--data", folder, ok=True)[1].strip()

    def allows(server, key):
        status, _, body = server.ask(KEYS_PATH, headers={"authorization": f"Bearer {key}"})
        # An unknown key counts as no credential, and the caller may not have the export.
        if status == 200 and not json.loads(body)["products"]["historical.bulk"]["allowed"]:
            return 401, "nobody"
        return status, body[:200]

    revoked, valid = issue("revoked"), issue("valid")
    names = [path for path in folder.iterdir() if path.name.startswith("keys.sqlite")]
    before = {path.name: path.read_bytes() for path in names}
    listed = json.loads(run("keys", "list", "--json", "--data", folder, ok=True)[1])
    of = next(key["id"] for key in listed if key["label"] == "revoked")
    run("keys", "revoke", of, "--data", folder, ok=True)
    with Server(folder, "--now", "live") as server:
        wrong = []
        if allows(server, valid)[0] != 200 or allows(server, revoked)[0] != 401:
            wrong.append(f"before: {allows(server, valid)}, {allows(server, revoked)}")
        report.trial("what is gone or older", "keys", ("nothing", "whole", wrong))
        server.stop()
    shutil.copytree(folder, work / "keys_whole")

    def deleted(folder):
        for path in folder.glob("keys.sqlite*"):
            path.unlink()

    def older(folder):
        deleted(folder)
        for name, content in before.items():
            (folder / name).write_bytes(content)

    for harm in [deleted, older]:
        harmed, wrong = copy(work, "keys_harmed", "keys_whole"), []
        harm(harmed)
        with Server(harmed, "--now", "live") as server:
            for key in [valid, revoked]:
                status, body = allows(server, key)
                if status != 503:
                    wrong.append(f"a key is answered {status}, not 503: {body}")
            if server.ask("/api/v1/observations/units")[0] != 200:
                wrong.append("those without a key are not served")
        code, out, error = run("verify", "--data", harmed)
        if code == 0:
            wrong.append(f"verify finds nothing: {out}{error}")
        run("verify", "--set-aside", "--data", harmed)
        code, out, error = run("verify", "--data", harmed)
        if code != 0:
            wrong.append(f"verify is not content after --set-aside: {out}{error}")
        with Server(harmed, "--now", "live") as server:
            # An operator who accepts an older file with --set-aside accepts its keys.
            if harm is deleted and allows(server, revoked)[0] != 401:
                wrong.append(f"a revoked key is answered {allows(server, revoked)}")
        report.trial("what is gone or older", f"keys {harm.__name__}", (
            f"keys.sqlite {harm.__name__}", "503 until it is accepted", wrong))
