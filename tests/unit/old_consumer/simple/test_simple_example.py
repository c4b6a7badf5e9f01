"""Reading one partition by hand: leaders that move, offsets that are gone, and when it gives up."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kafka_lite.clients.broker_end_point import BrokerEndPoint
from kafka_lite.common.errors import Errors, KafkaError
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.network.blocking_channel import NotConnectedError
from kafka_lite.old_consumer.simple.simple_example import RETRIES, SimpleExample
from kafka_lite.protocol.messages.api_01_fetch import FetchRequest
from kafka_lite.protocol.messages.api_02_list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from kafka_lite.protocol.messages.api_03_metadata import MetadataRequest
from kafka_lite.protocol.schema import Response
from kafka_lite.record.record import Record
from tests.support.blocking_brokers import BlockingBrokers
from tests.support.leaders_and_logs import NO_LEADER, LeadersAndLogs

T0 = TopicPartition("t", 0)
SEEDS = [BrokerEndPoint(1, "h", 9001), BrokerEndPoint(2, "h", 9002)]


class ClockOfChanges(MockTime):
    """A clock during whose backoffs the cluster changes."""

    def __init__(self) -> None:
        super().__init__()
        self.changes: list[Callable[[], None]] = []
        self.sleeps = 0

    def sleep(self, ms: float) -> None:
        super().sleep(ms)
        self.sleeps += 1
        if self.changes:
            self.changes.pop(0)()


@pytest.fixture
def cluster(brokers: BlockingBrokers) -> LeadersAndLogs:
    cluster = LeadersAndLogs(brokers, p0=1)
    cluster.ends[T0] = (3, 6)
    return cluster


@pytest.fixture
def time() -> ClockOfChanges:
    return ClockOfChanges()


def read(time: ClockOfChanges, count: int, consume: Callable[[Record], None] | None = None) -> list[int]:
    records: list[Record] = []

    def both(record: Record) -> None:
        records.append(record)
        if consume is not None:
            consume(record)

    SimpleExample(SEEDS, T0, time).run(count, both)
    return [record.offset for record in records]


@pytest.mark.usefixtures("cluster")
def test_a_partition_is_read_from_its_beginning(brokers: BlockingBrokers, time: ClockOfChanges) -> None:
    assert read(time, 3) == [3, 4, 5]
    assert brokers.open == 0, "all connections are closed"
    assert read(time, 2) == [3, 4], "no more than was asked for"


def test_the_leader_is_found_by_any_seed(cluster: LeadersAndLogs, time: ClockOfChanges) -> None:
    cluster.leaders[T0] = 2
    cluster.brokers.stop(9001)
    assert SimpleExample(SEEDS, T0, time).find_leader() == (2, "h", 9002)
    cluster.brokers.stop(9002)
    with pytest.raises(KafkaError, match="Can't find the leader of t-0 from"):
        read(time, 1)


def test_reading_continues_at_the_new_leader(cluster: LeadersAndLogs, time: ClockOfChanges) -> None:
    def move(record: Record) -> None:
        if record.offset == 4:
            cluster.leaders[T0] = 2

    assert read(time, 3, move) == [3, 4, 5]
    assert time.sleeps == 0, "the new leader was known at once"


def test_a_dead_leader_gets_a_moment_before_it_is_tried_again(cluster: LeadersAndLogs, time: ClockOfChanges) -> None:
    def die(record: Record) -> None:
        if record.offset == 4:
            cluster.brokers.stop(9001)

    def elect() -> None:
        cluster.leaders[T0] = 2

    time.changes = [elect]
    assert read(time, 3, die) == [3, 4, 5]
    assert time.sleeps == 1


def test_it_gives_up_if_no_leader_is_elected(cluster: LeadersAndLogs, time: ClockOfChanges) -> None:
    def die(_record: Record) -> None:
        cluster.leaders[T0] = NO_LEADER

    with pytest.raises(KafkaError, match="Unable to find new leader of t-0 after broker failure"):
        read(time, 3, die)
    assert time.sleeps == RETRIES


def test_it_gives_up_after_six_errors_in_a_row(cluster: LeadersAndLogs, time: ClockOfChanges) -> None:
    cluster.brokers.answer(9001, FetchRequest, ConnectionError("broken"))
    with pytest.raises(KafkaError, match="gave up on t-0 after 6 errors: broken"):
        read(time, 3)


def test_after_a_deletion_reading_continues_at_the_end(cluster: LeadersAndLogs, time: ClockOfChanges) -> None:
    list_offsets = cluster.brokers.handlers[9001][ListOffsetsRequest]

    def delete(record: Record) -> None:
        if record.offset == 3:
            cluster.ends[T0] = (10, 12)
            cluster.brokers.answer(9001, ListOffsetsRequest, list_offsets_and_append)

    def list_offsets_and_append(request: object) -> Response | Exception:
        response = list_offsets(request)
        cluster.ends[T0] = (10, 14)
        return response

    assert read(time, 3, delete) == [3, 12, 13]


def test_an_offset_that_is_asked_for_after_a_deletion_may_be_at_another_leader(
    cluster: LeadersAndLogs, time: ClockOfChanges
) -> None:
    def delete(record: Record) -> None:
        if record.offset == 3:
            cluster.ends[T0] = (10, 12)
            moved = ListOffsetsPartitionResponse(error_code=Errors.NOT_LEADER_OR_FOLLOWER.code)
            topics = [ListOffsetsTopicResponse(name="t", partitions=[moved])]
            cluster.brokers.answer(9001, ListOffsetsRequest, move, ListOffsetsResponse(topics=topics))

    def move(_request: object) -> Exception:
        cluster.leaders[T0] = 2
        cluster.ends[T0] = (10, 12)
        time.changes = [append]
        return NotConnectedError("the broker leads it no longer")

    def append() -> None:
        cluster.ends[T0] = (10, 14)

    list_at_2 = cluster.brokers.handlers[9002][ListOffsetsRequest]

    def list_then_append(request: object) -> Response | Exception:
        response = list_at_2(request)
        append()
        return response

    cluster.brokers.answer(9002, ListOffsetsRequest, list_then_append)
    assert read(time, 3, delete) == [3, 12, 13]


@pytest.mark.parametrize("request_class", [ListOffsetsRequest, MetadataRequest])
def test_an_offset_that_cannot_be_read_at_once_is_asked_for_again(
    cluster: LeadersAndLogs, time: ClockOfChanges, request_class: type[ListOffsetsRequest | MetadataRequest]
) -> None:
    working = cluster.brokers.handlers[9001][request_class]
    lost = ConnectionError("lost")
    cluster.brokers.answer(9001, request_class, lost, lost, working)
    assert read(time, 3) == [3, 4, 5]
