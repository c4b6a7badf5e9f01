"""Futures of requests, and how they are composed.

Kafka 0.10.2: clients/.../consumer/internals/RequestFuture.java, RequestFutureAdapter.java, RequestFutureListener.java ·
book 4.2.1, 4.2.2
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Generic, TypeVar, cast

from kafka_lite.common.errors import ApiError, Errors

T = TypeVar("T")
S = TypeVar("S")

_PENDING = object()


class IllegalFutureStateError(RuntimeError):
    """A future was completed twice, or lacks the requested outcome: a bug of the caller."""


class DisconnectError(ApiError):
    """The connection was lost before the response arrived."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(Errors.NETWORK_EXCEPTION, message)


class NoAvailableBrokersError(ApiError):
    """No broker is available to send the request to."""

    def __init__(self) -> None:
        super().__init__(Errors.COORDINATOR_NOT_AVAILABLE, "No brokers available to send the request to")


class StaleMetadataError(ApiError):
    """The metadata has no broker to send the request to."""

    def __init__(self, message: str) -> None:
        super().__init__(Errors.LEADER_NOT_AVAILABLE, message)


class RequestFuture(Generic[T]):
    """Result of an asynchronous request: pending, succeeded with a value, or failed with an exception.

    ::

                          ┌─ complete(value) ─▶ SUCCEEDED ─▶ on_success(value)  of every listener
        pending ──────────┤
                          └─ fail(exception) ─▶ FAILED    ─▶ on_failure(exception)

    Unlike with ``concurrent.futures``, a thread that needs the outcome does not just wait: it *polls the network
    client* until the future is done (``ConsumerNetworkClient.poll_future``), and so does the work that completes the
    future. Listeners run in the completing thread; one that is added later runs at once.

    There are two ways to compose futures::

        client.send(node, request)          RequestFuture[ClientResponse]
              .compose(adapter)             RequestFuture[int]      another type: the adapter converts the outcome
        inner.chain(outer)                                          the same type: outer gets inner's outcome

    ``compose`` turns responses step by step into the result that the caller wants: the adapter of JoinGroup sends
    SyncGroup, whose future is then *chained* to that of the join.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._value: object = _PENDING
        self._exception: BaseException | None = None
        self._listeners: list[tuple[Callable[[T], None] | None, Callable[[BaseException], None] | None]] = []

    # ── the outcome ───────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def is_done(self) -> bool:
        """Whether it is completed."""
        return self._value is not _PENDING or self._exception is not None

    @property
    def succeeded(self) -> bool:
        """Whether it has a value."""
        return self._value is not _PENDING

    @property
    def failed(self) -> bool:
        """Whether it has an exception."""
        return self._exception is not None

    @property
    def is_retriable(self) -> bool:
        """Whether it has failed with an error after which a retry may succeed."""
        return is_retriable(self._exception)

    @property
    def value(self) -> T:
        """The value. Raises IllegalFutureStateError unless it succeeded."""
        if not self.succeeded:
            raise IllegalFutureStateError("a future that did not succeed has no value")
        return cast(T, self._value)

    @property
    def exception(self) -> BaseException:
        """The exception. Raises IllegalFutureStateError unless it failed."""
        if self._exception is None:
            raise IllegalFutureStateError("a future that did not fail has no exception")
        return self._exception

    @property
    def should_block(self) -> bool:
        """Whether a poll that waits for this future should block on the network."""
        return not self.is_done

    # ── completing ────────────────────────────────────────────────────────────────────────────────────────────────

    def complete(self, value: T) -> None:
        """Succeed with a value, and call the listeners. Raises IllegalFutureStateError if it is completed already."""
        with self._lock:
            self._ensure_pending()
            self._value = value
            listeners, self._listeners = self._listeners, []
        for on_success, _ in listeners:
            if on_success is not None:
                on_success(value)

    def fail(self, reason: BaseException | Errors) -> None:
        """Fail (Kafka's ``raise``), and call the listeners. An ``Errors`` stands for its exception.

        Raises IllegalFutureStateError if it is completed already.
        """
        exception = reason.exception() if isinstance(reason, Errors) else reason
        with self._lock:
            self._ensure_pending()
            self._exception = exception
            listeners, self._listeners = self._listeners, []
        for _, on_failure in listeners:
            if on_failure is not None:
                on_failure(exception)

    def _ensure_pending(self) -> None:
        if self.is_done:
            raise IllegalFutureStateError("this future is already completed")

    # ── composing ─────────────────────────────────────────────────────────────────────────────────────────────────

    def add_listener(
        self,
        on_success: Callable[[T], None] | None = None,
        on_failure: Callable[[BaseException], None] | None = None,
    ) -> None:
        """Call one of these with the outcome, unless it is None; at once if the future is completed already."""
        with self._lock:
            if not self.is_done:
                self._listeners.append((on_success, on_failure))
                return
        if self._exception is not None:
            if on_failure is not None:
                on_failure(self._exception)
        elif on_success is not None:
            on_success(self.value)

    def compose(self, adapter: RequestFutureAdapter[T, S]) -> RequestFuture[S]:
        """A future of another type, which the adapter completes when this one is completed."""
        adapted: RequestFuture[S] = RequestFuture()
        self.add_listener(
            lambda value: adapter.on_success(value, adapted),
            lambda exception: adapter.on_failure(exception, adapted),
        )
        return adapted

    def chain(self, future: RequestFuture[T]) -> None:
        """Complete another future with the same outcome."""
        self.add_listener(future.complete, future.fail)

    # ── completed futures ─────────────────────────────────────────────────────────────────────────────────────────

    @classmethod
    def success(cls, value: T) -> RequestFuture[T]:
        """A future that has succeeded."""
        future: RequestFuture[T] = cls()
        future.complete(value)
        return future

    @classmethod
    def failure(cls, reason: BaseException | Errors) -> RequestFuture[T]:
        """A future that has failed."""
        future: RequestFuture[T] = cls()
        future.fail(reason)
        return future

    @classmethod
    def no_brokers_available(cls) -> RequestFuture[T]:
        """A future that has failed because no broker is available."""
        return cls.failure(NoAvailableBrokersError())

    @classmethod
    def coordinator_not_available(cls) -> RequestFuture[T]:
        """A future that has failed because the coordinator is not known."""
        return cls.failure(Errors.COORDINATOR_NOT_AVAILABLE)


class RequestFutureAdapter(ABC, Generic[T, S]):
    """Turns an outcome of type T into one of type S; see ``RequestFuture.compose``."""

    @abstractmethod
    def on_success(self, value: T, future: RequestFuture[S]) -> None:
        """Complete ``future``, now or later, or fail it."""

    def on_failure(self, exception: BaseException, future: RequestFuture[S]) -> None:
        """Fail ``future`` with the same exception, unless a subclass handles it."""
        future.fail(exception)


class FunctionAdapter(RequestFutureAdapter[T, S]):
    """An adapter made of a function. An exception in the function fails the new future."""

    def __init__(self, function: Callable[[T], S]) -> None:
        self._function = function

    def on_success(self, value: T, future: RequestFuture[S]) -> None:
        """Complete ``future`` with the function's result, or fail it with its exception, and no other."""
        try:
            result = self._function(value)
        except Exception as error:  # noqa: BLE001 - whatever it is, the caller waits for an outcome
            future.fail(error)
        else:
            future.complete(result)


def is_retriable(exception: Any) -> bool:
    """Whether the request may succeed if it is retried."""
    return isinstance(exception, ApiError) and exception.retriable
