"""Fields of real GRIB2 files beside ecCodes, one row for each packing, and a file to xarray beside cfgrib."""

import gzip
import tempfile
import time
from pathlib import Path

import cfgrib
import eccodes
import mesonet
import numpy as np

from .measure import Case, in_process

PACKAGES = ("eccodes", "cfgrib", "xarray")
ROOT = Path(__file__).parents[2]
SAMPLE, DATA = ROOT / "server-example" / "sample", ROOT / "tests" / "data" / "grib"
NAM = SAMPLE / "nam211_20180917T00Z_f000_181msg.grib2"
FILES = {
    "simple packing": DATA / "nam211_prmsl_simple.grib2.gz",
    "complex packing": NAM,
    "complex packing, a large field": DATA / "hrrr_20240101T00Z_f000_refc.grib2.gz",
    "PNG": SAMPLE / "mrms_20230406T120039Z_reflectivity_at_lowest_altitude.grib2.gz",
    "JPEG 2000": SAMPLE / "safrica_ps_20100308T12Z_25hours.grib2",
    "JPEG 2000, a large field": DATA / "hrdps_20260219T00Z_f000_cape.grib2.gz",
    "CCSDS": DATA / "arome_20260413T21Z_f001_tcdc_ccsds.grib2.gz",
}
TEMPLATES = {"simple": (0,), "complex": (2, 3), "JPEG": (40,), "PNG": (41,), "CCSDS": (42,)}
MOST_FIELDS = 20
MISSING = 1e20
# Values that a producer writes where there is none: NaN in ours, numbers to ecCodes.
NO_VALUE = {"PNG": (-999.0,), "JPEG 2000, a large field": (-1.0,)}


def cases():
    eccodes.codes_grib_multi_support_on()
    for name, file in FILES.items():
        yield unpacking(name, file)
    yield to_xarray()


def messages(file, templates):
    """The first fields of a file that have one of these packings and are not constant, each as a message."""
    content = file.read_bytes()
    chosen = []
    with tempfile.TemporaryFile() as plain:
        plain.write(gzip.decompress(content) if file.suffix == ".gz" else content)
        plain.seek(0)
        while len(chosen) < MOST_FIELDS and (handle := eccodes.codes_grib_new_from_file(plain)) is not None:
            is_constant = eccodes.codes_get(handle, "bitsPerValue") == 0
            if not is_constant and eccodes.codes_get(handle, "dataRepresentationTemplateNumber") in templates:
                chosen.append(eccodes.codes_get_message(handle))
            eccodes.codes_release(handle)
    assert chosen, f"{file.name} has no field of templates {templates}"
    return chosen


def unpacking(name, file):
    """The values of all fields: both have found and described them before the clock starts."""
    fields = messages(file, TEMPLATES[name.split()[0].rstrip(",")])
    no_value = NO_VALUE.get(name, ())

    def ours():
        # Values are unpacked once for a field, so that each round opens the messages anew.
        spent = 0
        for message in fields:
            [field] = mesonet.read_grib(message)
            begin = time.process_time_ns()
            field.values  # noqa: B018  (unpacks)
            spent += time.process_time_ns() - begin
        return spent / 1e3

    def other():
        spent = 0
        for message in fields:
            handle = opened(message)
            begin = time.process_time_ns()
            eccodes.codes_get_values(handle)
            spent += time.process_time_ns() - begin
            eccodes.codes_release(handle)
        return spent / 1e3

    def check():
        for message in fields:
            [field] = mesonet.read_grib(message)
            handle = opened(message)
            # Ours are in single precision.
            theirs = eccodes.codes_get_values(handle).astype(np.float32)
            eccodes.codes_release(handle)
            theirs[np.isin(theirs, np.float32([MISSING, *no_value]))] = np.nan
            np.testing.assert_array_equal(field.values.ravel(), theirs)
        return "equal in single precision" + "".join(f", {of:g} is NaN" for of in no_value)

    points = sum(mesonet.read_grib(message)[0].values.size for message in fields)
    size = f"{len(fields)} field{'s' * (len(fields) > 1)}, {points / 1e3:,.0f} k values"
    return Case(f"GRIB field, {name}", size, "ecCodes", check, ours, other, 1)


def opened(message):
    handle = eccodes.codes_new_from_message(message)
    eccodes.codes_set(handle, "missingValue", MISSING)
    return handle


def to_xarray():
    """The temperature at 500 hPa of NAM, with latitudes and longitudes. Both open the file anew each time."""
    keys = {"typeOfLevel": "isobaricInhPa", "shortName": "t", "level": 500}

    def other():
        return cfgrib.open_dataset(NAM, filter_by_keys=keys, indexpath="").t.load()

    def ours():
        fields = mesonet.read_grib(NAM)
        [field] = [of for of in fields if of.wgrib2_name == "TMP" and of.level == (100, 50_000.0)]
        return field.to_xarray().load()

    def agree(mine, theirs):
        np.testing.assert_allclose(mine.values, theirs.values, atol=1e-4)
        np.testing.assert_allclose(mine.latitude.values, theirs.latitude.values, atol=1e-6)
        return "within 0.0001 K"

    return in_process("GRIB field to xarray", "one of 181 fields, 93 × 65", "cfgrib", 2, ours, other, agree)
