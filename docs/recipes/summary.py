"""Temperature and precipitation of a station by the hour, from summaries that name what made each value.

Run `mesonet-server`, then `python summary.py`.
"""

import mesonet
from style import save, service

STATION = "KMIA"
DAY = "2024-08-03"


def main():
    args = service()
    with mesonet.Client(args.url) as client:
        hours = client.summary(STATION, DAY, DAY, period="hour")
    save(mesonet.plot.summary(hours, title=f"{STATION} by the hour"), args.out, "summary")


if __name__ == "__main__":
    main()
