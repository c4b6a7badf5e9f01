"""A topic of many partitions needs few ZooKeeper requests and fsyncs in all, not some per partition."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
from kazoo.client import KazooClient

from kafka_lite.protocol.messages.api_19_create_topics import CreatableTopic, CreateTopicsRequest, CreateTopicsResponse
from kafka_lite.protocol.messages.api_20_delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from kafka_lite.testing.cluster import Cluster
from kafka_lite.tools.admin.admin_channel import AdminChannel

PARTITIONS = 300
FEW = 40
TIMEOUT_MS = 60_000


class Costs:
    """ZooKeeper transactions and fsyncs since the last look."""

    def __init__(self, cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
        self._zookeeper = KazooClient(cluster.zookeeper_connect)
        self._zookeeper.start()
        self._zookeeper.create("/counter")
        self._synced: list[int] = []
        self._last = (0, 0)
        for name in ("fsync", "fdatasync"):
            monkeypatch.setattr(os, name, self._counting(getattr(os, name)))
        self.since_last_look()

    def _counting(self, force: Callable[[int], None]) -> Callable[[int], None]:
        def counting(fd: int) -> None:
            self._synced.append(fd)
            force(fd)

        return counting

    def since_last_look(self) -> tuple[int, int]:
        zxid = self._zookeeper.set("/counter", b"").mzxid
        now = (zxid, len(self._synced))
        before, self._last = self._last, now
        return now[0] - before[0], now[1] - before[1]

    def close(self) -> None:
        self._zookeeper.stop()
        self._zookeeper.close()


def test_many_partitions_are_created_and_deleted_with_few_transactions(monkeypatch: pytest.MonkeyPatch) -> None:
    with Cluster() as cluster, AdminChannel(cluster.bootstrap_servers) as channel:
        costs = Costs(cluster, monkeypatch)
        try:
            for name in ("first", "second"):
                _create(channel, name)
                transactions, synced = costs.since_last_look()
                assert transactions < FEW
                assert synced < FEW
            _delete(channel, "first")
            transactions, synced = costs.since_last_look()
            assert transactions < FEW
            assert synced < FEW
            assert channel.topic_names() == ["second"]
            assert len(channel.leaders(["second"])) == PARTITIONS
        finally:
            costs.close()


def _create(channel: AdminChannel, name: str) -> None:
    topic = CreatableTopic(name=name, num_partitions=PARTITIONS, replication_factor=1)
    request = CreateTopicsRequest(topics=[topic], timeout_ms=TIMEOUT_MS)
    response = channel.send_to_controller(request, CreateTopicsResponse, "topics")
    assert [result.error_code for result in response.topics] == [0]


def _delete(channel: AdminChannel, name: str) -> None:
    request = DeleteTopicsRequest(topic_names=[name], timeout_ms=TIMEOUT_MS)
    response = channel.send_to_controller(request, DeleteTopicsResponse, "responses", max_version=5)
    assert [result.error_code for result in response.responses] == [0]
