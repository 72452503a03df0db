"""A full disk, and a read-only folder."""

import contextlib
import os
import shutil
import subprocess

from answers import answers, lies, make_folder
from damage import SERVE
from process import DATA, Refused, Server, key_hash, run


@contextlib.contextmanager
def mounted(folder, *options):
    """A file system in memory, or a view of another folder; None if this user may
    not mount."""
    folder.mkdir(exist_ok=True)
    done = subprocess.run(["mount", *options, str(folder)], capture_output=True, check=False)
    try:
        yield folder if done.returncode == 0 else None
    finally:
        if done.returncode == 0:
            subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(ballast):
    """Writes until the disk is full."""
    file = os.open(ballast, os.O_CREAT | os.O_WRONLY)
    with contextlib.suppress(OSError):
        while os.write(file, bytes(4096)):
            pass
    os.close(file)


def check(work, report):
    origin = work / "origin"
    origin.mkdir()
    make_folder(origin / "data")
    serve = [*SERVE, "--products", origin / "products.toml"]
    shutil.copytree(origin / "data", work / "whole")
    with Server(work / "whole", *serve) as server:
        whole = answers(server)
    full_disk(work, report, origin / "data", serve, whole)
    full_for_archive(work, report)
    read_only(work, report, origin / "data", whole)


def full_disk(work, report, origin, serve, whole):
    """Pushes are refused with 507 or 503, reading still works, nothing is lost; once there is room,
    pushes are taken again."""
    with mounted(work / "small", "-t", "tmpfs", "-o", "size=12m", "tmpfs") as disk:
        if disk is None:
            report.skip("a full disk", "this user may not mount a file system")
            return
        folder, wrong, statuses = disk / "data", [], {}
        shutil.copytree(origin, folder)
        with Server(folder, *serve, "--ingest-key-hashes", key_hash()) as server:
            ballast = disk / "ballast"
            fill(ballast)
            files = ["metar/awc_metars_cache_2022-10-22T0253Z.csv.gz", "iem_asos/asos_GRB.txt.gz",
                     "nws_alerts/alerts_active_2026-05-14T163524Z.geojson.gz"]
            for file in files:
                status, _, body = server.push("file", (DATA / file).read_bytes())
                statuses[file] = status
                if status not in (503, 507):
                    wrong.append(f"a push to a full disk: {status} {body[:200]}")
            wrong += lies(whole, answers(server))
            ballast.unlink()
            os.sync()
            status, _, body = server.push("asos_GRB.txt.gz", (DATA / files[1]).read_bytes())
            if status != 200:
                wrong.append(f"a push with room again: {status} {body[:200]}")
            if server.stop() != 0:
                wrong.append("it did not stop cleanly")
        code, out, error = run("verify", "--data", folder)
        if code != 0:
            wrong.append(out + error)
        report.trial("a full disk", "push", (f"{sorted(set(statuses.values()))}", "whole", wrong))

        # Full before the start.
        wrong = []
        fill(ballast)
        code, out, error = run("verify", "--data", folder)
        if code != 0:
            wrong.append(f"verify needs room: {out}{error}")
        outcome = "served"
        try:
            with Server(folder, *serve) as server:
                wrong += lies(whole, answers(server))
        except Refused as refused:
            outcome = "refused to start"
            if "error: " not in str(refused):
                wrong.append(str(refused))
        report.trial("a full disk", "start", ("start on a full disk", outcome, wrong))


def full_for_archive(work, report):
    """`archive` without room for a file until it is sent, and without room in the place: it says which, what was
    archived stays, and with room the next run goes on and has all that one with room from the start has."""
    data, place, expected = work / "archived", work / "archive", work / "archive-with-room"
    run("ingest", "--data", data, DATA / "metar/ktpa_weather-reports_0.1.5.txt.gz", ok=True)
    archive = ["archive", "--data", data, "--to"]
    run(*archive, expected, ok=True)
    with mounted(work / "few", "-t", "tmpfs", "-o", "size=16k", "tmpfs") as few, \
            mounted(place, "-t", "tmpfs", "-o", "size=200k", "tmpfs") as disk:
        if few is None or disk is None:
            report.skip("a full disk, archive", "this user may not mount a file system")
            return
        wrong = []
        code, _, error = run(*archive, place, wrap=["env", f"TMPDIR={few}"])
        if code != 1 or f"error: {few}, where a file is until it is sent: No space left" not in error:
            wrong.append(f"without room in TMPDIR: {code} {error}")
        # An archive begins with an empty manifest.
        if list(files(place)) != ["manifests/0000000001.json"] or any(few.iterdir()):
            wrong.append(f"without room in TMPDIR it left {files(place)} and {list(few.iterdir())}")
        report.trial("a full disk", "archive, TMPDIR", ("a file until it is sent", "refused", wrong))

        wrong = []
        code, _, error = run(*archive, place)
        if code != 1 or f"no space is left in {place}; what is there stays whole" not in error:
            wrong.append(f"without room in the place: {code} {error}")
        before = files(place)
        fill(place / "ballast")
        code, _, error = run(*archive, place)
        (place / "ballast").unlink()
        if code != 1 or "no space is left" not in error:
            wrong.append(f"where not a byte is left: {code} {error}")
        if files(place) != before or not before:
            wrong.append(f"it was {sorted(before)}, and is {sorted(files(place))}")
        subprocess.run(["mount", "-o", "remount,size=64m", str(place)], check=True)
        code, out, error = run(*archive, place)
        now = files(place)
        is_kept = all(now.get(path) == content for path, content in before.items())
        if code != 0 or ": unchanged;" not in out or not is_kept:
            wrong.append(f"with room again: {code} {out}{error}")
        months = lambda of: {path: content for path, content in of.items() if path.endswith(".parquet")}
        if sorted(months(now).values()) != sorted(months(files(expected)).values()):
            wrong.append("the archive is not that of a run with room")
        report.trial("a full disk", "archive, place", ("the place", "refused, then whole", wrong))


def files(folder):
    """The content of each file."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def read_only(work, report, origin, whole):
    """`verify` reads the folder. The server serves it, and says that it takes nothing in."""
    folder = work / "fixed"
    shutil.copytree(origin, folder)
    with mounted(work / "sight", "--bind", "-o", "ro", str(folder)) as sight:
        if sight is None:
            report.skip("a read-only folder", "this user may not mount a file system")
            return
        subprocess.run(["mount", "-o", "remount,ro,bind", str(sight)], check=True)
        wrong = []
        code, out, error = run("verify", "--data", sight)
        if code != 0:
            wrong.append(f"verify needs write access: {out}{error}")
        before = files(folder)
        with Server(sight, *SERVE, "--products", origin.parent / "products.toml",
                    "--ingest-key-hashes", key_hash()) as server:
            wrong += lies(whole, answers(server))
            status, _, body = server.push("sa.txt", b"SACN43 CWAO 032000\nMETAR CYYZ 032000Z 24012KT 15SM 29/17 A2991=\n")
            if status != 503 or b"read-only" not in body:
                wrong.append(f"a push is answered {status}: {body}")
            server.stop()
        if files(folder) != before:
            wrong.append("something was written")
        report.trial("a read-only folder", "verify and serve", ("bound read-only", "served", wrong))
