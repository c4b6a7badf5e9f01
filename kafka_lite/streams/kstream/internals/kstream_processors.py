"""The processors of streams that need no state.

Kafka 0.10.2: streams/.../kstream/internals/KStreamFilter.java, KStreamMap.java, KStreamMapValues.java,
KStreamFlatMap.java, KStreamFlatMapValues.java, KStreamBranch.java, KStreamForeach.java, KStreamPassThrough.java
· book 9.2.2
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from kafka_lite.streams.processor.processor import Processor


class KStreamFilter(Processor[Any, Any]):
    """Passes on the records for which the predicate holds; with ``negate`` the others."""

    def __init__(self, predicate: Callable[[Any, Any], bool], negate: bool = False) -> None:
        self._predicate = predicate
        self._negate = negate

    def process(self, key: Any, value: Any) -> None:
        """Pass the record on, or drop it."""
        if bool(self._predicate(key, value)) != self._negate:
            self.context.forward(key, value)


class KStreamMap(Processor[Any, Any]):
    """Maps each record to a new one."""

    def __init__(self, mapper: Callable[[Any, Any], tuple[Any, Any]]) -> None:
        self._mapper = mapper

    def process(self, key: Any, value: Any) -> None:
        """Pass the new record on."""
        new_key, new_value = self._mapper(key, value)
        self.context.forward(new_key, new_value)


class KStreamMapValues(Processor[Any, Any]):
    """Maps each value to a new one."""

    def __init__(self, mapper: Callable[[Any], Any]) -> None:
        self._mapper = mapper

    def process(self, key: Any, value: Any) -> None:
        """Pass the new value on."""
        self.context.forward(key, self._mapper(value))


class KStreamFlatMap(Processor[Any, Any]):
    """Makes any number of new records of each."""

    def __init__(self, mapper: Callable[[Any, Any], Iterable[tuple[Any, Any]]]) -> None:
        self._mapper = mapper

    def process(self, key: Any, value: Any) -> None:
        """Pass the new records on."""
        for new_key, new_value in self._mapper(key, value):
            self.context.forward(new_key, new_value)


class KStreamFlatMapValues(Processor[Any, Any]):
    """Makes any number of new values of each."""

    def __init__(self, mapper: Callable[[Any], Iterable[Any]]) -> None:
        self._mapper = mapper

    def process(self, key: Any, value: Any) -> None:
        """Pass the new values on."""
        for new_value in self._mapper(value):
            self.context.forward(key, new_value)


class KStreamBranch(Processor[Any, Any]):
    """Passes a record on to the child whose predicate is the first that holds. Drops it if none does."""

    def __init__(self, predicates: Sequence[Callable[[Any, Any], bool]]) -> None:
        self._predicates = predicates

    def process(self, key: Any, value: Any) -> None:
        """Find the child."""
        for number, predicate in enumerate(self._predicates):
            if predicate(key, value):
                self.context.forward(key, value, number)
                return


class KStreamForeach(Processor[Any, Any]):
    """Calls a function, and passes nothing on."""

    def __init__(self, action: Callable[[Any, Any], object]) -> None:
        self._action = action

    def process(self, key: Any, value: Any) -> None:
        """Call the function."""
        self._action(key, value)


class KStreamPassThrough(Processor[Any, Any]):
    """Passes every record on: the end of a branch, the meeting of merged streams."""

    def process(self, key: Any, value: Any) -> None:
        """Pass the record on."""
        self.context.forward(key, value)
