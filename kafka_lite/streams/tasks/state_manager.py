"""Keeps the stores of a task.

Kafka 0.10.2: streams/.../processor/internals/StateManager.java · book 9.1.4
"""

from __future__ import annotations

import shutil
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.streams.errors import ProcessorStateError
from kafka_lite.streams.processor.state_store import ROCKS_DB_DIR, StateRestoreCallback, StateStore


class StateManager(ABC):
    """Registers, restores, flushes and closes the stores of one task."""

    def __init__(self) -> None:
        self.stores: dict[str, StateStore] = {}
        """The registered stores, by name."""

    def initialize(self, stores: Iterable[StateStore]) -> None:  # noqa: B027
        """Called before these stores are opened. By default a no-op. Raises StreamsError."""

    def wipe(self, store: str) -> None:
        """Delete the files of a store that is not open. Raises ProcessorStateError.

        They are where Kafka has them: in ``rocksdb/<name>``, or in ``<name>`` for a store with segments.
        """
        for path in (self.base_dir / ROCKS_DB_DIR / store, self.base_dir / store):
            try:
                if path.exists():
                    shutil.rmtree(path)
            except OSError as error:
                raise ProcessorStateError(f"Failed to delete the files of store {store} at {path}: {error}") from error

    def register(self, store: StateStore, restore: StateRestoreCallback) -> None:
        """Restore a store, and keep it. Raises ValueError for a name that is taken."""
        if store.name in self.stores:
            raise ValueError(f"Store {store.name} has already been registered.")
        self.restore(store, restore)
        self.stores[store.name] = store

    @abstractmethod
    def restore(self, store: StateStore, restore: StateRestoreCallback) -> None:
        """Bring the content of a store up to date."""

    @property
    def base_dir(self) -> Path:
        """The directory for the files of stores. Raises ProcessorStateError if there is none."""
        raise ProcessorStateError("these stores have no directory")

    def forget_checkpoint(self, store: str, why: str) -> bool:  # noqa: ARG002
        """Restore a store from the start when it is registered. False if it has no changelog.

        By default a no-op: there is no checkpoint.
        """
        return True

    @abstractmethod
    def checkpoint(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Write down up to which offset of its changelog the content of each persistent store goes.

        ``offsets`` has the last stored offset of each changelog partition.
        """

    @abstractmethod
    def put_offset_limit(self, partition: TopicPartition, limit: int) -> None:
        """Set the committed offset of a source partition; records from it on are not restored."""

    def flush(self) -> None:
        """Flush all stores, and first their caches, in the order in which records pass the stores.

        What a cache passes on may fail: errors that are not Kafka's are raised as ProcessorStateError.
        """
        for name, store in self.stores.items():
            try:
                store.flush()
            except (KafkaError, OSError):
                raise
            except Exception as error:
                raise ProcessorStateError(f"Failed to flush state store {name}") from error

    def close(self, offsets: Mapping[TopicPartition, int] | None) -> None:
        """Close all stores, even if one of them fails; checkpoint them unless ``offsets`` is None, after an error."""
        with ExitStack() as closing:
            for store in reversed(self.stores.values()):
                closing.callback(store.close)
        if offsets is not None and self.stores:
            self.checkpoint(offsets)
