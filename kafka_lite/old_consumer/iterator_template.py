"""An iterator with a ``has_next``, which may block.

Kafka 0.10.2: core/.../utils/IteratorTemplate.scala · book 3.4.2
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import Enum
from typing import Generic, Self, TypeVar

T = TypeVar("T")


class IteratorState(Enum):
    """The state of an iterator between its elements."""

    NOT_READY = "not ready"
    """*action*: none; the next element is not known. *transition*: has_next → FAILED, while it computes one."""
    READY = "ready"
    """*action*: hold the next element. *transition*: next returns it → NOT_READY."""
    DONE = "done"
    """*action*: none; there are no more elements. *transition*: none."""
    FAILED = "failed"
    """*action*: compute the next element, or keep failing after an error. *transition*: an element was found → READY;
    there is none → DONE; ``reset_state`` was called because the error is retriable → NOT_READY."""


VALID_PREVIOUS_STATES: dict[IteratorState, frozenset[IteratorState]] = {
    IteratorState.NOT_READY: frozenset({IteratorState.READY, IteratorState.FAILED}),
    IteratorState.READY: frozenset({IteratorState.FAILED}),
    IteratorState.DONE: frozenset({IteratorState.FAILED}),
    IteratorState.FAILED: frozenset({IteratorState.NOT_READY}),
}


class IteratorTemplate(ABC, Generic[T]):
    """Subclasses compute the next element. Used by one thread."""

    def __init__(self) -> None:
        self._state = IteratorState.NOT_READY
        self._next_item: T | None = None

    @abstractmethod
    def make_next(self) -> T | None:
        """The next element; None at the end. An error ends the iteration, unless ``reset_state`` was called."""

    def has_next(self) -> bool:
        """Whether there is another element; blocks until that is known. Raises RuntimeError after an error."""
        if self._state is IteratorState.FAILED:
            raise RuntimeError("Iterator is in failed state")
        if self._state is IteratorState.NOT_READY:
            self._become(IteratorState.FAILED)
            self._next_item = self.make_next()
            self._become(IteratorState.DONE if self._next_item is None else IteratorState.READY)
        return self._next_item is not None

    def __next__(self) -> T:
        if not self.has_next() or self._next_item is None:  # the second condition is only for the type checker
            raise StopIteration
        item, self._next_item = self._next_item, None
        self._become(IteratorState.NOT_READY)
        return item

    def __iter__(self) -> Self:
        return self

    def reset_state(self) -> None:
        """The error that is about to be raised is retriable: has_next may be called again."""
        self._become(IteratorState.NOT_READY)

    def _become(self, state: IteratorState) -> None:
        if self._state not in VALID_PREVIOUS_STATES[state]:
            raise RuntimeError(f"an iterator that is {self._state.value} cannot become {state.value}")
        self._state = state
