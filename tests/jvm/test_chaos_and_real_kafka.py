"""The cluster of ``make chaos`` with a broker of Kafka in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.testing.chaos.chaos_cluster import ChaosCluster
from kafka_lite.testing.simulation import operator_programs
from tests.support.eventually import eventually
from tests.support.jvm import require_jvm
from tests.support.real_kafka import TODAYS

pytestmark = [pytest.mark.jvm, pytest.mark.timeout(240)]


def test_every_second_broker_is_kafkas_and_replicates_ours(tmp_path: Path) -> None:
    require_jvm()
    with ChaosCluster(tmp_path, 3, kafka_version=TODAYS) as cluster:
        assert [broker.kafka_version for broker in cluster.brokers] == ["", TODAYS, ""]
        operator_programs.create_topic(cluster.bootstrap_servers, "orders", 1, 3, {})
        orders = TopicPartition("orders", 0)
        eventually(lambda: sorted(cluster.zookeeper.isrs().get(orders, [])) == [0, 1, 2])
        theirs = cluster.brokers[1]
        log = theirs.folder / "broker-1.log"
        eventually(lambda: "started (kafka.server.KafkaServer)" in log.read_text(), "it says that it has started")
        assert theirs.stop() == 0, theirs.end_of_log()
        theirs.start()
        eventually(lambda: sorted(cluster.zookeeper.isrs()[orders]) == [0, 1, 2])
