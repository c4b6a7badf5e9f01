"""``replica-verification --once``: a replica that cannot be read is asked for again, and is never taken for equal."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.messages.api_01_fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from kafka_lite.protocol.messages.api_03_metadata import MetadataResponse, MetadataResponseBroker
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import memory_records
from kafka_lite.tools.admin import replica_verification
from kafka_lite.tools.admin.admin_channel import SETTLE_MS
from kafka_lite.tools.main import main
from tests.support.scripted_channel import ScriptedChannel, metadata, offsets

P0, P1 = TopicPartition("flights", 0), TopicPartition("flights", 1)
END = 2
Run = Callable[..., int]


class Channel(ScriptedChannel):
    """Two brokers with the partitions' replicas. Broker 2 has errors: by partition, one for each round in turn."""

    def __init__(self, errors: dict[TopicPartition, list[Errors]], contents: dict[int, bytes]) -> None:
        found = metadata(P0, P1)
        found.brokers.append(MetadataResponseBroker(node_id=2, host="127.0.0.1", port=2))
        for topic in found.topics:
            for partition in topic.partitions:
                partition.replica_nodes = [1, 2]
        super().__init__(found, offsets({P0: 0, P1: 0}))
        self.errors = errors
        self.left_out: set[tuple[int, TopicPartition]] = set()
        self.contents = contents

    def connect(self) -> None:
        self.refresh()

    def send(self, request, response_class, broker_id=None, max_version=1 << 15):  # type: ignore[no-untyped-def]
        if response_class is not FetchResponse:
            return super().send(request, response_class, broker_id, max_version)
        self.requests.append(request)
        asked = [
            (TopicPartition(topic.topic, each.partition), each.fetch_offset)
            for topic in request.topics
            for each in topic.partitions
        ]
        partitions = [self._data(broker_id, *each) for each in asked if (broker_id, each[0]) not in self.left_out]
        return FetchResponse(responses=[FetchableTopicResponse(topic="flights", partitions=partitions)])

    def _data(self, broker_id: int, partition: TopicPartition, offset: int) -> PartitionData:
        errors = self.errors.get(partition, []) if broker_id == 2 else []
        error = errors[0] if errors else Errors.NONE
        if len(errors) > 1:
            errors.pop(0)
        records = self.contents[broker_id] if offset == 0 and error is Errors.NONE else b""
        return PartitionData(
            partition_index=partition.partition,
            error_code=error.code,
            high_watermark=END if error is Errors.NONE else -1,
            records=records,
        )


def records(*values: bytes) -> bytes:
    return memory_records(2, CompressionType.NONE, [(None, value) for value in values])


SAME = {1: records(b"a", b"b"), 2: records(b"a", b"b")}


@pytest.fixture
def channel(monkeypatch: pytest.MonkeyPatch) -> Channel:
    channel = Channel({}, dict(SAME))
    monkeypatch.setattr(replica_verification, "new_admin_channel", lambda *_, **__: channel)
    return channel


def verify(*arguments: str) -> int:
    return main(["replica-verification", "--broker-list", "127.0.0.1:1", "--once", "--time", "-2", *arguments])


def test_equal_replicas_are_success(channel: Channel, capsys: pytest.CaptureFixture[str]) -> None:
    assert verify() == 0
    seen = capsys.readouterr()
    assert "max lag is 0 for partition flights-0 at offset 2 among 2 partitions" in seen.out
    assert seen.err == ""
    assert channel.time.hi_res_ms() < SETTLE_MS


def test_different_replicas_are_reported_for_each_partition(
    channel: Channel, capsys: pytest.CaptureFixture[str]
) -> None:
    channel.contents[2] = records(b"a", b"x")
    assert verify() == 1
    out = capsys.readouterr().out
    assert out.count("has unmatched checksum at offset 0; replica 1's checksum") == 2


@pytest.mark.parametrize(
    "error", [Errors.NOT_LEADER_OR_FOLLOWER, Errors.KAFKA_STORAGE_ERROR, Errors.TOPIC_AUTHORIZATION_FAILED]
)
def test_a_replica_with_an_error_fails_though_all_others_are_equal(
    channel: Channel, capsys: pytest.CaptureFixture[str], error: Errors
) -> None:
    channel.errors[P1] = [error]
    assert verify() == 1
    err = capsys.readouterr().err
    assert err.count(f"Replica 2 of flights-1: {error.name}") == 1, "not in each round"
    assert "Not all replicas of flights-1 could be read, so they were not compared." in err
    assert channel.time.hi_res_ms() >= SETTLE_MS


def test_a_replica_that_a_response_leaves_out_was_not_compared(
    channel: Channel, capsys: pytest.CaptureFixture[str]
) -> None:
    channel.left_out.add((2, P1))
    assert verify() == 1
    err = capsys.readouterr().err
    assert err.count("Replica 2 of flights-1: UNKNOWN_SERVER_ERROR") == 1
    assert "Not all replicas of flights-1 could be read, so they were not compared." in err


@pytest.mark.parametrize("rounds", [1, 3, 20])
def test_a_replica_whose_error_passes_is_compared(
    channel: Channel, capsys: pytest.CaptureFixture[str], rounds: int
) -> None:
    channel.errors[P1] = [*[Errors.NOT_LEADER_OR_FOLLOWER] * rounds, Errors.NONE]
    assert verify() == 0
    assert "could be read" not in capsys.readouterr().err
    channel.errors[P1] = [*[Errors.NOT_LEADER_OR_FOLLOWER] * rounds, Errors.NONE]
    channel.contents[2] = records(b"a", b"x")
    assert verify() == 1
    assert "partition flights-1 has unmatched checksum at offset 0" in capsys.readouterr().out


def test_an_error_that_comes_back_is_said_again(channel: Channel, capsys: pytest.CaptureFixture[str]) -> None:
    channel.errors[P0] = [Errors.NOT_LEADER_OR_FOLLOWER, Errors.NONE, Errors.NOT_LEADER_OR_FOLLOWER, Errors.NONE]
    channel.errors[P1] = [Errors.KAFKA_STORAGE_ERROR]
    assert verify() == 1
    assert capsys.readouterr().err.count("Replica 2 of flights-0: NOT_LEADER_OR_FOLLOWER") == 2


def test_each_round_asks_every_replica_from_the_same_offset(channel: Channel) -> None:
    assert verify("--fetch-size", "77") == 0
    asked = [
        [(each.fetch_offset, each.partition_max_bytes) for topic in request.topics for each in topic.partitions]
        for request in channel.requests
        if isinstance(request, FetchRequest)
    ]
    assert asked == [[(0, 77)] * 2] * 2 + [[(END, 77)] * 2] * 2


def test_a_replica_of_a_dead_broker_is_an_error(channel: Channel, capsys: pytest.CaptureFixture[str]) -> None:
    (found,) = [each for each in channel._script if isinstance(each, MetadataResponse)]
    found.brokers.pop()
    assert verify() == 1
    assert "Cannot verify flights-0: broker 2 is not alive" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["--topic-white-list", "none"], ["--topic-white-list", "("], ["--time", "soon"]])
def test_wrong_arguments_are_errors_in_one_line(
    channel: Channel, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    assert verify(*arguments) == 1
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert not [each for each in channel.requests if isinstance(each, FetchRequest)]
