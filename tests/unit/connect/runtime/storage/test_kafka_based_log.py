from collections.abc import Callable, Iterable, Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.runtime.storage.kafka_based_log import KafkaBasedLog
from kafka_lite.consumer.consumer_errors import WakeupError
from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.record.record import TimestampType

PARTITIONS = [TopicPartition("t", number) for number in range(2)]


class FakeClients:
    """One topic with one consumer and one producer. A poll without records raises WakeupError instead of waiting."""

    def __init__(self, partition_count: int = 2) -> None:
        self.lines: dict[TopicPartition, list[bytes]] = {each: [] for each in PARTITIONS[:partition_count]}
        self.positions: dict[TopicPartition, int] = {}
        self.configs: list[Mapping[str, object]] = []
        self.closed: list[str] = []
        self.flushes = self.wakeups = 0
        self.missing_for = 0
        """How many look-ups find no topic."""
        self.errors: list[Exception] = []
        """What the next calls for the ends of partitions raise."""

    def consumer(self, config: Mapping[str, object]) -> Any:
        self.configs.append(config)
        return self

    def producer(self, config: Mapping[str, object]) -> Any:
        self.configs.append(config)
        return SimpleNamespace(send=self._send, flush=self._flush, close=lambda: self.closed.append("producer"))

    def _send(self, record: Any, callback: Any) -> None:
        self.lines[PARTITIONS[0]].append(record.value)
        if callback is not None:
            callback(None, None)

    def _flush(self) -> None:
        self.flushes += 1

    def partitions_for(self, topic: str) -> tuple[Any, ...]:
        if self.missing_for:
            self.missing_for -= 1
            return ()
        return tuple(SimpleNamespace(partition=each.partition) for each in self.lines)

    def assign(self, partitions: Iterable[TopicPartition]) -> None:
        self.assigned = list(partitions)

    @property
    def assignment(self) -> list[TopicPartition]:
        return self.assigned

    def seek_to_beginning(self, partitions: Iterable[TopicPartition]) -> None:
        self.positions = dict.fromkeys(partitions, 0)

    def end_offsets(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        if self.errors:
            raise self.errors.pop(0)
        return {each: len(self.lines[each]) for each in partitions}

    def position(self, partition: TopicPartition) -> int:
        return self.positions[partition]

    def poll(self, timeout_ms: float) -> list[ConsumerRecord]:
        for partition, offset in self.positions.items():
            if offset < len(self.lines[partition]):
                self.positions[partition] += 1
                line = self.lines[partition][offset]
                return [ConsumerRecord(*partition, offset, 0, TimestampType.CREATE_TIME, None, line)]
        raise WakeupError

    def wakeup(self) -> None:
        self.wakeups += 1

    def close(self) -> None:
        self.closed.append("consumer")


class Reader:
    """A log that was not started, only read: its thread's turns are the test's."""

    def __init__(self, clients: FakeClients, prepare: Callable[[], None] | None = None) -> None:
        self.seen: list[bytes] = []
        self.time = MockTime()
        self.log = KafkaBasedLog(
            "t", {"client.id": "x", "acks": "0"}, {"group.id": "g"}, self._consumed,
            clients=clients, time=self.time, prepare=prepare,  # type: ignore[arg-type]
        )  # fmt: skip

    def _consumed(self, record: ConsumerRecord) -> None:
        if record.value == b"bad":
            raise ValueError("cannot be read")
        self.seen.append(record.value)


def test_the_start_reads_all_partitions_to_their_ends() -> None:
    clients = FakeClients()
    clients.lines[PARTITIONS[0]] += [b"a", b"b"]
    clients.lines[PARTITIONS[1]] += [b"c"]
    reader = Reader(clients)
    reader.log.start()
    assert sorted(reader.seen) == [b"a", b"b", b"c"]
    reader.log.stop()
    assert clients.closed == ["producer", "consumer", "consumer"]
    producer, consumer, ends = clients.configs
    assert ends == consumer
    assert producer == {
        "client.id": "x", "acks": "all", "max.in.flight.requests.per.connection": 1, "enable.idempotence": "false",
    }  # fmt: skip
    assert consumer == {"group.id": "g", "auto.offset.reset": "earliest", "enable.auto.commit": "false"}


@pytest.fixture
def clients() -> FakeClients:
    clients = FakeClients()
    clients.assigned = PARTITIONS
    clients.seek_to_beginning(PARTITIONS)
    return clients


@pytest.fixture
def reader(clients: FakeClients) -> Reader:
    """Its clients are there, and its thread is not."""
    reader = Reader(clients)
    reader.log._producer, reader.log._consumer, reader.log._ends = clients.producer({}), clients, clients
    return reader


def test_the_end_is_reached_after_what_was_sent_before(clients: FakeClients, reader: Reader) -> None:
    acknowledged = list[object]()
    reader.log.send(b"k", b"1", lambda metadata, error: acknowledged.append(error))
    reader.log.send(b"k", b"2")
    future = reader.log.read_to_end()
    assert (clients.flushes, clients.wakeups, future.done()) == (1, 1, False)
    reader.log.work()
    assert future.done()
    assert (reader.seen, acknowledged) == ([b"1", b"2"], [None])


def test_a_turn_without_waiting_calls_reads_on(clients: FakeClients, reader: Reader) -> None:
    clients.lines[PARTITIONS[1]] += [b"x"]
    reader.log.work()
    assert reader.seen == [b"x"]


def test_a_record_that_cannot_be_applied_is_skipped(clients: FakeClients, reader: Reader) -> None:
    clients.lines[PARTITIONS[0]] += [b"1", b"bad", b"2"]
    future = reader.log.read_to_end()
    reader.log.work()
    assert (future.done(), reader.seen) == (True, [b"1", b"2"])


def test_an_error_of_the_cluster_leaves_calls_waiting(clients: FakeClients, reader: Reader) -> None:
    clients.errors = [ApiError(Errors.REQUEST_TIMED_OUT)]
    future = reader.log.read_to_end()
    with pytest.raises(ApiError):
        reader.log.work()
    assert not future.done()
    reader.log.work()
    assert future.done()


def test_a_call_that_was_given_up_does_not_matter(reader: Reader) -> None:
    future = reader.log.read_to_end()
    assert future.cancel()
    reader.log.work()


def test_calls_that_wait_fail_when_the_log_is_stopped(reader: Reader) -> None:
    future = reader.log.read_to_end()
    reader.log.stop()
    with pytest.raises(ConnectError, match="was stopped"):
        future.result(0)


def test_a_topic_may_appear_late_or_never() -> None:
    clients = FakeClients()
    clients.missing_for = 3
    late = Reader(clients)
    late.log.start()
    assert late.time.hi_res_ms() == 3000
    late.log.stop()

    clients.missing_for = 100
    never = Reader(clients)
    with pytest.raises(ConnectError, match="Could not look up partition metadata for topic t"):
        never.log.start()
    never.log.stop()
    assert never.time.hi_res_ms() == 30_000


def test_the_topic_is_prepared_before_any_client_is_made() -> None:
    def refuse() -> None:
        raise ConnectError("not compacted")

    clients = FakeClients()
    refused = Reader(clients, refuse)
    with pytest.raises(ConnectError, match="not compacted"):
        refused.log.start()
    assert clients.configs == []
    refused.log.stop()

    prepared: list[int] = []
    reader = Reader(clients, lambda: prepared.append(len(clients.configs)))
    reader.log.start()
    assert (prepared, reader.log.partition_count) == ([0], 2)
    reader.log.stop()
