"""A call that is written once, for the client and its async twin."""

from collections.abc import Callable, Coroutine
from functools import update_wrapper, wraps
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, overload

from ._wire import Program

P = ParamSpec("P")
T = TypeVar("T")
U = TypeVar("U")


class Blocks(Protocol):
    """A client that waits for each answer."""

    def _run(self, program: Program[U]) -> U: ...


class Awaits(Protocol):
    """A client whose calls are awaited."""

    async def _run(self, program: Program[U]) -> U: ...


class call(Generic[P, T]):
    """A method whose body is a program. On a client it returns the result; on the async twin it
    returns an awaitable.
    """

    def __init__(self, program: Callable[Concatenate[Any, P], Program[T]]) -> None:
        self.program = program
        # mypy does not take an object without __call__ for a wrapper.
        update_wrapper(self, program)  # type: ignore[arg-type]

    @overload
    def __get__(self, client: Blocks, owner: Any = None) -> Callable[P, T]: ...
    @overload
    def __get__(self, client: Awaits, owner: Any = None) -> Callable[P, Coroutine[Any, Any, T]]: ...
    @overload
    def __get__(self, client: None, owner: Any = None) -> Callable[..., Program[T]]: ...
    def __get__(self, client: Any, owner: Any = None) -> Any:
        if client is None:
            return self.program

        @wraps(self.program)
        def bound(*args: P.args, **kwargs: P.kwargs) -> Any:
            return client._run(self.program(client, *args, **kwargs))

        # The signature of the method without the client itself.
        del bound.__wrapped__
        return bound
