"""The new and the old consumer behind one interface, for tools that support both.

Kafka 0.10.2: core/.../consumer/BaseConsumer.scala (NewShinyConsumer, OldConsumer); Kafka 4.0:
tools/.../ConsoleConsumer.java (ConsumerWrapper) · book 3.4.2
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping
from typing import NoReturn, Protocol

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.java.java_pattern import JavaPatternError, java_pattern
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_errors import WakeupError
from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.consumer.kafka_consumer import KafkaConsumer
from kafka_lite.old_consumer import Consumer
from kafka_lite.old_consumer.consumer_iterator import ConsumerTimeoutError
from kafka_lite.old_consumer.topic_filter import TopicFilter
from kafka_lite.tools.common.tool_errors import ToolError

logger = logging.getLogger(__name__)

POLL_MS = 1000
EARLIEST_OFFSET, LATEST_OFFSET = -2, -1


class StreamEndError(KafkaError):
    """The consumer was stopped."""


class BaseConsumer(Protocol):
    """The consumer that a tool needs. Used by one thread; only ``stop`` may be called from others."""

    def receive(self) -> ConsumerRecord:
        """Wait for a record; key and value are bytes.

        Raises ConsumerTimeoutError if none arrives in time, StreamEndError or WakeupError after ``stop``.
        """
        ...

    def stop(self) -> None:
        """Interrupt a blocked ``receive`` and all later ones."""
        ...

    def cleanup(self) -> None:
        """Release all resources, committing first if auto-commit is enabled."""
        ...

    def commit(self) -> None:
        """Commit the offsets of what was received."""
        ...


class NewShinyConsumer:
    """KafkaConsumer for one topic, for one partition from a given offset, or for topics that match a pattern."""

    def __init__(
        self,
        configs: Mapping[str, object],
        *,
        topic: str | None = None,
        partition: int | None = None,
        offset: int = LATEST_OFFSET,
        include: str | None = None,
        timeout_ms: float | None = None,
        time: Time = SYSTEM_TIME,
    ) -> None:
        """``offset`` may be EARLIEST_OFFSET or LATEST_OFFSET; ``timeout_ms`` None waits forever.

        Raises KafkaError for an invalid pattern or conflicting options.
        """
        self._consumer = KafkaConsumer(configs)
        self._timeout_ms = timeout_ms
        self._time = time
        self._records: Iterator[ConsumerRecord] = iter(())
        self._unchecked_topic, self._partition = topic, partition
        self._problem = ""
        """Why there may be no messages, from the last look at the topic."""
        if topic is not None and partition is not None:
            self._seek(TopicPartition(topic, partition), offset)
        elif topic is not None:
            self._consumer.subscribe([topic])
        else:
            self._consumer.subscribe(_pattern(include or ""))

    def _seek(self, partition: TopicPartition, offset: int) -> None:
        self._consumer.assign([partition])
        if offset == EARLIEST_OFFSET:
            self._consumer.seek_to_beginning([partition])
        elif offset == LATEST_OFFSET:
            self._consumer.seek_to_end([partition])
        else:
            self._consumer.seek(partition, offset)

    def receive(self) -> ConsumerRecord:
        """Return the next record.

        Raises ConsumerTimeoutError, WakeupError; ToolError if there is no such partition, and at the timeout if no
        broker responds or there is no such topic.
        """
        begin_ms = self._time.hi_res_ms()
        while (record := next(self._records, None)) is None:
            left_ms = float(POLL_MS)
            if self._timeout_ms is not None:
                left_ms = self._timeout_ms - (self._time.hi_res_ms() - begin_ms)
                if left_ms < 0:
                    self._raise_timeout(self._timeout_ms)
            self._records = iter(records := self._consumer.poll(min(POLL_MS, left_ms)))
            if not records:
                self._look_at_topic()
        return record

    def _raise_timeout(self, timeout_ms: float) -> NoReturn:
        what = f"no message within {timeout_ms:g} ms"
        if self._problem:
            raise ToolError(f"{what}: {self._problem}")
        raise ConsumerTimeoutError(what)

    def _look_at_topic(self) -> None:
        """Find out why there are no messages, until the topic is known. The consumer would wait for it forever.

        Raises ToolError if it lacks the partition. A topic that does not exist yet is warned of once.
        """
        topic = self._unchecked_topic
        if topic is None:
            return
        try:
            partitions = self._consumer.partitions_for(topic, timeout_ms=POLL_MS)
        except WakeupError:
            raise
        except KafkaError as error:
            self._problem = str(error)
            return
        if not partitions:
            self._warn_of_missing(topic)
            return
        if self._partition is not None and self._partition not in {each.partition for each in partitions}:
            count = len(partitions)
            raise ToolError(f"The topic {topic} has no partition {self._partition}; it has {count}: 0 to {count - 1}")
        self._unchecked_topic, self._problem = None, ""

    def _warn_of_missing(self, topic: str) -> None:
        what = f"the topic {topic} does not exist"
        if self._problem != what:
            logger.warning(
                "The topic %s does not exist. Its messages are read once it exists: "
                "`kafka-lite topics --create --topic %s …` creates it, and so may the first message.",
                topic, topic,
            )  # fmt: skip
        self._problem = what

    def stop(self) -> None:
        """Wake up the consumer."""
        self._consumer.wakeup()

    def cleanup(self) -> None:
        """Close the consumer and leave the group; records fetched but not returned are not committed."""
        first_unconsumed: dict[TopicPartition, int] = {}
        for record in self._records:
            first_unconsumed.setdefault(record.topic_partition, record.offset)
        for partition, offset in first_unconsumed.items():
            if partition in self._consumer.assignment:
                self._consumer.seek(partition, offset)
        self._consumer.close()

    def commit(self) -> None:
        """Commit the positions, which include records fetched but not yet returned."""
        self._consumer.commit_sync()


class OldConsumer:
    """One stream of a ZookeeperConsumerConnector, for all topics that the filter allows."""

    def __init__(self, topic_filter: TopicFilter, configs: Mapping[str, object]) -> None:
        """Raises ConfigError, ZkConnectionError, ConsumerRebalanceFailedError."""
        self._connector = Consumer.create(configs)
        try:
            (stream,) = self._connector.create_message_streams_by_filter(topic_filter, 1)
        except BaseException:
            self._connector.shutdown()
            raise
        self._iterator = iter(stream)

    def receive(self) -> ConsumerRecord:
        """Return the next message. Raises ConsumerTimeoutError, StreamEndError."""
        each = next(self._iterator, None)
        if each is None:
            raise StreamEndError("the consumer was stopped")
        return ConsumerRecord(
            each.topic, each.partition, each.offset, each.timestamp, each.timestamp_type, each.key, each.message
        )

    def stop(self) -> None:
        """Shut down the connector."""
        self._connector.shutdown()

    def cleanup(self) -> None:
        """Shut down the connector if that has not happened yet."""
        self._connector.shutdown()

    def commit(self) -> None:
        """Commit what was received."""
        self._connector.commit_offsets()


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return java_pattern(text)
    except JavaPatternError as error:
        raise KafkaError(f"{text} is an invalid regex: {error}") from error
