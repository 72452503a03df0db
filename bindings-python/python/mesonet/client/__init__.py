"""A client of the service, and its async twin.

The answers are columns, GeoJSON and grids. The methods ``to_…`` turn them into frames of pandas,
polars, Arrow, GeoPandas and xarray; each method needs its package. The client itself needs httpx:
``pip install 'mesonet[client]'``.

>>> import mesonet
>>> client = mesonet.Client("http://localhost:8080")
>>> client
<mesonet.Client of http://localhost:8080/api/v1, without a token>
>>> client.close()
"""

import asyncio
import ssl
import time
from collections.abc import AsyncGenerator, Generator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar, Unpack

from .._optional import need
from ..features import Features
from ._bulk import Bulk
from ._filter import LiveFilter
from ._live import SILENCE_S, Listening, LiveEvent, Topic
from ._models import Models
from ._observations import Observations
from ._summaries import SummaryCalls
from ._wire import Answer, NoAnswer, Outcome, Program, Retry, Send, Step, Token, Wait, Wire
from .bulk import BulkFile, BulkTable
from .errors import DamagedError, ServiceError, UnreachableError
from .model import ModelPoint, ModelSeries, Tile
from .raster import Raster
from .summaries import Summaries
from .table import ServiceTable

if TYPE_CHECKING:
    import httpx

__all__ = [
    "AsyncClient",
    "BulkFile",
    "BulkTable",
    "Client",
    "DamagedError",
    "Features",
    "LiveEvent",
    "ModelPoint",
    "ModelSeries",
    "Raster",
    "Retry",
    "ServiceError",
    "ServiceTable",
    "Summaries",
    "Tile",
    "UnreachableError",
]

T = TypeVar("T")


class _Calls(Observations, SummaryCalls, Bulk, Models):
    _wire: Wire
    _http: Any
    _httpx: Any

    def __repr__(self) -> str:
        token = "without a token" if self._wire.token is None else "with a token"
        return f"<mesonet.{type(self).__name__} of {self._wire.observations}, {token}>"

    def __reduce__(self) -> str | tuple[object, ...]:
        raise TypeError("a client holds connections and a token; make one in each process")


    def _silence(self) -> Any:
        """The time-outs of a stream, which may be silent for longer than an answer."""
        of = self._http.timeout.as_dict()
        read = None if of["read"] is None else max(of["read"], SILENCE_S)
        return self._httpx.Timeout(**{**of, "read": read})


class Client(_Calls):
    """A client of the service.

    ``url`` is the address of the service, http or https, with or without ``/api/v1``; ``model_url``
    is the address of the model service, if it is a different one. ``token`` is an API key, an
    account token, or a function that returns a current token. The function is called before each
    request, and once more if the service answers that the token has expired. The token is sent in a
    header to these addresses only: a redirect to another origin is refused.

    ``timeout_s`` bounds the connection and each silence while an answer arrives. Requests that end
    with 429, 503 or a failed connection are repeated as ``retry`` says. An answer that lacks
    readings because the record is damaged causes a :class:`mesonet.DamagedWarning`, or with
    ``damaged="raise"`` a :class:`DamagedError`.

    A refusal raises :class:`ServiceError`; an answer that does not arrive whole raises
    :class:`UnreachableError`. Both are a :class:`mesonet.MesonetError`. Several threads may use one
    client. Close it, or use ``with``. ``tls`` is a context with your own certificates, and
    ``transport`` is a transport of httpx.

    >>> import mesonet
    >>> with mesonet.Client(url) as client:
    ...     client.readings(names=["airTemperature"], bbox=(-80, 43, -79, 44)).to_pandas().value.max()
    np.float64(29.0)
    >>> mesonet.Client("ftp://example.org")
    Traceback (most recent call last):
    mesonet.MesonetError: url must be an http or https address; got 'ftp://example.org'
    """

    def __init__(
        self,
        url: str,
        *,
        token: Token | None = None,
        model_url: str | None = None,
        timeout_s: float = 60.0,
        retry: Retry = Retry(),
        damaged: Literal["warn", "raise"] = "warn",
        tls: ssl.SSLContext | None = None,
        transport: "httpx.BaseTransport | None" = None,
    ) -> None:
        self._wire = Wire.to(url, model_url, token, retry, damaged)
        self._httpx = need("httpx", "mesonet.Client", "mesonet[client]")
        self._http = self._httpx.Client(
            timeout=timeout_s, verify=tls or True, transport=transport, follow_redirects=False
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def live(
        self,
        topics: Sequence[Topic] | None = None,
        *,
        last_event_id: str | None = None,
        **filter: Unpack[LiveFilter],
    ) -> Generator[LiveEvent, None, None]:
        """What changes, as it changes, until you stop. A broken connection is made again, and the
        stream goes on after the last event, also across restarts of the server.

        ``topics`` are some of ``readings`` (new or corrected ones, in the form of the service),
        ``verdicts`` (older readings with another verdict), ``alerts`` (that came or whose state
        changed), ``runs`` and ``products``; by default all. ``names``, ``bbox``, ``station_ids`` and
        what :meth:`stations` takes to choose stations narrow readings and verdicts; ``bbox``, ``lon``
        and ``lat``, ``codes`` and ``severity`` narrow alerts, and ``lang`` is their language. An event
        of the topic ``resync`` says that some could not be sent: fetch anew what you show.
        ``last_event_id`` goes on after an event of an earlier call.

        ``retry`` of the client says how often in a row a connection may fail.

        >>> import mesonet
        >>> with mesonet.Client(url) as client:
        ...     events = client.live(["alerts"], lon=-97.5, lat=35.4)
        ...     events.close()
        """
        return self._live(Listening(self._wire, topics, last_event_id, filter))

    def _live(self, listening: Listening) -> Generator[LiveEvent, None, None]:
        while True:
            send = listening.send()
            try:
                with self._http.stream(
                    send.method, send.url, headers=send.headers, timeout=self._silence()
                ) as answer:
                    if answer.status_code == 200:
                        for piece in answer.iter_raw():
                            yield from listening.came(piece)
                        wait_s = listening.ended("the stream ended", send.url)
                    else:
                        content = answer.read()
                        refusal = Answer(answer.status_code, answer.headers, content, send.url)
                        wait_s = listening.refused(refusal)
            except self._httpx.RequestError as error:
                wait_s = listening.ended(_cause(error), send.url)
            time.sleep(wait_s)

    def _run(self, program: Program[T]) -> T:
        steps: Generator[Step, Outcome, T] = self._wire.steps(program)
        outcome: Outcome = None
        try:
            while True:
                try:
                    step = steps.send(outcome)
                except StopIteration as done:
                    value: T = done.value
                    return value
                if isinstance(step, Wait):
                    time.sleep(step.seconds)
                    outcome = None
                else:
                    outcome = self._sent(step)
        finally:
            steps.close()

    def _sent(self, send: Send) -> Outcome:
        try:
            answer = self._http.request(
                send.method, send.url, headers=send.headers, content=send.content
            )
        except self._httpx.RequestError as error:
            return NoAnswer(_cause(error))
        return Answer(answer.status_code, answer.headers, answer.content, send.url)


class AsyncClient(_Calls):
    """The async twin of :class:`Client`: the same calls, awaited.

    >>> import asyncio, mesonet
    >>> async def warmest():
    ...     async with mesonet.AsyncClient(url) as client:
    ...         boxes = [(-80, 43, -79, 44), (-74, 45, -73, 46)]
    ...         of = [client.readings(names=["airTemperature"], bbox=box) for box in boxes]
    ...         return [float(readings["value"].max()) for readings in await asyncio.gather(*of)]
    >>> asyncio.run(warmest())
    [29.0, 31.0]
    """

    def __init__(
        self,
        url: str,
        *,
        token: Token | None = None,
        model_url: str | None = None,
        timeout_s: float = 60.0,
        retry: Retry = Retry(),
        damaged: Literal["warn", "raise"] = "warn",
        tls: ssl.SSLContext | None = None,
        transport: "httpx.AsyncBaseTransport | None" = None,
    ) -> None:
        self._wire = Wire.to(url, model_url, token, retry, damaged)
        self._httpx = need("httpx", "mesonet.AsyncClient", "mesonet[client]")
        self._http = self._httpx.AsyncClient(
            timeout=timeout_s, verify=tls or True, transport=transport, follow_redirects=False
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    def live(
        self,
        topics: Sequence[Topic] | None = None,
        *,
        last_event_id: str | None = None,
        **filter: Unpack[LiveFilter],
    ) -> AsyncGenerator[LiveEvent, None]:
        """The same as :meth:`Client.live`, for ``async for``.

        >>> import asyncio, mesonet
        >>> async def first_run():
        ...     async with mesonet.AsyncClient(url) as client:
        ...         events = client.live(["runs"])
        ...         await events.aclose()
        >>> asyncio.run(first_run())
        """
        return self._live(Listening(self._wire, topics, last_event_id, filter))

    async def _live(self, listening: Listening) -> AsyncGenerator[LiveEvent, None]:
        while True:
            send = listening.send()
            try:
                async with self._http.stream(
                    send.method, send.url, headers=send.headers, timeout=self._silence()
                ) as answer:
                    if answer.status_code == 200:
                        async for piece in answer.aiter_raw():
                            for event in listening.came(piece):
                                yield event
                        wait_s = listening.ended("the stream ended", send.url)
                    else:
                        content = await answer.aread()
                        refusal = Answer(answer.status_code, answer.headers, content, send.url)
                        wait_s = listening.refused(refusal)
            except self._httpx.RequestError as error:
                wait_s = listening.ended(_cause(error), send.url)
            await asyncio.sleep(wait_s)

    async def _run(self, program: Program[T]) -> T:
        steps: Generator[Step, Outcome, T] = self._wire.steps(program)
        outcome: Outcome = None
        try:
            while True:
                try:
                    step = steps.send(outcome)
                except StopIteration as done:
                    value: T = done.value
                    return value
                if isinstance(step, Wait):
                    await asyncio.sleep(step.seconds)
                    outcome = None
                else:
                    outcome = await self._sent(step)
        finally:
            steps.close()

    async def _sent(self, send: Send) -> Outcome:
        try:
            answer = await self._http.request(
                send.method, send.url, headers=send.headers, content=send.content
            )
        except self._httpx.RequestError as error:
            return NoAnswer(_cause(error))
        return Answer(answer.status_code, answer.headers, answer.content, send.url)


def _cause(error: Exception) -> str:
    name = type(error).__name__
    return f"{name}: {error}" if str(error) else name
