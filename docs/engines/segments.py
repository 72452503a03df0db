"""Opens sealed readings of a data folder without mesonet: python segments.py FILE.arrow"""

import json
import sys

import numpy as np
import pyarrow as pa


def readings(path):
    """The readings of a segment, as a table. What the columns mean is in the metadata of its schema.

    A segment with a column `text` holds texts of reports, and no readings.
    """
    with pa.memory_map(str(path)) as source:
        file = pa.ipc.open_file(source)
        about = {key.decode(): value.decode() for key, value in file.schema.metadata.items()}
        series, scales = json.loads(about["mesonet.series"]), json.loads(about["mesonet.scales"])
        parts = []
        for number in range(file.num_record_batches):
            for row in file.get_batch(number).to_pylist():
                parts += rows(row, series, scales)
    columns = {name: [] for name in parts[0]}
    for part in parts:
        for name, column in part.items():
            columns[name].append(column)
    return pa.table({name: np.concatenate(parts) for name, parts in columns.items()})


def rows(row, series, scales):
    """The readings of a row, one part for each series: a row is a station at some of its times."""
    first = np.datetime64(row["first"].replace(tzinfo=None), "ms")
    times = first + np.array(row["time"]) * np.timedelta64(row["step_ms"], "ms")
    bits = np.unpackbits(np.array(row["present"], np.uint8), bitorder="little")
    lists = {name: iter(row[name]) for name in ("base", "byte", "short", "int", "double")}

    def take(name, count=1):
        return np.array([next(lists[name]) for _ in range(count)])

    counts = [entry["count"] for entry in row["verdict"]]
    codes = np.repeat([entry["code"] for entry in row["verdict"]], counts)
    quality = iter(codes[: row["readings"]])
    parts = []
    for entry in row["series"]:
        presence, width = divmod(entry["form"], 16)
        own = times
        if presence == 1:
            own, bits = times[bits[: len(times)] == 1], bits[-(-len(times) // 8) * 8 :]
        elif presence == 2:
            own = times[take("short", take("base")[0])]
        if width == 0:
            numbers = np.repeat(take("base"), len(own))
        elif width == 1:
            numbers = take("base") + take("byte", len(own))
        elif width == 5:
            table = take("double", take("base")[0])
            numbers = table[take("byte", len(own))]
        else:
            numbers = take({2: "short", 3: "int", 4: "double"}[width], len(own))
        scale = scales[entry["scale"]]
        values = numbers / 10 ** scale["decimals"] * scale["factor"] + scale["offset"]
        is_weather = entry["number"] == 65535
        name = "presentWeather" if is_weather else series[entry["number"]]["name"]
        parts.append({
            "station": np.repeat(row["station"].hex(), len(own)),
            "name": np.repeat(name, len(own)),
            "time": own,
            "value": values if width < 4 else numbers,
            "quality": np.array([next(quality) for _ in own]),
        })
    return parts


if __name__ == "__main__":
    print(readings(sys.argv[1]).to_pandas())
