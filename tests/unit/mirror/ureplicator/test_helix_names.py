"""The words that uReplicator's controller and workers share."""

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.mirror.helix.model.built_in_state_models import ONLINE_OFFLINE
from kafka_lite.mirror.helix.property_paths import PropertyPaths
from kafka_lite.mirror.ureplicator.helix_names import (
    OFFLINE,
    ONLINE,
    STATE_MODEL,
    blacklisted_topics,
    online_workers,
    partition_name,
    process_name,
    topic_partition,
)


def test_the_states_are_those_of_the_state_model() -> None:
    assert (ONLINE_OFFLINE.name, ONLINE_OFFLINE.initial_state) == (STATE_MODEL, OFFLINE)
    assert ONLINE_OFFLINE.next_state(OFFLINE, ONLINE) == ONLINE


def test_a_partition_is_its_number_as_text() -> None:
    assert topic_partition("t", partition_name(12)) == TopicPartition("t", 12)
    assert [topic_partition("t", name) for name in ("t_0", "-1", "", "²")] == [None] * 4


def test_only_workers_that_are_online_copy() -> None:
    view = {"t": {"0": {"w2": "ONLINE", "w1": "OFFLINE"}, "1": {"w1": "ERROR"}, "t_0": {"w1": "ONLINE"}}}
    assert online_workers(view) == {TopicPartition("t", 0): ["w2"], TopicPartition("t", 1): []}


def test_names_in_zookeeper() -> None:
    assert blacklisted_topics(PropertyPaths("ur")) == "/ur/BLACKLISTED_TOPICS"
    pid, _, host = process_name().partition("@")
    assert pid.isdigit()
    assert host
