"""Prints each record twice: when it is put, and when it is flushed.

Kafka 0.10.2: connect/runtime/.../connect/tools/VerifiableSinkTask.java · book 8.3.2
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kafka_lite import __version__
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.api.sink_record import SinkRecord
from kafka_lite.connect.api.sink_task import SinkTask
from kafka_lite.connect.verifiable.verifiable_lines import print_line
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata

NAME, ID = "name", "id"


class VerifiableSinkTask(SinkTask):
    """The counterpart of VerifiableSourceTask.

    ::

        {"task":0,"seqno":7,"offset":9,"time_ms":1480000000000,"name":"sink","topic":"t","sinkTask":1}
        {"task":0,"seqno":7,"offset":9,"time_ms":1480000000003,"name":"sink","topic":"t","sinkTask":1,"flushed":true}
    """

    def __init__(self, time: Time = SYSTEM_TIME) -> None:
        self._time = time
        self._name: str | None = None
        self._id = 0
        self._unflushed: list[dict[str, object]] = []

    def version(self) -> str:
        """Of kafka_lite."""
        return __version__

    def start(self, props: Mapping[str, str]) -> None:
        """Note the name and the number. Raises ConnectError."""
        self._name = props.get(NAME)
        try:
            self._id = int(props[ID])
        except (KeyError, ValueError) as error:
            raise ConnectError("Invalid VerifiableSinkTask configuration") from error

    def put(self, records: Sequence[SinkRecord]) -> None:
        """Print the records; the key is the number of the source's task."""
        now_ms = self._time.milliseconds()
        for record in records:
            data = {
                "task": record.key,
                "seqno": record.value,
                "offset": record.kafka_offset,
                "time_ms": now_ms,
                "name": self._name,
                "topic": record.topic,
                "sinkTask": self._id,
            }
            print_line(data)
            self._unflushed.append(data)

    def flush(self, current_offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:  # noqa: ARG002
        """Print the records since the last flush again."""
        now_ms = self._time.milliseconds()
        for data in self._unflushed:
            print_line({**data, "time_ms": now_ms, "flushed": True})
        self._unflushed.clear()

    def stop(self) -> None:
        """There is nothing to close."""
