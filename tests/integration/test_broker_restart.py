"""A broker with its embedded ZooKeeper restarts at once after it was killed."""

from __future__ import annotations

from pathlib import Path

from kafka_lite.testing.cluster import Cluster
from kafka_lite.zookeeper.embedded.embedded_zookeeper import EmbeddedZooKeeper
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient

HOUR_MS = 3_600_000


def test_the_session_of_a_killed_broker_does_not_delay_the_next_start(tmp_path: Path) -> None:
    with Cluster(data_dir=tmp_path) as cluster:
        registration = cluster.server.zk_client.get_broker(0)
    assert registration is not None
    # What a killed broker leaves: its registration, owned by a session that has not ended.
    zookeeper = EmbeddedZooKeeper(tmp_path / "logs-zookeeper", max_session_timeout_ms=HOUR_MS)
    zookeeper.start()
    client = KafkaZkClient(zookeeper.connect_string, session_timeout_ms=HOUR_MS)
    client.start()
    client.register_broker(0, registration)
    zookeeper.shutdown()
    client.close()
    # If it waited for the end of the old session, the test's own limit would end it.
    with Cluster(data_dir=tmp_path) as cluster:
        assert cluster.server.metadata_cache.get_alive_broker(0) is not None
