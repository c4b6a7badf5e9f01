"""What the tests of Connect's stores put in place of a topic and of a converter."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from kafka_lite.connect.api.converter import Converter
from kafka_lite.connect.api.data.schema import Schema
from kafka_lite.connect.api.data.schema_and_value import SchemaAndValue
from kafka_lite.connect.api.data.struct import Struct
from kafka_lite.connect.api.errors import DataError
from kafka_lite.connect.runtime.storage.kafka_based_log import SendCallback
from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.record.record import TimestampType


class PlainJson(Converter):
    """JSON without schemas, as a worker's internal converters write it."""

    def from_connect_data(self, topic: str, schema: Schema | None, value: Any) -> bytes | None:
        if value is None:
            return None
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False, default=_plain).encode()

    def to_connect_data(self, topic: str, value: bytes | None) -> SchemaAndValue:
        try:
            return SchemaAndValue(None, None if value is None else json.loads(value))
        except ValueError as error:
            raise DataError(str(error)) from error


def _plain(struct: Struct) -> dict[str, Any]:
    return dict(struct.items())


class FakeTopic:
    """The records of a topic, and the logs that follow it: each reads only when it is asked to read to the end."""

    def __init__(self) -> None:
        self.records: list[tuple[bytes | None, bytes | None]] = []
        self.errors: list[Exception] = []
        """What the next records that are sent fail with."""
        self.holds_callbacks = False
        self.held: list[Callable[[], None]] = []
        self.answers = True
        """Whether the end of the topic can be found."""
        self.partition_count = 1

    def new_log(self, consumed: Callable[[ConsumerRecord], None]) -> Any:
        return FakeLog(self, consumed)

    def texts(self) -> list[tuple[str, str | None]]:
        """The records so far, as texts."""
        return [((key or b"").decode(), None if value is None else value.decode()) for key, value in self.records]


class FakeLog:
    """Stands for a KafkaBasedLog."""

    def __init__(self, topic: FakeTopic, consumed: Callable[[ConsumerRecord], None]) -> None:
        self.topic = topic
        self.partition_count = topic.partition_count
        self.stopped = False
        self._consumed = consumed
        self._position = 0

    def start(self) -> None:
        self.read()

    def stop(self) -> None:
        self.stopped = True

    def flush(self) -> None:
        pass

    def send(self, key: bytes | None, value: bytes | None, callback: SendCallback | None = None) -> None:
        error = self.topic.errors.pop(0) if self.topic.errors else None
        if error is None:
            self.topic.records.append((key, value))
        if callback is not None:
            self.topic.held.append(lambda: callback(None, error))
            if not self.topic.holds_callbacks:
                self.topic.held.pop()()

    def read_to_end(self) -> Future[None]:
        future: Future[None] = Future()
        if self.topic.answers:
            self.read()
            future.set_result(None)
        return future

    def read(self) -> None:
        """Read on to the end."""
        while self._position < len(self.topic.records):
            key, value = self.topic.records[self._position]
            record = ConsumerRecord("topic", 0, self._position, 0, TimestampType.CREATE_TIME, key, value)
            self._position += 1
            self._consumed(record)
