"""An instance of an application: its threads, and its state.

Kafka 0.10.2: streams/.../streams/KafkaStreams.java · book 9.1.1
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any, Self, TypeVar
from uuid import UUID, uuid4

from kafka_lite.common.serialization import Serializer
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.metrics.jmx_reporter import JmxReporter
from kafka_lite.metrics.metric import AttributeValue
from kafka_lite.metrics.metric_name import MetricName
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.metrics.recording_level import RecordingLevel
from kafka_lite.metrics.sensor import KafkaMetric, KafkaMetricName
from kafka_lite.metrics.stats import MetricConfig
from kafka_lite.streams.errors import TopologyBuilderError
from kafka_lite.streams.kafka_client_supplier import KafkaClientSupplier
from kafka_lite.streams.processor.internals.topology.processor_topology import ProcessorTopology
from kafka_lite.streams.processor.stream_partitioner import StreamPartitioner
from kafka_lite.streams.processor.topology_builder import TopologyBuilder
from kafka_lite.streams.state.host_info import HostInfo
from kafka_lite.streams.state.queryable_store_provider import QueryableStoreProvider
from kafka_lite.streams.state.queryable_store_types import QueryableStoreType
from kafka_lite.streams.state.streams_metadata import StreamsMetadata
from kafka_lite.streams.streams_config import StreamsConfig
from kafka_lite.streams.tasks.state_directory import StateDirectory
from kafka_lite.streams.threads.global_stream_thread import GlobalStreamThread, GlobalStreamThreadState
from kafka_lite.streams.threads.stream_thread import StreamThread
from kafka_lite.streams.threads.stream_thread_state import StreamThreadState
from kafka_lite.streams.threads.streams_metadata_state import StreamsMetadataState

logger = logging.getLogger(__name__)

T = TypeVar("T")

DEFAULT_CLOSE_TIMEOUT_MS = 60_000


class State(Enum):
    """One row per state: what the instance does in it (action), and what leads out of it (transition)."""

    CREATED = "created"
    """action: none · transition: RUNNING by ``start``"""
    RUNNING = "running"
    """action: process records · transition: REBALANCING when a thread loses or gets partitions"""
    REBALANCING = "rebalancing"
    """action: suspend, create and restore tasks · transition: RUNNING when all threads have their tasks"""
    PENDING_SHUTDOWN = "pending shutdown"
    """action: close all threads · transition: NOT_RUNNING"""
    NOT_RUNNING = "not running"
    """action: none · transition: none"""
    ERROR = "error"
    """action: none, since all threads or the global one have died · transition: PENDING_SHUTDOWN by ``close``"""


VALID_PREVIOUS_STATES: dict[State, frozenset[State]] = {
    State.CREATED: frozenset(),
    State.RUNNING: frozenset({State.CREATED, State.REBALANCING}),
    State.REBALANCING: frozenset({State.RUNNING, State.REBALANCING}),
    State.PENDING_SHUTDOWN: frozenset({State.CREATED, State.RUNNING, State.REBALANCING, State.ERROR}),
    State.NOT_RUNNING: frozenset({State.PENDING_SHUTDOWN}),
    State.ERROR: frozenset({State.RUNNING, State.REBALANCING}),
}
"""The states that may come before a state."""

StateListener = Callable[[State, State], None]
"""Called with the new and the old state, in the thread that changes it."""
UncaughtExceptionHandler = Callable[[threading.Thread, Exception], None]
"""Called in a stream thread that dies of an error, after its tasks and clients are closed."""


class KafkaStreams:
    """Runs a topology. All instances with the same ``application.id`` share its tasks.

    ::

        with KafkaStreams(builder, {"application.id": "word-count", "bootstrap.servers": "localhost:9092"}) as streams:
            streams.start()
            ...
    """

    def __init__(
        self,
        builder: TopologyBuilder,
        configs: Mapping[str, object],
        client_supplier: KafkaClientSupplier | None = None,
        *,
        time: Time = SYSTEM_TIME,
    ) -> None:
        """``client_supplier`` makes the consumers and producers of all threads.

        Raises ConfigError, TypeError unless there is a topology, and ProcessorStateError if the state directory cannot
        be created. Does not connect.
        """
        if not isinstance(builder, TopologyBuilder):
            raise TypeError(f"a KStreamBuilder or TopologyBuilder is needed, not {builder!r}")
        self.config = config = StreamsConfig(configs)
        self._lock = threading.RLock()
        self._state = State.CREATED
        self._state_listener: StateListener | None = None
        self._exception_handler: UncaughtExceptionHandler | None = None
        process_id = uuid4()
        client_id = config["client.id"] or f"{config.application_id}-{process_id}"
        builder.set_application_id(config.application_id).set_dsl_store(config["default.dsl.store"])
        builder.set_cache_size(config["cache.max.bytes.buffering"])
        self._is_empty = not builder.source_topic_pattern().pattern and not builder.global_topics
        self._jmx_reporter = JmxReporter("kafka.streams")
        self._metrics = _metrics_of(config, self._jmx_reporter, time)
        self._threads: list[StreamThread] = []
        self._metadata = StreamsMetadataState(builder, HostInfo.parse(config["application.server"]))
        self._global_thread: GlobalStreamThread | None = None
        global_topology = builder.build_global_state_topology()
        global_stores = {store.name: store for store in global_topology.state_stores} if global_topology else {}
        self._global_stores = global_stores
        clients = client_supplier or KafkaClientSupplier(time)
        try:
            self._create_threads(builder, client_id, process_id, global_topology, time, clients)
        except BaseException:
            self.close()
            raise

    def _create_threads(
        self,
        builder: TopologyBuilder,
        client_id: str,
        process_id: UUID,
        global_topology: ProcessorTopology | None,
        time: Time,
        clients: KafkaClientSupplier,
    ) -> None:
        """Raises ConfigError and ProcessorStateError; then threads made so far have to be closed."""
        config = self.config
        if global_topology is not None:
            self._global_thread = GlobalStreamThread(
                global_topology,
                config,
                client_id,
                self._on_global_thread_state,
                self._on_error,
                time,
                self._metrics,
                clients,
            )
        # Global tables alone need no tasks, so no threads that would join a group for nothing. Kafka, since 2.6.
        reads_topics = bool(builder.source_topic_pattern().pattern)
        for number in range(1, config["num.stream.threads"] + 1 if reads_topics else 1):
            self._threads.append(
                StreamThread(
                    f"StreamThread-{number}",
                    builder,
                    config,
                    client_id,
                    process_id,
                    self._on_thread_state,
                    self._on_error,
                    time,
                    self._global_stores,
                    config["cache.max.bytes.buffering"] // config["num.stream.threads"],
                    self._metadata.on_change,
                    self._metrics,
                    clients,
                )
            )

    # ── the life of an instance ───────────────────────────────────────────────────────────────────────────────────

    def start(self) -> None:
        """Start the threads. Blocks until global stores are restored.

        Raises RuntimeError if the instance was started or closed before, and StreamsError if a global topic is missing
        or the topology reads none.
        """
        if self._is_empty:
            raise TopologyBuilderError("the topology has no stream or table that reads a topic")
        with self._lock:
            if self._state is not State.CREATED:
                raise RuntimeError("Cannot start again.")
            self._set_state(State.RUNNING)
        if self._global_thread is not None:
            self._global_thread.start()
        for thread in self._threads:
            thread.start()

    def close(self, timeout_ms: float = DEFAULT_CLOSE_TIMEOUT_MS) -> bool:
        """Stop the threads: finish the current record, flush, commit, close. False if they need longer.

        A no-op if it was closed before. A stream thread may call it: it does not wait for itself.
        """
        with self._lock:
            if self._state in (State.PENDING_SHUTDOWN, State.NOT_RUNNING):
                return True
            self._set_state(State.PENDING_SHUTDOWN)
        self._close_threads(self._threads, timeout_ms)
        last = [] if self._global_thread is None else [self._global_thread]  # tasks read its stores to their end
        self._close_threads(last, timeout_ms)
        self._metrics.close()
        self._set_state(State.NOT_RUNNING)
        others = (thread for thread in [*self._threads, *last] if thread is not threading.current_thread())
        return not any(thread.is_alive() for thread in others)

    @staticmethod
    def _close_threads(threads: Sequence[StreamThread | GlobalStreamThread], timeout_ms: float) -> None:
        for thread in threads:
            if thread.ident is None:
                thread.close_unstarted()
            else:
                thread.initiate_shutdown()
        for thread in threads:
            thread.await_shutdown(timeout_ms / 1000)

    def clean_up(self) -> None:
        """Delete the state of the application on this machine, except what other instances have locked.

        Raises RuntimeError while this instance runs.
        """
        with self._lock:
            if self._state in (State.RUNNING, State.REBALANCING, State.PENDING_SHUTDOWN):
                raise RuntimeError("Cannot clean up while running.")
            StateDirectory(self.config.application_id, self.config["state.dir"]).clean()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ── queries ───────────────────────────────────────────────────────────────────────────────────────────────────

    def store(self, name: str, kind: QueryableStoreType[T]) -> T:
        """The stores of this instance's active tasks under one name, as one that any thread may read::

            counts = streams.store("Counts", QueryableStoreTypes.key_value_store())
            counts.get("to")

        It outlives rebalances. Raises RuntimeError unless the instance runs. Raises InvalidStateStoreError, as does
        each query, while the instance rebalances, and if it has no such store, which may be at another instance.
        """
        self._ensure_running()
        provider = QueryableStoreProvider((thread.stores_of for thread in self._threads), self._global_stores)
        return provider.store(name, kind)

    def all_metadata(self) -> tuple[StreamsMetadata, ...]:
        """All instances with an ``application.server``. Raises RuntimeError unless the instance runs."""
        self._ensure_running()
        return self._metadata.all_metadata()

    def all_metadata_for_store(self, name: str) -> tuple[StreamsMetadata, ...]:
        """All instances that have a part of a store. Raises RuntimeError unless the instance runs."""
        self._ensure_running()
        return self._metadata.all_metadata_for_store(name)

    def metadata_for_key(
        self,
        name: str,
        key: Any,
        key_serializer: Serializer[Any],
        partitioner: StreamPartitioner[Any, Any] | None = None,
    ) -> StreamsMetadata | None:
        """The instance whose part of a store has a key. Give the partitioner that wrote the store's source topics.

        NOT_AVAILABLE before the first rebalance is over. Returns None for an unknown store. Raises RuntimeError unless
        the instance runs.
        """
        self._ensure_running()
        return self._metadata.metadata_with_key(name, key, key_serializer, partitioner)

    def _ensure_running(self) -> None:
        if self._state not in (State.RUNNING, State.REBALANCING):
            raise RuntimeError(f"KafkaStreams is not running. State is {self._state.name}.")

    # ── watching it ───────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def state(self) -> State:
        """The current state."""
        return self._state

    def metrics(self) -> dict[KafkaMetricName, KafkaMetric]:
        """All metrics of the threads, tasks, nodes and stores. Reading ``value`` computes it. Thread-safe.

        Those of the clients are theirs: give ``metric.reporters``.
        """
        return self._metrics.metrics

    def beans(self) -> dict[MetricName, dict[str, AttributeValue]]:
        """The metrics as Kafka's JMX shows them: ``kafka.streams:type=stream-metrics,client-id=…``. Thread-safe."""
        return self._jmx_reporter.beans()

    def set_state_listener(self, listener: StateListener) -> None:
        """Call a function for each change of the state."""
        self._state_listener = listener

    def set_uncaught_exception_handler(self, handler: UncaughtExceptionHandler) -> None:
        """Call a function for an error that ends a thread. The error is logged in any case."""
        self._exception_handler = handler

    def _set_state(self, state: State) -> None:
        """Change the state if the table allows it; any other change comes too late and is ignored."""
        with self._lock:
            old = self._state
            if old not in VALID_PREVIOUS_STATES[state]:
                return
            self._state = state
        logger.info(
            "stream-client [%s] State transition from %s to %s", self.config.application_id, old.name, state.name
        )
        if self._state_listener is not None:
            self._state_listener(state, old)

    def _on_thread_state(self, _thread: StreamThread, new: StreamThreadState, _old: StreamThreadState) -> None:
        states = [thread.state for thread in self._threads]
        if new in (StreamThreadState.PARTITIONS_REVOKED, StreamThreadState.ASSIGNING_PARTITIONS):
            self._set_state(State.REBALANCING)
        elif new is StreamThreadState.RUNNING and all(state is StreamThreadState.RUNNING for state in states):
            self._set_state(State.RUNNING)
        elif new is StreamThreadState.DEAD and all(state is StreamThreadState.DEAD for state in states):
            self._set_state(State.ERROR)

    def _on_global_thread_state(self, new: GlobalStreamThreadState) -> None:
        if new is GlobalStreamThreadState.DEAD:
            self._set_state(State.ERROR)

    def _on_error(self, thread: threading.Thread, error: Exception) -> None:
        if self._exception_handler is not None:
            self._exception_handler(thread, error)


def _metrics_of(config: StreamsConfig, jmx_reporter: JmxReporter, time: Time) -> Metrics:
    """The registry of an instance. Raises ConfigError for a reporter that cannot be created."""
    kept = MetricConfig(
        config["metrics.num.samples"],
        config["metrics.sample.window.ms"],
        RecordingLevel.for_name(config["metrics.recording.level"]),
    )
    return Metrics(kept, [jmx_reporter, *config.metric_reporters()], time)
