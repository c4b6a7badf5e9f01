"""A state store as the runtime uses it, and the runtime as a store may use it.

Kafka 0.10.2: streams/.../processor/StateStore.java, StateStoreSupplier.java, StateRestoreCallback.java;
state/internals/WindowStoreSupplier.java · book 9.1.4
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Generic, Self, TypeVar

from kafka_lite.common.serdes import Serde
from kafka_lite.streams.processor.record_collector import RecordCollector
from kafka_lite.streams.record_cache.processor_record_context import ProcessorRecordContext
from kafka_lite.streams.record_cache.thread_cache import ThreadCache
from kafka_lite.streams.streams_metrics import StreamsMetrics
from kafka_lite.streams.task_id import TaskId

IN_MEMORY, ROCKS_DB = "in_memory", "rocksDB"
"""Where the DSL may keep its stores: the values of ``default.dsl.store``."""

ROCKS_DB_DIR = "rocksdb"
"""The directory of the key-value stores on disk, within that of their task."""

StateRestoreCallback = Callable[[bytes, bytes | None], None]
"""Puts a record of the changelog, key and value, into the store. A value of None deletes the key."""


class StateStoreContext(ABC):
    """The part of a processor's context that a store uses. (0.10.2 passes the whole ProcessorContext.)"""

    application_id: str
    task_id: TaskId
    key_serde: Serde[Any]
    """The default serde of keys."""
    value_serde: Serde[Any]
    """The default serde of values."""
    record_collector: RecordCollector
    """Sends records to topics: changelogs and sinks."""
    cache: ThreadCache
    """The record caches of the thread."""
    metrics: StreamsMetrics
    """The metrics of the thread, to which users add sensors of their own."""
    record_context: ProcessorRecordContext | None
    """Where the current record was read; None before the first one."""
    app_configs: Mapping[str, object]
    """The configuration of the application, as it was given."""

    @property
    @abstractmethod
    def state_dir(self) -> Path:
        """The directory of the task. Nobody else uses it."""

    @property
    @abstractmethod
    def timestamp(self) -> int:
        """The time of the current record, or of the punctuation, in ms since the epoch."""

    @abstractmethod
    def register(self, store: StateStore, restore: StateRestoreCallback) -> None:
        """Register a store, and restore it from its changelog if it has one. Returns after that.

        Raises RuntimeError after the task has been initialized, and ValueError for a name that is taken.
        """

    @abstractmethod
    def forget_checkpoint(self, store: str, why: str) -> bool:
        """Restore a store from the start of its changelog when it is registered, because its files are lost.

        Returns False if it has no changelog. Logs ``why`` if there was a checkpoint. Raises OSError.
        """


class StateStore(ABC):
    """A store of one task. It is used by the task's thread; only reads may come from other threads."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Unique in the topology."""

    @property
    @abstractmethod
    def persistent(self) -> bool:
        """Whether its content is on disk, so that restoring can begin at a checkpoint."""

    @property
    @abstractmethod
    def is_open(self) -> bool:
        """Whether it has been initialized and not closed yet."""

    @abstractmethod
    def init(self, context: StateStoreContext, root: StateStore) -> None:
        """Open the store and register ``root``: the store itself, or the outermost store that wraps it."""

    @abstractmethod
    def flush(self) -> None:
        """Make all writes durable, if the store is persistent."""

    @abstractmethod
    def close(self) -> None:
        """Close the store. A no-op if it is closed."""


S_co = TypeVar("S_co", bound=StateStore, covariant=True)


class StateStoreSupplier(ABC, Generic[S_co]):
    """Makes one store per task."""

    name: str
    logging_enabled: bool
    """Whether changes go to a changelog topic."""
    log_config: Mapping[str, str]
    """Topic configuration of the changelog, by key."""

    @abstractmethod
    def get(self) -> S_co:
        """A new store."""

    def of_dsl(self, persistent: bool) -> Self:  # noqa: ARG002
        """The supplier with what it leaves open filled in: whether its stores are on disk. By default, nothing is."""
        return self

    def without_cache(self) -> Self:
        """The supplier of stores without record caches that send the same. By default, the supplier itself."""
        return self


class WindowStoreSupplier(StateStoreSupplier[S_co]):
    """Makes stores whose entries expire. Their changelogs are compacted, and old segments of them deleted as well."""

    retention_ms: int
    """How long entries are kept."""
