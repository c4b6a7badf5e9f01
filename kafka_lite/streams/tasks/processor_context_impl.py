"""The context of a task: which node and record are current, and how records pass from node to node.

Kafka 0.10.2: streams/.../processor/internals/ProcessorContextImpl.java, AbstractProcessorContext.java
· book 9.1.2
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from kafka_lite.record.record import Header
from kafka_lite.streams.errors import TopologyBuilderError
from kafka_lite.streams.processor.internals.internal_processor_context import InternalProcessorContext
from kafka_lite.streams.processor.internals.topology.processor_node import ProcessorNode
from kafka_lite.streams.processor.record_collector import RecordCollector
from kafka_lite.streams.processor.state_store import StateRestoreCallback, StateStore
from kafka_lite.streams.record_cache.processor_record_context import ProcessorRecordContext
from kafka_lite.streams.task_id import TaskId
from kafka_lite.streams.tasks.state_manager import StateManager
from kafka_lite.streams.tasks.task_environment import TaskEnvironment


class ProcessorContextImpl(InternalProcessorContext):
    """Records are forwarded depth first: a child and its descendants process a record before the next child gets it."""

    def __init__(
        self,
        task_id: TaskId,
        environment: TaskEnvironment,
        record_collector: RecordCollector,
        state_manager: StateManager,
        request_commit: Callable[[], None],
        schedule: Callable[[ProcessorNode, int], None],
    ) -> None:
        """Processors commit through ``request_commit``, and are scheduled by ``schedule(node, interval_ms)``."""
        self.task_id = task_id
        self.application_id = environment.application_id
        self.key_serde = environment.key_serde
        self.value_serde = environment.value_serde
        self.record_collector = record_collector
        self.cache = environment.cache
        self.app_configs = environment.app_configs
        self.metrics = environment.metrics
        self._state_manager = state_manager
        self._request_commit = request_commit
        self._schedule = schedule
        self._global_stores = environment.global_stores
        self._initialized = False
        self.current_node: ProcessorNode | None = None
        self.record_context: ProcessorRecordContext | None = None

    def initialized(self) -> None:
        """From now on no store can be registered."""
        self._initialized = True

    # ── for stores and processors ─────────────────────────────────────────────────────────────────────────────────

    def register(self, store: StateStore, restore: StateRestoreCallback) -> None:
        """Register and restore a store."""
        if self._initialized:
            raise RuntimeError("Can only create state stores during initialization.")
        self._state_manager.register(store, restore)

    @property
    def state_dir(self) -> Path:
        """The directory of the task."""
        return self._state_manager.base_dir

    def forget_checkpoint(self, store: str, why: str) -> bool:
        """Restore a store from the start of its changelog."""
        return self._state_manager.forget_checkpoint(store, why)

    def get_state_store(self, name: str) -> StateStore:
        """A store that is connected to the current processor, or a global one."""
        if name in self._global_stores:
            return self._global_stores[name]
        node = self.current_node
        if node is None:
            raise TopologyBuilderError("Accessing from an unknown node")
        if name not in node.state_stores:
            raise TopologyBuilderError(f"Processor {node.name} has no access to StateStore {name}")
        return self._state_manager.stores[name]

    def forward(self, key: object, value: object, child: int | str | None = None) -> None:
        """Pass a record to all children of the current node, or to one."""
        node = self.current_node
        if node is None:
            raise _no_current_node("forward")
        if child is None:
            children = node.children
        elif isinstance(child, int):
            children = [node.children[child]]
        else:
            children = [each for each in node.children if each.name == child][:1]
        try:
            for each in children:
                self.current_node = each
                each.process(key, value)
        finally:
            self.current_node = node

    def commit(self) -> None:
        """Request a commit after the current record."""
        self._request_commit()

    def schedule(self, interval_ms: int) -> None:
        """Punctuate the current node every ``interval_ms``."""
        if self.current_node is None:
            raise _no_current_node("schedule")
        self._schedule(self.current_node, interval_ms)

    # ── the current record ────────────────────────────────────────────────────────────────────────────────────────

    @property
    def topic(self) -> str | None:
        """The topic of the current record."""
        return self._record("topic").topic

    @property
    def partition(self) -> int:
        """The partition of the current record."""
        return self._record("partition").partition

    @property
    def offset(self) -> int:
        """The offset of the current record."""
        return self._record("offset").offset

    @property
    def timestamp(self) -> int:
        """The time of the current record, in ms."""
        record = self.record_context or self._record("timestamp")  # without a call for every record that is sent
        return record.timestamp

    @property
    def headers(self) -> tuple[Header, ...]:
        """The headers of the current record."""
        return self._record("headers").headers

    def _record(self, what: str) -> ProcessorRecordContext:
        if self.record_context is None:
            raise RuntimeError(f"This should not happen as {what} should only be accessed while a record is processed")
        return self.record_context


def _no_current_node(what: str) -> RuntimeError:
    return RuntimeError(f"{what} may be called only while a processor is running: the current node is unknown")
