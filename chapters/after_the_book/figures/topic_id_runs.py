"""Recorded runs of a topic that is deleted and made again, while a reader reads it by name and by id (KIP-516).

Requests are made by hand: a client of today would use ids, and one of 2017 only names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from chapters.ch10_advanced.figures.transaction_runs import arrow
from kafka_learn.recording.recorded_run import Kind, RecordedRun
from kafka_learn.recording.recorder import Call, Recording, Watch
from kafka_learn.recording.run_brokers import AS_IN_KAFKA, TOPIC, in_thread
from kafka_lite.common.errors import Errors
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.protocol.messages.api_01_fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from kafka_lite.protocol.messages.api_03_metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from kafka_lite.record.records import batches
from kafka_lite.testing.cluster import Cluster

READER, BROKER = "reader", "broker"
BY_NAME, BY_ID = 12, 13
"""Versions of Fetch: the last one with names, and the first one with ids."""
METADATA_VERSION = 12
OLD, NEW = ("old 0", "old 1"), ("new 0", "new 1", "new 2")


def _watches() -> list[Watch]:
    """Watch the requests of the reader, and the responses."""

    def before(call: Call) -> None:
        if call.actor == READER:
            arrow(call, READER, BROKER, _name(call), _asked(call.argument("request")))

    def after(call: Call) -> None:
        if call.actor == READER:
            arrow(call, BROKER, READER, f"{_name(call)} response", _told(call.result))

    return [Watch.of(BlockingChannel.exchange, before, after)]


def _name(call: Call) -> str:
    return "Fetch" if isinstance(call.argument("request"), FetchRequest) else "Metadata"


def _asked(request: Any) -> str:
    if not isinstance(request, FetchRequest):
        return TOPIC
    topic = request.topics[0]
    return f"{topic.topic or 'its id'}, offset {topic.partitions[0].fetch_offset}"


def _told(response: Any) -> str:
    if isinstance(response, FetchResponse):
        partition = response.responses[0].partitions[0]
        error = Errors.for_code(partition.error_code)
        return error.name if error is not Errors.NONE else ", ".join(_values(partition.records))
    return "an id"


def _values(records: Any) -> list[str]:
    data = bytes(records) if isinstance(records, bytes | bytearray | memoryview) else records.to_bytes()
    return [bytes(record.value or b"").decode() for batch in batches(data) for record in batch.records()]


class Reader:
    """A client that fetches from one offset after the other, by the topic's name or by its id."""

    def __init__(self, cluster: Cluster) -> None:
        host, _, port = cluster.bootstrap_servers.rpartition(":")
        self._channel = BlockingChannel(host, int(port))
        self._channel.connect()

    def close(self) -> None:
        """Disconnect."""
        self._channel.close()

    def topic_id(self) -> Any:
        """The id that the topic has now."""
        request = MetadataRequest(topics=[MetadataRequestTopic(name=TOPIC)])
        response = self._channel.exchange(request, METADATA_VERSION)
        assert isinstance(response, MetadataResponse)
        return response.topics[0].topic_id

    def fetch(self, offset: int, **topic: Any) -> None:
        """Fetch from partition 0; ``topic`` is ``topic="…"`` or ``topic_id=…``."""
        partition = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1 << 20)
        request = FetchRequest(
            max_wait_ms=0, min_bytes=0, max_bytes=1 << 20, topics=[FetchTopic(partitions=[partition], **topic)]
        )
        self._channel.exchange(request, BY_NAME if "topic" in topic else BY_ID)


@contextmanager
def _deleted_and_made_again(title: str) -> Iterator[tuple[Recording, Reader, Callable[[], None]]]:
    """A topic with two records, a reader, and the function that makes another topic of that name, with three."""
    with Recording(_watches(), title=title, paused=True) as recording, Cluster(AS_IN_KAFKA) as cluster:
        cluster.create_topic(TOPIC)
        cluster.produce(TOPIC, *OLD)
        reader = Reader(cluster)

        def make_again() -> None:
            cluster.delete_topic(TOPIC)
            recording.emit(Kind.NOTE, BROKER, f"deletes {TOPIC}")
            cluster.create_topic(TOPIC)
            for value in NEW:  # a batch for each, since a broker returns whole batches
                cluster.produce(TOPIC, value)
            recording.emit(Kind.NOTE, BROKER, f"creates {TOPIC}: {', '.join(NEW)}")

        with recording.running():
            yield recording, reader, make_again
        reader.close()


def read_by_name() -> RecordedRun:
    """Version 12: the name stands for another topic, and nobody notices."""
    with _deleted_and_made_again("A topic is made again: read by name") as (recording, reader, make_again):
        in_thread(READER, lambda: reader.fetch(0, topic=TOPIC))
        make_again()
        in_thread(READER, lambda: reader.fetch(len(OLD), topic=TOPIC))
    return recording.run.recorded_in(__name__, "read_by_name", lanes=(READER, BROKER))


def read_by_id() -> RecordedRun:
    """Version 13: the broker has no topic with this id any more, and says so."""

    def read_first() -> None:
        ids.append(reader.topic_id())
        reader.fetch(0, topic_id=ids[0])

    def read_again() -> None:
        reader.fetch(len(OLD), topic_id=ids[0])
        reader.fetch(0, topic_id=reader.topic_id())

    ids: list[Any] = []
    with _deleted_and_made_again("A topic is made again: read by id") as (recording, reader, make_again):
        in_thread(READER, read_first)
        make_again()
        in_thread(READER, read_again)
    return recording.run.recorded_in(__name__, "read_by_id", lanes=(READER, BROKER))


RUNS: dict[str, Callable[[], RecordedRun]] = {"read-by-name": read_by_name, "read-by-id": read_by_id}
