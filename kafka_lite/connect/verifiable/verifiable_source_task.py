"""Produces 0, 1, 2, …, and prints each number twice: when it is polled, and when it is acknowledged.

Kafka 0.10.2: connect/runtime/.../connect/tools/VerifiableSourceTask.java · book 8.3.2
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from kafka_lite import __version__
from kafka_lite.common.rates.throughput_throttler import ThroughputThrottler
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.connect.api.data.schema import Schema
from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.api.source_record import SourceRecord
from kafka_lite.connect.api.source_task import SourceTask
from kafka_lite.connect.verifiable.verifiable_lines import print_line
from kafka_lite.producer.producer_record import RecordMetadata

logger = logging.getLogger(__name__)

NAME, ID, TOPIC, THROUGHPUT = "name", "id", "topic", "throughput"
SEQNO = "seqno"


class VerifiableSourceTask(SourceTask):
    """A test reads the lines, and finds each number that is committed here again in the lines of the sink.

    ::

        source partition {"id": 0}    offset {"seqno": the last number}    record: key id (INT32), value seqno (INT64)

        {"task":0,"seqno":7,"time_ms":1480000000000,"name":"source","topic":"t"}                      polled
        {"committed":true,"task":0,"seqno":7,"time_ms":1480000000003,"name":"source","topic":"t"}     acknowledged

    The fields stand in the order in which Java's HashMap returns them.
    """

    def __init__(self, time: Time = SYSTEM_TIME) -> None:
        self._time = time
        self._name: str | None = None
        self._topic: str | None = None
        self._id = 0
        self._first = self._seqno = 0
        self._throttler: ThroughputThrottler | None = None

    def version(self) -> str:
        """Of kafka_lite."""
        return __version__

    def start(self, props: Mapping[str, str]) -> None:
        """Continue after the last number. Raises ConnectError."""
        self._name, self._topic = props.get(NAME), props.get(TOPIC)
        try:
            self._id, throughput = int(props[ID]), int(props[THROUGHPUT])
        except (KeyError, ValueError) as error:
            raise ConnectError("Invalid VerifiableSourceTask configuration") from error
        offset = self.context.offset_storage_reader.offset({ID: self._id})
        self._seqno = self._first = 0 if offset is None else int(offset[SEQNO]) + 1
        self._throttler = ThroughputThrottler(throughput, self._time.milliseconds(), self._time)
        logger.info(
            "Started VerifiableSourceTask %s-%d producing to topic %s resuming from seqno %d",
            self._name, self._id, self._topic, self._first,
        )  # fmt: skip

    def poll(self) -> Sequence[SourceRecord] | None:
        """The next number, when it is due."""
        throttler = self._throttler
        if throttler is not None and throttler.should_throttle(self._seqno - self._first, self._time.milliseconds()):
            throttler.throttle()
        self._print(self._seqno)
        record = SourceRecord(
            source_partition={ID: self._id},
            source_offset={SEQNO: self._seqno},
            topic=self._topic or "",
            key_schema=Schema.INT32_SCHEMA,
            key=self._id,
            value_schema=Schema.INT64_SCHEMA,
            value=self._seqno,
        )
        self._seqno += 1
        return [record]

    def commit_record(self, record: SourceRecord, metadata: RecordMetadata | None) -> None:  # noqa: ARG002
        """Print the number again."""
        self._print(record.value, {"committed": True})

    def _print(self, seqno: int, before: Mapping[str, object] | None = None) -> None:
        print_line(
            {
                **(before or {}),
                "task": self._id,
                "seqno": seqno,
                "time_ms": self._time.milliseconds(),
                "name": self._name,
                "topic": self._topic,
            }
        )

    def stop(self) -> None:
        """End a wait."""
        if self._throttler is not None:
            self._throttler.wakeup()
