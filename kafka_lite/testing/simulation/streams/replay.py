"""The results of a task from the records of its partition if nothing goes wrong.

Not in Kafka.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

from kafka_lite.common.serialization import ByteArrayDeserializer, ByteArraySerializer
from kafka_lite.producer.partitioner import partition_for_key
from kafka_lite.streams.topology_test_driver import TopologyTestDriver
from kafka_lite.testing.simulation.streams.drawing import Drawing
from kafka_lite.testing.simulation.streams.drawn_programs import APPLICATION_ID
from kafka_lite.testing.simulation.streams.drawn_topology import build, partitioned_part
from kafka_lite.testing.simulation.streams.seen import Content


class Replay:
    """A test driver of the drawn topology that is fed from one topic, and whose output to others is kept."""

    def __init__(self, drawing: Drawing, source: str, sinks: Collection[str], partitions: int) -> None:
        self._drawing, self._source, self._sinks, self._partitions = drawing, source, sinks, partitions
        self._driver = TopologyTestDriver(build(drawing), application_id=APPLICATION_ID)
        self._fed = 0
        self.made: dict[tuple[str, int], list[Content]] = defaultdict(list)
        """The records that the task sends to each partition of the other topics."""

    def feed(self, contents: Sequence[Content]) -> None:
        """Process what is new in the records of the task's partition."""
        for content in contents[self._fed :]:
            self._fed += 1
            raw = ByteArraySerializer()
            self._driver.pipe_input(
                self._source, content.key, content.value,
                timestamp=content.timestamp, key_serializer=raw, value_serializer=raw,
            )  # fmt: skip
            for sink in self._sinks:
                self._take(sink)

    def _take(self, sink: str) -> None:
        raw = ByteArrayDeserializer()
        while (record := self._driver.read_output(sink, raw, raw)) is not None:
            assert record.timestamp is not None
            partition = self._partition_of(sink, record.key)
            self.made[sink, partition].append(Content(record.key, record.value, record.timestamp))

    def _partition_of(self, topic: str, key: bytes | None) -> int:
        return partition_for_key(partitioned_part(self._drawing, topic, key or b""), self._partitions)
