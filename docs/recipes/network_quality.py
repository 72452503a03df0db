"""A week of quality verdicts of a network: shares by variable and hour, and which stations differ from those around.

Run `mesonet-server`, then `python network_quality.py`. The sample holds some hours of a week; on a
record of your own the picture fills.
"""

import mesonet
import mesonet.pandas
import numpy as np
import pandas as pd
from style import QUALITY, plt, save, service

BOX = (-106.0, 25.5, -93.0, 37.0)
END = pd.Timestamp("2024-08-03T21:30Z")
START = END - pd.Timedelta(days=7)
NAMES = ["airTemperature", "dewPointTemperature", "windSpeed10m", "windDirection", "mslp"]
SHOWN = ["Error", "Doubtful", "Inconsistent", "Instrumentation"]


def main():
    args = service()
    with mesonet.Client(args.url) as client:
        grid = client.readings(
            bbox=BOX,
            start=START.to_pydatetime(),
            end=END.to_pydatetime(),
            step=30,
            max_age="30m",
            names=NAMES,
        )
        stations = client.stations(bbox=BOX).to_pandas().set_index("station_id")
    # A reading fills several cells; it counts once.
    frame = grid.to_pandas().drop_duplicates(["station_id", "series_id", "timestamp"])
    by_variable = frame.mesonet.counts(by="observation_name").reindex(NAMES)
    by_hour = frame.mesonet.counts(by=frame.timestamp.dt.floor("h"))
    worst = frame.mesonet.worst(by="station_id")

    figure = plt.figure(figsize=(8.5, 6.5), layout="constrained")
    layout = [["shares", "places"], ["hours", "places"]]
    axes = figure.subplot_mosaic(layout, width_ratios=(1, 1.15))
    shares, hours, places = axes["shares"], axes["hours"], axes["places"]

    percent = 100 * by_variable.div(by_variable.sum(axis=1), axis=0)
    left = np.zeros(len(percent))
    # Nearly everything is good: only the rest is drawn to scale.
    for name in [name for name in SHOWN if name in percent]:
        shares.barh(percent.index, percent[name], left=left, color=QUALITY[name], label=name)
        left += percent[name].to_numpy()
    shares.invert_yaxis()
    shares.set(xlabel="% of readings", title="In doubt, by variable", xlim=(0, max(left.max() * 1.15, 1)))
    for row, share in enumerate(left):
        shares.text(share, row, f" {share:.1f}", va="center", fontsize=8)
    shares.grid(axis="y", visible=False)

    bottom = np.zeros(len(by_hour))
    labels = [f"{hour:%d %b %Hh}" for hour in by_hour.index]
    for name in [name for name in QUALITY if name in by_hour]:
        hours.bar(labels, by_hour[name], bottom=bottom, color=QUALITY[name], label=name)
        bottom += by_hour[name].to_numpy()
    hours.set(title="Readings by hour", ylabel="readings")
    hours.tick_params(axis="x", rotation=45)
    hours.grid(axis="x", visible=False)

    at = stations.reindex(worst.index)
    for name in reversed([name for name in QUALITY if (worst == name).any()]):
        of = (worst == name).to_numpy()
        size = 14 if name in ("Good", "Unknown") else 42
        places.scatter(at.lon[of], at.lat[of], s=size, color=QUALITY[name], edgecolor="#55606b", lw=0.4, label=f"{name} ({of.sum()})")
    places.set(title=f"Worst verdict of {len(worst)} stations", xlabel="longitude", ylabel="latitude")
    places.set_aspect(1 / np.cos(np.radians(np.mean(BOX[1::2]))))
    places.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=3, fontsize=8)
    figure.suptitle(
        f"{len(frame):,} readings, {START:%Y-%m-%d} to {END:%Y-%m-%d}", x=0.01, ha="left", fontweight="bold"
    )
    save(figure, args.out, "network_quality")


if __name__ == "__main__":
    main()
