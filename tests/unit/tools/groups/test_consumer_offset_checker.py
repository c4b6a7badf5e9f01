"""The table of an old group: offsets of Kafka or ZooKeeper, log ends, owners."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.messages.api_09_offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchResponse,
    OffsetFetchResponsePartition,
    OffsetFetchResponseTopic,
)
from kafka_lite.tools.groups import consumer_offset_checker
from kafka_lite.zookeeper.consumer_groups import ConsumerGroups
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from tests.support.fake_zookeeper import Tree, fake_zk

F0, F1 = TopicPartition("flights", 0), TopicPartition("flights", 1)
BROKER = b'{"version":2,"host":"b","port":9092,"jmx_port":-1,"timestamp":"0","endpoints":["PLAINTEXT://b:9092"]}'
STATE = b'{"controller_epoch":1,"leader":%d,"version":1,"leader_epoch":0,"isr":[1]}'


class Cluster:
    """What the checker connects to: a coordinator that is found after some attempts, and one leader."""

    def __init__(self, zk: KafkaZkClient) -> None:
        self.zk = zk
        self.failures = 0
        self.committed: dict[TopicPartition, int] = {}
        self.error = Errors.NONE
        self.ends = {F0: 40, F1: 9}
        self.closed: list[str] = []
        self.pauses: list[float] = []

    def channel(self, *_: object) -> Any:
        if self.failures:
            self.failures -= 1
            raise ConnectionError("no coordinator yet")
        return SimpleNamespace(exchange=self.exchange, close=lambda: self.closed.append("coordinator"))

    def exchange(self, request: OffsetFetchRequest, _version: int) -> OffsetFetchResponse:
        topics = [
            OffsetFetchResponseTopic(
                name=topic.name,
                partitions=[
                    OffsetFetchResponsePartition(
                        partition_index=number,
                        committed_offset=self.committed.get(TopicPartition(topic.name, number), -1),
                        error_code=self.error.code,
                    )
                    for number in topic.partition_indexes
                ],
            )
            for topic in request.topics or []
        ]
        return OffsetFetchResponse(topics=topics)

    def consumer(self, host: str, port: int, *_: object) -> Any:
        return SimpleNamespace(
            host=host,
            port=port,
            close=lambda: self.closed.append(host),
            earliest_or_latest_offset=lambda partition, _time: self.ends[partition],
        )


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    zk = fake_zk(Tree())
    zk.zookeeper.create_recursive("/brokers/ids/1", BROKER)
    zk.zookeeper.create_recursive("/brokers/topics/flights", b'{"version":1,"partitions":{"0":[1],"1":[1]}}')
    for number in (0, 1):
        zk.zookeeper.create_recursive(f"/brokers/topics/flights/partitions/{number}/state", STATE % 1)
    groups = ConsumerGroups(zk)
    groups.create_owner("office", F0, "office_host-1-aaaa-0")
    groups.set_offset("office", F0, 33)
    groups.set_offset("office", F1, 5)
    cluster = Cluster(zk)

    @contextmanager
    def connected(_connect_string: str) -> Iterator[KafkaZkClient]:
        yield zk

    monkeypatch.setattr(consumer_offset_checker, "zookeeper_client", connected)
    monkeypatch.setattr(consumer_offset_checker, "channel_to_offset_manager", cluster.channel)
    monkeypatch.setattr(consumer_offset_checker, "SimpleConsumer", cluster.consumer)
    monkeypatch.setattr(consumer_offset_checker, "SYSTEM_TIME", SimpleNamespace(sleep=cluster.pauses.append))
    monkeypatch.setattr(consumer_offset_checker, "configure_logging", lambda **_: None)
    return cluster


def check(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[list[str]], str]:
    """The exit code, the rows below the headings, and stderr without the deprecation."""
    parser = argparse.ArgumentParser()
    consumer_offset_checker.add_arguments(parser)
    code = consumer_offset_checker.run(parser.parse_args(["--group", "office", *arguments]))
    seen = capsys.readouterr()
    return code, [line.split() for line in seen.out.splitlines()[1:]], seen.err.partition("\n")[2]


def test_offsets_of_zookeeper_are_shown_if_the_coordinator_has_none(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster.committed = {F1: 8}
    assert check(capsys) == (
        0,
        [
            ["office", "flights", "0", "33", "40", "7", "office_host-1-aaaa-0"],
            ["office", "flights", "1", "8", "9", "1", "none"],
        ],
        "",
    )
    assert cluster.closed == ["coordinator", "b"]


def test_a_partition_without_an_offset_is_unknown(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    cluster.zk.zookeeper.delete("/consumers/office/offsets/flights/1")
    _, rows, _ = check(capsys)
    assert rows[1] == ["office", "flights", "1", "unknown", "9", "unknown", "none"]


def test_an_error_of_the_coordinator_is_not_read_as_no_offset(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster.error = Errors.GROUP_AUTHORIZATION_FAILED
    code, rows, told = check(capsys)
    assert (code, rows) == (1, [])
    assert "GROUP_AUTHORIZATION_FAILED" in told


@pytest.mark.parametrize("leader", [-1, 7])
def test_a_partition_without_a_live_leader_is_said_and_the_others_shown(
    cluster: Cluster, capsys: pytest.CaptureFixture[str], leader: int
) -> None:
    cluster.zk.zookeeper.set("/brokers/topics/flights/partitions/0/state", STATE % leader)
    code, rows, _ = check(capsys)
    assert code == 1
    assert rows[0] == ["No", "broker", "for", "partition", "flights", "-", "0"]
    assert rows[1][:4] == ["office", "flights", "1", "5"]


def test_the_coordinator_is_looked_for_again(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    cluster.failures = consumer_offset_checker.TRIES - 1
    assert check(capsys, "--retry.backoff.ms", "70")[0] == 0
    assert cluster.pauses == [70] * (consumer_offset_checker.TRIES - 1)


def test_a_coordinator_that_is_never_found_is_an_error(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    cluster.failures = consumer_offset_checker.TRIES
    code, rows, told = check(capsys)
    assert (code, rows, told) == (1, [], "no coordinator yet\n")


def test_brokers_are_listed_on_demand(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    _, rows, _ = check(capsys, "--broker-info", "--topic", "flights")
    assert rows[2:] == [["BROKER", "INFO"], ["1", "->", "b:9092"]]


def test_a_group_that_owns_nothing_may_be_misspelt(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    cluster.zk.zookeeper.delete_recursive("/consumers/office/owners")
    code, rows, told = check(capsys)
    assert (code, rows) == (1, [])
    assert "Is the name misspelt?" in told


def test_topics_are_those_that_are_named(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(capsys, "--topic", "weather") == (0, [], "")
