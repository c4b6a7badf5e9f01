"""What a topology has: its internal topics, and the clusters that it runs on."""

import pytest

from kafka_learn.labs.groups import GROUP_BROKER
from kafka_lite.clients.cluster import Cluster, PartitionInfo


@pytest.fixture(scope="session")
def broker_settings():
    """Groups start without delay."""
    return GROUP_BROKER


@pytest.fixture
def internal():
    """``internal(builder)``: the names of the repartition topics that the topology reads."""

    def find(builder):
        groups = builder.set_application_id("app").topic_groups().values()
        return sorted(topic for group in groups for topic in group.repartition_source_topics)

    return find


@pytest.fixture
def cluster_of():
    """``cluster_of(a=3, b=5)``: a cluster with these topics and numbers of partitions."""

    def make(**topics):
        return Cluster(
            (), tuple(PartitionInfo(topic, number, None) for topic, count in topics.items() for number in range(count))
        )

    return make
