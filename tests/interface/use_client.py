"""The client that openapi-python-client generates from the description, used by a typed program:
`python use_client.py ORIGIN TOKEN`."""

import datetime
import sys

import httpx
from mesonet_client import AuthenticatedClient
from mesonet_client.api.models import get_model_point, get_model_tile
from mesonet_client.api.observations import get_readings_of_stations, get_series, get_station_details
from mesonet_client.models import (
    ModelPoint,
    ObservationSeries,
    Readings,
    ReadingsRequest,
    SeriesRequest,
    StationDetails,
)


def main(origin: str, token: str) -> None:
    client = AuthenticatedClient(base_url=origin, token=token, timeout=httpx.Timeout(60))
    details = get_station_details.sync(client=client, search="Toronto Pearson")
    assert isinstance(details, StationDetails)
    [(station, detail)] = details.additional_properties.items()
    assert detail.identifiers.additional_properties["icao"] == ["CYYZ"]
    end = datetime.datetime(2024, 8, 3, 21, tzinfo=datetime.UTC)
    start = end - datetime.timedelta(hours=6)

    body = ReadingsRequest.from_dict({"stationIds": [station]})
    readings = get_readings_of_stations.sync(client=client, body=body, end=end)
    assert isinstance(readings, Readings)
    assert readings.stations.additional_properties[station].readings[0].timestamp <= end

    wanted = SeriesRequest.from_dict({"stationId": station, "name": "airTemperature"})
    series = get_series.sync(client=client, body=wanted, start=start, end=end)
    assert isinstance(series, ObservationSeries)
    assert [type(reading.value) for reading in series.readings[:1]] == [float]

    # An error is a text.
    wrong = get_series.sync(client=client, body=wanted, start=end, end=start)
    assert isinstance(wrong, str), wrong
    assert wrong.startswith("start must be before end"), wrong

    point = get_model_point.sync(
        "nam211", client=client, run="latest", hour=0, row=40, col=20, fields=["pressure_msl"]
    )
    assert isinstance(point, ModelPoint), point
    assert point.fields.additional_properties["pressure_msl"].unit == "Pa"

    tile = get_model_tile.sync_detailed(
        "nam211", "temperature_2m", 3, 1, 2, client=client, run="latest", hour=0
    )
    assert len(tile.content) == 256 * 256 * 2
    print("the client works")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
