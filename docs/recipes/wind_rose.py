"""A wind rose of all stations of Florida over some hours.

Run `mesonet-server`, then `python wind_rose.py`.
"""

import mesonet
from style import save, service

START, END = "2024-08-03 12:00", "2024-08-03 21:30"


def main():
    args = service()
    names = ["windSpeed10m", "windDirection"]
    with mesonet.Client(args.url) as client:
        readings = client.readings(start=START, end=END, step="1h", names=names, regions=["FL"]).to_pandas()
    keys = ["station_id", "position"]
    winds = readings.drop_duplicates([*keys, "observation_name"]).pivot(
        index=keys, columns="observation_name", values="value"
    )
    rose = mesonet.plot.wind_rose(winds.windSpeed10m, winds.windDirection, title="Winds of Florida")
    save(rose, args.out, "wind_rose")


if __name__ == "__main__":
    main()
