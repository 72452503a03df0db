"""The client when things go wrong: repeated tries, redirects, tokens, damage, broken downloads.

Most of it is a transport of httpx that answers as a test says, so that each fault is exactly there.
"""

import asyncio
import pickle
import re
import socket
import subprocess
import sys
import threading
import traceback
import warnings
from email.utils import formatdate

import httpx
import mesonet
import pyarrow
import pyarrow.parquet
import pytest

URL = "https://weather.example"
SECRET = "s3cret-token"
UNITS = {"windSpeed": "km/h"}
NEVER = mesonet.Retry(attempts=1)


@pytest.fixture
def waits(monkeypatch):
    """The waits of a client, which take no time."""
    told = []
    monkeypatch.setattr("mesonet.client.time.sleep", told.append)
    return told


def client(*answers, asked=None, **options):
    """A client that gets these answers in turn, the last one for ever; an exception is raised."""
    left = list(answers)

    def answer(request):
        if asked is not None:
            asked.append(request)
        one = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(one, Exception):
            raise one
        return one(request) if callable(one) else one

    return mesonet.Client(URL, transport=httpx.MockTransport(answer), **options)


def answers(status, **headers):
    return httpx.Response(status, headers={k.replace("_", "-"): v for k, v in headers.items()})


def units(**headers):
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.Response(200, json=UNITS, headers=headers)


@pytest.mark.parametrize("fault", [answers(429), answers(503), httpx.ConnectError("down"), httpx.ReadTimeout("")])
def test_what_may_pass_is_tried_again_with_growing_waits(waits, fault):
    asked = []
    assert client(fault, fault, fault, units(), asked=asked).units() == UNITS
    assert len(asked) == 4 and len(waits) == 3
    for wait, longest in zip(waits, (0.5, 1.0, 2.0), strict=True):
        assert longest / 2 <= wait <= longest


@pytest.mark.parametrize("status", [400, 401, 403, 404, 500])
def test_what_does_not_pass_is_not_tried_again(waits, status):
    asked = []
    with pytest.raises(mesonet.ServiceError) as refused:
        client(answers(status), asked=asked).units()
    assert (refused.value.status, len(asked), waits) == (status, 1, [])


def test_tries_and_waits_are_bounded(waits):
    asked = []
    retry = mesonet.Retry(attempts=30, first_wait_s=1, longest_wait_s=8)
    with pytest.raises(mesonet.ServiceError, match="429 rate_limited"):
        client(answers(429), asked=asked, retry=retry).units()
    assert len(asked) == 30 and len(waits) == 29 and max(waits) <= 8
    with pytest.raises(mesonet.UnreachableError, match="no answer from https://weather.example/api/v1/"):
        client(httpx.ConnectError("down"), retry=NEVER).units()


def test_a_retry_after_is_honoured_in_seconds_and_as_a_date(waits):
    assert client(answers(429, retry_after="7"), units()).units() == UNITS
    assert waits == [7.0]
    soon = formatdate(__import__("time").time() + 20, usegmt=True)
    assert client(answers(503, retry_after=soon), units()).units() == UNITS
    assert 15 < waits[1] <= 20
    # What makes no sense is as if it were not there.
    for odd in ("-5", "soon", "", formatdate(0, usegmt=True)):
        assert client(answers(429, retry_after=odd), units()).units() == UNITS
    assert all(wait <= 0.5 for wait in waits[2:])
    # It is never undercut: what is too long is a refusal now.
    asked = []
    with pytest.raises(mesonet.ServiceError, match="429"):
        client(answers(429, retry_after="3600"), asked=asked).units()
    assert len(asked) == 1


def test_the_async_twin_waits_without_blocking(monkeypatch):
    told, sleep = [], asyncio.sleep

    async def wait(seconds):
        told.append(seconds)
        await sleep(0)

    monkeypatch.setattr("mesonet.client.asyncio.sleep", wait)
    left = [answers(429, retry_after="2"), units()]
    transport = httpx.MockTransport(lambda request: left.pop(0))

    async def ask():
        async with mesonet.AsyncClient(URL, transport=transport) as twin:
            return await twin.units()

    assert asyncio.run(ask()) == UNITS
    assert told == [2.0]


def test_a_redirect_is_followed_within_the_origin_only(waits):
    asked = []
    within = client(answers(307, location="/moved/units"), units(), asked=asked, token=SECRET)
    assert within.units() == UNITS
    assert [str(request.url) for request in asked] == [f"{URL}/api/v1/observations/units", f"{URL}/moved/units"]
    for elsewhere in (
        "https://evil.example/units",
        "http://weather.example/units",
        "https://weather.example:444/units",
        "//evil.example/units",
        "https://weather.example@evil.example/",
    ):
        asked.clear()
        with pytest.raises(mesonet.ServiceError, match="another origin") as refused:
            client(answers(302, location=elsewhere), asked=asked, token=SECRET).units()
        assert len(asked) == 1 and SECRET not in str(refused.value)
    with pytest.raises(mesonet.ServiceError, match="redirects more than 5 times"):
        client(answers(302, location="/again")).units()
    with pytest.raises(mesonet.ServiceError, match="redirects a POST with 302"):
        client(answers(302, location="/bulk")).readings(station_ids=[])


def test_the_token_is_sent_and_nowhere_to_be_seen(waits):
    asked = []
    of = client(answers(503), units(), asked=asked, token=SECRET)
    of.units()
    assert [request.headers["authorization"] for request in asked] == [f"Bearer {SECRET}"] * 2
    assert repr(of) == f"<mesonet.Client of {URL}/api/v1, with a token>"
    seen = [repr(of), repr(of._wire)]
    for fault in (answers(401), httpx.ConnectError("down")):
        with pytest.raises(mesonet.MesonetError) as failed:
            client(fault, retry=NEVER, token=SECRET).units()
        of_locals = traceback.TracebackException.from_exception(failed.value, capture_locals=True)
        seen += ["".join(traceback.format_exception(failed.value)), repr(failed.value)]
        # Even with the locals of our own frames.
        ours = [frame for frame in of_locals.stack if "mesonet/client/" in frame.filename]
        seen += [str(frame.locals) for frame in ours if frame.name in ("_exchange", "steps", "_run")]
    assert not any(SECRET in text for text in seen)
    with pytest.raises(TypeError, match="make one in each process"):
        pickle.dumps(of)


def test_an_expired_token_is_renewed_once(waits):
    tokens = iter(["old", "old", "new", "newer"])
    expired = httpx.Response(401, json={"reason": "expired"})
    asked = []
    of = client(expired, units(), asked=asked, token=lambda: next(tokens))
    assert of.units() == UNITS
    assert [request.headers["authorization"] for request in asked] == ["Bearer old", "Bearer new"]
    with pytest.raises(mesonet.ServiceError, match="the token was rejected: expired"):
        client(expired, token=lambda: "old").units()
    with pytest.raises(mesonet.ServiceError, match="the token was rejected: expired"):
        client(expired, token="old").units()


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("ftp://a.example", "must be an http or https address; got 'ftp://a.example'"),
        ("a.example", "must be an http or https address"),
        ("file:///etc/passwd", "must be an http or https address"),
        ("https://", "must be an http or https address"),
        ("https://me:hidden@a.example", "must not hold a name or password"),
        ("ftp://me:hidden@a.example", "got '…@a.example'"),
        ("https://a.example/?key=1", "must have no query"),
    ],
)
def test_addresses_are_http_and_plain(url, said):
    with pytest.raises(mesonet.MesonetError, match=re.escape(said)) as refused:
        mesonet.Client(url)
    assert "hidden" not in str(refused.value)


@pytest.mark.parametrize("token", ["", "a b", "a\nb", "ä"])
def test_a_token_is_visible_ascii(token):
    with pytest.raises(mesonet.MesonetError, match="visible ASCII") as refused:
        mesonet.Client(URL, token=token)
    assert not token or token not in str(refused.value).partition("must")[0]


def test_damage_is_a_warning_an_attribute_or_an_error():
    stations = httpx.Response(200, json={"stations": {}}, headers={"x-mesonet-damaged": "2"})
    with pytest.warns(mesonet.DamagedWarning, match="2 damaged blocks of the record are missing") as said:
        readings = client(stations).readings()
    # At the line that asked.
    assert said[0].filename == __file__
    assert readings.damaged == 2 and "2 damaged blocks missing" in repr(readings)
    assert readings.to_pandas().attrs["damaged"] == 2
    assert readings.to_arrow().schema.metadata[b"mesonet.damaged"] == b"2"
    with pytest.raises(mesonet.DamagedError) as failed:
        client(stations, damaged="raise").readings()
    assert failed.value.blocks == 2
    odd = httpx.Response(200, json={"stations": {}}, headers={"x-mesonet-damaged": "some"})
    with pytest.raises(mesonet.DamagedError):
        client(odd, damaged="raise").readings()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        whole = httpx.Response(200, json={"stations": {}})
        assert client(whole).readings().damaged == 0


def page(values, cursor=None, **headers):
    table = pyarrow.table({"timestamp": pyarrow.array(values, pyarrow.timestamp("ms", "UTC")), "value": values})
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    headers |= {"x-has-more": str(cursor is not None), "x-series-found": "True"}
    headers |= {"x-next-cursor": cursor} if cursor else {}
    return httpx.Response(200, content=sink.getvalue().to_pybytes(), headers=headers)


BULK = ("id", "2024-01-01T00:00Z", "2024-01-02T00:00Z")


def test_an_interrupted_download_goes_on_where_it_was(tmp_path, waits):
    path = tmp_path / "a.parquet"
    path.write_text("of before")
    with pytest.raises(mesonet.UnreachableError):
        client(page([1, 2], "c1"), page([3], "c2"), httpx.ReadError("cut"), retry=NEVER).bulk_to_parquet(path, *BULK)
    # What was there stays, and nothing half-written has the name.
    assert path.read_text() == "of before"
    assert sorted(of.name for of in tmp_path.iterdir()) == ["a.parquet", "a.parquet.download"]
    with pytest.raises(mesonet.MesonetError, match="holds the download of another request"):
        client(page([])).bulk_to_parquet(path, *BULK, page_size=7)
    asked = []
    file = client(page([4], "c3"), page([5, 6]), asked=asked).bulk_to_parquet(path, *BULK)
    assert [request.url.params.get("cursor") for request in asked] == ["c2", "c3"]
    assert (file.rows, file.pages) == (6, 4)
    assert pyarrow.parquet.read_table(path)["value"].to_pylist() == [1, 2, 3, 4, 5, 6]
    assert [of.name for of in tmp_path.iterdir()] == ["a.parquet"]


def test_a_download_that_ended_before_its_file_was_made_is_not_fetched_again(tmp_path, monkeypatch):
    path = tmp_path / "a.parquet"
    with monkeypatch.context() as broken:
        broken.setattr("mesonet.client.bulk.Download.finished", lambda self: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            client(page([1], "c1"), page([2])).bulk_to_parquet(path, *BULK)
    assert not path.exists()
    asked = []
    assert client(page([]), asked=asked).bulk_to_parquet(path, *BULK).rows == 2
    assert asked == []


def test_pages_that_contradict_themselves_are_refused(tmp_path):
    whole = page([1, 2, 3]).content
    cut = httpx.Response(200, content=whole[: len(whole) // 2], headers={"x-has-more": "False"})
    silent = httpx.Response(200, content=whole)
    blind = httpx.Response(200, content=whole, headers={"x-has-more": "True"})
    for answer, said in [
        (cut, "cannot be read as Arrow"),
        (httpx.Response(200, content=b"", headers={"x-has-more": "False"}), "cannot be read as Arrow"),
        (silent, "does not say whether others follow"),
        (blind, "there is no cursor"),
    ]:
        with pytest.raises(mesonet.MesonetError, match=said):
            client(answer).bulk(*BULK)
    with pytest.raises(mesonet.MesonetError, match="same cursor twice"):
        client(page([1], "c")).bulk(*BULK)
    (tmp_path / "a.parquet.download").mkdir()
    (tmp_path / "a.parquet.download" / "state.json").write_text("{")
    with pytest.raises(mesonet.MesonetError, match="its state cannot be read"):
        client(page([1])).bulk_to_parquet(tmp_path / "a.parquet", *BULK)


def test_damage_of_one_page_is_in_the_file(tmp_path):
    pages = (page([1], "c1"), page([2], "c2", **{"x-mesonet-damaged": "3"}), page([4]))
    with pytest.warns(mesonet.DamagedWarning):
        file = client(*pages).bulk_to_parquet(tmp_path / "a.parquet", *BULK)
    assert file.damaged == 3
    metadata = pyarrow.parquet.read_schema(file.path).metadata
    assert metadata[b"mesonet.damaged"] == b"3"
    with pytest.raises(mesonet.DamagedError):
        client(*pages, damaged="raise").bulk_to_parquet(tmp_path / "b.parquet", *BULK)
    assert not (tmp_path / "b.parquet").exists()


def test_parts_of_different_steps_are_not_one_grid():
    def answer(request):
        first = b'"0"' in request.content
        return httpx.Response(200, json={"stations": {}, "step": 60 if first else 120})

    ids = [str(number) for number in range(5_001)]
    with pytest.raises(mesonet.MesonetError, match=r"different steps \(60, 120 minutes\)"):
        client(answer).readings(station_ids=ids, step=60)


def test_an_answer_that_breaks_off_is_no_answer():
    """From a real socket: half a body, then the end; the second time whole."""
    listener = socket.create_server(("127.0.0.1", 0))
    body = b'{"windSpeed":"km/h"}'
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 20\r\n\r\n"

    def serve():
        for content in (body[:7], body):
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(head + content)

    thread = threading.Thread(target=serve)
    thread.start()
    with mesonet.Client(f"http://127.0.0.1:{listener.getsockname()[1]}") as real:
        assert real.units() == UNITS
    thread.join()
    listener.close()


def test_silence_ends_with_the_timeout():
    listener = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    with mesonet.Client(url, timeout_s=0.2, retry=NEVER) as real:
        with pytest.raises(mesonet.UnreachableError, match="ReadTimeout"):
            real.units()
    listener.close()


def test_errors_survive_pickling():
    for error in (
        mesonet.ServiceError(401, "", "http://a/", "expired"),
        mesonet.UnreachableError("cut", "http://a/"),
        mesonet.DamagedError(1, "http://a/"),
    ):
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))
        assert isinstance(again, mesonet.MesonetError) and isinstance(again, ValueError)


def test_an_answer_that_is_not_json_is_an_error():
    with pytest.raises(mesonet.ServiceError, match="the answer is not JSON"):
        client(httpx.Response(200, content=b"<html>")).units()
    problem = httpx.Response(
        500, json={"title": "internal error"}, headers={"x-request-id": "abc"}
    )
    with pytest.raises(mesonet.ServiceError, match=r"500 internal: internal error \(request abc\)"):
        client(problem).units()


def test_without_httpx_the_package_works_and_the_client_says_what_it_needs():
    code = (
        "import sys; sys.modules['httpx'] = None\n"
        "import mesonet\n"
        "try: mesonet.Client('http://localhost')\n"
        "except ImportError as error: print(error)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout == "mesonet.Client needs httpx: pip install 'mesonet[client]'\n"


def test_importing_the_package_imports_none_of_the_optional_ones():
    code = "import sys, mesonet; print(sorted({'httpx', 'pandas', 'xarray', 'pyarrow', 'polars', 'tqdm'} & set(sys.modules)))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout == "[]\n"


def test_arguments_of_a_wrong_type_are_type_errors():
    of = client(units())
    for ask in (
        lambda: of.readings(names="airTemperature"),
        lambda: of.readings(station_ids="abc"),
        lambda: of.point("nam211", "temperature", lat=0, lon=0),
        lambda: of.zones("041320"),
        lambda: of.readings(step=1.5),
        lambda: of.readings(start=[]),
    ):
        with pytest.raises(TypeError):
            ask()
    with pytest.raises(mesonet.MesonetError, match="in the years 0 to 9999"):
        of.readings(start="2024-01-01T00:00Z", end=253402300800000)
    with pytest.raises(mesonet.MesonetError, match="damaged must be 'warn' or 'raise'"):
        client(units(), damaged="ignore")
