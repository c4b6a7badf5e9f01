"""The runtime as a processor may use it.

Kafka 0.10.2: streams/.../processor/ProcessorContext.java · book 9.1.1
"""

from __future__ import annotations

from abc import abstractmethod

from kafka_lite.record.record import Header
from kafka_lite.streams.processor.state_store import StateStore, StateStoreContext


class ProcessorContext(StateStoreContext):
    """The context of a task. It always refers to the record and the processor that are current."""

    @abstractmethod
    def forward(self, key: object, value: object, child: int | str | None = None) -> None:
        """Pass a record to all children of the current processor, or to one, by index or by name.

        Returns after the children have processed it. A name that no child has is a no-op. Raises IndexError.
        """

    @abstractmethod
    def commit(self) -> None:
        """Request a commit after the current record."""

    @abstractmethod
    def schedule(self, interval_ms: int) -> None:
        """Call ``punctuate`` of the current processor every ``interval_ms``, in stream time.

        Raises RuntimeError if no processor is current.
        """

    @abstractmethod
    def get_state_store(self, name: str) -> StateStore:
        """A store that is connected to the current processor. Raises TopologyBuilderError if it is not."""

    @property
    @abstractmethod
    def topic(self) -> str | None:
        """The topic of the current record; None in a punctuation. Raises RuntimeError if there is no record."""

    @property
    @abstractmethod
    def partition(self) -> int:
        """The partition of the current record; -1 in a punctuation. Raises RuntimeError if there is no record."""

    @property
    @abstractmethod
    def offset(self) -> int:
        """The offset of the current record; -1 in a punctuation. Raises RuntimeError if there is no record."""

    @property
    @abstractmethod
    def headers(self) -> tuple[Header, ...]:
        """The headers of the current record. (0.10.2 has none.) Raises RuntimeError if there is no record."""
