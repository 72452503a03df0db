"""Errors between a client and the service. Each is a :class:`mesonet.MesonetError`."""

from typing import Any

from .._mesonet import MesonetError

__all__ = ["DamagedError", "ServiceError", "UnreachableError"]

_CODES = {
    400: "invalid",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    408: "too_slow",
    429: "rate_limited",
    503: "unavailable",
}


class ServiceError(MesonetError):
    """The service refused a request.

    >>> from mesonet import MesonetError, ServiceError
    >>> error = ServiceError(429, "", "https://example.org/api/v1/alerts")
    >>> error.status, error.code, isinstance(error, MesonetError)
    (429, 'rate_limited', True)
    >>> print(error)
    429 rate_limited: https://example.org/api/v1/alerts
    """

    def __init__(self, status: int, message: str, url: str, reason: str | None = None) -> None:
        self.status = status
        """The HTTP status."""
        self.message = message
        """The text of the service, unchanged; empty where it says nothing."""
        self.url = url
        """The address of the request. It holds no credential: these are sent in a header only."""
        self.reason = reason
        """Why a token was rejected: ``expired`` (get a new one), ``malformed``, ``bad_signature`` …"""
        self.code = _CODES.get(status, "internal" if status >= 500 else "unexpected")
        """The status as a word: ``invalid``, ``unauthorized``, ``forbidden``, ``not_found``,
        ``too_slow``, ``rate_limited``, ``unavailable``, ``internal``, or ``unexpected``."""
        said = message or (f"the token was rejected: {reason}" if reason else url)
        super().__init__(f"{status} {self.code}: {said}")

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.status, self.message, self.url, self.reason)


class UnreachableError(MesonetError):
    """No whole answer came: no connection, a timeout, or an answer that broke off.

    >>> import pickle
    >>> from mesonet import UnreachableError
    >>> pickle.loads(pickle.dumps(UnreachableError("timed out", "http://localhost:1/"))).url
    'http://localhost:1/'
    """

    def __init__(self, cause: str, url: str) -> None:
        self.cause = cause
        """What happened to the connection."""
        self.url = url
        """The address of the request."""
        super().__init__(f"no answer from {url}: {cause}")

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.cause, self.url)


class DamagedError(MesonetError):
    """An answer lacks readings because part of the record behind it is damaged. Raised if the
    client was made with ``damaged="raise"``.

    >>> from mesonet import DamagedError
    >>> print(DamagedError(2, "http://localhost/api/v1/stations/readings"))
    2 damaged blocks of the record are missing from http://localhost/api/v1/stations/readings
    """

    def __init__(self, blocks: int, url: str) -> None:
        self.blocks = blocks
        """How many blocks hold, or may hold, readings of the answer."""
        self.url = url
        """The address of the request."""
        super().__init__(_missing(blocks, url))

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.blocks, self.url)


def _missing(blocks: int, url: str) -> str:
    subject = "block of the record is" if blocks == 1 else "blocks of the record are"
    return f"{blocks} damaged {subject} missing from {url}"
