"""Runs connectors and tasks in this process.

Kafka 0.10.2: connect/runtime/.../connect/runtime/Worker.java · book 8.3.5
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.connect.api.converter import Converter
from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.api.sink_connector import SinkConnector
from kafka_lite.connect.api.sink_task import SinkTask
from kafka_lite.connect.api.source_connector import SourceConnector
from kafka_lite.connect.api.source_task import SourceTask
from kafka_lite.connect.api.task import Task
from kafka_lite.connect.runtime.connect_clients import ConnectClients
from kafka_lite.connect.runtime.connector_config import (
    CONNECTOR_CLASS,
    HEADER_CONVERTER,
    KEY_CONVERTER,
    TASK_CLASS,
    VALUE_CONVERTER,
    ConnectorConfig,
    new_converter,
    new_header_converter,
    sink_config_def,
)
from kafka_lite.connect.runtime.connector_offsets import ConnectorOffset, sink_offsets, source_offsets
from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.errors.dead_letter_queue_reporter import (
    DLQ_NUM_DESIRED_PARTITIONS,
    DeadLetterQueueReporter,
)
from kafka_lite.connect.runtime.errors.error_handling_config import ErrorHandlingConfig
from kafka_lite.connect.runtime.errors.error_handling_metrics import ErrorHandlingMetrics
from kafka_lite.connect.runtime.errors.error_reporter import ErrorReporter
from kafka_lite.connect.runtime.errors.log_reporter import LogReporter
from kafka_lite.connect.runtime.errors.retry_with_tolerance_operator import RetryWithToleranceOperator
from kafka_lite.connect.runtime.errors.worker_errant_record_reporter import WorkerErrantRecordReporter
from kafka_lite.connect.runtime.group_admin import GroupAdmin
from kafka_lite.connect.runtime.metrics.connect_metrics import ConnectMetrics, MetricGroup
from kafka_lite.connect.runtime.metrics.task_metrics import SinkTaskMetrics, SourceTaskMetrics
from kafka_lite.connect.runtime.metrics.worker_metrics import WorkerMetrics
from kafka_lite.connect.runtime.offset_modification import Offsets, modify_sink_offsets, modify_source_offsets
from kafka_lite.connect.runtime.plugin_discovery import class_name, connector_class, new_connector, new_task
from kafka_lite.connect.runtime.status_listener import StatusListener
from kafka_lite.connect.runtime.storage.cluster_config_state import Config
from kafka_lite.connect.runtime.storage.offset_backing_store import OffsetBackingStore
from kafka_lite.connect.runtime.storage.offset_storage_reader_impl import OffsetStorageReaderImpl
from kafka_lite.connect.runtime.storage.offset_storage_writer import OffsetStorageWriter
from kafka_lite.connect.runtime.target_state import TargetState
from kafka_lite.connect.runtime.tasks.source_task_offset_committer import SourceTaskOffsetCommitter
from kafka_lite.connect.runtime.tasks.worker_sink_task import WorkerSinkTask
from kafka_lite.connect.runtime.tasks.worker_source_task import WorkerSourceTask
from kafka_lite.connect.runtime.tasks.worker_task import WorkerTask
from kafka_lite.connect.runtime.transformation_chain import TransformationChain
from kafka_lite.connect.runtime.worker_config import WorkerConfig
from kafka_lite.connect.runtime.worker_connector import WorkerConnector, connector_metrics

logger = logging.getLogger(__name__)

NOTHING: Mapping[str, str] = MappingProxyType({})


class Worker:
    """Decides nothing: the herder says what to start and stop, and is told how it goes. Thread-safe, since the herder
    starts and stops several at a time."""

    def __init__(
        self,
        worker_id: str,
        config: WorkerConfig,
        offset_store: OffsetBackingStore,
        *,
        clients: ConnectClients | None = None,
        metrics: ConnectMetrics | None = None,
        time: Time = SYSTEM_TIME,
    ) -> None:
        """``worker_id`` is host:port of the REST interface. Raises ConnectError, ConfigError."""
        self.id = worker_id
        self.config = config
        self._offset_store = offset_store
        self._clients = clients or ConnectClients(time)
        self.time = time
        self._key_converter = _converter(config, KEY_CONVERTER, is_key=True)
        self._value_converter = _converter(config, VALUE_CONVERTER, is_key=False)
        header_configs = config.originals_with_prefix(f"{HEADER_CONVERTER}.")
        self._header_converter = new_header_converter(config[HEADER_CONVERTER], header_configs)
        self.internal_key_converter = _converter(config, "internal.key.converter", is_key=True)
        self.internal_value_converter = _converter(config, "internal.value.converter", is_key=False)
        self._committer = SourceTaskOffsetCommitter(config["offset.flush.interval.ms"], time)
        self._lock = threading.Lock()
        self._connectors: dict[str, WorkerConnector] = {}
        self._connector_configs: dict[str, Config] = {}  # with references in place of secrets
        self._tasks: dict[ConnectorTaskId, WorkerTask] = {}
        self.kafka_cluster_id: str | None = None
        """The id of the cluster of brokers, once the worker has started; None if they do not say."""
        self.metrics = metrics or ConnectMetrics(time)
        self._startups = WorkerMetrics(self.metrics, lambda: len(self._connectors), lambda: len(self._tasks))
        self._connector_groups: dict[str, MetricGroup] = {}

    def start(self) -> None:
        """Read the stored offsets. Raises ConnectError."""
        self.kafka_cluster_id = self._clients.topic_admin(self.config.internal_admin()).cluster_id()
        self._offset_store.start()
        self._committer.start()

    def stop(self) -> None:
        """Stop what still runs; the herder should have done so."""
        if self._connectors:
            logger.warning("Shutting down connectors %s uncleanly", self.connector_names)
            for name in self.connector_names:
                self.stop_connector(name)
        if self._tasks:
            logger.warning("Shutting down tasks %s uncleanly", self.task_ids)
            self.stop_and_await_tasks(self.task_ids)
        self._committer.shutdown(self.config["task.shutdown.graceful.timeout.ms"] / 1000)
        self._offset_store.stop()

    # ── connectors ────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def connector_names(self) -> list[str]:
        """The connectors that run here, or have failed here."""
        with self._lock:
            return sorted(self._connectors)

    def start_connector(
        self,
        name: str,
        config: Config,
        request_task_reconfiguration: Callable[[], None],
        listener: StatusListener,
        target: TargetState,
    ) -> bool:
        """Create a connector and start it. False, and a FAILED status, if it cannot be created. (One that fails in its
        ``start`` was created.) Raises ConnectError if it runs already."""
        self._ensure_new(name in self._connectors, f"Connector with name {name} already exists")
        try:
            resolved = self.config.transformer.transform(config)
            plugin = new_connector(ConnectorConfig(resolved)[CONNECTOR_CLASS])
            connector = WorkerConnector(name, plugin, request_task_reconfiguration, listener)
            logger.info("Created connector %s of version %s, a %s", name, plugin.version(), class_name(type(plugin)))
            connector.initialize(resolved)
            connector.transition_to(target)
        except Exception as error:
            logger.exception("Failed to start connector %s", name)
            self._startups.connectors.add(succeeded=False)
            listener.on_failure(name, error)
            return False
        with self._lock:
            self._connectors[name] = connector
            self._connector_configs[name] = config
            self._connector_groups[name] = connector_metrics(self.metrics, name, connector)
        self._startups.connectors.add(succeeded=True)
        return True

    def stop_connector(self, name: str) -> bool:
        """Stop a connector. False if it does not run here."""
        with self._lock:
            connector, group = self._connectors.pop(name, None), self._connector_groups.pop(name, None)
        if group is not None:
            group.close()
        if connector is None:
            logger.warning("Ignoring stop request for unowned connector %s", name)
            return False
        connector.shutdown()
        return True

    def is_running(self, name: str) -> bool:
        """Whether a connector runs here, neither paused nor failed."""
        connector = self._connectors.get(name)
        return connector is not None and connector.is_running

    def is_sink_connector(self, name: str) -> bool:
        """Whether a connector's tasks read topics. Raises ConnectError if it does not run here."""
        return self._connector(name).is_sink_connector

    def connector_task_configs(
        self, name: str, max_tasks: int, subscription: Mapping[str, str] = NOTHING
    ) -> list[dict[str, str]]:
        """Ask a connector for the configurations of its tasks, as they are stored. Each gets the ``subscription`` of a
        sink. Raises ConnectError if it does not run here, and what the connector raises.
        """
        connector = self._connector(name).connector
        added = {TASK_CLASS: class_name(connector.task_class()), **subscription}
        configs = [{**config, **added} for config in connector.task_configs(max_tasks)]
        return self.config.transformer.restore(self._connector_configs[name], configs)

    def connector_offsets(self, name: str, config: Config) -> list[ConnectorOffset]:
        """How far a connector of any worker has read. Raises ConnectError, KafkaError."""
        kind = connector_class(ConnectorConfig(config)[CONNECTOR_CLASS])
        if not issubclass(kind, SinkConnector):
            converters = self.internal_key_converter, self.internal_value_converter
            return source_offsets(self._offset_store, name, *converters)
        return sink_offsets(*self._sink_group(name))

    def modify_connector_offsets(self, name: str, config: Config, offsets: Offsets | None) -> str:
        """Set how far a stopped connector has read, or with None forget it. Returns a message for the user.

        Raises ConnectError, and what the connector raises.
        """
        resolved = self.config.transformer.transform(config)
        connector = new_connector(ConnectorConfig(resolved)[CONNECTOR_CLASS])
        if isinstance(connector, SinkConnector):
            return modify_sink_offsets(*self._sink_group(name), name, connector, resolved, offsets)
        if not isinstance(connector, SourceConnector):
            raise ConnectError(f"Connector {name} is neither a source nor a sink")
        converters = self.internal_key_converter, self.internal_value_converter
        return modify_source_offsets(self._offset_store, name, converters, connector, resolved, offsets)

    def _sink_group(self, name: str) -> tuple[GroupAdmin, str]:
        config = self.config.sink_task_consumer(name)
        admin = self._clients.group_admin(self.config.admin(f"connector-worker-adminclient-{name}"))
        return admin, str(config["group.id"])

    def _connector(self, name: str) -> WorkerConnector:
        connector = self._connectors.get(name)
        if connector is None:
            raise ConnectError(f"Connector {name} not found in this worker.")
        return connector

    # ── tasks ─────────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def task_ids(self) -> list[ConnectorTaskId]:
        """The tasks that run here, or have failed here."""
        with self._lock:
            return sorted(self._tasks)

    def start_task(
        self,
        task_id: ConnectorTaskId,
        connector_config: Config,
        task_config: Config,
        listener: StatusListener,
        target: TargetState,
    ) -> bool:
        """Create a task and start its thread. False, and a FAILED status, if it cannot be created.

        Raises ConnectError if it runs already.
        """
        self._ensure_new(task_id in self._tasks, f"Task already exists in this worker: {task_id}")
        try:
            transform = self.config.transformer.transform
            task = new_task(task_config[TASK_CLASS])
            configs = transform(connector_config), transform(task_config)
            worker_task = self._build(task_id, task, *configs, listener, target)
        except Exception as error:
            logger.exception("Failed to start task %s", task_id)
            self._startups.tasks.add(succeeded=False)
            listener.on_failure(task_id, error)
            return False
        with self._lock:
            self._tasks[task_id] = worker_task
        self._startups.tasks.add(succeeded=True)
        worker_task.start()
        if isinstance(worker_task, WorkerSourceTask):
            self._committer.schedule(task_id, worker_task)
        return True

    def _build(
        self,
        task_id: ConnectorTaskId,
        task: Task,
        connector_config: Config,
        task_config: Config,
        listener: StatusListener,
        target: TargetState,
    ) -> WorkerTask:
        if isinstance(task, SourceTask):
            return self._build_source(task_id, task, ConnectorConfig(connector_config), task_config, listener, target)
        if isinstance(task, SinkTask):
            config = ConnectorConfig(connector_config, sink_config_def())
            return self._build_sink(task_id, task, config, task_config, listener, target)
        raise ConnectError("Tasks must be a subclass of either SourceTask or SinkTask")

    def _build_source(
        self,
        task_id: ConnectorTaskId,
        task: SourceTask,
        connector_config: ConnectorConfig,
        task_config: Config,
        listener: StatusListener,
        target: TargetState,
    ) -> WorkerTask:
        internal = (task_id.connector, self.internal_key_converter, self.internal_value_converter)
        operator = self._operator(task_id, connector_config.error_handling())
        return WorkerSourceTask(
            task_id, task, listener, target,
            config=task_config,
            key_converter=connector_config.converter(KEY_CONVERTER, self._key_converter),
            value_converter=connector_config.converter(VALUE_CONVERTER, self._value_converter),
            header_converter=connector_config.header_converter(self._header_converter),
            transformations=TransformationChain(connector_config.transformations(), operator),
            operator=operator,
            producer=self._clients.producer(self.config.source_task_producer()),
            offset_reader=OffsetStorageReaderImpl(self._offset_store, *internal),
            offset_writer=OffsetStorageWriter(self._offset_store, *internal),
            flush_timeout_ms=self.config["offset.flush.timeout.ms"],
            metrics=SourceTaskMetrics(self.metrics, task_id, operator.metrics),
            time=self.time,
        )  # fmt: skip

    def _build_sink(
        self,
        task_id: ConnectorTaskId,
        task: SinkTask,
        connector_config: ConnectorConfig,
        task_config: Config,
        listener: StatusListener,
        target: TargetState,
    ) -> WorkerTask:
        errors = connector_config.error_handling()
        key_converter = connector_config.converter(KEY_CONVERTER, self._key_converter)
        value_converter = connector_config.converter(VALUE_CONVERTER, self._value_converter)
        header_converter = connector_config.header_converter(self._header_converter)
        transformations = connector_config.transformations()
        operator = self._operator(task_id, errors)
        reporter = WorkerErrantRecordReporter(operator, key_converter, value_converter, header_converter)
        return WorkerSinkTask(
            task_id, task, listener, target,
            config=task_config,
            key_converter=key_converter,
            value_converter=value_converter,
            header_converter=header_converter,
            transformations=TransformationChain(transformations, operator),
            operator=operator,
            reporter=reporter if errors.reports_errant_records else None,
            consumer=self._clients.consumer(self.config.sink_task_consumer(task_id.connector)),
            commit_interval_ms=self.config["offset.flush.interval.ms"],
            commit_timeout_ms=self.config["offset.flush.timeout.ms"],
            metrics=SinkTaskMetrics(self.metrics, task_id, operator.metrics),
            time=self.time,
        )  # fmt: skip

    def _operator(self, task_id: ConnectorTaskId, errors: ErrorHandlingConfig) -> RetryWithToleranceOperator:
        """With the reporters that the connector asks for. Raises ConnectError if its queue cannot be created."""
        metrics = ErrorHandlingMetrics()
        reporters: list[ErrorReporter] = []
        if errors.log_enabled:
            reporters.append(LogReporter(task_id, with_messages=errors.log_includes_messages, metrics=metrics))
        if errors.dead_letter_topic:
            topic, replicas = errors.dead_letter_topic, errors.dead_letter_replication_factor
            admin = self._clients.topic_admin(self.config.admin(f"connector-dlq-adminclient-{task_id}"))
            admin.ensure_exists(topic, DLQ_NUM_DESIRED_PARTITIONS, replicas)
            client_id = {"client.id": f"connector-dlq-producer-{task_id}"}
            producer = self._clients.producer(client_id | self.config.source_task_producer())
            with_context = errors.dead_letter_context_headers
            reporters.append(
                DeadLetterQueueReporter(producer, topic, task_id, with_context=with_context, metrics=metrics)
            )
        return RetryWithToleranceOperator(errors, metrics, reporters, self.time)

    def stop_and_await_tasks(self, task_ids: Iterable[ConnectorTaskId]) -> None:
        """Tell all of them to stop, then wait for all within one deadline. What takes longer is abandoned."""
        with self._lock:
            stopping = [self._tasks[task_id] for task_id in task_ids if task_id in self._tasks]
        for task in stopping:
            self._committer.remove(task.id)
            task.initiate_shutdown()
        deadline_ms = self.time.hi_res_ms() + self.config["task.shutdown.graceful.timeout.ms"]
        for task in stopping:
            if not task.await_stop(max(deadline_ms - self.time.hi_res_ms(), 0)):
                logger.error("Graceful stop of task %s failed.", task.id)
                task.cancel()
            task.metrics.close()
            with self._lock:
                self._tasks.pop(task.id, None)

    def set_target_state(self, connector: str, target: TargetState) -> None:
        """Pause or resume what runs here of a connector."""
        with self._lock:
            owned = self._connectors.get(connector)
            tasks = [task for task_id, task in self._tasks.items() if task_id.connector == connector]
        if owned is not None:
            owned.transition_to(target)
        for task in tasks:
            task.transition_to(target)

    @staticmethod
    def _ensure_new(exists: bool, problem: str) -> None:
        if exists:
            raise ConnectError(problem)


def _converter(config: WorkerConfig, key: str, *, is_key: bool) -> Converter:
    return new_converter(config[key], config.originals_with_prefix(f"{key}."), is_key=is_key)
