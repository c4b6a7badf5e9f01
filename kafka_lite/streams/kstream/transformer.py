"""A step of the DSL that has state, written by the user.

Kafka 0.10.2: streams/.../kstream/Transformer.java, TransformerSupplier.java, ValueTransformer.java,
ValueTransformerSupplier.java · book 9.2.2
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic, TypeVar

from kafka_lite.streams.processor.processor_context import ProcessorContext

K = TypeVar("K")
V = TypeVar("V")
R = TypeVar("R")


class Transformer(ABC, Generic[K, V, R]):
    """Makes a record, R, or none of each record of one task. It may use stores, and ``context.forward`` more records.

    It is never called by two threads at once.
    """

    context: ProcessorContext

    def init(self, context: ProcessorContext) -> None:
        """Called once before the first record, after the stores have been restored."""
        self.context = context

    @abstractmethod
    def transform(self, key: K, value: V) -> R | None:
        """The new record, a key and a value; None for no record."""

    def punctuate(self, timestamp: int) -> R | None:  # noqa: ARG002
        """Called at the intervals of ``context.schedule``, with the stream time in ms. Returns a record, or None."""
        return None

    def close(self) -> None:
        """Called once at the end."""


class ValueTransformer(ABC, Generic[V, R]):
    """Makes a new value, R, of the value of each record of one task. It may use stores.

    ``context.forward`` raises StreamsError, since a record with another key could be in the wrong partition.
    """

    context: ProcessorContext

    def init(self, context: ProcessorContext) -> None:
        """Called once before the first record, after the stores have been restored."""
        self.context = context

    @abstractmethod
    def transform(self, value: V) -> R:
        """The new value."""

    def punctuate(self, timestamp: int) -> None:
        """Called at the intervals set by ``context.schedule``, with the stream time in ms."""

    def close(self) -> None:
        """Called once at the end."""
