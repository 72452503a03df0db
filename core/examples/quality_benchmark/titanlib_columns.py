"""How much of the faulty networks titanlib finds: a table in Markdown.

Takes the file that `quality_benchmark --dump FILE` wrote. Needs `pip install titanlib`.
"""

import collections
import csv
import sys

import titanlib

# As titanlib's documentation sets its checks for hourly temperatures; pressures and dew points have
# no lapse rate.
CHECKS = {
    "airTemperature": {"gradient": -0.0065, "min_std": 1.0},
    "dewPointTemperature": {"gradient": 0.0, "min_std": 2.0},
    "mslp": {"gradient": 0.0, "min_std": 0.5},
}


def buddies(variable, points, values):
    count, limits = len(values), CHECKS[variable]
    return titanlib.buddy_check(
        points, values, [100e3] * count, [5] * count, 3.0, 200, limits["gradient"],
        limits["min_std"], 2,
    )


def consistency(variable, points, values):
    count = len(values)
    flags, _, _ = titanlib.sct(
        points, values, 5, 100, 50e3, 150e3, 5, 20, 100, 10e3, 200,
        [4.0] * count, [4.0] * count, [0.5] * count,
    )
    return flags


def main(path):
    hours = collections.defaultdict(list)
    with open(path, newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            if row["variable"] in CHECKS:
                hours[row["fault"], row["variable"], row["world"], row["hour"]].append(row)
    sums = collections.defaultdict(lambda: [0, 0, [0, 0], [0, 0]])
    for (fault, variable, _, _), rows in hours.items():
        if len(rows) < 500:
            continue
        columns = [[float(row[name]) for row in rows] for name in ("lat", "lon", "elevation", "value")]
        points, values = titanlib.Points(*columns[:3]), columns[3]
        wrong = [row["wrong"] == "1" for row in rows]
        of = sums[fault, variable]
        of[0] += len(rows)
        of[1] += sum(wrong)
        for sum_of, check in ((of[2], buddies), (of[3], consistency)):
            for flag, is_wrong in zip(check(variable, points, values), wrong):
                if flag:
                    sum_of[0 if is_wrong else 1] += 1
    print("| Variable | Fault | Values | Wrong | buddy_check: found | flagged beside | sct: found | flagged beside |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for (fault, variable), (values, wrong, *found) in sums.items():
        cells = [
            f"{100 * right / wrong:.0f} %" if wrong else "–" for right, _ in found
        ], [f"{beside} ({100 * beside / (values - wrong):.2f} %)" for _, beside in found]
        print(f"| {variable} | {fault} | {values} | {wrong} | {cells[0][0]} | {cells[1][0]} | {cells[0][1]} | {cells[1][1]} |")


main(sys.argv[1])
