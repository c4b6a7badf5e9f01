"""Keeps the configurations of connectors and tasks in a topic.

Kafka 0.10.2: connect/runtime/.../connect/storage/KafkaConfigBackingStore.java; TARGET_STATE_V1: Kafka 3.5,
putRestartRequest: Kafka 3.0, putLoggerLevel: Kafka 3.7 · book 8.3.6
"""

from __future__ import annotations

import concurrent.futures
import logging
import threading
from collections.abc import Sequence
from typing import Any

from kafka_lite.common.errors import KafkaError
from kafka_lite.connect.api.converter import Converter
from kafka_lite.connect.api.data.schema import Schema
from kafka_lite.connect.api.data.schema_builder import SchemaBuilder
from kafka_lite.connect.api.data.struct import Struct
from kafka_lite.connect.api.errors import ConnectError, DataError
from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.storage.cluster_config_state import ClusterConfigState, Config
from kafka_lite.connect.runtime.storage.config_backing_store import ConfigBackingStore, UpdateListener
from kafka_lite.connect.runtime.storage.config_topic import (
    Change,
    ChangeKind,
    ConfigTopic,
    commit_tasks_key,
    connector_key,
    logger_cluster_key,
    target_state_key,
    task_key,
)
from kafka_lite.connect.runtime.storage.kafka_based_log import SendCallback
from kafka_lite.connect.runtime.storage.kafka_offset_backing_store import NewLog
from kafka_lite.connect.runtime.storage.restart_request import RESTART_REQUEST_V0, RestartRequest, restart_key
from kafka_lite.connect.runtime.target_state import TargetState
from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.producer.producer_record import RecordMetadata

logger = logging.getLogger(__name__)

READ_TO_END_TIMEOUT_MS = 30_000
CONFIGURATION_V0 = (
    SchemaBuilder.struct()
    .field("properties", SchemaBuilder.map(Schema.STRING_SCHEMA, Schema.OPTIONAL_STRING_SCHEMA).build())
    .build()
)
TASKS_COMMIT_V0 = SchemaBuilder.struct().field("tasks", Schema.INT32_SCHEMA).build()
TARGET_STATE_V0 = SchemaBuilder.struct().field("state", Schema.STRING_SCHEMA).build()
TARGET_STATE_V1 = (
    SchemaBuilder.struct().field("state", Schema.STRING_SCHEMA).field("state.v2", Schema.OPTIONAL_STRING_SCHEMA).build()
)
"""For states that older workers do not know. They see the nearest one that they do: a stopped connector is paused."""
LOGGER_LEVEL_V0 = SchemaBuilder.struct().field("level", Schema.STRING_SCHEMA).build()


class KafkaConfigBackingStore(ConfigBackingStore):
    """The topic has one partition, since the order of its records matters, and is compacted.

    What is written counts for all workers once it has been read back, for the writer, too. There should be one writer
    at a time, the leader of the group; only target states are written by any worker. :class:`ConfigTopic` says what the
    records mean.
    """

    def __init__(self, topic: str, converter: Converter, new_log: NewLog) -> None:
        """``converter`` is the worker's internal converter of values."""
        self._topic = topic
        self._converter = converter
        self._log = new_log(self._consumed)
        self._lock = threading.Lock()
        self._state = ConfigTopic()
        self._listener: UpdateListener | None = None
        self._started = False

    def start(self) -> None:
        """Read the topic to its end. Raises ConnectError."""
        logger.info("Starting KafkaConfigBackingStore")
        self._log.start()
        if self._log.partition_count > 1:
            raise ConnectError(
                f"Topic '{self._topic}' supplied via the 'config.storage.topic' property is required to have a single "
                f"partition in order to guarantee consistency of connector configurations, but found "
                f"{self._log.partition_count} partitions."
            )
        self._started = True

    def stop(self) -> None:
        """Close the log."""
        self._log.stop()

    def snapshot(self) -> ClusterConfigState:
        """The current state."""
        with self._lock:
            return self._state.snapshot()

    def __contains__(self, connector: object) -> bool:
        with self._lock:
            return connector in self._state

    def put_connector_config(self, connector: str, config: Config) -> None:
        """Write a configuration, and wait until it has been read back. Raises ConnectError."""
        self._send(connector_key(connector), CONFIGURATION_V0, {"properties": dict(config)})
        self._read_to_end()

    def remove_connector_config(self, connector: str) -> None:
        """Write tombstones, and wait until they have been read back. Raises ConnectError."""
        self._log.send(connector_key(connector).encode(), None)
        self._log.send(target_state_key(connector).encode(), None)
        self._read_to_end()

    def put_task_configs(self, connector: str, configs: Sequence[Config]) -> None:
        """Write all task configurations, and then their commit. Raises ConnectError.

        The commit is written only when all of them have been read back: it must not come before one of them.
        """
        self._read_to_end()
        for number, config in enumerate(configs):
            key = task_key(ConnectorTaskId(connector, number))
            self._send(key, CONFIGURATION_V0, {"properties": dict(config)})
        if configs:
            self._read_to_end()
        self._send(commit_tasks_key(connector), TASKS_COMMIT_V0, {"tasks": len(configs)})
        self._read_to_end()

    def remove_task_configs(self, connector: str) -> None:  # noqa: ARG002
        """Not supported: as in Kafka, task configurations stay in the topic."""
        raise ConnectError("Removal of tasks is not currently supported")

    def refresh(self, timeout_ms: float) -> None:
        """Read to the end of the topic. Raises TimeoutError, ConnectError."""
        try:
            self._log.read_to_end().result(timeout_ms / 1000)
        except concurrent.futures.TimeoutError:
            raise TimeoutError(f"{timeout_ms} ms were not enough to read {self._topic} to its end") from None
        except KafkaError as error:
            raise ConnectError("Error trying to read to end of config log") from error

    def put_target_state(self, connector: str, state: TargetState) -> None:
        """Write what the user wants. It is not waited for: every worker applies it as soon as it reads it."""
        key = target_state_key(connector)
        if state is TargetState.STOPPED:
            self._send(key, TARGET_STATE_V1, {"state": TargetState.PAUSED.name, "state.v2": state.name})
        else:
            self._send(key, TARGET_STATE_V0, {"state": state.name})

    def put_restart_request(self, request: RestartRequest) -> None:
        """Write a request, and wait until it has been read back. Raises ConnectError."""
        self._send(restart_key(request.connector), RESTART_REQUEST_V0, request.fields)
        self._read_to_end()

    def put_logger_level(self, name: str, level: str) -> None:
        """Write the level of a logger, and wait until it is acknowledged. Raises ConnectError."""
        acknowledged: concurrent.futures.Future[None] = concurrent.futures.Future()

        def sent(_: RecordMetadata | None, error: Exception | None) -> None:
            if error is None:
                acknowledged.set_result(None)
            else:
                acknowledged.set_exception(error)

        self._send(logger_cluster_key(name), LOGGER_LEVEL_V0, {"level": level}, sent)
        try:
            acknowledged.result(READ_TO_END_TIMEOUT_MS / 1000)
        except (KafkaError, concurrent.futures.TimeoutError) as error:
            raise ConnectError("Error writing logger level to Kafka") from error

    def set_update_listener(self, listener: UpdateListener) -> None:
        """Set the listener. It is called in the thread that reads the topic."""
        self._listener = listener

    def _send(self, key: str, schema: Schema, fields: dict[str, Any], sent: SendCallback | None = None) -> None:
        value = self._converter.from_connect_data(self._topic, schema, Struct(schema, fields))
        self._log.send(key.encode(), value, sent)

    def _read_to_end(self) -> None:
        try:
            self._log.read_to_end().result(READ_TO_END_TIMEOUT_MS / 1000)
        except (KafkaError, concurrent.futures.TimeoutError) as error:
            logger.exception("Failed to write connector configuration to Kafka")
            raise ConnectError("Error writing connector configuration to Kafka") from error

    def _consumed(self, record: ConsumerRecord) -> None:
        try:
            value = self._converter.to_connect_data(self._topic, record.value).value
        except DataError:
            logger.exception("Failed to convert config data to Kafka Connect format")
            return
        key = None if record.key is None else record.key.decode(errors="replace")
        with self._lock:
            change = self._state.apply(key, _plain(value), record.offset)
        if change is not None and self._started and self._listener is not None:
            _tell(self._listener, change)


def _plain(value: Any) -> Any:
    """A map in place of a struct, which a converter with schemas returns."""
    return dict(value.items()) if isinstance(value, Struct) else value


def _tell(listener: UpdateListener, change: Change) -> None:
    match change.kind:
        case ChangeKind.CONNECTOR_UPDATED:
            listener.on_connector_config_update(change.connector)
        case ChangeKind.CONNECTOR_REMOVED:
            listener.on_connector_config_remove(change.connector)
        case ChangeKind.TASKS_UPDATED:
            listener.on_task_config_update(change.tasks)
        case ChangeKind.TARGET_STATE_CHANGED:
            listener.on_connector_target_state_change(change.connector)
        case ChangeKind.RESTART_REQUESTED:
            assert change.restart is not None
            listener.on_restart_request(change.restart)
        case ChangeKind.LOGGER_LEVEL_SET:
            listener.on_logging_level_update(change.connector, change.level)
