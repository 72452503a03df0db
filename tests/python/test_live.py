"""The stream of events, by this client and by others."""

import asyncio
import contextlib
import hashlib
import itertools
import json
import socket
import threading
import time
import urllib.parse
import urllib.request

import httpx
import mesonet
import pytest
from child import PATIENCE_S, serving
from mesonet.client._live import Listening
from mesonet.client._wire import Answer, Wire

KEY = "mesonet_push_of_a_test"
NAMES = ["airTemperature"]


class Pushed:
    """A server that takes pushes, always at the same address."""

    def __init__(self, binary, folder):
        self.folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{free.getsockname()[1]}"
        self.origin = f"http://{self.address}"
        self.command = [binary, "--listen", self.address, "--data", folder / "record"]
        self.command += ["--now", "live", "--assume-plan", "commercial", "--rate-requests", "0"]
        self.command += ["--ingest-key-hashes", hashlib.sha256(KEY.encode()).hexdigest()]
        self.log = itertools.count()

    def serving(self):
        return serving(*self.command, log=self.folder / f"log{next(self.log)}")

    def push(self, minute):
        report = f"METAR CYYZ 03{minute // 60:02}{minute % 60:02}Z 24012KT 15SM {minute % 30:02}/M01 A2991=\n"
        address = f"{self.origin}/api/v1/ingest?name=sa_20240803.txt"
        headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "text/plain"}
        request = urllib.request.Request(address, report.encode(), headers)
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            assert answer.status == 200


@pytest.fixture
def pushed(binary, tmp_path):
    return Pushed(binary, tmp_path)


def minutes(event):
    """The minutes of the day of the readings of an event."""
    assert event.topic == "readings"
    return [
        60 * int(reading["timestamp"][11:13]) + int(reading["timestamp"][14:16])
        for station in event.data["stations"].values()
        for reading in station["readings"]
    ]


def until_listening(pushed, count):
    """Waits until so many listen: a client says nothing before its first event."""
    end = time.monotonic() + PATIENCE_S
    while open_streams(pushed) < count:
        assert time.monotonic() < end
        time.sleep(0.01)


def open_streams(pushed):
    port = int(pushed.address.split(":")[1])
    with open("/proc/net/tcp", encoding="ascii") as table:
        rows = [row.split() for row in table.readlines()[1:]]
    return sum(row[1].endswith(f":{port:04X}") and row[3] == "01" for row in rows)


def test_events_come_and_go_on_after_a_restart(pushed):
    with contextlib.ExitStack() as stack:
        client = stack.enter_context(mesonet.Client(pushed.origin))
        got = []
        running = stack.enter_context(contextlib.ExitStack())
        running.enter_context(pushed.serving())

        def listen():
            for event in client.live(["readings"], names=NAMES):
                got.append(event)
                if len(got) == 6:
                    return

        thread = threading.Thread(target=listen, daemon=True)
        thread.start()
        until_listening(pushed, 1)
        for minute in range(3):
            pushed.push(minute)
        running.close()
        with pushed.serving():
            for minute in range(3, 6):
                pushed.push(minute)
            thread.join(PATIENCE_S)
            assert [minutes(event) for event in got] == [[minute] for minute in range(6)]
            events = client.live(["readings"], names=NAMES, last_event_id=got[1].id)
            assert [minutes(next(events)) for _ in range(4)] == [[2], [3], [4], [5]]
            events.close()


def test_the_async_client_listens_with_async_for(pushed):
    async def listen():
        got = []
        async with mesonet.AsyncClient(pushed.origin) as client:
            first = asyncio.create_task(anext(client.live(["readings"], names=NAMES)))
            await asyncio.to_thread(until_listening, pushed, 1)
            await asyncio.to_thread(pushed.push, 1)
            begin = await first
            await asyncio.to_thread(pushed.push, 2)
            await asyncio.to_thread(pushed.push, 3)
            async for event in client.live(["readings"], names=NAMES, last_event_id=begin.id):
                got.append(minutes(event))
                if len(got) == 2:
                    break
        return minutes(begin), got

    with pushed.serving():
        assert asyncio.run(listen()) == ([1], [[2], [3]])


def test_what_cannot_be_sent_is_a_resync_and_a_refusal_is_raised(pushed):
    with pushed.serving(), mesonet.Client(pushed.origin) as client:
        event = next(client.live(last_event_id="12"))
        assert (event.topic, event.data) == (
            "resync",
            {"reason": '"12" is not the id of an event of this stream'},
        )
        with pytest.raises(mesonet.ServiceError, match="topics must be some of readings, verdicts"):
            next(client.live(["weather"]))
        with pytest.raises(TypeError, match="topics must be a list of texts; got one text"):
            client.live("readings")
    once = mesonet.Retry(attempts=1)
    with mesonet.Client(pushed.origin, retry=once) as client, pytest.raises(mesonet.UnreachableError):
        next(client.live())


def test_httpx_sse_reads_the_stream(pushed):
    httpx_sse = pytest.importorskip("httpx_sse")
    address = f"{pushed.origin}/api/v1/live"
    params = {"topics": "readings", "names": "airTemperature"}
    with pushed.serving(), httpx.Client(timeout=PATIENCE_S) as client:
        with httpx_sse.connect_sse(client, "GET", address, params=params) as source:
            events = source.iter_sse()
            begin = next(events)
            assert (begin.event, begin.retry) == ("position", 3000)
            pushed.push(1)
            pushed.push(2)
            got = [next(events), next(events)]
        assert [event.event for event in got] == ["readings", "readings"]
        headers = {"Last-Event-ID": got[0].id}
        with httpx_sse.connect_sse(client, "GET", address, params=params, headers=headers) as source:
            again = source.iter_sse()
            assert next(again).event == "position"
            assert json.loads(next(again).data) == json.loads(got[1].data)


STREAM = (
    "id: a-0\nretry: 10\nevent: position\ndata: {}\n\n:\nid: a-1\nevent: readings\n"
    'data: {"é":1}\n\n:\n:\nevent: alerts\r\nid:a-2\ndata:[1,\ndata: 2]\n\nid: a-3\n\nevent: runs\ndata: {}'
).encode()


@pytest.mark.parametrize("length", [1, 2, 7, 1000])
def test_pieces_of_any_length_say_the_same(length):
    wire = Wire.to("http://weather.example", None, None, mesonet.Retry(), "warn")
    listening = Listening(wire, None, None, {})
    pieces = [STREAM[at : at + length] for at in range(0, len(STREAM), length)]
    got = [event for piece in pieces for event in listening.came(piece)]
    assert [(event.topic, event.data, event.id) for event in got] == [
        ("readings", {"é": 1}, "a-1"),
        ("alerts", [1, 2], "a-2"),
    ]
    # An event that broke off is none, and an id alone counts.
    assert listening.send().headers["last-event-id"] == "a-3"
    assert 0 < listening.ended("it broke off", "") <= 30
    with pytest.raises(mesonet.ServiceError):
        listening.refused(Answer(400, {}, b'"no"', "http://weather.example"))


@pytest.mark.parametrize(
    ("filter", "query"),
    [
        ({}, {}),
        ({"near": (-79.38, 43.65), "radius_km": 50}, {"lon": "-79.38", "lat": "43.65", "radiusKm": "50"}),
        ({"regions": ["ON", "NY"], "networks": ["METAR"]}, {"state": "ON,NY", "network": "METAR"}),
        ({"bbox": (-80, 43, -79, 44), "lang": "fr"}, {"bbox": "-80.0,43.0,-79.0,44.0", "lang": "fr"}),
        ({"names": None, "station_ids": ["CYYZ", "71624"]}, {"stationIds": "CYYZ,71624"}),
    ],
)
def test_a_filter_of_stations_and_alerts_is_sent(filter, query):
    wire = Wire.to("http://weather.example", None, None, mesonet.Retry(), "warn")
    url = urllib.parse.urlsplit(Listening(wire, None, None, filter).send().url)
    assert dict(urllib.parse.parse_qsl(url.query)) == query


@pytest.mark.parametrize(
    ("filter", "error"),
    [
        ({"nearest": 3}, "unknown argument nearest; allowed are near, radius_km, regions"),
        ({"near": (1, 2), "lon": 3}, "a place is given twice; give either near or lon and lat"),
        ({"codes": "ONZ001"}, "codes must be a list of texts; got one text"),
        ({"bbox": (1, 2, 3)}, "a box is west, south, east, north; got 3 numbers"),
    ],
)
def test_a_filter_that_says_nothing_clear_is_refused(filter, error):
    wire = Wire.to("http://weather.example", None, None, mesonet.Retry(), "warn")
    with pytest.raises((TypeError, mesonet.MesonetError), match=error):
        Listening(wire, None, None, filter)
