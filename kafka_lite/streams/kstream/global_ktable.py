"""A table that every instance has as a whole.

Kafka 0.10.2: streams/.../kstream/GlobalKTable.java, internals/GlobalKTableImpl.java · book 9.2.1
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True)
class GlobalKTable(Generic[K, V]):
    """A topic as a table with all of its partitions, in each instance of the application.

    Streams can be joined with it by any key, without a repartition topic. It is not synchronized with them: a record
    is joined with what the instance has read of the topic by then. At the start, everything is read first.
    """

    store_name: str
    """The name of its store, which every processor may read."""
