"""The outcome of a request that is still under way, and how outcomes are built on each other.

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
    """A future was completed twice, or asked for what it does not have: a mistake of the caller."""


class DisconnectError(ApiError):
    """The connection broke before the answer came."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(Errors.NETWORK_EXCEPTION, message)


class NoAvailableBrokersError(ApiError):
    """No broker could be asked just now."""

    def __init__(self) -> None:
        super().__init__(Errors.COORDINATOR_NOT_AVAILABLE, "No brokers available to send the request to")


class StaleMetadataError(ApiError):
    """What is known of the cluster does not say whom to ask."""

    def __init__(self, message: str) -> None:
        super().__init__(Errors.LEADER_NOT_AVAILABLE, message)


class RequestFuture(Generic[T]):
    """Result of an asynchronous request: pending, succeeded with a value, or failed with an exception.

    ::

                          ┌─ complete(value) ─▶ SUCCEEDED ─▶ on_success(value)  of every listener
        pending ──────────┤
                          └─ fail(exception) ─▶ FAILED    ─▶ on_failure(exception)

    The client's threads do not wait for a future as for one of ``concurrent.futures``: whoever needs the outcome *polls
    the network client* until the future is done (``ConsumerNetworkClient.poll_future``), and so does the work that
    completes it. Listeners run in the thread that completes; one that is added later runs at once.

    Two ways to build on a future::

        client.send(node, request)          RequestFuture[ClientResponse]
              .compose(adapter)             RequestFuture[int]      another type: the adapter makes it of the outcome
        inner.chain(outer)                                          the same type: outer gets whatever inner gets

    ``compose`` is what turns answers into what the caller wants to know, step by step: SyncGroup is sent by the adapter
    of JoinGroup, whose own future it is then *chained* to.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._value: object = _PENDING
        self._exception: BaseException | None = None
        self._listeners: list[tuple[Callable[[T], None] | None, Callable[[BaseException], None] | None]] = []

    # ── The outcome ───────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def is_done(self) -> bool:
        """Whether there is an outcome."""
        return self._value is not _PENDING or self._exception is not None

    @property
    def succeeded(self) -> bool:
        """Whether there is a value."""
        return self._value is not _PENDING

    @property
    def failed(self) -> bool:
        """Whether there is an exception."""
        return self._exception is not None

    @property
    def is_retriable(self) -> bool:
        """Whether the same request may succeed later; false unless it failed."""
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
        """Whether a poll that waits for this future should wait for the network."""
        return not self.is_done

    # ── Completing ────────────────────────────────────────────────────────────────────────────────────────────────

    def complete(self, value: T) -> None:
        """Succeed, and tell the listeners. Raises IllegalFutureStateError when it is done already."""
        with self._lock:
            self._ensure_pending()
            self._value = value
            listeners, self._listeners = self._listeners, []
        for on_success, _ in listeners:
            if on_success is not None:
                on_success(value)

    def fail(self, reason: BaseException | Errors) -> None:
        """Fail (Kafka's ``raise``), and tell the listeners; Errors stand for their exceptions.

        Raises IllegalFutureStateError when it is done already.
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
            raise IllegalFutureStateError("a future is completed once")

    # ── Building on it ────────────────────────────────────────────────────────────────────────────────────────────

    def add_listener(
        self,
        on_success: Callable[[T], None] | None = None,
        on_failure: Callable[[BaseException], None] | None = None,
    ) -> None:
        """Call one of these with the outcome; at once if it is there already."""
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
        """A future of another type, which the adapter completes when this one is done."""
        adapted: RequestFuture[S] = RequestFuture()
        self.add_listener(
            lambda value: adapter.on_success(value, adapted),
            lambda exception: adapter.on_failure(exception, adapted),
        )
        return adapted

    def chain(self, future: RequestFuture[T]) -> None:
        """Give this outcome to another future as well."""
        self.add_listener(future.complete, future.fail)

    # ── Those that are done from the beginning ────────────────────────────────────────────────────────────────────

    @classmethod
    def success(cls, value: T) -> RequestFuture[T]:
        """One that has succeeded."""
        future: RequestFuture[T] = cls()
        future.complete(value)
        return future

    @classmethod
    def failure(cls, reason: BaseException | Errors) -> RequestFuture[T]:
        """One that has failed."""
        future: RequestFuture[T] = cls()
        future.fail(reason)
        return future

    @classmethod
    def no_brokers_available(cls) -> RequestFuture[T]:
        """There is nobody to ask just now."""
        return cls.failure(NoAvailableBrokersError())

    @classmethod
    def coordinator_not_available(cls) -> RequestFuture[T]:
        """The coordinator is not known."""
        return cls.failure(Errors.COORDINATOR_NOT_AVAILABLE)


class RequestFutureAdapter(ABC, Generic[T, S]):
    """Makes an outcome of type S of one of type T; see ``RequestFuture.compose``."""

    @abstractmethod
    def on_success(self, value: T, future: RequestFuture[S]) -> None:
        """Complete ``future``, now or later, or let it fail."""

    def on_failure(self, exception: BaseException, future: RequestFuture[S]) -> None:
        """A failure stays one, unless a subclass knows better."""
        future.fail(exception)


class FunctionAdapter(RequestFutureAdapter[T, S]):
    """An adapter that is a function; what the function raises is the failure of the new future."""

    def __init__(self, function: Callable[[T], S]) -> None:
        self._function = function

    def on_success(self, value: T, future: RequestFuture[S]) -> None:
        """Complete with what the function makes of the value."""
        try:
            result = self._function(value)
        except Exception as error:  # noqa: BLE001 - whatever it is, the caller waits for an outcome
            future.fail(error)
        else:
            future.complete(result)


def is_retriable(exception: Any) -> bool:
    """Whether an exception says that the same request may succeed later."""
    return isinstance(exception, ApiError) and exception.retriable
