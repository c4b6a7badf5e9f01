"""Keeps the statuses of connectors and tasks in a topic.

Kafka 0.10.2: connect/runtime/.../connect/storage/KafkaStatusBackingStore.java; topics: Kafka 2.5 ·
book 8.3.6
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kafka_lite.common.errors import ApiError
from kafka_lite.connect.api.converter import Converter
from kafka_lite.connect.api.data.schema import Schema
from kafka_lite.connect.api.data.schema_builder import SchemaBuilder
from kafka_lite.connect.api.data.struct import Struct
from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.status import ConnectorStatus, State, TaskStatus, TopicStatus
from kafka_lite.connect.runtime.storage.kafka_offset_backing_store import NewLog
from kafka_lite.connect.runtime.storage.status_backing_store import StatusBackingStore
from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.producer.producer_record import RecordMetadata

logger = logging.getLogger(__name__)

TASK_STATUS_PREFIX, CONNECTOR_STATUS_PREFIX = "status-task-", "status-connector-"
STATUS_SCHEMA_V0 = (
    SchemaBuilder.struct()
    .field("state", Schema.STRING_SCHEMA)
    .field("trace", SchemaBuilder.string().optional().build())
    .field("worker_id", Schema.STRING_SCHEMA)
    .field("generation", Schema.INT32_SCHEMA)
    .build()
)

TOPIC_STATUS_PREFIX, TOPIC_STATUS_SEPARATOR = "status-topic-", ":connector-"
TOPIC_STATUS_VALUE_SCHEMA_V0 = (
    SchemaBuilder.struct()
    .field("name", Schema.STRING_SCHEMA)
    .field("connector", Schema.STRING_SCHEMA)
    .field("task", Schema.INT32_SCHEMA)
    .field("discoverTimestamp", Schema.INT64_SCHEMA)
    .build()
)
TOPIC_STATUS_SCHEMA_V0 = SchemaBuilder.map(Schema.STRING_SCHEMA, TOPIC_STATUS_VALUE_SCHEMA_V0).build()

Status = ConnectorStatus | TaskStatus
Id = str | ConnectorTaskId
TopicId = tuple[str, str]
"""A connector's name, and a topic's."""


@dataclass(eq=False)
class _CacheEntry:
    """The last known status of a connector or task."""

    value: Any = None
    sequence: int = 0
    """The number of writes that were begun here."""
    deleted: bool = False


class KafkaStatusBackingStore(StatusBackingStore):
    """Every worker reads all statuses. What one has written is visible once it has been read back.

    ==================================  ========================================================================
    key                                 value; null if the connector was deleted, or its topics were reset
    ==================================  ========================================================================
    status-connector-NAME               {"state": …, "trace": …, "worker_id": …, "generation": …}
    status-task-NAME-N                  the same
    status-topic-TOPIC:connector-NAME   {"topic": {"name": …, "connector": …, "task": …, "discoverTimestamp": …}}
    ==================================  ========================================================================

    A write that fails is repeated unless something newer was written meanwhile. The records of topics are of Kafka 2.5;
    a worker of 0.10.2 logs a warning for each of them, and ignores it.
    """

    def __init__(self, topic: str, converter: Converter, new_log: NewLog) -> None:
        """``converter`` is the worker's internal converter of values. The log's producer must not retry."""
        self._topic = topic
        self._converter = converter
        self._log = new_log(self._consumed)
        self._lock = threading.Lock()
        self._entries: dict[Id, _CacheEntry] = {}
        self._topics: dict[TopicId, TopicStatus] = {}
        self._new_topics: set[TopicId] = set()  # written, but not read back yet
        self._generation = -1

    def start(self) -> None:
        """Read the topic to its end. Raises ConnectError."""
        self._log.start()

    def stop(self) -> None:
        """Close the log."""
        self._log.stop()

    def flush(self) -> None:
        """Wait until everything that was sent is acknowledged, or has failed."""
        self._log.flush()

    def put(self, status: Status) -> None:
        """Write a status. One that is DESTROYED is a tombstone."""
        self._send(status, safe=False)

    def put_safe(self, status: Status) -> None:
        """Write a status unless it may not replace the known one."""
        self._send(status, safe=True)

    def task(self, task: ConnectorTaskId) -> TaskStatus | None:
        """The status of a task."""
        status = self._get(task)
        return status if isinstance(status, TaskStatus) else None

    def connector(self, connector: str) -> ConnectorStatus | None:
        """The status of a connector."""
        status = self._get(connector)
        return status if isinstance(status, ConnectorStatus) else None

    def tasks(self, connector: str) -> list[TaskStatus]:
        """The statuses of all tasks of a connector, by number."""
        with self._lock:
            ids = sorted(
                key for key in self._entries if isinstance(key, ConnectorTaskId) and key.connector == connector
            )
            values = [self._entries[task].value for task in ids]
        return [value for value in values if value is not None]

    def connectors(self) -> set[str]:
        """The names of all connectors that have had a status."""
        with self._lock:
            return {key for key in self._entries if isinstance(key, str)}

    def topic(self, connector: str, topic: str) -> TopicStatus | None:
        """The status of a topic that a connector uses. It takes no lock: a task asks for each record."""
        return self._topics.get((connector, topic))

    def topics(self, connector: str) -> list[TopicStatus]:
        """The statuses of all topics that a connector uses, by name."""
        with self._lock:
            return [self._topics[key] for key in sorted(self._topics) if key[0] == connector]

    def put_topic(self, status: TopicStatus) -> None:
        """Write that a connector uses a topic, once: until that is read back, further calls do nothing. (Kafka's
        workers write it for each record until then.)"""
        key = (status.task.connector, status.topic)
        with self._lock:
            if key in self._new_topics:
                return
            self._new_topics.add(key)
        self._send_topic(key, self._serialize_topic(status))

    def remove_topic(self, connector: str, topic: str) -> None:
        """Write that a connector uses a topic no more."""
        self._send_topic((connector, topic), None)

    def _get(self, key: Id) -> Any:
        with self._lock:
            entry = self._entries.get(key)
            return None if entry is None else entry.value

    # ── writing ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _send(self, status: Status, safe: bool) -> None:
        """Write a status, or a tombstone if it is DESTROYED; nothing if ``safe`` and it may not replace the known one.

        Each write begun gives the entry another sequence number, and the store the status's generation. A write that
        ended with a retriable error is repeated while it is still wanted; another error is logged.
        """
        with self._lock:
            entry = self._entries.setdefault(status.id, _CacheEntry())
            self._generation = status.generation
            if safe and not status.may_replace(entry.value):
                return
            entry.sequence += 1
            sequence = entry.sequence
        key = _key_of(status).encode()
        value = None if status.state is State.DESTROYED else self._serialize(status)

        def sent(_: RecordMetadata | None, error: Exception | None) -> None:
            if error is None:
                return
            if not (isinstance(error, ApiError) and error.error.retriable):
                logger.error("Failed to write status update: %s", error)
            elif self._is_still_wanted(status, entry, sequence if safe else None):
                self._log.send(key, value, sent)

        self._log.send(key, value, sent)

    def _send_topic(self, topic_id: TopicId, value: bytes | None) -> None:
        """Write a topic's status, or a tombstone. After a retriable error it is repeated; another one is logged."""
        connector, topic = topic_id
        key = f"{TOPIC_STATUS_PREFIX}{topic}{TOPIC_STATUS_SEPARATOR}{connector}".encode()

        def sent(_: RecordMetadata | None, error: Exception | None) -> None:
            if error is None:
                return
            if isinstance(error, ApiError) and error.error.retriable:
                self._log.send(key, value, sent)
                return
            logger.error("Failed to write status update: %s", error)
            with self._lock:
                self._new_topics.discard(topic_id)

        self._log.send(key, value, sent)

    def _is_still_wanted(self, status: Status, entry: _CacheEntry, sequence: int | None) -> bool:
        """Whether a failed write is to be repeated. ``sequence`` is that of a safe write."""
        with self._lock:
            if entry.deleted or status.generation != self._generation:
                return False
            return sequence is None or (entry.sequence == sequence and status.may_replace(entry.value))

    def _serialize(self, status: Status) -> bytes | None:
        fields = {
            "state": status.state.name,
            "trace": status.trace,
            "worker_id": status.worker_id,
            "generation": status.generation,
        }
        return self._converter.from_connect_data(self._topic, STATUS_SCHEMA_V0, Struct(STATUS_SCHEMA_V0, fields))

    def _serialize_topic(self, status: TopicStatus) -> bytes | None:
        fields = {
            "name": status.topic,
            "connector": status.task.connector,
            "task": status.task.task,
            "discoverTimestamp": status.discover_timestamp,
        }
        value = {"topic": Struct(TOPIC_STATUS_VALUE_SCHEMA_V0, fields)}
        return self._converter.from_connect_data(self._topic, TOPIC_STATUS_SCHEMA_V0, value)

    # ── reading ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _consumed(self, record: ConsumerRecord) -> None:
        key = "" if record.key is None else record.key.decode(errors="replace")
        if key.startswith(TOPIC_STATUS_PREFIX):
            self._consumed_topic(key, record.value)
            return
        found = _id_of(key)
        if found is None:
            logger.warning("Discarding record with invalid key %s", key)
        elif record.value is None:
            self._remove(found)
        else:
            status = self._parse(found, record.value)
            if status is not None:
                with self._lock:
                    self._entries.setdefault(found, _CacheEntry()).value = status

    def _consumed_topic(self, key: str, value: bytes | None) -> None:
        topic, _, connector = key.removeprefix(TOPIC_STATUS_PREFIX).partition(TOPIC_STATUS_SEPARATOR)
        if not topic or not connector:
            logger.warning("Discarding record with invalid topic status key %s", key)
            return
        status = None if value is None else self._parse_topic(key, value)
        if value is not None and status is None:
            return
        with self._lock:
            self._new_topics.discard((connector, topic))
            if status is None:
                self._topics.pop((connector, topic), None)
            else:
                self._topics[connector, topic] = status

    def _parse_topic(self, key: str, value: bytes) -> TopicStatus | None:
        """The status in a record; None, logged, if it has none."""
        try:
            fields = dict(self._converter.to_connect_data(self._topic, value).value["topic"].items())
            task = ConnectorTaskId(str(fields["connector"]), int(fields["task"]))
            return TopicStatus(str(fields["name"]), task, int(fields["discoverTimestamp"]))
        except Exception as error:  # noqa: BLE001  any worker may have written anything
            logger.error("Failed to deserialize the topic status of %s: %r", key, error)
            return None

    def _remove(self, removed: Id) -> None:
        """Forget a task, or a connector with its tasks."""
        with self._lock:
            for key in list(self._entries):
                if key == removed or (isinstance(key, ConnectorTaskId) and key.connector == removed):
                    self._entries.pop(key).deleted = True

    def _parse(self, key: Id, value: bytes) -> Status | None:
        """The status in a record; None, logged, if it has none."""
        try:
            fields = self._converter.to_connect_data(self._topic, value).value
            return _status_of(key, dict(fields.items()))
        except Exception as error:  # noqa: BLE001  any worker may have written anything
            logger.error("Failed to deserialize the status of %s: %r", key, error)
            return None


def _key_of(status: Status) -> str:
    prefix = TASK_STATUS_PREFIX if isinstance(status, TaskStatus) else CONNECTOR_STATUS_PREFIX
    return f"{prefix}{status.id}"


def _id_of(key: str) -> Id | None:
    if key.startswith(CONNECTOR_STATUS_PREFIX):
        return key.removeprefix(CONNECTOR_STATUS_PREFIX) or None
    if key.startswith(TASK_STATUS_PREFIX):
        return ConnectorTaskId.parse(key.removeprefix(TASK_STATUS_PREFIX))
    return None


def _status_of(key: Id, fields: Mapping[str, Any]) -> Status:
    state, trace = State(fields["state"]), fields.get("trace")
    worker_id, generation = str(fields["worker_id"]), int(fields["generation"])
    if isinstance(key, ConnectorTaskId):
        return TaskStatus(key, state, worker_id, generation, trace)
    return ConnectorStatus(key, state, worker_id, generation, trace)
