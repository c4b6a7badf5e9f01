"""The id of this broker: configured, read from the log directories, or generated.

Kafka 0.10.2: core/.../server/KafkaServer.scala (getBrokerId, generateBrokerId) · book 7.4
"""

from __future__ import annotations

from pathlib import Path

from kafka_lite.common.errors import KafkaError
from kafka_lite.server.broker_metadata_checkpoint import read_broker_metadata
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient


def get_broker_id(config: KafkaConfig, cluster_id: str, zk_client: KafkaZkClient) -> int:
    """``broker.id``; otherwise the id in the log directories; otherwise a new number from ZooKeeper.

    Raises KafkaError if the directories belong to another broker or another cluster.
    """
    known = read_broker_metadata(Path(directory) for directory in config.log_dirs)
    if known is not None and config.broker_id not in (-1, known.broker_id):
        raise KafkaError(
            f"Configured broker.id {config.broker_id} doesn't match stored broker.id {known.broker_id} in "
            "meta.properties. If you moved your data, make sure your configured broker.id matches. If you intend "
            "to create a new broker, you should remove all data in your data directories (log.dirs)."
        )
    if known is not None and known.cluster_id not in (None, cluster_id):
        raise KafkaError(
            f"The log directories belong to cluster {known.cluster_id}, but ZooKeeper at {config.zk_connect} has "
            f"cluster {cluster_id}: check zookeeper.connect and log.dirs."
        )
    if config.broker_id != -1:
        return config.broker_id
    if known is not None:
        return known.broker_id
    return config.max_reserved_broker_id + zk_client.generate_broker_sequence_id()
