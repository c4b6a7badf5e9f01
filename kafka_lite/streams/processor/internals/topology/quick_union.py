"""Disjoint sets, for finding which processors are connected.

Kafka 0.10.2: streams/.../processor/internals/QuickUnion.java · book 9.1.2
"""

from __future__ import annotations

from typing import Generic, TypeVar

T = TypeVar("T")


class QuickUnion(Generic[T]):
    """Each element points to another one of its set; the root points to itself."""

    def __init__(self) -> None:
        self._parents: dict[T, T] = {}

    def add(self, element: T) -> None:
        """Add a set of one element."""
        self._parents[element] = element

    def __contains__(self, element: T) -> bool:
        return element in self._parents

    def root(self, element: T) -> T:
        """The element that stands for the whole set. Raises KeyError for an unknown element.

        Halves the path on the way: every element it passes points to its grandparent afterwards.
        """
        parent = self._parents[element]
        while parent != element:
            self._parents[element] = grandparent = self._parents[parent]
            element, parent = parent, grandparent
        return element

    def unite(self, element: T, *others: T) -> None:
        """Merge the sets of all these elements. Raises KeyError for an unknown element."""
        for other in others:
            self._parents[self.root(element)] = self.root(other)
