"""Small files that ask for much: memory and time stay bounded, and others are served meanwhile."""

import gzip
import io
import struct
import tarfile
import threading
import time
import zipfile

from answers import PRODUCTS
from process import DATA, Server, key_hash

# What the server may need at most, whatever is pushed.
MOST_BYTES = 1 << 30

# A bound, not a measurement, for one bomb.
PATIENCE_S = 60


def newlines():
    """16 MiB of newlines."""
    return gzip.compress(b"\n" * (16 << 20))


def newlines_named(kind):
    """16 MiB of newlines behind the head of a feed."""
    return lambda: gzip.compress(HEADS[kind] + b"\n" * (16 << 20))


HEADS = {
    "metar": b"SACN43 CWAO 032000\n",
    "ndbc": b"#YY  MM DD hh mm WDIR WSPD GST  WVHT   DPD   APD MWD   PRES  ATMP  WTMP\n",
    "csv": b"station,valid,tmpf\n",
}


def reports():
    """A million empty reports."""
    return gzip.compress(b"SACN43 CWAO 032000\n" + b"METAR =\n" * 1_000_000)


def long_name():
    """tar: a name of 512 MiB."""
    header = tarfile.TarInfo("././@LongLink")
    header.type, header.size = tarfile.GNUTYPE_LONGNAME, 512 << 20
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", compresslevel=1) as packed:
        packed.write(header.tobuf(tarfile.GNU_FORMAT))
        for _ in range(512):
            packed.write(b"a" * (1 << 20))
        packed.write(tarfile.TarInfo("short").tobuf(tarfile.GNU_FORMAT) + bytes(1024))
    return out.getvalue()


def pax():
    """tar: PAX headers of 256 MiB."""
    record = b"comment=" + b"a" * ((256 << 20) - 32) + b"\n"
    length = len(record) + 11
    record = f"{length:>10} ".encode() + record
    header = tarfile.TarInfo("pax")
    header.type, header.size = tarfile.XHDTYPE, len(record)
    tail = bytes(-len(record) % 512)
    return gzip.compress(header.tobuf(tarfile.USTAR_FORMAT) + record + tail +
                         tarfile.TarInfo("short").tobuf(tarfile.USTAR_FORMAT) + bytes(1024), 1)


def many_files():
    """zip: 20,000 files."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for number in range(20_000):
            archive.writestr(f"{number}", "")
    return out.getvalue()


def zip_of_zeros():
    """zip: 1 GiB of zeros."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        with archive.open("zeros.txt", "w", force_zip64=True) as file:
            for _ in range(1024):
                file.write(bytes(1 << 20))
    return out.getvalue()


def gzip_in_gzip():
    """1 GiB of zeros, packed three times."""
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", compresslevel=9) as packed:
        for _ in range(1024):
            packed.write(bytes(1 << 20))
    return gzip.compress(gzip.compress(out.getvalue()))


def constant_grids(count):
    """GRIB2: constant fields of 8192 × 8192 cells, 179 bytes each."""
    def make():
        message = bytearray(gzip.decompress(
            (DATA / "grib/nam211_prmsl_simple.grib2.gz").read_bytes()))
        return bytes(constant(message)) * count
    make.__doc__ = f"GRIB2: {count} constant fields of 8192 × 8192 cells"
    return make


def constant(message):
    """A field of one value on a grid of longitudes and latitudes, with the identity of another
    message."""
    def section(number, content):
        return struct.pack(">IB", len(content) + 5, number) + content
    at, parts = 16, {}
    while message[at:at + 4] != b"7777":
        length, number = struct.unpack(">IB", message[at:at + 5])
        parts[number] = bytes(message[at + 5:at + length])
        at += length
    side = 8192
    grid = struct.pack(">BIBBH", 0, side * side, 0, 0, 0)
    grid += struct.pack(">BBIBIBI", 6, 0, 0, 0, 0, 0, 0) + struct.pack(">II", side, side)
    grid += struct.pack(">IIIIBIIIIB", 0, 0xFFFFFFFF, 80_000_000, 0, 48, 0, 100_000_000, 9_767, 9_767, 0)
    packing = struct.pack(">IH", side * side, 0) + struct.pack(">fHHBB", 101_325.0, 0, 0, 0, 0)
    body = section(1, parts[1]) + section(3, grid) + section(4, parts[4]) + section(5, packing)
    body += section(6, b"\xff") + section(7, b"")
    total = 16 + len(body) + 4
    return b"GRIB\0\0\0\2" + struct.pack(">Q", total) + body + b"7777"


def polygon():
    """A CAP message with a polygon of 400,000 points."""
    text = gzip.decompress((DATA / "capcp/canada.xml.gz").read_bytes()).decode()
    at = text.index("<polygon>") + len("<polygon>")
    points = " ".join(f"{45 + (i % 997) * 1e-3:.4f},{-75 - (i % 1013) * 1e-3:.4f}"
                      for i in range(400_000))
    return gzip.compress((text[:at] + points + " " + text[at:]).encode(), 1)


def deep_json():
    """GeoJSON, 100,000 arrays deep."""
    return gzip.compress(b'{"type":"FeatureCollection","features":' + b"[" * 100_000)


def deep_xml():
    """XML, a million elements deep."""
    return gzip.compress(b'<?xml version="1.0"?><om:ObservationCollection>' + b"<a>" * 1_000_000)


BOMBS = [newlines, reports, long_name, pax, many_files, zip_of_zeros, gzip_in_gzip,
         constant_grids(1), constant_grids(30), polygon, deep_json, deep_xml,
         *[newlines_named(kind) for kind in HEADS]]


def check(work, report, small):
    bombs = BOMBS if not small else [newlines, reports, long_name, many_files, constant_grids(30),
                                     polygon, deep_json]
    folder = work / "data"
    products = work / "products.toml"
    products.write_text(PRODUCTS)
    with Server(folder, "--now", "live", "--ingest-key-hashes", key_hash(), "--products",
                products) as server:
        for number, make in enumerate(bombs):
            body, wrong, answer = make(), [], {}
            server.forget_peak()

            def push(body=body, answer=answer):
                try:
                    answer["status"], _, answer["body"] = server.push("bomb", body)
                except OSError as error:
                    answer["error"] = error

            started = time.monotonic()
            thread = threading.Thread(target=push)
            thread.start()
            slowest_s = 0
            while thread.is_alive():
                asked = time.monotonic()
                status, _, _ = server.push("sa.txt", b"SACN43 CWAO 032000\n"
                                           b"METAR CYYZ 032000Z 24012KT 15SM 29/17 A2991=\n",
                                           received="2024-08-03T20:01:00Z")
                slowest_s = max(slowest_s, time.monotonic() - asked)
                if status != 200:
                    wrong.append(f"a small push meanwhile: status {status}")
                    break
                time.sleep(0.02)
            thread.join()
            took_s = time.monotonic() - started
            if not server.is_running():
                wrong.append(f"the server ended: {''.join(server.log)[-2000:]}")
                report.trial("a bomb", number, (make.__doc__ or "", "ended", wrong))
                return
            if answer.get("status", 500) >= 500 and answer.get("status") not in (503, 507):
                wrong.append(f"{answer}")
            if took_s > PATIENCE_S:
                wrong.append(f"it took {took_s:.1f} s")
            peak_bytes = server.peak_bytes()
            if peak_bytes > MOST_BYTES:
                wrong.append(f"the server needed {peak_bytes >> 20} MiB")
            report.trial("a bomb", number, (
                make.__doc__ or "", f"status {answer.get('status')}", wrong))
            report.note(f"bomb {number} ({len(body)} bytes): {took_s:.2f} s, a small push meanwhile "
                        f"at most {slowest_s:.2f} s, peak {peak_bytes >> 20} MiB: "
                        f"{answer.get('body', b'')[:120]}")
