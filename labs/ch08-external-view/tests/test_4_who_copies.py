"""Task 4: who copies what."""

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.mirror.ureplicator.helix_names import online_workers


@pytest.mark.points(6, task=4)
def test_only_online_counts():
    """ONLINE, OFFLINE, ERROR"""
    found = online_workers({"t": {"0": {"w2": "ONLINE", "w1": "ONLINE"}, "1": {"w1": "OFFLINE", "w2": "ERROR"}}})
    assert found == {TopicPartition("t", 0): ["w1", "w2"], TopicPartition("t", 1): []}, (
        f"sorted by name; nobody copies t/1, which is an empty list; yours: {found}"
    )
    found = online_workers({topic: {"0": {"w1": "ONLINE"}} for topic in "tu"})
    assert found == {TopicPartition(topic, 0): ["w1"] for topic in "tu"}, f"both topics are copied; yours: {found}"


@pytest.mark.points(4, task=4)
def test_names_of_others():
    """A partition that is no number"""
    found = online_workers({"db": {"db_0": {"node": "ONLINE"}}, "t": {}})
    assert found == {}, f"db_0 is no partition of Kafka; yours: {found}"
