"""The first field of a GRIB2 file as ecCodes reads it: `read_grib.py FILE.gz OUT.npz`.

A separate program, because the libraries loaded by ecCodes and by GDAL do not work together in one
process.
"""

import gzip
import sys

import eccodes
import numpy as np

with gzip.open(sys.argv[1]) as packed:
    handle = eccodes.codes_new_from_message(packed.read())
eccodes.codes_set(handle, "missingValue", 1e20)
shape = eccodes.codes_get(handle, "Nj"), eccodes.codes_get(handle, "Ni")
values = eccodes.codes_get_values(handle).reshape(shape)
values[values > 1e19] = np.nan
lat = eccodes.codes_get_array(handle, "latitudes").reshape(shape)
lon = eccodes.codes_get_array(handle, "longitudes").reshape(shape)
scan = eccodes.codes_get(handle, "scanningMode")
if scan & 0x10:
    # ecCodes gives positions with all rows in one direction, but not the values.
    values[1::2] = values[1::2, ::-1].copy()
arrays = {"values": values, "lat": lat, "lon": lon}
if scan & 0x40:
    arrays = {name: array[::-1] for name, array in arrays.items()}
if np.ptp(lon[0]) + lon[0, 1] - lon[0, 0] == 360:
    # Around the globe: from 180° W on.
    west = np.argmin((lon[0] + 180) % 360)
    arrays = {name: np.roll(array, -west, axis=1) for name, array in arrays.items()}
np.savez(sys.argv[2], **arrays)
