"""Helpers that the tests of this lab share."""

import pytest

from kafka_learn.labs.groups import GROUP_BROKER
from kafka_lite.clients.cluster import Cluster, Node, PartitionInfo
from kafka_lite.consumer.assignors.partition_assignor import Subscription

NODE = Node(0, "localhost", 9092)


@pytest.fixture(scope="session")
def broker_settings():
    """Groups start without delay."""
    return GROUP_BROKER


@pytest.fixture
def cluster_of():
    """``cluster_of(t=3)``: a cluster with these topics and numbers of partitions."""

    def make(**topics):
        infos = [PartitionInfo(topic, number, NODE) for topic, count in topics.items() for number in range(count)]
        return Cluster((NODE,), tuple(infos))

    return make


@pytest.fixture
def wish():
    """``wish(b="t u", a="t")``: the subscription of each member; ``instances={"b": "i"}`` makes members static."""

    def make(instances=None, **topics):
        ids = instances or {}
        return {
            member: Subscription(tuple(names.split()), group_instance_id=ids.get(member))
            for member, names in topics.items()
        }

    return make


@pytest.fixture
def text():
    """``text(shares)``: shares as text, ``{"a": "t-0 t-1"}``."""
    return lambda shares: {member: " ".join(map(str, share)) for member, share in shares.items()}
