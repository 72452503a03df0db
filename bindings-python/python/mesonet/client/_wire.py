"""Requests and answers, without a connection.

A call of the client is a program: a generator that yields a :class:`Request` and is sent its
:class:`Answer`. :meth:`Wire.steps` turns the program into sends and waits. It decides on addresses,
credentials, redirects, retries and refusals, once for the client and its async twin, which only
carry out the steps.
"""

import datetime
import email.utils
import json
import random
import warnings
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, TypeVar
from urllib.parse import quote, urlencode, urljoin, urlsplit

from .._mesonet import MesonetError, __version__
from ..answer import DamagedWarning
from .errors import DamagedError, ServiceError, UnreachableError, _missing

T = TypeVar("T")

Token: TypeAlias = str | Callable[[], str]
"""A credential, or a function that returns a current one."""

_REDIRECTS = {301, 302, 303, 307, 308}
_MOST_REDIRECTS = 5
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class Request:
    """What to ask for. Every request only reads, so each may be sent again."""

    path: str
    query: tuple[tuple[str, str], ...] = ()
    body: Mapping[str, Any] | None = None
    accept: str = "application/json"
    model: bool = False


@dataclass(frozen=True)
class Answer:
    """A whole answer."""

    status: int
    headers: Mapping[str, str]
    content: bytes
    url: str

    def json(self) -> Any:
        try:
            return json.loads(self.content)
        except ValueError as error:
            raise ServiceError(self.status, f"the answer is not JSON ({error})", self.url) from error

    @property
    def damaged(self) -> int:
        said = self.headers.get("x-mesonet-damaged", "0")
        # Even a value that cannot be understood says that something is missing.
        return int(said) if said.isdecimal() else 1

    @property
    def replay(self) -> str | None:
        return self.headers.get("x-mesonet-replay")


Program: TypeAlias = Generator[Request, Answer, T]


@dataclass(frozen=True)
class Send:
    """Sends a request and gives its :class:`Answer` or :class:`NoAnswer`."""

    method: str
    url: str
    # The headers hold the credential.
    headers: Mapping[str, str] = field(repr=False)
    content: bytes | None


@dataclass(frozen=True)
class Wait:
    """Waits."""

    seconds: float


@dataclass(frozen=True)
class NoAnswer:
    """Why there is no whole answer."""

    cause: str


Step: TypeAlias = Send | Wait
Outcome: TypeAlias = Answer | NoAnswer | None


@dataclass(frozen=True)
class Retry:
    """How often and after how long a request is sent again.

    A request is repeated after 429, 503 and a failed connection. The wait doubles each time. It is
    shortened at random by up to a half, so that many clients do not come back at once, but it is
    never shorter than the ``Retry-After`` of the answer.

    >>> from mesonet import Retry
    >>> Retry(attempts=1).attempts
    1
    >>> Retry(attempts=0)
    Traceback (most recent call last):
    mesonet.MesonetError: attempts must be at least 1; got 0
    """

    attempts: int = 5
    """How many times a request is sent at most."""
    first_wait_s: float = 0.5
    """The wait before the second attempt."""
    longest_wait_s: float = 30.0
    """The longest wait. If ``Retry-After`` asks for more, the refusal is raised instead."""

    def __post_init__(self) -> None:
        if self.attempts < 1:
            raise MesonetError(f"attempts must be at least 1; got {self.attempts}")
        for name in ("first_wait_s", "longest_wait_s"):
            if not 0 <= (wait := getattr(self, name)) < float("inf"):
                raise MesonetError(f"{name} must be a finite number from 0; got {wait}")

    def wait_s(self, attempt: int, outcome: Answer | NoAnswer) -> float | None:
        """The wait after an attempt, counted from 1, or None if there is no other attempt."""
        if attempt >= self.attempts:
            return None
        asked = 0.0
        if isinstance(outcome, Answer):
            if outcome.status not in (429, 503):
                return None
            asked = _retry_after_s(outcome.headers.get("retry-after", ""))
            if asked > self.longest_wait_s:
                return None
        # The exponent is bounded, so that no number of attempts overflows.
        wait = min(self.first_wait_s * 2.0 ** min(attempt - 1, 60), self.longest_wait_s)
        return max(asked, wait * random.uniform(0.5, 1.0))


def _retry_after_s(said: str) -> float:
    """Seconds or a date, as RFC 9110 has it; 0 for anything else."""
    if said.strip().isdecimal():
        return float(said)
    try:
        at = email.utils.parsedate_to_datetime(said)
    except ValueError:
        return 0.0
    if at.tzinfo is None:
        at = at.replace(tzinfo=datetime.UTC)
    return max(0.0, (at - datetime.datetime.now(datetime.UTC)).total_seconds())


@dataclass(frozen=True)
class Wire:
    """Where the service is and how it is asked."""

    observations: str
    models: str
    token: Token | None = field(default=None, repr=False)
    retry: Retry = Retry()
    damaged: Literal["warn", "raise"] = "warn"

    @staticmethod
    def to(
        url: str,
        model_url: str | None,
        token: Token | None,
        retry: Retry,
        damaged: Literal["warn", "raise"],
    ) -> "Wire":
        if damaged not in ("warn", "raise"):
            raise MesonetError(f"damaged must be 'warn' or 'raise'; got {damaged!r}")
        _checked_token(token() if callable(token) else token)
        root = _origin_and_path(url, "url")
        observations = root if root.endswith("/api/v1") else root + "/api/v1"
        models = root.removesuffix("/api/v1") if model_url is None else _origin_and_path(model_url, "model_url")
        return Wire(observations, models, token, retry, damaged)

    def steps(self, program: Program[T]) -> Generator[Step, Outcome, T]:
        """The sends and waits of a program; returns what the program returns."""
        try:
            try:
                request = next(program)
            except StopIteration as done:
                value: T = done.value
                return value
            while True:
                answer = yield from self._exchange(request)
                try:
                    request = program.send(answer)
                except StopIteration as done:
                    value = done.value
                    return value
        finally:
            program.close()

    def _exchange(self, request: Request) -> Generator[Step, Outcome, Answer]:
        """Sends one request until there is an answer, or raises its refusal."""
        send, attempt, redirects, renewed = self._send(request), 1, 0, False
        while True:
            outcome = yield send
            assert isinstance(outcome, Answer | NoAnswer)
            if isinstance(outcome, Answer):
                if 200 <= outcome.status < 300:
                    self._say_what_is_missing(outcome)
                    return outcome
                if outcome.status in _REDIRECTS and "location" in outcome.headers:
                    redirects += 1
                    send = _redirected(send, outcome, redirects)
                    continue
                refusal = _refusal(outcome)
                if refusal.reason == "expired" and callable(self.token) and not renewed:
                    send, renewed = self._send(request), True
                    continue
            wait_s = self.retry.wait_s(attempt, outcome)
            if wait_s is None:
                if isinstance(outcome, NoAnswer):
                    raise UnreachableError(outcome.cause, send.url)
                raise refusal
            yield Wait(wait_s)
            attempt += 1

    def _send(self, request: Request) -> Send:
        base = self.models if request.model else self.observations
        url = base + request.path + (f"?{urlencode(request.query)}" if request.query else "")
        headers = {"accept": request.accept, "user-agent": f"mesonet-python/{__version__}"}
        token = _checked_token(self.token() if callable(self.token) else self.token)
        if token is not None:
            headers["authorization"] = f"Bearer {token}"
        if request.body is None:
            return Send("GET", url, headers, None)
        headers["content-type"] = "application/json"
        content = json.dumps(request.body, allow_nan=False).encode()
        return Send("POST", url, headers, content)

    def _say_what_is_missing(self, answer: Answer) -> None:
        if (blocks := answer.damaged) == 0:
            return
        if self.damaged == "raise":
            raise DamagedError(blocks, answer.url)
        warnings.warn(_missing(blocks, answer.url), DamagedWarning, stacklevel=6)


def segment(text: str) -> str:
    """A part of a path that a caller names."""
    return quote(str(text), safe="")


def _origin_and_path(url: str, what: str) -> str:
    if not isinstance(url, str):
        raise TypeError(f"{what} must be a text; got {type(url).__name__}")
    parts = urlsplit(url)
    if parts.scheme not in _PORTS or not parts.hostname:
        raise MesonetError(f"{what} must be an http or https address; got {_plain(url)!r}")
    if parts.username is not None or parts.password is not None:
        raise MesonetError(f"{what} must not hold a name or password; give a token instead")
    if parts.query or parts.fragment:
        raise MesonetError(f"{what} must have no query and no fragment; got {_plain(url)!r}")
    return url.rstrip("/")


def _plain(url: str) -> str:
    # The text before an @ may be a password.
    return url if "@" not in url else "…@" + url.rpartition("@")[2]


def _checked_token(token: str | None) -> str | None:
    if token is None:
        return None
    if not isinstance(token, str):
        raise TypeError(f"a token must be a text; got {type(token).__name__}")
    if not token or not token.isascii() or any(char <= " " or char == "\x7f" for char in token):
        raise MesonetError("a token must be visible ASCII characters without spaces")
    return token


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or _PORTS.get(parts.scheme)


def _redirected(send: Send, answer: Answer, redirects: int) -> Send:
    """The request at its new address, within the same origin: the token goes nowhere else."""
    to = urljoin(send.url, answer.headers["location"])
    if _origin(to) != _origin(send.url):
        scheme, host, port = _origin(to)
        text = f"it redirects to another origin, {scheme}://{host}:{port}, which is not followed"
        raise ServiceError(answer.status, text, send.url)
    if redirects > _MOST_REDIRECTS:
        raise ServiceError(answer.status, f"it redirects more than {_MOST_REDIRECTS} times", send.url)
    if send.method != "GET" and answer.status not in (307, 308):
        text = f"it redirects a {send.method} with {answer.status}; allowed are 307 and 308"
        raise ServiceError(answer.status, text, send.url)
    return Send(send.method, to, send.headers, send.content)


def _refusal(answer: Answer) -> ServiceError:
    """Bodies are a bare JSON string, an object with a reason, a problem, or empty."""
    message, reason = "", None
    try:
        said = json.loads(answer.content)
    except ValueError:
        said = None
    if isinstance(said, str):
        message = said
    elif isinstance(said, dict):
        reason = said.get("reason") if isinstance(said.get("reason"), str) else None
        parts = (said.get(name) for name in ("title", "detail"))
        message = ": ".join(part for part in parts if isinstance(part, str))
        if request_id := answer.headers.get("x-request-id"):
            message = f"{message} (request {request_id})".strip()
    return ServiceError(answer.status, message, answer.url, reason)
