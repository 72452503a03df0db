"""What changes, as it changes: the stream of events, without a connection.

A :class:`Listening` knows what to send, what the pieces of the answer say, and how long to wait after
a failure. The client and its async twin only carry that out.
"""

import codecs
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from .._mesonet import MesonetError
from .._shown import ShownFields
from ._filter import LiveFilter, live_query, parameters
from ._wire import Answer, NoAnswer, Request, Send, Wire, _redirected, _refusal
from .errors import UnreachableError

Topic: TypeAlias = Literal["readings", "verdicts", "alerts", "runs", "products", "feeds"]

_REDIRECTS = {301, 302, 303, 307, 308}

SILENCE_S = 60.0
"""The longest silence; the service sends something every 15 seconds."""


@dataclass(frozen=True)
class LiveEvent(ShownFields):
    """An event of the stream, as :meth:`mesonet.AsyncClient.live` gives it."""

    topic: str
    """The topic, or ``resync``: what was shown must be fetched anew."""
    data: Any
    """What the endpoint of the topic would answer; of ``resync`` its ``reason``. A checker cannot know
    which: of readings it is :class:`mesonet.answers.Readings`, of alerts :class:`mesonet.answers.Alerts`."""
    id: str
    """Where the stream goes on after this event: the ``last_event_id`` of another call."""


class Listening:
    """A call of ``live`` across its connections."""

    def __init__(
        self,
        wire: Wire,
        topics: Sequence[Topic] | None,
        last_event_id: str | None,
        filter: LiveFilter,
    ) -> None:
        if isinstance(topics, str):
            raise TypeError("topics must be a list of texts; got one text")
        if last_event_id is not None and not last_event_id.isascii():
            raise MesonetError(f"last_event_id must be the id of an event; got {last_event_id!r}")
        self._wire = wire
        chosen = parameters(topics=None if topics is None else ",".join(topics))
        self._query = chosen + live_query(filter)
        self._id = last_event_id or ""
        self._retry_s = 3.0
        self._failures = 0
        self._redirects = 0
        self._moved: Send | None = None
        self._renewed = False
        self._begin()

    def _begin(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""
        self._name, self._lines = "", list[str]()
        self._next_id = self._id

    def send(self) -> Send:
        """What to send now."""
        self._begin()
        moved, self._moved = self._moved, None
        send = moved or self._wire._send(Request("/live", self._query, accept="text/event-stream"))
        headers = dict(send.headers)
        # Without compression: each event is on its way at once.
        headers |= {"cache-control": "no-store", "accept-encoding": "identity"}
        if self._id:
            headers["last-event-id"] = self._id
        return Send(send.method, send.url, headers, send.content)

    def came(self, piece: bytes) -> Iterator[LiveEvent]:
        """The events that a piece of the answer ends (HTML standard, 9.2.6)."""
        text = self._rest + self._decoder.decode(piece)
        # A line may end with \r\n, of which only the first half is here.
        *lines, self._rest = text.replace("\r\n", "\n").split("\n")
        for line in lines:
            if line:
                self._field(line)
                continue
            name, data = self._name or "message", "\n".join(self._lines)
            self._name, self._lines = "", []
            self._id = self._next_id
            if not data:
                continue
            self._failures = self._redirects = 0
            self._renewed = False
            if name != "position":
                yield LiveEvent(name, json.loads(data), self._id)

    def _field(self, line: str) -> None:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        match name:
            case "event":
                self._name = value
            case "data":
                self._lines.append(value)
            case "id" if "\0" not in value:
                self._next_id = value
            case "retry" if value.isdecimal():
                self._retry_s = int(value) / 1000

    def ended(self, cause: str, url: str) -> float:
        """How long to wait before the next connection, after one that has ended."""
        return self._again(NoAnswer(cause), url)

    def refused(self, answer: Answer) -> float:
        """The same after an answer without a stream. Raises the refusal if trying again cannot help."""
        if answer.status in _REDIRECTS and "location" in answer.headers:
            self._redirects += 1
            self._moved = _redirected(Send("GET", answer.url, {}, None), answer, self._redirects)
            own = self._wire._send(Request("/live", accept="text/event-stream"))
            self._moved = Send("GET", self._moved.url, own.headers, None)
            return 0.0
        refusal = _refusal(answer)
        if refusal.reason == "expired" and callable(self._wire.token) and not self._renewed:
            self._renewed = True
            return 0.0
        if answer.status not in (429, 503):
            raise refusal
        return self._again(answer, answer.url)

    def _again(self, outcome: Answer | NoAnswer, url: str) -> float:
        self._failures += 1
        wait_s = self._wire.retry.wait_s(self._failures, outcome)
        if wait_s is None:
            if isinstance(outcome, NoAnswer):
                raise UnreachableError(outcome.cause, url)
            raise _refusal(outcome)
        # Not all at once, after the server has restarted.
        return max(wait_s, self._retry_s * random.uniform(0.1, 1.0))
