"""Where a consumer reads: in its own rack, if a replica there may serve it."""

from __future__ import annotations

import pytest

from kafka_lite.clients.cluster import Node
from kafka_lite.common.config_def import ConfigError
from kafka_lite.common.security.kafka_principal import ANONYMOUS
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.server.fetch_params import ClientMetadata
from kafka_lite.server.reading.replica_selector import (
    PartitionView,
    RackAwareReplicaSelector,
    ReplicaView,
    load_replica_selector,
)

TP = TopicPartition("orders", 0)
JAVA_NAME = "org.apache.kafka.common.replica.RackAwareReplicaSelector"


def replica(broker_id: int, rack: str | None, end: int = 10, since_ms: float = 0) -> ReplicaView:
    return ReplicaView(Node(broker_id, "h", 9092, rack), end, since_ms)


def selected(rack: str, leader: ReplicaView, *followers: ReplicaView) -> int | None:
    client = ClientMetadata(rack, "reader", "127.0.0.1", ANONYMOUS, "PLAINTEXT")
    found = RackAwareReplicaSelector().select(TP, client, PartitionView([leader, *followers], leader))
    assert found is not None
    assert found.endpoint is not None
    return found.endpoint.id


@pytest.mark.parametrize(
    ("rack", "broker_id"),
    [("a", 0), ("b", 1), ("c", 0), ("", 0)],
    ids=["the leader's rack", "a follower's rack", "an unknown rack", "no rack"],
)
def test_a_consumer_reads_in_its_own_rack_or_from_the_leader(rack: str, broker_id: int) -> None:
    assert selected(rack, replica(0, "a"), replica(1, "b"), replica(2, None)) == broker_id


def test_the_leader_comes_first_in_its_rack_however_far_a_follower_is() -> None:
    assert selected("a", replica(0, "a", 5), replica(1, "a", 10)) == 0


def test_in_one_rack_the_longest_log_wins_then_the_follower_that_was_last_at_the_end() -> None:
    assert selected("b", replica(0, "a"), replica(1, "b", 8), replica(2, "b", 9), replica(3, "b", 7)) == 2
    assert selected("b", replica(0, "a"), replica(1, "b", 9, 50), replica(2, "b", 9, 20), replica(3, "b", 9, 90)) == 2


def test_a_replica_without_an_address_is_in_no_rack() -> None:
    assert selected("b", replica(0, "a"), ReplicaView(None, 10, 0)) == 0


@pytest.mark.parametrize("name", [JAVA_NAME, f"{RackAwareReplicaSelector.__module__}.RackAwareReplicaSelector"])
def test_kafkas_selector_is_known_by_both_names(name: str) -> None:
    assert isinstance(load_replica_selector(name, {}), RackAwareReplicaSelector)


@pytest.mark.parametrize("name", [None, ""])
def test_without_a_class_there_is_no_selector(name: str | None) -> None:
    assert load_replica_selector(name, {}) is None


class Remembering(RackAwareReplicaSelector):
    """A selector of a user."""

    def configure(self, configs: object) -> None:
        self.configs = configs


def test_a_selector_of_the_user_gets_the_brokers_keys() -> None:
    selector = load_replica_selector(f"{__name__}.Remembering", {"my.key": "1"})
    assert isinstance(selector, Remembering)
    assert selector.configs == {"my.key": "1"}


@pytest.mark.parametrize("name", ["kafka_lite.common.time.MockTime", "org.apache.kafka.Nothing"])
def test_another_class_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=r"replica\.selector\.class"):
        load_replica_selector(name, {})
