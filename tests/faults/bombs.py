"""Small files that need a lot. Memory and time stay limited, and other callers are served at the same time."""

import gzip
import io
import struct
import tarfile
import threading
import time
import zipfile
import zlib

from answers import PRODUCTS
from process import DATA, Server, key_hash

# The most memory that the server may need, whatever is pushed.
MOST_BYTES = 1 << 30

# The deadline for one bomb, not a measurement.
PATIENCE_S = 60


def newlines():
    """16 MiB of newlines."""
    return gzip.compress(b"\n" * (16 << 20))


def newlines_named(kind):
    """16 MiB of newlines after the header of a feed."""
    return lambda: gzip.compress(HEADS[kind] + b"\n" * (16 << 20))


HEADS = {
    "metar": b"SACN43 CWAO 032000\n",
    "ndbc": b"#YY  MM DD hh mm WDIR WSPD GST  WVHT   DPD   APD MWD   PRES  ATMP  WTMP\n",
    "csv": b"station,valid,tmpf\n",
}


def reports():
    """A million empty reports."""
    return gzip.compress(b"SACN43 CWAO 032000\n" + b"METAR =\n" * 1_000_000)


def refused():
    """Ten million reports that are refused."""
    return gzip.compress(b"SACN43 CWAO 032000\n" + b"METAR C 99=\n" * 10_000_000, 1)


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


SIDE = 8192


def grids(name, count, packing, values=SIDE * SIDE, bitmap=b"\xff", data=b"", packed=False):
    """`count` fields of 8192 × 8192 cells; the other sections come from a real one."""
    def section(number, content):
        return struct.pack(">IB", len(content) + 5, number) + content

    def make():
        real = gzip.decompress((DATA / "grib/nam211_prmsl_simple.grib2.gz").read_bytes())
        at, parts = 16, {}
        while real[at:at + 4] != b"7777":
            length, number = struct.unpack(">IB", real[at:at + 5])
            parts[number] = real[at + 5:at + length]
            at += length
        cells = SIDE * SIDE
        grid = struct.pack(">BIBBH", 0, cells, 0, 0, 0)
        grid += struct.pack(">BBIBIBI", 6, 0, 0, 0, 0, 0, 0) + struct.pack(">II", SIDE, SIDE)
        grid += struct.pack(">IIIIBIIIIB", 0, 0xFFFFFFFF, 80_000_000, 0, 48, 0, 100_000_000,
                            9_767, 9_767, 0)
        sections = {1: parts[1], 3: grid, 4: parts[4], 5: struct.pack(">I", values) + packing,
                    6: bitmap() if callable(bitmap) else bitmap,
                    7: data() if callable(data) else data}
        body = b"".join(section(*each) for each in sections.items())
        message = b"GRIB\0\0\0\2" + struct.pack(">Q", 16 + len(body) + 4) + body + b"7777"
        return gzip.compress(message * count) if packed else message * count
    make.__doc__ = f"GRIB2: {count} fields of {SIDE} × {SIDE} cells, {name}"
    return make


# A value for all cells.
CONSTANT = struct.pack(">HfHHBB", 0, 101_325.0, 0, 0, 0, 0)
# A single group with all cells, whose values take no bits.
ONE_GROUP = struct.pack(">HfHHBBBBffIBBIBIB", 2, 101_325.0, 0, 0, 8, 0, 1, 0, 0, 0, 1, 0, 0,
                        SIDE * SIDE, 1, SIDE * SIDE, 0)
PNG = struct.pack(">HfHHBB", 41, 101_325.0, 0, 0, 8, 0)


def png():
    """An image of zeros."""
    def chunk(name, content):
        checksum = zlib.crc32(name + content)
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", checksum)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", SIDE, SIDE, 8, 0, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(bytes((SIDE + 1) * SIDE), 9)) + chunk(b"IEND", b""))


def bitmap():
    """Every other cell has a value."""
    return b"\0" + b"\xaa" * (SIDE * SIDE // 8)


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


CONSTANT_GRIDS = grids("constant", 30, CONSTANT)
BOMBS = [newlines, reports, long_name, pax, many_files, zip_of_zeros, gzip_in_gzip,
         grids("constant", 1, CONSTANT), CONSTANT_GRIDS, polygon, deep_json, deep_xml,
         *[newlines_named(kind) for kind in HEADS], refused,
         grids("an image of zeros", 1, PNG, data=png, packed=True),
         grids("a group without bits", 30, ONE_GROUP, data=b"\0\0"),
         grids("half of them missing", 1, CONSTANT, SIDE * SIDE // 2, bitmap, packed=True)]
FEW = [newlines, reports, long_name, many_files, CONSTANT_GRIDS, polygon, deep_json]


def check(work, report, small):
    bombs = FEW if small else BOMBS
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
