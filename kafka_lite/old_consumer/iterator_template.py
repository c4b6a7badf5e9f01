"""An iterator that can be asked whether there is a next element, which may take a while to find out.

Kafka 0.10.2: core/.../utils/IteratorTemplate.scala · book 3.4.2
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import Enum
from typing import Generic, Self, TypeVar

T = TypeVar("T")


class IteratorState(Enum):
    """Where an iterator stands between its elements."""

    NOT_READY = "not ready"
    """*action*: none; the next element is not known yet. *transition*: has_next → FAILED, until it is known."""
    READY = "ready"
    """*action*: has the next element. *transition*: next hands it out → NOT_READY."""
    DONE = "done"
    """*action*: there is nothing more, for good."""
    FAILED = "failed"
    """*action*: computes the next element, or that has raised an error. *transition*: there is one → READY; there is
    none → DONE; the error is one after which one may ask again → NOT_READY. Else it stays so."""


VALID_PREVIOUS_STATES: dict[IteratorState, frozenset[IteratorState]] = {
    IteratorState.NOT_READY: frozenset({IteratorState.READY, IteratorState.FAILED}),
    IteratorState.READY: frozenset({IteratorState.FAILED}),
    IteratorState.DONE: frozenset({IteratorState.FAILED}),
    IteratorState.FAILED: frozenset({IteratorState.NOT_READY}),
}


class IteratorTemplate(ABC, Generic[T]):
    """Subclasses say how the next element is made. For one thread."""

    def __init__(self) -> None:
        self._state = IteratorState.NOT_READY
        self._next_item: T | None = None

    @abstractmethod
    def make_next(self) -> T | None:
        """The next element; None when there is none, for good. An error ends the iteration, unless ``reset_state``."""

    def has_next(self) -> bool:
        """Whether there is another element; waits until that is known. Raises RuntimeError after an error."""
        if self._state is IteratorState.FAILED:
            raise RuntimeError("Iterator is in failed state")
        if self._state is IteratorState.NOT_READY:
            self._become(IteratorState.FAILED)
            self._next_item = self.make_next()
            self._become(IteratorState.DONE if self._next_item is None else IteratorState.READY)
        return self._next_item is not None

    def __next__(self) -> T:
        if not self.has_next() or self._next_item is None:  # the second for the type checker: it is the same
            raise StopIteration
        item, self._next_item = self._next_item, None
        self._become(IteratorState.NOT_READY)
        return item

    def __iter__(self) -> Self:
        return self

    def reset_state(self) -> None:
        """What is raised now is no failure: one may ask again."""
        self._become(IteratorState.NOT_READY)

    def _become(self, state: IteratorState) -> None:
        if self._state not in VALID_PREVIOUS_STATES[state]:
            raise RuntimeError(f"an iterator that is {self._state.value} cannot become {state.value}")
        self._state = state
