"""A source cluster in memory for uReplicator's worker: brokers without sockets, and their ZooKeeper."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.mirror.maker.mirror_maker_commits import MirrorMakerCommits
from kafka_lite.mirror.maker.mirror_maker_producer import MirrorMakerProducer
from kafka_lite.mirror.maker.mirror_maker_state import MirrorMakerState
from kafka_lite.mirror.ureplicator.worker import kafka_connector
from kafka_lite.mirror.ureplicator.worker.kafka_connector import KafkaConnector
from kafka_lite.zookeeper.consumer_groups import ConsumerGroups
from tests.support.blocking_brokers import BlockingBrokers
from tests.support.fake_zookeeper import FakeZooKeeper, Tree, fake_zk
from tests.support.leaders_and_logs import LeadersAndLogs, consumer_config
from tests.support.mirrors import FakeProducer

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


class ClosableSession(FakeZooKeeper):
    def __init__(self, tree: Tree) -> None:
        super().__init__(tree)
        self.is_connected, self.is_closed = True, False

    def connect(self) -> None:
        """There is no server to wait for."""

    def close(self) -> None:
        self.is_closed = True


class WorkerSource:
    """The partitions t-0 and t-1 of broker 1 with three records each, and connectors of the group g."""

    def __init__(self, brokers: BlockingBrokers, monkeypatch: pytest.MonkeyPatch) -> None:
        self.cluster = LeadersAndLogs(brokers, p0=1, p1=1)
        self.cluster.ends = {T0: (0, 3), T1: (0, 3)}
        zookeeper: Any = self.cluster.zk.zookeeper
        self.tree: Tree = zookeeper.tree
        self.groups = ConsumerGroups(self.cluster.zk)
        self.calls: list[str] = []
        self.target = FakeProducer(self.calls)
        self.state = MirrorMakerState()
        self.producer = MirrorMakerProducer(self.target, self.state, sync=False, abort_on_send_failure=True)
        self.commits = MirrorMakerCommits(self.producer, self.state, MockTime())
        self.sessions: list[ClosableSession] = []
        self._connectors: list[KafkaConnector] = []
        monkeypatch.setattr(kafka_connector, "KafkaZkClient", self._client)

    def _client(self, *_arguments: object) -> Any:
        zk = fake_zk(self.tree)
        session: Any = ClosableSession(self.tree)
        zk.zookeeper = session
        self.sessions.append(session)
        return zk

    def connector(self, **options: object) -> KafkaConnector:
        defaults = {"auto_offset_reset": "smallest", "consumer_timeout_ms": 60_000, "fetch_wait_max_ms": 1,
                    "queued_max_message_chunks": 100}  # fmt: skip
        connector = KafkaConnector(consumer_config(**{**defaults, **options}), self.commits)
        self._connectors.append(connector)
        return connector

    def committed(self) -> list[int | None]:
        return [self.groups.get_offset("g", partition) for partition in (T0, T1)]

    def close(self) -> None:
        for connector in self._connectors:
            connector.shutdown()
