"""Nodes without a rack have the same hash in every process, so that a run of the simulator can be repeated."""

from __future__ import annotations

from kafka_lite.clients.cluster import Node


def test_a_set_of_nodes_has_the_same_order_in_every_process() -> None:
    assert hash(Node(1, "kafka", 9092)) == hash((1, "kafka", 9092))
    assert Node(1, "kafka", 9092) != Node(1, "kafka", 9092, "rack")
