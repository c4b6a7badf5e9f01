"""Which leader a client is told of that asks the wrong broker."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from kafka_lite.clients.cluster import Node
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.messages.api_06_update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataEndpoint,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
)
from kafka_lite.server.apis.leader_hints import UNKNOWN_LEADER, LeaderHints, LeaderNode
from kafka_lite.server.metadata_cache import MetadataCache

TP = TopicPartition("t", 0)


@pytest.fixture
def cache() -> MetadataCache:
    """Broker 2 leads the partition in epoch 5, as far as the controller has told."""
    cache = MetadataCache(1)
    end_point = UpdateMetadataEndpoint(host="two", port=9092, listener="PLAINTEXT", security_protocol=0)
    state = UpdateMetadataPartitionState(
        topic_name="t", partition_index=0, controller_epoch=1, leader=2, leader_epoch=5, isr=[2], replicas=[2]
    )
    brokers = [UpdateMetadataBroker(id=2, endpoints=[end_point], rack="r2")]
    cache.update_cache(
        UpdateMetadataRequest(
            controller_id=1, controller_epoch=1, ungrouped_partition_states=[state], live_brokers=brokers
        )
    )
    return cache


def test_a_broker_without_a_replica_says_what_the_controller_has_told(cache: MetadataCache) -> None:
    hints = LeaderHints(lambda _: None, cache)
    assert hints.current_leader(TP, "PLAINTEXT") == LeaderNode(2, 5, Node(2, "two", 9092, "r2"))
    assert hints.current_leader(TP, "SSL") == LeaderNode(2, 5, None), "it does not listen there"
    assert hints.current_leader(TopicPartition("t", 1), "PLAINTEXT") == UNKNOWN_LEADER


def test_a_replica_knows_better(cache: MetadataCache) -> None:
    """The controller tells the replicas first."""
    partition: Any = SimpleNamespace(leader_id=3, leader_epoch=6)
    hints = LeaderHints(lambda _: cast(Any, partition), cache)
    assert hints.current_leader(TP, "PLAINTEXT") == LeaderNode(3, 6, None)
    partition.leader_id = 2
    assert hints.current_leader(TP, "PLAINTEXT").node == Node(2, "two", 9092, "r2")
