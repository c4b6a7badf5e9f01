"""Helpers that the tests of this lab share."""

import random

import pytest

from kafka_lite.clients.cluster import Cluster, Node, PartitionInfo
from kafka_lite.producer import ProducerRecord

NODES = (Node(0, "a", 1), Node(1, "b", 2))


class Dice(random.Random):
    """Chooses what the test prescribes, and records the choices it was given."""

    def __init__(self, *places):
        super().__init__(0)
        self.places, self.choices = list(places), []

    def choice(self, options):
        self.choices.append(list(options))
        return options[self.places.pop(0) if self.places else 0]


@pytest.fixture
def dice():
    """``dice(1, 0, …)``: a source of randomness that draws these places."""
    return Dice


@pytest.fixture
def cluster_of():
    """``cluster_of(t=[0, None, 1])``: topics with the leader of each partition."""

    def make(**topics):
        infos = [
            PartitionInfo(topic, number, None if leader is None else NODES[leader])
            for topic, leaders in topics.items()
            for number, leader in enumerate(leaders)
        ]
        return Cluster(NODES, tuple(infos))

    return make


@pytest.fixture
def record():
    """A record without a key, for topic t."""
    return ProducerRecord("t", b"value")
