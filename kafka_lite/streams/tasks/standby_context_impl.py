"""The context of a standby task: its stores are opened and restored, and nothing is processed.

Kafka 0.10.2: streams/.../processor/internals/StandbyContextImpl.java · book 9.1.3
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.streams.processor.state_store import StateRestoreCallback, StateStore, StateStoreContext
from kafka_lite.streams.record_cache.thread_cache import ThreadCache
from kafka_lite.streams.task_id import TaskId
from kafka_lite.streams.tasks.state_manager import StateManager
from kafka_lite.streams.tasks.task_environment import TaskEnvironment


class StandbyContextImpl(StateStoreContext):
    """It has no record, and no cache, since only the active task writes. (0.10.2 refuses all that a processor may do;
    here a store has no access to that anyway.)"""

    def __init__(
        self,
        task_id: TaskId,
        environment: TaskEnvironment,
        state_manager: StateManager,
    ) -> None:
        self.task_id = task_id
        self.application_id = environment.application_id
        self.key_serde = environment.key_serde
        self.value_serde = environment.value_serde
        self.record_collector = _NoOpCollector()
        self.record_context = None
        self.cache = ThreadCache()
        self.app_configs = environment.app_configs
        self.metrics = environment.metrics
        self._state_manager = state_manager

    @property
    def timestamp(self) -> int:
        """Raises RuntimeError: there is no record."""
        raise RuntimeError("this should not happen: timestamp is not supported in standby tasks.")

    @property
    def state_dir(self) -> Path:
        """The directory of the task."""
        return self._state_manager.base_dir

    def forget_checkpoint(self, store: str, why: str) -> bool:
        """Follow the changelog of a store from its start."""
        return self._state_manager.forget_checkpoint(store, why)

    def register(self, store: StateStore, restore: StateRestoreCallback) -> None:
        """Register a store, which from now on follows its changelog."""
        self._state_manager.register(store, restore)


class _NoOpCollector:
    """Sends nothing: what a standby task restores is in the changelog already."""

    offsets: Mapping[TopicPartition, int] = {}

    def send(self, *_: object) -> None:
        """A no-op."""

    def flush(self) -> None:
        """A no-op."""
