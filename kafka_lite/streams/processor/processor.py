"""A step of a topology, written by the user.

Kafka 0.10.2: streams/.../processor/Processor.java, AbstractProcessor.java, ProcessorSupplier.java · book 9.1.1
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from kafka_lite.streams.processor.processor_context import ProcessorContext

K = TypeVar("K")
V = TypeVar("V")


class Processor(ABC, Generic[K, V]):
    """Processes the records of one task, one at a time.

    It sends its results on with ``self.context.forward``. It is never called by two threads at once.
    """

    context: ProcessorContext

    def init(self, context: ProcessorContext) -> None:
        """Called once before the first record, after the stores have been restored."""
        self.context = context

    @abstractmethod
    def process(self, key: K, value: V) -> None:
        """Process a record."""

    def punctuate(self, timestamp: int) -> None:
        """Called at the intervals set by ``context.schedule``, with the stream time in ms."""

    def close(self) -> None:
        """Called once at the end. Stores are closed after it."""


ProcessorSupplier = Callable[[], Processor[Any, Any]]
"""Makes a new processor for each task: a subclass of Processor, or a function."""
